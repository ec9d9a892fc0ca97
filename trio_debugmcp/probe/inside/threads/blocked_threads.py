"""Which threads the kernel has blocked without a timeout: in a pipe or socket, for a child, a file lock or a thread.

    blocked_json(threads, known)
    # {"pid": 12, "threads": [{"thread": 1, "in": "write", "of": "pipe:[57]", "runs": 3}], "others": 0}

A thread with the same number of runs at two looks has been blocked all the time between. Linux only.
"""

from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported, process_marks
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import file_locks, shared_locks, unix_sockets
from trio_debugmcp.probe.inside.threads.waits import Wait
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.visible_frames import Json

_CALLS = {
    "x86_64": {
        **dict.fromkeys((0, 19, 45, 47), "read"),
        **dict.fromkeys((1, 20, 44, 46), "write"),
        61: "wait4",
        247: "waitid",
        202: "futex",
    },
    "aarch64": {
        **dict.fromkeys((63, 65, 207, 212), "read"),
        **dict.fromkeys((64, 66, 206, 211), "write"),
        260: "wait4",
        95: "waitid",
        98: "futex",
    },
}
"""Calls of the kernel that may block, by the machine and their numbers; to receive is to read, to send to write."""

_WITHIN = ("join", "exit", "worker")
"""What only threads of the same process end; what may be a signal, as an event, C code may set as well."""

_PID = 1
"""Of the kinds of `waitid`: one process by its id."""

_MOST_STATUS = 4000
_MOST_CALL = 300
_MOST_THREADS = 200


def blocked_json(found: List[ProgramThread], known: Dict[int, Optional[Wait]]) -> Optional[Json]:
    """Return the threads that are blocked, and how many others there are; None where the kernel does not say."""
    posix = imported.first_seen("posix")
    system = None if posix is None else posix.uname()
    calls = _CALLS.get(system.machine) if system is not None and system.sysname == "Linux" else None
    if posix is None or calls is None:
        return None
    natives = kernel_ids(posix, found)
    blocked = []
    for thread in found[:_MOST_THREADS]:
        native = natives.get(thread.ident)
        entry = None if native is None or thread.stopped is not None else _blocked(posix, calls, native)
        if entry is not None and entry["in"] == "thread":
            entry["in"] = _awaited(thread, known.get(thread.ident))
        if entry is not None and entry["in"]:
            blocked.append({"thread": thread.id, **entry})
    return {"pid": posix.getpid(), "threads": blocked, "others": len(found) - len(blocked)}


def kernel_ids(posix: Any, found: List[ProgramThread]) -> Dict[int, int]:
    """Return the ids that the kernel has for the threads; after a fork the main thread has that of the process."""
    threads = facts.attribute(imported.now("threading"), "_active")
    if type(threads) is not dict:  # the program has not imported it: it has a main thread only
        return {thread.ident: posix.getpid() for thread in found if len(found) == 1}
    natives = {}
    for ident, thread in list(threads.items()):
        native = posix.getpid() if attached.is_main([ident]) else facts.attribute(thread, "_native_id")
        if type(native) is int:
            natives[ident] = native
    return natives


def _blocked(posix: Any, calls: Dict[int, str], native: int) -> Optional[Json]:
    """In what a thread is blocked, of what that is, and how often it has run so far."""
    task = f"/proc/self/task/{native}"
    try:
        call = process_marks.read_file(posix, f"{task}/syscall", _MOST_CALL).split()
        status = process_marks.read_file(posix, f"{task}/status", _MOST_STATUS).splitlines()
        if len(call) < 5 or not call[0].isdigit():  # it runs
            return None
        what = _what(posix, calls.get(int(call[0]), ""), [int(each, 16) for each in call[1:5]])
        lock = file_locks.awaited_by(posix, native) if what is None else None
        what = what if lock is None else ("file", file_locks.name_of(lock))
    except (OSError, ValueError):
        return None
    runs = [int(line.split()[1]) for line in status if b"voluntary_ctxt_switches" in line]
    return None if what is None or not runs else {"in": what[0], "of": what[1], "runs": sum(runs)}


def _what(posix: Any, call: str, given: List[int]) -> Optional[Tuple[str, str]]:
    if call in ("read", "write"):
        file = posix.readlink(f"/proc/self/fd/{given[0]}")
        if file.startswith("pipe:[") or (file.startswith("socket:[") and unix_sockets.is_endless(given[0], call)):
            return call, file
        return None
    if call == "wait4" and 0 < given[0] < 1 << 31:
        return "end", str(given[0])
    if call == "waitid" and given[0] == _PID:
        return "end", str(given[1])
    return ("thread", "") if call == "futex" and not given[3] else None


def _awaited(thread: ProgramThread, wait: Optional[Wait]) -> str:
    """Return whether a thread waits for a `thread` of its process or a `lock` that processes share; else nothing."""
    if wait is None:
        return ""
    if shared_locks.semaphore_of(wait.target) is not None:
        return "lock"
    return "thread" if wait.kind in _WITHIN or _is_idle_feeder(thread) else ""


def _is_idle_feeder(thread: ProgramThread) -> bool:
    """Whether it is the thread of a queue of `multiprocessing` that writes what others of its process put there."""
    around = thread.top.f_back
    return around is not None and around.f_globals.get("__name__") == "multiprocessing.queues"
