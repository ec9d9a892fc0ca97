"""`KnownFields`: what the attributes of objects, and the names of modules, are known to be.

    fields.check(known, key, value, line, False, GAP)       # SEEN at first sight, else a row where it differs
    fields.write(known, key, value, line, False)            # a line has stored it

A value is known again by its token: an atom, a function or a class by itself, an object by what is known of it.
"""

import types
from typing import Any

from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown, TiedKnown, WeakKnown
from trio_debugmcp.engine.inside.recorder.object_paths import MISSING
from trio_debugmcp.engine.inside.recorder.value_words import FIELD, INT, SEEN, ZERO, ValueWords, is_atom

_FIELD, _NUMBER = FIELD >> 32, INT + ZERO

_FUNCTION, _MODULE, _BUILTIN = types.FunctionType, types.ModuleType, types.BuiltinFunctionType


class Deleted:
    """What is known of a place where there is nothing any more."""


DELETED: Any = Deleted()


class Doubted:
    """What is known of a field that may have been written since, by a line that does not say where."""


DOUBTED: Any = Doubted()


class KnownFields:
    """The fields, and the writer of rows about them.

    Attributes:
        tracked: by key of attributes that are written on objects to which no path leads: the objects of which such a
            field is known, as number to id.
    """

    def __init__(self, rows: Any, words: ValueWords, objects: Any) -> None:
        self._add, self._add_row = rows.add, rows.add_row
        self._words = words
        self._objects = objects
        self.tracked: dict[int, dict[int, int]] = {}

    def track(self, key: int) -> dict[int, int]:
        """Return the objects of which a field of that key is known, from now on at once."""
        found = self.tracked.get(key)
        if found is None:
            known = [each for each in list(self._objects.by_id.values()) if each.fields and key in each.fields]
            found = self.tracked.setdefault(key, {each.number: each.key for each in known})
        return found

    def token(self, value: Any) -> Any:
        """Return what is kept of a value to know it again: an atom itself, else what is known of the object."""
        cls = type(value)
        if cls is _FUNCTION or is_atom(value) or cls is type or cls is _MODULE or cls is _BUILTIN:
            return value
        return self._objects.of(value)

    def is_same(self, token: Any, value: Any) -> bool:
        """Whether a value is the one that a token was kept of."""
        if token is value:
            return True
        kind = type(token)
        if kind is WeakKnown or kind is HeldKnown or kind is TiedKnown:
            now = self._objects.by_id.get(id(value))
            if now is None and kind is HeldKnown and token.held is value:
                self._objects.hold(token)
                return True
            return now is token
        return kind is type(value) and is_atom(value) and bool(token == value)

    def check(self, known: Any, key: int, value: Any, line: int, secret: bool, gap: int) -> None:
        """Write what a field is now if nothing, or something else, is known of it."""
        fields = known.fields
        if fields is None:
            fields = known.fields = {}
        token = fields.get(key, MISSING)
        if token is value or (token is not MISSING and self.is_same(token, value)):
            return
        if type(token) is HeldKnown:
            self._objects.dying.append(token)
        if key in self.tracked:
            self.tracked[key][known.number] = known.key
        fields[key] = self.token(value)
        is_unknown = token is MISSING or (type(token) is HeldKnown and token.held is value)  # it has a new number
        kind = SEEN if is_unknown else gap
        self._add(
            kind | key << 32 | known.number, self._words.secret_of(value) if secret else self._words.of(value), line
        )

    def check_absent(self, known: Any, key: int, line: int, gap: int, is_described: bool = False) -> None:
        """Write that a field that was known is not there; of a described one, that it is not known any more."""
        fields = known.fields
        if fields and fields.get(key, DELETED) is not DELETED:
            fields[key] = DELETED
            self._add(gap | key << 32 | known.number, 0 if is_described else self._words.deleted, line)

    def write(self, known: Any, key: int, value: Any, line: int, secret: bool) -> None:
        """Write that a line has stored a value in a field; MISSING: has deleted it."""
        fields = known.fields
        if fields is None:
            fields = known.fields = {}
        if type(token := fields.get(key)) is HeldKnown:
            self._objects.dying.append(token)
        if key in self.tracked:
            self.tracked[key][known.number] = known.key
        if type(value) is int and not secret and -ZERO <= value < ZERO:
            fields[key] = value
            self._add_row(known.number, _FIELD + key, 0, value + _NUMBER, line)
            return
        if value is MISSING:
            fields[key] = DELETED
            word = self._words.deleted
        else:
            fields[key] = self.token(value)
            word = self._words.secret_of(value) if secret else self._words.of(value)
        self._add(FIELD | key << 32 | known.number, word, line)
