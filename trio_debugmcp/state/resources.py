"""The resources as views of the state: which URI has which payload, and which URIs a change affects.

    new = reduce(change, old)
    changed(old, new)  # {"debugger://session", "debugger://stack"}: the URIs to notify
    RESOURCES[STACK].payload(View(new, new.focused, revision, rings))

Each JSON resource names the parts of the state that its payload is made of. Two states differ in a resource exactly
when those parts differ; comparing them is cheap because unchanged parts are the same objects. A payload that reads
another part of the state must name it in `parts`, or its subscribers are not notified. Only what `debugger://session`
has of the other sessions of its tree is compared apart, as there may be a thousand.
"""

from collections.abc import Callable
from typing import Protocol
from urllib.parse import quote, unquote

from msgspec import UNSET, Struct

from trio_debugmcp.state.breakpoint import Binding, Breakpoint, ExceptionBreakpoint, Watch
from trio_debugmcp.state.captures import snapshots_payload
from trio_debugmcp.state.model import Module, Snapshot, State
from trio_debugmcp.state.payloads import (
    BreakpointPayload,
    BreakpointsPayload,
    DataBreakpointPayload,
    ExceptionBreakpointPayload,
    ModulePayload,
    ModulesPayload,
    OutputPayload,
    Payload,
    ThreadPayload,
    ThreadsPayload,
    TimelinePayload,
    iso_time,
)
from trio_debugmcp.state.session_view import moved_trees, own_parts, session_payload
from trio_debugmcp.state.stack_view import stack_parts, stack_payload

SESSION = "debugger://session"
NO_TYPE = "no such exception type yet: the program stops once one of that name is raised"

BREAKPOINTS = "debugger://breakpoints"
THREADS = "debugger://threads"
STACK = "debugger://stack"
OUTPUT = "debugger://output"
MODULES = "debugger://modules"
TIMELINE = "debugger://timeline"
SNAPSHOTS = "debugger://snapshots"

SOURCE_TEMPLATE = "debugger://source/{+file}"
_SOURCE_PREFIX = "debugger://source/"


class Rings(Protocol):
    """The ring buffers of output and timeline events, which are kept outside the state.

    The state has only the positions of their ends (`Snapshot.written`, `State.happened`), so that it stays small.
    """

    def output_payload(self, session_id: str, revision: int) -> OutputPayload:
        """Return the newest entries for `debugger://output`, of the program that a session belongs to."""
        ...

    def timeline_payload(self, revision: int) -> TimelinePayload:
        """Return the newest events for `debugger://timeline`."""
        ...


class View(Struct, frozen=True):
    """What a payload is made from: `snapshot` is the session that it describes."""

    state: State
    snapshot: Snapshot
    revision: int
    rings: Rings


class Resource(Struct, frozen=True):
    """A JSON resource: how it is listed, the parts of the state it depends on, and its payload."""

    uri: str
    name: str
    description: str
    parts: Callable[[State, Snapshot], tuple[object, ...]]
    payload: Callable[[View], Payload]


def changed(old: State, new: State) -> set[str]:
    """The URIs of the JSON resources that differ between two states.

    No resource can be read while there is no session: opening the first one and ending the last one changes them all.
    """
    before, after = old.focused, new.focused
    if before is None and after is None:
        return set()
    found = {
        uri
        for uri, resource in RESOURCES.items()
        if before is None or after is None or resource.parts(old, before) != resource.parts(new, after)
    }
    if after is not None and new.root_of(after.id) in moved_trees(old, new):  # it has the sessions of its tree
        found.add(SESSION)
    return found


def source_uri(path: str) -> str:
    """The URI of a source file; characters that a URI cannot contain are percent-encoded."""
    return _SOURCE_PREFIX + quote(path, safe="/:")


def source_path(uri: str) -> str | None:
    """The path that a source URI names, percent-decoded exactly once; None for any other URI."""
    if not uri.startswith(_SOURCE_PREFIX):
        return None
    return unquote(uri.removeprefix(_SOURCE_PREFIX))


def canonical(uri: str) -> str:
    """The one spelling that stands for all spellings of a URI. A notification has the spelling that was subscribed."""
    path = source_path(uri)
    return uri if path is None else source_uri(path)


ALL_SENT = "all its notifications are sent: breakpoint_enable starts it again"


def breakpoints_payload(state: State, revision: int) -> BreakpointsPayload:
    """The payload of `debugger://breakpoints`, also without a session."""
    kept = [(breakpoint, breakpoint.spec) for breakpoint in state.breakpoints]
    return BreakpointsPayload(
        breakpoints=[
            breakpoint_payload(breakpoint) for breakpoint, spec in kept if spec.function is None and spec.watch is None
        ],
        exception_breakpoints=[exception_breakpoint_payload(exception) for exception in state.exceptions],
        function_breakpoints=[breakpoint_payload(breakpoint) for breakpoint, spec in kept if spec.function is not None],
        data_breakpoints=[
            data_breakpoint_payload(breakpoint, spec.watch) for breakpoint, spec in kept if spec.watch is not None
        ],
        revision=revision,
    )


def breakpoint_payload(breakpoint: Breakpoint) -> BreakpointPayload:
    """A breakpoint at the line where a session placed it; a session that could place it counts before others."""
    spec, binding = breakpoint.spec, _best_binding(breakpoint)
    verified = breakpoint.is_active and binding is not None and binding.verified
    line = binding.line if verified and spec.address is None and binding and binding.line is not None else spec.line
    moved = f"moved from line {spec.line} to {line}, where code is" if spec.line not in (None, line) else None
    finished = ALL_SENT if breakpoint.enabled and not breakpoint.is_active else None
    return BreakpointPayload(
        id=breakpoint.id,
        type=spec.type,
        file=spec.file,
        line=line,
        column=spec.column,
        enabled=breakpoint.is_active,
        verified=verified,
        state="Disabled" if not breakpoint.is_active else "Bound" if verified else "Pending",
        hit_count=breakpoint.hits,
        condition=spec.condition,
        log_message=spec.log_message,
        hit_count_multiple=spec.hit_count_multiple,
        max_notifications=spec.max_notifications,
        notifications_sent=breakpoint.notifications_sent,
        hit_condition=spec.hit_condition,
        requested_line=spec.line,
        statement=spec.text if spec.by_text else None,
        function_name=spec.function,
        address=spec.address or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        message=breakpoint.problem
        or breakpoint.lost
        or (binding.message if binding is not None else None)
        or finished
        or moved,
    )


def data_breakpoint_payload(breakpoint: Breakpoint, watch: Watch) -> DataBreakpointPayload:
    """The payload of a breakpoint that watches data."""
    binding = next(iter(breakpoint.bindings), None)
    verified = breakpoint.is_active and binding is not None and binding.verified
    return DataBreakpointPayload(
        id=breakpoint.id,
        expression=watch.expression,
        access=watch.access,
        enabled=breakpoint.is_active,
        verified=verified,
        state="Disabled" if not breakpoint.is_active else "Bound" if verified else "Pending",
        hit_count=breakpoint.hits,
        condition=breakpoint.spec.condition or UNSET,
        hit_condition=breakpoint.spec.hit_condition or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        description=watch.description or None,
        message=breakpoint.problem or breakpoint.lost or (binding.message if binding is not None else None),
    )


def exception_breakpoint_payload(breakpoint: ExceptionBreakpoint) -> ExceptionBreakpointPayload:
    """An exception breakpoint; it is verified while an adapter watches for it, and its type exists."""
    known = set(breakpoint.session_ids).difference(breakpoint.unknown_in)
    return ExceptionBreakpointPayload(
        id=breakpoint.id,
        exception_type=breakpoint.exception_type,
        break_on_first_chance=breakpoint.first_chance,
        break_on_second_chance=breakpoint.second_chance,
        break_on_user_unhandled=breakpoint.user_unhandled or UNSET,
        include_subtypes=breakpoint.include_subtypes,
        enabled=breakpoint.enabled,
        verified=breakpoint.enabled and bool(known),
        hit_count=breakpoint.hits,
        condition=breakpoint.condition,
        file=breakpoint.file or UNSET,
        set_by=list(breakpoint.set_by) or UNSET,
        message=breakpoint.problem
        or (NO_TYPE if breakpoint.enabled and breakpoint.session_ids and not known else None),
    )


def threads_payload(snapshot: Snapshot, revision: int) -> ThreadsPayload:
    """The payload of `debugger://threads`."""
    threads = snapshot.threads
    return ThreadsPayload(
        threads=[
            ThreadPayload(thread.id, thread.name, thread.state, thread.id == threads.current, thread.location)
            for thread in threads.threads
        ],
        stale=threads.stale,
        captured_at=None if threads.captured_at is None else iso_time(threads.captured_at),
        revision=revision,
    )


def _modules_payload(snapshot: Snapshot, revision: int) -> ModulesPayload:
    modules = [module_payload(each) for each in snapshot.modules]
    return ModulesPayload(modules, len(modules), revision)


def module_payload(module: Module) -> ModulePayload:
    """A module that the program has loaded."""
    return ModulePayload(module.id, module.name, module.path, module.version, module.symbol_status, module.is_user_code)


def _best_binding(breakpoint: Breakpoint) -> Binding | None:
    return next(
        (binding for binding in breakpoint.bindings if binding.verified),
        breakpoint.bindings[0] if breakpoint.bindings else None,
    )


def _breakpoint_parts(state: State, _snapshot: Snapshot) -> tuple[object, ...]:
    return state.breakpoints, state.exceptions


RESOURCES: dict[str, Resource] = {
    resource.uri: resource
    for resource in (
        Resource(
            SESSION,
            "Debug Session",
            "Current debug session state (process info, state, location)",
            own_parts,
            lambda view: session_payload(view.state, view.snapshot, view.revision),
        ),
        Resource(
            BREAKPOINTS,
            "Breakpoints",
            "All active breakpoints, tracepoints, and exception breakpoints",
            _breakpoint_parts,
            lambda view: breakpoints_payload(view.state, view.revision),
        ),
        Resource(
            THREADS,
            "Threads",
            "Managed threads in the debugged process",
            lambda _state, snapshot: (snapshot.id, snapshot.threads),
            lambda view: threads_payload(view.snapshot, view.revision),
        ),
        Resource(
            STACK,
            "Call Stack",
            "Frames of the active thread, with the scopes and locals of the top frame",
            stack_parts,
            lambda view: stack_payload(view.state, view.snapshot, view.revision),
        ),
        Resource(
            OUTPUT,
            "Program Output",
            "The end of what the program has written to its standard output and standard error",
            # One ring for all sessions of a tree; the root tells the rings of two programs apart.
            lambda state, snapshot: (state.root_of(snapshot.id), snapshot.written),
            lambda view: view.rings.output_payload(view.snapshot.id, view.revision),
        ),
        Resource(
            MODULES,
            "Modules",
            "Modules that the debugged process has loaded",
            # The id, here and above: another session in focus is another payload, even if the parts are equal.
            lambda _state, snapshot: (snapshot.id, snapshot.modules, snapshot.sources_loaded),
            lambda view: _modules_payload(view.snapshot, view.revision),
        ),
        Resource(
            TIMELINE,
            "Timeline",
            "The last events: stops, breakpoints, exceptions, output, threads, tool calls, and who is connected",
            lambda state, _snapshot: (state.happened,),
            lambda view: view.rings.timeline_payload(view.revision),
        ),
        Resource(
            SNAPSHOTS,
            "Snapshots",
            "Snapshots of variables, which snapshot_diff compares",
            lambda state, _snapshot: state.captures,
            lambda view: snapshots_payload(view.state.captures, view.revision),
        ),
    )
}
"""The resources, in the order in which they are listed."""

SOURCE_NAME = "Source File"
SOURCE_DESCRIPTION = "Source code from files referenced by debug symbols in the debugged process"
