"""Iterators of libraries that take other items than they give out: `groupby` has read the first of the next group.

    drawn = drawn_by(past, execution)       # of `kinds[kind] = list(group)`; None: no such iterator
    drawn.gave(ending)                      # whether the line was given what this `yield` gave
    drawn.before                            # the YIELD rows, of earlier lines, whose values it was given

Which item it was follows from the item itself: an object is the same one, a number or text has to be the only such one.
"""

import ast
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import type_name

_BY_TYPE = {"_grouper": "groupby", "groupby": "groupby", "pairwise": "pairwise", "_tee": "tee", "tee": "tee"}

_BY_CALL = ("groupby", "pairwise", "tee", "merge")

_MERGED = "<generator merge>"

_SEEN = frozenset({rows.SEEN})

_YIELDS = frozenset({rows.YIELD})

_MOST_ITEMS = 100

_MOST_ROWS = 50
"""About one object that are looked at for the `yield` that gave it."""

_MOST_EARLIER = 8
"""Items that a generator gave before, among which a number or a text is looked for."""


class DrawnItems(NamedTuple):
    """What a line has had a generator give to an iterator that reads ahead, and what it was given itself.

    Attributes:
        function: what made the iterator.
        during: the YIELD rows of the line that are known to be of what it was given.
        before: those of earlier lines.
    """

    function: str
    during: frozenset[int]
    before: tuple[Row, ...]

    @property
    def is_known(self) -> bool:
        """Whether any item is known to be what the line was given."""
        return bool(self.during or self.before)

    def gave(self, ending: Row) -> bool:
        """Whether a YIELD row may be one of what the line was given."""
        return not self.is_known or ending.number in self.during


def drawn_by(past: PastProcess, execution: StatementExecution) -> DrawnItems | None:
    """Return what a line has drawn through an iterator that reads ahead; None: it goes through no such one."""
    function = _function(past, execution)
    if not function:
        return None
    items = _given(past, execution)
    objects = {item.object for item in items if item.object}
    texts = {past.record.text(item) for item in items if not item.object}
    drawn = _drawn(past, execution)
    during = [row for row in drawn if (row.object in objects if row.object else past.record.text(row) in texts)]
    found = {row.object or past.record.text(row) for row in during}
    before = [_gave_object(past, number, execution.row) for number in sorted(objects - found)]
    before += [_gave_text(past, text, execution) for text in sorted(texts - found)]
    return DrawnItems(function, frozenset(row.number for row in during), tuple(filter(None, before)))


def calls_itself(past: PastProcess, execution: StatementExecution, start: Row) -> bool:
    """Whether a function is named in a line, or written there: an iterator's own key function is not."""
    scope = past.scopes.of_code(start.key)
    name = past.record.code(start.key).name.rpartition(".")[2]
    if name not in ("<lambda>", "<genexpr>"):
        return any(str(read.path).rpartition(".")[2] == name for read in execution.statement.reads)
    inner = [node for head in execution.statement.heads for node in ast.walk(head)]
    return scope is not None and any(is_same_place(node, scope.node) for node in inner)


def is_same_place(node: ast.AST, other: ast.AST) -> bool:
    """Whether two nodes, perhaps of two trees of one source, are the same."""
    place = (getattr(other, "lineno", 0), getattr(other, "col_offset", 0))
    return type(node) is type(other) and (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) == place


def _function(past: PastProcess, execution: StatementExecution) -> str:
    """Return which function has made the iterator that a line takes items of; empty: none that reads ahead."""
    start = past.record.row(past.record.frame(execution.frame).start)
    is_expression = isinstance(execution.statement.node, ast.GeneratorExp)
    values = [past.values.parameter(start, ".0")] if is_expression else []
    if not is_expression:
        values += [past.values.read(execution, read) for read in execution.statement.reads if not read.is_callee]
    for value in values:
        if value is not None and value.text == _MERGED and not past.scopes.named("merge"):
            return "merge"
        if value is not None and (made := _BY_TYPE.get(type_name(value.text))):
            return made
    names = [] if is_expression else [called(call) for call in execution.statement.calls]
    return next((name for name in names if name in _BY_CALL and not past.scopes.named(name)), "")


def _given(past: PastProcess, execution: StatementExecution) -> list[Row]:
    """Return the rows of what a line has got: what it has written or returned, and what was in that from the start."""
    made = list(past.executions.effects(execution.row))
    ending = past.executions.ending(execution.row)
    if ending is not None:
        made.append(ending)
    inner: list[Row] = []
    for container in [row.object for row in made if row.object]:
        number = past.record.last + 1
        while len(inner) < _MOST_ITEMS and (number := past.record.back_of(_SEEN, container, number)):
            inner.append(past.record.row(number))
    return made + inner


def _drawn(past: PastProcess, execution: StatementExecution) -> list[Row]:
    ends = [past.executions.outcome(start.number) for start in past.executions.calls(execution.row)]
    return [end for end in ends if end is not None and end.kind == rows.YIELD]


def _gave_object(past: PastProcess, number: int, before: int) -> Row | None:
    """Return the last `yield` of an object before a row."""
    found, row, last = past.record.forth_of(rows.WITH_VALUE, number, 0, by_value=True), None, None
    for _ in range(_MOST_ROWS):
        if not found or found >= before:
            break
        row = past.record.row(found)
        last = row if row.kind == rows.YIELD and row.owner else last
        found = past.record.forth_of(rows.WITH_VALUE, number, found, by_value=True)
    return last


def _gave_text(past: PastProcess, text: str, execution: StatementExecution) -> Row | None:
    """Return the `yield` of a number or a text before a line by what it goes through, if there is only one."""
    fitting = []
    runs = islice(past.executions.runs(execution.statement, execution.frame, execution.row + 1), _MOST_EARLIER)
    for frame in {start.subject for run in runs for start in past.executions.calls(run.row)}:
        number, earlier = execution.row, list[Row]()
        while len(earlier) < _MOST_EARLIER and (number := past.record.back_of(_YIELDS, frame, number)):
            earlier.append(past.record.row(number))
        fitting += [row for row in earlier if not row.object and past.record.text(row) == text and row.owner]
    return fitting[0] if len(fitting) == 1 else None
