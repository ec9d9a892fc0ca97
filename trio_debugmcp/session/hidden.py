"""`HiddenBreakpoints`: what an adapter has of ours that is not among the user's breakpoints.

Two kinds: one on the function where a program begins, for a launch that is to stop there and an adapter whose own entry
stop is somewhere else; and the adapter's ids of its exception filters, as some report a hit of these as `breakpoint`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from trio_debugmcp.dap.messages import DapBreakpoint, Stopped


class HiddenBreakpoints:
    """Those of one session.

    Attributes:
        function: where the program is to stop first, if it is and the adapter is not relied on for it.
        entry: the same, until it has stopped there.
    """

    def __init__(self, entry: str | None) -> None:
        self.function = self.entry = entry
        self._entry_ids: frozenset[int] = frozenset()
        self._exception_ids: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<HiddenBreakpoints entry={self.entry!r}>"

    def functions(self) -> list[dict[str, Any]]:
        """Return those to send behind the user's function breakpoints."""
        return [] if self.entry is None else [{"name": self.entry}]

    def functions_bound(self, answers: Sequence[DapBreakpoint]) -> None:
        """Keep what the adapter has answered for `functions`."""
        self._entry_ids |= _ids(answers)

    def exceptions_bound(self, answers: Iterable[DapBreakpoint]) -> None:
        """Keep what the adapter has answered for its exception filters, if it has."""
        self._exception_ids |= _ids(answers)

    def interpreted(self, stopped: Stopped) -> Stopped:
        """Return a stop with what it means as its reason, and without the ids of what is hidden."""
        hit = stopped.hit_breakpoint_ids
        if not hit:
            return stopped
        own = [each for each in hit if each not in self._entry_ids and each not in self._exception_ids]
        if own or len(own) == len(hit):
            return replace(stopped, hit_breakpoint_ids=own)
        reason = "entry" if self._entry_ids.issuperset(hit) else "exception"
        return replace(stopped, reason=reason, hit_breakpoint_ids=None)


def _ids(answers: Iterable[DapBreakpoint]) -> frozenset[int]:
    return frozenset(each.id for each in answers if each.id is not None)
