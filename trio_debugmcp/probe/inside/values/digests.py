"""Digests: a short text that is the same for values that are equal inside, however large they are.

    digests = Digests(end=time.monotonic() + 0.3)
    digests.of(["a" * 1000000, {"b": 1}])    # ("9f3c…", True): all of it was seen

No code of the program runs, so a digest is made of what is there: of types, items and fields, down to numbers and text.
What only C knows (the place of an iterator, the buffer of a file) cannot be seen: the answer says so. Digests are made
of the hashes of strings, so they hold for one process only.
"""

import _thread
import itertools
import marshal
import time
import types
from typing import Any, Dict, List, Tuple

from trio_debugmcp.probe.inside.values import atoms, facts
from trio_debugmcp.probe.inside.values.program_text import is_quick

MOST_STEPS = 200000
"""Values that are visited for all digests of an answer. Numbers and strings in a list are passed faster."""

DEEPEST = 60
"""Levels down to which a value is visited; Python's own stack is needed by the program."""

_CHUNK = 1000
"""Plain items that are digested at once, by C code."""

_CHUNK_STEPS = 10

_MOST_BUFFER = 8000000
"""Bytes of an array that are read; it takes some milliseconds."""

_LONG = 40
"""Characters from which on a string is digested, not repeated."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), type(NotImplemented), range)

_PLAIN_IDS = frozenset(id(cls) for cls in _PLAIN)
"""By id, as the hash of a class may be code of its metaclass."""

_NUMBER_IDS = frozenset(id(cls) for cls in (type(None), bool, int, float))

_STR_ID = frozenset((id(str),))

_NAMED = (type, types.ModuleType, types.BuiltinFunctionType)
"""What its name says enough of: which one it is, not what is inside."""

_LOCKS = (type(_thread.allocate_lock()), _thread.RLock)
"""Their `repr` is C code and says all there is."""

_OPEN = (object, bytearray, *_PLAIN, *(entry[0] for entry in facts.CONTAINERS))
"""Types of C whose values have nothing inside that is not seen: what derives from these has fields besides."""

_BASE: Any = type.__dict__["__base__"].__get__
_OWN: Any = type.__dict__["__dict__"].__get__
_SIZE: Any = type.__dict__["__basicsize__"].__get__
_WORD = _SIZE(object) // 2


class Digests:
    """The digests of an answer, within a bound of time and of the number of values visited."""

    def __init__(self, end: float, steps: int = MOST_STEPS) -> None:
        self._end = end
        self._steps = steps
        self._whole = True
        self._above: Dict[int, int] = {}

    def of(self, value: Any) -> Tuple[str, bool]:
        """Return the digest of a value, and whether all that is inside was seen.

        It is empty where the time or the number of values ran out: at which of them is chance.
        """
        self._whole = True
        self._above.clear()
        try:
            text = self._of(value)
        except Exception:  # the program changes it meanwhile, or it is deeper than the stack
            return "", False
        return (hashed(text), self._whole) if self._steps > 0 else ("", False)

    def _of(self, value: Any) -> str:
        self._steps -= 1
        if self._steps <= 0 or (self._steps % 200 == 0 and time.monotonic() >= self._end):
            self._steps = 0  # for all that follows
            return self._unseen()
        cls = type(value)
        if id(cls) in _PLAIN_IDS:
            return plain(value)
        known = self._above.get(id(value))
        if known is not None:  # a cycle, so many levels up
            return f"^{len(self._above) - known}"
        if len(self._above) >= DEEPEST:
            return self._unseen()
        self._above[id(value)] = len(self._above)
        try:
            return f"{facts.module_name(cls)}.{facts.type_name(cls)}({self._inside(value, cls)})"
        finally:
            del self._above[id(value)]

    def _unseen(self) -> str:
        self._whole = False
        return "?"

    def _inside(self, value: Any, cls: type) -> str:
        if issubclass(cls, _NAMED):
            shown = atoms.of(cls) or atoms.inherited(cls, None)
            return shown(value, _CHUNK) if shown is not None else self._unseen()
        if issubclass(cls, (types.FunctionType, types.MethodType)):
            return self._function(value)
        if is_quick(cls) or any(cls is each for each in _LOCKS):
            return repr(value)
        if facts.module_name(cls) == "numpy" and not facts.is_heap_type(cls):
            return self._buffer(value)
        pieces = [_plain_part(value, cls)]
        base = facts.container(value)
        if base is not None:
            pieces.append(self._items(value, base[1]))
        elif issubclass(cls, BaseException):
            pieces += [self._of(atoms.arguments(value)), self._of(BaseException.__dict__["__cause__"].__get__(value))]
        elif not sees_all(cls):
            pieces.append(self._unseen())
        pieces += [f"{name}={self._of(item)}" for name, item in facts.fields(value)]
        return ",".join(pieces)

    def _function(self, value: Any) -> str:
        if type(value) is types.MethodType:
            return f"{self._of(value.__func__)} of {self._of(value.__self__)}"
        pieces = [f"{value.__qualname__} {value.__code__.co_filename}:{value.__code__.co_firstlineno}"]
        for cell in value.__closure__ or ():
            try:
                pieces.append(self._of(cell.cell_contents))
            except ValueError:  # still empty
                pieces.append("")
        return ",".join(pieces)

    def _buffer(self, value: Any) -> str:
        """Digest an array, or a number, of numpy."""
        try:
            view = memoryview(value)
            if "O" in view.format or view.nbytes > _MOST_BUFFER:
                return self._unseen()
            return f"{view.format}{view.shape}{hash(view.tobytes())}"
        except (TypeError, ValueError, BufferError):
            return self._unseen()

    def _items(self, value: Any, base: Any) -> str:
        if base is dict:
            pairs = facts.items(value, 0, self._steps + 1)
            return ",".join(f"{self._of(key)}:{self._of(item)}" for key, item in pairs)
        if base in (set, frozenset):
            return ",".join(sorted(self._of(item) for item in list(base.__iter__(value))))
        found: List[str] = []
        items = iter(base.__iter__(value))
        while True:
            chunk = list(itertools.islice(items, _CHUNK))
            if not chunk or self._steps <= 0:
                return ",".join(found)
            kinds = [*map(id, map(type, chunk))]
            if _NUMBER_IDS.issuperset(kinds):
                self._steps -= _CHUNK_STEPS
                found.append(str(hash(marshal.dumps(chunk, 2))))  # 2: later formats depend on who else has the object
            elif _STR_ID.issuperset(kinds):
                self._steps -= _CHUNK_STEPS
                found.append(f"s{hash(tuple(chunk))}")
            else:
                found += [self._of(each) for each in chunk]


def hashed(text: str) -> str:
    """Return a digest of a text: 16 hexadecimal digits."""
    return format(hash(text) & 0xFFFFFFFFFFFFFFFF, "016x")


def plain(value: Any) -> str:
    """Return a text for a number, a string or another plain value, different for values that differ."""
    cls = type(value)
    if (cls is str or cls is bytes) and len(value) > _LONG:
        return f"{cls.__name__}{len(value)}.{hash(value)}"
    return hex(value) if cls is int else repr(value)  # the decimal digits of an integer take quadratic time


def _plain_part(value: Any, cls: type) -> str:
    """Return what a subclass of a number or a string has of its base."""
    for number in (int, float, complex):
        if issubclass(cls, number):
            return plain(number.__pos__(value))
    if issubclass(cls, str):
        return plain(str.__str__(value))
    if issubclass(cls, bytes):
        return plain(bytes.__getitem__(value, slice(None)))
    return plain(bytes(bytearray.__getitem__(value, slice(None)))) if issubclass(cls, bytearray) else ""


def is_plain(cls: type) -> bool:
    """Return whether the values of exactly this type are numbers, text or the like."""
    return id(cls) in _PLAIN_IDS or cls is bytearray


def sees_all(cls: type) -> bool:
    """Return whether the values of a type consist of their items and fields: they have no room for what only C knows.

    Types of C have it, and so do classes that derive from them.
    """
    while not any(cls is each for each in _OPEN):
        base = _BASE(cls)
        own = [facts.own(cls, name) for name in ("__dict__", "__weakref__")]
        seen = sum(each is not facts.MISSING for each in own)
        seen += sum(type(each) is types.MemberDescriptorType for each in list(_OWN(cls).values()))
        if _SIZE(cls) - _SIZE(base) > seen * _WORD:
            return False
        cls = base
    return True
