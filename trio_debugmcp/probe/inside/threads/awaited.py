"""What a task waits for, in words, and who should end that: as far as it was looked at.

    Awaits(tasks, budget).words(task)
    # "lock, probably held by task Task-2"    "pool.get, 0 items, which is at `pool` in main (task Task-1)"
    # "g.open.wait, not set, until `g.open.set` of task opener, shop.py:6"
    # "future, which is at `gate.queue[0]`"   "future, to which nothing else refers that the garbage collector sees"

The expression is that of the innermost frame of the user's code, read from its bytecode. Who has a lock of asyncio is
not known to Python: a task that is in an `async with` of it has it probably. Who refers to a plain future, a queue or
an event is found by walking through all objects of the program, for few tasks of an answer.
"""

import time
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple

from trio_debugmcp.probe.inside.bounds import Budget, patient
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.threads import (
    asyncio_tasks,
    await_chains,
    loop_parts,
    task_timeouts,
    trio_tasks,
    waits,
    with_blocks,
)
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.threads.task_circles import TaskCircles
from trio_debugmcp.probe.inside.threads.task_locks import TaskLocks, awaited_lock
from trio_debugmcp.probe.inside.threads.task_signals import TaskSignals
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_SEARCHED = 8
"""Objects of an answer that are searched for who refers to them: each takes walks through all there are."""

_SEARCH_SECONDS = 0.4
"""For all of these, of which the program's threads stand still a part."""

_MOST_HOLDERS = 2
_MOST_TASKS = 10
_MOST_DEADLOCKS = 10
_VALUE_LENGTH = 60
_MOST_WORDS = 300

_LIBRARIES = ("asyncio", "trio", "anyio", "contextlib", "types")
"""Top modules of the frames between the user's code and what is waited for."""

_TIMER = "._scheduled["


class Awaits:
    """What the tasks of one answer wait for.

    Attributes:
        left: tasks of which it was not looked for who refers to what they wait for, as there was not enough time.
    """

    def __init__(self, tasks: List[ProgramTask], budget: Budget) -> None:
        self.left = 0
        self._tasks = tasks
        self._budget = budget
        self._end = time.monotonic() + patient(_SEARCH_SECONDS)
        self._searched: Dict[int, str] = {}
        self._names = {id(task.task): task.name for task in tasks}
        self._waiters: Optional[Dict[int, List[str]]] = None
        self._circles = TaskCircles()
        self._loose: Set[int] = set()
        self._ending: Dict[int, List[int]] = {}
        self._locks = TaskLocks(tasks, budget)
        self._signals = TaskSignals(tasks, budget)

    def deadlocks(self) -> List[str]:
        """Return the tasks that wait for each other, or for themselves, as far as `words` was asked of them."""
        circles = self._circles.all()
        more = len(circles) - _MOST_DEADLOCKS
        said = [self._deadlock(circle) for circle in circles[:_MOST_DEADLOCKS]]
        return said + ([f"{more} more circles of tasks that wait for each other"] if more > 0 else [])

    def _deadlock(self, circle: List[int]) -> str:
        names = ", ".join(self._names.get(each, "?") for each in circle)
        wait = (
            f"tasks {names} wait for each other" if len(circle) > 1 else f"task {names} waits for what it holds itself"
        )
        ending = {*circle}  # also what would cancel them: who gathers them, has them in a group, or awaits them
        above = ending
        while above:
            above = {each for task in above for each in self._ending.get(task, ())} - ending
            ending = ending | above
        waiting = [task for task in self._tasks if id(task.task) in ending]
        if any(task_timeouts.has_timeout(task) for task in waiting):
            return f"{wait}, until a timeout"
        if self._loose.isdisjoint(circle):
            return f"probably a deadlock: {wait}"
        return f"{wait}: a deadlock, unless something else releases that"

    def words(self, task: ProgramTask, frames: List[Any]) -> str:
        """Return what a task that does not run waits for; `frames`: from the outermost; empty if it is ready."""
        try:
            if task.library == asyncio_tasks.NAME:
                return self._of_asyncio(task, frames)[:_MOST_WORDS]
            return self._of_trio(task, frames)[:_MOST_WORDS]
        except Exception:  # of a version that is not known
            return "what is not known for this version"

    def _of_asyncio(self, task: ProgramTask, frames: List[Any]) -> str:
        future = asyncio_tasks.future_of(task.task)
        if future is None:
            return ""
        text, above = _expression(frames)
        awaited = asyncio_tasks.shielded(future) or future
        if asyncio_tasks.is_task(awaited):
            return self._of_tasks(task, "" if awaited is future else "shielded ", [awaited])
        gathered = asyncio_tasks.gathered(future)
        if gathered is not None:
            return self._of_tasks(task, "gathered: ", gathered, any_of_them=True)  # the first that fails ends it
        if not above:
            said = f"{text or facts.type_name(type(future)).lower()}{self._where(future, task)}"
            return said + self._signals.words(awaited, "", task)
        return self._of_library(text, frames, above, task) or f"{text or facts.type_name(type(future)).lower()}"

    def _of_tasks(self, task: ProgramTask, what: str, futures: Iterable[Any], any_of_them: bool = False) -> str:
        """Return the tasks that another one waits for, and note that it does."""
        listed = list(futures)
        left = [each for each in listed if asyncio_tasks.is_task(each) and not each.done()]
        if all(map(asyncio_tasks.is_task, listed)) or not any_of_them:  # who ends another future is not known
            self._circles.add(id(task.task), [id(each) for each in left], any_of_them)
        if not what.startswith(("shielded", "to be done")):
            for each in left:
                self._ending.setdefault(id(each), []).append(id(task.task))
        pending = [self._name(each) for each in left]
        more = f" and {len(pending) - _MOST_TASKS} more" if len(pending) > _MOST_TASKS else ""
        names = ", ".join(pending[:_MOST_TASKS]) + more
        return f"{len(pending)} of {len(listed)} {what}{names}" if what.endswith(": ") else f"{what}task {names}"

    def _of_trio(self, task: ProgramTask, frames: List[Any]) -> str:
        shown = frames[: len(frames) - trio_tasks.hidden(frames)]
        if not shown or getattr(task.task, "_next_send", None) is not None:
            return ""
        code = shown[-1].f_code
        name = str(getattr(code, "co_qualname", code.co_name))
        if name.endswith("_nested_child_finished"):
            nursery = facts.attribute(shown[-1].f_locals.get("self"), "_children")
            children = list(nursery) if type(nursery) is set else []
            self._circles.add(id(task.task), [id(each) for each in children])
            return "children of its nursery"
        text, above = _expression(shown)
        return (self._of_library(text, shown, above, task) if above else "") or text or name

    def _name(self, task: Any) -> str:
        known = self._names.get(id(task))
        return known if known is not None else str(task.get_name())[:200]

    # --- What libraries wait for -------------------------------------------------------------------------------------

    def _of_library(self, text: str, frames: List[Any], above: List[Any], task: ProgramTask) -> str:
        """Return what a library's function waits for; `above`: its frames, the one called by the user first."""
        outermost = above[0]
        lock = awaited_lock(above)
        if lock is not facts.MISSING:
            return self._lock(_name_of_lock(text, frames, above, lock), lock, task)
        awaited = _awaited_tasks(above)
        if awaited is not None:
            return self._of_tasks(task, *awaited)
        owner = outermost.f_locals.get("self")
        if owner is None:
            return _call(text, outermost)
        kind = facts.type_name(type(owner))
        if facts.module_name(type(owner)).startswith("asyncio"):
            known = loop_parts.waits_of(owner, kind, text, outermost)
            if known:
                return known
        said = ", ".join([text or f"{kind}.{outermost.f_code.co_name}", *_details(owner, outermost)])
        if facts.module_name(type(owner)).startswith("trio._core"):
            return said
        state = _channel_state(owner)
        where = self._where(owner if state is facts.MISSING else state, task)
        return said + where + self._signals.words(owner, outermost.f_code.co_name, task)

    def _lock(self, text: str, lock: Any, task: ProgramTask) -> str:
        holders = self._locks.holders(lock)
        if holders.loose:
            self._loose.add(id(task.task))
        if holders.clear:
            self._circles.add(id(task.task), [id(each.task) for each in holders.tasks], any_of_them=True)
        return text + holders.words(task)

    def _waiters_of(self, value: Any) -> List[str]:
        """Return the names of the tasks that wait for the same future, queue or event."""
        if self._waiters is None:
            self._waiters = {}
            for task in self._tasks:
                above = _expression(task.frames())[1]
                future = asyncio_tasks.future_of(task.task)
                owner = above[0].f_locals.get("self") if above else None
                state = _channel_state(owner)
                for each in (future, owner, None if state is facts.MISSING else state):
                    self._waiters.setdefault(id(each), []).append(task.name)
        return self._waiters.get(id(value), [])

    # --- Who refers to it --------------------------------------------------------------------------------------------

    def _where(self, value: Any, task: ProgramTask) -> str:
        known = self._searched.get(id(value))
        if known is not None:
            return known
        if len(self._searched) >= MOST_SEARCHED or time.monotonic() > self._end or self._budget.spent():
            self.left += 1
            return ""
        said = self._searched[id(value)] = self._search(value, task)
        return said

    def _search(self, value: Any, task: ProgramTask) -> str:
        from trio_debugmcp.probe.inside.types import referrers  # compiled only in programs that are asked

        renderer = Renderer(self._budget, _VALUE_LENGTH, code=False)
        question = referrers.ReferenceQuestion("inbound", 20)
        budget = Budget(max(0.0, self._end - time.monotonic()))  # the patience counts: `_end` has it already
        budget.end = min(budget.end, self._end)
        chain, last = await_chains.links_of(task.coroutine)
        own = [task.task, last, *(each for each, _ in chain)]
        found = referrers.references_json(value, question, budget, renderer, own)
        waiters = self._waiters_of(value)
        others = [entry for entry in found["inbound"] if entry.get("task") not in waiters or _is_inside(entry)]
        said = list(dict.fromkeys(_said(entry) for entry in others))
        if not said:
            complete = not budget.spent() and found["inboundTotal"] <= len(found["inbound"]) and not found["notes"]
            return ", to which nothing else refers that the garbage collector sees" if complete else ""
        if any(_TIMER in each for each in said):
            return ", which a timer of its loop ends"
        said = list(dict.fromkeys(_said(entry) for entry in others if not loop_parts.is_of_loop(entry)))
        if not said:
            return ""
        more = len(said) - _MOST_HOLDERS
        return ", which is " + " and ".join(said[:_MOST_HOLDERS]) + (f", and {more} more" if more > 0 else "")


def _is_inside(entry: Json) -> bool:
    """Whether a reference of a task that waits is more than a variable of its own, or one of a library's frame."""
    return "of" in entry and not entry.get("library")


def _said(entry: Json) -> str:
    """Return where an object is: at a path, or within a holder."""
    where = f" in {entry['function'].rpartition('<locals>.')[2]}" if entry.get("local") else ""
    if entry.get("task"):
        where += f" (task {entry['task']})"
    elif entry.get("local") and entry.get("thread"):
        where += f" (thread {entry['thread']})"
    if entry.get("path"):
        return f"at `{entry['path']}`{where}"
    if not entry.get("of"):
        return f"at `{entry.get('name', '?')}`{where}"
    under = f", under `{entry['under']}`{where}" if entry.get("under") else ""
    return f"{entry.get('way', 'inside')} of {entry['of']}{under}"


# --- Frames -----------------------------------------------------------------------------------------------------------


def _expression(frames: List[Any]) -> Tuple[str, List[Any]]:
    """Return what the innermost frame of the user's code awaits, as far as it is known, and the frames inside it."""
    inner = len(frames)
    while inner and _is_of_library(frames[inner - 1]):
        inner -= 1
    if not inner:
        return "", frames
    try:
        text = waits.callee(with_blocks.awaited(frames[inner - 1]))
    except Exception:  # bytecode of a version that is not known
        text = ""
    return text, frames[inner:]


def _is_of_library(frame: Any) -> bool:
    top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return top in _LIBRARIES and attached.debugger().is_library(frame)


def _awaited_tasks(above: List[Any]) -> Optional[Tuple[str, List[Any], bool]]:
    """Return the tasks that a function of asyncio waits for: in words, the tasks, and whether one of them is enough."""
    for frame in reversed(above):
        name, values = frame.f_code.co_name, frame.f_locals
        if name == "_wait" and "return_when" in values:
            return "to be done: ", list(values.get("fs", ())), values["return_when"] != "ALL_COMPLETED"
        if name == "wait_for" and asyncio_tasks.is_task(values.get("fut")):  # up to 3.11 it runs in a task of its own
            return "wait_for of ", [values["fut"]], False
        if name == "wait_for" and asyncio_tasks.gathered(values.get("fut")) is not None:
            return "gathered: ", asyncio_tasks.gathered(values["fut"]) or [], True
        owner = values.get("self")
        tasks = facts.attribute(owner, "_tasks")
        if facts.type_name(type(owner)) == "TaskGroup" and type(tasks) is set:
            return "of its group: ", list(tasks), False
    return None


def _name_of_lock(text: str, frames: List[Any], above: List[Any], lock: Any) -> str:
    """Return how the code that waits for a lock names it."""
    if facts.type_name(type(above[0].f_locals.get("self"))) == "Condition" and "wait" in above[0].f_code.co_name:
        return f"the lock of {text.rpartition('.wait')[0] or 'a condition'}"
    name = text.rpartition(".acquire")[0] or text
    if name and not name.endswith("wait_for"):
        return name
    known = frames[-len(above) - 1].f_locals if len(frames) > len(above) else {}
    return next((each for each, value in known.items() if value is lock), "a lock")


def _channel_state(owner: Any) -> Any:
    """Return what the ends of a channel of Trio share."""
    state = facts.attribute(owner, "_state")
    return state if facts.attribute(state, "open_send_channels") is not facts.MISSING else facts.MISSING


def _call(text: str, frame: Any) -> str:
    """Return a call of a library's function; of `sleep` with how long."""
    delay = frame.f_locals.get("delay", frame.f_locals.get("seconds"))
    name = text or str(frame.f_code.co_name)
    return f"{name}({delay})" if "sleep" in name and type(delay) in (int, float) else name


def _details(owner: Any, method: Any) -> List[str]:
    """Return what is known of what is waited for: how many items a queue has, and the like."""
    said = []
    state = _channel_state(owner)
    items = facts.attribute(owner, "_queue") if state is facts.MISSING else facts.attribute(state, "data")
    if items is not facts.MISSING and facts.container(items) is not None:
        number = facts.length(items)
        said.append(f"{number} item{'s' if number != 1 else ''}")
    unfinished = facts.attribute(owner, "_unfinished_tasks")
    if method.f_code.co_name == "join" and type(unfinished) is int:
        said.append(f"{unfinished} not yet reported by task_done")
    senders = facts.MISSING if state is facts.MISSING else facts.attribute(state, "open_send_channels")
    if type(senders) is int:
        said.append(f"{senders} open sender{'s' if senders != 1 else ''}")
    if facts.type_name(type(owner)) == "Event":
        said.append("not set")
    return said
