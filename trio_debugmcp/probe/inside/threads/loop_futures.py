"""Futures of threads for which an event loop runs a coroutine: `asyncio.run_coroutine_threadsafe(…).result()`.

    LoopFutures().runner_of(future)     # ("task Task-2", its thread), or None: no loop that was found runs it

Before the loop has a turn, there is no task yet: what makes it is among the callbacks that the loop will call.
"""

from typing import Any, List, Optional, Tuple

from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import asyncio_tasks
from trio_debugmcp.probe.inside.values import facts

_MOST_CALLBACKS = 10_000
"""Of a loop, that it will call in its next turn."""

_MOST_NAME = 100

_FUNCTION = type(lambda: None)


class LoopFutures:
    """The event loops of the program, which are looked for once."""

    def __init__(self) -> None:
        self._loops: Optional[List[Tuple[Any, ProgramThread]]] = None

    def runner_of(self, future: Any) -> Optional[Tuple[str, ProgramThread]]:
        """Return what of a loop ends a future, in words, and the thread of that loop; None: it is not known."""
        if self._loops is None:
            self._loops = asyncio_tasks.loops()
        task = _task_of(future)
        for loop, thread in self._loops:
            if task is not None and task.get_loop() is loop:
                return f"task {str(task.get_name())[:_MOST_NAME]}", thread
            waiting = _coroutine_of(future, loop) if task is None else None
            if waiting is not None:
                name = str(facts.attribute(waiting, "__qualname__"))[:_MOST_NAME]
                return f"pending: coroutine {name} has not begun", thread
        return None


def _task_of(future: Any) -> Any:
    """Return the task whose result a future gets; None: it has none."""
    callbacks = facts.attribute(future, "_done_callbacks")
    for callback in callbacks if type(callbacks) is list else ():
        task = _cell(callback, "_call_check_cancel", "source")
        if asyncio_tasks.is_task(task):
            return task
    return None


def _coroutine_of(future: Any, loop: Any) -> Any:
    """Return the coroutine of which a loop is going to make the task for a future; None: it is not."""
    ready = facts.attribute(loop, "_ready")
    try:
        handles = list(ready)[:_MOST_CALLBACKS] if facts.container(ready) is not None else []
    except RuntimeError:  # a thread has added one meanwhile
        return None
    for handle in handles:
        callback = facts.attribute(handle, "_callback")
        if _cell(callback, "callback", "future") is future:
            return _cell(callback, "callback", "coro")
    return None


def _cell(function: Any, name: str, variable: str) -> Any:
    """Return what a function of that name has of a variable of the function around it; None: it is not one."""
    if type(function) is not _FUNCTION or function.__code__.co_name != name:
        return None
    names, cells = function.__code__.co_freevars, function.__closure__
    if variable not in names or cells is None:
        return None
    try:
        return cells[names.index(variable)].cell_contents
    except ValueError:  # it has none yet
        return None
