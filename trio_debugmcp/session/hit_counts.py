"""`HitCounts`: hit conditions that are judged here, for adapters that have none or read them in another way.

A bare `3` is the third hit for debugpy, the third and every later one for lldb, and the fourth for gdb. Such an adapter
gets no hit condition, so it stops at each hit; a stop whose breakpoints all wait for another hit is left unseen.
"""

from msgspec.structs import replace

from trio_debugmcp.dap.messages import Stopped
from trio_debugmcp.session.merger import Merger
from trio_debugmcp.session.requests import Requests
from trio_debugmcp.state.breakpoints import meets_hit_condition
from trio_debugmcp.state.changes import HitsRecorded, RecordedHit
from trio_debugmcp.state.model import Breakpoint


class HitCounts:
    """The hits of one session's breakpoints that have a hit condition."""

    def __init__(self, requests: Requests, merger: Merger) -> None:
        self._requests = requests
        self._merger = merger
        self._hits: dict[tuple[str, int], int] = {}
        self._found: tuple[tuple[str, ...], dict[str, int]] | None = None

    def __repr__(self) -> str:
        return f"<HitCounts of {self._requests.session_id}: {self._hits}>"

    @property
    def ours(self) -> bool:
        """Whether hit conditions are judged here."""
        return self._requests.profile.dialect.hit_conditions_are_ours

    def sent(self, each: Breakpoint) -> Breakpoint:
        """Return a breakpoint as the adapter is to have it."""
        return replace(each, hit_condition=None) if self.ours else each

    async def at_stop(self, stopped: Stopped) -> bool:
        """Count the hits of a stop; return whether one of its breakpoints stops there, or none is judged here."""
        self._found = None
        hit = set(stopped.hit_breakpoint_ids or ())
        there = [
            each
            for each in self._merger.state.breakpoints
            for binding in each.bindings
            if binding.session_id == self._requests.session_id and binding.adapter_id in hit
        ]
        judged = [each for each in there if each.hit_condition is not None]
        if not judged or not self.ours:
            return True
        counted = {each.id: self._count(each) for each in judged}
        waiting = tuple(e.id for e in judged if not meets_hit_condition(e.hit_condition or "", counted[e.id]))
        records = tuple(RecordedHit(id_, counted.pop(id_), None) for id_ in waiting)
        if records:
            await self._merger.merge(HitsRecorded(self._requests.session_id, records))
        self._found = waiting, counted
        return len(waiting) < len(there)

    def taken(self) -> tuple[tuple[str, ...], dict[str, int]] | None:
        """Return which breakpoints of the stop wait for another hit, and the hits of the others; None if not judged."""
        found, self._found = self._found, None
        return found

    def _count(self, each: Breakpoint) -> int:
        key = each.id, each.version
        self._hits[key] = self._hits.get(key, 0) + 1
        return self._hits[key]
