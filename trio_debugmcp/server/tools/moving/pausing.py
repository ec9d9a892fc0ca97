"""`debug_pause`, which also says why a program cannot be paused: every thread of it waits, or one keeps the GIL."""

from collections.abc import Collection, Mapping, Sequence
from math import inf

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, UsageError
from trio_debugmcp.patience import Patience
from trio_debugmcp.server.answers.fleet.fleet_classes import ProcessNow, named
from trio_debugmcp.server.answers.fleet.group_answers import GroupState
from trio_debugmcp.server.answers.lines import thread_now
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop import stop_answer
from trio_debugmcp.server.answers.stop_answer import StopAnswer, StopData, ThreadNow
from trio_debugmcp.server.tools.answering import (
    wait_answer,
    with_tasks,
    with_thread_lines,
    with_waiting_threads,
)
from trio_debugmcp.server.tools.group_choice import GroupOf, chosen_group, look, on_each, refuse_beside
from trio_debugmcp.server.tools.looking.threads import deadlock_notes, outside_note
from trio_debugmcp.server.tools.moving.group_moves import group_answer, wait_for_all
from trio_debugmcp.server.tools.tool import Params, Seconds, SessionId, Show, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.looking.by_probe.live_threads import LiveThread
from trio_debugmcp.session.looking.by_probe.program_probe import PROBE_SECONDS
from trio_debugmcp.session.looking.from_outside.program_process import AGAIN_SECONDS
from trio_debugmcp.session.not_paused import WORKS_MEANWHILE
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot

BLOCKED_AFTER_SECONDS = 0.5
"""From a pause to the question whether the program can stop at all. One that runs Python code stops in milliseconds."""

ENDING_SECONDS = 5.0
"""For the end of a program whose adapter refuses to pause it because it is just ending, on a busy machine too."""


class DebugPause(Params, frozen=True, kw_only=True):
    thread_id: ThreadId = None
    show: Show = []
    timeout: Seconds = 10.0
    group: GroupOf = None
    session_id: SessionId = None


async def _pause_tool(debugger: Debugger, params: DebugPause) -> StopAnswer | GroupState:
    if params.group is None:
        return await pause(debugger, params)
    refuse_beside(params, "show")
    return await _pause_group(debugger, params.group, trio.current_time() + params.timeout)


async def pause(debugger: Debugger, params: DebugPause) -> StopAnswer:
    """Pause the program, or answer why it cannot be."""
    deadline = trio.current_time() + params.timeout
    session = debugger.program(params.session_id)
    snapshot = session.snapshot
    if snapshot is not None and snapshot.phase == "Paused":
        raise UsageError(
            "ALREADY_PAUSED",
            "The program is paused already. Look at debug_state, or resume with debug_continue or debug_step.",
            {"currentState": "Paused"},
        )
    outcome: Outcome | None = None
    blocked: Blocked | None = None
    seen: list[LiveThread] = []
    with trio.move_on_at(deadline):
        await debugger.merger.wait_until(lambda now: _is_past_start(now.snapshot(session.id)))
        is_over = False
        try:
            outcome, blocked = await _stopped_or_blocked(debugger, session, params.thread_id, seen)
            is_over = True
        finally:
            if not is_over:  # a stop would come now for which no client waits
                with trio.CancelScope(shield=True):  # bounded: by the time of a question to the probe
                    await session.pauses.take_back()
    if outcome is None and blocked is not None and _is_running(session.snapshot):  # it may have stopped since
        answer = await stop_answer(debugger, None, deadline=deadline, session_id=session.id)
        answer = replace(answer, notes=[*answer.notes, *blocked.notes])
        answer = with_thread_lines(debugger, answer, blocked.threads, blocked.total)
        return await with_tasks(debugger, answer, session) if blocked.wait_in_loops else answer
    answer = await wait_answer(
        debugger, outcome, deadline, show=params.show, waited=blocked is None, session_id=session.id
    )
    if answer.reason == "Pause" and session.looking.threads.are_native:
        return await with_waiting_threads(debugger, answer, session)
    if answer.reason == "Pause" and _is_in_loop(session.snapshot):
        return await with_tasks(debugger, answer, session)
    if outcome is None and isinstance(answer.full, StopData):
        python = None if session.snapshot is None else session.snapshot.origin.runtime_version
        notes = _stuck_notes(Places(debugger.workspace.directory), seen, answer.full.threads, python or "")
        return replace(answer, notes=[*answer.notes, *notes])
    return answer


class Blocked(Struct, frozen=True):
    """Why a program cannot be paused, and where its threads are: the first of `total`.

    One look alone is not sure of threads that wait: they may wait for a moment, for a file that is read.
    """

    notes: list[str]
    threads: list[ThreadNow] = []
    total: int = 0
    is_sure: bool = True
    wait_in_loops: bool = False


_STUCK = "thread {} was at {} at two looks and has begun no new line: it is in one long call there"

_LOOP_ON_ONE_LINE = (
    ", or in a loop whose body stands on the line of its head, where Python {} tells no debugger of a new turn. "
    "With the body on a line of its own it can be paused"
)

_TELLS_NO_TURN = ("3.10", "3.11")
"""Versions of Python that call no trace function between two turns of a loop on one line."""


async def _stopped_or_blocked(
    debugger: Debugger, session: DebugSession, thread_id: int | None, seen: list[LiveThread]
) -> tuple[Outcome | None, Blocked | None]:
    """Pause, and wait for the stop, or until it is known why there is none. `seen` becomes the threads meanwhile."""
    outcome: Outcome | None = None
    blocked: Blocked | None = None
    failure: DebugError | None = None
    async with trio.open_nursery() as nursery:

        async def explain() -> None:
            nonlocal blocked
            # A question to the probe that is too early does no harm: a thread that had no turn yet does not wait.
            seconds = BLOCKED_AFTER_SECONDS
            await trio.sleep(seconds if session.looking.is_python else debugger.patience.seconds(seconds))
            blocked = await _surely_blocked(session, seen, debugger.patience)
            if blocked is not None:
                nursery.cancel_scope.cancel(reason="the program cannot be paused now")

        nursery.start_soon(explain)
        try:
            snapshot = session.snapshot
            if snapshot is not None and snapshot.phase == "Running":
                await _send_pause(debugger, session, snapshot, thread_id)
            outcome = await debugger.wait_stop(session.id)
        except DebugError as error:
            failure = error
        nursery.cancel_scope.cancel(reason="the program has stopped")
    if failure is not None:
        raise failure
    return outcome, blocked


_ARMED = "The pause stays armed: it stops the first thread that runs Python code again"

_BLOCKED = f"every thread waits, so the program cannot be paused now. {_ARMED}. {WORKS_MEANWHILE}"

_SILENT = "it is not known where the threads are"
"""Note on a pause to which the program gave no answer at all."""


def _stuck_notes(places: Places, before: Sequence[LiveThread], now: Sequence[ThreadNow], python: str = "") -> list[str]:
    """Return a note for each thread that ran at one line before and still does, so that no trace function is called.

    `python`: which one runs the program, for example `CPython 3.11.7`.
    """
    running = {thread.id: thread.location for thread in before if thread.state == "running" and thread.location}
    version = ".".join(python.rpartition(" ")[2].split(".")[:2])
    loop = _LOOP_ON_ONE_LINE.format(version) if version in _TELLS_NO_TURN else ""
    return [
        _STUCK.format(thread.id, places.at_location(thread.location)) + loop
        for thread in now
        if thread.state == "Running" and running.get(thread.id) == thread.location is not None
    ]


async def _surely_blocked(session: DebugSession, seen: list[LiveThread], patience: Patience) -> Blocked | None:
    """Return why a program cannot be paused, which one look may only have made it seem; None if it can."""
    found = await _blocked(session, seen)
    while found is not None and not found.is_sure:
        await trio.sleep(patience.seconds(AGAIN_SECONDS))
        before, found = found, await _blocked(session, seen)
        if found == before:
            break
    return found


async def _blocked(session: DebugSession, seen: list[LiveThread]) -> Blocked | None:
    """Return why a program cannot be paused: every thread waits, or one keeps the GIL; None if it can."""
    if session.profile.words.waiting is not None:
        return Blocked([session.profile.words.waiting])
    try:
        found = await session.looking.threads.threads()
    except UsageError:  # it has ended
        return None
    seen[:] = found.threads
    threads = [thread_now(thread, None) for thread in found.threads]
    if found.source in ("adapter", "kernel"):  # what is traced is stopped wherever it waits
        return None
    if found.failure is not None:
        if found.source == "outside":
            return Blocked([f"{outside_note(found.failure)}. {_ARMED}"], threads, found.total)
        return Blocked([f"{_SILENT}: {found.failure.reason}. {_ARMED}"]) if found.failure.is_slow else None
    complete = 0 < found.total == len(found.threads)  # of the threads that do not fit any one may run
    if not complete or any(thread.state != "waiting" for thread in found.threads):
        return None
    return Blocked(
        [_BLOCKED, *deadlock_notes(found)], threads, found.total, is_sure=False, wait_in_loops=found.wait_in_loops
    )


# --- A group ----------------------------------------------------------------------------------------------------------


async def _pause_group(debugger: Debugger, group: str, deadline: float) -> GroupState:
    """Pause what runs of a group: all are asked first, and then waited for."""
    chosen = await chosen_group(debugger, group)
    running = [session for session in chosen.sessions if _is_running(session.snapshot)]
    if not running:
        raise UsageError(
            "ALREADY_PAUSED",
            f"All {len(chosen.sessions)} processes of the group are stopped. Look at them with fleet_state, or use "
            "debug_continue with the same `group`.",
            {"currentState": "Paused"},
        )

    async def ask(session: DebugSession) -> None:
        snapshot = session.snapshot
        if snapshot is not None and snapshot.phase == "Running":
            with trio.move_on_after(debugger.patience.seconds(PROBE_SECONDS)):  # it is sent in any case
                await _send_pause(debugger, session, snapshot, None)

    armed: Mapping[str, ProcessNow] = {}
    failures: Mapping[str, str] = {}
    try:
        with trio.move_on_at(deadline):
            asked, failures = await on_each(running, ask, most=inf)  # so that it reaches all at once
            await _as_long_as_they_stop(debugger, asked)
            armed = await _waiting(debugger, [session for session in running if session.id in asked])
            await wait_for_all(debugger, asked.keys() - armed.keys())
    finally:
        late = [session for session in running if _is_running(session.snapshot) and session.id not in armed]
        with trio.CancelScope(shield=True):  # bounded: by the time of a question to the probe
            await on_each(late, lambda session: session.pauses.take_back())
    still = [process for id_, process in armed.items() if _is_running(debugger.state.snapshot(id_))]
    silent = {process.id: why for process in still if (why := process.unknown or process.silent) is not None}
    failures = {**failures, **silent}
    waiting = [process for process in still if process.id not in silent]
    notes = [f"{len(late)} did not stop in time, and run on"] if late else []
    if waiting:
        notes.append(f"cannot be paused now, as every thread waits: {len(waiting)} ({named(waiting)}). {_ARMED}")
    elif silent:
        notes.append(f"not stopped, as they do not answer: {len(silent)}. {_ARMED}")
    return group_answer(debugger, chosen, failures, notes, armed)


async def _as_long_as_they_stop(debugger: Debugger, ids: Collection[str]) -> None:
    """Wait until all of these are stopped, or for a while none of the others has stopped."""
    left, before = len(ids), len(ids) + 1
    while 0 < left < before:
        with trio.move_on_after(BLOCKED_AFTER_SECONDS):
            await wait_for_all(debugger, ids)
        left, before = sum(_is_running(debugger.state.snapshot(each)) for each in ids), left


async def _waiting(debugger: Debugger, sessions: Sequence[DebugSession]) -> dict[str, ProcessNow]:
    """Return those that are not stopped because every thread of them waits, or because they do not answer at all."""
    late = [session for session in sessions if _is_running(session.snapshot)]
    found = await look(debugger, late)
    return {each.id: each for each in found if each.all_wait or (each.unknown or each.silent) is not None}


def _is_running(snapshot: Snapshot | None) -> bool:
    return snapshot is not None and snapshot.phase == "Running"


def _is_in_loop(snapshot: Snapshot | None) -> bool:
    """Whether a stop is in a callback or a task of asyncio or Trio, beside which other tasks may hang."""
    found = None if snapshot is None else snapshot.stack.locals
    return found is not None and not {"asyncio", "trio"}.isdisjoint(found.hidden)


def _is_past_start(snapshot: Snapshot | None) -> bool:
    return snapshot is None or snapshot.phase != "Starting"


async def _send_pause(debugger: Debugger, session: DebugSession, snapshot: Snapshot, thread_id: int | None) -> None:
    """Returns as well when there is nothing left to pause."""
    first = snapshot.threads.threads[0].id if snapshot.threads.threads else None
    try:
        await session.pauses.pause(thread_id or first, thread_id)
        return
    except (AdapterRefused, AdapterGone) as error:
        refusal = error
    with trio.move_on_after(debugger.patience.seconds(ENDING_SECONDS)):
        await debugger.wait_stop(session.id)
        return
    raise refusal


TOOLS = (
    Tool(
        name="debug_pause",
        title="Pause",
        description=(
            "Stop the running program where it is. If every thread waits (a hang), says where each is and what it "
            "waits for."
        ),
        params=DebugPause,
        run=_pause_tool,
        listing="core",
        unlisted=frozenset({"show"}),
    ),
)
