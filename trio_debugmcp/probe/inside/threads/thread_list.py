"""Every thread of the program: where it is, what it waits for, who has it, and which threads block each other.

Who has a plain `threading.Lock` is not known to Python. A thread that is in a `with` block of it, or has passed an
`acquire` of it without a `release` since, has it probably; such an answer has `sure: false`.
"""

import time
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import (
    blocked_threads,
    file_locks,
    library_waits,
    shared_locks,
    shared_uses,
    taken_locks,
    wait_ends,
    waits,
)
from trio_debugmcp.probe.inside.threads.loop_futures import LoopFutures
from trio_debugmcp.probe.inside.threads.waits import Wait
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_THREADS = 1000
"""Of a program, in one answer."""

_MOST_FRAMES = 60
"""Of a thread that are searched for its place in the user's code, or for the work that it does."""


class LockOwner:
    """A thread that has a lock, the frame that took it, and whether that was by a call of `acquire`."""

    __slots__ = ("by_call", "frame", "sure", "thread")

    def __init__(self, thread: ProgramThread, frame: Any, sure: bool, by_call: bool = False) -> None:
        self.by_call = by_call
        self.thread = thread
        self.frame = frame
        self.sure = sure


def threads_json(budget: Budget, start: int = 0, count: int = MOST_THREADS) -> Json:
    """Return threads with their places, what each waits for, and which of them block each other."""
    found = attached.debugger().threads()
    page = found[start : start + count]
    known = _waits(page, budget)
    holders = _holders(found, known, budget)
    listed = []
    for thread in page:
        if budget.spent():
            break
        listed.append(_thread_json(thread, known, holders))
        budget.take_json(listed[-1])
    answer: Json = {"threads": listed, "total": len(found)}
    blocked = _deadlocks(page, known, holders)
    if blocked:
        answer["deadlocks"] = blocked
    return answer


def places_json(budget: Budget, count: int) -> Json:
    """Return threads and, as long as the budget lasts, their places; not what they wait for."""
    found = attached.debugger().threads() if count else []
    listed = []
    for thread in found[:count]:
        listed.append(_thread_json(thread, {}, {}, placed=not budget.spent()))
        budget.take_json(listed[-1])
    return {"threads": listed, "total": len(found)}


def stacks_json(asked: "StackQuestion", budget: Budget, renderer: Renderer) -> Json:
    """Return the stacks of all threads, each with what it waits for, and with the locals of its frames where asked."""
    found = attached.debugger().threads()
    page = found[asked.start : asked.start + asked.most]
    known = _waits(page, budget)
    holders = _holders(found, known, budget)
    stacks = []
    for thread in page:
        if budget.spent():
            break
        entry = _thread_json(thread, known, holders, placed=False)
        budget.take_json(entry)
        entry.update(visible_frames.listed(thread, 0, asked.frames, budget))
        if asked.locals:
            visible_frames.add_locals(thread, entry["frames"], budget, renderer)
        stacks.append(entry)
    answer: Json = {"stacks": stacks, "total": len(found)}
    blocked = _deadlocks(page, known, holders)
    if blocked:
        answer["deadlocks"] = blocked
    if asked.shared and shared_locks.are_here():
        answer["shared"], answer["sharedOmitted"] = shared_uses.listed_json(found, known, budget)
    blocked_now = blocked_threads.blocked_json(found, known) if asked.shared else None
    if blocked_now is not None:
        answer["blocked"] = blocked_now
    return answer


def awaited_json(idents: List[int], budget: Budget) -> Json:
    """Return what one of these threads waits for, of which some count as stopped, and who is held at a breakpoint."""
    found = attached.debugger().threads()
    page = [ProgramThread(t.id, t.ident, t.name, t.top, None, t.daemon) for t in found if t.ident in idents]
    known = _waits(page, budget)
    holders = _holders(found, known, budget)
    answer: Json = {"turnedAway": _turned_away()}
    for wait in known.values():
        if wait is not None:
            answer["waits"] = _wait_json(wait, holders)
            break
    return answer


class StackQuestion:
    """Which threads, and how much of each stack; `shared`: also what it waits for of other processes."""

    __slots__ = ("frames", "locals", "most", "shared", "start")

    def __init__(self, start: int, most: int, frames: int, locals_: bool, shared: bool) -> None:
        self.shared = shared
        self.start = start
        self.most = most
        self.frames = frames
        self.locals = locals_


def _waits(page: List[ProgramThread], budget: Budget) -> Dict[int, Optional[Wait]]:
    """What each thread waits for, or None, by ident. Takes at most half of the time; then threads are missing."""
    end = budget.half()
    known: Dict[int, Optional[Wait]] = {}
    for thread in page:
        if time.monotonic() > end:
            break
        try:
            known[thread.ident] = waits.wait_of(thread)
        except Exception:  # bytecode of a version that is not known
            continue
    _add_file_locks(page, known, budget)
    return known


def _add_file_locks(page: List[ProgramThread], known: Dict[int, Optional[Wait]], budget: Budget) -> None:
    """Say of those that wait for the lock of a file which one it is, and which processes have it.

    Whatever called that, the kernel says it; of a call that it does not know, the function is known.
    """
    posix = imported.first_seen("posix")
    natives = {} if posix is None else blocked_threads.kernel_ids(posix, page)
    for thread in page:
        wait = known.get(thread.ident)
        if thread.ident in natives and thread.ident in known and (wait is None or wait.kind == "file"):
            offset = thread.top.f_lasti
            detail = file_locks.described(posix, natives[thread.ident], budget) if thread.stopped is None else ""
            if detail and wait is None:
                wait = known[thread.ident] = Wait("file", waits.call_of(thread))
                wait.offset = offset
            if detail and wait is not None:
                wait.detail = detail


def _thread_json(
    thread: ProgramThread, known: Dict[int, Optional[Wait]], holders: Dict[int, LockOwner], placed: bool = True
) -> Json:
    wait = known.get(thread.ident)
    entry: Json = {"id": thread.id, "name": thread.name[:200]}
    if thread.stopped is not None:
        entry["state"] = "stopped"
    elif thread.ident in known:
        entry["state"] = "running" if wait is None else "waiting"
        calls = waits.call_of(thread) if wait is None else ""
        if calls:
            entry["calls"] = calls[:200]
    else:
        entry["state"] = "unknown"
    if thread.daemon:
        entry["daemon"] = True
    place = _place(thread) if placed else None
    if place is not None:
        entry["at"] = place
    if wait is not None:
        entry["waits"] = _wait_json(wait, holders)
    return entry


def _place(thread: ProgramThread) -> Optional[Json]:
    """The top frame, and where that is a library's the nearest one of the user's code."""
    top: Optional[Json] = None
    for index, seen in enumerate(attached.debugger().frames(thread)):
        if top is None:
            top = visible_frames.frame_json(index, seen, stopped=False)
            if not seen.library:
                return top
        elif not seen.library:
            top["from"] = visible_frames.frame_json(index, seen, stopped=False)
            return top
        if index > _MOST_FRAMES:
            break
    return top


def _wait_json(wait: Wait, holders: Dict[int, LockOwner]) -> Json:
    found: Json = {"kind": wait.kind}
    if wait.what:
        found["what"] = wait.what[:200]
    if wait.detail:
        found["detail"] = wait.detail[:200]
    holder = holders.get(id(wait.target)) if wait.target is not None else None
    if holder is not None:
        found["holder"] = {"thread": holder.thread.id, "name": holder.thread.name[:200], "sure": holder.sure}
        if holder.frame is not None:
            code = holder.frame.f_code
            place = {"file": code.co_filename, "line": holder.frame.f_lineno, "function": code.co_name}
            found["holder"]["at"] = place
    return found


# --- Who has it -------------------------------------------------------------------------------------------------------


def _holders(found: List[ProgramThread], known: Dict[int, Optional[Wait]], budget: Budget) -> Dict[int, LockOwner]:
    """The holders of the locks and threads that are waited for, by the id of the object.

    Threads whose waits have ended since are not `known` to wait any more: with what they have taken by now, they would
    make circles that never were.
    """
    by_ident = {thread.ident: thread for thread in found}
    holders: Dict[int, LockOwner] = {}
    searched: Dict[int, List[Any]] = {}
    loops = LoopFutures()
    for wait in known.values():
        if wait is None or wait.target is None:
            continue
        owner = waits.owner_of(wait.target)
        ident = owner if owner is not None else facts.attribute(wait.target, "_ident") if wait.kind == "join" else None
        if ident in by_ident:
            holders[id(wait.target)] = LockOwner(by_ident[ident], None, True)
        elif wait.kind == "future":
            runner = _runner(found, wait, loops)
            if runner is not None:
                holders[id(wait.target)] = LockOwner(runner, None, True)
        elif _is_taken(waits.lock_of(wait.target)):
            searched.setdefault(id(waits.lock_of(wait.target)), []).append(wait.target)
    end = budget.half()
    takers: Dict[Tuple[int, bool], Dict[int, LockOwner]] = {}
    is_complete = True
    for thread in found if searched else ():
        if time.monotonic() > end:
            is_complete = False  # one that was not looked at may have acquired it since
            break
        for lock, frame, by_block in taken_locks.of(thread, lambda lock: id(lock) in searched):
            taker = LockOwner(thread, frame, False, by_call=not by_block)
            takers.setdefault((id(lock), by_block), {}).setdefault(thread.ident, taker)
        _forget_ended(known, [thread])
    for key, targets in searched.items():
        likely = takers.get((key, True)) or (takers.get((key, False)) if is_complete else None) or {}
        if len(likely) == 1:  # of several, which have acquired it one after the other, none is known to have it
            holders.update({id(target): next(iter(likely.values())) for target in targets})
    _forget_ended(known, found)
    return holders


def _forget_ended(known: Dict[int, Optional[Wait]], threads: List[ProgramThread]) -> None:
    """Threads that are no longer where they were seen to wait are not known to wait any more."""
    for thread in threads:
        wait = known.get(thread.ident)
        if wait is not None and not waits.lasts(wait, thread):
            known[thread.ident] = None


def _runner(found: List[ProgramThread], wait: Wait, loops: LoopFutures) -> Optional[ProgramThread]:
    """Return the thread that runs what a future is of: a worker, or that of an event loop: `wait` says its task."""
    runner = next((thread for thread in found if _runs(thread, wait.target)), None)
    by_loop = loops.runner_of(wait.target) if runner is None and wait.detail else None
    if by_loop is not None:
        wait.detail, runner = by_loop
    return runner


def _runs(thread: ProgramThread, future: Any) -> bool:
    """Whether a thread is a worker that runs what a future is of."""
    frame = thread.top
    for _ in range(_MOST_FRAMES):
        if frame is None or library_waits.runs_future(frame, future):
            break
        frame = frame.f_back
    return frame is not None


def _is_taken(lock: Any) -> bool:
    """Whether a thread of this process has a lock, and Python does not say which."""
    if type(lock) is waits.LOCK:
        return bool(lock.locked())
    semaphore = shared_locks.semaphore_of(lock)
    return semaphore is not None and shared_locks.is_single(semaphore) and shared_locks.count(semaphore) > 0


def _deadlocks(
    found: List[ProgramThread], known: Dict[int, Optional[Wait]], holders: Dict[int, LockOwner]
) -> List[Json]:
    """The circles of threads in which each has what another one wants.

    They are sure if Python knows who has each lock, and no thread may stop waiting after a time. They are loose if one
    has a lock by a call: it may be a signal, which another thread releases. What may end it besides is in `ends`.
    """
    wanted = {
        ident: holders[id(wait.target)]
        for ident, wait in known.items()
        if wait is not None and wait.target is not None and id(wait.target) in holders
    }
    ids = {thread.ident: thread.id for thread in found}
    circles: List[Json] = []
    seen: Dict[int, bool] = {}
    for start in wanted:
        path: List[int] = []
        ident = start
        while ident in wanted and ident in ids and ident not in path and ident not in seen:
            path.append(ident)
            ident = wanted[ident].thread.ident
        if ident in path:
            circle = path[path.index(ident) :]
            timed = [wait.bounded for each in circle for wait in (known[each],) if wait is not None]
            owners = [wanted[each] for each in circle]
            sure = all(owner.sure for owner in owners) and not any(timed)
            loose = any(owner.by_call for owner in owners)
            threads = [ids[each] for each in circle]
            circles.append({"threads": threads, "sure": sure, "timed": any(timed), "loose": loose})
            circles[-1]["ends"] = wait_ends.of_main() if attached.is_main(circle) else wait_ends.of_any()
        seen.update(dict.fromkeys(path, True))
    return circles


def _turned_away() -> List[Json]:
    """The threads that came to a breakpoint while an evaluation lasts, and where each is."""
    found: List[Json] = []
    idents = attached.debugger().turned_away()
    for thread in attached.debugger().threads() if idents else ():
        top = next(attached.debugger().frames(thread), None) if thread.ident in idents else None
        if top is not None:
            place = visible_frames.frame_json(0, top, False)
            found.append({"id": thread.id, "name": thread.name, "state": "stopped", "at": place})
    return found
