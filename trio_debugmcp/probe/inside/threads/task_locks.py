"""Which tasks have a lock, a semaphore or a limiter for which another task waits.

Trio and anyio note who has a lock. asyncio does not, nor does any library for semaphores: a task that is in an `async
with` of one has it probably, and so has the only one that has awaited its `acquire` and not released it since.
"""

from typing import Any, List, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.threads import with_blocks
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts

_SEMAPHORES = ("Semaphore", "BoundedSemaphore")
_ACQUIRED = ("Lock", "StrictFIFOLock", "CapacityLimiter", *_SEMAPHORES)

_OWNERS = ("_owner", "_owner_task")

_BOUNDS = ("_bound_value", "_max_value", "max_value")
"""Where a semaphore has the number of tasks that may have it at once, if it knows that."""

_MOST_NAMED = 10


class LockTakers:
    """Who has a lock.

    Attributes:
        tasks: those who have it, or may have it.
        sure: whether the library itself says so.
        clear: whether each of these tasks has it, and no other one, as far as is known.
        loose: whether others may release it all the same: it was acquired by a call, and may be a signal, or is a
            semaphore of asyncio, which does not know how many may have it.
    """

    def __init__(self, tasks: List[ProgramTask], sure: bool, clear: bool = True, loose: bool = False) -> None:
        self.tasks = tasks
        self.sure = sure
        self.clear = clear
        self.loose = loose

    def words(self, waiting: ProgramTask) -> str:
        """Return them as the end of a sentence that begins with the lock for which a task waits."""
        names = ["itself" if task is waiting else f"task {task.name}" for task in self.tasks]
        if not names:
            where = " in an `async with` of it, or behind an `acquire` in the same function"
            return ", which no task has now" if self.sure else f", and no task was found{where}"
        more = len(names) - _MOST_NAMED
        listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        if not self.clear:
            return f", which {listed} took: who has it now is not known"
        return f", {'' if self.sure else 'probably '}held by {listed}"


def awaited_lock(above: List[Any]) -> Any:
    """Return the lock whose `acquire` a library's frames wait in, the innermost last; `facts.MISSING`: they do not."""
    for frame in reversed(above):
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name.startswith("acquire") and facts.type_name(type(owner)) in _ACQUIRED:
            return owner
    return facts.MISSING


class TaskLocks:
    """Who has which lock, among these tasks."""

    def __init__(self, tasks: List[ProgramTask], budget: Budget) -> None:
        self._tasks = tasks
        self._budget = budget
        self._taken: List[Tuple[Any, ProgramTask, bool]] = []
        self._is_read = self._is_complete = False

    def holders(self, lock: Any) -> LockTakers:
        """Return who has a lock."""
        owners = [facts.attribute(lock, name) for name in _OWNERS]
        owner = next((each for each in owners if each is not facts.MISSING), None)
        borrowers = facts.attribute(lock, "_borrowers")
        noted = list(borrowers) if type(borrowers) in (set, dict) else [] if owner is None else [owner]
        if noted:
            known = [task for task in self._tasks if any(each is task.task for each in noted)]
            return LockTakers(known, sure=True, clear=len(known) == len(noted))
        if facts.attribute(lock, "_locked") is False:
            return LockTakers([], sure=True)
        if not self._is_read:
            self._read()
        by_blocks, by_calls = self._takers(lock, True), self._takers(lock, False)
        if facts.type_name(type(lock)) in _SEMAPHORES:
            bounds = [bound for bound in (facts.attribute(lock, name) for name in _BOUNDS) if type(bound) is int]
            takers = list({id(task): task for task in by_blocks + by_calls}.values())
            # asyncio's do not know their bound. One that is only acquired, by calls, may be a signal of others.
            are_all = len(by_blocks) + len(by_calls) == bounds[0] if bounds else bool(by_blocks) and not by_calls
            return LockTakers(
                takers, sure=False, clear=self._is_complete and are_all, loose=bool(by_calls) or not bounds
            )
        if by_blocks:
            return LockTakers(by_blocks, sure=False, clear=len(by_blocks) == 1)
        # Of several that have acquired it one after the other, none is known to have it.
        return LockTakers(by_calls, sure=False, clear=self._is_complete and len(by_calls) == 1, loose=True)

    def _takers(self, lock: Any, by_block: bool) -> List[ProgramTask]:
        return [task for taken, task, block in self._taken if taken is lock and block is by_block]

    def _read(self) -> None:
        """Read what each task has taken from its frames."""
        self._is_read = True
        for task in self._tasks:
            if self._budget.spent():
                return
            frames = task.frames()
            for frame, inner in zip(frames, [*frames[1:], None]):
                for block, taken in ((True, with_blocks.taken_by_blocks), (False, with_blocks.taken_by_calls)):
                    self._taken += [
                        (_lock_of(each.value), task, block)
                        for each in taken(frame)
                        if not with_blocks.is_released(each.value, inner)
                    ]
        self._is_complete = True


def _lock_of(manager: Any) -> Any:
    """The lock of a condition, or the object itself."""
    lock = facts.attribute(manager, "_lock") if facts.type_name(type(manager)) == "Condition" else facts.MISSING
    return manager if lock is facts.MISSING else lock
