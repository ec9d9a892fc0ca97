"""Breakpoints in the processes of a group alone: `breakpoint_set` and `tracepoint_set` with `group`."""

from collections.abc import Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.server.answers.fleet.fleet_classes import failure_lines, named, without_common_host
from trio_debugmcp.server.tools.group_choice import chosen_group, processes_now
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.session import DebugSession
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


async def silence_notes(debugger: Debugger, ids: Sequence[str], *, removed: bool = False) -> list[str]:
    """Say which processes have not answered when breakpoints were sent to them, or removed there, and why if known."""
    unconfirmed = debugger.breakpoints.syncs.unconfirmed
    silent = {session_id for id_ in ids for session_id in unconfirmed.get(id_, ())}
    sessions = [each for each in debugger.living_sessions() if each.id in silent]
    why = dict[str, str]()

    async def look(session: DebugSession) -> None:
        why[session.id] = await session.looking.process.why_silent()

    async with trio.open_nursery() as nursery:
        for session in sessions:
            nursery.start_soon(look, session)
    it = "it" if len(ids) == 1 else "them"
    what = f" did not answer and may {'still' if removed else 'not'} have {it}"
    return failure_lines(without_common_host(processes_now(sessions)), why, what)
