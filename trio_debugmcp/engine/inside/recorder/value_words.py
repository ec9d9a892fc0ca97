"""`ValueWords`: values as the second word of a row: the number of a text, and that of the object.

    words.of(3)         # the integer itself, and no object
    words.of(cart)      # `<Cart>`, and its number

No code of the program runs: only exact types of Python are looked into. A text is written once, as long as it is among
those seen last.
"""

import _thread
import collections
import types
from itertools import islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects
from trio_debugmcp.engine.inside.recorder.run_blocks import TextBlocks
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.value_texts import TextReader, reader_of
from trio_debugmcp.probe.inside.values import facts

INDEX = 1 << 27
"""In a key: the rest is an index."""

_MOST_KEYS = INDEX - 1

INT, ZERO = 1 << 31, 1 << 30

MOST_ATOM, MOST_TEXT = 200, 80
"""Characters of the text of an atom, and of another value."""

_MOST_KNOWN = 100_000
"""Texts whose numbers are remembered."""

_MOST_BITS = 600

_LEAST_SECRET, _MOST_SECRETS = 6, 1000
"""Characters of a secret that is known again, and how many there may be."""

_MOST_ITEMS, _MOST_ITEM = 8, 40
"""Items of a container in its text, and characters of one."""

_MOST_MESSAGE = 150
"""Characters of a text that an exception was raised with: what was wrong stands at its end."""

_args: Any = BaseException.__dict__["args"].__get__

_NAMED: Any = {
    types.FunctionType: lambda value: value.__qualname__,
    types.BuiltinFunctionType: lambda value: value.__qualname__,
    types.ModuleType: lambda value: facts.attribute(value, "__name__"),
    types.GeneratorType: lambda value: value.__qualname__,
    types.CoroutineType: lambda value: value.__qualname__,
}
"""How values of a type say their name."""

_named = {id(cls): name for cls, name in _NAMED.items()}

_name: Any = type.__dict__["__name__"].__get__

_flags: Any = type.__dict__["__flags__"].__get__

_RENAMED = 1 << 9
"""Flag of a class that a program has made: its name can be set."""

_MAPPINGS: dict[int, Any] = {id(cls): cls for cls in (dict, collections.OrderedDict, collections.defaultdict)}

_SIZED = frozenset([*_MAPPINGS, *map(id, (list, tuple, set, frozenset, collections.deque))])
"""Containers that are read directly, by the id of their type."""

_OF_THEIR_OWN = _SIZED.union(map(id, _NAMED))
"""Types whose values have texts of their own, by id."""


def cut(text: str, length: int) -> str:
    """Return the begin of a text with its length, if it is longer than that."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def _quoted(value: Any, length: int) -> str:
    """Return a string or bytes as Python writes them; of longer ones the begin, and how long they are."""
    text = repr(value[: length + 1])
    unit = "characters" if type(value) is str else "bytes"
    return text if len(text) <= length else f"{text[:length]}… ({len(value)} {unit})"


_MOST_TYPES = 5000


_ATOMS = (int, str, type(None), bool, float, bytes, complex)


def is_atom(value: Any) -> bool:
    """Whether a value is one whose identity does not matter: a number, a string, None."""
    cls = type(value)  # compared by identity: hashing a class may run code of its metaclass
    return cls is int or cls is str or value is None or cls is bool or cls is float or cls is bytes or cls is complex


def is_atom_type(cls: Any) -> bool:
    """Whether the values of a type are atoms."""
    return any([cls is each for each in _ATOMS])


class ValueWords:
    """The texts of values, a method for each kind, hence so many, and their numbers.

    Attributes:
        deleted: the word of what is not there any more.
    """

    def __init__(self, texts: TextBlocks, objects: KnownObjects) -> None:
        self._texts = texts
        self._objects = objects
        self._lock = _thread.RLock()
        self._keys: dict[str, int] = {}
        self.labels: dict[int, str] = {}
        self.attributes: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        self._secrets: set[str] = set()
        self._types: dict[int, Any] = {}
        self._readers: dict[int, tuple[Any, TextReader | None]] = {}
        texts.add("deleted")
        self.deleted = 1 << 32
        self.secret = texts.add("<secret>") << 32
        self._none, self._true, self._false = [texts.add(text) << 32 for text in ("None", "True", "False")]

    def secret_of(self, value: Any) -> Any:
        """Return the word of a secret; the same text is not written under another name either."""
        if type(value) is str and len(value) >= _LEAST_SECRET and len(self._secrets) < _MOST_SECRETS:
            self._secrets.add(value)
            self._strings.pop(value, None)
        return self.secret

    def of(self, value: Any) -> Any:
        """Return the word of a value."""
        cls = type(value)
        if cls is int:
            if -ZERO <= value < ZERO:
                return (value + ZERO | INT) << 32
            if (bits := value.bit_length()) > _MOST_BITS:  # with its hash, as others of so many bits are other values
                first = int.__abs__(value) >> bits - 32
                return self.number(f"<int of {bits} bits, 0x{first:x}…, hash {int.__hash__(value):x}>") << 32
            return self.number(int.__repr__(value)) << 32
        if cls is str:
            return (self._strings.get(value) or self._string(value)) << 32
        if value is None:
            return self._none
        if cls is bool:
            return self._true if value else self._false
        if cls is float or cls is complex:
            return self.number(repr(value)) << 32
        if cls is bytes:
            return self.number(_quoted(value, MOST_ATOM)) << 32
        known = self._objects.by_id.get(id(value)) or self._objects.of(value)
        number: int = known.number
        own = self._types.get(id(cls))
        if (
            own is not None and own[0] is cls and (own[2] is None or own[2] is _name(cls))
        ):  # its instances have one text
            return own[1] | number
        return self._text_of(value, cls) << 32 | number

    def _text_of(self, value: Any, cls: Any) -> int:
        """Return the number of the text of an object; remember it where the text is that of the type."""
        if id(cls) in _OF_THEIR_OWN or issubclass(cls, (type, BaseException)):
            return self.number(self._described(value, cls))
        reader, name = self._reader(cls), _name(cls)
        if reader is not None:
            return self.number(self._read(reader, value, cls, MOST_ATOM if reader.is_value else MOST_TEXT))
        text = self.number(f"<{name}>")
        if len(self._types) >= _MOST_TYPES:
            self._types.clear()
        kept = name if _flags(cls) & _RENAMED else None  # the same text, until it is given another name
        self._types[id(cls)] = (cls, text << 32, kept)  # held, so that its id stays its own
        return text

    def _reader(self, cls: Any) -> TextReader | None:
        """Return what makes the texts of a type's values; None: they have that of their type."""
        known = self._readers.get(id(cls))
        if known is None or known[0] is not cls:
            if len(self._readers) >= _MOST_TYPES:
                self._readers.clear()
            known = self._readers[id(cls)] = (cls, reader_of(cls))
        return known[1]

    def _read(self, reader: TextReader, value: Any, cls: Any, length: int) -> str:
        try:
            return cut(reader.text(value, self._short), length)
        except Exception:  # it is not made yet, or the library is of a version that is not known
            return f"<{_name(cls)}>"

    def number(self, text: str) -> int:
        """Return the number of a text."""
        known = self._numbers.get(text)
        if known is None:
            if len(self._numbers) >= _MOST_KNOWN:
                self._numbers.clear()
            known = self._numbers[text] = self._texts.add(text)
        return known

    def key(self, text: str) -> int:
        """Return the number of the text of a key; 0 if there are too many."""
        known = self._keys.get(text)
        return self._new_key(text) if known is None else known

    def _new_key(self, text: str) -> int:
        with self._lock:  # a key has one number, whichever thread needs it first
            known = self._keys.get(text)
            if known is None:
                known = self._texts.add(text, is_key=True)
                if known > _MOST_KEYS:
                    known = 0
                self.labels[known] = text
                if text[:1] == ".":
                    self.attributes[known] = text[1:]
                self._keys[text] = known
            return known

    def label(self, key: int) -> str:
        """Return the text of a key that is not an index."""
        return self.labels.get(key, "")

    def item_key(self, key: Any) -> Any:
        """Return the key of an item: of an index, or of what a dict has it under."""
        cls = type(key)
        if cls is int and 0 <= key < INDEX:
            return INDEX | key
        if cls is str:
            return self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        if cls is int or cls is float or cls is bool or key is None or cls is bytes:
            return self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        if cls is tuple and all([type(each) in (int, str, bool, float) or each is None for each in key]):
            return self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        return 0

    def _string(self, value: str) -> int:
        if value in self._secrets:
            return int(self.secret >> 32)
        number = self.number(_quoted(value, MOST_ATOM))
        if len(value) <= MOST_ATOM:
            if len(self._strings) >= _MOST_KNOWN:
                self._strings.clear()
            self._strings[value] = number
        return number

    def _described(self, value: Any, cls: Any) -> str:
        """Return a short text of what is not an atom: of a container its first items, of others their type and name."""
        text = self._collection(value, cls)
        if text:
            return cut(text, MOST_TEXT)
        name = _named.get(id(cls))
        if name is not None:
            return cut(f"<{_name(cls)} {name(value)}>", MOST_TEXT)
        if issubclass(cls, type):
            return cut(f"<class {_name(value)}>", MOST_TEXT)
        if issubclass(cls, BaseException):
            return cut(f"{_name(cls)}{self._arguments(value)}", MOST_ATOM)
        return f"<{_name(cls)}>"

    def _collection(self, value: Any, cls: Any) -> str:
        if cls is list:
            return f"[{self._items(value)}]"
        if cls is tuple:
            return f"({self._items(value)}{',' if len(value) == 1 else ''})"
        if cls is dict:
            return f"{{{self._pairs(value, dict)}}}"
        if cls is set or cls is frozenset:
            if not value:
                return f"{_name(cls)}()"
            text = f"{{{self._items(value)}}}"
            return text if cls is set else f"frozenset({text})"
        if id(cls) in _MAPPINGS:
            base = cls if cls is collections.OrderedDict else dict
            return f"{_name(cls)}({{{self._pairs(value, base)}}})"
        return f"deque([{self._items(value)}])" if id(cls) in _SIZED else ""

    def _pairs(self, value: Any, base: Any) -> str:
        texts = [
            f"{self._short(key)}: {'<secret>' if type(key) is str and is_secret(key) else self._short(item)}"
            for key, item in list(islice(base.items(value), _MOST_ITEMS))
        ]
        return f"{', '.join(texts)}{', …' if len(value) > _MOST_ITEMS else ''}"

    def _items(self, value: Any) -> str:
        texts = [self._short(item) for item in list(islice(value, _MOST_ITEMS))]
        return ", ".join(texts) + (", …" if len(value) > _MOST_ITEMS else "")

    def _arguments(self, value: BaseException) -> str:
        arguments: Any = _args(value)
        if type(arguments) is not tuple:
            return "()"
        # The key of a KeyError is all that it says.
        return f"({', '.join([self._argument(argument) for argument in arguments])})"

    def _argument(self, value: Any) -> str:
        if type(value) is str and value not in self._secrets:
            return _quoted(value, _MOST_MESSAGE)
        return self._collection(value, tuple) if type(value) is tuple else self._short(value)

    def _short(self, value: Any) -> str:
        cls = type(value)
        if cls is str:
            return "<secret>" if self._secrets and value in self._secrets else _quoted(value, _MOST_ITEM)
        if (cls is int and value.bit_length() < _MOST_BITS) or value is None or cls is bool or cls is float:
            return repr(value)
        if id(cls) in _SIZED:
            return f"{_name(cls)} of {len(value)}" if value else self._collection(value, cls)
        if cls is bytes or cls is complex:
            return _quoted(value, _MOST_ITEM) if cls is bytes else repr(value)
        reader = self._reader(cls)
        if reader is not None and reader.is_value:
            return self._read(reader, value, cls, MOST_TEXT)
        return f"<{_name(cls)}>"
