"""The changes: everything that `reduce` can merge into the state.

Changes come from three sides: what a debug adapter reports, what our own tasks did or fetched, and what the user asked
for. To add one, define it here, register its reduction in reduce.py, and check in timeline_events.py whether it is an
event.
"""

from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import BreakpointEvent, DapBreakpoint, EventBody, LoadedSource, ModuleEvent, ThreadEvent
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint, RunPlace
from trio_debugmcp.state.captures import Capture
from trio_debugmcp.state.labels import Labels
from trio_debugmcp.state.model import DataChange, Locals, Origin, Reading, ResumeKind, SourceText, StackFrame, Thread
from trio_debugmcp.state.payloads import ExceptionInfo, Location, PauseReason, UnixTime
from trio_debugmcp.state.recorded_runs import KeptRun


class Change(Struct, frozen=True):
    """The base of all changes; `reduce` is registered for each subclass."""


MAX_TEXT_LENGTH = 200
"""Characters of a text in an event: a line on a screen. The whole is where the text comes from."""


class Happening(Struct, frozen=True):
    """A timeline event before it is recorded, which gives it its number and its time."""

    type: str
    payload: dict[str, Any]
    thread_id: int | None = None


class Happened(Change, frozen=True):
    """A timeline event that changes nothing else: a tool was called, a client connected or disconnected."""

    what: Happening


class SessionOpened(Change, frozen=True):
    """A session begins; its phase is Starting. Without a `parent` it is the root of a session tree beside others."""

    session_id: str
    origin: Origin
    parent: str | None = None
    outlives_parent: bool = False


class OriginLearned(Change, frozen=True):
    """The version of the session's runtime became known, its process's id, or the `engine` that debugs it.

    `labels`: what tells its process from its siblings; all that are known now.
    """

    session_id: str
    runtime_version: str | None = None
    process_id: int | None = None
    engine: str | None = None
    engine_is_usual: bool = True
    labels: Labels | None = None


class SessionStarted(Change, frozen=True):
    """The adapter has been configured and the program may run."""

    session_id: str


class SessionClosed(Change, frozen=True):
    """The session is over and cleaned up, and so are the children it still has.

    `failed`: it ended because of an error, not because the program ended or a client asked for it. `killed`: the
    debugger ended the program, so an exit code that was reported is not the program's own.
    """

    session_id: str
    reason: str
    exit_code: int | None = None
    failed: bool = False
    killed: bool = False


class FocusMoved(Change, frozen=True):
    """A client that controls programs has been answered about this session; it may be of another program."""

    session_id: str


class EventReceived(Change, frozen=True):
    """The debug adapter sent an event."""

    session_id: str
    body: EventBody


Report = BreakpointEvent | ThreadEvent | ModuleEvent | LoadedSource
"""An event after which nothing has to be done: many at once are one change, however many an adapter sends."""


class ReportsReceived(Change, frozen=True):
    """The debug adapter sent these events one after the other, and nothing between them."""

    session_id: str
    bodies: tuple[Report, ...]


class Resumed(Change, frozen=True):
    """A resume request is about to be sent. Merged before it, because `stopped` may overtake the response."""

    session_id: str
    kind: ResumeKind = "continue"


class ResumeRefused(Change, frozen=True):
    """The adapter refused to resume: the session is still at the stop before `Resumed`.

    `generation` is the one that `Resumed` opened.
    """

    session_id: str
    generation: int


class StopExamined(Change, frozen=True):
    """A stop that is to be shown, with what was found there.

    `generation` is the one that the `stopped` event opened. `hit_ids` are the adapter's breakpoint ids, if it sent any;
    `exception_breakpoints` are our ids, `not_hit` those of breakpoints that only share the line with one that was,
    `skipped_frames` are above `frames`, and `counted` those breakpoints whose hits the program counts, with their
    number. `data`: of a stop at data breakpoints, what they saw. `sources`: of the files of the frames, as far as kept.
    `is_explained`: the description is our own sentence. `handling`: the exception in whose `except` or `finally` the
    program is, in the frame at hand. `remarks`: what else is to be said of the exception.
    """

    session_id: str
    generation: int
    at: UnixTime
    reason: PauseReason
    thread_id: int
    description: str | None = None
    is_explained: bool = False
    hit_ids: tuple[int, ...] | None = None
    exception: ExceptionInfo | None = None
    remarks: tuple[str, ...] = ()
    exception_breakpoints: tuple[str, ...] = ()
    not_hit: tuple[str, ...] = ()
    counted: tuple[tuple[str, int], ...] = ()
    frames: tuple[StackFrame, ...] = ()
    total_frames: int = 0
    skipped_frames: int = 0
    threads: tuple[Thread, ...] = ()
    locals: Locals | None = None
    data: tuple[DataChange, ...] | None = None
    sources: tuple[SourceText, ...] = ()
    handling: str | None = None


class LocalsFetched(Change, frozen=True):
    """The scopes and locals of the top frame arrived."""

    session_id: str
    generation: int
    locals: Locals


class VariablesRead(Change, frozen=True):
    """A client has read something at a stop."""

    session_id: str
    generation: int
    reading: Reading


class ThreadsLocated(Change, frozen=True):
    """The locations of threads other than the stopped one arrived, by thread id."""

    session_id: str
    generation: int
    locations: tuple[tuple[int, Location], ...]


class BreakpointPut(Change, frozen=True):
    """A breakpoint was set or replaced."""

    breakpoint: Breakpoint


class ExceptionBreakpointPut(Change, frozen=True):
    """An exception breakpoint was set or replaced."""

    breakpoint: ExceptionBreakpoint


class BreakpointEnabled(Change, frozen=True):
    """A breakpoint of any kind was switched on or off. One that becomes active again has this version from then on."""

    id: str
    enabled: bool
    version: int = 0


class BreakpointsHeld(Change, frozen=True):
    """These breakpoints are not to stop a program until its run is over, and none of the others is held any more.

    `program`: the root session of it; None: all programs.
    """

    ids: frozenset[str]
    program: str | None = None


class RunPlacePut(Change, frozen=True):
    """A run is to stop at a place, or to observe it."""

    place: RunPlace


class RunPlacesWithdrawn(Change, frozen=True):
    """Adapters must not have these places of a run any more. `releases`: no breakpoint is held any more."""

    ids: frozenset[str]
    releases: bool = False


class RunPlacesRemoved(Change, frozen=True):
    """The run of these places is over."""

    ids: frozenset[str]


class BreakpointsRemoved(Change, frozen=True):
    """Breakpoints of any kind were removed."""

    ids: frozenset[str]


class BreakpointsBound(Change, frozen=True):
    """A session's adapter answered about breakpoints, by our ids. None: the breakpoint was not sent to it.

    `remarks`: what is to be said of some whatever the adapter says.
    """

    session_id: str
    results: tuple[tuple[str, DapBreakpoint | None], ...]
    remarks: tuple[tuple[str, str], ...] = ()


class ExceptionBreakpointsBound(Change, frozen=True):
    """A session's adapter now watches for these exception breakpoints only. `problem`: why it refused them.

    `unknown`: those of them whose type the program does not have yet.
    """

    session_id: str
    ids: frozenset[str]
    problem: str | None = None
    unknown: frozenset[str] = frozenset()
    problems: tuple[tuple[str, str], ...] = ()


class BreakpointLogged(Change, frozen=True):
    """A breakpoint with a log message was passed and wrote `text`."""

    session_id: str
    breakpoint: str
    text: str = ""


class RecordedHit(Struct, frozen=True):
    """A hit that did not stop the program, the `hits`th of its breakpoint in the session; `text` if it wrote some."""

    breakpoint: str
    hits: int
    text: str | None = None


class RunKept(Change, frozen=True):
    """The recording of a run has begun, or has come to its end."""

    run: KeptRun


class KeptRunMeasured(Change, frozen=True):
    """A run that is over takes another number of bytes by now: what makes questions to it fast was added."""

    id: str
    size: int


class KeptRunsRemoved(Change, frozen=True):
    """Recorded runs that are kept no longer."""

    ids: frozenset[str]


class HitsRecorded(Change, frozen=True):
    """The program, which counts them itself, has recorded hits of breakpoints; in order."""

    session_id: str
    hits: tuple[RecordedHit, ...]


class WrittenPiece(Struct, frozen=True):
    """Output of one stream since the last `OutputWritten`: how the text begins, as shown, and its whole length."""

    stream: str
    beginning: str
    length: int


class OutputWritten(Change, frozen=True):
    """The program wrote output. `total` counts the characters of its whole session tree so far."""

    session_id: str
    total: int
    pieces: tuple[WrittenPiece, ...]


class BreakpointFaulted(Change, frozen=True):
    """Evaluating a condition failed. Adapters report its text, not the breakpoint: then all that have it are meant."""

    session_id: str
    condition: str
    problem: str
    breakpoint: str | None = None


class CaptureTaken(Change, frozen=True):
    """The variables of a frame were captured; it is kept as long as their session lives, and there is room."""

    capture: Capture


class CapturesRemoved(Change, frozen=True):
    """Captures were deleted."""

    ids: frozenset[str]
