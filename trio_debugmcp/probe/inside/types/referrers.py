"""What refers to an object, and what it refers to: `gc` knows the holders, and what they are tells the ways.

    references_json(basket, ReferenceQuestion("both"), budget, renderer)
    # {"inbound": [{"way": ".basket", "of": "Order(3)", "path": "orders[0].basket", …}], "inboundTotal": 1, …}

Each holder is followed up to a global or a local variable, level by level, while there is time. A level is one walk
through all objects in C, which cannot be interrupted: so there is none where the program has too many, or where the
time that is left is less than the last walk took. What the debugger and these modules hold is left out.
"""

import itertools
import sys
import time
import types
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.safe import readable
from trio_debugmcp.probe.inside.types.holders import Holders, collector
from trio_debugmcp.probe.inside.types.links import CELL, Link, items, links, ways
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.rendering import Renderer
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_LEVELS = 16
"""Above an object, to a variable."""

MOST_ALTERNATIVES = 8
"""Holders of one object that are followed at a time, until one leads to a variable."""

MOST_BLOCKS = 10_000_000
"""Blocks of memory from which on there is no walk: it would take about a second."""

MOST_LISTED = 100_000
"""Fields of an object that are looked at."""

_SHORT = 200
"""Characters of a text, below which it is likely to be shared by all who have an equal one."""

_LEAST = 3
"""Holders that are looked at, however late it is."""

_MARGIN = 1.3
"""How much longer than the last one the next walk may take."""

_ATOMS = (int, float, complex, bool, type(None), type(...), type(NotImplemented))


class AtomError(Exception):
    """Something that everybody may have: who refers to it says nothing."""


class ReferenceQuestion:
    """Which references: `inbound`, `outbound` or `both`, and how many of each."""

    __slots__ = ("direction", "most")

    def __init__(self, direction: str = "both", most: int = 50) -> None:
        self.direction = direction
        self.most = most


class _HolderStep:
    """An object on the way to the one that is asked about: the holder, and the way from it to what is below."""

    __slots__ = ("below", "holder", "is_path", "root", "way")

    def __init__(self, holder: Any, link: Link, below: "Optional[_HolderStep]") -> None:
        self.holder = holder
        self.way = link.way
        self.is_path = link.is_path
        self.below = below
        self.root: Optional[Json] = None


def references_json(
    value: Any, asked: ReferenceQuestion, budget: Budget, renderer: Renderer, left_out: Sequence[Any] = ()
) -> Json:
    """Return what refers to a value, and what it refers to. `left_out`: objects that do not count as holders.

    Raises:
        AtomError: it is a number, a short text, or the like.
    """
    _check(value)
    found: Json = {"value": renderer.render(value), "type": facts.shown_type(type(value)), "notes": []}
    if asked.direction != "inbound":
        found.update(_outbound(value, asked.most, budget, renderer))
    if asked.direction != "outbound":
        found.update(_Inbound(value, asked.most, budget, left_out).json(renderer, found["notes"]))
    return found


def _check(value: Any) -> None:
    cls = type(value)
    short = readable.one_of(cls, (str, bytes)) and len(value) < _SHORT
    empty = readable.one_of(cls, (tuple, frozenset)) and not len(value)
    if short or empty or readable.one_of(cls, _ATOMS):
        raise AtomError(facts.type_name(cls))


# --- Outbound ---------------------------------------------------------------------------------------------------------


def _outbound(value: Any, most: int, budget: Budget, renderer: Renderer) -> Json:
    size = 0 if facts.container(value) is None else facts.length(value) or 0
    try:
        found = [*itertools.islice(items(value), most), *itertools.islice(links(value), MOST_LISTED)]
    except RuntimeError:  # the program changes it meanwhile
        found = []
    fields = len(found) - min(size, most)
    inside = _inside(value, {id(each.target) for each in found})
    found += [Link("inside", each) for each in inside]
    listed: List[Json] = []
    for each in found[:most]:
        if budget.spent():
            break
        listed.append({"way": each.way, "value": renderer.render(each.target)})
        budget.take(30 + len(each.way))
    return {"outbound": listed, "outboundTotal": size + fields + len(inside)}


def _inside(value: Any, known: Set[int]) -> List[Any]:
    """What an object of C refers to besides, in a way that has no name."""
    cls = type(value)
    if facts.is_heap_type(cls) or issubclass(cls, (type, types.ModuleType, types.FunctionType)):
        return []
    if readable.one_of(cls, (types.FrameType, dict, list, tuple, set, frozenset)):
        return []
    found = collector().get_referents(value)
    return [each for each in found if id(each) not in known and each is not cls and type(each) is not types.FrameType]


# --- Inbound ----------------------------------------------------------------------------------------------------------


class _Inbound:
    """The search for what refers to an object."""

    __slots__ = ("_budget", "_holders", "_most", "_target", "_used", "_walk_seconds")  # a `__dict__` would be a holder

    def __init__(self, target: Any, most: int, budget: Budget, left_out: Sequence[Any] = ()) -> None:
        self._target = target
        self._most = most
        self._budget = budget
        self._holders = Holders(target, budget)
        for each in (left_out, *left_out):
            self._holders.leave_out(each)
        self._walk_seconds = 0.0
        self._used: Set[Tuple[int, str]] = set()

    def json(self, renderer: Renderer, notes: List[str]) -> Json:
        """Return the references for an answer; `notes` gets what is not known."""
        here = self._holders.locals_of(self._target)
        blocks = sys.getallocatedblocks()
        if blocks > MOST_BLOCKS:
            notes.append(f"only local variables: to walk through {blocks} blocks of memory would stop the program")
            return {"inbound": here[: self._most], "inboundTotal": len(here)}
        steps, instances, total = self._direct()
        direct = len(steps)
        steps = self._climb(steps)
        total -= direct - len(steps)
        listed = here[: self._most]
        for step in steps[: self._most - len(listed)]:
            if self._budget.spent():
                break
            entry = _step_json(step, renderer)
            self._budget.take_json(entry)
            listed.append(entry)
        answer: Json = {"inbound": listed, "inboundTotal": total + len(here)}
        if instances:
            answer["instances"] = instances
        if not collector().is_tracked(self._target):
            notes.append("the garbage collector does not track it: collections of nothing but such values are not seen")
        return answer

    def _walk(self, objects: List[Any]) -> List[Any]:
        began = time.monotonic()
        given = tuple(objects)  # this very tuple is passed on, and some versions take it for a holder
        for each in (objects, given):
            self._holders.leave_out(each)
        found: List[Any] = collector().get_referrers(*given)
        self._holders.leave_out(found)
        self._walk_seconds = time.monotonic() - began
        return found

    def _has_time(self) -> bool:
        return time.monotonic() + self._walk_seconds * _MARGIN < self._budget.end

    def _direct(self) -> Tuple[List[_HolderStep], int, int]:
        """The first steps up, and how many instances and other holders there are."""
        target = self._target
        is_class = issubclass(type(target), type)
        steps: List[_HolderStep] = []
        instances = total = 0
        found = self._walk([target])
        for number, holder in enumerate(found):
            if not number % 1000 and self._budget.spent():
                return steps, instances, total + len(found) - number  # hardly any of so many is the debugger's
            if is_class and type(holder) is target:
                instances += 1
            elif not self._holders.is_own(holder) and not self._holders.is_debuggers(holder):
                total += 1
                if len(steps) < self._most and (len(steps) < _LEAST or not self._budget.spent()):
                    steps.append(self._step(holder, target, None))
        return steps, instances, total

    def _step(self, holder: Any, target: Any, below: Optional[_HolderStep]) -> _HolderStep:
        root = self._holders.root_of(holder)
        is_global = root is not None and "module" in root
        step = _HolderStep(holder, _global(holder, target) if is_global else self._link(holder, target), below)
        step.root = root
        return step

    def _link(self, holder: Any, target: Any) -> Link:
        """A link from a holder to an object: another one each time, as it may be two defaults of one function."""
        found: Optional[Link] = None
        try:
            for way in ways(holder, target):
                found = way
                if (id(holder), way.way) not in self._used:
                    break
        except RuntimeError:  # the program changes it meanwhile
            pass
        if found is None:
            return Link("inside", None)
        self._used.add((id(holder), found.way))
        return Link(found.way, None, found.is_path)

    def _climb(self, steps: List[_HolderStep]) -> List[_HolderStep]:
        """Return each step with those above it, up to a variable, without those that only the debugger leads to.

        Several holders are followed at a time: the first one may be a result that only the debugger keeps.
        """
        tops = [[step] for step in steps]
        for _ in range(MOST_LEVELS):
            open_ = [each for each in tops if each and each[0].root is None]
            if not open_ or not self._has_time():
                break
            self._level(open_)
        return [each[0] for each in tops if each]

    def _level(self, open_: List[List[_HolderStep]]) -> None:
        """Replace the steps of each way by those above them; a way that only the debugger leads to becomes empty."""
        wanted: Dict[int, List[_HolderStep]] = {}
        for step in (step for steps in open_ for step in steps):
            wanted.setdefault(id(step.holder), []).append(step)
        above: Dict[int, List[_HolderStep]] = {}
        by_debugger, by_program = set(), set()
        for holder in self._walk([step.holder for steps in open_ for step in steps]):
            if self._budget.spent():
                return
            if self._holders.is_own(holder):
                continue
            for step in self._holders.parts(holder, wanted):
                if self._holders.is_debuggers(holder):
                    by_debugger.add(id(step))
                    continue
                by_program.add(id(step))
                made = above.setdefault(id(step), [])
                if len(made) < MOST_ALTERNATIVES and not self._closes_circle(holder, step):
                    made.append(self._above(holder, step))
        for steps in open_:
            found = [each for step in steps for each in above.get(id(step), ())]
            kept = [step for step in steps if id(step) in by_program or id(step) not in by_debugger]
            steps[:] = sorted(found or kept, key=_rank)[:MOST_ALTERNATIVES]

    def _closes_circle(self, holder: Any, step: _HolderStep) -> bool:
        """Whether a holder is on the way already; one that refers to itself is, at its own namespace."""
        if self._holders.owns(holder, step.holder):
            return False
        return holder is self._target or _is_in(holder, step)

    def _above(self, holder: Any, step: _HolderStep) -> _HolderStep:
        """The step above; if its holder owns that of the step as a part of itself, it takes the place of the step."""
        if self._holders.owns(holder, step.holder):
            target = self._target if step.below is None else step.below.holder
            return self._step(holder, target, step.below)
        return self._step(holder, step.holder, step)


def _rank(step: _HolderStep) -> int:
    """Which of several holders is followed: the lowest; cells last, as their functions are often their only holders."""
    if step.root is not None:
        return 0
    return 2 if type(step.holder) is CELL else 1


def _is_in(holder: Any, step: Optional[_HolderStep]) -> bool:
    while step is not None:
        if step.holder is holder:
            return True
        step = step.below
    return False


def _global(names: Dict[str, Any], target: Any) -> Link:
    """The link from the names of a module."""
    name = next((name for name, each in list(names.items()) if each is target), "?")
    return Link(str(name), None, type(name) is str and name.isidentifier())


def _step_json(top: _HolderStep, renderer: Renderer) -> Json:
    """The way from the topmost object that is known down to the one that is asked about."""
    way: List[_HolderStep] = []
    step: Optional[_HolderStep] = top
    while step is not None:
        if type(step.holder) is not CELL or step is top:
            way.append(step)
        step = step.below
    last, root = way[-1], top.root or {}
    found: Json = {name: each for name, each in root.items() if name != "name"}
    if len(way) > 1 or "module" not in root:
        shown = renderer.render(last.holder)
        found.update({"way": last.way, "of": shown, "type": facts.shown_type(type(last.holder))})
    if root:
        name = str(root["name"])
        found["path" if all(each.is_path for each in way) else "under"] = name + (
            "".join(each.way for each in way) if all(each.is_path for each in way) else _leading(way)
        )
    return found


def _leading(way: List[_HolderStep]) -> str:
    """The part of a way, from its top, that is the end of an expression."""
    found = ""
    for each in way:
        if not each.is_path:
            break
        found += each.way
    return found
