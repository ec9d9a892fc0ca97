"""What one process does with the locks that it shares with others: which it has, which its threads wait for.

    listed, omitted = listed_json(threads, known, budget)
    # [{"id": "00:1b 5837", "count": 1, "single": True, "takers": [{"thread": 1, …}], "waiters": []}], 0

Who waits for whom over processes is found by those who see all of them.
"""

import time
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import shared_locks, taken_locks
from trio_debugmcp.probe.inside.threads.waits import Wait
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_LISTED = 500
"""Locks in an answer: those that are waited for first, then those that only one can have."""


def listed_json(found: List[ProgramThread], known: Dict[int, Optional[Wait]], budget: Budget) -> Tuple[List[Json], int]:
    """Return the shared locks that this process has acquired, or that others have of it, or that it waits for.

    And how many more there may be.
    """
    here, unseen = shared_locks.known_here()
    semaphores = {id(each): each for each in here}
    waiters: Dict[int, List[Json]] = {}
    for thread in found:
        wait = known.get(thread.ident)
        semaphore = None if wait is None else shared_locks.semaphore_of(wait.target)
        if wait is not None and semaphore is not None and not shared_locks.is_free(semaphore):
            semaphores[id(semaphore)] = semaphore
            waiters.setdefault(id(semaphore), []).append({"thread": thread.id, "timed": wait.bounded})
    takers = _takers(found, semaphores, budget)
    counts = {key: shared_locks.count(each) for key, each in semaphores.items()}
    single = {key: shared_locks.is_single(each) for key, each in semaphores.items()}
    used = [key for key in semaphores if counts[key] or key in waiters]
    used.sort(key=lambda key: (key not in waiters, not single[key]))
    listed = used[:MOST_LISTED]
    identities = shared_locks.identities([semaphores[key] for key in listed])
    locks: List[Json] = [
        {
            "id": identities[key],
            "count": counts[key],
            "single": single[key],
            "takers": list(takers.get(key, {}).values()) if counts[key] > 0 else [],
            "waiters": waiters.get(key, []),
        }
        for key in listed
        if key in identities
    ]
    return locks, len(used) - len(listed) + unseen


def _takers(found: List[ProgramThread], semaphores: Dict[int, Any], budget: Budget) -> Dict[int, Dict[int, Json]]:
    """The threads that have taken each semaphore, as their stacks show; what is found there is put to the others.

    Where there is no time for all threads those are left out that have called `acquire`: others may have it since.
    """
    takers: Dict[int, Dict[int, Json]] = {}
    end = budget.half()
    for thread in found:
        if time.monotonic() > end:
            return {
                key: {id_: taker for id_, taker in each.items() if not taker["byCall"]} for key, each in takers.items()
            }
        for semaphore, frame, by_block in taken_locks.of(thread, _is_shared):
            semaphores[id(semaphore)] = semaphore
            code = frame.f_code
            place = {"file": code.co_filename, "line": frame.f_lineno, "function": code.co_name}
            taker = {"thread": thread.id, "at": place, "byCall": not by_block}
            takers.setdefault(id(semaphore), {}).setdefault(thread.id, taker)
    return takers


def _is_shared(lock: Any) -> bool:
    return shared_locks.semaphore_of(lock) is not None
