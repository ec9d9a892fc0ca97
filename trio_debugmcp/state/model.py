"""The state of everything, as one immutable value: `State` holds a `Snapshot` per session and the breakpoints.

A change makes new structs along the path to it and shares the rest, so two states can be compared cheaply, and a task
that holds one sees a consistent picture. Only `reduce` makes new states.

Long because it is the list of what is known: a struct for each thing, and the fields say what it is made of.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Literal

from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint, RunPlace, StopPlace
from trio_debugmcp.state.captures import Capture
from trio_debugmcp.state.labels import Labels
from trio_debugmcp.state.payloads import (
    ExceptionInfo,
    LaunchMode,
    Location,
    PauseReason,
    SessionPhase,
    ThreadState,
    UnixTime,
    Variable,
)
from trio_debugmcp.state.people.party import People
from trio_debugmcp.state.recorded_runs import KeptRun
from trio_debugmcp.state.remembered import remembered
from trio_debugmcp.state.session_index import place_of


class Origin(Struct, frozen=True):
    """How a session was started, and what is known about its process.

    `listens`: it has no process, but waits for programs that dial in; the name is its address. `stop_at`: the break
    modes in which any exception stops it, though no breakpoint asks for it; `fails_with`: types of exceptions that do,
    or with `fails_below` that do in processes which it starts. `launches`: its program is its first child.
    `core_file`: what it looks at does not run. `engine`: what debugs it, where its adapter has several, and
    whether that is the usual one of its Python.
    `labels`: what tells its process from its siblings.
    """

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
    listens: bool = False
    stop_at: tuple[str, ...] = ()
    fails_with: tuple[str, ...] = ()
    fails_below: bool = False
    launches: bool = False
    core_file: str | None = None
    engine: str | None = None
    engine_is_usual: bool = True
    labels: Labels = {}

    @property
    def unusual_engine(self) -> str | None:
        """What debugs it, if that is worth a word."""
        return None if self.engine_is_usual else self.engine

    @property
    def fails_here(self) -> tuple[str, ...]:
        """Types of exceptions that stop this session's own program."""
        return () if self.fails_below else self.fails_with

    @property
    def has_program(self) -> bool:
        """Whether the session has a program itself, rather than in its children."""
        return not (self.listens or self.launches)


class StackFrame(Struct, frozen=True):
    """A frame of one stop; `id` is the adapter's and is invalid after the next resume.

    `instruction` is the address of the instruction that it is at, where the adapter knows one. `label` is what the
    adapter calls it, which may say more than the `name` of its function.
    """

    id: int
    name: str
    location: Location
    is_user_code: bool = True
    source_reference: int = 0
    instruction: str | None = None
    label: str = ""


class DataChange(Struct, frozen=True):
    """What a data breakpoint saw at a stop: a value before and after, as far as they are known.

    `note`: what is not as it was when it was set.
    """

    breakpoint: str
    expression: str
    before: str | None = None
    after: str | None = None
    note: str | None = None


class Stop(Struct, frozen=True):
    """Why and where a session is paused. `number` counts the stops of all sessions, from 1.

    `is_explained`: the description is this server's sentence; else it is what the debug adapter says. `handling`: the
    exception in whose `except` or `finally` the frame at hand is, as `KeyError: 'a'`, where that is known. `remarks`:
    what else is to be said of the `exception`.
    """

    number: int
    reason: PauseReason
    description: str | None
    thread_id: int
    location: Location | None
    breakpoint_ids: tuple[str, ...] = ()
    exception: ExceptionInfo | None = None
    remarks: tuple[str, ...] = ()
    changes: tuple[DataChange, ...] = ()
    is_explained: bool = False
    handling: str | None = None

    @property
    def adapter_says(self) -> str | None:
        """What the adapter says of the stop beside what it says of an exception: no words of this server."""
        return None if self.is_explained or self.exception is not None else self.description


class Thread(Struct, frozen=True):
    """A thread as of the last stop, or of a `thread` event since. `location` is known at a stop only."""

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
    """A scope of the top frame; `reference` is the adapter's and is invalid after the next resume."""

    name: str
    reference: int
    expensive: bool = False


class Locals(Struct, frozen=True):
    """The scopes of the top frame, and its locals: as many as are kept, and how many there are.

    `globals` are those that the statement at hand reads, as far as that is known. `returned` are the results of
    functions that were called or left by the step that led here. `hidden`: how many frames of which packages the
    debugger leaves out of the stack. `raised`: where the exception of the stop was raised, if it has left that frame;
    `raised_in_library`: that is one of a library's.
    """

    scopes: tuple[NamedScope, ...] = ()
    variables: tuple[Variable, ...] = ()
    total: int = 0
    globals: tuple[Variable, ...] = ()
    returned: tuple[Variable, ...] = ()
    hidden: Mapping[str, int] = {}
    raised: Location | None = None
    raised_in_library: bool = False


class Stack(Struct, frozen=True):
    """The stopped thread's frames at the last stop. `locals` is None until they are fetched.

    `skipped` frames above these only raise the exception, and are not shown.
    """

    thread_id: int | None = None
    frames: tuple[StackFrame, ...] = ()
    total: int = 0
    locals: Locals | None = None
    captured_at: UnixTime | None = None
    stale: bool = True
    skipped: int = 0


class Module(Struct, frozen=True):
    """A loaded module; `id` is the adapter's and stays the same as long as the module is loaded."""

    id: int | str
    name: str
    path: str | None = None
    version: str | None = None
    symbol_status: str | None = None
    is_user_code: bool | None = None


_LISTED_THREADS = 50
"""Thread ids named in an error message; a pool has hundreds."""


class Snapshot(Struct, frozen=True):
    """One debug session.

    `generation` increases with every stop and resume: the answer to a request of an earlier generation is dropped.
    `sources_loaded` counts the adapter's `loadedSource` events, which notify the subscribers of the modules.
    `dialed_in` counts the programs that have dialed in to a session that listens. `failed` is set if the session ended
    because the connection to its adapter was lost, or because of an error. `lost` says why the program, which lives, is
    out of the debugger's reach. `written` is the position of the end of the
    output, which all sessions of a tree share.
    """

    id: str
    origin: Origin
    parent: str | None = None
    outlives_parent: bool = False
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
    lost: str | None = None
    dialed_in: int = 0
    written: int = 0

    def active_thread(self, thread_id: int | None) -> int:
        """Return the thread with that id, or without an id the one that stopped.

        Raises:
            UsageError: `INVALID_THREAD`.
        """
        if thread_id is None:
            return self.stop.thread_id if self.stop is not None else 0
        known = [thread.id for thread in self.threads.threads]
        if known and thread_id not in known:
            listed = ", ".join(map(str, known[:_LISTED_THREADS]))
            raise UsageError(
                "INVALID_THREAD", f"There is no thread {thread_id}. Threads: {listed}.", {"threads": known}
            )
        return thread_id


# --- Stops that are kept ----------------------------------------------------------------------------------------------


class Departed(Struct, frozen=True):
    """A process that has ended before the program `root` that it comes from. `killed`: by the debugger."""

    id: str
    root: str
    labels: Labels
    process_id: int | None
    exit_code: int | None
    reason: str
    killed: bool = False


class SourceText(Struct, frozen=True):
    """The text of a file as it ran at a stop; `version` is equal if the text is."""

    path: str
    version: str
    text: str


class Reading(Struct, frozen=True):
    """What a client read at a stop, beside what the stop itself shows.

    `of`: variables of a frame, by scope, or with `path` those inside of one; or the value of the expression that is the
    `path`. `start` is the position of the first of `variables`, of which there are `total`.
    """

    of: Literal["variables", "value"]
    thread_id: int
    frame_index: int
    scope: str | None
    path: str | None
    start: int
    variables: tuple[Variable, ...]
    total: int


class KeptStop(Struct, frozen=True, kw_only=True):
    """A stop with what was read there, which stays when the program has resumed, and when its session has ended.

    `stack` and `threads` are those of the session's snapshot, as they were last read at this stop. `changed` are the
    locals that differ from the stop `compared_with`, the one before of the same call, with what they were; None: new.
    `total_threads` counts all of them, kept or not, `unkept` the readings that there was no room for. `size`: bytes in
    memory, without the sources.
    """

    stop: Stop
    session_id: str
    process_name: str | None
    process_id: int | None
    threads: Threads
    total_threads: int
    stack: Stack
    changed: tuple[tuple[str, str | None], ...] = ()
    compared_with: int | None = None
    sources: tuple[SourceText, ...] = ()
    readings: tuple[Reading, ...] = ()
    unkept: int = 0
    revision: int = 1
    size: int = 0


class KeptStops(Struct, frozen=True):
    """The last stops of all sessions, by their numbers, without a gap; `last` is the number of the last stop there was.

    `users` has how many of the stops each of the sources is of; `size` counts each source once.
    """

    stops: tuple[KeptStop, ...] = ()
    last: int = 0
    users: tuple[tuple[SourceText, int], ...] = ()
    size: int = 0

    @property
    def first(self) -> int:
        """The number of the oldest stop that is kept; if none is, that of the next one."""
        return self.stops[0].stop.number if self.stops else self.last + 1

    @property
    def dropped(self) -> int:
        """How many stops are kept no longer."""
        return self.last - len(self.stops)

    def find(self, number: int) -> KeptStop | None:
        """The stop with that number, as long as it is kept."""
        return self.stops[number - self.first] if self.first <= number <= self.last and self.stops else None


class State(Struct, frozen=True):
    """The whole state: a snapshot per live session, parents before their children, and the breakpoints.

    `stops` counts the stops of all sessions. `ended` are the last root sessions that have ended, as they were at their
    end. Output and timeline events are kept in ring buffers outside; `Snapshot.written` and `happened` are the
    positions of their ends, so that comparing two states shows whether there is something new in them. `captures` are
    what users call snapshots; `kept` are the last stops, as they were. `people` is who is at the server, and what was
    said. `run_places` are those of the runs under way; `runs` those that were recorded, whose sessions may have ended.
    `departed` are the last processes that have ended before the programs that they come from.
    """

    snapshots: tuple[Snapshot, ...] = ()
    focus: str | None = None
    stops: int = 0
    breakpoints: tuple[Breakpoint, ...] = ()
    run_places: tuple[RunPlace, ...] = ()
    exceptions: tuple[ExceptionBreakpoint, ...] = ()
    ended: tuple[Snapshot, ...] = ()
    happened: int = 0
    captures: tuple[Capture, ...] = ()
    kept: KeptStops = KeptStops()
    people: People = People()
    runs: tuple[KeptRun, ...] = ()
    departed: tuple[Departed, ...] = ()

    @property
    def every_breakpoint(self) -> list[Breakpoint | ExceptionBreakpoint]:
        """The user's breakpoints of all kinds."""
        return [*self.breakpoints, *self.exceptions]

    @property
    def stop_places(self) -> tuple[StopPlace, ...]:
        """What adapters are to have: the user's breakpoints, and the places of runs."""
        return (*self.breakpoints, *self.run_places)

    @property
    def focused(self) -> Snapshot | None:
        """The session that resources and tools refer to unless a request names another."""
        return None if self.focus is None else self.snapshot(self.focus)

    @property
    def last(self) -> Snapshot | None:
        """The root session that ended last."""
        return self.ended[-1] if self.ended else None

    def end_of(self, root_id: str) -> Snapshot | None:
        """A root session that has ended, as it was at its end; None if that is too long ago."""
        return next((snapshot for snapshot in self.ended if snapshot.id == root_id), None)

    @property
    def root(self) -> Snapshot | None:
        """The session that was launched or attached to, of which the one in focus comes."""
        return None if self.focus is None else self.snapshot(self.root_of(self.focus) or "")

    def roots(self) -> Mapping[str, str]:
        """The id of every session, with that of the root it comes from; one whose parent has ended is a root."""
        return roots_of(self.snapshots)

    @property
    def shown(self) -> tuple[Snapshot, ...]:
        """The sessions without those that only launch: their programs, which are children, stand for them."""
        return tuple(snapshot for snapshot in self.snapshots if not snapshot.origin.launches)

    @property
    def shows_several(self) -> bool:
        """Whether more than one session is shown; of a thousand only the first ones are looked at."""
        return len([*islice((snapshot for snapshot in self.snapshots if not snapshot.origin.launches), 2)]) > 1

    def places_of(self, session_id: str) -> list[StopPlace]:
        """What the adapter of a session is to have, as it is meant for its program."""
        program = self.root_of(session_id) or ""
        meant = (place for place in (*self.breakpoints, *self.run_places) if place.spec.is_for(session_id))
        places = (place.seen_by(program) for place in meant)
        return [place for place in places if place is not None]

    def program_of(self, session_id: str) -> str:
        """The first child of a session that only launches, as long as there is one; else the session itself."""
        launcher = self.snapshot(session_id)
        if launcher is None or not launcher.origin.launches:
            return session_id
        return next((snapshot.id for snapshot in self.snapshots if snapshot.parent == session_id), session_id)

    def has_lasting_children(self, session_id: str) -> bool:
        """Whether a session has children that outlive it."""
        return any(snapshot.parent == session_id and snapshot.outlives_parent for snapshot in self.snapshots)

    def family(self, session_id: str) -> set[str]:
        """The ids of a session and of those that come from it."""
        family = {session_id}
        for snapshot in self.snapshots:  # parents stand before their children, so one pass finds grandchildren too
            if snapshot.parent in family:
                family.add(snapshot.id)
        return family

    def snapshot(self, session_id: str) -> Snapshot | None:
        """The session with that id; None if there is none or it has ended."""
        place = place_of(self.snapshots, session_id)
        return None if place is None else self.snapshots[place]

    def root_of(self, session_id: str) -> str | None:
        """The root that a session comes from, as in `roots`; None if it has ended."""
        snapshot = self.snapshot(session_id)
        while snapshot is not None and snapshot.parent is not None:
            above = self.snapshot(snapshot.parent)
            if above is None:
                break
            snapshot = above
        return None if snapshot is None else snapshot.id


ResumeKind = Literal["continue", "step"]
"""Whether the focus may pass to another session that is paused: see focus.py."""


@remembered
def roots_of(snapshots: tuple[Snapshot, ...]) -> Mapping[str, str]:
    """Return the same of the sessions alone."""
    roots: dict[str, str] = {}
    for snapshot in snapshots:  # parents stand before their children, so one pass finds the root of each
        roots[snapshot.id] = roots.get(snapshot.parent or "", snapshot.id)
    return roots
