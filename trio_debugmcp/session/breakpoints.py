"""The user's breakpoints: made here, kept in the state, and sent to every session's adapter.

They belong to the server: set before any session they are pending, and every new session gets all of them.
`setBreakpoints` replaces all breakpoints of one file, so a file is always sent whole, from the current state, by one
task at a time per session.
"""

import logging
from collections.abc import Iterable
from itertools import count
from typing import Any, Protocol, TypeVar

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointsBody, Capabilities, DapBreakpoint, Nothing
from trio_debugmcp.dap.profiles import Profile, TypedException
from trio_debugmcp.errors import AdapterRefused, UsageError
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.sources import Sources
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointPut,
    BreakpointsBound,
    BreakpointsRemoved,
    ExceptionBreakpointPut,
    ExceptionBreakpointsBound,
)
from trio_debugmcp.state.model import Breakpoint, ExceptionBreakpoint, State

log = logging.getLogger(__name__)

T = TypeVar("T")


class Requests(Protocol):
    """What is needed of a session to send breakpoints to its adapter."""

    id: str
    profile: Profile
    capabilities: Capabilities

    async def request(self, command: str, arguments: object, kind: type[T]) -> T:
        """Send a bounded request."""
        ...


class BreakpointBook:
    """Makes, changes and removes the user's breakpoints. Every change becomes a message to the merger."""

    def __init__(self, merger: Merger) -> None:
        self._merger = merger
        self._numbers = count(1)
        self._hidden = count(1)

    async def put(self, wanted: Breakpoint) -> Breakpoint:
        """Set a breakpoint; one at the same place is updated. `wanted.id` is ignored."""
        old = next((each for each in self._state.breakpoints if _same_place(each, wanted)), None)
        if old is not None and old.type == wanted.type:
            new = replace(wanted, id=old.id)
        else:
            prefix = "run-to" if wanted.temporary else "fn" if wanted.function else "tp" if wanted.log_message else "bp"
            new = replace(wanted, id=f"{prefix}-{next(self._hidden if wanted.temporary else self._numbers)}")
            if old is not None:
                await self._merger.merge(BreakpointsRemoved(frozenset({old.id})))
        await self._merger.merge(BreakpointPut(new))
        return new

    async def put_exception(self, wanted: ExceptionBreakpoint) -> ExceptionBreakpoint:
        """Set an exception breakpoint; one for the same type is updated. `wanted.id` is ignored."""
        old = next((e for e in self._state.exceptions if e.exception_type == wanted.exception_type), None)
        new = replace(wanted, id=old.id if old else f"ex-{next(self._numbers)}")
        await self._merger.merge(ExceptionBreakpointPut(new))
        return new

    async def enable(self, breakpoint_id: str, *, enabled: bool) -> Breakpoint | ExceptionBreakpoint:
        """Switch a breakpoint of any kind on or off; returns it as it is now.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        self.find(breakpoint_id)
        await self._merger.merge(BreakpointEnabled(breakpoint_id, enabled))
        return self.find(breakpoint_id)

    async def remove(self, breakpoint_id: str) -> list[Breakpoint | ExceptionBreakpoint]:
        """Remove one breakpoint, or with `*` all; returns what was removed.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        if breakpoint_id == "*":
            removed: list[Breakpoint | ExceptionBreakpoint] = [*self._visible(), *self._state.exceptions]
        else:
            removed = [self.find(breakpoint_id)]
        await self._merger.merge(BreakpointsRemoved(frozenset(each.id for each in removed)))
        return removed

    async def forget(self, temporary: Breakpoint) -> None:
        """Remove a temporary breakpoint."""
        await self._merger.merge(BreakpointsRemoved(frozenset({temporary.id})))

    def find(self, breakpoint_id: str) -> Breakpoint | ExceptionBreakpoint:
        """The breakpoint with that id, as it is now.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        everything: list[Breakpoint | ExceptionBreakpoint] = [*self._visible(), *self._state.exceptions]
        for each in everything:
            if each.id == breakpoint_id:
                return each
        known = ", ".join(each.id for each in everything) or "none"
        raise UsageError(
            "BREAKPOINT_NOT_FOUND",
            f"There is no breakpoint '{breakpoint_id}'. Known ids: {known}.",
            {"id": breakpoint_id},
        )

    @property
    def _state(self) -> State:
        return self._merger.state

    def _visible(self) -> list[Breakpoint]:
        return [each for each in self._merger.state.breakpoints if not each.temporary]


class BreakpointSync:
    """Keeps one session's adapter in step with the book."""

    def __init__(self, session: Requests, merger: Merger, sources: Sources) -> None:
        self._session = session
        self._merger = merger
        self._sources = sources
        self._one_at_a_time = trio.Lock()
        self._sent_files: set[str] = set()
        self._sent_functions = False

    async def send_all(self) -> None:
        """Everything, for a session that is being configured."""
        await self.send({each.file for each in self._merger.state.breakpoints if each.file is not None})
        await self.send_functions()
        await self.send_exceptions()

    async def send(self, files: Iterable[str]) -> None:
        """The breakpoints of these files, as they are by the time that it is their turn."""
        async with self._one_at_a_time:
            for file in sorted(files):
                await self._send_file(file)

    async def send_functions(self) -> None:
        """The function breakpoints."""
        async with self._one_at_a_time:
            mine = [each for each in self._merger.state.breakpoints if each.function is not None]
            if not mine and not self._sent_functions:
                return
            if not self._session.capabilities.supports_function_breakpoints:
                await self._bind([], [(each, "breakpoints on functions") for each in mine])
                return
            sent, unsupported = self._sort(mine)
            arguments = {"breakpoints": [{"name": each.function, **self._conditions(each)} for each in sent]}
            body = await self._session.request("setFunctionBreakpoints", arguments, BreakpointsBody)
            self._sent_functions = bool(sent)
            await self._bind(list(zip(sent, body.breakpoints or [], strict=False)), unsupported)

    async def send_exceptions(self) -> None:
        """The exception breakpoints; sent even when there are none, or adapters use their own defaults."""
        async with self._one_at_a_time:
            mine = [each for each in self._merger.state.exceptions if each.enabled]
            if not mine and not self._session.capabilities.exception_breakpoint_filters:
                return
            wanted = [TypedException(e.exception_type, e.first_chance, e.second_chance) for e in mine]
            arguments = self._session.profile.dialect.exception_arguments(wanted, self._session.capabilities)
            problem = None
            try:
                await self._session.request("setExceptionBreakpoints", arguments, Nothing)
            except AdapterRefused as refusal:
                problem = refusal.reason
            watched = frozenset() if problem else frozenset(each.id for each in mine)
            await self._merger.merge(ExceptionBreakpointsBound(self._session.id, watched, problem))

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
            body = await self._session.request("setBreakpoints", arguments, BreakpointsBody)
        except AdapterRefused as refusal:
            refused = [DapBreakpoint(message=refusal.reason) for _ in sent]
            await self._bind(list(zip(sent, refused, strict=True)), unsupported)
            return
        self._sent_files.add(file)
        await self._bind(list(zip(sent, body.breakpoints or [], strict=False)), unsupported)

    async def _bind(
        self, answers: list[tuple[Breakpoint, DapBreakpoint]], unsupported: list[tuple[Breakpoint, str]]
    ) -> None:
        results: list[tuple[str, DapBreakpoint | None]] = [(each.id, answer) for each, answer in answers]
        name = self._session.profile.name
        results += [(e.id, DapBreakpoint(message=f"{name} does not support {what}")) for e, what in unsupported]
        sent = {each for each, _ in results}
        results += [(e.id, None) for e in self._merger.state.breakpoints if not e.enabled and e.id not in sent]
        for each, answer in answers:
            if answer.verified:
                self._sources.learn(each.file, self._session.id)
        await self._merger.merge(BreakpointsBound(self._session.id, tuple(results)))

    def _sort(self, mine: list[Breakpoint]) -> tuple[list[Breakpoint], list[tuple[Breakpoint, str]]]:
        """What can be sent, and what this adapter cannot do: it would ignore the condition and stop every time."""
        able = self._session.capabilities
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
        arguments: dict[str, Any] = {"line": each.line, **self._conditions(each)}
        if each.column is not None:
            arguments["column"] = each.column
        if each.log_message is not None:
            arguments["logMessage"] = self._session.profile.dialect.log_message(each.id, each.log_message)
        return arguments

    def _conditions(self, each: Breakpoint) -> dict[str, Any]:
        named = {"condition": each.condition, "hitCondition": each.hit_condition}
        return {name: value for name, value in named.items() if value is not None}


def one_per_line(breakpoints: list[Breakpoint]) -> list[Breakpoint]:
    """Without those that a temporary one would be mixed up with: adapters keep one breakpoint per line.

    Where the user's own one stops anyway, that one serves; where it would not, it waits until the run is over.
    """
    temporary = {each.line for each in breakpoints if each.temporary}
    own = {each.line for each in breakpoints if each.always_stops and not each.temporary}
    return [
        each
        for each in breakpoints
        if (each.line not in own if each.temporary else each.line not in temporary or each.line in own)
    ]


def _same_place(one: Breakpoint, other: Breakpoint) -> bool:
    if one.temporary or other.temporary:
        return False
    return (one.file, one.line, one.column, one.function) == (other.file, other.line, other.column, other.function)
