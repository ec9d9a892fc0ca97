"""What should be in a value and is not: the round in which it would have come into it, and what decided against it."""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import FIELDS
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.kept_nowhere_edges import KeptNowhereEdges, keeps
from trio_debugmcp.runs.slicing.absences.unraised_edges import UnraisedEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces, is_in
from trio_debugmcp.runs.source.source_scopes import Statement

_LINES, _LINES_AND_CALLS = frozenset({rows.LINE}), frozenset({rows.LINE, rows.START})

_MOST_WRITES = 300
"""Of one frame that are looked through for a missing value: the last ones."""

_MOST_FIELDS = 20
"""Of one object that are looked through for it."""

_MOST_SAID = 2

_MOST_ROUNDS = 30
"""Of one frame in which a missing value was at hand: the last ones."""

_MOST_CALLS = 20
"""Of a function that puts things into the container which misses one: the last ones."""


class MissingEdges:
    """The edges to the rounds of one process in which something did not come into a value."""

    def __init__(self, past: PastProcess, unraised: UnraisedEdges, decisions: Decisions) -> None:
        self._past = past
        self._unraised = unraised
        self._decisions = decisions
        self._kept_nowhere = KeptNowhereEdges(past, decisions)
        self._record = past.record
        self._known: set[int] = set()

    def of_statement(self, execution: StatementExecution, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield what decided that a missing value goes no further, in the calls that a statement and its values are of.

        Once for each call.
        """
        if not wanted.missing:
            return
        end = self._past.executions.ended(execution.row) if execution.statement.is_loop else self._record.last + 1
        yield from self._of_frame(execution, end, wanted)
        if execution.statement.mutates:  # in another call it would have put there what is missing
            for frame in reversed(self._past.scopes.frames([execution.scope])[-_MOST_CALLS:]):
                yield from self._of_frame(execution._replace(frame=frame), self._over(frame), wanted, execution)
        for read in execution.statement.reads:
            value = self._past.values.read(execution, read) if not read.is_callee else None
            made = self._past.values.birth(value.object, execution.row) if value is not None and value.object else 0
            maker = self._past.executions.at(made) if made else None
            if maker is not None:
                yield from self._of_frame(maker, execution.row, wanted)

    def _of_frame(
        self, execution: StatementExecution, end: int, wanted: WantedPieces, like: StatementExecution | None = None
    ) -> Iterator[SliceEdge]:
        """Yield what decided against a missing value in one call.

        `like`: only against statements that change the same variable as this one does.
        """
        if execution.frame in self._known or isinstance(execution.scope.node, ast.ClassDef):
            return
        self._known.add(execution.frame)
        changed = {path for path, _ in like.statement.mutates} if like is not None else set()
        giving = [
            statement
            for statement in execution.scope.statements
            if _gives(statement) and (not changed or any(path in changed for path, _ in statement.mutates))
        ]
        said: set[Statement] = set()
        for piece in wanted.missing:
            owners = _LINES if like is None else _LINES_AND_CALLS  # another call may have been given it
            rounds = list(islice(self._written(execution.frame, end, piece, owners), _MOST_ROUNDS))
            for statement in giving if rounds else ():
                decided, written = self._nearest(statement, execution.frame, rounds, end)
                if decided is None and like is not None:
                    decided, written = self._in_call(statement, execution, end), rounds[0]
                if decided is not None and len(said) < _MOST_SAID and decided.statement not in said:
                    said.add(decided.statement)
                    text = self._record.text(self._record.row(written))
                    text = f"{text} with {piece}" if text[:1] == "<" else text
                    note = f"so line {statement.first} does not run for {text}"
                    is_of_call = not any(outer.is_loop for outer in statement.outer())
                    yield SliceEdge(cost.MISSING_CALL if is_of_call else cost.MISSING, SliceNode(decided.row), note)
                    if any(isinstance(outer.node, ast.ExceptHandler) for outer in statement.outer()):
                        use = decided._replace(row=self._past.executions.ended(decided.row))
                        yield from self._unraised.of_calls(decided, use)
            if rounds and not said:
                over = self._end_of_round(execution, rounds[0], end)
                yield from self._kept_nowhere.of_value(execution, rounds[0], over, piece)

    def _nearest(
        self, statement: Statement, frame: int, rounds: list[int], end: int
    ) -> tuple[StatementExecution | None, int]:
        """Return what kept a statement from running in a round, and the write of that round; None: nothing in the last.

        In the one that came nearest to it; if it has run in another one, and puts something somewhere, in the last.
        """
        loop = next((outer for outer in statement.outer() if outer.is_loop), None)
        rounds = [written for written in rounds if loop is not None and self._is_round(loop, frame, written)]
        best, chosen = (self._decided_against(statement, frame, rounds[0], end), rounds[0]) if rounds else (None, 0)
        if best is None:
            return best, chosen
        if any(self._has_run(statement, frame, written, end) for written in rounds[1:]):
            return (None if statement.carried else best), chosen
        for written in rounds[1:]:
            decided = self._decided_against(statement, frame, written, end)
            if decided is not None and _depth(decided) > _depth(best):
                best, chosen = decided, written
        return best, chosen

    def _in_call(self, statement: Statement, execution: StatementExecution, end: int) -> StatementExecution | None:
        """Return what kept a statement outside of loops from running in a call that had the missing value."""
        if any(outer.is_loop for outer in statement.outer()):
            return None
        if self._past.executions.last_run(statement, execution.frame, end) is not None:
            return None
        return self._decisions.against(statement, execution._replace(row=end), 0, execution.frame)

    def _has_run(self, statement: Statement, frame: int, written: int, end: int) -> bool:
        """Whether a statement has run in the round of a write."""
        loop = next((outer for outer in statement.outer() if outer.is_loop), None)
        over = min([*(self._next_round(loop, frame, written) if loop is not None else []), end])
        ran = self._past.executions.last_run(statement, frame, over)
        return ran is not None and ran.row > written

    def _over(self, frame: int) -> int:
        """Return the row at which a call was over; behind the last one: it is not."""
        ending = self._past.executions.outcome(self._record.frame(frame).start)
        return ending.number if ending is not None and ending.kind != rows.YIELD else self._record.last + 1

    def _written(self, frame: int, before: int, piece: str, owners: frozenset[int]) -> Iterator[int]:
        """Yield the writes of a missing value to names of a frame, by rows of some kinds, the last one first."""
        number, code = before, self._record.code(self._past.executions.code_of(frame))
        is_module = code.kind == "module"
        kinds, subject = (rows.FIELD if is_module else rows.WRITE), (code.globals if is_module else frame)
        for _ in range(_MOST_WRITES):
            number = self._record.back_of(frozenset({kinds}), subject, number)
            if not number:
                return
            row = self._record.row(number)
            if self._record.row(row.owner).kind in owners and self._has(row, piece, before):
                yield number

    def _has(self, row: Row, piece: str, before: int) -> bool:
        """Whether a value is a missing one, or has it: in its text, or as an attribute."""
        text = self._record.text(row)
        if piece == text or is_in(piece, text):
            return True
        number = self._record.back_of(FIELDS, row.object, before) if row.object and text[:1] == "<" else 0
        for _ in range(_MOST_FIELDS):
            if not number:
                return False
            if self._record.text(self._record.row(number)) == piece:
                return True
            number = self._record.back_of(FIELDS, row.object, number)
        return False

    def _decided_against(
        self, statement: Statement, frame: int, written: int, before: int
    ) -> StatementExecution | None:
        """Return the run of the condition that kept a statement from running in the round of a write."""
        loop = next((outer for outer in statement.outer() if outer.is_loop), None)
        if loop is None or not self._is_round(loop, frame, written):
            return None
        end = min([*self._next_round(loop, frame, written), before])
        return self._decisions.in_round(statement, loop, frame, range(written, end))

    def _is_round(self, loop: Statement, frame: int, written: int) -> bool:
        """Whether a write was made by the header of a loop, or in it."""
        owner = self._past.executions.at(self._record.row(written).owner)
        return owner is not None and (owner.statement is loop or loop in owner.statement.outer())

    def _end_of_round(self, execution: StatementExecution, written: int, end: int) -> int:
        """Return where the round of a loop ends in which a value was written; outside of a loop: another row."""
        owner = self._past.executions.at(self._record.row(written).owner)
        around = [owner.statement, *owner.statement.outer()] if owner is not None else []
        loop = next((statement for statement in around if statement.is_loop), None)
        return min([*(self._next_round(loop, execution.frame, written) if loop is not None else []), end])

    def _next_round(self, loop: Statement, frame: int, written: int) -> list[int]:
        sites = self._past.executions.sites(loop, self._past.executions.code_of(frame))
        found = [self._record.forth(rows.LINE, site, frame, written) for site in sites]
        return [row for row in found if row]


def _depth(execution: StatementExecution) -> int:
    """Return in how many blocks a statement is."""
    return sum(1 for _ in execution.statement.outer())


def _gives(statement: Statement) -> bool:
    """Whether a statement gives something to a value: changes a container, adds, or yields."""
    value = getattr(statement.node, "value", None)
    return keeps(statement) or isinstance(value, ast.Yield | ast.YieldFrom)
