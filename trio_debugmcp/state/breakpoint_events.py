"""The breakpoints after `breakpoint` events of an adapter, however many came together. Pure."""

from collections.abc import Iterable

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint
from trio_debugmcp.state.breakpoint_rules import bound, with_places
from trio_debugmcp.state.model import State


def breakpoints_changed(state: State, session_id: str, events: Iterable[BreakpointEvent]) -> State:
    """The state after `breakpoint` events, with which an adapter moves, verifies or removes some of its breakpoints."""
    latest = _latest(events)
    numbered = [
        (binding.adapter_id, place)
        for place in state.stop_places
        for binding in place.bindings
        if binding.session_id == session_id and binding.adapter_id in latest
    ]
    # lldb numbers data breakpoints for themselves, and reports others.
    not_of_data = {adapter_id for adapter_id, place in numbered if place.spec.watch is None}
    answers = {
        place.id: latest[adapter_id]
        for adapter_id, place in numbered
        if adapter_id is not None and (place.spec.watch is None or adapter_id not in not_of_data)
    }
    if not answers:
        return state

    return with_places(
        state, lambda place: bound(place, session_id, answers[place.id]) if place.id in answers else place
    )


def _latest(events: Iterable[BreakpointEvent]) -> dict[int, DapBreakpoint]:
    """What is known of each of the adapter's breakpoints after these events; an event may leave out its place."""
    latest: dict[int, DapBreakpoint] = {}
    for event in events:
        answer = event.breakpoint
        if answer.id is None:
            continue
        # The user's breakpoint outlives the adapter's: when that is removed it becomes Pending.
        verified = answer.verified and event.reason != "removed"
        before = latest.get(answer.id, answer)
        line = before.line if answer.line is None else answer.line
        column = before.column if answer.column is None else answer.column
        latest[answer.id] = replace(answer, verified=verified, line=line, column=column)
    return latest
