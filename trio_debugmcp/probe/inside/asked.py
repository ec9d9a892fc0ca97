"""One question to the probe: its parameters, and what its answer may use up."""

from trio_debugmcp.probe.inside import bounds, engine, frames, values
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.frames import Json
from trio_debugmcp.probe.inside.values import Renderer

_MOST = 10000
"""Items of a page, whatever is asked for."""


class UnknownError(Exception):
    """What was asked about does not exist: `kind` says what."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Asked:
    """The parameters of a question, and what its answer may use up."""

    def __init__(self, parameters: Json) -> None:
        self.parameters = parameters
        self.budget = Budget(float(parameters.get("seconds", bounds.SECONDS)), int(parameters.get("size", bounds.SIZE)))
        self.renderer = Renderer(
            self.budget,
            int(parameters.get("limit", values.LIMIT)),
            code=bool(parameters.get("code", True)),
            types=bool(parameters.get("types", False)),
            fields=bool(parameters.get("fields", False)),
        )

    def number(self, name: str, default: int) -> int:
        value = self.parameters.get(name)
        return min(max(int(default if value is None else value), 0), _MOST if name == "count" else 1 << 60)

    def text(self, name: str) -> str:
        return str(self.parameters.get(name) or "")

    def thread(self) -> engine.Thread:
        """The thread that is asked about; without an id the stopped one, or the main thread."""
        wanted = self.parameters.get("thread")
        found = engine.find(wanted)
        if found is None:
            raise UnknownError("thread", f"There is no thread {wanted}.")
        return found

    def frame(self, thread: engine.Thread) -> engine.Visible:
        index = self.number("frame", 0)
        found = frames.at(thread, index)
        if found is None:
            raise UnknownError("frame", f"There is no frame {index} in thread {thread.id}.")
        return found
