"""Values as they stand beside the lines of an answer: short, and with that in them which the question is about.

    shortened = ShortenedValues(past, AskedParts(labels=(".paid",)))
    shortened.of(row)                       # "<Order paid=False, …>" of an object with ten fields before that one

Of a long container the items are shown that the lines of the answer name, of a long text the part that differs.
"""

from collections.abc import Iterable
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked, masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import container_word, type_name
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.source.read_paths import reads_of

MOST_TEXT = 60

_MOST_MESSAGE = 100

_MOST_PART = 24

_MOST_LABELS = 8
"""That are looked for in one value: each is a search in the record."""

_MOST_OF_A_ROUND = 2
"""Fields that are shown of an object of which nothing else is."""


class AskedParts(NamedTuple):
    """What the lines of an answer are about.

    Attributes:
        labels: of the attributes and items that they read and write, those asked about first: `.paid`, `['limit']`.
        pieces: texts that differ from what was expected.
    """

    labels: tuple[str, ...] = ()
    pieces: tuple[str, ...] = ()


NO_PARTS = AskedParts()


def asked_parts(past: PastProcess, starts: Iterable[SliceNode], shown: Iterable[int]) -> AskedParts:
    """Return what an answer is about: what is asked, and what its lines read and write, the last ones first."""
    nodes = list(starts)
    labels = [label for node in nodes for label in node.wanted.path]
    for row, focus in [*((node.row, node.focus) for node in nodes), *((row, ()) for row in sorted(shown)[::-1])]:
        execution = past.executions.at(row)
        if execution is None:
            continue
        reads = reads_of(*focus) if focus else execution.statement.reads
        paths = [read.path for read in reads if not read.is_callee] + list(execution.statement.stores)
        steps = [past.values.label_of(execution, step) for path in paths for step in path.steps[::-1]]
        labels += [label for label in steps if label is not None]
    pieces = [piece for node in nodes for piece in node.wanted.pieces]
    return AskedParts(tuple(dict.fromkeys(labels)), tuple(pieces))


class ShortenedValues:
    """The values of one process, shortened for one answer."""

    def __init__(self, past: PastProcess, parts: AskedParts = NO_PARTS) -> None:
        self._past = past
        self._record = past.record
        self._parts = parts

    def of(self, row: Row, *, is_of_round: bool = False) -> str:
        """Return the value that a row tells; `is_of_round`: it is what a loop goes through."""
        if row.kind in (rows.RAISE, rows.UNWIND):
            return _message(self._record.text(row))
        return self.of_text(self._record.text(row), row.object, row.number, is_of_round=is_of_round)

    def of_text(self, text: str, target: int, before: int, *, is_of_round: bool = False) -> str:
        """Return a value that has a text and is an object, as it was before a row; `target`: its number, or 0."""
        is_bare = is_of_round and text[:1] == "<" and text[1:-1].isidentifier()
        is_counted = " of " in text and bool(container_word(text))
        short = masked_beginning(text, MOST_TEXT)
        if not target and short != text:
            return self._around_piece(text, short)
        if not target or (short == text and not is_bare and not is_counted):
            return short
        known = self._known(target, before, text, short)
        if is_bare:
            known = known[:_MOST_OF_A_ROUND]
        return _with_parts(text, known) if known else short

    def _known(self, target: int, before: int, text: str, short: str) -> list[tuple[str, str]]:
        """Return the parts of an object that matter and are not in the beginning of its text, as labels and values."""
        is_object = text[:1] == "<"
        known: list[tuple[str, str]] = []
        room = MOST_TEXT - (len(type_name(text)) if is_object else len(_head(text)))
        for label in [label for label in self._parts.labels if (label[:1] == ".") is is_object][:_MOST_LABELS]:
            field = self._past.values.field(target, label, before)
            if field is None or self._record.row(field.row).text == rows.DELETED:
                continue
            part = self._past.values.text_at(field, before)
            part = masked_beginning(part, _MOST_PART)
            room -= len(label) + len(part) + 2
            if room < 0:
                break
            known.append((label, part))
        is_shown = all(f"{label[1:]}=" in short if is_object else f"{label[1:-1]}: " in short for label, _ in known)
        return [] if is_shown else known

    def _around_piece(self, text: str, short: str) -> str:
        """Return that part of a long text in which it differs from what was expected."""
        text = masked(text)
        for piece in self._parts.pieces:
            word = piece.strip("'\"")
            place = text.find(word)
            if place < 0 or word in short or len(word) > MOST_TEXT:
                continue
            begin = max(0, min(place - (MOST_TEXT - len(word)) // 2, len(text) - MOST_TEXT))
            end = begin + MOST_TEXT
            return f"{text[0]}…{text[begin + 2 : end]}{'…' if end < len(text) else ''}"
        return short


def _message(text: str) -> str:
    """Return an exception: of a long one the beginning, and the end, at which stands what was wrong."""
    if len(text) <= _MOST_MESSAGE:
        return text
    text, half = masked(text), _MOST_MESSAGE // 2
    return text if len(text) <= _MOST_MESSAGE else f"{text[:half]}…{text[-half:]}"


def _with_parts(text: str, known: list[tuple[str, str]]) -> str:
    if text[:1] == "<":
        fields = ", ".join(f"{label[1:]}={part}" for label, part in known)
        return f"<{type_name(text)} {fields}, …>"
    items = ", ".join(f"{label}={part}" for label, part in known)
    return f"{_head(text)} with {items}"


def _head(text: str) -> str:
    """Return so much of a container's text as leaves room for some of its items."""
    return text if len(text) <= MOST_TEXT // 2 else masked_beginning(text, MOST_TEXT // 3 + 1)
