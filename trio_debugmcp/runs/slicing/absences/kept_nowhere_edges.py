"""What a call has done with a value that is missing later: nothing, as no statement that would keep it has run."""

from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement

_LINES = frozenset({rows.LINE})

_MOST_LINES = 200
"""Of each call that are looked through for one that hands the value on."""

_MOST_CALLS = 100
"""That hand it on to each other."""


class KeptNowhereEdges:
    """The edges to what decided that a call kept a value nowhere, in one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_value(self, execution: StatementExecution, written: int, end: int, piece: str) -> Iterator[SliceEdge]:
        """Yield what decided in the innermost call that a value was handed on to between two rows."""
        start = self._innermost(execution.frame, written, end, piece)
        scope = self._past.scopes.of_code(start.key) if start is not None else None
        if start is None or scope is None:
            return
        ending = self._past.executions.outcome(start.number)
        over = ending.number if ending is not None else end
        keeping = [statement for statement in scope.statements if keeps(statement)]
        if any(self._past.executions.last_run(statement, start.subject, over) for statement in keeping):
            return
        for statement in reversed(keeping):
            decided = self._decisions.against(statement, execution._replace(row=over), 0, start.subject)
            if decided is not None:
                note = f"so line {statement.first} does not run for {piece}"
                yield SliceEdge(cost.MISSING, SliceNode(decided.row), note)
                return

    def _innermost(self, frame: int, after: int, end: int, piece: str) -> Row | None:
        """Return the call that a value came to last, each one from the one before; None: it was handed to none."""
        innermost = None
        for _ in range(_MOST_CALLS):
            start = next((start for start in self._calls(frame, after, end) if self._is_given(start, piece)), None)
            if start is None:
                break
            ending = self._past.executions.outcome(start.number)
            frame, after, end = start.subject, start.number, ending.number if ending is not None else end
            innermost = start
        return innermost

    def _calls(self, frame: int, after: int, end: int) -> Iterator[Row]:
        """Yield the calls of a frame between two rows."""
        row = self._past.record.row(after)
        if row.kind != rows.START and row.owner:  # the line that has written it may hand it on
            yield from self._past.executions.calls(row.owner)
        for number in islice(self._lines(frame, after, end), _MOST_LINES):
            yield from self._past.executions.calls(number)

    def _lines(self, frame: int, after: int, end: int) -> Iterator[int]:
        while (after := self._past.record.forth_of(_LINES, frame, after)) and after < end:
            yield after

    def _is_given(self, start: Row, piece: str) -> bool:
        return start.kind == rows.START and any(
            self._past.record.text(given) == piece for given in self._past.executions.effects(start.number)
        )


def keeps(statement: Statement) -> bool:
    """Whether a statement gives something to a value: changes a container, stores, or adds."""
    return bool(statement.mutates) or bool(statement.stores) or bool(statement.carried)
