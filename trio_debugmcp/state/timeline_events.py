"""The timeline events of a change, derived from it and the states before and after it. Pure.

    new = reduce(change, old)
    happenings(old, change, new)  # [Happening("stopped", {...}, thread_id=1)]

Most events are derived from the difference between the two states, whatever the cause.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args

from trio_debugmcp.dap.messages import EventBody, ModuleEvent, ThreadEvent
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_payloads import (
    breakpoint_payload,
    data_breakpoint_payload,
    exception_breakpoint_payload,
)
from trio_debugmcp.state.call_events import MAX_ARGUMENT_LENGTH
from trio_debugmcp.state.changes import (
    MAX_TEXT_LENGTH,
    BreakpointLogged,
    Change,
    EventReceived,
    Happened,
    Happening,
    HitsRecorded,
    OutputWritten,
    ReportsReceived,
    SessionClosed,
    SessionOpened,
)
from trio_debugmcp.state.model import Snapshot, State, Stop
from trio_debugmcp.state.payloads import shortened
from trio_debugmcp.state.people.people_changes import PeopleChange, PeopleEvent, people_happenings
from trio_debugmcp.state.session_index import changed_sessions

EventType = Literal[
    "sessionStarted",
    "sessionEnded",
    "stopped",
    "continued",
    "stepped",
    "breakpointSet",
    "breakpointChanged",
    "breakpointRemoved",
    "breakpointHit",
    "tracepoint",
    "exception",
    "output",
    "threadStarted",
    "threadExited",
    "moduleLoaded",
    "toolStarted",
    "toolCalled",
    "clientJoined",
    "clientLeft",
]
EVENT_TYPES: tuple[str, ...] = (*get_args(EventType), *get_args(PeopleEvent))
"""The types of timeline events, as clients filter by them."""


def happenings(old: State, change: Change, new: State) -> list[Happening]:
    """The events of a change, in order."""
    match change:
        case Happened(what=what):
            return [what]
        case PeopleChange():
            return [*people_happenings(old.people, change, new.people)]
        case OutputWritten(pieces=pieces) if new is not old:  # the same: a session that has ended wrote it
            whose: dict[str, Any] = {"sessionId": change.session_id} if len({*new.roots().values()}) > 1 else {}
            return [_event("output", stream=p.stream, text=p.beginning, length=p.length, **whose) for p in pieces]
        case EventReceived(body=body) if new.snapshot(change.session_id) is not None:
            reported = _of_event(change.session_id, body, new)
            return [*_of_sessions(old, change, new), *reported, *_of_breakpoints(old, change, new)]
        case ReportsReceived(session_id=id_, bodies=bodies) if new.snapshot(id_) is not None:
            # Of a breakpoint that was changed many times at once, the timeline has where it is now.
            reported = (happening for body in bodies for happening in _of_event(id_, body, new))
            return [*_of_sessions(old, change, new), *reported, *_of_breakpoints(old, change, new)]
        case HitsRecorded():
            return [*_of_breakpoints(old, change, new), *_of_hits(old, change, new)]
        case _:
            return [*_of_sessions(old, change, new), *_of_breakpoints(old, change, new)]


def _event(kind: EventType, thread_id: int | None = None, **payload: Any) -> Happening:
    return Happening(kind, payload, thread_id)


# --- Sessions ---------------------------------------------------------------------------------------------------------


def _of_sessions(old: State, change: Change, new: State) -> Iterator[Happening]:
    if new.snapshots is old.snapshots:
        return
    for id_ in changed_sessions(old.snapshots, new.snapshots):
        before, after = old.snapshot(id_), new.snapshot(id_)
        if after is None:
            if before is not None and isinstance(change, SessionClosed):
                yield _ended(before, change)
        elif before is None:
            yield _started(after)
        else:
            yield from _of_execution(before, after)


def _started(snapshot: Snapshot) -> Happening:
    origin = snapshot.origin
    return _event(
        "sessionStarted",
        sessionId=snapshot.id,
        parentSessionId=snapshot.parent,
        launchMode=origin.launch_mode,
        adapter=origin.adapter,
        processName=origin.process_name,
        processId=origin.process_id,
    )


def _ended(snapshot: Snapshot, change: SessionClosed) -> Happening:
    named = snapshot.id == change.session_id  # the others are children that end with it
    return _event(
        "sessionEnded",
        sessionId=snapshot.id,
        exitCode=change.exit_code if named and (change.killed or change.exit_code is not None) else snapshot.exit_code,
        reason=shortened(change.reason, MAX_TEXT_LENGTH),
        failed=change.failed,
    )


def _of_execution(before: Snapshot, after: Snapshot) -> Iterator[Happening]:
    if after.phase == "Paused" and after.stop is not None:
        if before.phase != "Paused" or before.stop is not after.stop:
            yield _stopped(after, after.stop)
            # After a refused resume the session is stopped again, at the same stop: its exception was not raised again.
            if after.stop.exception is not None and before.stop is not after.stop:
                yield _exception(after, after.stop)
    elif after.phase == "Running" and before.phase == "Paused":
        thread_id = before.stop.thread_id if before.stop is not None else None
        yield _event("stepped" if after.stepping else "continued", thread_id, sessionId=after.id)


def _stopped(snapshot: Snapshot, stop: Stop) -> Happening:
    return _event(
        "stopped",
        stop.thread_id,
        sessionId=snapshot.id,
        stop=stop.number,
        reason=stop.reason,
        description=None if stop.description is None else shortened(stop.description, MAX_TEXT_LENGTH),
        location=stop.location,
        breakpointIds=list(stop.breakpoint_ids),
    )


def _exception(snapshot: Snapshot, stop: Stop) -> Happening:
    raised = stop.exception
    return _event(
        "exception",
        stop.thread_id,
        sessionId=snapshot.id,
        exceptionType=None if raised is None else raised.type,
        message=None if raised is None or raised.message is None else shortened(raised.message, MAX_TEXT_LENGTH),
        breakMode=None if raised is None else raised.break_mode,
        location=stop.location,
    )


def _of_event(session_id: str, body: EventBody, new: State) -> Iterator[Happening]:
    match body:
        case ThreadEvent(reason="started" | "exited" as reason, thread_id=thread_id):
            kind: EventType = "threadStarted" if reason == "started" else "threadExited"
            yield _event(kind, thread_id, sessionId=session_id)
        case ModuleEvent(reason="new", module=module):
            snapshot = new.snapshot(session_id)
            count = len(snapshot.modules) if snapshot is not None else 0
            name = shortened(module.name, MAX_TEXT_LENGTH)
            yield _event("moduleLoaded", sessionId=session_id, name=name, count=count)
        case _:
            pass


# --- Breakpoints ------------------------------------------------------------------------------------------------------


def _of_breakpoints(old: State, change: Change, new: State) -> Iterator[Happening]:
    # All breakpoints are reset when a session begins and Pending when it ends: its own event implies it.
    if isinstance(change, SessionOpened | SessionClosed):
        return
    if new.breakpoints is old.breakpoints and new.exceptions is old.exceptions:
        return
    before, after = _shown(old), _shown(new)
    for breakpoint_id, breakpoint in after.items():
        known = before.get(breakpoint_id)
        if known is None:
            yield _event("breakpointSet", **_description(breakpoint))
        elif known is not breakpoint:
            yield from _of_breakpoint(known, change, breakpoint, new)
    for breakpoint_id in before:
        if breakpoint_id not in after:
            yield _event("breakpointRemoved", id=breakpoint_id)


def _shown(state: State) -> dict[str, Breakpoint | ExceptionBreakpoint]:
    lines = {breakpoint.id: breakpoint for breakpoint in state.breakpoints}
    return {**lines, **{exception.id: exception for exception in state.exceptions}}


def _of_breakpoint(
    before: Breakpoint | ExceptionBreakpoint,
    change: Change,
    after: Breakpoint | ExceptionBreakpoint,
    state: State,
) -> Iterator[Happening]:
    description = _description(after)
    if description != _description(before):
        yield _event("breakpointChanged", **description)
    if after.hits <= before.hits or isinstance(change, HitsRecorded):
        return
    if isinstance(change, BreakpointLogged):
        place = {key: description.get(key) for key in ("file", "line")}
        text = shortened(change.text.rstrip("\n"), MAX_TEXT_LENGTH)
        yield _event("tracepoint", sessionId=change.session_id, id=after.id, text=text, hitCount=after.hits, **place)
        return
    snapshot = state.snapshot(getattr(change, "session_id", ""))
    stop = snapshot.stop if snapshot is not None else None
    yield _event(
        "breakpointHit",
        stop.thread_id if stop is not None else None,
        sessionId=None if snapshot is None else snapshot.id,
        id=after.id,
        hitCount=after.hits,
        location=None if stop is None else stop.location,
    )


def _of_hits(old: State, change: HitsRecorded, new: State) -> Iterator[Happening]:
    """What tracepoints wrote, in order. `hitCount` counts the hits in all sessions, the records those of one."""
    places = {}
    for breakpoint in new.breakpoints:
        description = _description(breakpoint)
        places[breakpoint.id] = {key: description.get(key) for key in ("file", "line")}
    elsewhere = {
        breakpoint.id: breakpoint.hits
        - sum(b.hits - b.earlier for b in breakpoint.bindings if b.session_id == change.session_id)
        for breakpoint in old.breakpoints
    }
    for hit in change.hits:
        if hit.text is not None and hit.breakpoint in places and hit.breakpoint in elsewhere:
            yield _event(
                "tracepoint",
                sessionId=change.session_id,
                id=hit.breakpoint,
                text=shortened(hit.text, MAX_TEXT_LENGTH),
                hitCount=elsewhere[hit.breakpoint] + hit.hits,
                **places[hit.breakpoint],
            )


def _description(breakpoint: Breakpoint | ExceptionBreakpoint) -> dict[str, Any]:
    """A breakpoint as its events describe it: without its hits, each of which is an event itself."""
    if isinstance(breakpoint, ExceptionBreakpoint):
        exception = exception_breakpoint_payload(breakpoint)
        return {
            "id": exception.id,
            "type": "Exception",
            "exceptionType": exception.exception_type,
            "enabled": exception.enabled,
            "verified": exception.verified,
            "condition": _cut(exception.condition),
            "message": _cut(exception.message),
        }
    if breakpoint.spec.watch is not None:
        data = data_breakpoint_payload(breakpoint, breakpoint.spec.watch)
        named = {name: getattr(data, name) for name in ("id", "expression", "access", "enabled", "state", "message")}
        terms = {"condition": _cut(breakpoint.spec.condition), "hitCondition": breakpoint.spec.hit_condition}
        return {**named, "type": "Data", **{name: text for name, text in terms.items() if text is not None}}
    shown = breakpoint_payload(breakpoint)
    return {
        "id": shown.id,
        "type": shown.type,
        "file": shown.file,
        "line": shown.line,
        "functionName": shown.function_name,
        "enabled": shown.enabled,
        "state": shown.state,
        "condition": _cut(shown.condition),
        "hitCondition": shown.hit_condition,
        "logMessage": _cut(shown.log_message),
        "message": _cut(shown.message),
        **({"address": breakpoint.spec.address} if breakpoint.spec.address is not None else {}),
    }


def _cut(text: str | None) -> str | None:
    return None if text is None else shortened(text, MAX_ARGUMENT_LENGTH)


# --- Clients ----------------------------------------------------------------------------------------------------------


def client_joined(name: str | None, version: str | None, role: str) -> Happening:
    """The event for a client that has connected and sent its name."""
    return _event("clientJoined", name=_cut(name), version=_cut(version), role=role)


def client_left(name: str | None, version: str | None, role: str) -> Happening:
    """The event for a client that has disconnected."""
    return _event("clientLeft", name=_cut(name), version=_cut(version), role=role)
