"""The snapshot of one session after an event of its adapter, a resume, or a stop. Pure functions on `Snapshot`.

`reduce` decides whether a change still applies; these functions say what it makes of the snapshot.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from trio_debugmcp.dap.messages import (
    Continued,
    EventBody,
    Exited,
    LoadedSource,
    ModuleEvent,
    ProcessEvent,
    ProgramLost,
    Stopped,
    Terminated,
    ThreadEvent,
)
from trio_debugmcp.state.changes import Report, StopExamined
from trio_debugmcp.state.model import Module, Origin, Snapshot, Stack, Stop, Thread, Threads

MAX_MODULES = 10_000
"""Modules kept per session; a large native program loads some thousands."""

MAX_EXITED_THREADS = 500
"""Exited threads that are still shown, until the next stop; a pool under load starts and ends thousands."""

# --- Resumes and stops ------------------------------------------------------------------------------------------------


def running(snapshot: Snapshot, *, stepping: bool = False) -> Snapshot:
    """The snapshot in a new generation, running; threads and stack of the last stop are kept as stale."""
    return replace(
        snapshot,
        phase="Running",
        stepping=stepping,
        generation=snapshot.generation + 1,
        # What is stale already stays the same object, so that comparing the two states stays cheap.
        threads=snapshot.threads if snapshot.threads.stale else replace(snapshot.threads, stale=True),
        stack=snapshot.stack if snapshot.stack.stale else replace(snapshot.stack, stale=True),
    )


def paused(snapshot: Snapshot, stop: Stop, found: StopExamined) -> Snapshot:
    """The snapshot at a stop, with the threads and the stack that were found there."""
    return replace(
        snapshot,
        phase="Paused",
        stepping=False,
        stop=stop,
        threads=Threads(
            threads=tuple(
                replace(thread, location=stop.location) if thread.id == stop.thread_id else thread
                for thread in found.threads
            ),
            current=stop.thread_id,
            captured_at=found.at,
            stale=False,
        ),
        stack=Stack(
            thread_id=stop.thread_id,
            frames=found.frames,
            total=found.total_frames,
            skipped=found.skipped_frames,
            locals=found.locals,
            captured_at=found.at,
            stale=False,
        ),
    )


def paused_again(snapshot: Snapshot) -> Snapshot:
    """The snapshot after a resume that did not happen: at its last stop, whose threads and stack are still true."""
    return replace(
        snapshot,
        phase="Paused",
        stepping=False,
        threads=replace(snapshot.threads, stale=False),
        stack=replace(snapshot.stack, stale=False),
    )


def _terminating(snapshot: Snapshot) -> Snapshot:
    # `exited` and `terminated` both come here, in either order; the second changes nothing.
    return snapshot if snapshot.phase == "Terminating" else replace(running(snapshot), phase="Terminating")


# --- Events of the adapter --------------------------------------------------------------------------------------------


def snapshot_after(snapshot: Snapshot, event: EventBody) -> Snapshot:
    """The snapshot after an event; the same object if the event is not about its state."""
    match event:
        case Stopped():
            # Nothing to see yet: the stop is published by `StopExamined`. Only older answers are now out of date.
            return replace(snapshot, generation=snapshot.generation + 1)
        case Continued() if snapshot.phase == "Paused":
            return running(snapshot)
        case Continued() if snapshot.phase == "Running":
            # Usually the echo of our own resume. If a stop was being examined, it is over: its answers are late now.
            return replace(snapshot, generation=snapshot.generation + 1)
        case ProgramLost(reason=reason):
            return replace(running(snapshot) if snapshot.phase == "Paused" else snapshot, lost=reason)
        case Exited(exit_code=exit_code):
            return replace(_terminating(snapshot), exit_code=exit_code)
        case Terminated():
            return _terminating(snapshot)
        case ProcessEvent():
            return replace(snapshot, origin=_origin_after(snapshot.origin, event))
        case ThreadEvent() | ModuleEvent() | LoadedSource():
            return reported(snapshot, (event,))
        case _:
            return snapshot


def reported(snapshot: Snapshot, reports: Iterable[Report]) -> Snapshot:
    """The snapshot after events that came together; each table is made anew once, however many these are."""
    threads: list[ThreadEvent] = []
    modules: list[ModuleEvent] = []
    sources = 0
    for report in reports:
        match report:
            case ThreadEvent():
                threads.append(report)
            case ModuleEvent():
                modules.append(report)
            case LoadedSource():
                sources += 1
            case _:
                pass
    if not (threads or modules or sources):
        return snapshot
    return replace(
        snapshot,
        threads=_threads_after(snapshot.threads, threads),
        modules=_modules_after(snapshot.modules, modules),
        sources_loaded=snapshot.sources_loaded + sources,
    )


def with_child(parent: Snapshot) -> Snapshot:
    """The snapshot of a session after a child of it has opened."""
    return replace(parent, dialed_in=parent.dialed_in + 1) if parent.origin.listens else parent


def _origin_after(origin: Origin, process: ProcessEvent) -> Origin:
    """Add what the adapter reports of the process; what the launch request said is kept.

    An adapter's `name` may be a path, a command or empty, so it only fills what is still unknown.
    """
    return replace(
        origin,
        process_id=process.system_process_id or origin.process_id,
        process_name=origin.process_name or process.name.rpartition("/")[2] or None,
        executable_path=origin.executable_path or (process.name if "/" in process.name else None),
    )


def _threads_after(threads: Threads, events: list[ThreadEvent]) -> Threads:
    if threads.captured_at is None or not events:  # before the first stop there is no list to correct
        return threads
    table = {thread.id: thread for thread in threads.threads}
    for event in events:
        known = table.get(event.thread_id)
        if event.reason == "exited":
            if known is not None:
                table[event.thread_id] = replace(known, state="Exited")
        elif known is None or known.state == "Exited":
            # An id may be used again after its thread has exited: the new thread comes last.
            table.pop(event.thread_id, None)
            table[event.thread_id] = Thread(event.thread_id, None, "Running")
    return replace(threads, threads=_without_oldest_exits(tuple(table.values())))


def _without_oldest_exits(threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
    exited = [thread.id for thread in threads if thread.state == "Exited"]
    dropped = set(exited[: max(0, len(exited) - MAX_EXITED_THREADS)])
    return tuple(thread for thread in threads if thread.id not in dropped)


def _modules_after(modules: tuple[Module, ...], events: list[ModuleEvent]) -> tuple[Module, ...]:
    if len(modules) >= MAX_MODULES:  # before the search: a program that has filled the table loads many more
        events = [event for event in events if event.reason != "new"]
    if not events:
        return modules
    table = {module.id: module for module in modules}
    for event in events:
        loaded = event.module
        if event.reason == "removed":
            table.pop(loaded.id, None)
        elif loaded.id in table or len(table) < MAX_MODULES:
            table[loaded.id] = Module(
                loaded.id, loaded.name, loaded.path, loaded.version, loaded.symbol_status, loaded.is_user_code
            )
    return tuple(table.values())
