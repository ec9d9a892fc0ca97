"""What `evaluate_safe` may read of objects: with the methods of C alone, and only where nothing of the program runs.

    attribute(order, "total")       # what is stored there; refused where a property or `__getattr__` would answer
    item({"a": 1}, "a")             # refused where a key is an object whose `__eq__` could run

Looking a name up in a dict compares it with keys of the same hash, which may be the program's objects: so every dict is
looked at first, that of a class or of a module too.
"""

import collections
import sys
import types
from typing import Any, Iterable, List, Optional, Tuple

from trio_debugmcp.probe.inside.values import facts
from trio_debugmcp.probe.inside.values.facts import MISSING

MOST_ITEMS = 100_000
"""Of a collection that is read whole, or made: C code cannot be interrupted, and this takes milliseconds."""

NUMBERS: Tuple[type, ...] = (int, bool, float, complex)
ATOMS: Tuple[type, ...] = (*NUMBERS, str, bytes, type(None))
SEQUENCES: Tuple[type, ...] = (list, tuple, range, collections.deque)
SETS: Tuple[type, ...] = (set, frozenset)
VIEWS: Tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
ATOM_IDS = frozenset(map(id, ATOMS))

MOST_BITS = 20_000
"""Of a whole number: 6,000 digits, with which everything takes less than a millisecond."""


_GETTERS: Tuple[type, ...] = (
    *(int, float, complex, BaseException, types.FunctionType, types.MethodType, types.CellType, types.FrameType),
    *(types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.TracebackType),
)
"""Types of C whose computed attributes (`real`, `args`, `cell_contents`, `gi_frame`) run nothing of the program."""


_TUPLE_GETTER: Any = getattr(collections, "_tuplegetter", None)
"""Of the fields of a namedtuple."""

_MODULE_NAMES: Any = types.ModuleType.__dict__["__dict__"].__get__  # type: ignore[index]


class RejectedError(Exception):
    """Something that could run code of the program, or take too long: `rule` says why."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def one_of(cls: type, classes: Iterable[type]) -> bool:
    """Whether a class is one of these, itself: `in` would ask its metaclass whether they are equal."""
    return any(cls is class_ for class_ in classes)


def name_of(cls: type) -> str:
    """Return the name of a class."""
    return facts.type_name(cls)


# --- Names in dicts and classes ---------------------------------------------------------------------------------------


def has_plain_keys(keys: Iterable[Any]) -> bool:
    """Whether comparing with these keys runs nothing: texts, numbers, and tuples of such."""
    keys = list(keys)
    if len(keys) > 10 * MOST_ITEMS:
        raise RejectedError(f"it has {len(keys)} items, more than are looked through here")
    kinds = set(map(id, map(type, keys)))  # by id: the hash of a class may be its metaclass's
    if kinds <= ATOM_IDS:
        return True
    return kinds <= {*ATOM_IDS, id(tuple)} and all(has_plain_keys(key) for key in keys if type(key) is tuple)


def entry(names: Any, name: str) -> Any:
    """Return what is in a namespace under a name, or MISSING."""
    if not has_plain_keys(names):
        raise RejectedError("its names are not all texts: comparing them could run code")
    return names.get(name, MISSING) if type(names) is not dict else dict.get(names, name, MISSING)


def class_entry(cls: type, name: str) -> Any:
    """Return what a class or one of its bases has under a name, as it stands there, or MISSING."""
    for base in facts.mro(cls):
        found = entry(type.__dict__["__dict__"].__get__(base), name)
        if found is not MISSING:
            return found
    return MISSING


def inherits(cls: type, name: str, base: type) -> bool:
    """Whether a class has the method of this type of C under a name, and not one of its own."""
    return class_entry(cls, name) is base.__dict__.get(name, MISSING)


def builtin_base(value: Any, method: str, bases: Iterable[type]) -> Optional[type]:
    """Return the type of C whose method reads a value, if no class of the program has put its own in the place."""
    cls = type(value)
    for base in bases:
        if cls is base:
            return base
    for base in bases:
        if issubclass(cls, base) and inherits(cls, method, base):
            return base
    return None


# --- Attributes -------------------------------------------------------------------------------------------------------


def attribute(value: Any, name: str) -> Any:
    """Return an attribute as it is stored.

    Raises:
        RejectedError: reading it could run code.
        AttributeError: there is none.
    """
    cls = type(value)
    if name == "__class__":
        return cls
    if issubclass(cls, type):
        return _of_class(value, name)
    if issubclass(cls, types.ModuleType):
        return _of_module(value, name)
    if not _reads_generically(cls):
        raise RejectedError(f"{name_of(cls)} has a __getattribute__ of its own")
    in_class = class_entry(cls, name)
    if in_class is not MISSING and _is_data_descriptor(in_class):
        return _described(value, in_class, name)
    own = _own_names(value)
    found = MISSING if own is None else entry(own, name)
    if found is not MISSING:
        return found
    if in_class is not MISSING:
        if class_entry(type(in_class), "__get__") is MISSING:
            return in_class
        raise RejectedError(_of_descriptor(in_class, name, cls))
    return _absent(cls, cls, name)


def _reads_generically(cls: type) -> bool:
    """Whether attributes are looked up as in any object: by the method of `object`, or of a builtin type."""
    found = class_entry(cls, "__getattribute__")
    if type(found) is not types.WrapperDescriptorType:
        return False
    owner = found.__objclass__
    if owner is getattr(sys.modules.get("_functools"), "partial", None):
        return True
    return not facts.is_heap_type(owner) and facts.module_name(owner) == "builtins" and owner is not super


def _absent(cls: type, asked: type, name: str) -> Any:
    if class_entry(asked, "__getattr__") is not MISSING:
        raise RejectedError(f"{name_of(asked)} has a __getattr__, which would run")
    raise AttributeError(f"'{name_of(cls)}' has no attribute '{name}'")


def _is_data_descriptor(found: Any) -> bool:
    cls = type(found)
    return class_entry(cls, "__set__") is not MISSING or class_entry(cls, "__delete__") is not MISSING


def _described(value: Any, descriptor: Any, name: str) -> Any:
    cls = type(descriptor)
    if cls is types.MemberDescriptorType:
        return descriptor.__get__(value)
    if cls is _TUPLE_GETTER:
        return descriptor.__get__(value)
    if cls is types.GetSetDescriptorType and (name == "__dict__" or one_of(descriptor.__objclass__, _GETTERS)):
        found = descriptor.__get__(value)
        return dict(found) if name == "f_locals" else found  # since Python 3.13 a view
    raise RejectedError(_of_descriptor(descriptor, name, type(value)))


def _of_descriptor(descriptor: Any, name: str, cls: type) -> str:
    if type(descriptor) is property:
        return f"{name} is a property of {name_of(cls)}, which would run"
    if type(descriptor) is types.FunctionType:
        return f"{name} is a method of {name_of(cls)}: methods of the program are not called"
    return f"{name} is a {name_of(type(descriptor))} of {name_of(cls)}, which could run code"


def _own_names(value: Any) -> Any:
    described = class_entry(type(value), "__dict__")
    if described is MISSING:
        return None
    if not one_of(type(described), (types.GetSetDescriptorType, types.MemberDescriptorType)):
        raise RejectedError(f"{name_of(type(value))} has a __dict__ of its own")
    own = described.__get__(value)
    if type(own) is not dict:
        raise RejectedError(f"the fields of {name_of(type(value))} are not in a dict")
    return own


def _of_module(value: Any, name: str) -> Any:
    cls = type(value)
    if not inherits(cls, "__getattribute__", types.ModuleType):
        raise RejectedError(f"{name_of(cls)} has a __getattribute__ of its own")
    if cls is not types.ModuleType and class_entry(cls, name) is not MISSING:
        raise RejectedError(f"{name} is defined by the class of the module")
    names = _MODULE_NAMES(value)
    found = MISSING if names is None else entry(names, name)
    if found is not MISSING:
        return found
    if names is not None and entry(names, "__getattr__") is not MISSING:
        raise RejectedError("the module has a __getattr__, which would run")
    return _absent(cls, cls, name)


def _of_class(value: type, name: str) -> Any:
    meta = type(value)
    if not inherits(meta, "__getattribute__", type):
        raise RejectedError(f"{name_of(meta)} has a __getattribute__ of its own")
    if name == "__name__":
        return name_of(value)
    if class_entry(meta, name) is not MISSING:
        raise RejectedError(f"{name} is defined by the class of {name_of(value)}")
    found = class_entry(value, name)
    if found is MISSING:
        return _absent(value, meta, name)
    if class_entry(type(found), "__get__") is MISSING or type(found) is types.FunctionType:
        return found
    raise RejectedError(_of_descriptor(found, name, value))


# --- Collections ------------------------------------------------------------------------------------------------------


def items(value: Any) -> List[Any]:
    """Return the items of a collection, the keys of a dict.

    Raises:
        RejectedError: what yields them is code of the program, or would be used up.
    """
    cls = type(value)
    if one_of(cls, (str, bytes, bytearray, *VIEWS)):
        found: Any = value
    else:
        base = builtin_base(value, "__iter__", (*SEQUENCES, *SETS, dict))
        if base is None:
            raise RejectedError(f"{name_of(cls)} is not a builtin collection, and iterating it could run code")
        found = base.__iter__(value)  # type: ignore[attr-defined]
    return bounded(found, length(value))


def bounded(found: Iterable[Any], count: int) -> List[Any]:
    """Return as many items as are read at most, or refuse."""
    if count > MOST_ITEMS:
        raise RejectedError(f"it has {count} items, more than {MOST_ITEMS}")
    return list(found)


def length(value: Any) -> int:
    """Return the length of a collection or a text."""
    cls = type(value)
    if one_of(cls, VIEWS):
        return len(value)
    base = builtin_base(value, "__len__", (str, bytes, bytearray, *SEQUENCES, *SETS, dict))
    if base is None:
        if class_entry(cls, "__len__") is MISSING:
            raise TypeError(f"'{name_of(cls)}' has no length")
        raise RejectedError(f"the __len__ of {name_of(cls)} would run")
    return int(base.__len__(value))  # type: ignore[attr-defined]


def item(value: Any, key: Any) -> Any:
    """Return an item of a collection by its key, index or slice."""
    base = builtin_base(value, "__getitem__", (str, bytes, bytearray, *SEQUENCES, dict))
    if base is None:
        raise RejectedError(f"the items of {name_of(type(value))} are not those of a builtin collection")
    if base is dict:
        return _entry_of(value, key)
    if type(key) is slice:
        if len(range(*key.indices(length(value)))) > MOST_ITEMS:
            raise RejectedError(f"the slice has more than {MOST_ITEMS} items")
    elif not one_of(type(key), (int, bool)):
        raise RejectedError("an index is a whole number or a slice")
    read: Any = base
    return read.__getitem__(value, key)


def _entry_of(value: Any, key: Any) -> Any:
    if not has_plain_keys((key,)):
        raise RejectedError(f"the key is a {name_of(type(key))}, whose hash could be code of the program")
    if not has_plain_keys(dict.__iter__(value)):
        raise RejectedError("some keys are objects: comparing them could run code of the program")
    found = dict.get(value, key, MISSING)
    if found is MISSING:
        if class_entry(type(value), "__missing__") is not MISSING:
            raise RejectedError(f"the key is not there, and the __missing__ of {name_of(type(value))} would run")
        raise KeyError(key)
    return found
