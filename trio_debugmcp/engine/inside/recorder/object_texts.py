"""`ObjectTexts`: objects as short texts: containers by their first items, others by type and name.

    texts.described([1, 2], list)       # `[1, 2]`
    texts.described(total, type(total)) # `<function total>`

No code of the program runs: only exact types of Python are looked into, others by what reads their type.
"""

import collections
import types
from itertools import islice
from typing import Any

from trio_debugmcp.engine.inside.recorder.key_orders import has_plain_keys
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.value_texts import TextReader, reader_of
from trio_debugmcp.probe.inside.values import facts

_MOST_BITS = 600

_MOST_TYPES = 5000

MOST_ATOM, MOST_TEXT = 200, 80
"""Characters of the text of an atom, and of another value."""

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

type_name: Any = type.__dict__["__name__"].__get__

_MAPPINGS: dict[int, Any] = {id(cls): cls for cls in (dict, collections.OrderedDict, collections.defaultdict)}

_SIZED = frozenset([*_MAPPINGS, *map(id, (list, tuple, set, frozenset, collections.deque))])
"""Containers that are read directly, by the id of their type."""

OF_THEIR_OWN = _SIZED.union(map(id, _NAMED))
"""Types whose values have texts of their own, by id."""


def cut(text: str, length: int) -> str:
    """Return the begin of a text with its length, if it is longer than that."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text)} characters)"


def quoted(value: Any, length: int) -> str:
    """Return a string or bytes as Python writes them; of longer ones the begin, and how long they are."""
    text = repr(value[: length + 1])
    unit = "characters" if type(value) is str else "bytes"
    return text if len(text) <= length else f"{text[:length]}… ({len(value)} {unit})"


class ObjectTexts:
    """The texts; strings that are secrets are not in them."""

    def __init__(self, secrets: set[str]) -> None:
        self._secrets = secrets
        self._readers: dict[int, tuple[Any, TextReader | None]] = {}

    def reader(self, cls: Any) -> TextReader | None:
        """Return what makes the texts of a type's values; None: they have that of their type."""
        known = self._readers.get(id(cls))
        if known is None or known[0] is not cls:
            if len(self._readers) >= _MOST_TYPES:
                self._readers.clear()
            known = self._readers[id(cls)] = (cls, reader_of(cls))
        return known[1]

    def read(self, reader: TextReader, value: Any, cls: Any, length: int) -> str:
        """Return the text that a reader makes of a value, of at most some characters."""
        try:
            return cut(reader.text(value, self._short), length)
        except Exception:  # it is not made yet, or the library is of a version that is not known
            return f"<{type_name(cls)}>"

    def described(self, value: Any, cls: Any) -> str:
        """Return a short text of what is not an atom: of a container its first items, of others their type and name."""
        text = self._collection(value, cls)
        if text:
            return cut(text, MOST_TEXT)
        name = _named.get(id(cls))
        if name is not None:
            return cut(f"<{type_name(cls)} {name(value)}>", MOST_TEXT)
        if issubclass(cls, type):
            return cut(f"<class {type_name(value)}>", MOST_TEXT)
        if issubclass(cls, BaseException):
            return cut(f"{type_name(cls)}{self._arguments(value)}", MOST_ATOM)
        return f"<{type_name(cls)}>"

    def _collection(self, value: Any, cls: Any) -> str:
        if cls is list:
            return f"[{self._items(value)}]"
        if cls is tuple:
            return f"({self._items(value)}{',' if len(value) == 1 else ''})"
        if cls is dict:
            return f"{{{self._pairs(value, dict)}}}"
        if cls is set or cls is frozenset:
            if not value:
                return f"{type_name(cls)}()"
            text = f"{{{self._items(value)}}}"
            return text if cls is set else f"frozenset({text})"
        if id(cls) in _MAPPINGS:
            base = cls if cls is collections.OrderedDict and has_plain_keys(value) else dict
            return f"{type_name(cls)}({{{self._pairs(value, base)}}})"
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
            return quoted(value, _MOST_MESSAGE)
        return self._collection(value, tuple) if type(value) is tuple else self._short(value)

    def _short(self, value: Any) -> str:
        cls = type(value)
        if cls is str:
            return "<secret>" if self._secrets and value in self._secrets else quoted(value, _MOST_ITEM)
        if (cls is int and value.bit_length() < _MOST_BITS) or value is None or cls is bool or cls is float:
            return repr(value)
        if id(cls) in _SIZED:
            return f"{type_name(cls)} of {len(value)}" if value else self._collection(value, cls)
        if cls is bytes or cls is complex:
            return quoted(value, _MOST_ITEM) if cls is bytes else repr(value)
        reader = self.reader(cls)
        if reader is not None and reader.is_value:
            return self.read(reader, value, cls, MOST_TEXT)
        return f"<{type_name(cls)}>"
