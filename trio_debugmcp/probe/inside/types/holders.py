"""Objects that hold others: which of them count, which are a part of another one, and which variables there are.

    holders = Holders(basket, budget)
    holders.locals_of(basket)       # [{"local": "basket", "function": "visit", "file": …, "line": 24, "thread": 1}]

Local variables are found in the frames: since Python 3.11 the garbage collector does not see those of frames that run.
"""

import sys
import types
from typing import Any, Dict, List, Optional, Set, TypeVar

from trio_debugmcp.probe.inside import imported, modules, visible_frames
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.frame_lines import line_of
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread
from trio_debugmcp.probe.inside.threads import await_chains, task_list
from trio_debugmcp.probe.inside.types.links import namespace
from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.visible_frames import Json

MOST_FRAMES = 1000
"""Frames of all threads whose local variables are looked at."""

T = TypeVar("T")

_COLLECTOR: List[Any] = []


def collector() -> Any:
    """Return the module `gc`, which the program need not have imported: then `sys.modules` stays as it is."""
    if not _COLLECTOR:
        found = imported.first_seen("gc")
        if found is None:
            importer: Any = sys.modules["_frozen_importlib"]  # no finder of the program's is asked
            found = importer._load(importer.BuiltinImporter.find_spec("gc"))
            sys.modules.pop("gc", None)
        _COLLECTOR.append(found)
    return _COLLECTOR[0]


class Holders:
    """What is known of the objects that may hold others, at the moment."""

    def __init__(self, target: Any, budget: Budget) -> None:
        self._own: Set[int] = set()
        self._debuggers = attached.debugger().own_modules
        self._on_stacks: Dict[int, Any] = {}
        self._locals: Dict[int, List[Json]] = {}
        self._modules = {id(names): name for name, names in modules.namespaces().items()}
        self._own |= {id(each) for each in (self._own, self._on_stacks, self._locals, self._modules)}
        self._left = MOST_FRAMES
        self._read_frames(budget)
        self._read_tasks(budget)

    def _read_frames(self, budget: Budget) -> None:
        for thread in attached.debugger().threads():
            shown = {id(each.frame): (index, each) for index, each in enumerate(attached.debugger().frames(thread))}
            returned = {id(frame) for frame in attached.left_frames(thread)}
            frame = thread.top
            while frame is not None and self._left > 0 and not budget.spent():
                if not attached.is_own(frame):
                    self._left -= 1
                    self._on_stacks[id(frame)] = frame
                    if id(frame) in returned:  # its variables are about to go: they are no longer the program's
                        self._own.add(id(frame.f_locals))
                    else:
                        self._read_locals(thread, frame, shown.get(id(frame)))
                frame = frame.f_back

    def _read_tasks(self, budget: Budget) -> None:
        """Read the variables of suspended tasks, whose frames are on no stack: their coroutines have them."""
        for task in task_list.all_tasks().tasks:
            chain = [each for each in await_chains.links_of(task.coroutine)[0] if each[1] is not None]
            for index, (coroutine, frame) in enumerate(reversed(chain)):
                if self._left <= 0 or budget.spent():
                    return
                if id(frame) not in self._on_stacks:
                    self._left -= 1
                    self._on_stacks[id(frame)] = frame
                    self._own.add(id(coroutine))
                    shown = (index, attached.debugger().visible(frame))
                    self._add_locals(frame, {"task": task.name, "library": shown[1].library}, shown)

    def _read_locals(self, thread: ProgramThread, frame: Any, shown: Any) -> None:
        if frame.f_locals is frame.f_globals or frame.f_code.co_name == "<module>":
            return
        self._add_locals(frame, {"thread": thread.id, "threadName": thread.name}, shown)

    def _add_locals(self, frame: Any, owner: Json, shown: Any) -> None:
        names = frame.f_locals
        self._own.add(id(names))
        place: Json = {"function": visible_frames.qualified_name(frame), **owner}
        place.update({"file": frame.f_code.co_filename, "line": line_of(frame)})
        if shown is not None:
            place.update({"index": shown[0], "file": shown[1].file, "line": shown[1].line})
        for name, value in list(names.items()):
            if visible_frames.is_shown(name):
                self._locals.setdefault(id(value), []).append({**place, "name": name})

    def locals_of(self, value: Any) -> List[Json]:
        """Return the local variables that have an object as their value."""
        return [{**each, "local": True} for each in self._locals.get(id(value), ())]

    def leave_out(self, container: Any) -> None:
        """Leave out a collection of these modules."""
        self._own.add(id(container))

    def root_of(self, holder: Any) -> Optional[Json]:
        """Return the variable that a holder is, or the module whose names it is."""
        module = self._modules.get(id(holder))
        if module is not None:
            return {"module": module, "name": "" if module == "__main__" else f"{module}."}
        found = self.locals_of(holder)
        return found[0] if found else None

    def is_own(self, holder: Any) -> bool:
        """Whether a holder is of these modules, or a frame whose variables are known."""
        if id(holder) in self._own or id(holder) in self._on_stacks:
            return True
        return type(holder) is types.FrameType and attached.is_own(holder)

    def is_debuggers(self, holder: Any) -> bool:
        """Whether a holder is an object of the debugger's, or of the interpreter's."""
        cls = type(holder)
        if cls is types.GetSetDescriptorType or cls is types.MemberDescriptorType:
            return True  # a part of its class
        if cls is tuple and len(holder) and issubclass(type(holder[0]), type):
            return facts.mro(holder[0]) is holder
        if cls is types.FunctionType:
            return str(holder.__module__).startswith(self._debuggers)
        if cls is dict:
            name = dict.get(holder, "__name__") if "__builtins__" in holder else None
            return type(name) is str and name.startswith(self._debuggers)
        return facts.module_name(cls).startswith(self._debuggers)

    def parts(self, holder: Any, wanted: Dict[int, List[T]]) -> List[T]:
        """Return what is wanted, by their ids, of the objects that a holder refers to."""
        found = {id(referent) for referent in collector().get_referents(holder) if id(referent) in wanted}
        return [each for number in found for each in wanted[number]]

    def owns(self, holder: Any, part: Any) -> bool:
        """Whether an object is a hidden part of its holder: its namespace, the tuple of a closure."""
        cls, kind = type(holder), type(part)
        if cls is types.FunctionType:
            parts = (holder.__closure__, holder.__defaults__, holder.__kwdefaults__, facts.instance_dict(holder))
            return any(part is each for each in parts)
        if issubclass(cls, type) or issubclass(cls, types.ModuleType):
            if kind is tuple and issubclass(cls, type):
                return part is facts.mro(holder) or part is type.__dict__["__bases__"].__get__(holder)
            return kind is dict and _same(namespace(holder), part)
        if kind is types.FrameType:
            return facts.type_name(cls) in ("generator", "coroutine", "async_generator")
        return kind is dict and facts.instance_dict(holder) is part


def _same(names: Any, part: Any) -> bool:
    """Whether a dictionary is the one behind the names of a class, of which only a view can be had."""
    if names is part:
        return True
    if type(names) is dict or len(names) != len(part):
        return False
    return all(names.get(name) is each for name, each in list(part.items()) if type(name) is str)
