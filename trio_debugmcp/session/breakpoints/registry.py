"""`BreakpointRegistry`: the user's breakpoints. It keeps them, sends them to every session, and takes them back.

They belong to the server: set before any session they are pending, and every new session gets all of them. Whatever
changes a breakpoint here also sends it, so no caller can set one and forget to send it.

    made = await registry.set(BreakpointSpec(file="/src/app.py", line=7, condition="total < 0"))
    await registry.remove(made.id)
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import overload

import trio
from msgspec.structs import asdict, replace

from trio_debugmcp.errors import AdapterGone, DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.breakpoints.batch import BATCH, Batch
from trio_debugmcp.session.breakpoints.breakpoint_sync import EXCEPTIONS, FUNCTIONS, BreakpointSync
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec, ExceptionWishes
from trio_debugmcp.session.breakpoints.line_text import found_again
from trio_debugmcp.session.breakpoints.ownership import Owner, Owners
from trio_debugmcp.session.breakpoints.runs import Runs
from trio_debugmcp.session.breakpoints.specs import (
    is_same,
    prefix,
    same_place,
    spelled,
)
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state import changes
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, ExceptionBreakpoint, StopPlace
from trio_debugmcp.state.changes import Change
from trio_debugmcp.state.model import State

log = logging.getLogger(__name__)


class BreakpointRegistry:
    """The breakpoints of one server. Every change is merged into the state and sent to the sessions that accept it.

    Error handling: a method that changes something raises a `DebugError` if an adapter refused the change. The change
    stays, and the other sessions have got it.

    Attributes:
        owners: which client has set which; `wishes`: what each wants of exceptions.
        runs: breakpoints that serve one run, and that no client sees.
        earlier: the ids of those that were in force in an earlier session, and have not been set again since.
        carried: those of which that held when the last session began.
    """

    def __init__(self, merger: Merger, patience: Patience) -> None:
        self._merger = merger
        self._numbers = count(1)
        self._versions = count(1)
        self._syncs: list[BreakpointSync] = []
        self._notifications: Counter[tuple[str, int]] = Counter()
        self.owners = Owners()
        self.wishes = ExceptionWishes()
        self.runs = Runs(merger, self._versions, self._send, lambda: self._syncs, patience)
        self.earlier: set[str] = set()
        self.carried: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<BreakpointRegistry of {len(self._state.breakpoints)} breakpoints for {len(self._syncs)} sessions>"

    # --- Sessions --------------------------------------------------------------------------------------------

    def add_session(self, sync: BreakpointSync) -> None:
        """Send changes to this session too, as soon as it accepts them."""
        if not self._syncs:
            self._notifications.clear()
            self.carried = frozenset(self.earlier)
        self._syncs.append(sync)
        sync.peers = lambda: [each.profile for each in self._syncs]

    def remove_session(self, sync: BreakpointSync) -> None:
        """Send nothing more to this session; removing it twice is fine."""
        self._syncs = [each for each in self._syncs if each is not sync]
        if not self._syncs:
            self.earlier = {each.id for each in self._all()}

    def take_notification(self, wanted: StopPlace) -> bool:
        """Return whether a tracepoint may still notify, and count it: the processes of a program have one limit."""
        key = (wanted.id, wanted.version)
        if 0 < wanted.spec.max_notifications <= self._notifications[key]:
            return False
        self._notifications[key] += 1
        return True

    # --- The user's breakpoints ------------------------------------------------------------------------------

    async def set(
        self, spec: BreakpointSpec, owner: Owner | None = None, instead: Breakpoint | None = None
    ) -> Breakpoint:
        """Set a breakpoint; the owner's at the same place is replaced, and keeps its id if it is of the same type.

        `instead`: replace this one, which stays that of the clients that have set it, and off if it is.

        Raises:
            UsageError: `INVALID_CONDITION`: an adapter refuses the condition; what was there before stays.
        """
        spec = spelled(spec, self._state.breakpoints)
        before = instead or self.replaced_by(spec, owner)
        made = await self._put(spec, owner, instead)
        self.earlier.discard(made.id)
        if (batch := BATCH.get()) is not None:
            batch.made.append((made, before, owner))
            return made
        await self._send([made])
        await self._check_condition(made, before, owner)
        return made

    @asynccontextmanager
    async def batch(self) -> AsyncIterator[Batch]:
        """Send what this task sets and removes in the block at its end, each file once; then `refused` is known.

        If the block is cancelled, `BreakpointSync.keep_in_step` sends it.
        """
        batch = Batch()
        token = BATCH.set(batch)
        try:
            yield batch
        except BaseException:
            # When cancelled this sends nothing: it marks what the adapters lack, also of what was removed.
            await self._send(batch.changed)  # noqa: ASYNC102
            raise
        finally:
            BATCH.reset(token)
        try:
            await self._send(batch.changed)
        except DebugError as error:
            batch.refused |= {made.id: error for made, _, _ in batch.made}
            return
        for made, before, owner in batch.made:
            try:
                await self._check_condition(made, before, owner)
            except DebugError as error:
                batch.refused[made.id] = error

    async def _check_condition(self, made: Breakpoint, before: Breakpoint | None, owner: Owner | None) -> None:
        for sync in [each for each in self._syncs if each.accepting]:
            problem = await sync.condition_problem(made)
            if problem is not None:
                await self._put_back(made, before, owner)
                condition = made.spec.condition
                raise UsageError(
                    "INVALID_CONDITION",
                    f"The condition `{condition}` is refused: {problem.rstrip('. ')}. Correct it, and set the "
                    f"breakpoint again{'; the one that was there is unchanged' if before else ''}.",
                    {"parameter": "condition", "condition": condition},
                )

    async def _put_back(self, made: Breakpoint, before: Breakpoint | None, owner: Owner | None) -> None:
        if before is not None:
            self.owners.pass_on(made.id, before.id)
        if before is None or before.id != made.id:
            await self.remove(made.id)
        if before is not None:
            await self._merge(changes.BreakpointPut(replace(before, version=next(self._versions))))
            await self._send([before])

    async def set_exception(self, spec: ExceptionSpec, owner: Owner | None = None) -> ExceptionBreakpoint:
        """Set an exception breakpoint; one for the same type is replaced, as far as it is the owner's.

        What several clients want of a type is one breakpoint, which stops whenever one of them wants it to.
        """
        old = self.replaced_by(spec)
        new_id = old.id if old else f"ex-{next(self._numbers)}"
        self.owners.add(new_id, owner)
        spec = self.wishes.put(spec, owner)
        return await self._put_exception(ExceptionBreakpoint(id=new_id, **asdict(spec)))

    async def leave(self, breakpoint_id: str, owner: Owner) -> bool:
        """Record that a client does not mean a breakpoint any more; return whether another client has set it."""
        self.owners.discard(breakpoint_id, owner)
        names = self.owners.names(breakpoint_id)
        found = next((each for each in self._state.breakpoints if each.id == breakpoint_id), None)
        if found is not None and found.set_by != names:
            await self._merge(changes.BreakpointPut(replace(found, set_by=names)))
        return self.owners.has_any(breakpoint_id)

    async def leave_exception(self, old: ExceptionBreakpoint, owner: Owner) -> None:
        """Take back what a client wants of a type; the breakpoint is removed if no other client wants it."""
        spec = self.wishes.leave(old.exception_type, owner)
        self.owners.discard(old.id, owner)
        if spec is None:
            await self.remove(old.id)
        else:
            await self._put_exception(ExceptionBreakpoint(id=old.id, **asdict(spec)))

    async def _put_exception(self, new: ExceptionBreakpoint) -> ExceptionBreakpoint:
        new = replace(new, set_by=self.owners.names(new.id))
        await self._merge(changes.ExceptionBreakpointPut(new))
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
        return self.owners.choose(self.at_place(spec), owner, lambda each: is_same(each, spec))

    def at_place(self, spec: BreakpointSpec) -> list[Breakpoint]:
        """Return the breakpoints at the place of this one."""
        spec = spelled(spec, self._state.breakpoints)
        return [each for each in self._state.breakpoints if same_place(each, spec)]

    async def enable(self, breakpoint_id: str, *, enabled: bool) -> None:
        """Enable or disable a breakpoint of any kind.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        changed = self.find(breakpoint_id)
        await self._merge(changes.BreakpointEnabled(breakpoint_id, enabled, next(self._versions)))
        await self._send([changed])

    async def remove(self, breakpoint_id: str) -> list[str]:
        """Remove one breakpoint, or with `*` all; return the ids of those that were removed.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        removed = self._all() if breakpoint_id == "*" else [self.find(breakpoint_id)]
        ids = [each.id for each in removed]
        await self._merge(changes.BreakpointsRemoved(frozenset(ids)))
        for each in removed:
            self.owners.forget(each.id)
            if isinstance(each, ExceptionBreakpoint):
                self.wishes.forget(each.exception_type)
        if (batch := BATCH.get()) is not None:
            batch.removed += removed
        else:
            await self._send(removed)
        return ids

    def find(self, breakpoint_id: str) -> Breakpoint | ExceptionBreakpoint:
        """Return the breakpoint with that id, as it is now.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        everything = {each.id: each for each in self._all()}
        if breakpoint_id in everything:
            return everything[breakpoint_id]
        sentence = f"There is no breakpoint '{breakpoint_id}'. Known ids: {', '.join(everything) or 'none'}."
        raise UsageError("BREAKPOINT_NOT_FOUND", sentence, {"id": breakpoint_id})

    async def find_again(self, lines_of: Callable[[str], Sequence[str] | None]) -> list[str]:
        """Look whether lines have been edited since their breakpoints were set, and move those that go by their text.

        `lines_of` returns the lines of a file, None for one that cannot be read. Returns what changed, a note for each.
        """
        notes = []
        for each in self._state.breakpoints:
            lines = lines_of(each.spec.file) if each.spec.file is not None and each.spec.text is not None else None
            if lines is None:
                continue
            now, note = found_again(each, lines)
            if now is not each:
                await self._merge(changes.BreakpointPut(now))
            if note is not None:
                notes.append(f"{each.id} {note}")
        return notes

    def release(self, connection: Hashable) -> None:
        """Release what the clients of a connection have set: it has ended."""
        self.owners.release(connection)
        self.wishes.release(connection)

    # --- Parts -----------------------------------------------------------------------------------------------

    @property
    def _state(self) -> State:
        return self._merger.state

    def _all(self) -> list[Breakpoint | ExceptionBreakpoint]:
        return [*self._state.breakpoints, *self._state.exceptions]

    async def _put(self, spec: BreakpointSpec, owner: Owner | None, instead: Breakpoint | None) -> Breakpoint:
        old = instead or self.replaced_by(spec, owner)
        if instead is None:
            self.owners.leave(self.at_place(spec), old, owner)
        if old is not None and old.spec.type == spec.type:
            new_id = old.id
        else:
            new_id = f"{prefix(spec)}-{next(self._numbers)}"
            if old is not None:
                if instead is not None:
                    self.owners.pass_on(old.id, new_id)
                self.owners.forget(old.id)
                await self._merge(changes.BreakpointsRemoved(frozenset({old.id})))
        if instead is None:
            self.owners.made(new_id, owner)
        enabled = instead is None or instead.enabled
        names = self.owners.names(new_id)
        new = Breakpoint(new_id, spec, version=next(self._versions), enabled=enabled, set_by=names)
        await self._merge(changes.BreakpointPut(new))
        return new

    async def _merge(self, change: Change) -> None:
        # Shielded, which is bounded: a caller that is cancelled here would leave a breakpoint that all lists show and
        # no adapter has. What it does not send any more, `BreakpointSync.keep_in_step` sends.
        with trio.CancelScope(shield=True):
            await self._merger.merge(change)

    async def _send(self, changed: Iterable[StopPlace | ExceptionBreakpoint]) -> None:
        """Send what these breakpoints are part of: their files, the functions, the exceptions."""
        changed = list(changed)
        lines = [each for each in changed if isinstance(each, StopPlace)]
        wanted = {each.spec.file for each in lines if each.spec.file is not None}
        wanted |= {FUNCTIONS for each in lines if each.spec.function is not None}
        wanted |= {EXCEPTIONS for each in changed if isinstance(each, ExceptionBreakpoint)}
        addressed = any(each.spec.address or each.spec.watch for each in lines)
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
