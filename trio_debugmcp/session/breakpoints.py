"""`BreakpointRegistry`: the user's breakpoints. It keeps them, sends them to every session, and takes them back.

They belong to the server: set before any session they are pending, and every new session gets all of them. Whatever
changes a breakpoint here also sends it, so no caller can set one and forget to send it.

    made = await registry.set(BreakpointSpec(file="/src/app.py", line=7, condition="total < 0"))
    await registry.remove(made.id)
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import overload

import trio
from msgspec import Struct
from msgspec.structs import asdict, replace

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.session.addresses import found_again
from trio_debugmcp.session.breakpoint_sync import EXCEPTIONS, FUNCTIONS, BreakpointSync
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.ownership import Owner, Owners
from trio_debugmcp.session.runs import Runs
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointPut,
    BreakpointsRemoved,
    Change,
    ExceptionBreakpointPut,
)
from trio_debugmcp.state.model import Breakpoint, ExceptionBreakpoint, State, Watch
from trio_debugmcp.state.payloads import BreakpointType

log = logging.getLogger(__name__)


class BreakpointSpec(Struct, frozen=True, kw_only=True):
    """What a breakpoint on a line, a function, an instruction or data should be. With a `log_message`: a tracepoint.

    `text`: that of its line; with `by_text` the line is found by it again when the file was edited, and
    `occurrence` tells which of how many lines with that text it is.
    """

    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    hit_count_multiple: int = 0
    max_notifications: int = 0
    text: str | None = None
    by_text: bool = False
    occurrence: tuple[int, int] | None = None
    address: str | None = None
    watch: Watch | None = None
    only_in: str | None = None


class ExceptionSpec(Struct, frozen=True, kw_only=True):
    """What an exception breakpoint should be; the type is `*` for all."""

    exception_type: str = "*"
    first_chance: bool = True
    second_chance: bool = True
    user_unhandled: bool = False
    include_subtypes: bool = True
    condition: str | None = None


class BreakpointRegistry:
    """The breakpoints of one server. Every change is merged into the state and sent to the sessions that accept it.

    Error handling: a method that changes something raises a `DebugError` if an adapter refused the change. The change
    stays, and the other sessions have got it.

    Attributes:
        owners: which client has set which.
        runs: breakpoints that serve one run, and that no client sees.
        earlier: the ids of those that were in force in an earlier session, and have not been set again since.
        carried: those of which that held when the last session began.
    """

    def __init__(self, merger: Merger) -> None:
        self._merger = merger
        self._numbers = count(1)
        self._versions = count(1)
        self._syncs: list[BreakpointSync] = []
        self._notifications: Counter[tuple[str, int]] = Counter()
        self.owners = Owners()
        self.runs = Runs(merger, self._versions, self._send, lambda: self._syncs)
        self.earlier: set[str] = set()
        self.carried: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<BreakpointRegistry of {len(self._visible())} breakpoints for {len(self._syncs)} sessions>"

    # --- Sessions --------------------------------------------------------------------------------------------

    def add_session(self, sync: BreakpointSync) -> None:
        """Send changes to this session too, as soon as it accepts them."""
        if not self._syncs:
            self._notifications.clear()
        if not self._syncs:
            self.carried = frozenset(self.earlier)
        self._syncs.append(sync)
        sync.peers = lambda: [each.profile for each in self._syncs]

    def remove_session(self, sync: BreakpointSync) -> None:
        """Send nothing more to this session; removing it twice is fine."""
        self._syncs = [each for each in self._syncs if each is not sync]
        if not self._syncs:
            self.earlier = {each.id for each in self._all()}

    def take_notification(self, wanted: Breakpoint) -> bool:
        """Return whether a tracepoint may still notify, and count it: the processes of a program have one limit."""
        key = (wanted.id, wanted.version)
        if 0 < wanted.max_notifications <= self._notifications[key]:
            return False
        self._notifications[key] += 1
        return True

    # --- The user's breakpoints ------------------------------------------------------------------------------

    async def set(self, spec: BreakpointSpec, owner: Owner | None = None) -> Breakpoint:
        """Set a breakpoint; the owner's at the same place is replaced, and keeps its id if it is of the same type.

        Raises:
            UsageError: `INVALID_CONDITION`: an adapter refuses the condition; what was there before stays.
        """
        before = self.replaced_by(spec, owner)
        made = await self._put(spec, owner)
        self.earlier.discard(made.id)
        await self._send([made])
        for sync in [each for each in self._syncs if each.accepting]:
            problem = await sync.condition_problem(made)
            if problem is not None:
                await self._put_back(made, before, owner)
                raise UsageError(
                    "INVALID_CONDITION",
                    f"The condition `{made.condition}` is refused: {problem.rstrip('. ')}. Correct it, and set the "
                    f"breakpoint again{'; the one that was there is unchanged' if before else ''}.",
                    {"condition": made.condition},
                )
        return made

    async def _put_back(self, made: Breakpoint, before: Breakpoint | None, owner: Owner | None) -> None:
        if before is None or before.id != made.id:
            await self.remove(made.id)
        if before is not None:
            self.owners.add(before.id, owner)
            await self._merge(BreakpointPut(replace(before, version=next(self._versions))))
            await self._send([before])

    async def set_exception(self, spec: ExceptionSpec) -> ExceptionBreakpoint:
        """Set an exception breakpoint; one for the same type is replaced, and keeps its id."""
        old = self.replaced_by(spec)
        new = ExceptionBreakpoint(id=old.id if old else f"ex-{next(self._numbers)}", **asdict(spec))
        await self._merge(ExceptionBreakpointPut(new))
        self.earlier.discard(new.id)
        await self._send([new])
        return new

    @overload
    def replaced_by(self, spec: BreakpointSpec, owner: Owner | None = None) -> Breakpoint | None: ...

    @overload
    def replaced_by(self, spec: ExceptionSpec) -> ExceptionBreakpoint | None: ...

    def replaced_by(
        self, spec: BreakpointSpec | ExceptionSpec, owner: Owner | None = None
    ) -> Breakpoint | ExceptionBreakpoint | None:
        """Return the breakpoint that this one would replace."""
        if isinstance(spec, ExceptionSpec):
            return next((each for each in self._state.exceptions if each.exception_type == spec.exception_type), None)
        return self.owners.choose(self.at_place(spec), owner, lambda each: _is_same(each, spec))

    def at_place(self, spec: BreakpointSpec) -> list[Breakpoint]:
        """Return the breakpoints at the place of this one."""
        return [each for each in self._visible() if _same_place(each, spec)]

    async def enable(self, breakpoint_id: str, *, enabled: bool) -> None:
        """Enable or disable a breakpoint of any kind.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        changed = self.find(breakpoint_id)
        await self._merge(BreakpointEnabled(breakpoint_id, enabled, next(self._versions)))
        await self._send([changed])

    async def remove(self, breakpoint_id: str) -> list[str]:
        """Remove one breakpoint, or with `*` all; return the ids of those that were removed.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        removed = self._all() if breakpoint_id == "*" else [self.find(breakpoint_id)]
        ids = [each.id for each in removed]
        await self._merge(BreakpointsRemoved(frozenset(ids)))
        for each in ids:
            self.owners.forget(each)
        await self._send(removed)
        return ids

    def find(self, breakpoint_id: str) -> Breakpoint | ExceptionBreakpoint:
        """Return the breakpoint with that id, as it is now.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        everything = self._all()
        for each in everything:
            if each.id == breakpoint_id:
                return each
        known = ", ".join(each.id for each in everything) or "none"
        raise UsageError(
            "BREAKPOINT_NOT_FOUND",
            f"There is no breakpoint '{breakpoint_id}'. Known ids: {known}.",
            {"id": breakpoint_id},
        )

    async def find_again(self, lines_of: Callable[[str], Sequence[str] | None]) -> list[str]:
        """Look whether lines have been edited since their breakpoints were set, and move those that go by their text.

        `lines_of` returns the lines of a file, None for one that cannot be read. Returns what changed, a note for each.
        """
        notes = []
        for each in self._visible():
            lines = lines_of(each.file) if each.file is not None and each.text is not None else None
            if lines is None:
                continue
            now, note = found_again(each, lines)
            if now is not each:
                await self._merge(BreakpointPut(now))
            if note is not None:
                notes.append(f"{each.id} {note}")
        return notes

    # --- Parts -----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._merger.state

    def _visible(self) -> list[Breakpoint]:
        return [each for each in self._state.breakpoints if not each.temporary]

    def _all(self) -> list[Breakpoint | ExceptionBreakpoint]:
        return [*self._visible(), *self._state.exceptions]

    async def _put(self, spec: BreakpointSpec, owner: Owner | None) -> Breakpoint:
        kind = _type_of(spec)
        old = self.replaced_by(spec, owner)
        self.owners.leave(self.at_place(spec), old, owner)
        if old is not None and old.type == kind:
            new_id = old.id
        else:
            new_id = f"{_prefix(spec)}-{next(self._numbers)}"
            if old is not None:
                self.owners.forget(old.id)
                await self._merge(BreakpointsRemoved(frozenset({old.id})))
        self.owners.add(new_id, owner)
        new = Breakpoint(id=new_id, type=kind, version=next(self._versions), **asdict(spec))
        await self._merge(BreakpointPut(new))
        return new

    async def _merge(self, change: Change) -> None:
        # Shielded, which is bounded: a caller that is cancelled here would leave a breakpoint that all lists show and
        # no adapter has. What it does not send any more, `BreakpointSync.keep_in_step` sends.
        with trio.CancelScope(shield=True):
            await self._merger.merge(change)

    async def _send(self, changed: Iterable[Breakpoint | ExceptionBreakpoint]) -> None:
        """Send what these breakpoints are part of: their files, the functions, the exceptions."""
        changed = list(changed)
        lines = [each for each in changed if isinstance(each, Breakpoint)]
        wanted = {each.file for each in lines if each.file is not None}
        wanted |= {FUNCTIONS for each in lines if each.function is not None}
        wanted |= {EXCEPTIONS for each in changed if isinstance(each, ExceptionBreakpoint)}
        addressed = any(each.address or each.watch for each in lines)
        failures: list[DebugError] = []

        async def send(sync: BreakpointSync) -> None:
            try:
                await sync.send(wanted)
                if addressed:
                    await sync.addressed.send()
            except AdapterGone as gone:  # then the adapter has no breakpoints any more, either
                log.debug("%r: %s", sync, gone)
            except DebugError as error:
                failures.append(error)

        async with trio.open_nursery() as nursery:
            for sync in self._syncs:
                if sync.accepting:
                    nursery.start_soon(send, sync)
        if failures:
            raise failures[0]


def _type_of(spec: BreakpointSpec) -> BreakpointType:
    return "Breakpoint" if spec.log_message is None else "Tracepoint"


def _prefix(spec: BreakpointSpec) -> str:
    return "dp" if spec.watch else "fn" if spec.function else "tp" if spec.log_message else "bp"


def _same_place(one: Breakpoint, other: BreakpointSpec) -> bool:
    if one.watch is not None and other.watch is not None:
        # An id of a session that has ended means nothing: the breakpoint is known by what it was to watch.
        if one.lost:
            return one.watch.expression == other.watch.expression
        return (one.watch.data_id, one.only_in) == (other.watch.data_id, other.only_in)
    places = ((each.file, each.line, each.column, each.function, each.address) for each in (one, other))
    return one.watch is other.watch and len({*places}) == 1


def _is_same(one: Breakpoint, other: BreakpointSpec) -> bool:
    """Whether a breakpoint at that place stops, or writes, in just the same cases."""
    return all(getattr(one, name) == getattr(other, name) for name in _CASES)


_CASES = ("condition", "hit_condition", "log_message", "hit_count_multiple", "max_notifications")
