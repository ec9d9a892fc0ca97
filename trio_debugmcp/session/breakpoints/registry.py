"""`BreakpointRegistry`: the user's breakpoints. It keeps them, sends them to every session, and takes them back.

They belong to the server: set before any session they are pending, and every new session gets all of them. Whatever
changes a breakpoint here also sends it, so no caller can set one and forget to send it.

    made = await registry.set(BreakpointSpec(file="/src/app.py", line=7, condition="total < 0"))
    await registry.remove(made.id)

`registry.exceptions` has one for each type of exceptions, which several clients may want. What they want is kept by
client, so that one that leaves takes nothing from the others.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from itertools import count

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.breakpoints.breakpoint_syncs import BreakpointSyncs
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec, ExceptionWishes
from trio_debugmcp.session.breakpoints.line_text import found_again
from trio_debugmcp.session.breakpoints.ownership import Owner, Owners
from trio_debugmcp.session.breakpoints.runs import Runs
from trio_debugmcp.session.breakpoints.specs import is_same, prefix, same_place, spelled
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state import changes
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, ExceptionBreakpoint
from trio_debugmcp.state.changes import ExceptionBreakpointPut


class ExceptionRegistry:
    """Those of one server; the registry of all kinds numbers and removes them.

    Attributes:
        wishes: what each client wants of exceptions.
    """

    def __init__(
        self,
        merger: Merger,
        syncs: BreakpointSyncs,
        owners: Owners,
        numbers: Iterator[int],
        remove: Callable[[str], Awaitable[object]],
    ) -> None:
        self.wishes = ExceptionWishes()
        self._merger = merger
        self._syncs = syncs
        self._owners = owners
        self._numbers = numbers
        self._remove = remove

    def __repr__(self) -> str:
        return f"<ExceptionRegistry {self.wishes!r}>"

    def of_type(self, exception_type: str) -> ExceptionBreakpoint | None:
        """Return the breakpoint on exceptions of a type."""
        return next(
            (exception for exception in self._merger.state.exceptions if exception.exception_type == exception_type),
            None,
        )

    async def set(self, spec: ExceptionSpec, owner: Owner | None = None) -> ExceptionBreakpoint:
        """Set an exception breakpoint; one for the same type is replaced, as far as it is the owner's.

        What several clients want of a type is one breakpoint, which stops whenever one of them wants it to.
        """
        old = self.of_type(spec.exception_type)
        new_id = old.id if old else f"ex-{next(self._numbers)}"
        self._owners.add(new_id, owner)
        return await self._put(new_id, self.wishes.put(spec, owner))

    async def leave(self, old: ExceptionBreakpoint, owner: Owner) -> None:
        """Take back what a client wants of a type; the breakpoint is removed if no other client wants it."""
        spec = self.wishes.leave(old.exception_type, owner)
        self._owners.discard(old.id, owner)
        if spec is None:
            await self._remove(old.id)
        else:
            await self._put(old.id, spec)

    async def _put(self, id_: str, spec: ExceptionSpec) -> ExceptionBreakpoint:
        new = ExceptionBreakpoint(id=id_, set_by=self._owners.names(id_), **asdict(spec))
        await self._syncs.merge(ExceptionBreakpointPut(new))
        self._syncs.earlier.discard(id_)
        await self._syncs.send([new])
        return new


class Batch(Struct):
    """What one task changes in a block, which is sent together, as each sending has all of a file.

    `refused`: the ids of those that could not be set, and why.
    """

    made: list[tuple[Breakpoint, Breakpoint | None]] = field(default_factory=list)
    removed: list[Breakpoint | ExceptionBreakpoint] = field(default_factory=list)
    refused: dict[str, DebugError] = field(default_factory=dict)

    @property
    def changed(self) -> list[Breakpoint | ExceptionBreakpoint]:
        """All that the adapters have to learn of."""
        return [*self.removed, *(made for made, _ in self.made)]


BATCH: ContextVar[Batch | None] = ContextVar("BATCH", default=None)
"""The batch of this task. What other tasks change is not kept waiting by it."""


class BreakpointRegistry:
    """The breakpoints of one server. Every change is merged into the state and sent to the sessions that accept it.

    Error handling: a method that changes something raises a `DebugError` if an adapter refused the change. The change
    stays, and the other sessions have got it.

    Attributes:
        owners: which client has set which.
        syncs: the sessions whose adapters get them.
        exceptions: those on exceptions.
        runs: places that serve one run, and that no client sees.
    """

    def __init__(self, merger: Merger, patience: Patience) -> None:
        self._merger = merger
        self._numbers = count(1)
        self._versions = count(1)
        self.owners = Owners()
        self.syncs = BreakpointSyncs(merger, patience)
        self.exceptions = ExceptionRegistry(merger, self.syncs, self.owners, self._numbers, self.remove)
        self.runs = Runs(merger, self._versions, self.syncs, patience)

    def __repr__(self) -> str:
        return f"<BreakpointRegistry of {len(self._merger.state.breakpoints)} breakpoints>"

    # --- The user's breakpoints ------------------------------------------------------------------------------

    async def set(
        self, spec: BreakpointSpec, owner: Owner | None = None, instead: Breakpoint | None = None
    ) -> Breakpoint:
        """Set a breakpoint; the owner's at the same place is replaced, and keeps its id if it is of the same type.

        `instead`: replace this one, which stays that of the clients that have set it, and off if it is.

        Raises:
            UsageError: `INVALID_CONDITION`: an adapter refuses the condition; what was there before stays.
        """
        spec = spelled(spec, self._merger.state.breakpoints)
        before = instead or self.replaced_by(spec, owner)
        made = await self._put(spec, owner, instead)
        self.syncs.earlier.discard(made.id)
        if (batch := BATCH.get()) is not None:
            batch.made.append((made, before))
            return made
        await self.syncs.send([made])
        await self._check_condition(made, before)
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
            await self.syncs.send(batch.changed)  # noqa: ASYNC102
            raise
        finally:
            BATCH.reset(token)
        try:
            await self.syncs.send(batch.changed)
        except DebugError as error:
            batch.refused |= {made.id: error for made, _ in batch.made}
            return
        for made, before in batch.made:
            try:
                await self._check_condition(made, before)
            except DebugError as error:
                batch.refused[made.id] = error

    async def _check_condition(self, made: Breakpoint, before: Breakpoint | None) -> None:
        for sync in self.syncs.accepting:
            problem = await sync.condition_problem(made)
            if problem is not None:
                await self._put_back(made, before)
                condition = made.spec.condition
                raise UsageError(
                    "INVALID_CONDITION",
                    f"The condition `{condition}` is refused: {problem.rstrip('. ')}. Correct it, and set the "
                    f"breakpoint again{'; the one that was there is unchanged' if before else ''}.",
                    {"parameter": "condition", "condition": condition},
                )

    async def _put_back(self, made: Breakpoint, before: Breakpoint | None) -> None:
        if before is not None:
            self.owners.pass_on(made.id, before.id)
        if before is None or before.id != made.id:
            await self.remove(made.id)
        if before is not None:
            await self.syncs.merge(changes.BreakpointPut(replace(before, version=next(self._versions))))
            await self.syncs.send([before])

    async def leave(self, breakpoint_id: str, owner: Owner) -> bool:
        """Record that a client does not mean a breakpoint any more; return whether another client has set it."""
        self.owners.discard(breakpoint_id, owner)
        names = self.owners.names(breakpoint_id)
        found = next(
            (breakpoint for breakpoint in self._merger.state.breakpoints if breakpoint.id == breakpoint_id), None
        )
        if found is not None and found.set_by != names:
            await self.syncs.merge(changes.BreakpointPut(replace(found, set_by=names)))
        return self.owners.has_any(breakpoint_id)

    def replaced_by(self, spec: BreakpointSpec, owner: Owner | None) -> Breakpoint | None:
        """Return the breakpoint that this one would replace."""
        return self.owners.choose(self.at_place(spec), owner, lambda breakpoint: is_same(breakpoint, spec))

    def at_place(self, spec: BreakpointSpec) -> list[Breakpoint]:
        """Return the breakpoints at the place of this one."""
        spec = spelled(spec, self._merger.state.breakpoints)
        return [breakpoint for breakpoint in self._merger.state.breakpoints if same_place(breakpoint, spec)]

    async def enable(self, breakpoint_id: str, *, enabled: bool) -> None:
        """Enable or disable a breakpoint of any kind.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        changed = self.find(breakpoint_id)
        await self.syncs.merge(changes.BreakpointEnabled(breakpoint_id, enabled, next(self._versions)))
        await self.syncs.send([changed])

    async def remove(self, breakpoint_id: str) -> list[str]:
        """Remove one breakpoint, or with `*` all; return the ids of those that were removed.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        removed = self._merger.state.every_breakpoint if breakpoint_id == "*" else [self.find(breakpoint_id)]
        ids = [breakpoint.id for breakpoint in removed]
        await self.syncs.merge(changes.BreakpointsRemoved(frozenset(ids)))
        for breakpoint in removed:
            self.owners.forget(breakpoint.id)
            if isinstance(breakpoint, ExceptionBreakpoint):
                self.exceptions.wishes.forget(breakpoint.exception_type)
        if (batch := BATCH.get()) is not None:
            batch.removed += removed
        else:
            await self.syncs.send(removed)
        return ids

    def find(self, breakpoint_id: str) -> Breakpoint | ExceptionBreakpoint:
        """Return the breakpoint with that id, as it is now.

        Raises:
            UsageError: `BREAKPOINT_NOT_FOUND`.
        """
        everything = {breakpoint.id: breakpoint for breakpoint in self._merger.state.every_breakpoint}
        if breakpoint_id in everything:
            return everything[breakpoint_id]
        sentence = f"There is no breakpoint '{breakpoint_id}'. Known ids: {', '.join(everything) or 'none'}."
        raise UsageError("BREAKPOINT_NOT_FOUND", sentence, {"id": breakpoint_id})

    async def find_again(self, lines_of: Callable[[str], Sequence[str] | None]) -> list[str]:
        """Look whether lines have been edited since their breakpoints were set, and move those that go by their text.

        `lines_of` returns the lines of a file, None for one that cannot be read. Returns what changed, a note for each.
        """
        notes = []
        for breakpoint in self._merger.state.breakpoints:
            lines = (
                lines_of(breakpoint.spec.file)
                if breakpoint.spec.file is not None and breakpoint.spec.text is not None
                else None
            )
            if lines is None:
                continue
            now, note = found_again(breakpoint, lines)
            if now is not breakpoint:
                await self.syncs.merge(changes.BreakpointPut(now))
            if note is not None:
                notes.append(f"{breakpoint.id} {note}")
        return notes

    def release(self, connection: Hashable) -> None:
        """Release what the clients of a connection have set: it has ended."""
        self.owners.release(connection)
        self.exceptions.wishes.release(connection)

    # --- Parts -----------------------------------------------------------------------------------------------

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
                await self.syncs.merge(changes.BreakpointsRemoved(frozenset({old.id})))
        if instead is None:
            self.owners.made(new_id, owner)
        enabled = instead is None or instead.enabled
        names = self.owners.names(new_id)
        new = Breakpoint(new_id, spec, version=next(self._versions), enabled=enabled, set_by=names)
        await self.syncs.merge(changes.BreakpointPut(new))
        return new
