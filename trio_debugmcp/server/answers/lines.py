"""Threads, sessions, modules and breakpoints, each as one line."""

from itertools import pairwise

from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.server.answers.stop_answer import TaskFrameLocals, TaskNow, ThreadNow
from trio_debugmcp.server.answers.values import counted, rendered
from trio_debugmcp.session.looking.by_probe.live_threads import LiveTask, LiveThread
from trio_debugmcp.state.breakpoint import Breakpoint, ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_payloads import (
    breakpoint_payload,
    data_breakpoint_payload,
    exception_breakpoint_payload,
)
from trio_debugmcp.state.labels import short_label
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import (
    BreakpointPayload,
    DataBreakpointPayload,
    ExceptionBreakpointPayload,
    ModulePayload,
    name_of,
)
from trio_debugmcp.state.stack_view import frame_payload

# --- Threads and sessions ---------------------------------------------------------------------------------------------


def thread_name(snapshot: Snapshot, thread_id: int) -> str:
    """Return `2 counter-1`: the id of a thread, and its name where it is known."""
    name = next((thread.name for thread in snapshot.threads.threads if thread.id == thread_id), None)
    return f"{thread_id} {name}" if name else f"{thread_id}"


STATES = {"stopped": "Suspended", "waiting": "Waiting", "exited": "Exited"}
"""States of threads in the contract's words; what runs, or may run, is Running."""

_SAID = {"Suspended": "", "Waiting": ", waits in C code"}


def thread_now(thread: LiveThread, current: int | None) -> ThreadNow:
    """Return a thread as data. `current`: the id of the active one."""
    state = STATES.get(thread.state, "Running")
    return ThreadNow(thread.id, thread.name or None, state, thread.id == current, thread.location, thread.waits)


def thread_line(places: Places, thread: ThreadNow) -> str:
    """Return `*1 MainThread shop.py:40 in main, waits for lock, held by thread 2 payer`. `*` marks the active one."""
    words = [f"*{thread.id}" if thread.is_current else f"{thread.id}", thread.name, places.at_location(thread.location)]
    state = _SAID.get(thread.state, f", {thread.state.lower()}")
    state = state if thread.waits_for is None else f", waits for {thread.waits_for}"
    return " ".join(word for word in words if word) + state


MAX_INDENT = 100
"""Nurseries that a task is indented for; one that is deeper stands below its parent all the same."""


def task_now(task: LiveTask) -> TaskNow:
    """Return a task as data."""
    frames = [frame_payload(index, each) for index, each in enumerate(task.frames)]
    values = [TaskFrameLocals(index, list(of.variables), of.total) for index, of in task.locals.items()]
    return TaskNow(
        task.name,
        task.library,
        task.depth,
        task.state,
        task.waits,
        task.thread_id,
        frames,
        list(task.indexes),
        task.omitted,
        values,
    )


def task_line(places: Places, task: TaskNow) -> str:
    """Return `  Task-2: fetch app.py:10 > sleep :20, waits for a timer`, indented as its nursery is."""
    return f"{'  ' * min(task.depth, MAX_INDENT)}{name_of(task.name)}: {task_words(places, task)}"


def task_words(places: Places, task: TaskNow) -> str:
    """Return `fetch app.py:10 > sleep :20, waits for a timer`: where a task is, and what it waits for."""
    links = [
        line if each.is_user_code else f"{each.name}{LIBRARY}"
        for each, line in zip(task.frames, places.frames(task.frames), strict=True)
    ]
    if task.omitted:
        gaps = (number for number, pair in enumerate(pairwise(task.indexes), 1) if pair[0] - pair[1] > 1)
        gap = next(gaps, len(links))  # the program may have changed what it says of itself
        links.insert(gap, f"({task.omitted} more)")
    state = f", waits for {task.waits_for}" if task.waits_for else f", {task.state}"
    return " > ".join(links) + state


def task_locals(task: TaskNow) -> dict[str, dict[str, str]]:
    """Return the variables of the frames of a task, by the index and the function of each, the outermost first."""
    functions = {index: frame.name for index, frame in zip(task.indexes, task.frames, strict=True)}
    return {
        f"{of.frame_index} {functions[of.frame_index]}": counted(
            {each.name: rendered(each.value, each.type) for each in of.variables}, of.total - len(of.variables)
        )
        for of in task.locals
    }


def session_line(places: Places, snapshot: Snapshot) -> str:
    """Return `s-2 rank 3 child.py (pid 4711) Paused at child.py:3 in work`."""
    origin, stop = snapshot.origin, snapshot.stop
    words = [
        snapshot.id,
        short_label(origin.labels),
        origin.process_name,
        None if origin.process_id is None else f"(pid {origin.process_id})",
    ]
    words.append(snapshot.phase)
    place = None if stop is None or snapshot.phase != "Paused" else places.at_location(stop.location)
    if place is not None:
        words.append(f"at {place}")
    return " ".join(word for word in words if word)


def module_line(places: Places, module: ModulePayload) -> str:
    """Return `shop.till 1.2 till.py`: a module with its version and its file."""
    words = [name_of(module.name), module.version, None if module.path is None else places.file(module.path)]
    line = " ".join(word for word in words if word)
    line += f", {module.symbol_status}" if module.symbol_status else ""
    return line + (LIBRARY if module.is_user_code is False else "")


# --- Breakpoints ------------------------------------------------------------------------------------------------------


def breakpoint_line(places: Places, breakpoint: Breakpoint | ExceptionBreakpoint, *, in_session: bool) -> str:
    """Return `bp-1 shop.py:24 if x > 3, 4 hits`: a breakpoint, and whatever is special about it."""
    if isinstance(breakpoint, ExceptionBreakpoint):
        return _exception_line(places, exception_breakpoint_payload(breakpoint), in_session=in_session)
    if breakpoint.spec.watch is not None:
        data = data_breakpoint_payload(breakpoint, breakpoint.spec.watch)
        condition = f" if {breakpoint.spec.condition}" if breakpoint.spec.condition else ""
        line = f"{data.id} {data.expression} ({data.access}){condition}"
        hits = [f"hit condition {breakpoint.spec.hit_condition}" if breakpoint.spec.hit_condition else None]
        return _with_details(line, hits, data, in_session=in_session)
    shown = breakpoint_payload(breakpoint)
    place = places.line(shown.file, shown.line)
    words = [shown.id, breakpoint.spec.address, shown.function_name, place]
    line = " ".join(word for word in words if word) + (f" if {shown.condition}" if shown.condition else "")
    details = [f"group {breakpoint.spec.group}" if breakpoint.spec.group else None]
    details.append(f"hit condition {shown.hit_condition}" if shown.hit_condition else None)
    details.append(f"log `{shown.log_message}`" if shown.log_message else None)
    details.append(f"at every {shown.hit_count_multiple} hits" if shown.hit_count_multiple else None)
    most, sent = shown.max_notifications, shown.notifications_sent
    details.append(f"{sent} of {most} notifications" if most else None)
    return _with_details(line, details, shown, in_session=in_session)


def _exception_line(places: Places, shown: ExceptionBreakpointPayload, *, in_session: bool) -> str:
    leaving = shown.break_on_user_unhandled is True
    later = {"not caught": shown.break_on_second_chance, "leaving the user's code": leaving}
    when = "raised" if shown.break_on_first_chance else " or ".join(name for name, stops in later.items() if stops)
    line = f"{shown.id} {shown.exception_type} {when}" + (f" in {places.file(shown.file)}" if shown.file else "")
    line += f" if {shown.condition}" if shown.condition else ""
    details = [None if shown.include_subtypes else "without its subtypes"]
    return _with_details(line, details, shown, in_session=in_session)


def _with_details(
    line: str,
    details: list[str | None],
    shown: BreakpointPayload | DataBreakpointPayload | ExceptionBreakpointPayload,
    *,
    in_session: bool,
) -> str:
    if shown.hit_count:
        details.append(f"{shown.hit_count} hit{'s' if shown.hit_count != 1 else ''}")
    if not shown.enabled:
        details.append("disabled")
    elif in_session and not shown.verified:
        details.append("pending")
    details.append(shown.message)
    return ", ".join([line, *(detail for detail in details if detail)])
