"""Children of values: items and fields, any slice of them, each with a path that leads back to it.

    children([7, 8], 1, 10)     # [1] with value 8 and path {}[1]; and that there are 2

A path is an expression. Where a key cannot be written as one (an object as the key of a dict, an element of a set) the
path is an index expression: `[*dd.values()][2]`, `[*st][0]`. What the class reads in a way of its own is read as its
base would, `[*list.__iter__(xs)][0]` and `x.__dict__['name']`, so that a path leads to what is shown.
"""

import _ast
import _collections  # type: ignore[import-not-found]
import types
from typing import Any, Iterable, Iterator, List, Optional, Tuple

from trio_debugmcp.probe.inside.syntax import parsed
from trio_debugmcp.probe.inside.values import atoms, facts
from trio_debugmcp.probe.inside.values.program_text import error_text

_KEYWORDS = frozenset(
    (
        "False None True and as assert async await break class continue def del elif else except finally for "
        "from global if import in is lambda nonlocal not or pass raise return try while with yield "
    ).split()
)
"""Of every version: a field of such a name (made by `setattr`) cannot be written behind a dot."""


NO_PATH = ""
"""In place of the path of what no expression leads to: a global that a local hides."""

_MOST_KEY = 100
"""Characters of a dict's key that a path spells out. Longer keys are reached by their position."""

MOST_PASSED = 10000000
"""Positions of a dict or set that are passed to reach a slice of it: a fifth of a second."""

_ATOMS = (str, bytes, bytearray, int, float, complex)


class Child:
    """An item or a field: its name, its value and its path, of which the parent's is still to be put in front.

    Attributes:
        path: with `{}` for the parent's path.
        note: in place of the value, where reading it would run code of the program.
        keyed: whether it is an item of a dict whose key is not written as an expression, so that it has to be rendered.
    """

    __slots__ = ("key", "keyed", "name", "note", "path", "value")

    def __init__(self, name: str, value: Any, path: str, note: str = "", keyed: bool = False, key: Any = None) -> None:
        self.name = name
        self.value = value
        self.path = path
        self.note = note
        self.keyed = keyed
        self.key = key


def children(value: Any, start: int, count: int) -> Tuple[List[Child], int]:
    """A slice of a value's items or fields, and how many there are.

    Raises:
        RuntimeError: the program changes the collection while it is read.
        IndexError: `start` is too far into a dict or set.
    """
    if issubclass(type(value), _ATOMS):
        return [], 0
    total = facts.length(value)
    if total is not None and _has_items(value):
        if start > MOST_PASSED and not issubclass(type(value), (list, tuple, range)):
            raise IndexError(f"items above {MOST_PASSED} of a {facts.type_name(type(value))} cannot be reached")
        return _items(value, start, count) if start < total else [], total
    shape = _shape(value)
    if shape:
        row = _labelled if facts.is_labelled(value) else _row
        return [row(value, index) for index in range(start, min(start + count, shape[0]))], shape[0]
    named = list(_named(value))
    return named[start : start + count], len(named)


def count_of(value: Any) -> int:
    """Return how many children a value has, without making them."""
    cls = type(value)
    if issubclass(cls, _ATOMS):
        return 0
    if _has_items(value):
        return facts.length(value) or 0
    shape = _shape(value)
    if shape:
        return shape[0]
    if issubclass(cls, (type, types.ModuleType)):
        return sum(1 for name in list(_namespace(value)) if type(name) is str and name[:2] != "__")
    return sum(1 for _ in _named(value))


def is_named(value: Any) -> bool:
    """Whether the children of a value have names or keys, and not only numbers."""
    base = facts.container(value)
    if base is not None or facts.counted(type(value)):
        return base is not None and base[1] is dict
    return not facts.array_shape(value)


def _has_items(value: Any) -> bool:
    return facts.container(value) is not None or facts.counted(type(value))


def _shape(value: Any) -> Optional[Tuple[int, ...]]:
    """Return the shape of an array with items; of a table of pandas, whose items are its columns, that of these."""
    shape = facts.array_shape(value)
    if not shape or facts.class_attribute(type(value), "columns") is facts.MISSING:
        return shape
    return shape[1:] if facts.is_labelled(value) else None


def _namespace(value: Any) -> Any:
    """The names of a class or a module."""
    own = type.__dict__["__dict__"].__get__(value) if issubclass(type(value), type) else facts.instance_dict(value)
    return own or {}


def _items(value: Any, start: int, count: int) -> List[Child]:
    for attempt in range(3):
        try:
            found = list(facts.items(value, start, count))
            break
        except RuntimeError:  # it was changed by another thread; most likely not thrice
            if attempt == 2:
                raise
    base = facts.container(value)
    if base is not None and base[1] is dict:
        form = _values_form(type(value))
        plain = facts.class_attribute(type(value), "__getitem__") is dict.__getitem__
        return [_entry(number, key, item, form, plain) for number, (key, item) in enumerate(found, start)]
    form = _items_form(type(value), base[0] if base is not None else None)
    return [Child(f"[{index}]", item, form.format(index)) for index, item in found]


def _items_form(cls: type, base: Optional[type]) -> str:
    """The path of an item that has a number, which is still to be put in."""
    if base is None:
        return "{{}}[{}]" if facts.indexed(cls) else "[*{{}}][{}]"
    named, form = ("__iter__", "[*{{}}][{}]") if base in (set, frozenset) else ("__getitem__", "{{}}[{}]")
    if facts.class_attribute(cls, named) is facts.class_attribute(base, named):
        return form
    return f"[*{base.__name__}.__iter__({{{{}}}})][{{}}]" if base is not _collections.deque else NO_PATH


def _values_form(cls: type) -> str:
    """The path of a value of a dict by its position, which is still to be put in."""
    ordered = issubclass(cls, _collections.OrderedDict)
    if facts.class_attribute(cls, "values") is (_collections.OrderedDict if ordered else dict).values:
        return "[*{{}}.values()][{}]"
    return NO_PATH if ordered else "[*dict.values({{}})][{}]"


def _entry(number: int, key: Any, item: Any, form: str, plain: bool) -> Child:
    text = literal(key)
    if text is None or len(text) > _MOST_KEY:
        return Child(f"[{number}]", item, form.format(number), "", True, key)
    path = "{}[" + _braced(text) + "]" if plain else form.format(number)
    return Child(f"[{text}]", item, path)


def _row(value: Any, index: int) -> Child:
    try:
        return Child(f"[{index}]", value[index], f"{{}}[{index}]")
    except Exception as error:
        return Child(f"[{index}]", None, f"{{}}[{index}]", f"<{error_text(error)}>")


def _labelled(value: Any, index: int) -> Child:
    """Return an item of a Series of pandas, or a column of a table: by its label, if that is plain and no other's."""
    is_table = facts.class_attribute(type(value), "columns") is not facts.MISSING
    position = f":, {index}" if is_table else str(index)
    place = f"{{}}.iloc[{position}]"
    try:
        labels = value.columns if is_table else value.index
        label = labels[index]
        item = value.iloc[:, index] if is_table else value.iloc[index]
        is_one = len(labels) <= MOST_PASSED and labels.is_unique
    except Exception as error:
        return Child(f"[{index}]", None, place, f"<{error_text(error)}>")
    if facts.module_name(type(label)) == "numpy":
        label = label.item()
    text = literal(label)
    if text is None or len(text) > _MOST_KEY:
        return Child(f"[{index}]", item, place, "", True, label)
    path = f"{{}}[{_braced(text)}]" if is_table else f"{{}}.loc[{_braced(text)}]"
    is_plain = type(label) in (str, bytes, int, float)  # others may be taken for a mask, or for several labels
    return Child(f"[{text}]", item, path if is_one and is_plain else place)


def literal(key: Any) -> Optional[str]:
    """Return a key as an expression that makes an equal one, or None."""
    cls = type(key)
    if cls in (str, bytes, bool, type(None)) or (cls is int and key.bit_length() < atoms.MOST_BITS):
        return repr(key) if cls not in (str, bytes) or len(key) <= _MOST_KEY else None
    if cls is float and key == key and abs(key) != float("inf"):
        return repr(key)
    if cls is tuple and len(key) <= 20:
        parts = [literal(each) for each in key]
        if all(part is not None for part in parts):
            return f"({', '.join(part for part in parts if part is not None)}{',' if len(key) == 1 else ''})"
    return None


def _named(value: Any) -> Iterator[Child]:
    """Yield the fields of an object, and what else has a name: of functions, classes, modules, exceptions."""
    cls = type(value)
    if issubclass(cls, types.FunctionType):
        for number, (name, cell) in enumerate(zip(value.__code__.co_freevars, value.__closure__ or ())):
            try:
                yield Child(name, cell.cell_contents, f"{{}}.__closure__[{number}].cell_contents")
            except ValueError:  # still empty
                continue
    elif issubclass(cls, types.MethodType):
        yield Child("__self__", value.__self__, "{}.__self__")
    elif issubclass(cls, (type, types.ModuleType)):
        named = facts.namespace_order(_public(_namespace(value).items()))
        own = _of_class if issubclass(cls, type) else _field
        yield from (own(value, each, item) for each, item in named)
        return
    elif issubclass(cls, BaseException):
        yield _field(value, "args", atoms.arguments(value))
        for name in ("__cause__", "__context__"):
            linked = BaseException.__dict__[name].__get__(value)
            if linked is not None:
                yield _field(value, name, linked)
    yield from (_field(value, name, item) for name, item in facts.fields(value))
    if facts.instance_dict(value) is not None or facts.is_heap_type(cls):
        for name in facts.properties(cls):
            yield Child(name, None, f"{{}}.{name}" if is_written(name) else NO_PATH, "<property, not run>")


def _public(pairs: Iterable[Tuple[Any, Any]]) -> List[Tuple[str, Any]]:
    return [(name, item) for name, item in list(pairs) if type(name) is str and name[:2] != "__"]


def _field(owner: Any, name: str, value: Any) -> Child:
    """A field with its path: behind a dot, unless that leads to something of the class of its owner."""
    cls = type(owner)
    if isinstance(facts.class_attribute(cls, "__getattribute__"), types.FunctionType):
        return Child(name, value, NO_PATH)
    found = facts.class_attribute(cls, name)
    if type(found) in (types.MemberDescriptorType, types.GetSetDescriptorType):
        dotted = _leads_to(found, owner, value)
    else:
        dotted = all(facts.class_attribute(type(found), each) is facts.MISSING for each in ("__set__", "__delete__"))
    if dotted and is_written(name):
        return Child(name, value, f"{{}}.{name}")
    own = facts.instance_dict(owner)
    inside = own is not None and own.get(name, facts.MISSING) is value
    return Child(name, value, "{}.__dict__[" + _braced(repr(name)) + "]" if inside else NO_PATH)


def _leads_to(found: Any, owner: Any, value: Any) -> bool:
    """Whether a field of C, which no code of the program can be behind, has that value."""
    try:
        return found.__get__(owner) is value
    except Exception:
        return False


def _of_class(owner: type, name: str, value: Any) -> Child:
    """A name of a class. Static methods and class methods are shown as what their names lead to: functions."""
    kind = type(value)
    if kind is staticmethod:
        value, kind = value.__func__, types.FunctionType
    elif kind is classmethod and type(value.__func__) is types.FunctionType:
        value, kind = types.MethodType(value.__func__, owner), types.FunctionType
    meta = facts.class_attribute(type(owner), name)
    plain = kind in _OF_CLASSES or facts.class_attribute(kind, "__get__") is facts.MISSING
    if plain and meta is facts.MISSING and is_written(name):
        return Child(name, value, f"{{}}.{name}")
    return Child(name, value, "{}.__dict__[" + _braced(repr(name)) + "]")


_OF_CLASSES = (types.FunctionType, types.MemberDescriptorType, types.GetSetDescriptorType, property)
"""Types whose values are found as they are in a class, though they have a `__get__`."""


def is_written(name: str) -> bool:
    """Whether a name can be written in an expression, and is read as it is written: `ﬁ` is read as `fi`."""
    if not name.isidentifier() or name in _KEYWORDS:
        return False
    node = None if name.isascii() else parsed(name)
    return node is None or (isinstance(node, _ast.Name) and node.id == name)


def _braced(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
