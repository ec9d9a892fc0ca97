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

from msgspec import Struct

from trio_debugmcp.state.breakpoint_payloads import breakpoints_payload
from trio_debugmcp.state.captures import snapshots_payload
from trio_debugmcp.state.model import Module, Snapshot, State
from trio_debugmcp.state.payloads import (
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
