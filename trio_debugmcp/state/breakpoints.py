"""Breakpoints after what adapters made of them and after hits. Pure functions on the state's breakpoints.

Hit conditions: how often a breakpoint was passed, told from the stops that its condition let through.

An adapter that counts hits itself reports only the stops. The forms are those that adapters share: `3`, `== 3`,
`> 3`, `>= 3`, `< 3`, `<= 3` and `% 3`.
"""

import re
from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint
from trio_debugmcp.state.changes import StopExamined
from trio_debugmcp.state.model import Binding, Breakpoint, ExceptionBreakpoint, State
from trio_debugmcp.state.payloads import Location

_Kept = TypeVar("_Kept", Breakpoint, ExceptionBreakpoint)

_HIT_CONDITION = re.compile(r"\s*(==|>=|<=|>|<|%|)\s*(\d+)\s*")


def put(kept: tuple[_Kept, ...], new: _Kept) -> tuple[_Kept, ...]:
    """Add one, or put it in the place of the one with its id."""
    if any(each.id == new.id for each in kept):
        return tuple(new if each.id == new.id else each for each in kept)
    return kept + (new,)  # noqa: RUF005 (mypy cannot type the unpacking)


def without_history(breakpoint_: Breakpoint) -> Breakpoint:
    """As if it had never been hit, nor seen by any adapter."""
    return replace(breakpoint_, hits=0, bindings=(), problem=None)


def bound(breakpoint_: Breakpoint, session_id: str, answer: DapBreakpoint | None) -> Breakpoint:
    """After a session's adapter has answered; None: it was not sent there."""
    others = tuple(binding for binding in breakpoint_.bindings if binding.session_id != session_id)
    if answer is None:
        return replace(breakpoint_, bindings=others)
    known = next((binding for binding in breakpoint_.bindings if binding.session_id == session_id), Binding(session_id))
    binding = replace(
        known,
        adapter_id=answer.id if answer.id is not None else known.adapter_id,
        verified=answer.verified,
        line=answer.line if answer.line is not None else known.line,
        column=answer.column if answer.column is not None else known.column,
        message=answer.message,
    )
    return replace(breakpoint_, bindings=(*others, binding))


def breakpoint_changed(state: State, session_id: str, event: BreakpointEvent) -> State:
    """The adapter moved or (un)verified one of its breakpoints; a removal leaves ours unverified."""
    answer = event.breakpoint
    if event.reason == "removed":
        answer = replace(answer, verified=False)

    def changed(each: Breakpoint) -> Breakpoint:
        mine = any(b.session_id == session_id and b.adapter_id == answer.id for b in each.bindings)
        return bound(each, session_id, answer) if mine and answer.id is not None else each

    return replace(state, breakpoints=tuple(changed(each) for each in state.breakpoints))


def breakpoints_hit(state: State, stop: StopExamined, location: Location | None) -> set[str]:
    """The ids of the breakpoints at which a session has stopped: by the ids that the adapter gave, or by the place."""
    if stop.hit_ids:
        return {
            each.id
            for each in state.breakpoints
            for binding in each.bindings
            if binding.session_id == stop.session_id and binding.adapter_id in stop.hit_ids
        }
    if stop.reason != "Breakpoint" or location is None:
        return set()
    return {
        each.id
        for each in state.breakpoints
        for binding in each.bindings
        if binding.session_id == stop.session_id
        and each.file == location.file
        and location.line in (binding.line, each.line)
        and each.enabled
    }


def count_hit(breakpoint_: Breakpoint, session_id: str) -> Breakpoint:
    """After a stop at it, or a passing that was logged, in a session."""

    def counted(binding: Binding) -> Binding:
        if binding.session_id != session_id:
            return binding
        return replace(binding, hits=hits_after_stop(breakpoint_.hit_condition, binding.hits))

    bindings = tuple(counted(binding) for binding in breakpoint_.bindings)
    new = sum(binding.hits for binding in bindings) - sum(binding.hits for binding in breakpoint_.bindings)
    return replace(breakpoint_, hits=breakpoint_.hits + new, bindings=bindings)


# --- Hit conditions ---------------------------------------------------------------------------------------------------


def is_hit_condition(text: str) -> bool:
    """Whether `text` is one of the forms above, with a number above 0."""
    form = _HIT_CONDITION.fullmatch(text)
    return form is not None and int(form[2]) > 0


def hits_after_stop(hit_condition: str | None, hits: int) -> int:
    """The count at a stop, given the count at the previous one."""
    form = _HIT_CONDITION.fullmatch(hit_condition or "")
    if form is None:
        return hits + 1
    operator, number = form[1], int(form[2])
    match operator:
        case "" | "==" | ">=":
            return max(hits + 1, number)
        case ">":
            return max(hits + 1, number + 1)
        case "%":
            return (hits // number + 1) * number if number else hits + 1
        case _:
            return hits + 1
