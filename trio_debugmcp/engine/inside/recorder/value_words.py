"""`ValueWords`: values as the second word of a row: the number of a text, and that of the object.

    words.of(3)         # the integer itself, and no object
    words.of(cart)      # "<Cart>", and its number

No code of the program runs: only exact types of Python are looked into. A text is written once, as long as it is among
those seen last.
"""

from typing import Any

from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects
from trio_debugmcp.engine.inside.recorder.run_blocks import TextBlocks

INDEX = 1 << 27
"""In a key: the rest is an index."""

_MOST_KEYS = INDEX - 1

_INT, _ZERO = 1 << 31, 1 << 30

MOST_ATOM, MOST_TEXT = 200, 80
"""Characters of the text of an atom, and of another value."""

_MOST_KNOWN = 100_000
"""Texts whose numbers are remembered."""

_MOST_BITS = 600

_name: Any = type.__dict__["__name__"].__get__
_base = str.__str__


def cut(text: str, length: int) -> str:
    """Return the begin of a text with its length, if it is longer than that."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text)})"


class ValueWords:
    """The texts of values, and their numbers.

    Attributes:
        deleted: the word of what is not there any more.
    """

    def __init__(self, texts: TextBlocks, objects: KnownObjects) -> None:
        self._texts = texts
        self._objects = objects
        self._keys: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._strings: dict[str, int] = {}
        texts.add("deleted")
        self.deleted = 1 << 32
        self.secret = texts.add("<secret>") << 32
        self._none, self._true, self._false = [texts.add(text) << 32 for text in ("None", "True", "False")]

    def of(self, value: Any) -> Any:
        """Return the word of a value."""
        cls = type(value)
        if cls is int:
            if -_ZERO <= value < _ZERO:
                return (value + _ZERO | _INT) << 32
            if value.bit_length() > _MOST_BITS:
                return self.number(f"<int of {value.bit_length()} bits>") << 32
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
            return self.number(cut(repr(value[: MOST_ATOM + 1]), MOST_ATOM)) << 32
        known = self._objects.by_id.get(id(value)) or self._objects.of(value)
        number: int = known.number
        return self.number(self._described(value, cls)) << 32 | number

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
        if known is None:
            known = self._texts.add(text, is_key=True)
            if known > _MOST_KEYS:
                known = 0
            self._keys[text] = known
        return known

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
        number = self.number(cut(repr(value[: MOST_ATOM + 1]), MOST_ATOM))
        if len(value) <= MOST_ATOM:
            if len(self._strings) >= _MOST_KNOWN:
                self._strings.clear()
            self._strings[value] = number
        return number

    def _described(self, value: Any, cls: Any) -> str:
        return f"<{_name(cls)}>"
