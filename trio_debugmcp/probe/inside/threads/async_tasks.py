"""The tasks of the program: of asyncio with what each awaits, of Trio as the tree of its nurseries, with places.

Both libraries are looked into without importing them and without stopping the program. Their private names differ
between versions; where one is missing the answer has a note, "not known for this version".
"""

from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.threads import asyncio_tasks, task_list, thread_list, trio_tasks
from trio_debugmcp.probe.inside.threads.awaited import Awaits
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.threads.trio_tasks import TrioTask
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_LINKS = 30
"""Frames of a chain that are shown: the outermost third and the innermost ones."""

_OUTERMOST = 10

_MOST_WAITERS = 20


def tasks_json(budget: Budget, start: int, count: int, renderer: Optional[Renderer] = None) -> Json:
    """Return the tasks from `start` on, with a renderer also the local variables of the frames of the user's code."""
    listing = task_list.all_tasks()
    waiters: Dict[int, List[str]] = {}
    for task in listing.tasks:
        for future in asyncio_tasks.awaited(task.task) if task.library == asyncio_tasks.NAME else ():
            waiters.setdefault(id(future), []).append(task.name)
    awaits = Awaits(listing.tasks, budget)
    listed: List[Json] = []
    for task in listing.tasks[start : start + count]:
        if budget.spent():
            break
        entry = _entry(task, awaits, waiters.get(id(task.task), []), budget, renderer)
        budget.take_json(entry)
        listed.append(entry)
    notes = listing.notes + awaits.deadlocks()
    if awaits.left:
        notes.append(f"of {awaits.left} tasks it was not looked for who refers to what they wait for: that takes time")
    answer: Json = {"tasks": listed, "total": listing.total}
    if notes:
        answer["notes"] = notes
    return answer


def _entry(task: ProgramTask, awaits: Awaits, waiters: List[str], budget: Budget, renderer: Optional[Renderer]) -> Json:
    entry: Json = {"library": task.library, "id": id(task.task), "name": task.name}
    if task.thread is not None:
        entry["thread"] = task.thread.id
    frames = task.frames()
    words = "" if task.is_running else awaits.words(task, frames)
    entry["state"] = "running" if task.is_running else "waiting" if words else "ready"
    if words:
        entry["waits"] = words
    if task.is_running and task.thread is not None and task.thread.stopped is None:
        blocking = thread_list.awaited_json([task.thread.ident], budget).get("waits")
        if blocking is not None:  # no other task of this loop runs meanwhile
            entry["blockedIn"] = blocking
    indexed = list(enumerate(reversed(frames)))[::-1]
    if isinstance(task, TrioTask):
        _add_place_in_tree(entry, task)
        indexed = indexed[: len(frames) - trio_tasks.hidden(frames)]
    _add_chain(entry, indexed, budget, renderer)
    if waiters:
        entry["awaitedBy"] = waiters[:_MOST_WAITERS]
    return entry


def _add_place_in_tree(entry: Json, task: TrioTask) -> None:
    entry["depth"] = task.depth
    if task.parent is not None:
        entry["parent"] = task.parent
        if task.nursery:
            entry["nursery"] = task.nursery
    if task.task.child_nurseries:
        entry["nurseries"] = len(task.task.child_nurseries)


def _add_chain(entry: Json, indexed: List[Tuple[int, Any]], budget: Budget, renderer: Optional[Renderer]) -> None:
    """Put the frames into an entry, the outermost first: `indexed` has each with its number from the innermost."""
    left_out = len(indexed) - MOST_LINKS
    if left_out > 0:
        entry["chainOmitted"] = left_out
        indexed = indexed[:_OUTERMOST] + indexed[_OUTERMOST + left_out :]
    seen = [(index, attached.debugger().visible(frame)) for index, frame in indexed]
    entry["chain"] = [visible_frames.frame_json(index, each, False) for index, each in seen]
    if renderer is None:
        return
    has_own = any(not each.library for _, each in seen)
    for (_, each), place in zip(seen, entry["chain"]):
        if (has_own and each.library) or (not has_own and place is not entry["chain"][-1]):
            continue
        visible_frames.put_locals(place, each.frame, budget, renderer)
