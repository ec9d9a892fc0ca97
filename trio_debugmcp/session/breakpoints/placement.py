"""Which breakpoints an adapter gets, where several of the user's are on one line. Pure."""

from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.state.breakpoint_rules import seen_by
from trio_debugmcp.state.model import Binding, Breakpoint, State

LIMITS = "hit_count_multiple and max_notifications: use a condition, or breakpoint_set with hit_condition"
"""Which adapters do not judge exactly: they count nothing that they report."""


HELD = "held: it stops the program again once the run under way is over"


class Group(Struct, frozen=True):
    """Breakpoints of one line that are sent as one: it stops where any of the `members` does."""

    members: tuple[Breakpoint, ...]
    overridden: tuple[Breakpoint, ...] = ()

    @property
    def is_simple(self) -> bool:
        """Whether the adapter can judge and count it: what stops there does so always, or on one condition."""
        first, *others = self.members
        if any(each.observed is not None for each in self.members):
            return False
        return not (first.hit_condition or first.log_message) and (
            not others or all(each.always_stops for each in self.members)
        )


def by_line(breakpoints: list[Breakpoint]) -> list[Group]:
    """Group breakpoints by their lines, for a program that judges each of them itself."""
    lines: dict[int | None, list[Breakpoint]] = {}
    for each in breakpoints:
        lines.setdefault(each.line, []).append(each)
    return [Group(tuple(each)) for each in lines.values()]


def grouped(breakpoints: list[Breakpoint]) -> list[Group]:
    """Group breakpoints by their lines, for an adapter that observes one on each.

    Those that stop, always or on a condition, are joined. A hit condition counts in the adapter, and a log message
    replaces the stop, so neither can be joined: of those the first remains, where no other breakpoint is.
    """
    return [_observed(group.members) for group in by_line(breakpoints)]


def _observed(on_line: tuple[Breakpoint, ...]) -> Group:
    joined = tuple(each for each in on_line if not (each.hit_condition or each.log_message)) or on_line[:1]
    return Group(joined, tuple(each for each in on_line if each not in joined))


def apart(breakpoints: list[Breakpoint]) -> list[Group]:
    """Group breakpoints for an adapter that takes several on a line. Where a run observes, those that stop are joined.

    What is on the line of an observed place is then judged here, at each stop.
    """
    if all(each.observed is None for each in breakpoints):
        return [Group((each,)) for each in one_per_line(breakpoints)]
    joined = [each for each in breakpoints if not (each.hit_condition or each.log_message)]
    return [*grouped(joined), *(Group((each,)) for each in breakpoints if each not in joined)]


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


def supported(
    breakpoints: list[Breakpoint], able: Capabilities
) -> tuple[list[Breakpoint], list[tuple[Breakpoint, str]]]:
    """Divide into what can be sent and what can be done with this adapter in no way."""
    sent, unsupported = [], []
    for each in breakpoints:
        if not each.is_sent and not (each.counts_held and able.hit_records is not None):
            continue
        if each.is_limited and able.hit_records is None:
            unsupported.append((each, LIMITS))
        else:
            sent.append(each)
    return sent, unsupported


def out_of_step(state: State, session_id: str) -> list[Breakpoint]:
    """Return the breakpoints that a session's adapter should have otherwise, and whose change has no other sender.

    Those are tracepoints that have sent all their notifications, what was held for a run that is over, and the places
    that it was observed at.
    """
    root_id = state.roots().get(session_id, "")

    def stale(each: Breakpoint | None, binding: Binding) -> bool:
        if each is None or each.temporary:
            return each is not None and not each.enabled
        if each.is_sent:
            return binding.message == HELD
        return each.enabled and not each.is_active and binding.verified

    return [
        each
        for each in state.breakpoints
        if any(binding.session_id == session_id and stale(seen_by(root_id, each), binding) for binding in each.bindings)
    ]


def conditions_of(each: Breakpoint) -> dict[str, Any]:
    """Return the conditions of a breakpoint as DAP names them."""
    named = {"condition": each.condition, "hitCondition": each.hit_condition}
    return {name: value for name, value in named.items() if value is not None}
