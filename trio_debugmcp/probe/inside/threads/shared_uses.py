"""What one process does with the locks that it shares with others: which it has, which its threads wait for.

    listed_json(threads, known, budget)
    # [{"id": "00:1b 5837", "count": 1, "single": True, "takers": [{"thread": 1, …}], "waiters": []}]

Who waits for whom over processes is found by those who see all of them.
"""

import time
from typing import Any, Dict, List, Optional

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import shared_locks, taken_locks
from trio_debugmcp.probe.inside.threads.waits import Wait
from trio_debugmcp.probe.inside.visible_frames import Json

_MOST_LISTED = 100
"""Locks in an answer: those that are waited for first."""


def listed_json(found: List[ProgramThread], known: Dict[int, Optional[Wait]], budget: Budget) -> List[Json]:
    """Return the shared locks that this process has acquired, or that others have of it, or that it waits for."""
    semaphores = {id(each): each for each in shared_locks.known_here()}
    waiters: Dict[int, List[Json]] = {}
    for thread in found:
        wait = known.get(thread.ident)
        semaphore = None if wait is None else shared_locks.semaphore_of(wait.target)
        if wait is not None and semaphore is not None and not shared_locks.is_free(semaphore):
            semaphores[id(semaphore)] = semaphore
            waiters.setdefault(id(semaphore), []).append({"thread": thread.id, "timed": wait.bounded})
    takers = _takers(found, semaphores, budget)
    counts = {key: shared_locks.count(each) for key, each in semaphores.items()}
    used = sorted((key for key in semaphores if counts[key] or key in waiters), key=lambda key: key not in waiters)
    identities = shared_locks.identities([semaphores[key] for key in used[:_MOST_LISTED]])
    return [
        {
            "id": identities[key],
            "count": counts[key],
            "single": shared_locks.is_single(semaphores[key]),
            "takers": list(takers.get(key, {}).values()) if counts[key] > 0 else [],
            "waiters": waiters.get(key, []),
        }
        for key in used
        if key in identities
    ]


def _takers(found: List[ProgramThread], semaphores: Dict[int, Any], budget: Budget) -> Dict[int, Dict[int, Json]]:
    """The threads that have taken each semaphore, as their stacks show; what is found there is put to the others."""
    takers: Dict[int, Dict[int, Json]] = {}
    end = budget.half()
    for thread in found:
        if time.monotonic() > end:
            break
        for semaphore, frame, by_block in taken_locks.of(thread, _is_shared):
            semaphores[id(semaphore)] = semaphore
            code = frame.f_code
            place = {"file": code.co_filename, "line": frame.f_lineno, "function": code.co_name}
            taker = {"thread": thread.id, "at": place, "byCall": not by_block}
            takers.setdefault(id(semaphore), {}).setdefault(thread.id, taker)
    return takers


def _is_shared(lock: Any) -> bool:
    return shared_locks.semaphore_of(lock) is not None
