"""What a value of a recorded run was as an object of Python, as far as the record has it: lists, dicts, texts, numbers.

    content_of(past, value, before)             # [12, '4000', 7]

What is not known is an `UnknownContent`, which equals only what has the same text.
"""

import ast
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.row_search import keys_back
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS, RecordedValue, container_word

_MOST_PARTS = 100

_DEEPEST = 4


_COUNTED = re.compile(r"\w+ of \d+|<[^<>]*>|\w+\([^()]*\)")
"""An item of a tuple's text of which the items are not known."""


@dataclass(frozen=True, repr=False)
class UnknownContent:
    """A value of which only a text is known."""

    text: str

    def __repr__(self) -> str:
        return self.text


def content_of(past: PastProcess, value: RecordedValue, before: int, depth: int = 0) -> Any:
    """Return a value as an object of Python."""
    if not value.object:
        return literal(value.text)
    kind = container_kind(value.text)
    has_parts = past.record.back_of(frozenset({rows.SIZE}), value.object, before)
    if not kind or not has_parts:
        return literal(value.text)
    if depth >= _DEEPEST:
        return UnknownContent(past.values.text_at(value, before))
    parts = {
        label: content_of(past, part, before, depth + 1) for label, part in parts_of(past, value.object, before).items()
    }
    if len(parts) != past.record.row(has_parts).text:  # not all of it was looked at
        return UnknownContent(value.text)
    if kind == "dict":
        if not all(parts):  # a key is an object, which no label names: or it is a set of such
            return UnknownContent(past.values.text_at(value, before))
        return {literal(label[1:-1]): part for label, part in parts.items()}
    if kind == "set":
        return _set_of(list(parts.values()))
    in_order = [parts.get(f"[{place}]", UnknownContent("")) for place in range(len(parts))]
    return tuple(in_order) if kind == "tuple" else in_order


def parts_of(past: PastProcess, container: int, before: int) -> dict[str, RecordedValue]:
    """Return the items of a container by their labels, in the order in which they came into it."""
    latest: dict[int, int] = {}
    first: dict[int, int] = {}
    gone: set[int] = set()
    least = 0
    for number, key in keys_back(past.record, FIELDS, container, before):
        latest.setdefault(key, number)
        if key and past.record.row(number).text == rows.DELETED:
            gone.add(key)
        elif key not in gone:  # a key that is given another value keeps its place
            first[key] = number
        if len(latest) == _MOST_PARTS:
            least = number
            break
    if 0 in first:  # all of a long one, once for each change
        firsts = (past.record.forth(kind, 0, container, least - 1) for kind in FIELDS)
        first[0] = min(number for number in firsts if number)
    present = [row for key, row in latest.items() if key in first]
    present.sort(key=lambda row: first[past.record.row(row).key])
    return {past.record.label(past.record.row(row).key): past.values.value_at(row) for row in present}


def _set_of(parts: list[Any]) -> Any:
    try:
        return set(parts)
    except TypeError:
        return UnknownContent("set")


def container_kind(text: str) -> str:
    """Return the name of the type of a list, tuple, dict or set, by its text; empty: of another value."""
    if text[:1] == "(" or text.startswith("tuple of "):
        return "tuple"
    word = container_word(text)
    return word if word in ("list", "dict", "set") else ""


_CUT_STRING = re.compile(r"""(?P<quote>['"])(?P<begin>.*)… \((?P<length>[\d,]+) characters\)""", re.DOTALL)

_LONGEST_ESCAPE = 10
"""Characters: `\\U0001f34e`."""

UNSEEN = "\0"
"""In the place of a character of a long string that is not recorded."""

Number = int | float | Decimal | Fraction

_NUMBER = re.compile(
    r"Decimal\('(?P<decimal>[^']+)'\)|Fraction\((?P<numerator>-?\d+), (?P<over>\d+)\)"
    r"|np\.float\d+\((?P<real>[^)]+)\)|np\.u?int\d+\((?P<whole>-?\d+)\)"
)


def literal(text: str) -> Any:
    """Return what a text of a record says, if it is a literal and whole."""
    if text.isascii() and text.isdigit():  # most are, and those of a thousand rounds are read
        return int(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if text[:1] == "(" and text[-1:] == ")":
            return _tuple_of(text)
        number = object_number(text)
        return UnknownContent(text) if number is None else number


def string_of(text: str) -> str | None:
    """Return the string that a text of a record is; None: it is another value.

    Of a long one a record has the begin and the length: the rest is `UNSEEN` characters.
    """
    cut = _CUT_STRING.fullmatch(text)
    if cut is None:
        known = literal(text)
        return known if isinstance(known, str) else None
    length = int(cut["length"].replace(",", ""))
    for end in range(len(cut["begin"]), max(len(cut["begin"]) - _LONGEST_ESCAPE, 0), -1):
        known = literal(cut["quote"] + cut["begin"][:end] + cut["quote"])
        if isinstance(known, str):
            return known.ljust(length, UNSEEN)
    return None


def object_number(text: str) -> "Number | None":
    """Return the number that an object is, by its text: `Decimal('1.20')`; None: it is another object."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    try:
        if found["decimal"]:
            return Decimal(found["decimal"])
        if found["over"]:
            return Fraction(int(found["numerator"]), int(found["over"]))
        return float(found["real"]) if found["real"] else int(found["whole"])
    except (ValueError, ArithmeticError):
        return None


def _tuple_of(text: str) -> Any:
    """Return a tuple of which the text has some items only by how many are in them: of `(15, list of 4)` the 15."""
    items: list[Any] = []
    pending = ""
    for part in text[1:-1].removesuffix(",").split(", "):
        pending = f"{pending}, {part}" if pending else part
        item = literal(pending)
        if not isinstance(item, UnknownContent) or _COUNTED.fullmatch(pending):
            items.append(item)
            pending = ""
    return UnknownContent(text) if pending else tuple(items)
