"""What the call, or the round of a loop, in which a statement ran had at hand: parameters and variables that it set.

at_hand.of(run, "'bob'").said       # "target='bob'", or "order.buyer='bob'"
"""

from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS, is_whole
from trio_debugmcp.runs.slicing.wanted_pieces import is_in

_MOST_VARIABLES = 20
"""Of one call or round: the last ones."""

_MOST_FIELDS = 10
"""Of an object that a variable had."""

_MOST_TEXT = 40
"""Characters of a value that are shown."""

_MOST_CALLS = 100
"""Calls and rounds that are looked at for one answer."""


class RowSpan(NamedTuple):
    """The rows of a call, or of a round: from `start`, and before `stop`."""

    start: int
    stop: int


class ValueAtHand(NamedTuple):
    """A variable with a value.

    Attributes:
        said: both, as `name=value`.
        span: the round or the call that had it.
    """

    said: str
    span: RowSpan


class ValuesAtHand:
    """The variables of calls and rounds of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._left = _MOST_CALLS
        self._known: dict[tuple[int, int, str], str] = {}

    def spans(self, run: StatementExecution) -> Iterator[RowSpan]:
        """Yield the rows of the rounds in which a statement ran, the innermost first, and those of its call."""
        for loop in (outer for outer in run.statement.outer() if outer.is_loop):
            begun = self._past.executions.last_run(loop, run.frame, run.row)
            if begun is not None:
                sites = self._past.executions.sites(loop, run.code)
                after = [self._record.forth(rows.LINE, site, run.frame, run.row) for site in sites]
                yield RowSpan(begun.row, min([row for row in after if row], default=self._record.last + 1))
        start = self._record.frame(run.frame).start
        ending = self._past.executions.outcome(start)
        yield RowSpan(start, ending.number if ending is not None else self._record.last + 1)

    def of(self, run: StatementExecution, text: str) -> ValueAtHand | None:
        """Return which variable had a value, or an object with it, in the innermost round or call; None: none had."""
        for number, span in enumerate(self.spans(run)):
            place = run.frame, span.start, text
            if place not in self._known and self._left:
                self._left -= 1
                self._known[place] = self._found(run, text, span, is_around=number > 0)
            if self._known.get(place):
                return ValueAtHand(self._known[place], span)
        return None

    def _found(self, run: StatementExecution, text: str, span: RowSpan, *, is_around: bool) -> str:
        """Return a variable of a round or a call; of a call around a loop its parameters: others may be long past."""
        code, start = self._record.code(run.code), self._record.frame(run.frame).start
        if span.start != start or not is_around:
            return self._named(run, text, span.start)
        given = [self._past.values.parameter(self._record.row(start), name) for name in code.params]
        said = [self._said(self._record.row(value.row), text, run.row) for value in given if value is not None]
        return next(filter(None, said), "")

    def _named(self, run: StatementExecution, text: str, start: int) -> str:
        code = self._record.code(run.code)
        is_module = code.kind == "module"
        if is_module and start == self._record.frame(run.frame).start:  # all that it has ever set
            return ""
        kind, subject = (rows.FIELD, code.globals) if is_module else (rows.WRITE, run.frame)
        number = run.row
        for _ in range(_MOST_VARIABLES):
            number = self._record.back_of(frozenset({kind}), subject, number)
            if not number or number < start:
                return ""
            said = self._said(self._record.row(number), text, run.row)
            if said:
                return said
        return ""

    def _said(self, row: Row, text: str, before: int) -> str:
        """Return a variable and its value, if that is one, or has it: in a tuple, or as an attribute or an item."""
        name, value = self._record.label(row.key).lstrip("."), self._record.text(row)
        if value == text:
            return f"{name}={masked_beginning(text, _MOST_TEXT)}"
        if is_whole(value) and is_in(text, value):
            return f"{name}={masked_beginning(value, _MOST_TEXT)}"
        number = before if row.object else 0
        for _ in range(_MOST_FIELDS if number else 0):
            number = self._record.back_of(FIELDS, row.object, number)
            if not number:
                return ""
            field = self._record.row(number)
            label = self._record.label(field.key)
            if self._record.text(field) == text and (label[:1] == "." or label[:2] in ("['", '["')):
                return f"{name}{label}={masked_beginning(text, _MOST_TEXT)}"
        return ""
