"""The state of everything, as one immutable value: `State` holds a `Snapshot` per session and the breakpoints.

A change makes new structs along the path to it and shares the rest, so two states can be compared cheaply and
whoever holds one sees a consistent picture. Only `reduce` makes new states.
"""

from typing import Literal

from msgspec import Struct

from trio_debugmcp.state.payloads import (
    BreakpointType,
    ExceptionInfo,
    LaunchMode,
    Location,
    PauseReason,
    SessionPhase,
    ThreadState,
    UnixTime,
    Variable,
)


class Origin(Struct, frozen=True):
    """How a session came to be, and what is known of its process."""

    adapter: str
    language: str
    launch_mode: LaunchMode
    attached_at: UnixTime
    process_id: int | None = None
    process_name: str | None = None
    executable_path: str | None = None
    runtime_version: str | None = None
    command_line_args: tuple[str, ...] = ()
    working_directory: str | None = None


class StackFrame(Struct, frozen=True):
    """A frame of one stop; `id` is the adapter's and dies at the next resume."""

    id: int
    name: str
    location: Location
    is_user_code: bool = True
    source_reference: int = 0


class Stop(Struct, frozen=True):
    """Why and where a session is paused. `number` counts the stops of all sessions, from 1."""

    number: int
    reason: PauseReason
    description: str | None
    thread_id: int
    location: Location | None
    breakpoint_ids: tuple[str, ...] = ()
    exception: ExceptionInfo | None = None


class Thread(Struct, frozen=True):
    """A thread as last seen."""

    id: int
    name: str | None
    state: ThreadState = "Suspended"
    location: Location | None = None


class Threads(Struct, frozen=True):
    """The threads at the last stop; `captured_at` is None before the first one."""

    threads: tuple[Thread, ...] = ()
    current: int | None = None
    captured_at: UnixTime | None = None
    stale: bool = True


class NamedScope(Struct, frozen=True):
    """A scope of the top frame; `reference` dies at the next resume."""

    name: str
    reference: int
    expensive: bool = False


class Stack(Struct, frozen=True):
    """The stopped thread's frames at the last stop. `locals` is None until they are fetched."""

    thread_id: int | None = None
    frames: tuple[StackFrame, ...] = ()
    total: int = 0
    scopes: tuple[NamedScope, ...] = ()
    locals: tuple[Variable, ...] | None = None
    captured_at: UnixTime | None = None
    stale: bool = True


class Module(Struct, frozen=True):
    """A loaded module."""

    id: int | str
    name: str
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    is_user_code: bool | None = None


class Snapshot(Struct, frozen=True):
    """One debug session.

    `generation` rises with every stop and resume: what was asked for in one is worth nothing in the next.
    `sources_loaded` counts what the adapter said of sources: those who follow the modules are told of it.
    """

    id: str
    origin: Origin
    parent: str | None = None
    phase: SessionPhase = "Starting"
    stop: Stop | None = None
    stepping: bool = False
    generation: int = 0
    threads: Threads = Threads()
    stack: Stack = Stack()
    modules: tuple[Module, ...] = ()
    sources_loaded: int = 0
    exit_code: int | None = None
    end_reason: str | None = None
    failed: bool = False


class Binding(Struct, frozen=True):
    """What one session's adapter made of a breakpoint. `hits` counts this session's."""

    session_id: str
    adapter_id: int | None = None
    verified: bool = False
    line: int | None = None
    column: int | None = None
    message: str | None = None
    hits: int = 0


class Breakpoint(Struct, frozen=True):
    """A line or function breakpoint of the user's; it outlives sessions. `hits` counts all sessions since launch.

    A `temporary` one serves a single run and is shown to nobody.
    """

    id: str
    type: BreakpointType = "Breakpoint"
    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    enabled: bool = True
    temporary: bool = False
    hits: int = 0
    problem: str | None = None
    bindings: tuple[Binding, ...] = ()

    @property
    def always_stops(self) -> bool:
        """Whether it stops at every hit: it is on, and has neither a condition nor a message to write instead."""
        return self.enabled and not (self.condition or self.hit_condition or self.log_message)


class ExceptionBreakpoint(Struct, frozen=True):
    """Stop when an exception is raised (first chance) or nobody catches it (second chance)."""

    id: str
    exception_type: str = "*"
    first_chance: bool = True
    second_chance: bool = True
    include_subtypes: bool = True
    condition: str | None = None
    enabled: bool = True
    hits: int = 0
    problem: str | None = None
    session_ids: tuple[str, ...] = ()


class State(Struct, frozen=True):
    """Everything. `last` is the root session that ended last, as it was at its end.

    What the program wrote and what happened is kept in rings outside; `written` and `happened` mark how far they are.
    """

    snapshots: tuple[Snapshot, ...] = ()
    focus: str | None = None
    stops: int = 0
    breakpoints: tuple[Breakpoint, ...] = ()
    exceptions: tuple[ExceptionBreakpoint, ...] = ()
    last: Snapshot | None = None
    written: int = 0
    happened: int = 0

    @property
    def focused(self) -> Snapshot | None:
        """The session that resources and tools speak of unless told otherwise."""
        return None if self.focus is None else self.snapshot(self.focus)

    @property
    def root(self) -> Snapshot | None:
        """The session that was launched or attached to, of which the others are children."""
        return next((snapshot for snapshot in self.snapshots if snapshot.parent is None), None)

    def snapshot(self, session_id: str) -> Snapshot | None:
        """The session with that id, while it lives."""
        return next((snapshot for snapshot in self.snapshots if snapshot.id == session_id), None)


ResumeKind = Literal["continue", "step"]
