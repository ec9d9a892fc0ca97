"""Breakpoints after what adapters made of them and after hits. Pure functions on the state's breakpoints."""

from typing import TypeVar

from msgspec.structs import replace

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint
from trio_debugmcp.state.changes import StopExamined
from trio_debugmcp.state.hits import hits_after_stop
from trio_debugmcp.state.model import Binding, Breakpoint, ExceptionBreakpoint, State
from trio_debugmcp.state.payloads import Location

_Kept = TypeVar("_Kept", Breakpoint, ExceptionBreakpoint)


def put(kept: tuple[_Kept, ...], new: _Kept) -> tuple[_Kept, ...]:
    """Add one, or put it in the place of the one with its id."""
    if any(each.id == new.id for each in kept):
        return tuple(new if each.id == new.id else each for each in kept)
    return kept + (new,)  # noqa: RUF005 (mypy cannot type the unpacking)


def without_history(breakpoint_: Breakpoint) -> Breakpoint:
    """As if it had never been hit, nor seen by any adapter."""
    return replace(breakpoint_, hits=0, bindings=(), problem=None)


def bound(breakpoint_: Breakpoint, session: str, answer: DapBreakpoint | None) -> Breakpoint:
    """After a session's adapter has answered; None: it was not sent there."""
    others = tuple(binding for binding in breakpoint_.bindings if binding.session != session)
    if answer is None:
        return replace(breakpoint_, bindings=others)
    known = next((binding for binding in breakpoint_.bindings if binding.session == session), Binding(session))
    binding = replace(
        known,
        adapter_id=answer.id if answer.id is not None else known.adapter_id,
        verified=answer.verified,
        line=answer.line if answer.line is not None else known.line,
        column=answer.column if answer.column is not None else known.column,
        message=answer.message,
    )
    return replace(breakpoint_, bindings=(*others, binding))


def breakpoint_changed(state: State, session: str, event: BreakpointEvent) -> State:
    """The adapter moved or (un)verified one of its breakpoints; a removal leaves ours unverified."""
    answer = event.breakpoint
    if event.reason == "removed":
        answer = replace(answer, verified=False)

    def changed(each: Breakpoint) -> Breakpoint:
        mine = any(b.session == session and b.adapter_id == answer.id for b in each.bindings)
        return bound(each, session, answer) if mine and answer.id is not None else each

    return replace(state, breakpoints=tuple(changed(each) for each in state.breakpoints))


def breakpoints_hit(state: State, stop: StopExamined, location: Location | None) -> set[str]:
    """The ids of the breakpoints at which a session has stopped: by the ids that the adapter gave, or by the place."""
    if stop.hit_ids:
        return {
            each.id
            for each in state.breakpoints
            for binding in each.bindings
            if binding.session == stop.session and binding.adapter_id in stop.hit_ids
        }
    if stop.reason != "Breakpoint" or location is None:
        return set()
    return {
        each.id
        for each in state.breakpoints
        for binding in each.bindings
        if binding.session == stop.session
        and each.file == location.file
        and location.line in (binding.line, each.line)
        and each.enabled
    }


def count_hit(breakpoint_: Breakpoint, session: str) -> Breakpoint:
    """After a stop at it, or a passing that was logged, in a session."""

    def counted(binding: Binding) -> Binding:
        if binding.session != session:
            return binding
        return replace(binding, hits=hits_after_stop(breakpoint_.hit_condition, binding.hits))

    bindings = tuple(counted(binding) for binding in breakpoint_.bindings)
    new = sum(binding.hits for binding in bindings) - sum(binding.hits for binding in breakpoint_.bindings)
    return replace(breakpoint_, hits=breakpoint_.hits + new, bindings=bindings)
