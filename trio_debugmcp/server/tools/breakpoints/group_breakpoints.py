"""Breakpoints in the processes of a group alone: `breakpoint_set` and `tracepoint_set` with `group`."""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.server.answers.fleet.fleet_classes import named
from trio_debugmcp.server.answers.fleet.fleet_lines import without_common_host
from trio_debugmcp.server.tools.group_choice import chosen_group, processes_now
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.breakpoint import BreakpointSpec


async def in_group(
    debugger: Debugger, specs: Sequence[BreakpointSpec], group: str | None
) -> tuple[Sequence[BreakpointSpec], list[str]]:
    """Return breakpoints as they are for the processes of a group, and what is to be said of that.

    It is for the processes that there are: where they are and what they do, which a group may be about, changes.

    Raises:
        UsageError: `NO_SESSION`, or `INVALID_PARAMETER`: the group means no process.
    """
    if group is None:
        return specs, []
    chosen = await chosen_group(debugger, group)
    those = without_common_host(chosen.processes)
    ids = tuple(each.id for each in those)
    said = f"only in {len(ids)} ({named(those)}): processes that come later do not have it"
    return [replace(spec, sessions=ids, group=group) for spec in specs], [said, *chosen.notes]


def silence_notes(debugger: Debugger, breakpoint_id: str) -> list[str]:
    """Say which processes have not answered when a breakpoint was sent to them, which others have taken."""
    silent = debugger.breakpoints.syncs.unconfirmed.get(breakpoint_id, ())
    those = without_common_host(processes_now([each for each in debugger.living_sessions() if each.id in silent]))
    return [f"{len(those)} did not answer and may not have it ({named(those)})"] if those else []
