"""The structs that an MCP client receives: resource payloads, and the parts that tool results share with them.

On the wire: camelCase, compact JSON, every key always present, `null` when unknown. The docstrings of the structs are
the descriptions in the tools' output schemas, so they address the client.

Long because it is the list of what clients read: a struct for each thing, and how texts and lists of them are cut.
"""

import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

SessionPhase = Literal["Starting", "Running", "Paused", "Terminating"]
PauseReason = Literal[
    "Entry",
    "Breakpoint",
    "Step",
    "Exception",
    "Pause",
    "FunctionBreakpoint",
    "DataBreakpoint",
    "Goto",
    "Restart",
]
LaunchMode = Literal["Launch", "Attach"]
ThreadState = Literal["Running", "Suspended", "Exited"]
BreakpointState = Literal["Pending", "Bound", "Disabled"]
BreakpointType = Literal["Breakpoint", "Tracepoint"]
DataAccess = Literal["write", "read", "readWrite"]

MAX_VALUE_LENGTH = 200
"""Characters of a value that are shown unless the client asks for more: a line on a screen, not a page."""

MAX_MESSAGE_LENGTH = 1000
"""Characters of an exception's own message that a stop shows; evaluating it gives all of them."""


class Payload(Struct, rename="camel", frozen=True):
    """The base of all structs sent to clients."""


# --- Parts ------------------------------------------------------------------------------------------------------------


class Location(Payload, frozen=True):
    """A place in the debugged program; lines and columns count from 1."""

    file: str | None
    line: int | None
    column: int | None
    function_name: str | None
    module_name: str | None


class Frame(Payload, frozen=True):
    """A stack frame; index 0 is where execution is."""

    index: int
    name: str
    location: Location
    is_user_code: bool


def signal_name(exit_code: int | None) -> str | UnsetType:
    """Return the signal that a process died of, for example `SIGSEGV`."""
    if exit_code is None or exit_code >= 0:
        return UNSET
    with suppress(ValueError):
        return signal.Signals(-exit_code).name
    return f"signal {-exit_code}"


class Variable(Payload, frozen=True):
    """A variable; `path` evaluates to it, `childCount` is 0 for a leaf, `digest` tells apart what is cut.

    `same`: another one of its scope that is the same object, where that is known and worth a word.
    """

    name: str
    value: str
    type: str | None
    path: str | None
    child_count: int | None
    digest: str | None = None
    children: list["Variable"] | UnsetType = UNSET
    same: str | UnsetType = UNSET


class Scope(Payload, frozen=True):
    """A named group of variables of a frame."""

    name: str
    expensive: bool


class SourceLine(Payload, frozen=True):
    """One line of source; `current` marks where execution is."""

    line: int
    text: str
    current: bool


class CatchingPlace(Payload, frozen=True):
    """Where an exception will be caught: a handler, or a call of C code that catches it (`inCCode`)."""

    function: str
    file: str
    line: int | None
    is_user_code: bool
    in_c_code: bool = False


class ExceptionInfo(Payload, frozen=True):
    """The exception that stopped the program. `breakMode`: always, unhandled or userUnhandled.

    `caughtBy`: null where nothing will catch it, and where that is not known.
    """

    type: str
    message: str | None
    break_mode: str | None
    caught_by: CatchingPlace | None = None


class OutputEntry(Payload, frozen=True):
    """A piece of output. `stream`: stdout, stderr, console (messages of the debugger) or tracepoint."""

    seq: int
    stream: str
    text: str
    time: str


class TimelineEvent(Payload, frozen=True):
    """An event in the debug session. `eventId` counts from 1 while the server runs; `payload` depends on `type`."""

    event_id: int
    timestamp: str
    type: str
    thread_id: int | None
    payload: dict[str, Any]


class ChildSession(Payload, frozen=True):
    """A summary of a session. `labels`: rank, host and others, that tell its process from its siblings."""

    session_id: str
    process_id: int | None
    process_name: str | None
    state: SessionPhase
    pause_reason: PauseReason | None
    current_location: Location | None
    parent_session_id: str | None
    labels: Mapping[str, str] | UnsetType = UNSET


# --- Resources --------------------------------------------------------------------------------------------------------


class Listening(Payload, frozen=True):
    """Where a session listens, how many programs are connected now, and how many have dialed in so far."""

    address: str | None
    connected: int
    dialed_in: int


class SessionPayload(Payload, frozen=True):
    """`debugger://session`. `sessions`: every session of the program, the root first; each process is there once.

    `listening`: only of a session that has no program of its own, but waits for some that dial in. `stopsAt`: the
    exceptions at which it stops by the launch, without a breakpoint: unhandled, userUnhandled. `handling`: the
    exception in whose `except` or `finally` the program is paused, as text, where that is known. `labels`: rank, host
    and others, that tell its process from its siblings. `engine`: what debugs a Python program: own or pydevd.
    """

    process_id: int | None
    process_name: str | None
    executable_path: str | None
    runtime_version: str | None
    state: SessionPhase
    launch_mode: LaunchMode
    attached_at: str
    pause_reason: PauseReason | None
    current_location: Location | None
    active_thread_id: int | None
    command_line_args: list[str]
    working_directory: str | None
    adapter: str
    language: str
    exit_code: int | None
    exception: ExceptionInfo | None
    children: list[ChildSession]
    sessions: list[ChildSession]
    session_id: str
    parent_session_id: str | None
    revision: int
    listening: Listening | UnsetType = UNSET
    stops_at: list[str] | UnsetType = UNSET
    handling: str | UnsetType = UNSET
    labels: Mapping[str, str] | UnsetType = UNSET
    engine: str | UnsetType = UNSET


class SessionsPayload(Payload, frozen=True):
    """`debugger://sessions`: those of all programs, parents before their children, and which of them is in focus."""

    sessions: list[ChildSession]
    focus: str | None
    revision: int


class BreakpointPayload(Payload, frozen=True):
    """One breakpoint or tracepoint. `line` is where the debug adapter placed it, `requestedLine` where it was set.

    `statement`: the text of its line, if it was set by that.
    `address`: only of a breakpoint on an instruction. `setBy`: the clients that have set it, by their names.
    """

    id: str
    type: BreakpointType
    file: str | None
    line: int | None
    column: int | None
    enabled: bool
    verified: bool
    state: BreakpointState
    hit_count: int
    condition: str | None
    log_message: str | None
    hit_count_multiple: int
    max_notifications: int
    notifications_sent: int
    hit_condition: str | None
    requested_line: int | None
    function_name: str | None
    statement: str | None
    message: str | None
    address: str | UnsetType = UNSET
    set_by: list[str] | UnsetType = UNSET


class DataBreakpointPayload(Payload, frozen=True):
    """One data breakpoint; `description` is what the debug adapter says that it watches."""

    id: str
    expression: str
    access: DataAccess
    enabled: bool
    verified: bool
    state: BreakpointState
    hit_count: int
    description: str | None
    message: str | None
    condition: str | UnsetType = UNSET
    hit_condition: str | UnsetType = UNSET
    set_by: list[str] | UnsetType = UNSET


class ExceptionBreakpointPayload(Payload, frozen=True):
    """One exception breakpoint; `exceptionType` is `*` for every exception.

    `breakOnUserUnhandled`: only of one that stops where an exception leaves the user's code. `file`: only of one that
    stops in no other.
    """

    id: str
    exception_type: str
    break_on_first_chance: bool
    break_on_second_chance: bool
    include_subtypes: bool
    enabled: bool
    verified: bool
    hit_count: int
    condition: str | None
    message: str | None
    break_on_user_unhandled: bool | UnsetType = UNSET
    file: str | UnsetType = UNSET
    set_by: list[str] | UnsetType = UNSET


class BreakpointsPayload(Payload, frozen=True):
    """`debugger://breakpoints`: all of them, by kind."""

    breakpoints: list[BreakpointPayload]
    exception_breakpoints: list[ExceptionBreakpointPayload]
    function_breakpoints: list[BreakpointPayload]
    data_breakpoints: list[DataBreakpointPayload]
    revision: int


class ThreadPayload(Payload, frozen=True):
    """A thread of the program; `isCurrent` marks the active one."""

    id: int
    name: str | None
    state: ThreadState
    is_current: bool
    location: Location | None


class ThreadsPayload(Payload, frozen=True):
    """`debugger://threads`; `stale` while the program runs."""

    threads: list[ThreadPayload]
    stale: bool
    captured_at: str | None
    revision: int


class OutputPayload(Payload, frozen=True):
    """`debugger://output`: the last output of the program. `dropped`: how many older entries were not kept."""

    entries: list[OutputEntry]
    next_seq: int
    dropped: int
    revision: int


class TimelinePayload(Payload, frozen=True):
    """`debugger://timeline`: the last events. `totalEvents`: since the session began; `eventsDropped`: not kept."""

    events: list[TimelineEvent]
    total_events: int
    events_dropped: int
    revision: int


class ModulePayload(Payload, frozen=True):
    """A module that the program has loaded."""

    id: int | str
    name: str
    path: str | None
    version: str | None
    symbol_status: str | None
    is_user_code: bool | None


class ModulesPayload(Payload, frozen=True):
    """`debugger://modules`: the modules that the program has loaded."""

    modules: list[ModulePayload]
    count: int
    revision: int


# --- Text -------------------------------------------------------------------------------------------------------------

_encoder = msgspec.json.Encoder()

UnixTime = Annotated[float, Meta(description="seconds since 1970-01-01 UTC")]


def to_json(payload: object) -> str:
    """Encode as compact JSON; characters outside ASCII stay themselves."""
    return _encoder.encode(payload).decode()


def iso_time(moment: UnixTime) -> str:
    """The moment in ISO 8601, in UTC, to the millisecond."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


MAX_NAME_LENGTH = 500
"""Characters of the name of a thread, a function or a type; those of templates in C++ have a hundred or two."""

_UNPRINTABLE = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x61C,
    0x200E,
    0x200F,
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
)
"""Control characters, which make further lines of one, and those that change the direction in which a text is read."""

_ESCAPES = {code: repr(chr(code))[1:-1] for code in _UNPRINTABLE}


def printable(text: str) -> str:
    """Return a name or a place as one line that reads as it is written: other characters are shown as escapes."""
    return text.translate(_ESCAPES)


def name_of(text: str, limit: int = MAX_NAME_LENGTH) -> str:
    """Return a name that the program or its adapter has given, as one bounded line."""
    beginning = printable(text[:limit])  # of the rest, which can be long, only the length is said
    return shortened(beginning, limit, len(beginning) + max(0, len(text) - limit))


def shortened(value: str, limit: int = MAX_VALUE_LENGTH, length: int | None = None) -> str:
    """`value`, cut after `limit` characters, with the number of characters left out.

    `length`: of the whole, where `value` is only its beginning.
    """
    length = len(value) if length is None else length
    if length <= limit:
        return value
    return f"{value[:limit]}… (+{length - limit} characters)"


T = TypeVar("T")


def json_size(item: object) -> int:
    """Return the bytes that an item takes in a JSON list."""
    return len(_encoder.encode(item)) + 1


def truncated(items: Iterable[T], max_bytes: int) -> list[T]:
    """Return the first items that fit into `max_bytes` of JSON, and at least one, so that a reader can page on."""
    kept: list[T] = []
    room = max_bytes
    for item in items:
        room -= json_size(item)
        if kept and room < 0:
            break
        kept.append(item)
    return kept


def end_of(text: str, max_bytes: int) -> str:
    """Return the end of a text that fits into `max_bytes` of JSON."""
    kept = text[-max_bytes:]
    while kept and (size := json_size(kept)) > max_bytes:
        kept = kept[len(kept) - len(kept) * max_bytes // size :]
    return kept
