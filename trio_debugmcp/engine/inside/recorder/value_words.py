"""The words of a row: its kind in the first; in the second, by `ValueWords`, the numbers of a text and of an object.

    words.of(3)         # the integer itself, and no object
    words.of(cart)      # `<Cart>`, and its number

No code of the program runs: only exact types of Python are looked into. A text is written once, as long as it is among
those seen last.
"""

import _thread
from typing import Any

from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects
from trio_debugmcp.engine.inside.recorder.object_texts import (
    MOST_ATOM,
    MOST_TEXT,
    OF_THEIR_OWN,
    ObjectTexts,
    cut,
    quoted,
    type_name,
)
from trio_debugmcp.engine.inside.recorder.run_blocks import TextBlocks

LINE, START, RESUME, RETURN, YIELD, UNWIND, RAISE = [kind << 60 for kind in range(1, 8)]

WRITE, FIELD, SEEN, GAP, SIZE, SEEN_NAME = [kind << 60 for kind in range(8, 14)]

FIRST, WRITTEN, FOUND, UNWATCHED = 0, 1, 2, 3
"""Keys of a row SIZE."""

MOST_SAID = 20
"""Rows about the items of one container at a time."""


INDEX = 1 << 27
"""In a key: the rest is an index."""

_MOST_KEYS = INDEX - 1

INT, ZERO = 1 << 31, 1 << 30

_MOST_KNOWN = 100_000
"""Texts whose numbers are remembered."""

_MOST_BITS = 600

_LEAST_SECRET, _MOST_SECRETS = 6, 1000
"""Characters of a secret that is known again, and how many there may be."""

_flags: Any = type.__dict__["__flags__"].__get__

_RENAMED = 1 << 9
"""Flag of a class that a program has made: its name can be set."""

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
    """The texts of values, and their numbers.

    Attributes:
        deleted: the word of what is not there any more.
    """

    def __init__(self, texts: TextBlocks, objects: KnownObjects) -> None:
        self._texts = texts
        self._objects = objects
        self._lock = _thread.RLock()
        self._keys: dict[str, int] = {}
        self._item_keys: dict[str, int] = {}
        self.labels: dict[int, str] = {}
        self.attributes: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        self._secrets: set[str] = set()
        self._types: dict[int, Any] = {}
        self._short = ObjectTexts(self._secrets)
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
            return self.number(quoted(value, MOST_ATOM)) << 32
        known = self._objects.by_id.get(id(value)) or self._objects.of(value)
        number: int = known.number
        own = self._types.get(id(cls))
        if (
            own is not None and own[0] is cls and (own[2] is None or own[2] is type_name(cls))
        ):  # its instances have one text
            return own[1] | number
        return self._text_of(value, cls) << 32 | number

    def _text_of(self, value: Any, cls: Any) -> int:
        """Return the number of the text of an object; remember it where the text is that of the type."""
        if id(cls) in OF_THEIR_OWN or issubclass(cls, (type, BaseException)):
            return self.number(self._short.described(value, cls))
        reader, name = self._short.reader(cls), type_name(cls)
        if reader is not None:
            return self.number(self._short.read(reader, value, cls, MOST_ATOM if reader.is_value else MOST_TEXT))
        text = self.number(f"<{name}>")
        if len(self._types) >= _MOST_TYPES:
            self._types.clear()
        kept = name if _flags(cls) & _RENAMED else None  # the same text, until it is given another name
        self._types[id(cls)] = (cls, text << 32, kept)  # held, so that its id stays its own
        return text

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
            return self._item_keys.get(key) or self._named_item(key)
        if cls is int or cls is float or cls is bool or key is None or cls is bytes:
            return self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        if cls is tuple and all([type(each) in (int, str, bool, float) or each is None for each in key]):
            return self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        return 0

    def _named_item(self, key: str) -> int:
        number = self.key(f"[{cut(repr(key), MOST_TEXT)}]")
        if len(key) <= MOST_TEXT and len(self._item_keys) < _MOST_KNOWN:
            self._item_keys[key] = number
        return number

    def _string(self, value: str) -> int:
        if value in self._secrets:
            return int(self.secret >> 32)
        number = self.number(quoted(value, MOST_ATOM))
        if len(value) <= MOST_ATOM:
            if len(self._strings) >= _MOST_KNOWN:
                self._strings.clear()
            self._strings[value] = number
        return number
