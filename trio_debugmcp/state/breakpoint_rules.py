"""Breakpoints as adapters bind and move them, and as stops count their hits. Pure functions on the state's breakpoints.

A breakpoint has one `Binding` per session: the id that one adapter gave it means nothing to another, and each adapter
counts hits for its own session.

A program on the direct line counts its hits itself. Elsewhere hit conditions are evaluated by the adapters, which
report only the stops that a condition let through. The number of hits is derived from those stops: the second stop at
`% 3` is the sixth hit. The forms are those that adapters share:
`3`, `== 3`, `> 3`, `>= 3`, `< 3`, `<= 3` and `% 3`.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint
from trio_debugmcp.state.changes import (
    BreakpointEnabled,
    BreakpointFaulted,
    BreakpointLogged,
    BreakpointsHeld,
    HitsRecorded,
    StopExamined,
)
from trio_debugmcp.state.model import Binding, Breakpoint, ExceptionBreakpoint, State
from trio_debugmcp.state.payloads import Location, PauseReason

_Kept = TypeVar("_Kept", Breakpoint, ExceptionBreakpoint)

ENDED = "it ended with its session: set it again, or remove it"
"""Why a breakpoint on data or on an instruction is pending."""

_TEXT_KEY = re.compile(r"[a-z]\w*(\.[a-z]\w*)+")
"""A text that only names a text, of the adapter's translations."""

_HIT_CONDITION = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*(\d+)\s*")


def put(kept: tuple[_Kept, ...], new: _Kept) -> tuple[_Kept, ...]:
    """`kept` with `new` in the place of the breakpoint that has its id, or at the end."""
    if any(each.id == new.id for each in kept):
        return tuple(new if each.id == new.id else each for each in kept)
    return kept + (new,)  # noqa: RUF005 (mypy cannot type the unpacking)


def update(kept: tuple[_Kept, ...], ids: Container[str], updated: Callable[[_Kept], _Kept]) -> tuple[_Kept, ...]:
    """`kept` with `updated` applied to the breakpoints that have one of the ids."""
    return tuple(updated(each) if each.id in ids else each for each in kept)


def without_history(breakpoint_: Breakpoint) -> Breakpoint:
    """The breakpoint as before any session: never hit, and not bound."""
    return replace(breakpoint_, hits=0, bindings=(), problem=None, notifications_sent=0)


def replaced(kept: tuple[Breakpoint, ...], new: Breakpoint) -> Breakpoint:
    """The new breakpoint with the history of the one of `kept` that has its id."""
    old = next((each for each in kept if each.id == new.id), None)
    if old is None:
        return new
    # Stops and adapters may have changed these since the sender read the breakpoint: ours are the newer ones.
    earlier = tuple(replace(each, earlier=each.hits) for each in old.bindings)
    sent = old.notifications_sent if new.version == old.version else 0
    return replace(new, hits=old.hits, notifications_sent=sent, bindings=earlier)


def enabled(breakpoint_: Breakpoint, change: BreakpointEnabled) -> Breakpoint:
    """The breakpoint enabled or disabled. One that becomes active again is a new version, which counts from zero."""
    if not change.enabled or breakpoint_.is_active:
        return replace(breakpoint_, enabled=change.enabled)
    earlier = tuple(replace(each, earlier=each.hits) for each in breakpoint_.bindings)
    return replace(breakpoint_, enabled=True, version=change.version, notifications_sent=0, bindings=earlier)


def held(kept: tuple[Breakpoint, ...], change: BreakpointsHeld) -> tuple[Breakpoint, ...]:
    """`kept` for a run that some are not to stop, or after it."""
    ids = change.ids
    if ids is not None:
        kept = tuple(
            each
            if each.temporary
            else replace(each, held=each.id in ids, run_of=change.run_of if each.id in ids else None)
            for each in kept
        )
    return update(kept, change.withdrawn, lambda each: replace(each, enabled=False))


def seen_by(root_id: str, breakpoint_: Breakpoint) -> Breakpoint | None:
    """The breakpoint as the adapters of a program are to have it, which may be held for another; None: not at all."""
    if breakpoint_.run_of in (None, root_id):
        return breakpoint_
    return None if breakpoint_.temporary else replace(breakpoint_, held=False)


def bound(breakpoint_: Breakpoint, session_id: str, answer: DapBreakpoint | None) -> Breakpoint:
    """The breakpoint after a session's adapter has answered. With None it was not sent there, and loses its binding."""
    others = tuple(binding for binding in breakpoint_.bindings if binding.session_id != session_id)
    if answer is None:
        return replace(breakpoint_, bindings=others)
    known = next((binding for binding in breakpoint_.bindings if binding.session_id == session_id), Binding(session_id))
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
    return replace(breakpoint_, bindings=(*others, binding))


def released(state: State, session_ids: Container[str]) -> State:
    """The state without the bindings of sessions that have ended: their breakpoints become Pending."""

    def unbound(each: Breakpoint) -> Breakpoint:
        bindings = tuple(binding for binding in each.bindings if binding.session_id not in session_ids)
        ended = each.only_in is not None and each.only_in in session_ids
        return replace(each, bindings=bindings, lost=ENDED if ended else each.lost)

    return replace(
        state,
        breakpoints=tuple(unbound(each) for each in state.breakpoints),
        exceptions=tuple(
            replace(
                each,
                session_ids=tuple(id_ for id_ in each.session_ids if id_ not in session_ids),
                unknown_in=tuple(id_ for id_ in each.unknown_in if id_ not in session_ids),
            )
            for each in state.exceptions
        ),
    )


def breakpoint_changed(state: State, session_id: str, event: BreakpointEvent) -> State:
    """The state after a `breakpoint` event, with which an adapter moves, verifies or removes one of its breakpoints."""
    answer = event.breakpoint
    if event.reason == "removed":
        # The user's breakpoint outlives the adapter's: it becomes Pending.
        answer = replace(answer, verified=False)

    meant = [
        each
        for each in state.breakpoints
        if any(b.session_id == session_id and b.adapter_id == answer.id is not None for b in each.bindings)
    ]
    # lldb numbers data breakpoints for themselves, and reports others.
    ids = {each.id for each in meant if each.watch is None} or {each.id for each in meant}

    def changed(each: Breakpoint) -> Breakpoint:
        return bound(each, session_id, answer) if each.id in ids else each

    return replace(state, breakpoints=tuple(changed(each) for each in state.breakpoints))


def breakpoints_hit(state: State, stop: StopExamined, location: Location | None) -> set[str]:
    """The ids of the breakpoints at which a session has stopped, by the adapter's ids or else by the place."""
    if stop.data is not None:
        return {each.breakpoint for each in stop.data}
    # A step that ends on the line of a breakpoint is not a hit, so the place counts for these reasons only.
    there = location if stop.reason in ("Breakpoint", "FunctionBreakpoint") else None
    instruction = stop.frames[0].instruction if stop.frames else None
    return {each.id for each in breakpoints_at(state, stop.session_id, stop.hit_ids or (), there, instruction)}


def breakpoints_at(
    state: State,
    session_id: str,
    adapter_ids: Container[int],
    location: Location | None,
    instruction: str | None = None,
) -> list[Breakpoint]:
    """The breakpoints with one of the ids that an adapter gave them; without ids those at a place, if it counts."""
    root_id = state.roots().get(session_id, "")

    def is_there(each: Breakpoint, binding: Binding) -> bool:
        seen = seen_by(root_id, each)
        if each.watch is not None or seen is None:
            return False
        if adapter_ids:
            return binding.adapter_id in adapter_ids
        if location is None or not seen.is_sent:
            return False
        if each.function is not None and _is_called(location.function_name, each.function):
            return binding.line in (None, location.line)
        if each.address is not None:
            return _same_address(each.address, instruction)
        return each.file == location.file and location.line in (binding.line, each.line)

    there = [
        each
        for each in state.breakpoints
        if any(binding.session_id == session_id and is_there(each, binding) for binding in each.bindings)
    ]
    # Adapters may give the place of a run the id that the user's breakpoint had there, which is held for that run.
    observed = any(each.observed is not None for each in there)
    return [each for each in there if not (each.held and observed)]


def _is_called(name: str | None, function: str) -> bool:
    """Whether a frame of that name is of the function that a breakpoint names, maybe without what it is inside of."""
    return name is not None and (name == function or name.endswith((f"::{function}", f".{function}")))


def _same_address(one: str, other: str | None) -> bool:
    return other is not None and one.lower() == other.lower()


def stop_reason(state: State, change: StopExamined, hit: set[str]) -> PauseReason:
    """The reason of a stop; a function whose place was found is stopped in by a breakpoint on its line.

    A run to a line is a step of the user's: a client could not find its temporary breakpoint in any list.
    """
    if change.data is not None:
        return "DataBreakpoint"  # lldb calls it a breakpoint
    if change.reason == "Breakpoint" and hit and hit <= {each.id for each in state.breakpoints if each.temporary}:
        return "Step"
    functions = {each.id for each in state.breakpoints if each.function is not None}
    return "FunctionBreakpoint" if change.reason == "Breakpoint" and hit and hit <= functions else change.reason


# --- Hits -------------------------------------------------------------------------------------------------------------


def count_hit(breakpoint_: Breakpoint, session_id: str, exactly: int | None = None) -> Breakpoint:
    """The breakpoint after a stop in a session, or after a log message that it wrote there.

    `exactly` is the number of hits of this version in that session, if the program counts them.
    """
    if exactly is not None and all(binding.session_id != session_id for binding in breakpoint_.bindings):
        # Hit before the adapter's answer to its setting was merged.
        breakpoint_ = replace(breakpoint_, bindings=(*breakpoint_.bindings, Binding(session_id)))

    def counted(binding: Binding) -> Binding:
        if binding.session_id != session_id:
            return binding
        hits = hits_after_stop(breakpoint_.hit_condition, binding.hits)
        if exactly is not None:
            hits = max(binding.hits, binding.earlier + exactly)
        if breakpoint_.function is None:
            return replace(binding, hits=hits)
        return replace(binding, hits=hits, verified=True, message=None)  # the function exists: it was called

    bindings = tuple(counted(binding) for binding in breakpoint_.bindings)
    new = sum(binding.hits for binding in bindings) - sum(binding.hits for binding in breakpoint_.bindings)
    # Added, not summed anew: the hits of sessions that have ended went away with their bindings.
    return replace(breakpoint_, hits=breakpoint_.hits + new, bindings=bindings)


def count_hits(
    kept: tuple[Breakpoint, ...], hit: Container[str], session_id: str, counted: Mapping[str, int]
) -> tuple[Breakpoint, ...]:
    """`kept` after these were hit in a session; of those that are `counted` the number of hits is known."""
    return update(kept, hit, lambda each: count_hit(each, session_id, counted.get(each.id)))


def logged(kept: tuple[Breakpoint, ...], change: BreakpointLogged) -> tuple[Breakpoint, ...]:
    """`kept` after an adapter has written the message of one."""
    hit = count_hits(kept, {change.breakpoint}, change.session_id, {})
    return _notified(hit, change.session_id, [change.breakpoint])


def recorded(kept: tuple[Breakpoint, ...], change: HitsRecorded) -> tuple[Breakpoint, ...]:
    """`kept` after the program has recorded hits."""
    # The highest: threads of the program may write their records in another order than they counted in.
    counted = {each.breakpoint: each.hits for each in sorted(change.hits, key=lambda hit: hit.hits)}
    hit = count_hits(kept, counted, change.session_id, counted)
    return _notified(hit, change.session_id, [each.breakpoint for each in change.hits if each.text is not None])


def _notified(kept: tuple[Breakpoint, ...], session_id: str, ids: Sequence[str]) -> tuple[Breakpoint, ...]:
    """`kept` after tracepoints have written messages; `ids` has one of them once for each of its messages."""

    def counted(each: Breakpoint) -> Breakpoint:
        known = any(binding.session_id == session_id for binding in each.bindings)  # not in one that has ended
        return replace(each, notifications_sent=each.notifications_sent + ids.count(each.id)) if known else each

    return update(kept, ids, counted)


def faulted(kept: tuple[Breakpoint, ...], change: BreakpointFaulted) -> tuple[Breakpoint, ...]:
    """`kept` after a condition has failed."""
    return tuple(
        replace(each, problem=change.problem)
        if each.condition == change.condition and change.breakpoint in (None, each.id)
        else each
        for each in kept
    )


def condition_failed(breakpoint_: ExceptionBreakpoint, change: BreakpointFaulted) -> ExceptionBreakpoint:
    """The exception breakpoint after a condition has failed, which may be its own."""
    return replace(breakpoint_, problem=change.problem) if breakpoint_.id == change.breakpoint else breakpoint_


def raised(breakpoint_: ExceptionBreakpoint, session_id: str) -> ExceptionBreakpoint:
    """The exception breakpoint after a stop at an exception of its type, which exists, therefore."""
    unknown = tuple(id_ for id_ in breakpoint_.unknown_in if id_ != session_id)
    return replace(breakpoint_, hits=breakpoint_.hits + 1, unknown_in=unknown)


def is_hit_condition(text: str) -> bool:
    """Whether `text` is a hit condition, with a number above 0."""
    form = _HIT_CONDITION.fullmatch(text)
    return form is not None and int(form[2]) > 0


def meets_hit_condition(hit_condition: str, hits: int) -> bool:
    """Whether a breakpoint stops at this hit; a bare number means that hit only."""
    form = _HIT_CONDITION.fullmatch(hit_condition)
    if form is None:
        return True
    number = int(form[2])
    match form[1]:
        case "" | "==":
            return hits == number
        case ">=":
            return hits >= number
        case ">":
            return hits > number
        case "<=":
            return hits <= number
        case "<":
            return hits < number
        case _:
            return number == 0 or hits % number == 0


def hits_after_stop(hit_condition: str | None, hits: int) -> int:
    """The number of hits at a stop, given the number at the previous stop (0 before the first)."""
    form = _HIT_CONDITION.fullmatch(hit_condition or "")
    if form is None:
        return hits + 1
    operator, number = form[1], int(form[2])
    match operator:
        case "" | "==" | ">=":  # lldb takes a bare number for `>=`: it also stops at every later hit
            return max(hits + 1, number)
        case ">":
            return max(hits + 1, number + 1)
        case "%":
            return (hits // number + 1) * number if number else hits + 1
        case _:
            return hits + 1
