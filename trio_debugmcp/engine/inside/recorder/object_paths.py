"""Paths from a name to a value, gone without running code of the program: `cart.lines[0]`, `self.prices[item]`.

    value = paths.attribute(cart, "lines")      # of its instance dict or its slots, of itself if it is a class,
                                                # else a container of its class, which all instances share
    value = paths.item(lines, 0)                # of an exact list, tuple or dict, under an atom

Where there is nothing, or only code of the program knows what there is, the value is `MISSING`.
"""

import collections
import types
from typing import Any

from trio_debugmcp.engine.inside.recorder.array_memory import is_array
from trio_debugmcp.engine.inside.recorder.statement_reader import TYPE
from trio_debugmcp.engine.inside.recorder.value_words import is_atom_type
from trio_debugmcp.probe.inside.values import facts

MISSING: Any = facts.MISSING

LIST, DICT, SET, DEQUE, ARRAY = 1, 2, 3, 4, 5
"""Kinds of containers; 0: it is another value."""

_CLASS: Any = object.__dict__["__class__"]
"""What says the class of an object that does not pretend to be of another one."""

_type_dict: Any = type.__dict__["__dict__"].__get__

_dict_get = dict.get
_list_len, _tuple_len = list.__len__, tuple.__len__


_CONTAINERS = (list, dict, set)
"""Types of the values of a class that are followed through its instances."""

_KINDS: Any = ((list, LIST), (dict, DICT), (set, SET), (collections.deque, DEQUE))

_COLUMNS = "sqlalchemy.orm.attributes"

_MOST_TYPES = 5000


def names_of(frame: Any, is_function: bool) -> Any:
    """Return the names of a frame; of a class, which may have a namespace of its own kind, without asking that."""
    names = frame.f_locals
    if is_function or type(names) is dict:
        return names
    return dict.copy(names) if issubclass(type(names), dict) else {}


class TypeLayout:
    """Where the instances of a type have their attributes.

    Attributes:
        kind: of container that they are; is_atom: they are known by their value.
        names: reads the instance dict of one, or None.
        slots: by name what reads a slot.
        shared: by name the class that has a container under it, which all instances share.
        hidden: names for which a property or the like is called, whatever the instance dict has.
        described: names of columns of SQLAlchemy: they keep the value in the instance dict, under their own name, and
            fetch it where it is not there.
    """

    __slots__ = ("cls", "described", "hidden", "is_atom", "is_class", "kind", "names", "shared", "slots")

    def __init__(self, cls: Any) -> None:
        self.cls = cls  # held, so that its id stays its own
        self.is_class = issubclass(cls, type)
        self.is_atom = is_atom_type(cls)
        self.kind = next((kind for base, kind in _KINDS if issubclass(cls, base)), ARRAY if is_array(cls) else 0)
        described = facts.class_attribute(cls, "__dict__")
        is_plain = type(described) in (types.GetSetDescriptorType, types.MemberDescriptorType)
        self.names = described.__get__ if is_plain and not self.is_class else None
        if self.names is None and issubclass(cls, types.ModuleType):
            self.names = types.ModuleType.__dict__["__dict__"].__get__  # type: ignore[index]
        self.slots: dict[str, Any] = {}
        self.shared: dict[str, Any] = {}
        self.hidden: set[str] = set()
        self.described: set[str] = set()
        for base in reversed(facts.mro(cls)):
            for name, value in list(_type_dict(base).items()):
                self.shared.pop(name, None)
                if type(value) in _CONTAINERS and name[:2] != "__":
                    self.shared[name] = base
                if type(value) is types.MemberDescriptorType:
                    self.slots[name] = value.__get__
                    self.hidden.discard(name)
                    self.described.discard(name)
                    continue
                self.slots.pop(name, None)
                is_data = facts.class_attribute(type(value), "__set__") is not MISSING and name[:2] != "__"
                is_described = is_data and facts.module_name(type(value)) == _COLUMNS
                (self.described.add if is_described else self.described.discard)(name)
                (self.hidden.add if is_data and not is_described else self.hidden.discard)(name)


def _container(value: Any) -> Any:
    return value if type(value) in _CONTAINERS else MISSING


class ObjectPaths:
    """What is known of types, and the ways that are gone by it.

    Attributes:
        layouts: by the id of the type, which is held.
    """

    def __init__(self) -> None:
        self.layouts: dict[int, TypeLayout] = {}

    def layout(self, cls: Any) -> TypeLayout:
        """Return the layout of a type."""
        known = self.layouts.get(id(cls))
        if known is None or known.cls is not cls:
            if len(self.layouts) >= _MOST_TYPES:
                self.layouts.clear()
            known = self.layouts[id(cls)] = TypeLayout(cls)
        return known

    def attribute(self, value: Any, name: str) -> Any:
        """Return an attribute that is stored in an object itself, or MISSING."""
        cls = type(value)
        known = self.layouts.get(id(cls)) or self.layout(cls)
        try:
            if name == TYPE:
                return cls
            if name == "__class__":
                return cls if facts.class_attribute(cls, name) is _CLASS else MISSING
            if known.hidden and name in known.hidden:
                return MISSING
            if known.names is not None:
                found = _dict_get(known.names(value), name, MISSING)
                if found is not MISSING:
                    return found
            if known.is_class:
                found = _type_dict(value).get(name, MISSING)
                return found if found is not MISSING else _container(facts.class_attribute(value, name))
            if name in known.shared:
                return _container(_type_dict(known.shared[name]).get(name, MISSING))
            slot = known.slots.get(name)
            return MISSING if slot is None else slot(value)
        except (AttributeError, TypeError):  # an empty slot
            return MISSING

    def is_shared(self, value: Any, name: str) -> bool:
        """Whether `attribute` takes it from the class of an object, or from a base of a class."""
        known = self.layout(type(value))
        if known.is_class:
            return name not in _type_dict(value)
        return name in known.shared and (known.names is None or name not in known.names(value))

    def is_described(self, value: Any, name: str) -> bool:
        """Whether an attribute may have a value though `attribute` has none: a descriptor gives it."""
        return name in self.layout(type(value)).described

    @staticmethod
    def item(value: Any, key: Any) -> Any:
        """Return an item of an exact list, tuple or dict, or MISSING."""
        cls, kind = type(value), type(key)
        if cls is dict:
            if kind is str or kind is int or key is None or kind is bool or kind is float or kind is bytes:
                return _dict_get(value, key, MISSING)
            if kind is tuple and all([type(each) in (int, str, bool, float) or each is None for each in key]):
                return _dict_get(value, key, MISSING)
        elif (cls is list or cls is tuple) and kind is int:
            length = _list_len(value) if cls is list else _tuple_len(value)
            if -length <= key < length:
                return value[key]
        return MISSING
