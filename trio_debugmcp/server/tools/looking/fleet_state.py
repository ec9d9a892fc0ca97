"""`fleet_state`: all processes at once, running, waiting or stopped: who differs, who computes, who is gone."""

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import trio

from trio_debugmcp.errors import no_session
from trio_debugmcp.probe.answers import PipeEnds
from trio_debugmcp.server.answers.fleet.fleet_answers import FleetAnswer, FleetLook, Used, fleet_answer
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, place_of, without_common_host
from trio_debugmcp.server.answers.fleet.process_circles import BlockedUse, pipe_questions, process_circles
from trio_debugmcp.server.answers.fleet.shared_waits import LineAbout, LockUse, SharedWaits, shared_waits
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.group_choice import GroupOf, choose, processes_seen, programs_there, starting_notes
from trio_debugmcp.server.tools.looking.threads import deadlock_note
from trio_debugmcp.server.tools.tool import Params, SessionId, Tool
from trio_debugmcp.session.debugger import READER, Debugger
from trio_debugmcp.session.looking.by_probe.live_threads import ALL_FRAMES, LiveThread
from trio_debugmcp.session.looking.fleet_looks import FleetSeen, look_at, share
from trio_debugmcp.session.looking.program_threads import StackList
from trio_debugmcp.session.programs import FleetMemory
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Departed
from trio_debugmcp.state.reduce import MAX_DEPARTED


class FleetState(Params, frozen=True, kw_only=True):
    group: GroupOf = None
    session_id: SessionId = None


async def _fleet_state(debugger: Debugger, params: FleetState) -> FleetAnswer:
    sessions = programs_there(debugger)
    if not sessions and debugger.root_session() is None:
        raise no_session()
    seen = await look_at([(session.id, session.looking.threads) for session in sessions], ALL_FRAMES)
    everyone = await processes_seen(debugger, sessions, seen)
    chosen = choose(params.group, everyone)
    shared = await _shared_waits(debugger, sessions, seen, everyone)
    circles = await _process_circles(sessions, seen, everyone)
    those = {process.id for process in chosen.processes}
    deadlocks = {session.id: list(map(deadlock_note, seen.stacks[session.id].deadlocks)) for session in sessions}
    reader, starting = READER.get(), starting_notes(debugger)
    before = debugger.programs.last_look(reader)
    look = FleetLook(
        processes=chosen.processes,
        ended=_departed(debugger) if params.group is None else (),
        used={process.id: _used(process.id, seen, before) for process in chosen.processes},
        deadlocks={session_id: "; ".join(notes) for session_id, notes in deadlocks.items() if notes},
        circles=[*_lines(circles, those), *_lines(shared.circles, those)],
        locks=[*_lines(shared.orphans, those), *_lines(shared.held, those)],
        is_whole=params.group is None and not starting and len(debugger.state.departed) < MAX_DEPARTED,
        before=_places_before(before, params.group, chosen.processes),
        ago=0.0 if before is None else trio.current_time() - before.at,
    )
    memory = FleetMemory(
        at=seen.at,
        places={each.id: place_of(each.stack) if each.answers else None for each in everyone},
        used={session_id: readings[-1] for session_id, readings in seen.used.items() if readings},
    )
    debugger.programs.keep_look(reader, memory)
    return fleet_answer(Places(debugger.workspace.directory), look, [*chosen.notes, *starting])


async def _shared_waits(
    debugger: Debugger, sessions: Sequence[DebugSession], seen: FleetSeen, processes: Sequence[ProcessNow]
) -> SharedWaits:
    """Return who waits for which lock in shared memory. What may be due to the order of looks is looked at again."""
    places = Places(debugger.workspace.directory)
    found = shared_waits(places, _uses(seen, processes))
    if not found.are_doubtful:
        return found
    sharing = [(each.id, each.looking.threads) for each in sessions if seen.stacks[each.id].shared is not None]
    again = await look_at(sharing, ALL_FRAMES, computing=False)
    return shared_waits(places, _uses(again, processes)).confirmed(found)


async def _process_circles(
    sessions: Sequence[DebugSession], seen: FleetSeen, processes: Sequence[ProcessNow]
) -> Mapping[Hashable, LineAbout]:
    """Return which processes wait for each other in pipes and for each other's end, as two looks see it."""
    threads = {session.id: session.looking.threads for session in sessions}
    uses, holders = _blocked_uses(seen, processes), dict[str, Mapping[str, PipeEnds]]()
    for asked in pipe_questions(uses):
        found = await threads[asked.session_id].pipe_holders(asked.pipes, asked.among)
        if found is not None and found.is_whole:
            holders[asked.machine] = found.pipes
    circles = process_circles(uses, holders)
    if not circles:
        return {}
    those = [(use.process.id, threads[use.process.id]) for use in uses]
    again = _blocked_uses(await look_at(those, ALL_FRAMES, computing=False), processes)
    return {key: about for key, about in process_circles(again, holders).items() if key in circles}


def _blocked_uses(seen: FleetSeen, processes: Sequence[ProcessNow]) -> list[BlockedUse]:
    """Return the processes that say which of their threads are blocked, where their machine is known."""
    uses = list[BlockedUse]()
    for process in without_common_host(processes):
        stacks = seen.stacks.get(process.id)
        if stacks is not None and stacks.blocked is not None and stacks.marks is not None and stacks.marks.machine:
            machine, locks = stacks.marks.machine, stacks.shared or ()
            omitted, threads = stacks.shared_omitted, _threads_of(stacks)
            uses.append(BlockedUse(process, machine, locks, threads, omitted, blocked=stacks.blocked))
    return uses


def _uses(seen: FleetSeen, processes: Sequence[ProcessNow]) -> list[LockUse]:
    """Return what each process says of the locks that it shares; those of one machine may be the same."""
    uses = list[LockUse]()
    for process in without_common_host(processes):
        stacks = seen.stacks.get(process.id)
        if stacks is not None and stacks.shared is not None and stacks.marks is not None:
            machine = stacks.marks.machine or stacks.marks.host or ""
            uses.append(LockUse(process, machine, stacks.shared, _threads_of(stacks), stacks.shared_omitted))
    return uses


def _threads_of(stacks: StackList) -> dict[int, LiveThread]:
    return {each.thread.id: each.thread for each in stacks.stacks}


def _lines(about: Mapping[Hashable, LineAbout], sessions: AbstractSet[str]) -> list[str]:
    """Return the lines that are about one of these sessions."""
    return [each.line for each in about.values() if each.sessions & sessions]


def _places_before(
    before: FleetMemory | None, group: str | None, processes: Sequence[ProcessNow]
) -> Mapping[str, int | None] | None:
    """Return where they were at the last look; for a group those of its processes, as the others are not gone."""
    if before is None or group is None:
        return None if before is None else before.places
    return {process.id: before.places[process.id] for process in processes if process.id in before.places}


def _departed(debugger: Debugger) -> list[Departed]:
    """Return the processes that have ended: of the programs that there are, or of the one that the call is about."""
    own = debugger.programs.at_hand.program()
    programs = debugger.programs.living() if debugger.programs.at_hand.chosen is None or own is None else [own]
    roots = {program.id for program in programs}
    return [process for process in debugger.state.departed if process.root in roots]


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
            "computes. `group`: rank=0-7, odd."
        ),
        params=FleetState,
        run=_fleet_state,
        read_only=True,
        idempotent=True,
        phrase="many processes",
    ),
)
