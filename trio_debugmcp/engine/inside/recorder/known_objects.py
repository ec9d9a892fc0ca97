"""`KnownObjects`: numbers of the program's objects, and what is known of each.

    known = objects.of(value)           # the same one as long as the object lives
    known.number

An object is known by a weak reference where its type allows one. Others are held, a bounded number of them, and
released when only the recorder has them: a few are looked at each time.
"""

import sys
import types
from _weakref import ref
from typing import Any

from trio_debugmcp.engine.inside.recorder.array_memory import numpy_array

MOST_HELD = 20_000
"""Objects without weak references that are known at a time."""

_MOST_TYPES = 5_000

_SWEPT = 3
"""Held objects that are looked at whenever one more is held."""

_ALONE = 3
"""References to an object that only the recorder has: of `held`, of a variable, of an argument."""

_namespace: Any = types.ModuleType.__dict__["__dict__"].__get__  # type: ignore[index]

_offset: Any = type.__dict__["__weakrefoffset__"].__get__
_references = sys.getrefcount


class WeakKnown(ref):  # type: ignore[type-arg]
    """An object that is known as long as it lives.

    Attributes:
        number: its own one, never another object's.
        fields: by key what is known there.
        content: what is known to be in a container, or None.
    """

    __slots__ = ("content", "fields", "key", "number")

    number: int
    fields: Any
    content: Any
    key: int


class _ArrayTie(ref):  # type: ignore[type-arg]
    """The weak reference to an array."""

    __slots__ = ("key",)

    key: int


class TiedKnown:
    """An array of numpy, whose weak reference is a part that can be released for a while; else as `WeakKnown`."""

    __slots__ = ("content", "fields", "key", "number", "tie")

    def __init__(self) -> None:
        self.tie: Any = None
        self.key = 0
        self.number = 0
        self.fields: Any = None
        self.content: Any = None

    def __call__(self) -> Any:
        tie = self.tie
        return None if tie is None else tie()


class HeldKnown:
    """An object that is held, for there are no weak references to it; else as `WeakKnown`."""

    __slots__ = ("content", "fields", "held", "key", "number", "place")

    def __init__(self, held: Any) -> None:
        self.held = held
        self.place = -1
        self.key = 0
        self.number = 0
        self.fields: Any = None
        self.content: Any = None

    def __call__(self) -> Any:
        return self.held


class KnownObjects:
    """All of them.

    Attributes:
        by_id: by the object's id; one that has died is not there.
        dying: held ones that were replaced where they were known to be.
    """

    def __init__(self) -> None:
        self.by_id: dict[int, Any] = {}
        self._next = 1
        self._held: list[HeldKnown] = []
        self._hand = 0
        self._pinned: dict[int, Any] = {}
        self._modules: dict[int, Any] = {}
        self._types: dict[int, tuple[Any, bool]] = {}
        self.dying: list[HeldKnown] = []
        by_id, modules = self.by_id, self._modules

        def forget_module(module: Any, pop: Any = by_id.pop) -> None:
            for key, known in list(modules.items()):
                if known is module:
                    modules.pop(key, None)
                    pop(key, None)

        self._forget_module = forget_module

        def forget(known: Any, pop: Any = by_id.pop) -> None:
            pop(known.key, None)

        self._forget = forget

    def of(self, value: Any) -> Any:
        """Return what is known of an object, which is not an atom."""
        known = self.by_id.get(id(value))
        return self._made(value) if known is None else known

    def bury(self) -> None:
        """Release those that were replaced somewhere, if only the recorder has them."""
        while self.dying:
            known = self.dying.pop()
            if _references(known.held) <= _ALONE - 1 and known.place >= 0:
                self._release(known.place)

    def left(self, value: Any) -> None:
        """An object has perhaps left a container."""
        known = self.by_id.get(id(value))
        if type(known) is HeldKnown:
            self.dying.append(known)

    def replaced(self, tokens: dict[str, Any]) -> None:
        """A frame has ended: what it knew by names may be gone."""
        for token in tokens.values():
            if type(token) is HeldKnown:
                self.dying.append(token)

    def pinned(self, value: Any) -> Any:
        """Return what is known of an object that is held for good: the globals of a module."""
        known = self._pinned.get(id(value))
        if known is None:
            known = self._pinned[id(value)] = self.by_id.get(id(value)) or self._number(HeldKnown(value), value)
        return known

    def of_namespaces(self) -> list[Any]:
        """Return those of the namespaces of modules."""
        return list(self._pinned.values())

    def _made(self, value: Any) -> Any:
        if issubclass(type(value), types.ModuleType):
            return self._module(value)
        if not _offset(type(value)):
            held = HeldKnown(value)
            self.hold(held)
            return self._number(held, value)
        if self._is_of_arrays(type(value)):
            made = self._number(TiedKnown(), value)
            if made.tie is None:
                self.tie(made, value)
            return made
        return self._number(WeakKnown(value, self._forget), value)

    def tie(self, known: TiedKnown, value: Any) -> None:
        """Know an array as long as it lives."""
        known.tie = tie = _ArrayTie(value, self._forget)
        tie.key = known.key

    def _is_of_arrays(self, cls: Any) -> bool:
        found = self._types.get(id(cls))
        if found is None or found[0] is not cls:
            if len(self._types) >= _MOST_TYPES:
                self._types.clear()
            found = self._types[id(cls)] = cls, numpy_array(cls) is not None
        return found[1]

    def _module(self, module: Any) -> Any:
        """A module is known as its namespace is: what one writes the other has."""
        self._modules[id(module)] = ref(module, self._forget_module)
        return self.by_id.setdefault(id(module), self.pinned(_namespace(module)))

    def _number(self, known: Any, value: Any) -> Any:
        known.number = self._next
        self._next += 1
        known.key = id(value)
        known.fields = None
        known.content = None
        return self.by_id.setdefault(known.key, known)  # another thread may have been quicker

    def hold(self, known: HeldKnown) -> None:
        """Hold an object, also one that was released for want of room: it keeps its number."""
        self._sweep()
        if len(self._held) >= MOST_HELD:
            self._release(0)
        known.place = len(self._held)
        self._held.append(known)
        if known.number:
            self.by_id[known.key] = known

    def _sweep(self) -> None:
        """Release what only the recorder has."""
        held = self._held
        for _ in range(_SWEPT):
            if not held:
                return
            self._hand = (self._hand + 1) % len(held)
            value = held[self._hand].held
            if _references(value) <= _ALONE:
                self._release(self._hand)

    def _release(self, place: int) -> None:
        known = self._held[place]
        last = self._held.pop()
        if last is not known:
            self._held[place] = last
            last.place = place
        known.place = -1
        if known.key not in self._pinned and self.by_id.get(known.key) is known:
            self.by_id.pop(known.key, None)
