"""What a task waits for, in words, and who should end that: as far as it was looked at.

    Awaits(tasks, budget).words(task)
    # "lock, probably held by task Task-2"    "pool.get, 0 items, which is at `pool` in main (task Task-1)"
    # "future, which is at `gate.queue[0]`"   "future, to which nothing else refers that the garbage collector sees"

The expression is that of the innermost frame of the user's code, read from its bytecode. Who has a lock of asyncio is
not known to Python: a task that is in an `async with` of it has it probably. Who refers to a plain future, a queue or
an event is found by walking through all objects of the program, for few tasks of an answer.
"""

import time
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from trio_debugmcp.probe.inside.bounds import Budget, patient
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.threads import asyncio_tasks, await_chains, trio_tasks, waits, with_blocks
from trio_debugmcp.probe.inside.threads.program_task import ProgramTask
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_SEARCHED = 8
"""Objects of an answer that are searched for who refers to them: each takes walks through all there are."""

_SEARCH_SECONDS = 0.4
"""For all of these, of which the program's threads stand still a part."""

_MOST_HOLDERS = 2
_MOST_DEADLOCKS = 5
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
        self._owners: Optional[List[Tuple[Any, ProgramTask]]] = None
        self._waiters: Optional[Dict[int, List[str]]] = None
        self._awaited: Dict[int, List[int]] = {}

    def deadlocks(self) -> List[str]:
        """Return the tasks that wait for each other, or for themselves, as far as `words` was asked of them."""
        said: Dict[FrozenSet[int], str] = {}
        for start in self._awaited:
            circle = self._circle(start)
            if circle and frozenset(circle) not in said and len(said) < _MOST_DEADLOCKS:
                said[frozenset(circle)] = self._deadlock(circle)
        return list(said.values())

    def _deadlock(self, circle: List[int]) -> str:
        names = ", ".join(self._names.get(each, "?") for each in circle)
        wait = (
            f"tasks {names} wait for each other" if len(circle) > 1 else f"task {names} waits for what it holds itself"
        )
        waiting = [task for task in self._tasks if id(task.task) in circle]
        is_timed = any(with_blocks.ends_by_itself(frame) for task in waiting for frame in task.frames())
        return f"{wait}, until a timeout" if is_timed else f"probably a deadlock: {wait}"

    def _circle(self, start: int) -> List[int]:
        """Return the shortest way of waiting that leads from a task back to it; empty: there is none."""
        ways = [[start]]
        seen = set()
        for way in ways:
            for after in self._awaited.get(way[-1], ()):
                if after == start:
                    return way
                if after not in seen:
                    seen.add(after)
                    ways.append([*way, after])
        return []

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
        if asyncio_tasks.is_task(future):
            self._awaited[id(task.task)] = [id(future)]
            return f"task {self._name(future)}"
        gathered = asyncio_tasks.gathered(future)
        if gathered is not None:
            left = [each for each in gathered if asyncio_tasks.is_task(each) and not each.done()]
            self._awaited[id(task.task)] = [id(each) for each in left]
            pending = [self._name(each) for each in left]
            more = f" and {len(pending) - 10} more" if len(pending) > 10 else ""
            return f"{len(pending)} of {len(gathered)} gathered: {', '.join(pending[:10])}{more}"
        text, above = _expression(frames)
        if not above:
            return f"{text or facts.type_name(type(future)).lower()}{self._where(future, task)}"
        return self._of_library(text, above, task) or f"{text or facts.type_name(type(future)).lower()}"

    def _of_trio(self, task: ProgramTask, frames: List[Any]) -> str:
        shown = frames[: len(frames) - trio_tasks.hidden(frames)]
        if not shown or getattr(task.task, "_next_send", None) is not None:
            return ""
        code = shown[-1].f_code
        name = str(getattr(code, "co_qualname", code.co_name))
        if name.endswith("_nested_child_finished"):
            own = id(task.task)
            self._awaited[own] = [id(each.task) for each in self._tasks if getattr(each, "parent", None) == own]
            return "children of its nursery"
        text, above = _expression(shown)
        return (self._of_library(text, above, task) if above else "") or text or name

    def _name(self, task: Any) -> str:
        known = self._names.get(id(task))
        return known if known is not None else str(task.get_name())[:200]

    # --- What libraries wait for -------------------------------------------------------------------------------------

    def _of_library(self, text: str, above: List[Any], task: ProgramTask) -> str:
        """Return what a library's function waits for; `above`: its frames, the one called by the user first."""
        outermost = above[0]
        owner = outermost.f_locals.get("self")
        if owner is None:
            return _call(text, outermost)
        kind = facts.type_name(type(owner))
        if kind in ("Lock", "StrictFIFOLock"):
            return self._lock(text.rpartition(".acquire")[0] or text or "a lock", owner, task)
        said = [text or f"{kind}.{outermost.f_code.co_name}", *_details(owner)]
        if facts.module_name(type(owner)).startswith("trio._core"):
            return ", ".join(said)
        state = facts.attribute(owner, "_state")  # the ends of a channel share it
        return ", ".join(said) + self._where(owner if state is facts.MISSING else state, task)

    def _lock(self, text: str, lock: Any, task: ProgramTask) -> str:
        owner = facts.attribute(lock, "_owner")
        if owner is not None and owner is not facts.MISSING:  # of Trio
            self._awaited[id(task.task)] = [id(owner)]
            return f"{text}, held by task {self._names.get(id(owner)) or str(getattr(owner, 'name', '?'))}"
        if self._owners is None:
            self._owners = self._read_owners()
        holders = [owning for known, owning in self._owners if known is lock]
        holder = next((owning for owning in holders if owning is not task), task if holders else None)
        if holder is None:
            return (
                f"{text}, and no task was found in an `async with` of it, or behind an `acquire` in the same function"
            )
        self._awaited[id(task.task)] = [id(holder.task)]
        return f"{text}, probably held by {'itself' if holder is task else f'task {holder.name}'}"

    def _read_owners(self) -> List[Tuple[Any, ProgramTask]]:
        """The objects of whose `async with` blocks tasks are inside, or which they have acquired, and the tasks."""
        found: List[Tuple[Any, ProgramTask]] = []
        for task in self._tasks:
            if self._budget.spent():
                break
            frames = task.frames()
            text, above = _expression(frames)
            wanted = above[0].f_locals.get("self") if above else None
            inner = len(frames) - len(above)
            for place, frame in enumerate(frames):
                acquiring = place == inner - 1 and text.endswith(".acquire")  # it has called it, but waits there
                held = with_blocks.used_as_locks(frame, acquiring)
                found += [(known.value, task) for known in held if place < inner or known.value is not wanted]
        return found

    def _waiters_of(self, value: Any) -> List[str]:
        """Return the names of the tasks that wait for the same future, queue or event."""
        if self._waiters is None:
            self._waiters = {}
            for task in self._tasks:
                above = _expression(task.frames())[1]
                future = asyncio_tasks.future_of(task.task)
                owner = above[0].f_locals.get("self") if above else None
                state = facts.attribute(owner, "_state")
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


def _call(text: str, frame: Any) -> str:
    """Return a call of a library's function; of `sleep` with how long."""
    delay = frame.f_locals.get("delay", frame.f_locals.get("seconds"))
    name = text or str(frame.f_code.co_name)
    return f"{name}({delay})" if "sleep" in name and type(delay) in (int, float) else name


def _details(owner: Any) -> List[str]:
    """Return what is known of what is waited for: how many items a queue has, and the like."""
    said = []
    state = facts.attribute(owner, "_state")  # of a channel of Trio
    items = facts.attribute(owner, "_queue") if state is facts.MISSING else facts.attribute(state, "data")
    if items is not facts.MISSING and facts.container(items) is not None:
        number = facts.length(items)
        said.append(f"{number} item{'s' if number != 1 else ''}")
    senders = facts.MISSING if state is facts.MISSING else facts.attribute(state, "open_send_channels")
    if type(senders) is int:
        said.append(f"{senders} open sender{'s' if senders != 1 else ''}")
    if facts.type_name(type(owner)) == "Event":
        said.append("not set")
    return said
