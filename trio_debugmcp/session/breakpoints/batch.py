"""`Batch`: changes of breakpoints that are sent to the adapters together, as each sending has all of a file."""

from contextvars import ContextVar

from msgspec import Struct, field

from trio_debugmcp.errors import DebugError
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint


class Batch(Struct):
    """What one task changes in a block. `refused`: the ids of those that could not be set, and why."""

    made: list[tuple[Breakpoint, Breakpoint | None, Owner | None]] = field(default_factory=list)
    removed: list[Breakpoint | ExceptionBreakpoint] = field(default_factory=list)
    refused: dict[str, DebugError] = field(default_factory=dict)

    @property
    def changed(self) -> list[Breakpoint | ExceptionBreakpoint]:
        """All that the adapters have to learn of."""
        return [*self.removed, *(made for made, _, _ in self.made)]


BATCH: ContextVar[Batch | None] = ContextVar("BATCH", default=None)
"""The batch of this task. What other tasks change is not kept waiting by it."""
