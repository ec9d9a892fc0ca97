"""The tasks of asyncio. `asyncio.all_tasks` needs the loop, so the loops are found among the frames of the threads."""

import sys
from typing import Any, Dict, Iterable, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import await_chains
from trio_debugmcp.probe.inside.threads.await_chains import Json
from trio_debugmcp.probe.inside.values import facts

NAME = "asyncio"

_COLLECTIONS = ("_all_tasks", "_scheduled_tasks", "_eager_tasks")
"""Where asyncio keeps tasks, in one version or another: 3.8 to 3.11, 3.12 and newer, eager ones."""

_MOST_RETRIES = 20

_MOST_FRAMES = 500


class AsyncioTask:
    """A task, with what is known only from outside of it.

    Attributes:
        waiters: names of the tasks that wait for a future, by the future's id.
    """

    __slots__ = ("task", "thread", "waiters")

    def __init__(self, task: Any, thread: Optional[ProgramThread], waiters: Dict[int, List[str]]) -> None:
        self.task = task
        self.thread = thread
        self.waiters = waiters


def notes() -> List[str]:
    """Return what could not be found; for asyncio nothing is known to be."""
    return []


def find(most: int) -> Tuple[List[AsyncioTask], int]:
    """Return the tasks that are not done, oldest first as far as that is known, and how many there are."""
    module: Any = sys.modules.get("asyncio.tasks")
    if module is None:
        return [], 0
    loops = _loops()
    unique: Dict[int, Any] = {}
    for task in _kept(module, [loop for loop, _ in loops]):
        if not task.done():
            unique[id(task)] = task
    tasks = sorted(unique.values(), key=_age)
    waiters: Dict[int, List[str]] = {}
    for task in tasks:
        for future in _awaited(task):
            waiters.setdefault(id(future), []).append(_name(task))
    threads = {id(loop): thread for loop, thread in loops}
    found = [AsyncioTask(task, threads.get(id(_loop(task))), waiters) for task in tasks[:most]]
    return found, len(tasks)


def _loops() -> List[Tuple[Any, ProgramThread]]:
    """The loops that run, each with its thread: `self` in a frame of asyncio's own, or the loop that a runner holds."""
    found: List[Tuple[Any, ProgramThread]] = []
    for thread in attached.debugger().threads():
        frame, number = thread.top, 0
        while frame is not None and number < _MOST_FRAMES:
            name = str(frame.f_globals.get("__name__", ""))
            if name in ("asyncio.base_events", "asyncio.runners") and "self" in frame.f_locals:
                owner = frame.f_locals["self"]
                loop = owner if name == "asyncio.base_events" else facts.attribute(owner, "_loop")
                if facts.class_attribute(type(loop), "call_soon") is not facts.MISSING:
                    found.append((loop, thread))
                    break
            frame, number = frame.f_back, number + 1
    return found


def _kept(module: Any, loops: List[Any]) -> Iterable[Any]:
    for attribute in _COLLECTIONS:
        collection = getattr(module, attribute, None)
        for _ in range(_MOST_RETRIES):
            try:
                yield from list(collection or ())
                break
            except RuntimeError:  # a thread has added or removed one meanwhile
                continue
    for loop in loops:  # 3.14 keeps them where only this function looks
        try:
            yield from module.all_tasks(loop)
        except (RuntimeError, TypeError):
            continue


def _age(task: Any) -> Tuple[int, str]:
    """The number in a default name is the order of creation."""
    digits = _name(task).rpartition("-")[2]
    return (int(digits), "") if digits.isdigit() and len(digits) < 19 else (1 << 62, _name(task))


def _name(task: Any) -> str:
    return str(task.get_name())[:200]


def _loop(task: Any) -> Any:
    return task.get_loop()


def _waiter(task: Any) -> Any:
    return getattr(task, "_fut_waiter", None)


def _awaited(task: Any) -> List[Any]:
    """The future that a task waits for, and the tasks that it gathers."""
    future = _waiter(task)
    if future is None:
        return []
    gathered = facts.attribute(future, "_children")
    return [future, *(gathered if type(gathered) is list else ())]


# --- One task ---------------------------------------------------------------------------------------------------------


def entry(found: AsyncioTask, budget: Budget) -> Json:
    """Return a task for an answer."""
    task = found.task
    coroutine = task.get_coro()
    frames, last = await_chains.frames_of(coroutine)
    result: Json = {"library": NAME, "id": id(task), "name": _name(task)}
    if found.thread is not None:
        result["thread"] = found.thread.id
    waits = _waits(task, last)
    if waits:
        result["state"], result["waits"] = "waiting", waits
    elif getattr(coroutine, "cr_running", False):
        result["state"] = "running"
        running = await_chains.running_frames(found.thread.top, coroutine) if found.thread is not None else None
        frames = running if running is not None else frames
    else:
        result["state"] = "ready"
    result["chain"] = await_chains.places(frames)
    waiting = found.waiters.get(id(task))
    if waiting:
        result["awaitedBy"] = waiting[:20]
    return result


def _waits(task: Any, last: Any) -> str:
    """What a task waits for at the end of its chain."""
    future = _waiter(task)
    if future is None:
        return ""
    if facts.class_attribute(type(future), "get_coro") is not facts.MISSING:
        return f"task {_name(future)}"
    gathered = facts.attribute(future, "_children")
    if type(gathered) is list:
        pending = [_name(each) for each in gathered if hasattr(each, "get_name") and not each.done()]
        return f"{len(pending)} of {len(gathered)} gathered: {', '.join(pending[:10])}"
    return facts.type_name(type(future)).lower()
