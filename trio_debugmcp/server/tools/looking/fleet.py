"""`fleet_state`: all processes at once, running, waiting or stopped: who differs, who computes, who is gone."""

from collections.abc import Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.errors import no_session
from trio_debugmcp.server.answers.fleet_answers import FleetAnswer, FleetLook, Used, fleet_answer
from trio_debugmcp.server.answers.fleet_classes import ProcessNow
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.looking.threads import deadlock_note
from trio_debugmcp.server.tools.tool import Params, SessionId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.fleet_looks import FleetSeen, look_at, share
from trio_debugmcp.session.looking.live_threads import ALL_FRAMES, LiveStack
from trio_debugmcp.session.looking.program_threads import StackList
from trio_debugmcp.session.programs import FleetMemory
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.start import has_program
from trio_debugmcp.state.changes import OriginLearned
from trio_debugmcp.state.model import Departed, Snapshot

_IDLE = "worker"
"""What a thread waits for that has no work: a pool has any number of them."""

_MAIN = "MainThread"


class FleetState(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


async def _fleet_state(debugger: Debugger, params: FleetState) -> FleetAnswer:
    sessions = [session for session in debugger.living_sessions() if has_program(session.profile, session.start)]
    if not sessions and debugger.root_session() is None:
        raise no_session()
    seen = await look_at([(session.id, session.looking.threads) for session in sessions], ALL_FRAMES)
    await _learn_labels(debugger, sessions, seen)
    snapshots = [(session.snapshot, seen.stacks[session.id]) for session in sessions]
    processes = [
        _process(snapshot, found) for snapshot, found in snapshots if snapshot is not None
    ]  # others have ended
    before = debugger.programs.last_look
    debugger.programs.last_look = FleetMemory(
        at=seen.at,
        stacks={process.id: process.stack for process in processes if process.unknown is None},
        used={session_id: readings[-1] for session_id, readings in seen.used.items() if readings},
    )
    deadlocks = {session.id: list(map(deadlock_note, seen.stacks[session.id].deadlocks)) for session in sessions}
    look = FleetLook(
        processes=processes,
        ended=_departed(debugger),
        used={session.id: _used(session.id, seen, before) for session in sessions},
        deadlocks={session_id: "; ".join(notes) for session_id, notes in deadlocks.items() if notes},
        before=None if before is None else before.stacks,
        ago=0.0 if before is None else trio.current_time() - before.at,
    )
    return fleet_answer(Places(debugger.workspace.directory), look)


async def _learn_labels(debugger: Debugger, sessions: Sequence[DebugSession], seen: FleetSeen) -> None:
    """Keep what processes say of themselves now: a program may set its rank, and a child its name, when it runs."""
    for session in sessions:
        marks, snapshot = seen.stacks[session.id].marks, session.snapshot
        if marks is not None and snapshot is not None:
            labels = session.labels.of(marks)
            if labels != snapshot.origin.labels:
                await debugger.merger.merge(OriginLearned(session.id, labels=labels))


def _departed(debugger: Debugger) -> list[Departed]:
    """Return the processes that have ended: of the programs that there are, or of the one that the call is about."""
    own = debugger.programs.at_hand.program()
    programs = debugger.programs.living() if debugger.programs.at_hand.chosen is None or own is None else [own]
    roots = {program.id for program in programs}
    return [process for process in debugger.state.departed if process.root in roots]


def _process(snapshot: Snapshot, found: StackList) -> ProcessNow:
    stop = snapshot.stop if snapshot.phase == "Paused" else None
    reason = None if stop is None else stop.reason
    process = ProcessNow(snapshot.id, snapshot.origin.labels, snapshot.phase, stopped=reason)
    if not found.stacks:
        return replace(process, unknown="they are not there" if found.failure is None else found.failure.reason)
    standing = _standing(found.stacks, None if stop is None else stop.thread_id)
    others = [each for each in found.stacks if each is not standing and each.thread.kind != _IDLE]
    return replace(
        process,
        stack=standing.frames,
        others=tuple(each.frames for each in others),
        waits=standing.thread.waits if stop is None else None,
    )


def _standing(stacks: Sequence[LiveStack], stopped: int | None) -> LiveStack:
    """Return the thread that stands for its process: the one that is stopped, else the main one."""
    first = min(stacks, key=lambda stack: stack.thread.id)
    main = next((stack for stack in stacks if stack.thread.name == _MAIN), first)
    return next((stack for stack in stacks if stack.thread.id == stopped), main)


def _used(session_id: str, seen: FleetSeen, before: FleetMemory | None) -> Used:
    readings = seen.used[session_id]
    if not readings:
        return Used()
    earlier = None if before is None else before.used.get(session_id)
    return Used(now=share(readings[0], readings[-1]), since=share(earlier, readings[-1]))


TOOLS = (
    Tool(
        name="fleet_state",
        title="All processes at once",
        description=(
            "All processes, also while they run or hang: classes of equal stacks, odd ones first; who ended, who "
            "computes."
        ),
        params=FleetState,
        run=_fleet_state,
        read_only=True,
        idempotent=True,
        phrase="many processes",
    ),
)
