"""Which piece of a value differs from what was expected: by an assertion, the item, key or word to follow.

    wanted = differences([12, 4000, 7], [12, "4000", 7])
    wanted.pieces, wanted.missing       # ("'4000'",), ()

Pieces are texts, as records have them: of many writes of a loop, that with such a text is the one to follow.
"""

import ast
import re
from typing import Any, NamedTuple

from trio_debugmcp.runs.slicing.recorded_contents import UnknownContent

_MOST_PIECES = 4

_LEAST_WORD = 3

_ENOUGH = 8
"""Characters by which a text is known to continue as it was expected to."""


class WantedPieces(NamedTuple):
    """What of a value is wanted.

    Attributes:
        pieces: texts of items, keys and words that it has and should not have, as records show them.
        missing: what it should have, and has not.
        said: the difference in words; empty where the whole value differs.
        path: the way from the value to the first item that differs, as labels: `("[2]", "['price']")`.
        text, offset: a text that differs, and from which place on; empty: none does.
        ends_early: at that place something is missing, and so what stands before it has ended too early.
        lack: how much less a number is than was expected; 0: it is not less, or something else.
    """

    pieces: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    said: str = ""
    path: tuple[str, ...] = ()
    text: str = ""
    offset: int = 0
    ends_early: bool = False
    lack: float = 0

    def place(self, text: str, label: str = "") -> int:
        """Return how well a value, or an item with a label, fits: 0 best; as many as there are pieces: not at all."""
        for place, piece in enumerate(self.pieces):
            if piece in (text, label[1:-1]):
                return place
        for place, piece in enumerate(self.pieces):
            if is_in(piece, text):
                return place + len(self.pieces)
        return 2 * len(self.pieces)

    def fits(self, text: str, label: str = "") -> bool:
        """Whether a value or label has one of the pieces."""
        return self.place(text, label) < 2 * len(self.pieces)


NOTHING_WANTED = WantedPieces()


def is_in(piece: str, text: str) -> bool:
    """Whether a piece is in the text of a value, not as a part of another word or number."""
    if piece not in text:
        return False
    return re.search(rf"(?<![\w.]){re.escape(piece)}(?![\w])(?!\.\d)", text) is not None


def differences(expected: Any, got: Any) -> WantedPieces:
    """Return what differs between what was expected and what came."""
    found = _Difference()
    found.compare(expected, got)
    pieces = tuple(dict.fromkeys(piece for piece in found.pieces if is_piece(piece)))[:_MOST_PIECES]
    told = (piece for piece in found.missing if is_piece(piece) or piece in found.items)
    missing = tuple(dict.fromkeys(told))[:_MOST_PIECES]
    return WantedPieces(pieces, missing, "; ".join(found.said[:2]), found.first, *found.text, found.lack)


def is_piece(piece: str) -> bool:
    """Whether a piece is of few values: small numbers and empty texts are everywhere."""
    if piece.strip("-").isdigit():
        return len(piece.strip("-")) > 1
    return len(piece.strip("'\"")) > 1 and piece not in (
        "None",
        "True",
        "False",
        "[]",
        "{}",
        "()",
        "set()",
        "0.0",
        "1.0",
    )


class _Difference:
    """A comparison under way."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.missing: list[str] = []
        self.said: list[str] = []
        self.first: tuple[str, ...] = ()
        self.text = ("", 0, False)
        self.lack: float = 0
        self.items: set[str] = set()  # numbers of one digit that are a whole item, and so one that can be looked for

    def compare(self, expected: Any, got: Any, path: tuple[str, ...] = ()) -> None:
        if isinstance(expected, dict) and isinstance(got, dict):
            self._compare_dicts(expected, got, path)
        elif isinstance(expected, list | tuple) and isinstance(got, list | tuple):
            self._compare_sequences(list(expected), list(got), path)
        elif isinstance(expected, set | frozenset) and isinstance(got, set | frozenset):
            self._compare_items(sorted(expected, key=repr), sorted(got, key=repr), path, is_ordered=False)
        elif isinstance(expected, str) and isinstance(got, str):
            self.text = self.text if self.text[0] else place_in(expected, got)
            self._compare_texts(expected, got)
            self._tell(path, expected, got)
            self.first = self.first or path
        elif expected != got:
            self.pieces.append(repr(got))
            self._tell(path, expected, got)
            self.first = self.first or (path if not _is_half_known(expected, got) else ())
            if _is_number(expected) and _is_number(got):  # what was added, or left out, may be one thing
                (self.pieces if got > expected else self.missing).append(repr(abs(got - expected)))
                self.lack = self.lack or max(expected - got, 0)

    def _tell(self, path: tuple[str, ...], expected: Any, got: Any) -> None:
        if path and not _is_half_known(expected, got):
            self.said.append(f"{''.join(path)} is {got!r}, not {expected!r}")

    def _compare_dicts(self, expected: dict[Any, Any], got: dict[Any, Any], path: tuple[str, ...]) -> None:
        for key in [key for key in expected if key not in got]:
            self.missing += [repr(key), repr(expected[key])]
            self.said.append(f"{''.join(path) or 'it'} has no {key!r}")
        for key in [key for key in got if key not in expected]:
            self.pieces += [repr(key), repr(got[key])]
            self.first = self.first or (*path, f"[{key!r}]")
            self.said.append(f"{''.join(path) or 'it'} has {key!r}")
        for key, value in expected.items():
            if key in got and value != got[key]:
                self.compare(value, got[key], (*path, f"[{key!r}]"))
                self.pieces.append(repr(key))

    def _compare_sequences(self, expected: list[Any], got: list[Any], path: tuple[str, ...]) -> None:
        if len(expected) != len(got):
            self._compare_items(expected, got, path)
            return
        places = [place for place, item in enumerate(expected) if item != got[place]]
        if sorted(map(repr, expected)) == sorted(map(repr, got)):
            places = places[:1]  # another order: all after the first may follow from it
            self.pieces += [repr(part) for place in places for part in (got[place], expected[place])]
        for place in places:
            self.compare(expected[place], got[place], (*path, f"[{place}]"))

    def _compare_items(
        self, expected: list[Any], got: list[Any], path: tuple[str, ...], *, is_ordered: bool = True
    ) -> None:
        surplus, missing = _without(got, expected), _without(expected, got)
        for item in surplus:
            self.pieces += _texts_of(item)
        if surplus and is_ordered:
            last = max(place for place, item in enumerate(got) if item == surplus[0])
            self.first = self.first or (*path, f"[{last}]")
        for item in missing:
            self.missing += _texts_of(item)
            self.items |= {repr(item)} if _is_number(item) and item > 1 else set()
        if any(_has_unknown(item) for item in (*surplus, *missing)):
            return  # it may be what the other side has
        self._tell_items(surplus, path, expected, "many", "has")
        self._tell_items(missing, path, got, "few", "has no")

    def _tell_items(self, items: list[Any], path: tuple[str, ...], others: list[Any], much: str, has: str) -> None:
        """Say which items only one side has; of those that the other has, too, how many are too many or too few."""
        for place, item in enumerate(items):
            if item in items[:place]:
                continue
            times = items.count(item)
            count = f"{'one' if times == 1 else f'{times} of'} {item!r} too {much}"
            self.said.append(
                f"{''.join(path) or 'it'} has {count}" if item in others else f"{''.join(path) or 'it'} {has} {item!r}"
            )

    def _compare_texts(self, expected: str, got: str) -> None:
        """Add the line, or the word, in which a text differs."""
        lines = [line for line in got.splitlines() if line not in expected.splitlines()]
        if len(got.splitlines()) > 1 and lines:
            self.pieces.append(lines[0])
            got, expected = (
                lines[0],
                next((line for line in expected.splitlines() if line not in got.splitlines()), expected),
            )
        else:
            self.pieces.append(repr(got))
        words = [word for word in re.findall(r"[\w.-]+", got) if word not in re.findall(r"[\w.-]+", expected)]
        words = words or [word for word in got.split() if word not in expected.split()]  # signs around one differ
        self.pieces += [word for word in words if len(word) >= _LEAST_WORD]
        others = [word for word in re.findall(r"[\w.-]+", expected) if word not in re.findall(r"[\w.-]+", got)]
        self.missing += [word for word in others if len(word) >= _LEAST_WORD]


def place_in(expected: str, got: str) -> tuple[str, int, bool]:
    """Return a text, from which place on it differs, and whether there is something missing."""
    pairs = enumerate(zip(expected, got, strict=False))
    place = next((place for place, pair in pairs if len({*pair}) > 1), min(len(expected), len(got)))
    after, wanted = got[place : place + _ENOUGH], expected[place : place + _ENOUGH]
    ends_early = after in expected[place + 1 :] and (not after or wanted not in got[place + 1 :])
    return got, place, bool(wanted) and ends_early


def _has_unknown(item: Any) -> bool:
    """Whether a value is known only as a text, or has something in it that is."""
    inner = item if isinstance(item, list | tuple) else list(item.values()) if isinstance(item, dict) else []
    return isinstance(item, UnknownContent) or any(map(_has_unknown, inner))


def _is_half_known(one: Any, other: Any) -> bool:
    """Whether only the text of one of two values is known: they may be equal."""
    return isinstance(one, UnknownContent) != isinstance(other, UnknownContent)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts_of(item: Any) -> list[str]:
    """Return the text of an item, and those of what is in it."""
    inner = item if isinstance(item, list | tuple) else list(item.values()) if isinstance(item, dict) else []
    return [repr(item), *(repr(part) for part in inner if not isinstance(part, UnknownContent))]


def _without(items: list[Any], others: list[Any]) -> list[Any]:
    left = list(others)
    kept = []
    for item in items:
        if item in left:
            left.remove(item)
        else:
            kept.append(item)
    return kept


def constant(node: ast.expr) -> Any:
    """Return the value of an expression of constants; `...` if it has others."""
    try:
        return ast.literal_eval(node)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ...
