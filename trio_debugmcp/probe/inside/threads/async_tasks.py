"""The tasks of the program: of asyncio with what each awaits, of Trio as the tree of its nurseries, with places.

Both libraries are looked into without importing them and without stopping the program. Their private names differ
between versions; where one is missing the answer has a note, "not known for this version".
"""

from typing import Any, Callable, List, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.threads import asyncio_tasks, trio_tasks
from trio_debugmcp.probe.inside.threads.await_chains import Json

MOST_TASKS = 20000
"""Of a program that are walked through; how many there are is known beyond that."""

UNKNOWN = "not known for this version"


def tasks_json(budget: Budget, start: int, count: int) -> Json:
    """Return the tasks from `start` on: those of asyncio by loop, then those of Trio in the order of their tree."""
    notes: List[str] = []
    entries: List[Tuple[Callable[[Any, Budget], Json], Any]] = []
    total = 0
    for library in (asyncio_tasks, trio_tasks):
        try:
            found, number = library.find(MOST_TASKS)
        except Exception as error:
            notes.append(f"{library.NAME}: {UNKNOWN} ({type(error).__name__}: {str(error)[:200]})")
            continue
        total += number
        entries.extend((library.entry, each) for each in found)
        notes.extend(library.notes())
    listed = []
    for make, each in entries[start : start + count]:
        if budget.spent():
            break
        entry = make(each, budget)
        budget.take_json(entry)
        listed.append(entry)
    answer: Json = {"tasks": listed, "total": total}
    if notes:
        answer["notes"] = notes
    return answer
