"""Moving a group of processes: all are sent the verb first, then there is one wait for all of them, and one answer.

    chosen = await chosen_group(debugger, group)
    moved, failures = await on_each(chosen.sessions, go)
    await wait_for_all(debugger, moved)
    return group_answer(debugger, chosen, failures)

A failure in one is in the answer with its reason, and keeps none of the others from being moved.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from math import inf

import trio

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.fleet.fleet_answers import ended_lines
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, counted, named, without_common_host
from trio_debugmcp.server.answers.fleet.group_answers import GroupMoved, GroupState, group_state
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.group_choice import ChosenGroup, chosen_group, on_each, processes_now
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.execution import StepMode
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot, State

TOGETHER_SECONDS = 0.5
"""After the first stop of a group that was resumed: what stops for the same reason elsewhere is in the same answer."""

Verb = Callable[[DebugSession, int], Awaitable[None]]
"""Moves a session's program by a thread that is stopped."""


async def continue_group(debugger: Debugger, group: str, seconds: float, *, waits: bool) -> GroupState:
    """Resume what is stopped of a group, and wait for the first stop or end among them; raises as `_resume`."""

    async def resume(session: DebugSession, thread_id: int) -> None:
        await session.execution.continue_(thread_id)

    return await _resume(debugger, group, resume, seconds, waits=waits, for_all=False)


async def step_group(
    debugger: Debugger, group: str, how: tuple[StepMode, str | None], seconds: float, *, waits: bool
) -> GroupState:
    """Make a step in each that is stopped of a group, and wait for all; raises as `_resume`.

    `how`: the mode, and the granularity.
    """

    async def step(session: DebugSession, thread_id: int) -> None:
        await session.execution.step(how[0], thread_id, how[1])

    return await _resume(debugger, group, step, seconds, waits=waits, for_all=True)


async def _resume(
    debugger: Debugger, group: str, verb: Verb, seconds: float, *, waits: bool, for_all: bool
) -> GroupState:
    """Resume what is stopped of a group. `for_all`: wait until all have stopped again, as after a step.

    Else the first stop, or end, of any of them ends the wait.

    Raises:
        UsageError: `NOT_PAUSED`: none of them is stopped.
    """
    deadline = trio.current_time() + seconds
    chosen = await chosen_group(debugger, group)
    paused = [session for session in chosen.sessions if _is_paused(session.snapshot)]
    if not paused:
        raise UsageError(
            "NOT_PAUSED",
            f"None of the {len(chosen.sessions)} processes of the group is stopped. Use debug_pause with the same "
            "`group`, or set a breakpoint.",
            {"currentState": "Running"},
        )

    async def resume(session: DebugSession) -> None:
        _, snapshot = debugger.paused(session.id)
        await verb(session, snapshot.active_thread(None))

    failures: Mapping[str, str] = {}
    with trio.move_on_at(deadline):
        moved, failures = await on_each(paused, resume)
        if waits and moved:
            if not for_all:
                await wait_for_any(debugger, moved)
            with trio.move_on_after(inf if for_all else debugger.patience.seconds(TOGETHER_SECONDS)):
                await wait_for_all(debugger, moved)
    others = [each for each in chosen.processes if each.id not in {session.id for session in paused}]
    notes = [f"{len(others)} ran already ({named(others)})"] if others else []
    return group_answer(debugger, chosen, failures, notes)


async def wait_for_all(debugger: Debugger, ids: Iterable[str]) -> None:
    """Wait until all of these are stopped, or have ended. The caller bounds the wait."""
    for id_ in [*ids]:  # one after the other: a change of a state is looked at for one of a thousand
        await debugger.merger.wait_until(lambda state, id_=id_: not _runs(state, id_), of=id_)  # type: ignore[misc]


async def wait_for_any(debugger: Debugger, ids: Iterable[str]) -> None:
    """Wait until one of these is stopped, or has ended. The caller bounds the wait."""
    those = [*ids]
    await debugger.merger.wait_until(lambda state: not all(_runs(state, each) for each in those))


def _runs(state: State, session_id: str) -> bool:
    snapshot = state.snapshot(session_id)
    return snapshot is not None and snapshot.phase != "Paused"


def _is_paused(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and snapshot.phase == "Paused"


def group_answer(
    debugger: Debugger,
    chosen: ChosenGroup,
    failures: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    seen: Mapping[str, ProcessNow] | None = None,
) -> GroupState:
    """Answer where the processes of a group are now. `seen`: as a look has just seen those that are not stopped."""
    looked = seen or {}
    now = {process.id: process for process in processes_now(chosen.sessions)}
    there = without_common_host(
        [each if each.phase == "Paused" else looked.get(each.id, each) for each in now.values()]
    )
    gone = {process.id for process in chosen.processes} - now.keys()
    departed = [process for process in debugger.state.departed if process.id in gone]
    moved = GroupMoved(
        said=counted(there, departed),
        processes=there,
        failures=failures or {},
        ended=ended_lines(departed),
        notes=[*chosen.notes, *notes],
    )
    return group_state(Places(debugger.workspace.directory), moved)
