"""The tasks of asyncio and Trio in the answer about a program that waits: those in the user's code, equal ones once.

    lines = task_summary(places, tasks, total=12)
    # ["left: serve app.py:6 > pay :9, waits for b, probably held by task right",
    #  "Task-3, Task-4, Task-5 and 5 more: job app.py:12, waits for jobs.get", "2 more: see tasks_list"]

A task of a library alone is only counted, and so is what has no room.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.server.answers.lines import task_words
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import TaskNow
from trio_debugmcp.state.payloads import name_of, truncated

MOST_LINES = 10
"""Of different tasks; tasks_list has all."""

_MOST_NAMED = 3

_MOST_BYTES = 3000


def task_summary(places: Places, tasks: Sequence[TaskNow], total: int) -> list[str]:
    """Return lines for the first of so many tasks."""
    alike: dict[str, list[str]] = {}
    for task in tasks:
        if any(frame.is_user_code for frame in task.frames):
            alike.setdefault(task_words(places, _of_user(task)), []).append(name_of(task.name))
    lines = [f"{_names(names)}: {words}" for words, names in alike.items()][:MOST_LINES]
    kept = truncated(lines, _MOST_BYTES) if lines else []
    shown = sum(len(names) for names in list(alike.values())[: len(kept)])
    if total > shown:
        kept.append(f"{total - shown} {'more' if shown else 'of libraries'}: see tasks_list")
    return kept


def _of_user(task: TaskNow) -> TaskNow:
    """Return a task without the library's frames inside the user's, where it is known what they wait for."""
    frames = list(task.frames)
    while task.waits_for and not frames[-1].is_user_code:
        frames.pop()
    return replace(task, frames=frames, indexes=task.indexes[: len(frames)])


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
