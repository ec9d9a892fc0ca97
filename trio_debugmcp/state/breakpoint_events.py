"""The breakpoints after what an adapter says of them: an answer, or `breakpoint` events, however many came together.

Pure.
"""

import re
from collections.abc import Iterable
from typing import Protocol, TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint
from trio_debugmcp.state.breakpoint import Binding, Breakpoint, RunPlace
from trio_debugmcp.state.model import State

Place = TypeVar("Place", Breakpoint, RunPlace)

_TEXT_KEY = re.compile(r"[a-z]\w*(\.[a-z]\w*)+")
"""A text that only names a text, of the adapter's translations."""


class _Updated(Protocol):
    def __call__(self, place: Place, /) -> Place: ...


def with_places(state: State, updated: _Updated) -> State:
    """The state with its breakpoints and places of runs updated."""
    return replace(
        state,
        breakpoints=tuple(updated(breakpoint) for breakpoint in state.breakpoints),
        run_places=tuple(updated(run_place) for run_place in state.run_places),
    )


def bound(place: Place, session_id: str, answer: DapBreakpoint | None) -> Place:
    """The place after a session's adapter has answered. With None it was not sent there, and loses its binding."""
    others: tuple[Binding, ...] = tuple(binding for binding in place.bindings if binding.session_id != session_id)
    if answer is None:
        return replace(place, bindings=others)
    known = next((binding for binding in place.bindings if binding.session_id == session_id), Binding(session_id))
    binding = replace(
        known,
        # Later answers and `breakpoint` events may leave out the id and the place: what was known still holds.
        adapter_id=answer.id if answer.id is not None else known.adapter_id,
        verified=answer.verified,
        line=answer.line if answer.line is not None else known.line,
        column=answer.column if answer.column is not None else known.column,
        # js-debug's is a key of translations that only VS Code has: `breakpoint.provisionalBreakpoint`.
        message=None if answer.message is None or _TEXT_KEY.fullmatch(answer.message) else answer.message,
    )
    return replace(place, bindings=(*others, binding))


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
