"""Which tasks may end a wait: by `set` of an event, `put` of a queue, `notify` of a condition, or a future's result.

Read from the functions that the tasks are in: a name of theirs, or a field of it, is the very object that is awaited,
and the function still comes by. What a function does that they call is not looked into.
"""

from typing import Any, List, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.threads import bytecode
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts

_ENDING = {
    "wait": ("set", "notify", "notify_all"),
    "wait_for": ("notify", "notify_all"),
    "get": ("put", "put_nowait"),
    "put": ("get", "get_nowait"),
    "join": ("task_done",),
    "receive": ("send", "send_nowait"),
    "send": ("receive", "receive_nowait"),
    "": ("set_result", "set_exception"),
}
"""By the name of the method that waits; of a future there is none."""

_NAMES = frozenset(name for names in _ENDING.values() for name in names)

_MOST_NAMED = 2

_MOST_TASKS = 200
"""Whose functions are read: the first ones."""


class TaskSignals:
    """What the functions of these tasks may still do to events, queues, conditions, channels and futures."""

    def __init__(self, tasks: List[ProgramTask], budget: Budget) -> None:
        self._tasks = tasks
        self._budget = budget
        self._calls: List[Tuple[bytecode.Known, str, ProgramTask]] = []
        self._is_read = False

    def words(self, awaited: Any, method: str, waiting: ProgramTask) -> str:
        """Return who may end a wait in a method of an object, as the end of a sentence; empty if no task was found."""
        if not self._is_read:
            self._read()
        shared = _shared(awaited)
        said = [
            f"`{call.text}` of task {task.name}, {place}"
            for call, place, task in self._calls
            if call.last in _ENDING.get(method, ()) and task is not waiting and _shared(call.owner) is shared
        ]
        said = list(dict.fromkeys(said))
        more = f", and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        return f", until perhaps {' or '.join(said[:_MOST_NAMED])}{more}" if said else ""

    def _read(self) -> None:
        self._is_read = True
        for task in self._tasks[:_MOST_TASKS]:
            if self._budget.spent():
                return
            for frame in task.frames():
                if not attached.debugger().is_library(frame):
                    self._calls += [(call, place, task) for call, place in _calls(frame)]


def _calls(frame: Any) -> List[Tuple[bytecode.Known, str]]:
    """Return the methods that a frame will still load, with their owners and places."""
    code = frame.f_code
    if _NAMES.isdisjoint(code.co_names):
        return []
    try:
        found, now = bytecode.instructions(code), bytecode.position(frame)
        loads = [index for index, each in enumerate(found) if each.argval in _NAMES and "LOAD" in each.opname]
        coming = [index for index in loads if _comes(found, index, now)]
        stacks = [(index, bytecode.stack_at(frame, index + 1)) for index in coming]
        stacks = [(index, stack) for index, stack in stacks if stack and not _is_stored(found, stack[-1], index, now)]
    except Exception:  # bytecode of a version that is not known, or too much of it
        return []
    file = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return [(stack[-1], f"{file}:{_line(code, found[index].offset)}") for index, stack in stacks]


def _is_stored(found: List[Any], call: bytecode.Known, index: int, now: int) -> bool:
    """Whether the name by which a call begins may be another object's by then."""
    name = call.text.partition(".")[0]
    ahead = found[now:index] if index >= now else [*found[now:], *found[:index]]
    return any("STORE" in each.opname and each.argval == name for each in ahead)


def _comes(found: List[Any], index: int, now: int) -> bool:
    """Whether a frame may still come to an instruction: it is ahead, or in a loop around the current one."""
    offset = found[index].offset
    return index >= now or any(
        "JUMP" in each.opname and type(each.argval) is int and each.argval <= offset for each in found[now:]
    )


def _line(code: Any, offset: int) -> int:
    import dis  # which takes long to load, and most programs have no such tasks

    line = code.co_firstlineno
    for start, number in dis.findlinestarts(code):
        if start > offset:
            break
        line = line if number is None else number
    return int(line)


def _shared(owner: Any) -> Any:
    """Return what both ends of a channel have, or the object itself."""
    state = facts.attribute(owner, "_state")
    return state if facts.attribute(state, "open_send_channels") is not facts.MISSING else owner
