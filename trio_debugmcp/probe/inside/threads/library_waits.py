"""What the functions of the standard library and of Trio wait for, with what is known of that: items, a pid, a worker.

AROUND[("queue", "get")]        # kind, and what gives detail and target from its frame
"""

from typing import Any, Callable, Dict, Tuple

from trio_debugmcp.probe.inside.values import facts


def own(frame: Any) -> Any:
    """Return the object whose method a frame runs, or None."""
    return frame.f_locals.get("self")


def _queue(frame: Any) -> Tuple[str, Any]:
    queue = own(frame)
    size = facts.length(facts.attribute(queue, "queue"))
    detail = "" if size is None else f"{size} item{'s' if size != 1 else ''}"
    unfinished = facts.attribute(queue, "unfinished_tasks")
    if frame.f_code.co_name == "join" and type(unfinished) is int:
        detail += f", {unfinished} not yet reported by task_done"
    return detail, None


def _joined(frame: Any) -> Tuple[str, Any]:
    return str(facts.attribute(own(frame), "_name")), own(frame)


def _process(frame: Any) -> Tuple[str, Any]:
    pid = facts.attribute(own(frame), "pid")
    if pid is facts.MISSING or type(pid) is property:  # of multiprocessing
        pid = facts.attribute(facts.attribute(own(frame), "_popen"), "pid")
    return (f"pid {pid}" if type(pid) is int else ""), None


def _future(frame: Any) -> Tuple[str, Any]:
    future = own(frame)
    pending = facts.attribute(future, "_state") == "PENDING"
    return ("pending: no worker runs it" if pending else ""), future


def runs_future(frame: Any, future: Any) -> bool:
    """Return whether a frame of a worker thread is that which runs the work of a future."""
    is_work = frame.f_code.co_name == "run" and frame.f_globals.get("__name__") == "concurrent.futures.thread"
    return is_work and facts.attribute(own(frame), "future") is future


def _barrier(frame: Any) -> Tuple[str, Any]:
    count, parties = (facts.attribute(own(frame), name) for name in ("_count", "_parties"))
    if (
        type(count) is property
    ):  # of multiprocessing, which keeps its state and its count in memory that processes share
        shared = facts.attribute(own(frame), "_array")
        count = shared[1] if type(shared) is memoryview else None
    is_known = type(count) is int and type(parties) is int
    return (f"{count} of {parties} are there" if is_known else ""), None


def _always(detail: str) -> Callable[[Any], Tuple[str, Any]]:
    return lambda _: (detail, None)


def _nothing(frame: Any) -> Tuple[str, Any]:
    return "", None


AROUND: Dict[Tuple[str, str], Tuple[str, Callable[[Any], Tuple[str, Any]]]] = {
    **{("queue", name): ("queue", _queue) for name in ("get", "put", "join")},
    **{("threading", name): ("join", _joined) for name in ("join", "_wait_for_tstate_lock")},
    ("threading", "_shutdown"): ("exit", _always("other threads to end")),
    ("threading.Condition", "wait"): ("condition", _nothing),
    ("threading.Condition", "wait_for"): ("condition", _nothing),
    ("threading.Event", "wait"): ("event", _nothing),
    ("threading.Barrier", "wait"): ("barrier", _barrier),
    ("threading.Semaphore", "acquire"): ("semaphore", _nothing),
    ("threading.BoundedSemaphore", "acquire"): ("semaphore", _nothing),
    **{("concurrent.futures._base.Future", name): ("future", _future) for name in ("result", "exception")},
    ("concurrent.futures._base", "wait"): ("future", _nothing),
    ("concurrent.futures.thread", "_worker"): ("worker", _always("idle, no work")),
    ("multiprocessing.pool", "worker"): ("worker", _always("idle, no work")),
    ("concurrent.futures.process", "_process_worker"): ("worker", _always("idle, no work")),
    **{("subprocess", name): ("process", _process) for name in ("wait", "_wait", "communicate")},
    ("multiprocessing.process", "join"): ("process", _process),
    ("asyncio.base_events", "_run_once"): ("asyncio", _always("idle event loop")),
    ("trio._core._run", "unrolled_run"): ("trio", _always("idle event loop")),
    ("trio._core._run", "run"): ("trio", _always("idle event loop")),
    ("trio._core._thread_cache", "_work"): ("worker", _always("idle, no work")),
    ("anyio._backends._asyncio", "run"): ("worker", _always("idle, no work")),
    ("socketserver", "serve_forever"): ("io", _always("server, no connection")),
}
"""Functions around the innermost frame, by module (and class) and name: kind, and detail and target from its frame."""
