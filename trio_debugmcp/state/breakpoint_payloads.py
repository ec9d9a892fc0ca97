"""The payloads of breakpoints: what clients read of each. Pure."""

from msgspec import UNSET

from trio_debugmcp.state.breakpoint import Binding, Breakpoint, ExceptionBreakpoint, Watch
from trio_debugmcp.state.model import State
from trio_debugmcp.state.payloads import (
    BreakpointPayload,
    BreakpointsPayload,
    DataBreakpointPayload,
    ExceptionBreakpointPayload,
)

NO_TYPE = "no such exception type yet: the program stops once one of that name is raised"

ALL_SENT = "all its notifications are sent: breakpoint_enable starts it again"


def breakpoints_payload(state: State, revision: int) -> BreakpointsPayload:
    """The payload of `debugger://breakpoints`, also without a session."""
    kept = [(breakpoint, breakpoint.spec) for breakpoint in state.breakpoints]
    return BreakpointsPayload(
        breakpoints=[
            breakpoint_payload(breakpoint) for breakpoint, spec in kept if spec.function is None and spec.watch is None
        ],
        exception_breakpoints=[exception_breakpoint_payload(exception) for exception in state.exceptions],
        function_breakpoints=[breakpoint_payload(breakpoint) for breakpoint, spec in kept if spec.function is not None],
        data_breakpoints=[
            data_breakpoint_payload(breakpoint, spec.watch) for breakpoint, spec in kept if spec.watch is not None
        ],
        revision=revision,
    )


def breakpoint_payload(breakpoint: Breakpoint) -> BreakpointPayload:
    """A breakpoint at the line where a session placed it; a session that could place it counts before others."""
    spec, binding = breakpoint.spec, _best_binding(breakpoint)
    verified = breakpoint.is_active and binding is not None and binding.verified
    line = binding.line if verified and spec.address is None and binding and binding.line is not None else spec.line
    moved = f"moved from line {spec.line} to {line}, where code is" if spec.line not in (None, line) else None
    finished = ALL_SENT if breakpoint.enabled and not breakpoint.is_active else None
    return BreakpointPayload(
        id=breakpoint.id,
        type=spec.type,
        file=spec.file,
        line=line,
        column=spec.column,
        enabled=breakpoint.is_active,
        verified=verified,
        state="Disabled" if not breakpoint.is_active else "Bound" if verified else "Pending",
        hit_count=breakpoint.hits,
        condition=spec.condition,
        log_message=spec.log_message,
        hit_count_multiple=spec.hit_count_multiple,
        max_notifications=spec.max_notifications,
        notifications_sent=breakpoint.notifications_sent,
        hit_condition=spec.hit_condition,
        requested_line=spec.line,
        statement=spec.text if spec.by_text else None,
        function_name=spec.function,
        address=spec.address or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        message=breakpoint.problem
        or breakpoint.lost
        or (None if binding is None else binding.message or breakpoint.remark)
        or finished
        or moved,
    )


def data_breakpoint_payload(breakpoint: Breakpoint, watch: Watch) -> DataBreakpointPayload:
    """The payload of a breakpoint that watches data."""
    binding = next(iter(breakpoint.bindings), None)
    verified = breakpoint.is_active and binding is not None and binding.verified
    return DataBreakpointPayload(
        id=breakpoint.id,
        expression=watch.expression,
        access=watch.access,
        enabled=breakpoint.is_active,
        verified=verified,
        state="Disabled" if not breakpoint.is_active else "Bound" if verified else "Pending",
        hit_count=breakpoint.hits,
        condition=breakpoint.spec.condition or UNSET,
        hit_condition=breakpoint.spec.hit_condition or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        description=watch.description or None,
        message=breakpoint.problem or breakpoint.lost or (binding.message if binding is not None else None),
    )


def exception_breakpoint_payload(breakpoint: ExceptionBreakpoint) -> ExceptionBreakpointPayload:
    """An exception breakpoint; it is verified while an adapter watches for it, and its type exists."""
    known = set(breakpoint.session_ids).difference(breakpoint.unknown_in)
    return ExceptionBreakpointPayload(
        id=breakpoint.id,
        exception_type=breakpoint.exception_type,
        break_on_first_chance=breakpoint.first_chance,
        break_on_second_chance=breakpoint.second_chance,
        break_on_user_unhandled=breakpoint.user_unhandled or UNSET,
        include_subtypes=breakpoint.include_subtypes,
        enabled=breakpoint.enabled,
        verified=breakpoint.enabled and bool(known),
        hit_count=breakpoint.hits,
        condition=breakpoint.condition,
        file=breakpoint.file or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        message=breakpoint.problem
        or (NO_TYPE if breakpoint.enabled and breakpoint.session_ids and not known else None),
    )


def _best_binding(breakpoint: Breakpoint) -> Binding | None:
    return next(
        (binding for binding in breakpoint.bindings if binding.verified),
        breakpoint.bindings[0] if breakpoint.bindings else None,
    )
