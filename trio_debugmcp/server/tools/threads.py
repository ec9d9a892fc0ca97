"""The tools that show where threads and tasks are: also while the program runs, waits, or is blocked.

They ask the probe inside the program (`session.probe`), where there is one; without it they show the last stop, or say
what they cannot. `stacks` has the tool for call stacks.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.probe.answers import ProbeError, ProbeTask, ProbeThread
from trio_debugmcp.server.tools.silent import ask_or_look, outside_note
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.outside import Outside
from trio_debugmcp.session.probe import waits_for
from trio_debugmcp.session.truncation import truncated
from trio_debugmcp.state.payloads import Location, Payload, ThreadsPayload
from trio_debugmcp.state.resources import THREADS, threads_payload

STATES = {"stopped": "Suspended", "waiting": "Waiting"}
"""The probe's words in the contract's; what runs, or may run, is Running."""


class ThreadsList(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


class TasksList(Params, frozen=True, kw_only=True):
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many tasks.")] = 200
    session_id: SessionId = None


class LiveThread(Payload, frozen=True):
    """A thread as it is now. `Waiting`: in C code, so it cannot be stepped; `waitsFor` says for what."""

    id: int
    name: str | None
    state: str
    is_current: bool
    location: Location | None
    waits_for: str | msgspec.UnsetType = msgspec.UNSET


class LiveThreads(Payload, frozen=True):
    """The threads as they are now. `deadlocks`: ids of threads that wait for each other; `omitted`: left out here.

    `notes`: there if py-spy answered in place of the program, which does not let Python run.
    """

    threads: list[LiveThread]
    stale: bool
    deadlocks: list[list[int]]
    total: int
    omitted: int
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET


class LastThreads(ThreadsPayload, frozen=True):
    """The threads as of the last stop, because the program did not answer: `notes` say why."""

    notes: list[str]


class TaskLine(Payload, frozen=True):
    """A task of asyncio or Trio. `chain`: from its coroutine to what it awaits; `depth`: in the tree of nurseries."""

    name: str
    library: str
    state: str
    chain: list[str]
    waits_for: str | None
    depth: int


class TasksResult(Payload, frozen=True):
    """The tasks of the program. `omitted`: left out here; ask with `start`."""

    tasks: list[TaskLine]
    total: int
    omitted: int
    notes: list[str]


# --- Threads ----------------------------------------------------------------------------------------------------------


async def _threads(debugger: Debugger, params: ThreadsList) -> ThreadsPayload | LiveThreads:
    session = debugger.program(params.session_id)
    try:
        found = await ask_or_look(debugger, session, session.probe.threads)
    except ProbeError as error:
        snapshot = session.snapshot
        if snapshot is None:
            raise no_session() from None
        last = threads_payload(snapshot, debugger.merger.revisions[THREADS])
        if not session.profile.has_probe:
            return last
        note = f"where the threads are now is not known: {reason(error)}. This is the last stop"
        return LastThreads(last.threads, last.stale, last.captured_at, last.revision, [note])
    current = session.snapshot.threads.current if session.snapshot is not None else None
    if isinstance(found, Outside):
        kept = truncated((_live_thread(each, current) for each in found.stacks.stacks), MAX_RESULT_BYTES)
        return LiveThreads(kept, False, [], found.stacks.total, found.stacks.total - len(kept), [outside_note(found)])
    kept = truncated((_live_thread(each, current) for each in found.threads), MAX_RESULT_BYTES)
    deadlocks = [list(each.threads) for each in found.deadlocks]
    return LiveThreads(kept, False, deadlocks, found.total, found.total - len(kept))


def _live_thread(thread: ProbeThread, current: int | None) -> LiveThread:
    place = None
    if thread.at is not None:
        at = thread.at.from_ or thread.at
        place = Location(at.file, at.line, None, at.qualname or at.function, at.module or None)
    waits = waits_for(thread)
    return LiveThread(
        id=thread.id,
        name=thread.name,
        state=STATES.get(thread.state, "Running"),
        is_current=thread.id == current,
        location=place,
        waits_for=msgspec.UNSET if waits is None else waits,
    )


def reason(error: Exception) -> str:
    """Return why something is not known, for the middle of a sentence."""
    return str(error).rstrip(".")


# --- Tasks ------------------------------------------------------------------------------------------------------------


async def _tasks(debugger: Debugger, params: TasksList) -> TasksResult:
    session = debugger.program(params.session_id)
    try:
        found = (await session.probe.tasks(params.start, params.count)).answer
    except ProbeError as error:
        raise UsageError(
            "NOT_SUPPORTED",
            f"The tasks of this program are not known: {reason(error)}. Look at its threads with threads_list.",
            {"adapter": session.profile.name},
        ) from None
    shown = [_task_line(each) for each in found.tasks]
    kept = truncated(shown, MAX_RESULT_BYTES)
    left_out = max(0, found.total - params.start - len(kept))
    return TasksResult(kept, found.total, left_out, list(found.notes))


def _task_line(task: ProbeTask) -> TaskLine:
    chain = [f"{each.qualname or each.function} {each.file}:{each.line}" for each in task.chain]
    return TaskLine(task.name, task.library, task.state, chain, task.waits, task.depth)


TOOLS = (
    Tool(
        name="threads_list",
        title="Threads",
        description="The threads with their places and what they wait for; of Python programs as they are now, also "
        "while they run or are blocked, else as of the last stop.",
        params=ThreadsList,
        result=(ThreadsPayload, LiveThreads, LastThreads),
        run=_threads,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="tasks_list",
        title="Tasks",
        description="The asyncio tasks with what each awaits, or the nursery tree of a Trio program; also while it "
        "runs or is blocked.",
        params=TasksList,
        result=TasksResult,
        run=_tasks,
        read_only=True,
        idempotent=True,
        core=False,
    ),
)
