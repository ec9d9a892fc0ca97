"""`FakeAnswers`: how a fake adapter answers requests: plausibly, unless the test has scripted another answer."""

import ast
import json
import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any

import trio

from trio_debugmcp.testing.fake_native import FakeNative, Refusal

__all__ = ["ALL_CAPABILITIES", "FakeAnswers", "Refusal"]

Arguments = dict[str, Any]
Answer = Callable[[Arguments], Awaitable[Any]]
"""Takes the arguments of a request and returns the body of its response, or raises `Refusal`."""

ALL_CAPABILITIES: dict[str, Any] = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsExceptionInfoRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "Raised"},
        {"filter": "uncaught", "label": "Uncaught"},
    ],
}
"""The capabilities of a `FakeAdapter` that is made without any: all that the server uses."""


_PROBE_CALL = re.compile(r"probe\.call\('(\w+)', ('.*')\) if probe")
"""The question and its parameters in an expression that calls the probe."""


class FakeAnswers(FakeNative):
    """What is found in the imaginary program, and the answers to requests about it. The base of `FakeAdapter`.

    It has a method for each request of DAP that is answered with more than nothing, hence so many.
    """

    program: str

    def __init__(self, capabilities: Mapping[str, Any]) -> None:
        super().__init__()
        self.capabilities = dict(capabilities)
        self.threads: list[tuple[int, str]] = [(1, "MainThread")]
        self.frames: list[tuple[str, str, int]] = [("main", "/src/app.py", 1)]
        self.locals: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.probe: dict[str, Any] | None = None
        self.probe_installed = False
        self.probed: list[tuple[str, Arguments]] = []
        self._answers: dict[str, Answer] = {}
        self._afterwards: dict[str, Callable[[], Awaitable[None]]] = {}
        self._breakpoint_ids = count(1)
        self.configured = trio.Event()

    # --- Script -------------------------------------------------------------------------------------------------------

    def answer(self, command: str, answer: Answer, then: Callable[[], Awaitable[None]] | None = None) -> None:
        """Answer that command from now on with what the coroutine function returns, or refuse if it raises `Refusal`.

        `then` is awaited once the answer is sent.
        """
        self.restore(command)
        self._answers[command] = answer
        if then is not None:
            self._afterwards[command] = then

    def withhold(self, command: str) -> None:
        """Never answer that command from now on."""
        self._answers[command] = _never

    def restore(self, *commands: str) -> None:
        """Answer these commands as if nothing had been scripted for them; without arguments, all commands."""
        for command in commands or [*self._answers]:
            self._answers.pop(command, None)
            self._afterwards.pop(command, None)

    def answer_to(self, command: str) -> Answer:
        """Return the present answer to that command, for an answer that begins or ends with it."""
        plausible: Answer = getattr(self, f"_on_{command}", self._on_anything)
        return self._answers.get(command, plausible)

    @abstractmethod
    async def event(self, name: str, body: Any = None) -> None:
        """Send an event, by default with an empty body."""

    # --- Plausible answers --------------------------------------------------------------------------------------------

    async def _on_anything(self, arguments: Arguments) -> Any:
        return {}

    async def _on_initialize(self, arguments: Arguments) -> Any:
        return self.capabilities

    async def _on_launch(self, arguments: Arguments) -> Any:
        await self.configured.wait()  # as real adapters do: the program starts once its breakpoints are set
        await self.event("process", {"name": self.program, "systemProcessId": 4242, "startMethod": "launch"})
        await self.event("thread", {"reason": "started", "threadId": 1})
        if arguments.get("stopOnEntry"):
            await self.event("stopped", {"reason": "entry", "threadId": 1, "allThreadsStopped": True})
        return {}

    _on_attach = _on_launch

    async def _on_configurationDone(self, arguments: Arguments) -> Any:  # noqa: N802
        self.configured.set()
        return {}

    async def _on_setBreakpoints(self, arguments: Arguments) -> Any:  # noqa: N802
        breakpoints = arguments.get("breakpoints") or []
        return {
            "breakpoints": [
                {"id": next(self._breakpoint_ids), "verified": True, "line": source_breakpoint["line"]}
                for source_breakpoint in breakpoints
            ]
        }

    async def _on_setFunctionBreakpoints(self, arguments: Arguments) -> Any:  # noqa: N802
        breakpoints = arguments.get("breakpoints") or []
        return {"breakpoints": [{"id": next(self._breakpoint_ids), "verified": True} for _ in breakpoints]}

    async def _on_threads(self, arguments: Arguments) -> Any:
        return {"threads": [{"id": number, "name": name} for number, name in self.threads]}

    async def _on_stackTrace(self, arguments: Arguments) -> Any:  # noqa: N802
        start = arguments.get("startFrame") or 0
        frames = [
            {"id": 1000 + index, "name": name, "line": line, "column": 1, "source": {"path": path}}
            for index, (name, path, line) in enumerate(self.frames)
        ]
        if frames and self.instruction_pointer is not None:
            frames[0]["instructionPointerReference"] = self.instruction_pointer
        return {
            "stackFrames": frames[start : start + (arguments.get("levels") or 1000)],
            "totalFrames": len(frames),
        }

    async def _on_scopes(self, arguments: Arguments) -> Any:
        return {"scopes": [{"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}]}

    async def _on_variables(self, arguments: Arguments) -> Any:
        return {
            "variables": [
                {"name": name, "value": value, "type": "int", "evaluateName": name, "variablesReference": 0}
                for name, value in self.locals.items()
            ]
        }

    async def _on_evaluate(self, arguments: Arguments) -> Any:
        expression = arguments["expression"]
        if self.probe is not None and "frameId" not in arguments:
            return {"result": self._on_probe(expression, self.probe), "variablesReference": 0}
        if expression not in self.values:
            raise Refusal(f"NameError: name '{expression}' is not defined")
        reference = {"memoryReference": self.references[expression]} if expression in self.references else {}
        return {"result": self.values[expression], "type": "int", "variablesReference": 0, **reference}

    def _on_probe(self, expression: str, probe: Mapping[str, Any]) -> str:
        """Answer as the probe does: with nothing until it is installed, then in JSON. A text is the whole answer."""
        call = _PROBE_CALL.search(expression)
        if call is None:
            self.probe_installed = True
            return "installed"
        if not self.probe_installed:
            return ""
        self.probed.append((call[1], json.loads(ast.literal_eval(call[2]))))
        answer = probe.get(call[1], {})
        return answer if isinstance(answer, str) else json.dumps({"answer": answer, "ms": 1.0})

    async def _on_exceptionInfo(self, arguments: Arguments) -> Any:  # noqa: N802
        return {"exceptionId": "ValueError", "description": "bad", "breakMode": "always"}


async def _never(arguments: Arguments) -> Any:
    await trio.sleep_forever()
