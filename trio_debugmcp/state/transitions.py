"""The snapshot of one session after an event of its adapter, a resume, or a stop. Pure functions on `Snapshot`.

`reduce` decides whether a change still applies; these functions say what it makes of the snapshot.
"""

from msgspec.structs import replace

from trio_debugmcp.dap.messages import (
    Continued,
    DapModule,
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
from trio_debugmcp.state.changes import StopExamined
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
        case ThreadEvent():
            return replace(snapshot, threads=_threads_after(snapshot.threads, event))
        case ModuleEvent(reason=reason, module=module):
            return replace(snapshot, modules=_modules_after(snapshot.modules, reason, module))
        case LoadedSource():
            return replace(snapshot, sources_loaded=snapshot.sources_loaded + 1)
        case _:
            return snapshot


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


def _threads_after(threads: Threads, event: ThreadEvent) -> Threads:
    if threads.captured_at is None:  # before the first stop there is no list to correct
        return threads
    known = next((thread for thread in threads.threads if thread.id == event.thread_id), None)
    if event.reason == "exited":
        if known is None:
            return threads
        updated = tuple(replace(t, state="Exited") if t is known else t for t in threads.threads)
        return replace(threads, threads=_without_oldest_exit(updated))
    if known is not None and known.state != "Exited":
        return threads
    # An id may be used again after its thread has exited: the new thread takes the place of the old one.
    others = tuple(thread for thread in threads.threads if thread is not known)
    return replace(threads, threads=(*others, Thread(event.thread_id, None, "Running")))


def _without_oldest_exit(threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
    if len(threads) <= MAX_EXITED_THREADS:
        return threads
    # One event lets one thread exit, so at most one is over the bound.
    exited = [thread for thread in threads if thread.state == "Exited"]
    oldest = exited[0] if len(exited) > MAX_EXITED_THREADS else None
    return tuple(thread for thread in threads if thread is not oldest)


def _modules_after(modules: tuple[Module, ...], reason: str, module: DapModule) -> tuple[Module, ...]:
    # Before the search: a program that has filled the table loads many more, and each search costs its length.
    if reason == "new" and len(modules) >= MAX_MODULES:
        return modules
    known = any(other.id == module.id for other in modules)
    if reason == "removed":
        return tuple(other for other in modules if other.id != module.id) if known else modules
    loaded = Module(module.id, module.name, module.path, module.version, module.symbol_status, module.is_user_code)
    if known:
        return tuple(loaded if other.id == module.id else other for other in modules)
    return modules if len(modules) >= MAX_MODULES else (*modules, loaded)
