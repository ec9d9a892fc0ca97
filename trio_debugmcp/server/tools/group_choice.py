"""The processes of a group, and a call that is made in each of them.

    chosen = await chosen_group(debugger, "rank=0-7")
    found, failures = await on_each(chosen.sessions, ask)       # what came of it, or why it failed, by their ids

`state/groups.py` has what a group may say.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import inf
from typing import Annotated, TypeVar

import trio
from msgspec import Meta, Struct
from msgspec.structs import fields, replace

from trio_debugmcp.errors import DebugError, UsageError, no_session
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, classes_of, named
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.by_probe.live_threads import ALL_FRAMES, LiveStack
from trio_debugmcp.session.looking.fleet_looks import MOST_AT_ONCE, FleetSeen, look_at
from trio_debugmcp.session.looking.program_threads import StackList
from trio_debugmcp.session.program_at_hand import chosen as choosing
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.session.start import has_program
from trio_debugmcp.state.changes import OriginLearned
from trio_debugmcp.state.groups import GroupMember, ProcessGroup, parsed, selected
from trio_debugmcp.state.model import Snapshot

GroupOf = Annotated[
    str | None,
    Meta(
        description="In place of one session: all, stopped, running, odd, in:FUNCTION, a label (rank=0-7, host=a1), "
        "or ids (s-3,s-7); several with commas."
    ),
]

_IDLE = "worker"
"""What a thread waits for that has no work: a pool has any number of them."""

_MAIN = "MainThread"

_NO_TURN = "not asked, as others took all the time: name fewer, or raise `timeout`"

T = TypeVar("T")


class ChosenProcesses(Struct, frozen=True):
    """The processes of a group, and what is to be said of the choice."""

    processes: Sequence[ProcessNow]
    notes: Sequence[str] = ()


class ChosenGroup(ChosenProcesses, frozen=True):
    """The same with their sessions, in the same order."""

    sessions: Sequence[DebugSession] = ()


# --- Choosing ---------------------------------------------------------------------------------------------------------


def programs_there(debugger: Debugger) -> list[DebugSession]:
    """Return the sessions that have a program which may run: not one that listens, or only starts others."""
    return [session for session in _programs(debugger) if not _is_starting(session)]


def starting_notes(debugger: Debugger) -> list[str]:
    """Say how many processes may not run yet: they are in no group, as they answer nothing."""
    starting = [session for session in _programs(debugger) if _is_starting(session)]
    said = "whose debugger is not ready are not among them: it is loading, or does not answer"
    return [f"{len(starting)} {said} ({named(processes_now(starting))})"] if starting else []


def _programs(debugger: Debugger) -> list[DebugSession]:
    return [session for session in debugger.living_sessions() if has_program(session.profile, session.start)]


def _is_starting(session: DebugSession) -> bool:
    return session.snapshot is not None and session.snapshot.phase == "Starting"


def refuse_beside(params: Struct, *names: str) -> None:
    """Refuse parameters about one session or thread beside a group; `names`: of further ones.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    defaults = {field.name: field.default for field in fields(params)}
    for name in ("session_id", "thread_id", *names):
        if getattr(params, name, None) not in (None, [], defaults.get(name)):
            sentence = f"`{name}` is about one process, and `group` about several: leave out one of them."
            raise UsageError("INVALID_PARAMETER", sentence, {"parameter": name})


async def chosen_group(debugger: Debugger, text: str) -> ChosenGroup:
    """Return the processes that a group means; they are looked at where it is about their stacks.

    A program under debugpy says its labels when it is looked at, so that is done to one without any.

    Raises:
        UsageError: `NO_SESSION`, or `INVALID_PARAMETER`: it means none.
    """
    group, sessions = parsed(text), programs_there(debugger)
    if not sessions:
        raise _no_processes(debugger)
    unlabelled = [session for session in sessions if not _labels(session)]
    looked = await look(debugger, sessions if group.needs_stacks else unlabelled)
    processes = looked if group.needs_stacks else processes_now(sessions)
    chosen = _choose(group, processes)
    by_id = {session.id: session for session in sessions}
    notes = [*chosen.notes, *starting_notes(debugger)]
    return ChosenGroup(chosen.processes, notes, [by_id[process.id] for process in chosen.processes])


async def look(debugger: Debugger, sessions: Sequence[DebugSession]) -> list[ProcessNow]:
    """Return where these processes are, also while they run; their labels become known."""
    threads = [(session.id, session.looking.threads) for session in sessions]
    return await processes_seen(debugger, sessions, await look_at(threads, ALL_FRAMES, computing=False))


def choose(group: str | None, processes: Sequence[ProcessNow]) -> ChosenProcesses:
    """Return those of the group, of processes whose stacks are known; without a group all."""
    return ChosenProcesses(processes) if group is None else _choose(parsed(group), processes)


def _choose(group: ProcessGroup, processes: Sequence[ProcessNow]) -> ChosenProcesses:
    classes = classes_of([each for each in processes if each.stack])
    most = len(classes[-1].members) if classes else 0
    is_clear = [len(each.members) for each in classes].count(most) == 1
    odd = {member.id for each in classes for member in each.members if is_clear and len(each.members) < most}
    found = selected(group, [_member(process, odd) for process in processes])
    unknown = [process for process in processes if process.unknown is not None] if group.needs_stacks else []
    left_out = [f"{len(unknown)} whose stacks are not known are not among them ({named(unknown)})"] if unknown else []
    those = set(found.ids)
    return ChosenProcesses([each for each in processes if each.id in those], [*found.missing, *left_out])


def _member(process: ProcessNow, odd: set[str]) -> GroupMember:
    functions = frozenset(frame.name for stack in (process.stack, *process.others) for frame in stack)
    return GroupMember(process.id, process.labels, process.phase == "Paused", functions, process.id in odd)


def _labels(session: DebugSession) -> Mapping[str, str]:
    return {} if session.snapshot is None else session.snapshot.origin.labels


def _no_processes(debugger: Debugger) -> UsageError:
    if debugger.root_session() is None:
        return no_session()
    starting = starting_notes(debugger)
    if starting:
        return UsageError("NO_SESSION", f"A group has no processes yet: {starting[0]}. Call again in some seconds.")
    return UsageError(
        "NO_SESSION", "No program has dialed in yet, so a group has no processes: debug_state says where one dials in."
    )


# --- Processes --------------------------------------------------------------------------------------------------------


def processes_now(sessions: Sequence[DebugSession]) -> list[ProcessNow]:
    """Return the processes as far as they are known without a question: of one that is stopped, where it is."""
    return [_now(snapshot) for session in sessions if (snapshot := session.snapshot) is not None]


def _now(snapshot: Snapshot) -> ProcessNow:
    process = ProcessNow(snapshot.id, snapshot.origin.labels, snapshot.phase)
    if snapshot.phase != "Paused" or snapshot.stop is None:
        return process
    return replace(process, stack=snapshot.stack.frames[:ALL_FRAMES], stopped=snapshot.stop.reason)


async def processes_seen(debugger: Debugger, sessions: Sequence[DebugSession], seen: FleetSeen) -> list[ProcessNow]:
    """Return the processes as a look has seen them, without those that have ended meanwhile."""
    await _learn_labels(debugger, sessions, seen)
    snapshots = [(session.snapshot, seen.stacks[session.id]) for session in sessions]
    return [_process(snapshot, found) for snapshot, found in snapshots if snapshot is not None]


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
        all_wait=found.failure is None and all(each.thread.state == "waiting" for each in found.stacks),
        silent=None if found.failure is None else found.failure.reason,
    )


def _standing(stacks: Sequence[LiveStack], stopped: int | None) -> LiveStack:
    """Return the thread that stands for its process: the one that is stopped, else the main one."""
    first = min(stacks, key=lambda stack: stack.thread.id)
    main = next((stack for stack in stacks if stack.thread.name == _MAIN), first)
    return next((stack for stack in stacks if stack.thread.id == stopped), main)


async def _learn_labels(debugger: Debugger, sessions: Sequence[DebugSession], seen: FleetSeen) -> None:
    """Keep what processes say of themselves now: a program may set its rank, and a child its name, when it runs."""
    for session in sessions:
        marks, snapshot = seen.stacks[session.id].marks, session.snapshot
        if marks is not None and snapshot is not None:
            labels = session.labels.of(marks)
            if labels != snapshot.origin.labels:
                await debugger.merger.merge(OriginLearned(session.id, labels=labels))


# --- Calling ----------------------------------------------------------------------------------------------------------


async def on_each(
    sessions: Sequence[DebugSession],
    call: Callable[[DebugSession], Awaitable[T]],
    seconds: float = inf,
    most: float = MOST_AT_ONCE,
) -> tuple[dict[str, T], dict[str, str]]:
    """Make a call in each session, `most` at a time; returns what came of it, and why it failed, by their ids.

    What fails in one does not end the others. A cancellation ends all that are under way. `seconds`: after these no
    further call is begun.
    """
    results, failures = dict[str, T](), dict[str, str]()
    end = trio.current_time() + seconds
    limit = trio.CapacityLimiter(most)

    async def make(session: DebugSession) -> None:
        async with limit:
            if trio.current_time() > end:
                failures[session.id] = _NO_TURN
                return
            with choosing(session.id):
                try:
                    results[session.id] = await call(session)
                except DebugError as error:
                    failures[session.id] = error.message if isinstance(error, UsageError) else str(error)

    async with trio.open_nursery() as nursery:
        for session in sessions:
            nursery.start_soon(make, session)
    return results, failures
