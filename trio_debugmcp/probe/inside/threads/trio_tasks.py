"""The tasks of Trio as the tree of their nurseries. The runner is a local variable of the thread that runs it."""

import sys
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts

NAME = "trio"

_MODULE = "trio._core._run"
_TRAPS = "trio._core._traps"

_MOST_FRAMES = 500


class TrioTask(ProgramTask):
    """A task in the tree of its runner.

    Attributes:
        nursery: number of the nursery in the parent, from the outermost.
    """

    def __init__(self, task: Any, depth: int, parent: Optional[int], thread: ProgramThread, nursery: int) -> None:
        super().__init__(NAME, task, str(task.name), thread, task.coro)
        self.depth = depth
        self.parent = parent
        self.nursery = nursery


def notes() -> List[str]:
    """Say so where Trio is loaded but its runner is not on a stack: it may run as a guest of another loop."""
    if _MODULE in sys.modules and not _runners():
        return ["trio: not running, or as a guest of another event loop, where its tasks are not found"]
    return []


def find(most: int) -> Tuple[List[ProgramTask], int]:
    """Return the tasks of every runner, each before its children, and how many there are."""
    found: List[ProgramTask] = []
    total = 0
    for runner, thread in _runners():
        total += len(runner.tasks)
        root = runner.init_task if runner.init_task is not None else runner.main_task
        waiting: List[TrioTask] = [TrioTask(root, 0, None, thread, 0)] if root is not None else []
        while waiting and len(found) < most:
            each = waiting.pop()
            found.append(each)
            children = [
                TrioTask(child, each.depth + 1, id(each.task), thread, number)
                for number, nursery in enumerate(each.task.child_nurseries)
                for child in sorted(nursery.child_tasks, key=_order)
            ]
            waiting.extend(reversed(children))
    return found, total


def _order(task: Any) -> int:
    """Trio numbers its tasks in the order of their creation, from version 0.12 on."""
    number = getattr(task, "_counter", 0)
    return number if type(number) is int else 0


def _runners() -> List[Tuple[Any, ProgramThread]]:
    if _MODULE not in sys.modules:
        return []
    found: Dict[int, Tuple[Any, ProgramThread]] = {}
    for thread in attached.debugger().threads():
        frame, number = thread.top, 0
        while frame is not None and number < _MOST_FRAMES:
            if frame.f_globals.get("__name__") == _MODULE:
                runner = frame.f_locals.get("runner")
                if facts.type_name(type(runner)) == "Runner":
                    found[id(runner)] = (runner, thread)
            frame, number = frame.f_back, number + 1
    return list(found.values())


def hidden(frames: List[Any]) -> int:
    """Return how many of a task's innermost frames are of the mechanism by which every task of Trio waits."""
    number = 0
    while number < len(frames) and frames[-1 - number].f_globals.get("__name__") == _TRAPS:
        number += 1
    return number
