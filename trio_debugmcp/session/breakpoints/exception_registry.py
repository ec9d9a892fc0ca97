"""`ExceptionRegistry`: the user's exception breakpoints, one for each type, which several clients may want.

    made = await registry.exceptions.set(ExceptionSpec(exception_type="KeyError"), owner)
    await registry.exceptions.leave(made, owner)

What they want is kept by client, so that one that leaves takes nothing from the others.
"""

from collections.abc import Awaitable, Callable, Iterator

from msgspec.structs import asdict

from trio_debugmcp.session.breakpoints.breakpoint_syncs import BreakpointSyncs
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec, ExceptionWishes
from trio_debugmcp.session.breakpoints.ownership import Owner, Owners
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.state.breakpoint import ExceptionBreakpoint
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
