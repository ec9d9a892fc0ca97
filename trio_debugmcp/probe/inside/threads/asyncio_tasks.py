"""The tasks of asyncio. `asyncio.all_tasks` needs the loop, so the loops are found among the frames of the threads."""

import sys
from typing import Any, Dict, Iterable, List, Optional, Tuple

from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts

NAME = "asyncio"

_COLLECTIONS = ("_all_tasks", "_scheduled_tasks", "_eager_tasks")
"""Where asyncio keeps tasks, in one version or another: 3.8 to 3.11, 3.12 and newer, eager ones."""

_MOST_RETRIES = 20

_MOST_FRAMES = 500


def notes() -> List[str]:
    """Return what could not be found; for asyncio nothing is known to be."""
    return []


def find(most: int) -> Tuple[List[ProgramTask], int]:
    """Return the tasks that are not done, oldest first as far as that is known, and how many there are."""
    module: Any = sys.modules.get("asyncio.tasks")
    if module is None:
        return [], 0
    running = loops()
    unique: Dict[int, Any] = {}
    for task in _kept(module, [loop for loop, _ in running]):
        if not task.done():
            unique[id(task)] = task
    tasks = sorted(unique.values(), key=_age)
    threads = {id(loop): thread for loop, thread in running}
    found = [
        ProgramTask(NAME, task, _name(task), threads.get(id(task.get_loop())), task.get_coro()) for task in tasks[:most]
    ]
    return found, len(tasks)


def loops() -> List[Tuple[Any, ProgramThread]]:
    """Return the loops that run, each with its thread: `self` in a frame of asyncio's own, or what a runner holds."""
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


def future_of(task: Any) -> Any:
    """Return the future that a task waits for, or None: also if that is done, and the task is ready."""
    future = getattr(task, "_fut_waiter", None)
    return None if facts.attribute(future, "_state") in ("FINISHED", "CANCELLED") else future


def gathered(future: Any) -> Optional[List[Any]]:
    """Return the futures that a future of `gather` stands for; None of another one."""
    children = facts.attribute(future, "_children")
    return list(children) if type(children) is list else None


def shielded(future: Any) -> Any:
    """Return the future that a future of `shield` stands for; None of another one."""
    for entry in facts.attribute(future, "_callbacks") or ():
        function = entry[0] if type(entry) is tuple else entry
        if type(function) is not type(shielded):  # an object of the program answers for its attributes itself
            continue
        code: Any = function.__code__
        if code.co_name == "_outer_done_callback" and "inner" in code.co_freevars:
            cells: Any = function.__closure__
            return cells[code.co_freevars.index("inner")].cell_contents
    return None


def is_task(future: Any) -> bool:
    """Return whether a future is a task."""
    return facts.class_attribute(type(future), "get_coro") is not facts.MISSING


def awaited(task: Any) -> List[Any]:
    """Return the future that a task waits for, and those that it gathers."""
    future = future_of(task)
    return [] if future is None else [future, *(gathered(future) or ())]
