"""One session after something that its adapter said, or after a resume. Pure functions on `Snapshot`."""

from msgspec.structs import replace

from trio_debugmcp.dap.messages import (
    Continued,
    DapModule,
    EventBody,
    Exited,
    LoadedSource,
    ModuleEvent,
    Process,
    Stopped,
    Terminated,
    ThreadEvent,
)
from trio_debugmcp.state.model import Module, Origin, Snapshot, Thread, Threads

MAX_MODULES = 10_000
"""Modules kept per session; a large native program loads some thousands."""

MAX_EXITED_THREADS = 500
"""Exited threads that are still shown, until the next stop; a pool under load goes through thousands."""


def running(snapshot: Snapshot, *, stepping: bool = False) -> Snapshot:
    """It runs: a new generation, and what was captured is stale."""
    return replace(
        snapshot,
        phase="Running",
        stepping=stepping,
        generation=snapshot.generation + 1,
        threads=snapshot.threads if snapshot.threads.stale else replace(snapshot.threads, stale=True),
        stack=snapshot.stack if snapshot.stack.stale else replace(snapshot.stack, stale=True),
    )


def snapshot_after(snapshot: Snapshot, event: EventBody) -> Snapshot:
    """After an event of its adapter."""
    match event:
        case Stopped():
            return replace(snapshot, generation=snapshot.generation + 1)
        case Continued() if snapshot.phase == "Paused":
            return running(snapshot)
        case Continued() if snapshot.phase == "Running":  # a stop that is still being examined is over
            return replace(snapshot, generation=snapshot.generation + 1)
        case Exited(exit_code=exit_code):
            return replace(_terminating(snapshot), exit_code=exit_code)
        case Terminated():
            return _terminating(snapshot)
        case Process():
            return replace(snapshot, origin=_origin_after(snapshot.origin, event))
        case ThreadEvent():
            return replace(snapshot, threads=_threads_after(snapshot.threads, event))
        case ModuleEvent(reason=reason, module=module):
            return replace(snapshot, modules=_modules_after(snapshot.modules, reason, module))
        case LoadedSource():
            return replace(snapshot, sources_loaded=snapshot.sources_loaded + 1)
        case _:
            return snapshot


def _terminating(snapshot: Snapshot) -> Snapshot:
    return snapshot if snapshot.phase == "Terminating" else replace(running(snapshot), phase="Terminating")


def _origin_after(origin: Origin, process: Process) -> Origin:
    """What we launched we know better than the adapter, which may name a path, a command or nothing."""
    return replace(
        origin,
        process_id=process.system_process_id or origin.process_id,
        process_name=origin.process_name or process.name.rpartition("/")[2] or None,
        executable_path=origin.executable_path or (process.name if "/" in process.name else None),
    )


def _threads_after(threads: Threads, event: ThreadEvent) -> Threads:
    """Before the first capture there is no list to correct."""
    if threads.captured_at is None:
        return threads
    known = next((thread for thread in threads.threads if thread.id == event.thread_id), None)
    if event.reason == "exited":
        if known is None:
            return threads
        updated = tuple(replace(t, state="Exited") if t is known else t for t in threads.threads)
        return replace(threads, threads=_without_oldest_exits(updated))
    if known is not None and known.state != "Exited":
        return threads
    others = tuple(thread for thread in threads.threads if thread is not known)  # ids are used again
    return replace(threads, threads=(*others, Thread(event.thread_id, None, "Running")))


def _without_oldest_exits(threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
    if len(threads) <= MAX_EXITED_THREADS:
        return threads
    exited = [thread for thread in threads if thread.state == "Exited"]
    oldest = exited[0] if len(exited) > MAX_EXITED_THREADS else None
    return tuple(thread for thread in threads if thread is not oldest)


def _modules_after(modules: tuple[Module, ...], reason: str, module: DapModule) -> tuple[Module, ...]:
    if reason == "new" and len(modules) >= MAX_MODULES:  # not even looked for: programs that load that many load more
        return modules
    known = any(each.id == module.id for each in modules)
    if reason == "removed":
        return tuple(each for each in modules if each.id != module.id) if known else modules
    loaded = Module(module.id, module.name, module.path, module.version, module.symbol_status, module.is_user_code)
    if known:
        return tuple(loaded if each.id == module.id else each for each in modules)
    return modules if len(modules) >= MAX_MODULES else (*modules, loaded)
