"""`LuaAdapter`: the debug adapter for Lua, a task of this server. What it does not know, it asks the program.

    async with open_lua(["/usr/bin/lua5.4"], watchdog) as adapter: ...

The program is started when the session has said what its breakpoints are (`configurationDone`). Its end is that of its
process; the directory of its FIFOs is removed then, by the watchdog if this server is killed.
"""

import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import trio
from msgspec import Struct, ValidationError, convert
from msgspec.json import decode

from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.lua.lua_breakpoints import LuaBreakpoints, condition_failed
from trio_debugmcp.dap.lua.lua_program import LuaProgram
from trio_debugmcp.dap.lua.lua_sources import LuaSources
from trio_debugmcp.dap.lua.task_line import TaskLine
from trio_debugmcp.dap.messages import Request
from trio_debugmcp.dap.pids import wait_ended
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.watchdog_process import signal_session
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProtocolViolation
from trio_debugmcp.owned_directory import OwnedDirectory
from trio_debugmcp.patience import Patience

log = logging.getLogger(__name__)

_MAIN = Path(__file__).parent / "inside" / "main.lua"

_LAST_EVENTS_SECONDS = 0.3
"""From a program's end to that of its events, for what it has sent; a child of it may keep the FIFO open."""

_WAITING_QUESTIONS = 256
"""For the program, while it has not answered the one before; the session has fewer under way."""

_THREAD = 1
"""The id of the only thread; coroutines are parts of its stack."""

_CAPABILITIES = {
    "supportsConditionalBreakpoints": True,
    "supportsConfigurationDoneRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "keepsHits": True,
    "supportsSetVariable": True,
    "supportTerminateDebuggee": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "Errors that are raised"},
        {"filter": "uncaught", "label": "Errors that nothing catches", "default": True},
    ],
}

INTERRUPT = "--[[interrupt]]"
"""An expression that ends what the program evaluates; its value is how many evaluations are left."""

_MOVES = frozenset({"continue", "next", "stepIn", "stepOut"})

_LOOKS = frozenset({"stackTrace", "scopes", "variables", "evaluate", "setVariable"})


class _LuaError(Struct, frozen=True):
    """An error of the program's."""

    type: str
    message: str


class _LuaStop(Struct, frozen=True, rename="camel"):
    """A stop, as the debugger in the program reports it; `mode`: whether something will catch the error."""

    reason: str
    hit_breakpoint_ids: list[int] = []
    exception: _LuaError | None = None
    mode: str | None = None


@asynccontextmanager
async def open_lua(interpreter: Sequence[str], watchdog: Watchdog) -> AsyncIterator[Adapter]:
    """Open the adapter of one session. `interpreter`: the command that a program is run with.

    Resource handling: at the end of the block its directory is gone; the session ends the program, as all that it runs.
    """
    line, serving = TaskLine(), trio.CancelScope(shield=True)  # it answers the session's goodbye
    with OwnedDirectory("trio-debugmcp-lua-") as directory, watchdog.watching_directory(directory.path):
        command, sources = [*interpreter, str(_MAIN), directory.path], LuaSources(interpreter, watchdog.patience)
        adapter = LuaAdapter(line, LuaProgram(directory.path), command, sources)

        async def carry() -> None:
            with serving:
                try:
                    await adapter.run(watchdog.patience)
                finally:
                    line.hang_up()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(carry)
            try:
                yield Adapter(line)
            finally:
                serving.cancel(reason="the session is over")
                await adapter.program.aclose()


class LuaAdapter:
    """The adapter of one session: a method for each of its requests that takes more than a line."""

    def __init__(self, line: TaskLine, program: LuaProgram, command: Sequence[str], sources: LuaSources) -> None:
        self.program = program
        self._line = line
        self._command = command
        self._launch: Request | None = None
        self._asking, self._to_ask = trio.open_memory_channel[tuple[Any, ...]](_WAITING_QUESTIONS)
        self._breakpoints = LuaBreakpoints(sources)
        self._exception: dict[str, Any] = {}
        self._pid: int | None = None
        self._stopped = self._started = False
        self._ended = trio.Event()
        self._leaving: Request | None = None

    def __repr__(self) -> str:
        return f"<LuaAdapter of {self.program!r}>"

    async def run(self, patience: Patience) -> None:
        """Serve until the session closes its line."""
        async with trio.open_nursery() as nursery:
            self._nursery, self._patience = nursery, patience
            nursery.start_soon(self._ask_in_turn)
            async for request in self._line.requests:
                await self._serve(request)
            nursery.cancel_scope.cancel(reason="the session has closed the line")

    async def _ask_in_turn(self) -> None:
        """Ask the program one thing after the other; a task of its own, as an evaluation may never be answered."""
        async for ask, *arguments in self._to_ask:
            await ask(*arguments)

    # --- Requests -----------------------------------------------------------------------------------------------------

    async def _serve(self, request: Request) -> None:
        arguments = _arguments(request)
        match request.command:
            case "initialize":
                await self._line.answer(request, _CAPABILITIES)
            case "launch":
                self._launch = request
                await self._line.tell("initialized")
            case "setBreakpoints":
                answers = await self._breakpoints.set_lines(arguments)
                await self._renew_lines(request, answers)
            case "setFunctionBreakpoints":
                launch = {} if self._launch is None else _arguments(self._launch)
                places = _directories(launch)
                await self._renew_lines(request, await self._breakpoints.set_functions(arguments, places))
            case "setExceptionBreakpoints":
                self._breakpoints.filters = frozenset(arguments.get("filters", ()))
                await self._line.answer(request)
                await self._renew("exceptions", self._breakpoints.wanted_errors())
            case "configurationDone":
                await self._line.answer(request)
                self._nursery.start_soon(self._run_program)
            case "threads":
                threads = [] if self._ended.is_set() else [{"id": _THREAD, "name": "main"}]
                await self._line.answer(request, {"threads": threads})
            case "evaluate" if arguments.get("expression") == INTERRUPT:
                left = "1" if self._stopped and self.program.interrupt() else "0"
                await self._line.answer(request, {"result": left, "variablesReference": 0})
            case "pause":
                await self._line.answer(request)
                if self.program.runs:
                    self.program.interrupt()
                await self._renew("pause", {})
            case "exceptionInfo":
                await self._line.answer(request, self._exception)
            case "disconnect":
                await self._leave(request, arguments)
            case command if command in _MOVES or command in _LOOKS:
                await self._asking.send((self._ask_program, request, arguments))
            case _:
                await self._line.answer(request, failure="the adapter for Lua does not know this request")

    async def _ask_program(self, request: Request, arguments: dict[str, Any]) -> None:
        if not self._stopped:
            runs = self._started and not self._ended.is_set()
            await self._line.answer(request, failure="the program runs" if runs else "the program does not run")
            return
        if request.command in _MOVES:
            self._stopped = False
        try:
            body = await self.program.request(request.command, **arguments)
        except AdapterRefused as refusal:
            await self._line.answer(request, failure=refusal.reason)
        except AdapterGone as gone:
            await self._line.answer(request, failure=gone.reason)
        else:
            await self._line.answer(request, body)

    async def _renew_lines(self, request: Request, answers: list[dict[str, Any]]) -> None:
        await self._line.answer(request, {"breakpoints": answers})
        await self._renew("breakpoints", self._breakpoints.wanted_lines())

    async def _renew(self, command: str, arguments: dict[str, Any]) -> None:
        """Tell the program, which may take a while: one that is blocked in C looks when it is back in Lua."""
        if self._started and not self._ended.is_set():
            await self._asking.send((_tell, self.program, command, arguments))

    async def _leave(self, request: Request, arguments: dict[str, Any]) -> None:
        """Answer when the program has ended: it is killed, or debugged no more and runs to its end."""
        if self._pid is None or self._ended.is_set():
            await self._line.answer(request)
            return
        self._leaving = request
        if not arguments.get("terminateDebuggee", True):
            await self._renew("detach", {})
        else:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            signal_session(self._pid, signal.SIGTERM)  # what it has started keeps its pipes and the FIFO open

    # --- The program --------------------------------------------------------------------------------------------------

    async def _run_program(self) -> None:
        """Run the program to its end."""
        launch = self._launch
        if launch is None:
            return
        wanted = _arguments(launch)
        self._started = True
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_events, wanted)
            try:
                self._pid = await self._start(wanted)
            except AdapterRefused as refusal:
                await self._line.answer(launch, failure=refusal.reason)
                nursery.cancel_scope.cancel(reason="it was not started")
            else:
                await wait_ended(self._pid)
                nursery.cancel_scope.deadline = trio.current_time() + self._patience.seconds(_LAST_EVENTS_SECONDS)
        if self._pid is not None:
            await self._end()

    async def _start(self, launch: Mapping[str, Any]) -> int:
        command = [*self._command, _real(launch["cwd"]), launch["program"], *launch.get("args", ())]
        terminal = {"args": command, "cwd": launch["cwd"], "env": launch.get("env", {}), "title": "lua"}
        return int((await self._line.ask("runInTerminal", terminal))["processId"])

    async def _follow_events(self, launch: dict[str, Any]) -> None:
        try:
            async for event in self.program.events():
                match event.get("event"):
                    case "begun":
                        await self._asking.send((self._let_begin, launch))
                    case "said":
                        said = {"category": "console", "output": str(event.get("text", ""))}
                        await self._line.tell("output", said)
                    case "logged":
                        await self._line.tell("output", {"category": "console", "output": str(event.get("text", ""))})
                    case "failed":
                        failed = condition_failed(str(event.get("condition", "")), str(event.get("error", "")))
                        await self._line.tell("output", {"category": "console", "output": failed})
                    case "stopped":
                        await self._report_stop(convert(event, _LuaStop))
        except (ProtocolViolation, ValidationError) as violation:
            log.warning("%r: %s", self, violation)

    async def _let_begin(self, launch: dict[str, Any]) -> None:
        assert self._launch is not None
        try:
            await self.program.request("breakpoints", **self._breakpoints.wanted_lines())
            await self.program.request("exceptions", **self._breakpoints.wanted_errors())
            if launch.get("stopOnEntry"):
                await self.program.request("stepIn", reason="entry")
            else:
                await self.program.request("continue")
        except DebugError as error:
            await self._line.answer(self._launch, failure=str(error))
        else:
            await self._line.answer(self._launch)

    async def _report_stop(self, stop: _LuaStop) -> None:
        self._stopped = True
        body: dict[str, Any] = {"reason": stop.reason, "threadId": _THREAD, "allThreadsStopped": True}
        if stop.hit_breakpoint_ids:
            body["hitBreakpointIds"] = stop.hit_breakpoint_ids
        if stop.exception is not None:
            kind, message = stop.exception.type, stop.exception.message
            self._exception = {"exceptionId": kind, "description": message, "breakMode": stop.mode}
            body |= {"text": kind, "description": message}
        await self._line.tell("stopped", body)

    async def _end(self) -> None:
        self._stopped = False
        self._ended.set()
        if self._leaving is not None:
            await self._line.answer(self._leaving)
        await self._line.tell("terminated")


def _directories(launch: Mapping[str, Any]) -> list[str]:
    """Return where the files of a program are looked for, whatever it loads: beside it, and where it runs."""
    found = [os.path.dirname(launch["program"]), launch["cwd"]] if launch else []
    return [each for each in dict.fromkeys(found) if each]


def _real(directory: str) -> str:
    """Return the directory as the program would name it, which knows no links."""
    return os.path.realpath(directory)


def _arguments(request: Request) -> dict[str, Any]:
    return decode(request.arguments, type=dict[str, Any]) if request.arguments else {}


async def _tell(program: LuaProgram, command: str, arguments: dict[str, Any]) -> None:
    with suppress(DebugError):  # it has ended meanwhile
        await program.request(command, **arguments)
