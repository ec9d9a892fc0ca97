"""What is reported to an editor when the state has changed. Derived from the two states, whatever the cause. Pure.

    for name, body in of_session(old, new):
        channel.event(name, body)

States in between may have been missed: then a stop that is another one is reported as a resume and a stop.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from trio_debugmcp.editors.numbers import number_of
from trio_debugmcp.state.breakpoint import Breakpoint
from trio_debugmcp.state.model import Module, Snapshot, State, Stop

Event = tuple[str, Mapping[str, Any] | None]

_REASONS = {
    "Entry": "entry",
    "Breakpoint": "breakpoint",
    "Step": "step",
    "Exception": "exception",
    "Pause": "pause",
    "FunctionBreakpoint": "function breakpoint",
    "DataBreakpoint": "data breakpoint",
    "Goto": "goto",
    "Restart": "restart",
}


def of_session(old: Snapshot | None, new: Snapshot) -> Iterator[Event]:
    """The events of a session between two of its snapshots."""
    yield from _of_modules(old, new)
    yield from _of_threads(old, new)
    yield from _of_execution(old, new)


def _of_execution(old: Snapshot | None, new: Snapshot) -> Iterator[Event]:
    was = None if old is None or old.phase != "Paused" else old.stop
    now = None if new.phase != "Paused" else new.stop
    same = was is not None and now is not None and was.number == now.number
    if was is not None and not same:
        yield "continued", {"threadId": was.thread_id, "allThreadsContinued": True}
    if now is not None and not same:
        yield "stopped", stopped(now)
    if same and old is not None and old.stack.locals is not None and old.stack.locals is not new.stack.locals:
        yield "invalidated", {"areas": ["variables"]}


def stopped(stop: Stop) -> dict[str, Any]:
    """Return the body of the event for a stop."""
    body: dict[str, Any] = {
        "reason": _REASONS.get(stop.reason, "pause"),
        "threadId": stop.thread_id,
        "allThreadsStopped": True,
    }
    numbers = [number_of(breakpoint_id) for breakpoint_id in stop.breakpoint_ids]
    if numbers:
        body["hitBreakpointIds"] = numbers
    if stop.exception is not None:
        raised = stop.exception
        body["description"] = f"Paused on {raised.type}" if raised.type else "Paused on an exception"
        if raised.message:
            body["text"] = raised.message
    elif stop.description:
        body["text"] = stop.description
    return body


def _of_threads(old: Snapshot | None, new: Snapshot) -> Iterator[Event]:
    if old is not None and old.threads.threads is new.threads.threads:
        return
    before = _alive(old)
    after = _alive(new)
    for thread_id in sorted(after - before):
        yield "thread", {"reason": "started", "threadId": thread_id}
    for thread_id in sorted(before - after):
        yield "thread", {"reason": "exited", "threadId": thread_id}


def _alive(snapshot: Snapshot | None) -> set[int]:
    return set() if snapshot is None else {thread.id for thread in snapshot.threads.threads if thread.state != "Exited"}


def _of_modules(old: Snapshot | None, new: Snapshot) -> Iterator[Event]:
    if old is not None and old.modules is new.modules:
        return
    before = {module.id: module for module in old.modules} if old is not None else {}
    for module in new.modules:
        known = before.pop(module.id, None)
        if known is not module:
            yield "module", {"reason": "new" if known is None else "changed", "module": module_of(module)}
    for module in before.values():
        yield "module", {"reason": "removed", "module": module_of(module)}


def module_of(module: Module) -> dict[str, Any]:
    """Return a module as DAP has it."""
    more = {
        "path": module.path,
        "version": module.version,
        "symbolStatus": module.symbol_status,
        "isUserCode": module.is_user_code,
    }
    return {"id": module.id, "name": module.name, **{name: value for name, value in more.items() if value is not None}}


# --- Breakpoints ------------------------------------------------------------------------------------------------------


class BreakpointChanges(Struct, frozen=True):
    """The breakpoints that differ between two states; hits alone make no difference."""

    new: list[Breakpoint]
    changed: list[Breakpoint]
    removed: list[str]


def of_breakpoints(old: State, new: State) -> BreakpointChanges | None:
    """Return how the breakpoints on lines and functions differ; None if they do not."""
    if old.breakpoints is new.breakpoints:
        return None
    before = {breakpoint.id: breakpoint for breakpoint in old.breakpoints}
    after = {breakpoint.id: breakpoint for breakpoint in new.breakpoints}
    return BreakpointChanges(
        new=[breakpoint for id_, breakpoint in after.items() if id_ not in before],
        changed=[breakpoint for id_, breakpoint in after.items() if id_ in before and breakpoint is not before[id_]],
        removed=[id_ for id_ in before if id_ not in after],
    )
