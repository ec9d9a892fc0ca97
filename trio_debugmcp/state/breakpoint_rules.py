"""Breakpoints as adapters bind and move them, and as stops count their hits. Pure functions on the state's breakpoints.

A breakpoint has one `Binding` per session: the id that one adapter gave it means nothing to another, and each adapter
counts hits for its own session.

A program on the direct line counts its hits itself. Elsewhere the number of hits is derived from stops.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.state.breakpoint import (
    EVERY_PROGRAM,
    Binding,
    Breakpoint,
    BreakpointSpec,
    ExceptionBreakpoint,
    RunPlace,
    StopPlace,
)
from trio_debugmcp.state.breakpoint_events import Place, bound, with_places
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointsBound,
    BreakpointsHeld,
    HitsRecorded,
    RunPlacesWithdrawn,
    StopExamined,
)
from trio_debugmcp.state.hit_conditions import hits_after_stop
from trio_debugmcp.state.model import State
from trio_debugmcp.state.payloads import Location, PauseReason

_Kept = TypeVar("_Kept", Breakpoint, RunPlace, ExceptionBreakpoint)

ENDED = "it ended with its session: set it again, or remove it"
"""Why a breakpoint on data or on an instruction is pending."""


def put(kept: tuple[_Kept, ...], new: _Kept) -> tuple[_Kept, ...]:
    """`kept` with `new` in the place of the breakpoint that has its id, or at the end."""
    if any(breakpoint.id == new.id for breakpoint in kept):
        return tuple(new if breakpoint.id == new.id else breakpoint for breakpoint in kept)
    return kept + (new,)  # noqa: RUF005 (mypy cannot type the unpacking)


def update(kept: tuple[_Kept, ...], ids: Container[str], updated: Callable[[_Kept], _Kept]) -> tuple[_Kept, ...]:
    """`kept` with `updated` applied to the breakpoints that have one of the ids."""
    return tuple(updated(breakpoint) if breakpoint.id in ids else breakpoint for breakpoint in kept)


def without_history(state: State) -> State:
    """The state with breakpoints as before any session: never hit, and not bound."""
    return replace(
        state,
        breakpoints=tuple(
            replace(breakpoint, hits=0, bindings=(), problem=None, notifications_sent=0, refused=None, remark=None)
            for breakpoint in state.breakpoints
        ),
        run_places=tuple(replace(run_place, bindings=(), problem=None) for run_place in state.run_places),
        exceptions=tuple(replace(exception, hits=0, session_ids=(), problem=None) for exception in state.exceptions),
    )


def replaced(kept: tuple[Breakpoint, ...], new: Breakpoint) -> Breakpoint:
    """The new breakpoint with the history of the one of `kept` that has its id."""
    old = next((breakpoint for breakpoint in kept if breakpoint.id == new.id), None)
    if old is None:
        return new
    # Stops and adapters may have changed these since the sender read the breakpoint: ours are the newer ones.
    earlier = tuple(replace(binding, earlier=binding.hits) for binding in old.bindings)
    sent = old.notifications_sent if new.version == old.version else 0
    return replace(new, hits=old.hits, notifications_sent=sent, bindings=earlier)


def enabled(breakpoint_: Breakpoint, change: BreakpointEnabled) -> Breakpoint:
    """The breakpoint enabled or disabled. One that becomes active again is a new version, which counts from zero."""
    if not change.enabled or breakpoint_.is_active:
        return replace(breakpoint_, enabled=change.enabled)
    earlier = tuple(replace(binding, earlier=binding.hits) for binding in breakpoint_.bindings)
    return replace(breakpoint_, enabled=True, version=change.version, notifications_sent=0, bindings=earlier)


def held(kept: tuple[Breakpoint, ...], change: BreakpointsHeld) -> tuple[Breakpoint, ...]:
    """`kept` for a run that some are not to stop, or after it."""
    program = change.program or EVERY_PROGRAM
    return tuple(replace(breakpoint, held_for=program if breakpoint.id in change.ids else None) for breakpoint in kept)


def withdrawn(state: State, change: RunPlacesWithdrawn) -> State:
    """The state without places of a run in force, which adapters may still have."""
    places = update(state.run_places, change.ids, lambda place: replace(place, enabled=False))
    breakpoints = held(state.breakpoints, BreakpointsHeld(frozenset())) if change.releases else state.breakpoints
    return replace(state, breakpoints=breakpoints, run_places=places)


def answered(state: State, change: BreakpointsBound) -> State:
    """The state after a session's adapter has answered about breakpoints."""
    results, remarks = dict(change.results), dict(change.remarks)

    def after(place: Place) -> Place:
        if isinstance(place, Breakpoint) and place.id in remarks:
            place = replace(place, remark=remarks[place.id])
        return bound(place, change.session_id, results[place.id]) if place.id in results else place

    return with_places(state, after)


def released(state: State, session_ids: Container[str]) -> State:
    """The state without the bindings of sessions that have ended: their breakpoints become Pending."""

    def unbound(place: Place) -> Place:
        bindings = tuple(binding for binding in place.bindings if binding.session_id not in session_ids)
        if isinstance(place, Breakpoint) and place.is_sent:
            ended = (binding for binding in place.bindings if binding.session_id in session_ids)
            refused = next((each.message for each in ended if each.message and not each.verified), place.refused)
            place = replace(place, refused=refused)
        return replace(place, bindings=bindings)

    def has_ended(spec: BreakpointSpec) -> bool:
        if spec.only_in is not None:
            return spec.only_in in session_ids
        left = [id_ for id_ in spec.sessions if id_ not in session_ids and state.snapshot(id_) is not None]
        return bool(spec.sessions) and not left

    state = with_places(state, unbound)
    return replace(
        state,
        breakpoints=tuple(
            replace(breakpoint, lost=ENDED) if has_ended(breakpoint.spec) else breakpoint
            for breakpoint in state.breakpoints
        ),
        exceptions=tuple(
            replace(
                exception,
                session_ids=tuple(id_ for id_ in exception.session_ids if id_ not in session_ids),
                unknown_in=tuple(id_ for id_ in exception.unknown_in if id_ not in session_ids),
            )
            for exception in state.exceptions
        ),
    )


def breakpoints_hit(state: State, stop: StopExamined, location: Location | None) -> set[str]:
    """The ids of the breakpoints at which a session has stopped, by the adapter's ids or else by the place."""
    if stop.data is not None:
        return {change.breakpoint for change in stop.data}
    # A step that ends on the line of a breakpoint is not a hit, so the place counts for these reasons only.
    there = location if stop.reason in ("Breakpoint", "FunctionBreakpoint") else None
    instruction = stop.frames[0].instruction if stop.frames else None
    return {place.id for place in breakpoints_at(state, stop.session_id, stop.hit_ids or (), there, instruction)}


def breakpoints_at(
    state: State,
    session_id: str,
    adapter_ids: Container[int],
    location: Location | None,
    instruction: str | None = None,
) -> list[StopPlace]:
    """The places with one of the ids that an adapter gave them; without ids those at a location, if it counts."""

    def is_there(place: StopPlace, binding: Binding) -> bool:
        spec = place.spec
        if spec.watch is not None:
            return False
        if adapter_ids:
            return binding.adapter_id in adapter_ids
        if location is None or not place.is_sent:
            return False
        if spec.function is not None and _is_called(location.function_name, spec.function):
            return binding.line in (None, location.line)
        if spec.address is not None:
            return _same_address(spec.address, instruction)
        return spec.file == location.file and location.line in (binding.line, spec.line)

    places = [
        place
        for place in state.places_of(session_id)
        if any(binding.session_id == session_id and is_there(place, binding) for binding in place.bindings)
    ]
    # Adapters may give the place of a run the id that the user's breakpoint had there, which is held for that run.
    observed = any(place.observed is not None for place in places)
    return [place for place in places if not (place.is_held and observed)]


_WITHIN = ("::", ".", "\\", "$", "/")
"""What stands between a function's name and that of what it is inside of, as a class of Java or a package of Go."""

_RECEIVER = re.compile(r"\(\*?([\w.]+)(?:\[[^()]*\])?\)\.")
"""The type of a method in a name of Go's: `main.(*Pool).run`, `store.(*Cache[int]).Put`."""


def _is_called(name: str | None, function: str) -> bool:
    """Whether a frame of that name is of the function that a breakpoint names, maybe without what it is inside of."""
    if name is None:
        return False
    name = name.replace("->", "::")  # PHP's `Shelf->put`, which is broken at as `Shelf::put`
    name, function = _RECEIVER.sub(r"\1.", name), _RECEIVER.sub(r"\1.", function)
    return name == function or name.endswith(tuple(f"{separator}{function}" for separator in _WITHIN))


def _same_address(one: str, other: str | None) -> bool:
    return other is not None and one.lower() == other.lower()


def stop_reason(state: State, change: StopExamined, hit: set[str]) -> PauseReason:
    """The reason of a stop; a function whose place was found is stopped in by a breakpoint on its line.

    A run to a line is a step of the user's: a client could not find its place in any list.
    """
    if change.data is not None:
        return "DataBreakpoint"  # lldb calls it a breakpoint
    if change.reason == "Breakpoint" and hit and hit <= {run_place.id for run_place in state.run_places}:
        return "Step"
    functions = {stop_place.id for stop_place in state.stop_places if stop_place.spec.function is not None}
    return "FunctionBreakpoint" if change.reason == "Breakpoint" and hit and hit <= functions else change.reason


# --- Hits -------------------------------------------------------------------------------------------------------------


def count_hit(place: Place, session_id: str, exactly: int | None) -> Place:
    """The place after a stop in a session, or after a log message that it wrote there.

    `exactly` is the number of hits of this version in that session, if the program counts them.
    """
    bindings: tuple[Binding, ...] = place.bindings
    if exactly is not None and all(binding.session_id != session_id for binding in bindings):
        # Hit before the adapter's answer to its setting was merged.
        bindings = (*bindings, Binding(session_id))

    def counted(binding: Binding) -> Binding:
        if binding.session_id != session_id:
            return binding
        hits = hits_after_stop(place.spec.hit_condition, binding.hits)
        if exactly is not None:
            hits = max(binding.hits, binding.earlier + exactly)
        if place.spec.function is None:
            return replace(binding, hits=hits)
        return replace(binding, hits=hits, verified=True, message=None)  # the function exists: it was called

    before, bindings = bindings, tuple(counted(binding) for binding in bindings)
    place = replace(place, bindings=bindings)
    if isinstance(place, RunPlace):
        return place
    new = sum(binding.hits for binding in bindings) - sum(binding.hits for binding in before)
    # Added, not summed anew: the hits of sessions that have ended went away with their bindings.
    return replace(place, hits=place.hits + new)


def with_hits(state: State, hit: Container[str], session_id: str, counted: Mapping[str, int]) -> State:
    """The state after these were hit in a session; of those that are `counted` the number of hits is known."""

    def after(place: Place) -> Place:
        return count_hit(place, session_id, counted.get(place.id)) if place.id in hit else place

    return with_places(state, after)


def logged(state: State, change: BreakpointLogged) -> State:
    """The state after an adapter has written the message of a tracepoint."""
    return _notified(
        with_hits(state, {change.breakpoint}, change.session_id, {}), change.session_id, [change.breakpoint]
    )


def recorded(state: State, change: HitsRecorded) -> State:
    """The state after the program has recorded hits."""
    # The highest: threads of the program may write their records in another order than they counted in.
    counted = {hit.breakpoint: hit.hits for hit in sorted(change.hits, key=lambda hit: hit.hits)}
    state = with_hits(state, counted, change.session_id, counted)
    return _notified(state, change.session_id, [hit.breakpoint for hit in change.hits if hit.text is not None])


def _notified(state: State, session_id: str, ids: Sequence[str]) -> State:
    """The state after tracepoints have written messages; `ids` has one of them once for each of its messages."""

    def counted(breakpoint: Breakpoint) -> Breakpoint:
        known = any(binding.session_id == session_id for binding in breakpoint.bindings)  # not in one that has ended
        return (
            replace(breakpoint, notifications_sent=breakpoint.notifications_sent + ids.count(breakpoint.id))
            if known
            else breakpoint
        )

    return replace(state, breakpoints=update(state.breakpoints, ids, counted))


def faulted(state: State, change: BreakpointFaulted) -> State:
    """The state after a condition has failed."""

    def marked(place: Place) -> Place:
        is_meant = place.spec.condition == change.condition and change.breakpoint in (None, place.id)
        return replace(place, problem=change.problem) if is_meant else place

    return with_places(state, marked)


def condition_failed(breakpoint_: ExceptionBreakpoint, change: BreakpointFaulted) -> ExceptionBreakpoint:
    """The exception breakpoint after a condition has failed, which may be its own."""
    return replace(breakpoint_, problem=change.problem) if breakpoint_.id == change.breakpoint else breakpoint_


def raised(breakpoint_: ExceptionBreakpoint, session_id: str) -> ExceptionBreakpoint:
    """The exception breakpoint after a stop at an exception of its type, which exists, therefore."""
    unknown = tuple(id_ for id_ in breakpoint_.unknown_in if id_ != session_id)
    return replace(breakpoint_, hits=breakpoint_.hits + 1, unknown_in=unknown)
