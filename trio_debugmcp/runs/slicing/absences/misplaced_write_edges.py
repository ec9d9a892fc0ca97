"""Values that came to another place than the one that lacks them: another key, another container beside it.

    self.balances[source] += amount     # ['ann']=100; target='bob' here, and ['bob'] is not written
    self.damaged[item] += count         # ['pen']=2; .available['pen'] is not written here
    self.folders["spam"].append(mail)   # [1]='hello'; 'hello' is in ['spam'], and not in ['archive']

What is said is what the record shows of one call, or of one round of a loop: what it had at hand, what it wrote, and
that it did not write the place that is asked about. Whether it should have is for the reader to say.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import keys_back, keys_of
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS, RecordedValue, container_word, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.asked_places import AskedPlace, AskedPlaces
from trio_debugmcp.runs.slicing.absences.values_at_hand import RowSpan, ValuesAtHand
from trio_debugmcp.runs.slicing.recorded_contents import literal, parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import PathRead
from trio_debugmcp.runs.source.statement_trees import targets_of

_WRITES = frozenset({rows.FIELD})

_MOST_WRITES = 60
"""Of one container that are looked at: the last ones."""

_MOST_BESIDE = 40
"""Containers in the same object or container that are looked at."""

_FOUND = 2
"""Key of a row SIZE of a container that something unknown may have changed."""

_LEAST_LACK = 2
"""Of less it says nothing that something else was made larger by as much."""


class MisplacedWriteEdges:
    """The edges to writes of one process beside the places that are asked about."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._places = AskedPlaces(past)
        self._at_hand = ValuesAtHand(past)
        self._modules = {code.globals for code in past.record.codes}

    def of_reads(
        self, execution: StatementExecution, reads: Sequence[PathRead], wanted: WantedPieces
    ) -> Iterator[SliceEdge]:
        """Yield the last write of each kind beside a place that a statement reads."""
        for place in self._places.of(execution, reads):
            if self._past.values.is_big(place.holder.object, execution.row):  # not every item of it is watched
                continue
            said: set[int] = set()
            for run, note in (
                *islice(self._of_lack(execution, place, wanted.lack), 1),
                *islice(self._of_other_keys(execution, place), 1),
                *islice(self._of_missing(execution, place, wanted), 1),
                *islice(self._of_other_containers(execution, place) if _gives(execution) else (), 1),
            ):
                if run.row not in said:
                    said.add(run.row)
                    yield SliceEdge(cost.MISPLACED, SliceNode(run.row), note)
                    yield from (SliceEdge(cost.MISPLACED, SliceNode(run.row, focus=(key,))) for key in _keys(run))

    # --- What was written beside it -----------------------------------------------------------------------------------

    def _of_other_keys(
        self, execution: StatementExecution, place: AskedPlace
    ) -> Iterator[tuple[StatementExecution, str]]:
        """Yield what has written another item of the container, the last first, with the key at hand."""
        if place.label[:1] != "[":
            return
        for row in self._writes(place.holder.object, execution.row):
            run = self._past.executions.at(row.owner)
            if self._record.label(row.key) == place.label or run is None or run.row == execution.row:
                continue
            label = self._record.label(row.key)
            if _is_alike_key(label, place.label):
                yield run, f"{label} is another key than {place.label}"
                continue
            hand = self._at_hand.of(run, place.key) if place.key else None
            if hand is not None and not self._is_written(place, hand.span):
                yield run, f"{hand.said} here, and {place.label} is not written"

    def _of_missing(
        self, execution: StatementExecution, place: AskedPlace, wanted: WantedPieces
    ) -> Iterator[tuple[StatementExecution, str]]:
        """Yield what has put an item that a container lacks into one beside it."""
        if not wanted.missing or (place.value is not None and not place.value.object):
            return
        parts = parts_of(self._past, place.value.object, execution.row) if place.value is not None else {}
        missing = {*wanted.missing} - {part.text for part in parts.values()}
        for label, beside in self._beside(place.holder, place.label, execution.row) if missing else ():
            for row in self._writes(beside.object, execution.row):
                text, run = self._record.text(row), self._past.executions.at(row.owner)
                is_there = not self._record.back_any(FIELDS, (row.key,), beside.object, execution.row, row.number)
                if text in missing and is_there and run is not None and run.row != execution.row:
                    yield run, f"{text} is in {label}, and not in {place.label}"

    def _of_lack(
        self, execution: StatementExecution, place: AskedPlace, lack: float
    ) -> Iterator[tuple[StatementExecution, str]]:
        """Yield what has added to another number in the same object as much as a number lacks."""
        if lack < _LEAST_LACK or place.value is None or _kind(place.value.text) != "number":
            return
        for row in self._writes(place.holder.object, execution.row):
            number = self._record.back_any(FIELDS, (row.key,), row.subject, row.number)
            label, run = self._record.label(row.key), self._past.executions.at(row.owner)
            amounts = [literal(self._record.text(self._record.row(each))) for each in (number, row.number) if each]
            is_number = len(amounts) == 2 and all(type(amount) in (int, float) for amount in amounts)
            if label == place.label or label[:1] != place.label[:1] or not is_number or run is None:
                continue
            if amounts[1] - amounts[0] == lack and not self._is_written(place, next(self._at_hand.spans(run))):
                yield run, f"{lack} more in {label}, as much as is missing"

    def _of_other_containers(
        self, execution: StatementExecution, place: AskedPlace
    ) -> Iterator[tuple[StatementExecution, str]]:
        """Yield what has written the item of the same key in a container beside it since, or the other way round."""
        if place.label[:1] != "[":
            return
        for holder, label in self._holders(place.holder.object, execution.row):
            is_attribute = label[:1] == "."
            if is_attribute and (not place.key or holder.object in self._modules):
                continue  # variables of a module have little in common, and the same place of two lists has none
            for beside_label, beside in self._beside(holder, label, execution.row):
                is_turned = beside_label == place.label and not is_attribute
                key = label if is_turned else place.label
                row = self._last_write(beside.object, key, place.since, execution.row)
                run = self._past.executions.at(row.owner) if row is not None else None
                if row is None or run is None or run.row == execution.row or not self._is_alike(row, place):
                    continue
                keys = () if is_attribute else (label[1:-1], place.label[1:-1])
                hands = [hand for key in keys if (hand := self._at_hand.of(run, key)) is not None]
                span = max([hand.span for hand in hands], key=_length, default=next(self._at_hand.spans(run)))
                if len(hands) == len(keys) and not self._is_written(place, span):
                    had = f"{' '.join(hand.said for hand in hands)}, and " if hands else ""
                    yield run, f"{had}{label}{place.label} is not written here"

    # --- Containers ---------------------------------------------------------------------------------------------------

    def _writes(self, container: int, before: int) -> Iterator[Row]:
        for number, key in islice(keys_back(self._record, _WRITES, container, before), _MOST_WRITES):
            row = self._record.row(number)
            if key and row.owner and row.text != rows.DELETED:
                yield row

    def _last_write(self, container: int, label: str, after: int, before: int) -> Row | None:
        key = self._record.key_of(label)
        number = self._record.back_any((rows.FIELD,), (key,), container, before, after) if key else 0
        row = self._record.row(number) if number else None
        return row if row is not None and row.owner and row.text != rows.DELETED else None

    def _is_written(self, place: AskedPlace, span: RowSpan) -> bool:
        """Whether a place was written in a round or a call, or may have been: what is found changed was so earlier."""
        keys, container, after = (0, self._record.key_of(place.label)), place.holder.object, span.start - 1
        last = self._record.last + 1
        return bool(
            self._record.back_any((rows.FIELD,), keys, container, span.stop, after)
            or self._record.back_any((rows.GAP,), keys, container, last, after)
            or self._record.back_any((rows.SIZE,), (_FOUND,), container, last, after)
        )

    def _holders(self, container: int, before: int) -> Iterator[tuple[RecordedValue, str]]:
        """Yield what a container was put into first, with the label there."""
        number = self._record.forth_of(FIELDS, container, 0, by_value=True)
        if number and number < before:
            row = self._record.row(number)
            text = f"<{self._past.classes.of(row.subject, number) or ''}>"
            yield RecordedValue(number, row.kind, text, row.subject, row.owner), self._record.label(row.key)

    def _beside(self, holder: RecordedValue, label: str, before: int) -> Iterator[tuple[str, RecordedValue]]:
        """Yield the other containers in what one is in, with their labels."""
        own = self._past.values.field(holder.object, label, before)
        word = container_word(own.text) if own is not None and own.object else ""
        for key in islice(sorted(keys_of(self._record, FIELDS, holder.object, before)), _MOST_BESIDE):
            other = self._record.label(key)
            value = self._past.values.field(holder.object, other, before) if key and other != label else None
            kind = container_word(value.text) if value is not None and other[:1] == label[:1] else ""
            is_itself = own is not None and value is not None and value.object == own.object
            if value is None or not kind or word not in ("", kind) or is_itself:
                continue
            if not self._past.values.is_big(value.object, before):
                yield other, value

    def _is_alike(self, row: Row, place: AskedPlace) -> bool:
        """Whether a value is of the kind of what is in a place: a number, a text, a container."""
        text = self._record.text(row)
        return place.value is None or _kind(text) == _kind(place.value.text)


def _length(span: RowSpan) -> int:
    return span.stop - span.start


def _keys(run: StatementExecution) -> Iterator[ast.expr]:
    """Yield the expressions of the keys under which a statement stores items."""
    for target in targets_of(run.statement.node):
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Constant):
            yield target.slice


def _is_alike_key(one: str, other: str) -> bool:
    """Whether two keys are not the same, and differ only by case, by signs and spaces, or by being a text."""
    texts = [label[2:-2] for label in (one, other) if label[1:2] in ("'", '"')]
    if len(texts) == 1:  # the other one is a number
        return texts[0] in (one[1:-1], other[1:-1])
    plain = {re.sub(r"[\W_]+", "", text).casefold() for text in texts}
    return one != other and len(texts) == 2 and len(plain) == 1 and plain != {""}


def _gives(execution: StatementExecution) -> bool:
    """Whether what a statement reads is all that it is about: an assertion, a result, an item that gets a name."""
    node = execution.statement.node
    is_item = isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.Call)
    return is_item or isinstance(node, ast.Assert | ast.Return)


def _kind(text: str) -> str:
    if text[:1] in "'\"":
        return "text"
    return "number" if text[:1].isdigit() or text[:1] == "-" else container_word(text) or type_name(text) or text
