"""Classes and functions where they are defined: in which module, under which name, in which file.

    for each in everything(budget):
        each.full       # shop.till.Basket.put

Nothing of the program runs: namespaces are read as dictionaries, descriptors as they stand there.
"""

import sys
import types
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from trio_debugmcp.probe.inside import modules
from trio_debugmcp.probe.inside.bounds import Budget
from trio_debugmcp.probe.inside.debugger import seam
from trio_debugmcp.probe.inside.values import atoms, facts
from trio_debugmcp.probe.inside.visible_frames import Json

DEEPEST = 4
"""Classes within classes."""

GIVEN = "<string>"
"""The file of code that is given to the launch."""

_MOST_WRAPPED = 20
"""Decorators around a function that are looked through."""

_METHODS_OF_C = frozenset(
    map(
        id,
        (
            types.MethodDescriptorType,
            types.WrapperDescriptorType,
            types.ClassMethodDescriptorType,
            types.BuiltinFunctionType,
            types.MethodWrapperType,
        ),
    )
)
"""By id, as the metaclass of a class may have an `==` of its own."""


def is_function(value: Any) -> bool:
    """Whether a value is a function or a method, decorated or not."""
    if type(value) is types.FunctionType:  # most are: no need to look for what is behind
        return True
    return is_method_of_c(value) or (not is_plain(type(value)) and function_of(value) is not None)


_PLAIN = frozenset(map(id, (int, str, float, bool, bytes, type(None), tuple, list, dict, set, frozenset)))
"""By id, as the metaclass of a class may have an `==` of its own."""


def is_plain(cls: type) -> bool:
    """Whether values of that type are numbers, texts or collections, which have no function behind them."""
    return id(cls) in _PLAIN


def is_method_of_c(value: Any) -> bool:
    """Whether a value is a function or a method of C."""
    return id(type(value)) in _METHODS_OF_C


class Definition:
    """A class or a function in the module that defines it.

    Attributes:
        name: within the module: `Basket.put`.
    """

    __slots__ = ("is_type", "module", "name", "user", "value")

    def __init__(self, module: str, name: str, value: Any, is_type: bool, user: bool) -> None:
        self.module = module
        self.name = name
        self.value = value
        self.is_type = is_type
        self.user = user

    @property
    def full(self) -> str:
        """The name with that of the module."""
        return f"{self.module}.{self.name}" if self.module != "builtins" else self.name


def everything(budget: Budget) -> Iterator[Definition]:
    """Yield what the loaded modules define, that of the user's code first, until the time is over."""
    for name, names in ordered():
        if budget.spent():
            return
        yield from of_module(name, names)


def ordered() -> List[Tuple[str, Dict[str, Any]]]:
    """Return the names of each loaded module, once each, the user's first."""
    found = modules.namespaces()
    seen: Set[int] = set()
    listed = []
    for name, names in found.items():
        if id(names) not in seen:
            seen.add(id(names))
            listed.append((name, names))
    listed.sort(key=lambda each: is_library(each[0], each[1]))
    return listed


def is_library(name: str, names: Dict[str, Any]) -> bool:
    """Whether a module is not of the user's code."""
    file = names.get("__file__")
    return name != "__main__" and (type(file) is not str or seam.is_library(file))


def of_module(module: str, names: Dict[str, Any]) -> Iterator[Definition]:
    """Yield the classes and functions that a module defines, with their members, not those that it imports."""
    user = not is_library(module, names)
    seen: Set[int] = set()
    for name, value in _pairs(names):
        if issubclass(type(value), type):
            if facts.module_name(value) == module and id(value) not in seen:
                yield from _of_class(module, name, value, user, seen, 1)
        elif _module_of(value) == module and id(value) not in seen:
            seen.add(id(value))
            yield Definition(module, name, value, False, user)


def _of_class(module: str, name: str, cls: type, user: bool, seen: Set[int], depth: int) -> Iterator[Definition]:
    seen.add(id(cls))
    yield Definition(module, name, cls, True, user)
    for inner, value in _pairs(own_names(cls)):
        if issubclass(type(value), type):
            within = qualified(value).startswith(qualified(cls) + ".") and facts.module_name(value) == module
            if within and depth < DEEPEST and id(value) not in seen:
                yield from _of_class(module, f"{name}.{inner}", value, user, seen, depth + 1)
        elif is_function(value):
            yield Definition(module, f"{name}.{inner}", value, False, user)


def _pairs(names: Any) -> Iterator[Tuple[str, Any]]:
    try:
        pairs = list(names.items())
    except RuntimeError:  # the program changes it meanwhile
        return iter(())
    return ((name, value) for name, value in pairs if type(name) is str)


def own_names(cls: type) -> Any:
    """Return the names of a class itself, as they stand there."""
    return type.__dict__["__dict__"].__get__(cls)


def qualified(cls: type) -> str:
    """Return the name of a class within its module."""
    return str(type.__dict__["__qualname__"].__get__(cls))


def full_name(cls: type) -> str:
    """Return the name of a class with that of its module."""
    return atoms.qualified_name(cls)


def _module_of(value: Any) -> Optional[str]:
    """The module of a function, or None for what is not one."""
    if not is_function(value):
        return None
    plain = type(value) is types.FunctionType or is_method_of_c(value)
    module = getattr(value if plain else function_of(value), "__module__", None)
    return module if type(module) is str else None


def function_of(value: Any) -> Any:
    """Return the function of Python behind a function, method or decorated function, or None."""
    for _ in range(_MOST_WRAPPED):
        kind = type(value)
        if kind is staticmethod or kind is classmethod or kind is types.MethodType:
            value = value.__func__
            continue
        wrapped = (facts.instance_dict(value) or {}).get("__wrapped__") if kind is not types.FunctionType else None
        if wrapped is None:
            break
        value = wrapped
    if type(value) is not types.FunctionType:
        return None
    for _ in range(_MOST_WRAPPED):  # what `functools.wraps` has noted, so that the place is that of the function itself
        inner = (facts.instance_dict(value) or {}).get("__wrapped__")
        if type(inner) is not types.FunctionType:
            break
        value = inner
    return value


def place_json(value: Any) -> Json:
    """Return the file and line of a function, or of a class as far as they are known without its source."""
    if issubclass(type(value), type):
        return _class_place(value)
    function = function_of(value)
    if function is None:
        return {}
    code = function.__code__
    if code.co_filename.startswith("<") and not _is_given(function):  # it was generated
        return {}
    return _with_library({"file": code.co_filename, "line": code.co_firstlineno})


def _is_given(function: Any) -> bool:
    """Whether a function is of the code that was given to the launch: the main module, which has no file then."""
    names, code = function.__globals__, function.__code__
    if code.co_filename != GIVEN or names.get("__name__") != "__main__" or "__file__" in names:
        return False
    # The methods that a dataclass gets are compiled under the same name, in a function. Before 3.11 that does not show.
    outer = getattr(code, "co_qualname", None)
    return not (code.co_name.startswith("__") if outer is None else outer.startswith("__create_fn__"))


def _class_place(cls: type) -> Json:
    module = sys.modules.get(facts.module_name(cls))
    names = facts.instance_dict(module) if module is not None else None
    file = (names or {}).get("__file__", GIVEN if facts.module_name(cls) == "__main__" else None)
    if type(file) is not str or not facts.is_heap_type(cls):
        return {}
    found: Json = {"file": file, "qualname": qualified(cls)}
    line = own_names(cls).get("__firstlineno__")  # 3.13 or newer
    if type(line) is int:
        found["line"] = line
    return _with_library(found)


def _with_library(found: Json) -> Json:
    if seam.is_library(found["file"]):
        found["library"] = True
    return found
