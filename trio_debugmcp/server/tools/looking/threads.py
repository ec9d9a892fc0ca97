"""The tools that show where threads and tasks are: also while the program runs, waits, or is blocked.

They ask the probe inside the program (`session.probe`), where there is one; without it they show the last stop, or say
what they cannot. `stacks` has the tool for call stacks.
"""

from typing import Annotated

from msgspec import Meta

from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.probe.answers import ProbeError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.lines import live_thread_line, task_line, thread_line
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.tools.looking.silent import ask_or_look, outside_note
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.outside import Outside
from trio_debugmcp.session.looking.truncation import truncated

STATES = {"stopped": "Suspended", "waiting": "Waiting"}
"""The probe's words in the contract's; what runs, or may run, is Running."""

_ROOM_BYTES = MAX_RESULT_BYTES - 1000
"""For the lines of an answer; beside them are deadlocks and notes."""


class ThreadsList(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


class TasksList(Params, frozen=True, kw_only=True):
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many tasks.")] = 200
    session_id: SessionId = None


class ThreadLines(Answer, frozen=True, kw_only=True):
    """The threads, a line each: id, name, place, and what it waits for; `*` marks the active one.

    `deadlocks`: ids of threads that wait for each other; `omitted`: left out here.
    """

    threads: list[str]
    deadlocks: list[tuple[int, ...]] = []
    omitted: int = 0
    notes: list[str] = []


class TaskLines(Answer, frozen=True, kw_only=True):
    """The tasks of asyncio or Trio, a line each, indented as the nurseries are.

    A line has the task's name, what its coroutine awaits, frame by frame, and what it waits for. `omitted`: left out
    here; ask with `start`.
    """

    tasks: list[str]
    omitted: int = 0
    notes: list[str] = []


# --- Threads ----------------------------------------------------------------------------------------------------------


async def _threads(debugger: Debugger, params: ThreadsList) -> ThreadLines:
    session = debugger.program(params.session_id)
    places = Places(debugger.workspace.directory)
    try:
        found = await ask_or_look(debugger, session, session.probe.threads)
    except ProbeError as error:
        snapshot = session.snapshot
        if snapshot is None:
            raise no_session() from None
        last = snapshot.threads
        lines = [thread_line(places, each, last.current) for each in last.threads]
        kept = truncated(lines, _ROOM_BYTES)
        if not session.profile.has_probe:
            notes = ["as of the last stop: the program runs"] if last.stale and lines else []
        else:
            notes = [f"where the threads are now is not known: {reason(error)}. This is the last stop"]
        return ThreadLines(threads=kept, omitted=len(lines) - len(kept), notes=notes)
    current = session.snapshot.threads.current if session.snapshot is not None else None
    if isinstance(found, Outside):
        lines = [live_thread_line(places, each, current) for each in found.stacks.stacks]
        kept = truncated(lines, _ROOM_BYTES)
        return ThreadLines(threads=kept, omitted=found.stacks.total - len(kept), notes=[outside_note(found)])
    kept = truncated((live_thread_line(places, each, current) for each in found.threads), _ROOM_BYTES)
    deadlocks = [each.threads for each in found.deadlocks]
    return ThreadLines(threads=kept, deadlocks=deadlocks, omitted=found.total - len(kept))


def reason(error: Exception) -> str:
    """Return why something is not known, for the middle of a sentence."""
    return str(error).rstrip(".")


# --- Tasks ------------------------------------------------------------------------------------------------------------


async def _tasks(debugger: Debugger, params: TasksList) -> TaskLines:
    session = debugger.program(params.session_id)
    try:
        found = (await session.probe.tasks(params.start, params.count)).answer
    except ProbeError as error:
        raise UsageError(
            "NOT_SUPPORTED",
            f"The tasks of this program are not known: {reason(error)}. Look at its threads with threads_list.",
            {"adapter": session.profile.name},
        ) from None
    places = Places(debugger.workspace.directory)
    kept = truncated((task_line(places, each) for each in found.tasks), _ROOM_BYTES)
    left_out = max(0, found.total - params.start - len(kept))
    return TaskLines(tasks=kept, omitted=left_out, notes=list(found.notes))


TOOLS = (
    Tool(
        name="threads_list",
        title="Threads",
        description=("All threads: where each is and what it waits for. Also while a Python program runs or hangs."),
        params=ThreadsList,
        run=_threads,
        read_only=True,
        idempotent=True,
        listing="core",
    ),
    Tool(
        name="tasks_list",
        title="Tasks",
        description=(
            "The asyncio tasks with what each awaits, or the nursery tree of a Trio program. Also while it runs or "
            "hangs."
        ),
        params=TasksList,
        run=_tasks,
        read_only=True,
        idempotent=True,
    ),
)
