"""`BreakpointSync`: keeps one session's adapter in step with the user's breakpoints.

`setBreakpoints` replaces all breakpoints of one file, so a file is always sent whole, from the current state, by one
task at a time per session.
"""

from collections.abc import Iterable
from typing import Any

import trio

from trio_debugmcp.dap.messages import BreakpointsBody, DapBreakpoint, Nothing
from trio_debugmcp.dap.profiles import TypedException
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.state.changes import BreakpointsBound, ExceptionBreakpointsBound
from trio_debugmcp.state.model import Breakpoint


class BreakpointSync:
    """Sends the breakpoints of the state to one adapter, and merges what the adapter answers.

    Attributes:
        accepting: the adapter takes breakpoints: from `initialized` on.
    """

    def __init__(self, requests: Requests, merger: Merger, sources: Sources) -> None:
        self.accepting = False
        self._requests = requests
        self._merger = merger
        self._sources = sources
        # Two tasks that send the same file could overtake each other between the state and the wire, and the older
        # list would stay with the adapter.
        self._one_at_a_time = trio.Lock()
        self._sent_files: set[str] = set()
        self._sent_functions = False

    def __repr__(self) -> str:
        return f"<BreakpointSync of {self._requests.session_id}: {len(self._sent_files)} files sent>"

    async def send_all(self) -> None:
        """Send every breakpoint, to a session that is being configured."""
        self.accepting = True
        await self.send_files({each.file for each in self._merger.state.breakpoints if each.file is not None})
        await self.send_functions()
        await self.send_exceptions()

    async def send_files(self, files: Iterable[str]) -> None:
        """Send the breakpoints of these files, as they are when their turn comes."""
        async with self._one_at_a_time:
            for file in sorted(files):
                await self._send_file(file)

    async def send_functions(self) -> None:
        """Send the function breakpoints, all of them."""
        async with self._one_at_a_time:
            mine = [each for each in self._merger.state.breakpoints if each.function is not None]
            if not mine and not self._sent_functions:
                return
            if not self._requests.capabilities.supports_function_breakpoints:
                await self._bind([], [(each, "breakpoints on functions") for each in mine])
                return
            sent, unsupported = self._sort(mine)
            arguments = {"breakpoints": [{"name": each.function, **_conditions(each)} for each in sent]}
            body = await self._requests.request("setFunctionBreakpoints", arguments, BreakpointsBody)
            self._sent_functions = bool(sent)
            await self._bind(list(zip(sent, body.breakpoints or [], strict=False)), unsupported)

    async def send_exceptions(self) -> None:
        """Send the exception breakpoints, even if there are none: an adapter that gets none uses its own defaults."""
        async with self._one_at_a_time:
            mine = [each for each in self._merger.state.exceptions if each.enabled]
            if not mine and not self._requests.capabilities.exception_breakpoint_filters:
                return
            wanted = [TypedException(e.exception_type, e.first_chance, e.second_chance) for e in mine]
            arguments = self._requests.profile.dialect.exception_arguments(wanted, self._requests.capabilities)
            problem = None
            try:
                await self._requests.request("setExceptionBreakpoints", arguments, Nothing)
            except AdapterRefused as refusal:
                problem = refusal.reason
            watched = frozenset() if problem else frozenset(each.id for each in mine)
            await self._merger.merge(ExceptionBreakpointsBound(self._requests.session_id, watched, problem))

    async def _send_file(self, file: str) -> None:
        mine = one_per_line([each for each in self._merger.state.breakpoints if each.file == file])
        if not mine and file not in self._sent_files:
            return
        sent, unsupported = self._sort(mine)
        arguments = {
            "source": {"path": file, "name": file.rpartition("/")[2]},
            "breakpoints": [self._line_breakpoint(each) for each in sent],
            "sourceModified": False,
        }
        try:
            body = await self._requests.request("setBreakpoints", arguments, BreakpointsBody)
        except AdapterRefused as refusal:
            refused = [DapBreakpoint(message=refusal.reason) for _ in sent]
            await self._bind(list(zip(sent, refused, strict=True)), unsupported)
            return
        self._sent_files.add(file)
        # Some adapters answer with fewer breakpoints than were sent; those keep what is known of them.
        await self._bind(list(zip(sent, body.breakpoints or [], strict=False)), unsupported)

    async def _bind(
        self, answers: list[tuple[Breakpoint, DapBreakpoint]], unsupported: list[tuple[Breakpoint, str]]
    ) -> None:
        results: list[tuple[str, DapBreakpoint | None]] = [(each.id, answer) for each, answer in answers]
        name = self._requests.profile.name
        results += [(e.id, DapBreakpoint(message=f"{name} does not support {what}")) for e, what in unsupported]
        sent = {each for each, _ in results}
        results += [(e.id, None) for e in self._merger.state.breakpoints if not e.enabled and e.id not in sent]
        for each, answer in answers:
            if answer.verified:
                self._sources.learn(each.file, self._requests.session_id)
        await self._merger.merge(BreakpointsBound(self._requests.session_id, tuple(results)))

    def _sort(self, mine: list[Breakpoint]) -> tuple[list[Breakpoint], list[tuple[Breakpoint, str]]]:
        """Divide into what can be sent and what this adapter cannot do: it would drop a condition and always stop."""
        able = self._requests.capabilities
        sent, unsupported = [], []
        for each in mine:
            if not each.enabled:
                continue
            if each.condition and not able.supports_conditional_breakpoints:
                unsupported.append((each, "conditions"))
            elif each.hit_condition and not able.supports_hit_conditional_breakpoints:
                unsupported.append((each, "hit conditions"))
            elif each.log_message and not able.supports_log_points:
                unsupported.append((each, "log messages"))
            else:
                sent.append(each)
        return sent, unsupported

    def _line_breakpoint(self, each: Breakpoint) -> dict[str, Any]:
        arguments: dict[str, Any] = {"line": each.line, **_conditions(each)}
        if each.column is not None:
            arguments["column"] = each.column
        if each.log_message is not None:
            arguments["logMessage"] = self._requests.profile.dialect.log_message(each.id, each.log_message)
        return arguments


def _conditions(each: Breakpoint) -> dict[str, Any]:
    named = {"condition": each.condition, "hitCondition": each.hit_condition}
    return {name: value for name, value in named.items() if value is not None}


def one_per_line(breakpoints: list[Breakpoint]) -> list[Breakpoint]:
    """Return the breakpoints to send where a temporary one shares its line: adapters keep one breakpoint per line.

    Where the user's own breakpoint always stops, it serves for both; otherwise it is left out until the run is over.
    """
    temporary = {each.line for each in breakpoints if each.temporary}
    own = {each.line for each in breakpoints if each.always_stops and not each.temporary}
    return [
        each
        for each in breakpoints
        if (each.line not in own if each.temporary else each.line not in temporary or each.line in own)
    ]
