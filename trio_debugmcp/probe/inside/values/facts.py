"""What can be known of an object without running code of the program: its type, its fields, its length.

Names are found as `object.__getattribute__` would, but properties, `__getattr__` and metaclasses are never called.
Hence `issubclass(type(value), list)`: `isinstance` asks `value.__class__`, which may be a property of the program, and
`in` compares classes with `==`, which may be their metaclass's.
"""

import _collections  # type: ignore[import-not-found]  # `collections` takes longer to load than all of this
import itertools
import types
from typing import Any, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported

_MRO = type.__dict__["__mro__"].__get__
_NAME = type.__dict__["__name__"].__get__
_MODULE = type.__dict__["__module__"].__get__
_MODULE_DICT: Any = types.ModuleType.__dict__["__dict__"].__get__  # type: ignore[index]
_DICT = type.__dict__["__dict__"].__get__

MISSING = object()

CONTAINERS: Tuple[Tuple[type, Any, str, str], ...] = (
    (list, list, "[", "]"),
    (tuple, tuple, "(", ")"),
    (dict, dict, "{", "}"),
    (set, set, "{", "}"),
    (frozenset, frozenset, "frozenset({", "})"),
    (_collections.deque, _collections.deque, "deque([", "])"),
)
"""Base, the class whose own methods read it, and its brackets. Their lengths and items need no code of the program."""

_GENERATORS = ("<string>", "dataclasses.py", "reprlib.py")
"""Files of the `__repr__` that a dataclass gets, in one version or another."""

MOST_SAMPLED = 20000
"""Items that are looked at, in some 20 ms: one that is not like the others may be anywhere."""


def mro(cls: type) -> Tuple[type, ...]:
    """Return a class and its bases, in the order in which names are looked up."""
    return _MRO(cls) or ()


def type_name(cls: type) -> str:
    """Return the `__name__` of a class, whatever its metaclass says."""
    return str(_NAME(cls))


def module_name(cls: type) -> str:
    """Return the `__module__` of a class, or an empty string."""
    try:
        found = _MODULE(cls)
    except AttributeError:
        return ""
    return found if type(found) is str else ""


_COMMON = frozenset(
    (
        "int Integer long short float double number f64 float64 bool boolean str string String bytes complex NoneType "
        "ellipsis undefined list tuple dict set type method builtin_function_or_method"
    ).split()
)
"""Names of types, in Python or elsewhere, whose values readers know by their looks."""


def shown_type(cls: type) -> str:
    """Return the name of a type as answers have it: with its module where it could be taken for another type."""
    name = type_name(cls)
    module = module_name(cls) if name in _COMMON else ""
    return name if module in ("", "builtins") else f"{module}.{name}"


def is_heap_type(cls: type) -> bool:
    """Whether a class was made by a class statement (or the like), not in C."""
    return bool(type.__dict__["__flags__"].__get__(cls) & 1 << 9)  # Py_TPFLAGS_HEAPTYPE


def is_enum(cls: type) -> bool:
    """Whether a class is an enumeration; there is none where the program has not imported `enum`."""
    enum = imported.first_seen("enum")
    return enum is not None and issubclass(cls, enum.Enum)


def own(cls: type, name: str) -> Any:
    """Return what a class itself has under a name, as it stands there, or MISSING."""
    return _DICT(cls).get(name, MISSING)


def class_attribute(cls: type, name: str) -> Any:
    """Return what a class or one of its bases has under a name, as it stands there, or MISSING."""
    for base in mro(cls):
        found = _DICT(base).get(name, MISSING)
        if found is not MISSING:
            return found
    return MISSING


def attribute(value: Any, name: str) -> Any:
    """Return a field of an object, a name of a module or of a class, or MISSING; methods are returned unbound."""
    if issubclass(type(value), type):
        return class_attribute(value, name)
    own = instance_dict(value)
    if own is not None:
        found = own.get(name, MISSING)
        if found is not MISSING:
            return found
    found = class_attribute(type(value), name)
    if (
        found is MISSING
    ):  # some types of C have a dictionary that only this method finds; it runs no code of the program
        try:
            return object.__getattribute__(value, name)
        except AttributeError:
            return MISSING
    if type(found) in (types.MemberDescriptorType, types.GetSetDescriptorType):
        try:
            return found.__get__(value)
        except Exception:
            return MISSING
    return found


def instance_dict(value: Any) -> Optional[dict]:  # type: ignore[type-arg]
    """Return the `__dict__` of an object, unless the class puts something of its own in its place."""
    described = class_attribute(type(value), "__dict__")
    if type(described) not in (
        types.GetSetDescriptorType,
        types.MemberDescriptorType,
    ):  # the latter: SimpleNamespace
        return _module_dict(value)
    try:
        found = described.__get__(value)
    except Exception:
        return None
    return found if type(found) is dict else None


def _module_dict(value: Any) -> Optional[dict]:  # type: ignore[type-arg]
    if issubclass(type(value), types.ModuleType):
        return _MODULE_DICT(value)  # type: ignore[no-any-return]
    return None


def fields(value: Any) -> List[Tuple[str, Any]]:
    """The fields of an object: those of its slots, then those of its `__dict__`, in the order of their definition."""
    found = []
    cls = type(value)
    for base in reversed(mro(cls)):
        slots = _DICT(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else _names(slots):
            mangled = f"_{type_name(base).lstrip('_')}{name}" if name[:2] == "__" and name[-2:] != "__" else name
            member = _DICT(base).get(mangled)
            if type(member) is types.MemberDescriptorType:
                try:
                    found.append((mangled, member.__get__(value)))
                except AttributeError:  # not set
                    continue
    own = instance_dict(value)
    if own is not None:
        found.extend(item for item in list(own.items()) if type(item[0]) is str)
    return found


def _names(slots: Any) -> List[str]:
    return [name for name in slots if type(name) is str] if type(slots) in (tuple, list, dict, set, frozenset) else []


def properties(cls: type) -> List[str]:
    """Names of the properties of a class that are written in Python."""
    names = {}
    for base in mro(cls):
        for name, found in list(_DICT(base).items()):
            if type(found) is property and isinstance(found.fget, types.FunctionType):
                names[name] = True
    return list(names)


def own_repr(cls: type) -> Any:
    """Return the function behind `repr` of a type, or None where it is object's or was generated from fields."""
    found = class_attribute(cls, "__repr__")
    if found is object.__repr__ or found is MISSING:
        return None
    if isinstance(found, types.FunctionType):
        file = found.__code__.co_filename
        if file.startswith("<attrs generated"):
            return None
        if file.endswith(_GENERATORS) and class_attribute(cls, "__dataclass_fields__") is not MISSING:
            return None
    return found


def container(value: Any) -> Optional[Tuple[type, Any, str, str]]:
    """Return how to read a collection whose length and items need no code of the program."""
    cls = type(value)
    for entry in CONTAINERS:
        if cls is entry[0]:
            return entry
    for entry in CONTAINERS:
        if issubclass(cls, entry[0]):
            return entry
    return None


def length(value: Any) -> Optional[int]:
    """Return the true length of a collection, a string or an array, or None where only the program knows it."""
    found = container(value)
    if found is not None:
        return int(found[1].__len__(value))
    cls = type(value)
    for base in (str, bytes, bytearray):
        if issubclass(cls, base):
            return int(base.__len__(value))
    if counted(cls):
        try:
            return len(value)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            return None
    shape = array_shape(value)
    return shape[0] if shape else None


_INDEXED: Tuple[Any, ...] = (range, memoryview)

_VIEWS: Tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def counted(cls: type) -> bool:
    """Whether this is a type of C whose values have items, besides the collections: a range, the view of a dict."""
    return indexed(cls) or any(cls is each for each in _VIEWS)


def indexed(cls: type) -> bool:
    """Whether this is such a type whose items are reached by their index."""
    return any(cls is each for each in _INDEXED)


def array_shape(value: Any) -> Optional[Tuple[int, ...]]:
    """Return the shape of an array or a table of numpy, pandas, torch and their like, which C code knows."""
    cls = type(value)
    if class_attribute(cls, "shape") is MISSING:
        return None
    if class_attribute(cls, "dtype") is MISSING and class_attribute(cls, "dtypes") is MISSING:
        return None
    if module_name(cls).partition(".")[0] not in ARRAY_LIBRARIES:
        return None
    try:
        return tuple(int(each) for each in value.shape)
    except Exception:
        return None


def is_labelled(value: Any) -> bool:
    """Whether this is a Series or a table of pandas, whose items have labels and whose numbers are labels, too."""
    cls = type(value)
    return module_name(cls).partition(".")[0] == "pandas" and class_attribute(cls, "iloc") is not MISSING


ARRAY_LIBRARIES = ("numpy", "pandas", "torch", "cupy", "jax", "jaxlib", "xarray", "polars", "tensorflow", "dask")
"""Whose `shape` is trusted to be quick and without effects."""


def items(value: Any, start: int, count: int) -> Iterator[Tuple[Any, Any]]:
    """Yield (index or key, item) of a slice of a collection; of a dict keys, of sets positions.

    Raises:
        RuntimeError: the collection was changed meanwhile.
    """
    found = container(value)
    if found is None:
        if indexed(type(value)):
            yield from ((index, value[index]) for index in range(start, min(start + count, len(value))))
        else:
            yield from enumerate(_slice(iter(value), start, count), start)
        return
    base = found[1]
    if base in (list, tuple):
        yield from enumerate(base.__getitem__(value, slice(start, start + count)), start)
    elif base is dict:
        ordered = _collections.OrderedDict if issubclass(type(value), _collections.OrderedDict) else dict
        yield from _slice(iter(ordered.items(value)), start, count)
    else:
        yield from enumerate(_slice(base.__iter__(value), start, count), start)


def _slice(iterator: Iterator[Any], start: int, count: int) -> Iterator[Any]:
    return itertools.islice(iterator, start, start + count)


def namespace_order(found: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """Values first, then classes and functions, then modules: where there are many, the first are shown."""
    return sorted(found, key=lambda each: _rank(type(each[1])))


def _rank(cls: type) -> int:
    if issubclass(cls, types.ModuleType):
        return 2
    return 1 if issubclass(cls, (type, types.FunctionType, types.BuiltinFunctionType)) else 0


def even(total: int) -> List[int]:
    """Return positions in a collection of that length: all, or many at equal distances, from the first to the last."""
    if total <= MOST_SAMPLED:
        return list(range(total))
    return [number * (total - 1) // (MOST_SAMPLED - 1) for number in range(MOST_SAMPLED)]
