"""What can happen to the state: the messages that `reduce` takes.

They come from three sides: what a debug adapter says, what our own tasks did or fetched, and what the user asked for.
"""

from typing import Any

from msgspec import Struct

from trio_debugmcp.dap.messages import DapBreakpoint, EventBody
from trio_debugmcp.state.model import (
    Breakpoint,
    ExceptionBreakpoint,
    NamedScope,
    Origin,
    ResumeKind,
    StackFrame,
    Thread,
)
from trio_debugmcp.state.payloads import ExceptionInfo, Location, PauseReason, UnixTime, Variable


class Change(Struct, frozen=True):
    """The base of what `reduce` takes."""


class Happening(Struct, frozen=True):
    """Something worth a line in the timeline. It gets its number and its time when it is recorded."""

    type: str
    payload: dict[str, Any]
    thread_id: int | None = None


class Happened(Change, frozen=True):
    """Something for the timeline that changes nothing else: a tool was called, a client came or went."""

    what: Happening


class SessionOpened(Change, frozen=True):
    """A session begins; its state is Starting."""

    session_id: str
    origin: Origin
    parent: str | None = None


class OriginLearned(Change, frozen=True):
    """Something about the session's process became known."""

    session_id: str
    runtime_version: str | None = None


class SessionStarted(Change, frozen=True):
    """The adapter has been configured and the program may run."""

    session_id: str


class SessionClosed(Change, frozen=True):
    """The session is over and cleaned up; whatever children are left go with it. `failed`: nobody wanted it to end."""

    session_id: str
    reason: str
    exit_code: int | None = None
    failed: bool = False


class EventReceived(Change, frozen=True):
    """An event of the debug adapter, with the time of its arrival."""

    session_id: str
    body: EventBody
    at: UnixTime


class Resumed(Change, frozen=True):
    """We are about to resume the program."""

    session_id: str
    kind: ResumeKind = "continue"


class ResumeRefused(Change, frozen=True):
    """The adapter refused to resume: the stop before `Resumed` still stands."""

    session_id: str
    generation: int


class StopExamined(Change, frozen=True):
    """A stop that counts, with what was found there. `hit_ids` are the adapter's breakpoint ids, if it gave any."""

    session_id: str
    generation: int
    at: UnixTime
    reason: PauseReason
    thread_id: int
    description: str | None = None
    hit_ids: tuple[int, ...] | None = None
    exception: ExceptionInfo | None = None
    exception_breakpoints: tuple[str, ...] = ()
    frames: tuple[StackFrame, ...] = ()
    total_frames: int = 0
    threads: tuple[Thread, ...] = ()


class LocalsFetched(Change, frozen=True):
    """The scopes and locals of the top frame."""

    session_id: str
    generation: int
    scopes: tuple[NamedScope, ...]
    locals: tuple[Variable, ...]


class ThreadsLocated(Change, frozen=True):
    """Where the other threads are."""

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
    """A breakpoint of any kind was switched on or off."""

    id: str
    enabled: bool


class BreakpointsRemoved(Change, frozen=True):
    """Breakpoints of any kind are gone."""

    ids: frozenset[str]


class BreakpointsBound(Change, frozen=True):
    """What a session's adapter answered about breakpoints, by our ids. None: it was not sent there."""

    session_id: str
    results: tuple[tuple[str, DapBreakpoint | None], ...]


class ExceptionBreakpointsBound(Change, frozen=True):
    """Which exception breakpoints a session watches for now."""

    session_id: str
    ids: frozenset[str]
    problem: str | None = None


class BreakpointLogged(Change, frozen=True):
    """A breakpoint with a log message was passed, and wrote it."""

    session_id: str
    breakpoint: str
    text: str = ""


class WrittenPiece(Struct, frozen=True):
    """What a stream brought since it was last told of: how its text begins, and its length."""

    stream: str
    beginning: str
    length: int


class OutputWritten(Change, frozen=True):
    """The program has written. `total` counts the characters of the session tree."""

    session_id: str
    total: int
    pieces: tuple[WrittenPiece, ...]


class BreakpointFaulted(Change, frozen=True):
    """A condition failed when it was evaluated. The breakpoint is found by the condition's text."""

    session_id: str
    condition: str
    problem: str
