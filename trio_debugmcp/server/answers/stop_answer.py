"""`StopAnswer`, the answer of every tool that moves the program: all that is needed to decide what to do next.

`StopData` is the same as data. `answers/stop.py` makes both.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from msgspec.structs import replace

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import (
    ChildSession,
    ExceptionInfo,
    Frame,
    Listening,
    Location,
    OutputEntry,
    Payload,
    SourceLine,
    Variable,
    iso_time,
)
from trio_debugmcp.state.stack_view import frame_payload
from trio_debugmcp.state.stop_resource import DataChangePayload


class ThreadNow(Payload, frozen=True):
    """A thread of the program. `state`: Suspended, Running, Waiting or Exited; `waitsFor` in words, if it is known."""

    id: int
    name: str | None
    state: str
    is_current: bool
    location: Location | None
    waits_for: str | None


class TaskFrameLocals(Payload, frozen=True):
    """The first variables of a frame of a task, of so many in `total`."""

    frame_index: int
    variables: list[Variable]
    total: int


class TaskNow(Payload, frozen=True):
    """A task of asyncio or Trio, `depth` nurseries deep. `frames`: from its coroutine to the innermost it awaits.

    `indexes`: of its frames, 0 for the innermost; `omitted` frames are missing between them.
    """

    name: str
    library: str
    depth: int
    state: str
    waits_for: str | None
    thread_id: int | None
    frames: list[Frame]
    indexes: list[int] = []
    omitted: int = 0
    locals: list[TaskFrameLocals] = []


class ShownValue(Payload, frozen=True):
    """What an expression has come to, or the error; null is the value of statements, which have none."""

    expression: str
    value: str | None
    type: str | None
    error: str | None


class CausePayload(Payload, frozen=True):
    """An exception behind another one, and where it was raised. `way`: cause, context or member (of a group)."""

    way: str
    exception: str
    location: Location | None


class StopData(AnswerData, frozen=True, kw_only=True):
    """Where the program is now; its keys are those of `debugger://stop/{n}`, as far as that has them.

    `frames`, `locals`, `threads` and `tasks` are the first of as many as `totalFrames`, … `totalTasks` say.
    `globals`: those that the statement at hand reads.
    `output`: what was written since the last stop that the caller has seen; `outputDropped`: characters before that, by
    stream. `show`: the values of the expressions that were asked for. `endReason`: of a session that has ended
    otherwise than its program did.
    """

    same: ClassVar[tuple[str, ...]] = (
        "notes",
        "state",
        "reason",
        "handling",
        "exit_code",
        "signal",
        "timed_out",
        "instruction",
    )

    state: str = ""
    reason: str | None = None
    stop: int | None = None
    session_id: str | None = None
    process_id: int | None = None
    process_name: str | None = None
    captured_at: str | None = None
    breakpoint_ids: list[str] = []
    data_changes: list[DataChangePayload] = []
    exception: ExceptionInfo | None = None
    causes: list[CausePayload] = []
    handling: str | None = None
    operands: list[Variable] = []
    location: Location | None = None
    thread_id: int | None = None
    frames: list[Frame] = []
    total_frames: int = 0
    locals: list[Variable] | None = None
    total_locals: int = 0
    globals: list[Variable] = []
    returned: list[Variable] = []
    source: list[SourceLine] = []
    instruction: str | None = None
    show: list[ShownValue] = []
    output: list[OutputEntry] = []
    output_dropped: dict[str, int] = {}
    end_reason: str | None = None
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    threads: list[ThreadNow] = []
    total_threads: int = 0
    tasks: list[TaskNow] = []
    total_tasks: int = 0
    listening: Listening | None = None
    sessions: list[ChildSession] = []


A = TypeVar("A", bound=Answer)


def with_data(answer: A, **changes: Any) -> A:
    """Return an answer whose data has these changes, too."""
    full = answer.full if isinstance(answer.full, StopData) else StopData()
    return replace(answer, full=replace(full, **changes))


def paused_data(snapshot: Snapshot, most_frames: int, locals_: Sequence[Variable] | None, total: int) -> StopData:
    """Return the data of a stop, with as many frames, and these locals of so many."""
    stop, stack = snapshot.stop, snapshot.stack
    if stop is None:
        raise AssertionError("a paused session has a stop")
    return StopData(
        stop=stop.number,
        session_id=snapshot.id,
        process_id=snapshot.origin.process_id,
        process_name=snapshot.origin.process_name,
        captured_at=None if stack.captured_at is None else iso_time(stack.captured_at),
        breakpoint_ids=list(stop.breakpoint_ids),
        data_changes=[
            DataChangePayload(change.breakpoint, change.expression, change.before, change.after, change.note)
            for change in stop.changes
        ],
        exception=stop.exception,
        handling=stop.handling,
        location=stop.location,
        thread_id=stop.thread_id,
        frames=[frame_payload(index, frame) for index, frame in enumerate(stack.frames[:most_frames])],
        total_frames=max(stack.total, len(stack.frames)),
        locals=None if locals_ is None else list(locals_),
        total_locals=total,
        globals=[] if stack.locals is None else list(stack.locals.globals),
        returned=[] if stack.locals is None else list(stack.locals.returned),
    )


def of_process(snapshot: Snapshot) -> StopData:
    """Return the data of a program of which no more is known than which it is."""
    origin = snapshot.origin
    return StopData(session_id=snapshot.id, process_id=origin.process_id, process_name=origin.process_name)


def output_data(news: Sequence[OutputEntry], lost: Mapping[str, int], most_characters: int) -> dict[str, Any]:
    """Return the end of what each stream got, and how many characters before that are left out."""
    dropped = dict(lost)
    room: dict[str, int] = {}
    kept: list[OutputEntry] = []
    for entry in reversed(news):
        left = room.setdefault(entry.stream, most_characters)
        shown = entry.text[-left:] if left else ""
        room[entry.stream] = left - len(shown)
        if len(shown) < len(entry.text):
            dropped[entry.stream] = dropped.get(entry.stream, 0) + len(entry.text) - len(shown)
        if shown:
            kept.append(replace(entry, text=shown))
    return {"output": kept[::-1], "output_dropped": dropped}


FRAMES_BELOW = 5
"""Frames below the current one: enough to see how execution got here."""

EXCERPT_LINES = 2
"""Lines of source on either side of the current one."""


class StopAnswer(Answer, frozen=True, kw_only=True):
    """Where the program is now. `state`: Paused, Running or Disconnected; `reason` as pauseReason, or Exited.

    `stack`: the top frames below `at`; `omitted`: how many of what were left out; `notes`: what is not expected.
    `globals`: those that the statement at hand reads, without modules, classes and functions.
    `operands`: of the assertion that failed, but those that are locals. `tasks`: of asyncio and Trio, where loops wait.
    `says`: what the program or its debug adapter says of the stop: no words of this server.
    `engine`: what debugs a launched program, if that is not the default of its Python. `run`: as which it is recorded.
    `labels`: what tells its process from its siblings. `moment`: which stop it is, for cards; not in the answer itself.
    """

    full: StopData | None = None
    state: str
    reason: str | None = None
    breakpoints: tuple[str, ...] = ()
    exception: str | None = None
    mode: str | None = None
    caught_by: str | None = None
    handling: str | None = None
    says: str | None = None
    causes: list[str] = []
    operands: dict[str, str] = {}
    thread: str | None = None
    at: str | None = None
    stack: list[str] = []
    changed: dict[str, str] = {}
    returned: dict[str, str] = {}
    yielded: dict[str, str] = {}
    locals: dict[str, str] = {}
    globals: dict[str, str] = {}
    source: str | None = None
    instruction: str | None = None
    show: dict[str, str] = {}
    stdout: str = ""
    stderr: str = ""
    log: str = ""
    console: str = ""
    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    threads: list[str] = []
    tasks: list[str] = []
    listening: str | None = None
    sessions: list[str] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []
    session: str | None = None
    labels: str | None = None
    pid: int | None = None
    engine: str | None = None
    run: str | None = None
    moment: str | None = None
