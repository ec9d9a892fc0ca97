"""Values in full, as an evaluation shows them: `repr` with bounds that few values reach.

    whole(["a" * 200, {1: 2}])      # "['aaa...aaa', {1: 2}]"

Of a collection the first items are shown, of a long text its beginning and its end. Code of the program runs: this is
asked for by the user, who can interrupt it.
"""

import collections
from typing import Any, Iterator, Tuple

from trio_debugmcp.probe.inside.values import facts

_MOST_ITEMS = (60, 20)
"""Of a collection, and of one inside of it; deeper ones are not shown."""

_MOST_TEXT, _MOST_INNER_TEXT = 1 << 16, 128
"""Characters of a text, and of one inside of a collection."""

_BRACKETS: Tuple[Tuple[Any, str, str], ...] = (
    (tuple, "(", ")"),
    (list, "[", "]"),
    (frozenset, "frozenset({", "})"),
    (set, "{", "}"),
    (collections.deque, "deque([", "])"),
)

_COUNTED = (list, tuple, bytearray, dict, set, frozenset)
"""Types whose values are only counted if they are long and have a `repr` of their own."""

_NEVER = len(_MOST_ITEMS)
"""The depth at which no item is shown, as of a collection that is inside of itself."""


def whole(value: Any) -> str:
    """Return the text of a value. Never raises, but for what interrupts it."""
    try:
        return "".join(_pieces(value, 0))
    except Exception as error:
        return f"An exception was raised: {error!r}"


def _pieces(value: Any, depth: int) -> Iterator[str]:
    cls = type(value)
    written = facts.class_attribute(cls, "__repr__")
    for base, opening, closing in _BRACKETS:
        if issubclass(cls, base) and written is base.__repr__:
            return _items(value, depth, opening, closing)
    if issubclass(cls, dict) and written is dict.__repr__:
        return _entries(value, depth, "{", "}", ("", ": ", ""))
    if issubclass(cls, collections.OrderedDict) and written is collections.OrderedDict.__repr__:
        return _entries(value, depth, "OrderedDict([", "])", ("(", ", ", ")"))
    if issubclass(cls, (str, bytes)) and written in (str.__repr__, bytes.__repr__):
        return _text(value, _MOST_INNER_TEXT if depth else _MOST_TEXT)
    if _is_long(value, 0):
        return _counted(value)
    return _other(value, _MOST_INNER_TEXT if depth else _MOST_TEXT)


def _items(value: Any, depth: int, opening: str, closing: str) -> Iterator[str]:
    yield opening
    if depth >= _NEVER:
        yield "..."
    else:
        number = 0
        for number, item in enumerate(value, 1):
            yield ", " if number > 1 else ""
            if number >= _MOST_ITEMS[depth]:
                yield "..."
                break
            yield from _pieces(item, _NEVER if item is value else depth + 1)
        if number == 1 and opening == "(":
            yield ","
    yield closing


def _entries(value: Any, depth: int, opening: str, closing: str, around: Tuple[str, str, str]) -> Iterator[str]:
    yield opening
    if depth >= _NEVER and value:
        yield "..."
    elif value:
        for number, key in enumerate(list(value), 1):
            yield ", " if number > 1 else ""
            if number >= _MOST_ITEMS[depth]:
                yield "..."
                break
            yield around[0]
            yield from _pieces(key, depth + 1)
            yield around[1]
            yield from _entry(value, key, depth)
            yield around[2]
    yield closing


def _entry(value: Any, key: Any, depth: int) -> Iterator[str]:
    try:
        item = value[key]
    except Exception:  # another thread has taken it out
        return iter(("<?>",))
    return _pieces(item, _NEVER if item is value else depth + 1)


def _text(value: Any, most: int) -> Iterator[str]:
    if len(value) <= most:
        yield repr(value)
        return
    begin, end = repr(value[: _head(most)]), repr(value[-_tail(most) :])
    yield begin[: begin.rindex("'")]
    yield "..."
    yield end[end.index("'") + 1 :]


def _other(value: Any, most: int) -> Iterator[str]:
    try:
        text = repr(value)
    except Exception:  # that is said by the address in place of the text
        text = object.__repr__(value)
    if len(text) <= most:
        yield text
        return
    yield text[: _head(most)]
    yield "..."
    yield text[-_tail(most) :]


def _head(most: int) -> int:
    return 2 * most // 3


def _tail(most: int) -> int:
    return most // 3


def _counted(value: Any) -> Iterator[str]:
    try:
        yield f"<{type(value).__name__}, len() = {len(value)}>"
    except Exception:
        yield f"<{type(value).__name__}>"


def _is_long(value: Any, depth: int) -> bool:
    """Whether a text, or a collection with what is inside, is too long for a `repr` of its own."""
    try:
        if issubclass(type(value), (str, bytes)):
            return len(value) > _MOST_INNER_TEXT
        if not issubclass(type(value), _COUNTED):
            return False
        if depth >= _NEVER:
            return True
        return len(value) > _MOST_ITEMS[depth] or any(_is_long(item, depth + 1) for item in value)
    except Exception:  # of what cannot be counted the worst is assumed
        return True
