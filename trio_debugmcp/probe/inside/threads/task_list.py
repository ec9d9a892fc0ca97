"""The tasks of the program, of asyncio and of Trio, and the frames of one of them by its name.

    listed = task_list.all_tasks()
    frames = task_list.frames_of(task_list.find("Task-3"))      # VisibleFrame of each, the innermost first

Both libraries are looked into without importing them and without stopping the program.
"""

from typing import List, Optional

from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import VisibleFrame
from trio_debugmcp.probe.inside.threads import asyncio_tasks, program_task, trio_tasks
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask

MOST_TASKS = 20000
"""Of a program that are walked through; how many there are is known beyond that."""

UNKNOWN = "not known for this version"

_MOST_NAMED = 20


class NoTaskError(Exception):
    """There is no such task, or there are several."""


class TaskListing:
    """The tasks that are not done: those of asyncio by loop, then those of Trio in the order of their tree.

    Attributes:
        total: how many there are; `tasks` has at most `MOST_TASKS` of each library.
        notes: on what could not be found.
    """

    def __init__(self) -> None:
        self.tasks: List[ProgramTask] = []
        self.total = 0
        self.notes: List[str] = []


def all_tasks() -> TaskListing:
    """Return the tasks of the program, each with a name of its own."""
    listed = TaskListing()
    for library in (asyncio_tasks, trio_tasks):
        try:
            tasks, number = library.find(MOST_TASKS)
        except Exception as error:
            listed.notes.append(f"{library.NAME}: {UNKNOWN} ({type(error).__name__}: {str(error)[:200]})")
            continue
        listed.total += number
        listed.tasks += tasks
        listed.notes += library.notes()
    program_task.set_names(listed.tasks)
    return listed


def find(name: str) -> ProgramTask:
    """Return the task of that name: that of an answer, or the program's own if only one has it, or its last part.

    Raises:
        NoTaskError: there is none of this name, or there are several.
    """
    listed = all_tasks()
    exact = [task for task in listed.tasks if name in (task.name, _numbered(task))]
    alike = [task for task in listed.tasks if task.own_name == name]
    ends = [task for task in listed.tasks if task.own_name.endswith(f".{name}")]
    for candidates in (exact, alike, ends):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise NoTaskError(f"{len(candidates)} tasks are named {name}: pass one of {_names(candidates)}.")
    if not listed.tasks:
        notes = "".join(f" ({note})" for note in listed.notes)
        raise NoTaskError(f"There is no task {name}: no task of asyncio or Trio was found now{notes}.")
    beyond = f" Only the first {len(listed.tasks)} were looked at." if listed.total > len(listed.tasks) else ""
    raise NoTaskError(
        f"No task {name} was found among those that are not done: {_names(listed.tasks)}.{beyond} Ask tasks_list."
    )


def _numbered(task: ProgramTask) -> str:
    number = program_task.known_number(task.task)
    return task.name if number is None else f"{task.own_name}#{number}"


def _names(tasks: List[ProgramTask]) -> str:
    names = ", ".join(task.name for task in tasks[:_MOST_NAMED])
    more = len(tasks) - _MOST_NAMED
    return f"{names}, and {more} more" if more > 0 else names


def frames_of(task: ProgramTask) -> List[VisibleFrame]:
    """Return the frames of a task, the innermost first."""
    debugger = attached.debugger()
    return [debugger.visible(frame) for frame in reversed(task.frames())]


def own_index(task: ProgramTask) -> int:
    """Return the index of the innermost frame of a task that is not a library's; 0 if all are."""
    own = (index for index, seen in enumerate(frames_of(task)) if not seen.library)
    return next(own, 0)


def frame_at(task: ProgramTask, index: int) -> Optional[VisibleFrame]:
    """Return the frame of a task with that index, 0 for the innermost; None if it has none."""
    frames = task.frames()
    return attached.debugger().visible(frames[-1 - index]) if 0 <= index < len(frames) else None
