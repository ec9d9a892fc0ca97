"""Data breakpoints as clients see them. Pure."""

from msgspec import UNSET

from trio_debugmcp.state.breakpoint import Breakpoint, Watch
from trio_debugmcp.state.payloads import DataBreakpointPayload


def data_breakpoint_payload(each: Breakpoint, watch: Watch) -> DataBreakpointPayload:
    """The payload of a breakpoint that watches data."""
    binding = next(iter(each.bindings), None)
    verified = each.is_active and binding is not None and binding.verified
    return DataBreakpointPayload(
        id=each.id,
        expression=watch.expression,
        access=watch.access,
        enabled=each.is_active,
        verified=verified,
        state="Disabled" if not each.is_active else "Bound" if verified else "Pending",
        hit_count=each.hits,
        condition=each.spec.condition or UNSET,
        hit_condition=each.spec.hit_condition or UNSET,
        set_by=list(each.set_by) or UNSET,
        description=watch.description or None,
        message=each.problem or each.lost or (binding.message if binding is not None else None),
    )
