"""What an object refers to, each with the way there: `.owner`, `[3]`, `["tea"]`, a closure's variable.

    for each in links(order):
        each.way, each.target     # ".lines", [...]; `items` has those of collections

A way is the end of an expression where one leads there, else words. Nothing of the program runs.
"""

import itertools
import sys
import types
from typing import Any, Dict, Iterator, Tuple

from trio_debugmcp.probe.inside.safe import readable
from trio_debugmcp.probe.inside.values import children, facts


def _cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]  # type: ignore[index]


CELL: Any = type(_cell(0))
"""What holds a variable of a closure; 3.8 has no other name for it."""

_GENERATORS = {"generator": "gi_frame", "coroutine": "cr_frame", "async_generator": "ag_frame"}

_PARTS: Tuple[Tuple[Any, Tuple[str, ...]], ...] = (
    (types.MethodType, ("__self__", "__func__")),
    (property, ("fget", "fset", "fdel")),
    (staticmethod, ("__func__",)),
    (classmethod, ("__func__",)),
    (types.TracebackType, ("tb_frame", "tb_next")),
    (slice, ("start", "stop", "step")),
)
"""Types of C with the names under which their values have others."""


class Link:
    """A reference. `is_path`: the way is the end of an expression."""

    __slots__ = ("is_path", "target", "way")

    def __init__(self, way: str, target: Any, is_path: bool = False) -> None:
        self.way = way
        self.target = target
        self.is_path = is_path


def links(holder: Any) -> Iterator[Link]:
    """Yield what an object refers to besides its items, as far as the ways are known.

    Raises:
        RuntimeError: the program changes it meanwhile.
    """
    cls = type(holder)
    if cls is CELL:
        try:
            yield Link("the contents", holder.cell_contents)
        except ValueError:  # still empty
            return
    elif cls is types.FunctionType:
        yield from _of_function(holder)
    elif cls is types.FrameType:
        yield from (Link(f"local `{name}`", value) for name, value in list(holder.f_locals.items()))
    elif facts.type_name(cls) in _GENERATORS and not facts.is_heap_type(cls):
        frame = getattr(holder, _GENERATORS[facts.type_name(cls)])
        if frame is not None:
            yield from links(frame)
    elif issubclass(cls, (type, types.ModuleType)):
        yield from _of_namespace(holder)
    else:
        yield from _of_object(holder, cls)


def ways(holder: Any, target: Any) -> Iterator[Link]:
    """Yield the links from a holder to an object; of the items of a collection only the first, however long it is.

    Raises:
        RuntimeError: the program changes it meanwhile.
    """
    found = facts.container(holder)
    if found is not None:
        base: Any = found[1]
        values = dict.values(holder) if base is dict else base.__iter__(holder)
        number = next((number for number, each in enumerate(values) if each is target), None)
        if number is not None:
            yield from itertools.islice(items(holder), number, number + 1)
        elif base is dict and any(each is target for each in dict.__iter__(holder)):
            yield Link("a key", target)
    yield from (link for link in links(holder) if link.target is target)


def items(holder: Any) -> Iterator[Link]:
    """Yield the items of a collection; of a dict its values."""
    found = facts.container(holder)
    if found is None:
        return
    base: Any = found[1]
    if base is dict:
        for key, value in dict.items(holder):
            text = children.literal(key)
            yield Link(f"[{text}]" if text is not None else "the value of a key", value, text is not None)
    elif readable.one_of(base, readable.SETS):
        yield from (Link("an element", each) for each in base.__iter__(holder))
    else:
        yield from (Link(f"[{index}]", each, True) for index, each in enumerate(base.__iter__(holder)))


def _of_object(holder: Any, cls: type) -> Iterator[Link]:
    for base, names in _PARTS:
        if cls is base:
            yield from (Link("." + name, getattr(holder, name), True) for name in names)
    if cls is getattr(sys.modules.get("functools"), "partial", None):
        yield from (Link("." + name, getattr(holder, name), True) for name in ("func", "args", "keywords"))
    if issubclass(cls, BaseException):
        for name in ("__cause__", "__context__", "__traceback__", "args"):
            yield Link("." + name, BaseException.__dict__[name].__get__(holder), True)
    for name, value in facts.fields(holder):
        yield Link("." + name, value, children.is_written(name))


def _of_function(function: Any) -> Iterator[Link]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield Link(f"closure variable `{name}`", cell)
        try:
            yield Link(f"closure variable `{name}`", cell.cell_contents)
        except ValueError:
            continue
    defaults = function.__defaults__ or ()
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    for name, value in zip(names[len(names) - len(defaults) :], defaults):
        yield Link(f"default of `{name}`", value)
    for name, value in list((function.__kwdefaults__ or {}).items()):
        yield Link(f"default of `{name}`", value)
    for name, value in facts.fields(function):
        yield Link("." + name, value, children.is_written(name))


def _of_namespace(holder: Any) -> Iterator[Link]:
    names = namespace(holder)
    for name, value in list(names.items()):
        if type(name) is str and name not in ("__builtins__", "__dict__", "__weakref__"):
            yield Link("." + name, value, children.is_written(name))
    if issubclass(type(holder), type):
        bases: Any = type.__dict__["__bases__"].__get__(holder)
        yield from (Link(f".__bases__[{index}]", base, True) for index, base in enumerate(bases))


def namespace(holder: Any) -> Dict[str, Any]:
    """Return the names of a class or a module."""
    own: Any = type.__dict__["__dict__"].__get__(holder) if issubclass(type(holder), type) else None
    found: Dict[str, Any] = own if own is not None else facts.instance_dict(holder) or {}
    return found
