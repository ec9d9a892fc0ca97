"""One question to the probe: its parameters, and what its answer may use up."""

from trio_debugmcp.probe.inside import bounds, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread, VisibleFrame
from trio_debugmcp.probe.inside.threads import task_list
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import rendering
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

_MOST = 10000
"""Items of a page, whatever is asked for."""


class UnknownError(Exception):
    """What was asked about does not exist: `kind` says what."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ProbeQuestion:
    """The parameters of a question, and what its answer may use up."""

    def __init__(self, parameters: Json) -> None:
        self.parameters = parameters
        bounds.be_patient(float(parameters.get("patience", 1.0)))
        self.budget = Budget(float(parameters.get("seconds", bounds.SECONDS)), int(parameters.get("size", bounds.SIZE)))
        self.renderer = Renderer(
            self.budget,
            int(parameters.get("limit", rendering.LIMIT)),
            code=bool(parameters.get("code", True)),
            types=bool(parameters.get("types", False)),
            fields=bool(parameters.get("fields", False)),
        )

    def number(self, name: str, default: int) -> int:
        value = self.parameters.get(name)
        return min(max(int(default if value is None else value), 0), _MOST if name == "count" else 1 << 60)

    def text(self, name: str) -> str:
        return str(self.parameters.get(name) or "")

    def thread(self) -> ProgramThread:
        """The thread that is asked about; without an id the stopped one, or the main thread."""
        wanted = self.parameters.get("thread")
        found = attached.find(wanted)
        if found is None:
            raise UnknownError("thread", f"There is no thread {wanted}.")
        return found

    def task(self) -> ProgramTask:
        """The task that is asked about, by its name."""
        try:
            return task_list.find(self.text("task"))
        except task_list.NoTaskError as error:
            raise UnknownError("task", str(error)) from None

    @property
    def has_place(self) -> bool:
        """Whether a thread or a task is named, of which a frame is asked about."""
        return any(self.parameters.get(name) is not None for name in ("thread", "task"))

    def place(self) -> VisibleFrame:
        """The frame that is asked about, of a task or of a thread."""
        if self.parameters.get("task") is None:
            return self.frame(self.thread())
        task = self.task()
        index = task_list.own_index(task) if self.parameters.get("frame") is None else self.number("frame", 0)
        found = task_list.frame_at(task, index)
        if found is None:
            total = len(task.frames())
            there = f"frames go from 0 to {total - 1}" if total else "it has none now"
            raise UnknownError("task", f"There is no frame {index} in task {task.name}: {there}.")
        return found

    def frame(self, thread: ProgramThread) -> VisibleFrame:
        index = self.number("frame", 0)
        found = visible_frames.at(thread, index)
        if found is None:
            raise UnknownError("frame", f"There is no frame {index} in thread {thread.id}.")
        return found
