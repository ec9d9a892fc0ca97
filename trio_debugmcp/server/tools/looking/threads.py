"""The tools that show where threads and tasks are: also while the program runs, waits, or is blocked.

`stacks` has the tool for call stacks.
"""

from typing import Annotated

from msgspec import Meta

from trio_debugmcp.probe.answers import Deadlock
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.lines import task_line, task_locals, task_now, thread_line, thread_now
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import TaskNow, ThreadNow
from trio_debugmcp.server.tools.tool import MAX_RESULT_BYTES, Params, SessionId, Start, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.from_outside.silence import Unanswered
from trio_debugmcp.session.looking.program_threads import ThreadList
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import truncated

_ROOM_BYTES = MAX_RESULT_BYTES - 1000
"""For the lines of an answer; beside them are deadlocks and notes."""


_MOST_ENDS = 4
"""Of what may end a deadlock, as far as it is named."""

TaskName = Annotated[str | None, Meta(description="A task by its name in tasks_list, in place of a thread.")]


class ThreadsList(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


class TasksList(Params, frozen=True, kw_only=True):
    start: Start = 0
    count: Annotated[int, Meta(ge=1, le=10_000, description="How many tasks.")] = 200
    locals: Annotated[bool, Meta(description="With the variables of each frame of the user's code.")] = False
    session_id: SessionId = None


class ThreadsData(AnswerData, frozen=True, kw_only=True):
    """The first of `total` threads. `deadlocks`: ids of threads that wait for each other.

    `source`: who has seen them: probe, outside (py-spy), adapter or kernel; stop: they are as of the last stop.
    """

    threads: list[ThreadNow]
    deadlocks: list[list[int]]
    total: int
    source: str = "probe"


class ThreadLines(Answer, frozen=True, kw_only=True):
    """The threads, a line each: id, name, place, and what it waits for; `*` marks the active one.

    `deadlocks`: ids of threads that wait for each other; `omitted`: left out here.
    """

    full: ThreadsData | None = None
    threads: list[str]
    deadlocks: list[tuple[int, ...]] = []
    omitted: int = 0
    notes: list[str] = []


class TasksData(AnswerData, frozen=True, kw_only=True):
    """Tasks of asyncio or Trio, of `total`: each before those of its nurseries."""

    tasks: list[TaskNow]
    total: int


class TaskLines(Answer, frozen=True, kw_only=True):
    """The tasks of asyncio or Trio, a line each, indented as the nurseries are.

    A line has the task's name, what its coroutine awaits, frame by frame, and what it waits for. `locals`: of each task
    the variables of its frames, by the index and the function of each; the index is a `frame_index` beside the `task`.
    `omitted`: left out here; ask with `start`.
    """

    full: TasksData | None = None
    tasks: list[str]
    locals: list[dict[str, dict[str, str]]] = []
    omitted: int = 0
    notes: list[str] = []


# --- Threads ----------------------------------------------------------------------------------------------------------


async def _threads(debugger: Debugger, params: ThreadsList) -> ThreadLines:
    session = debugger.program(params.session_id)
    found = await session.looking.threads.threads()
    places = Places(debugger.workspace.directory)
    current = None if session.snapshot is None else session.snapshot.threads.current
    threads = [thread_now(thread, current) for thread in found.threads]
    kept = truncated((thread_line(places, thread) for thread in threads), _ROOM_BYTES)
    full = ThreadsData(
        threads=threads[: len(kept)],
        deadlocks=[list(deadlock.threads) for deadlock in found.deadlocks],
        total=found.total,
        source=found.source,
    )
    return ThreadLines(
        full=full,
        threads=kept,
        deadlocks=[deadlock.threads for deadlock in found.deadlocks],
        omitted=found.total - len(kept),
        notes=deadlock_notes(found) if found.failure is None else _notes(found, found.failure, session.snapshot),
    )


def _notes(found: ThreadList, failure: Unanswered, snapshot: Snapshot | None) -> list[str]:
    """Return a note on threads that the probe has not listed."""
    if found.source == "outside":
        return [outside_note(failure)]
    if failure.kind != "none":
        return [f"where the threads are now is not known: {failure.reason}. This is the last stop"]
    stale = snapshot is not None and snapshot.threads.stale
    return ["as of the last stop: the program runs"] if stale and found.threads else []


def deadlock_notes(found: ThreadList) -> list[str]:
    """Return a note on each circle of threads that wait for each other, as far as that is a deadlock."""
    return [deadlock_note(deadlock) for deadlock in found.deadlocks]


def deadlock_note(deadlock: Deadlock) -> str:
    """Return what is to be said of a circle of threads."""
    ids = ", ".join(map(str, deadlock.threads))
    wait = f"threads {ids} wait for each other"
    if len(deadlock.threads) == 1:
        wait = f"thread {ids} waits for what it holds itself"
    if deadlock.timed:
        return f"{wait}, until a timeout"
    if deadlock.loose:
        return f"{wait}: a deadlock, unless something else releases that"
    said = f"deadlock: {wait}" if deadlock.sure else f"probably a deadlock: {wait}"
    more = len(deadlock.ends) - _MOST_ENDS
    ends = [*deadlock.ends[:_MOST_ENDS], *([f"{more} more"] if more > 0 else [])]
    return f"{said}, unless it is ended by {', '.join(ends)}" if ends else said


def outside_note(failure: Unanswered) -> str:
    """Return a note that says where an answer is from, and why."""
    return f"seen from outside by py-spy, as {failure.reason}"


# --- Tasks ------------------------------------------------------------------------------------------------------------


async def _tasks(debugger: Debugger, params: TasksList) -> TaskLines:
    threads = debugger.program(params.session_id).looking.threads
    found = await threads.tasks(params.start, params.count, with_locals=params.locals)
    places = Places(debugger.workspace.directory)
    tasks = [task_now(task) for task in found.tasks]
    shown = truncated(((task_line(places, task), task_locals(task)) for task in tasks), _ROOM_BYTES)
    lines = [line for line, _ in shown]
    left_out = max(0, found.total - params.start - len(lines))
    full = TasksData(tasks=tasks[: len(lines)], total=found.total)
    values = [values for _, values in shown] if params.locals else []
    return TaskLines(full=full, tasks=lines, locals=values, omitted=left_out, notes=list(found.notes))


TOOLS = (
    Tool(
        name="threads_list",
        title="Threads",
        description=("All threads: where each is and what it waits for. Also while Python runs or hangs."),
        params=ThreadsList,
        run=_threads,
        read_only=True,
        idempotent=True,
    ),
    Tool(
        name="tasks_list",
        title="Tasks",
        description=(
            "The asyncio tasks with what each awaits and who has that, or the nursery tree of a Trio program. Also "
            "while it runs or hangs."
        ),
        params=TasksList,
        run=_tasks,
        read_only=True,
        idempotent=True,
        listing="core",
        unlisted=frozenset({"start", "count"}),
    ),
)
