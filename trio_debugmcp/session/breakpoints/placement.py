"""Which breakpoints an adapter gets, where several of the user's are on one line. Pure."""

from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import Capabilities
from trio_debugmcp.dap.profiles.native.machine_code import SET_AT_STOP
from trio_debugmcp.state.breakpoint import Binding, RunPlace, StopPlace
from trio_debugmcp.state.model import State

LIMITS = "hit_count_multiple and max_notifications: use a condition, or breakpoint_set with hit_condition"
"""Which adapters do not judge exactly: they count nothing that they report."""


HELD = "held: it stops the program again once the run under way is over"


class Group(Struct, frozen=True):
    """Breakpoints of one line that are sent as one: it stops where any of the `members` does."""

    members: tuple[StopPlace, ...]
    overridden: tuple[StopPlace, ...] = ()

    @property
    def is_simple(self) -> bool:
        """Whether the adapter can judge and count it: what stops there does so always, or on one condition."""
        first, *others = self.members
        if any(member.observed is not None for member in self.members):
            return False
        return not (first.spec.hit_condition or first.spec.log_message) and (
            not others or all(member.always_stops for member in self.members)
        )


def by_line(breakpoints: list[StopPlace]) -> list[Group]:
    """Group breakpoints by their lines, for a program that judges each of them itself."""
    lines: dict[int | None, list[StopPlace]] = {}
    for breakpoint in breakpoints:
        lines.setdefault(breakpoint.spec.line, []).append(breakpoint)
    return [Group(tuple(members)) for members in lines.values()]


def by_function(breakpoints: list[StopPlace]) -> list[Group]:
    """Group breakpoints by the names of their functions, for a program that judges each of them itself."""
    functions: dict[str | None, list[StopPlace]] = {}
    for breakpoint in breakpoints:
        functions.setdefault(breakpoint.spec.function, []).append(breakpoint)
    return [Group(tuple(members)) for members in functions.values()]


def grouped(breakpoints: list[StopPlace]) -> list[Group]:
    """Group breakpoints by their lines, for an adapter that observes one on each.

    Those that stop, always or on a condition, are joined. A hit condition counts in the adapter, and a log message
    replaces the stop, so neither can be joined: of those the first remains, where no other breakpoint is.
    """
    return [_observed(group.members) for group in by_line(breakpoints)]


def _observed(on_line: tuple[StopPlace, ...]) -> Group:
    joined = (
        tuple(place for place in on_line if not (place.spec.hit_condition or place.spec.log_message)) or on_line[:1]
    )
    return Group(joined, tuple(place for place in on_line if place not in joined))


def apart(breakpoints: list[StopPlace]) -> list[Group]:
    """Group breakpoints for an adapter that takes several on a line. Where a run observes, those that stop are joined.

    What is on the line of an observed place is then judged here, at each stop.
    """
    if all(breakpoint.observed is None for breakpoint in breakpoints):
        return [Group((breakpoint,)) for breakpoint in one_per_line(breakpoints)]
    joined = [
        breakpoint for breakpoint in breakpoints if not (breakpoint.spec.hit_condition or breakpoint.spec.log_message)
    ]
    return [*grouped(joined), *(Group((breakpoint,)) for breakpoint in breakpoints if breakpoint not in joined)]


def one_per_line(breakpoints: list[StopPlace]) -> list[StopPlace]:
    """Return the breakpoints to send where the place of a run shares its line: adapters keep one breakpoint per line.

    Where the user's own breakpoint always stops, it serves for both; otherwise it is left out until the run is over.
    """
    of_run = {breakpoint.spec.line for breakpoint in breakpoints if isinstance(breakpoint, RunPlace)}
    own = {
        breakpoint.spec.line
        for breakpoint in breakpoints
        if breakpoint.always_stops and not isinstance(breakpoint, RunPlace)
    }

    def is_left(place: StopPlace) -> bool:
        line = place.spec.line
        return line not in own if isinstance(place, RunPlace) else line not in of_run or line in own

    return [breakpoint for breakpoint in breakpoints if is_left(breakpoint)]


def supported(breakpoints: list[StopPlace], able: Capabilities) -> tuple[list[StopPlace], list[tuple[StopPlace, str]]]:
    """Divide into what can be sent and what can be done with this adapter in no way."""
    sent, unsupported = [], []
    for breakpoint in breakpoints:
        if not breakpoint.is_sent and not (breakpoint.counts_held and able.hit_records is not None):
            continue
        if breakpoint.spec.is_limited and able.hit_records is None:
            unsupported.append((breakpoint, LIMITS))
        else:
            sent.append(breakpoint)
    return sent, unsupported


def out_of_step(state: State, session_id: str) -> list[StopPlace]:
    """Return the breakpoints that a session's adapter should have otherwise, and whose change has no other sender.

    Those are tracepoints that have sent all their notifications, what was held for a run that is over, the places that
    it was observed at, and at a stop what can only be set there.
    """
    if not state.breakpoints and not state.run_places:  # looked at after each change of the state
        return []

    snapshot = state.snapshot(session_id)
    is_stopped = snapshot is not None and snapshot.phase == "Paused"

    def stale(place: StopPlace, binding: Binding) -> bool:
        if isinstance(place, RunPlace):
            return not place.enabled
        if place.is_sent:
            return binding.message == HELD or (is_stopped and binding.message == SET_AT_STOP)
        return place.enabled and not place.is_active and binding.verified

    return [
        place
        for place in state.places_of(session_id)
        if any(binding.session_id == session_id and stale(place, binding) for binding in place.bindings)
    ]


def conditions_of(place: StopPlace) -> dict[str, Any]:
    """Return the conditions of a breakpoint as DAP names them."""
    named = {"condition": place.spec.condition, "hitCondition": place.spec.hit_condition}
    return {name: value for name, value in named.items() if value is not None}
