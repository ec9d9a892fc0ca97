"""Rounds of a loop that a line which adds up, or fills a container, was left out of: by an exception or a condition.

#46 total += value                  left out of 2 of 5 rounds (#25, #35)
#38 value = int(text)               raises ValueError; so line 8 does not run in that round
"""

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.folded_conditions import is_at_bound
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_ROUNDS = 200
"""Of a loop that are looked at: the last ones."""

_MOST_SAID = 3

_MOST_CONDITIONS = 40
"""Rounds that were left out of which the conditions are looked at: the last ones."""

_RAISES = frozenset({rows.RAISE})


class _LoopRound(NamedTuple):
    """One round: from the row of the loop's header to the next one."""

    begin: int
    end: int


class SkippedRoundEdges:
    """The edges to what has led past lines in rounds of loops of one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions
        self._record = past.record

    def of_statement(self, execution: StatementExecution, asked: int) -> Iterator[SliceEdge]:
        """Yield what has led past a statement that adds to something, in rounds of its loop before a row."""
        statement = execution.statement
        loop = next((outer for outer in statement.outer() if outer.is_loop), None)
        if loop is None or statement.is_loop or not (statement.carried or statement.mutates):
            return
        rounds = self._rounds(loop, execution, asked) or self._rounds(loop, execution, execution.row + 1)
        last = rounds[-1].end if rounds else execution.row + 1
        runs = self._past.executions.runs(statement, execution.frame, last)
        ran = {run.row for run in islice(runs, _MOST_ROUNDS)}
        skipped = [one for one in rounds if not any(one.begin < row < one.end for row in ran)]
        raisers = [raiser for one in skipped if (raiser := self._raiser(loop, execution.frame, one)) is not None]
        if not raisers:
            yield from self._of_bounds(statement, loop, execution.frame, skipped)
        if not raisers and 2 * len(skipped) > len(rounds):  # it chooses a few
            return
        if skipped:
            numbers = ", ".join(f"#{one.begin}" for one in skipped[-_MOST_SAID:])
            more = "…, " if len(skipped) > _MOST_SAID else ""
            least = "the last " if len(rounds) >= _MOST_ROUNDS - 1 else ""
            note = f"left out of {len(skipped)} of {least}{len(rounds)} rounds ({more}{numbers})"
            yield SliceEdge(0.0, SliceNode(execution.row), note)
        for raiser in raisers[-1:]:
            yield SliceEdge(
                cost.ABSENCE, SliceNode(raiser.row), f"so line {statement.first} does not run in that round"
            )

    def _of_bounds(
        self, statement: Statement, loop: Statement, frame: int, skipped: list[_LoopRound]
    ) -> Iterator[SliceEdge]:
        """Yield the last condition that left a statement out in a round where the two sides that it compares are equal.

        Another sign, `<=` for `<`, would have let it in.
        """
        for one in reversed(skipped[-_MOST_CONDITIONS:]):
            decided = self._decisions.in_round(statement, loop, frame, range(one.begin, one.end))
            if decided is not None and self._is_at_bound(decided):
                note = f"so line {statement.first} does not run in that round"
                yield SliceEdge(cost.AT_BOUND, SliceNode(decided.row), note)
                return

    def _is_at_bound(self, decided: StatementExecution) -> bool:
        test = getattr(decided.statement.node, "test", None)
        reads = [read for read in decided.statement.reads if not read.is_callee]
        values = {str(read.path): self._past.values.read(decided, read) for read in reads}
        texts = {path: value.text for path, value in values.items() if value is not None}
        return isinstance(test, ast.expr) and is_at_bound(test, texts)

    def _rounds(self, loop: Statement, execution: StatementExecution, before: int) -> list[_LoopRound]:
        """Return the rounds of a loop, from when it was come to, in order; empty: there are too many.

        To its end if it has ended before a row. Else to the round that is under way then, or the last one was left by
        `break`: that counts only if the statement has run in it.
        """
        headers: list[int] = []
        end = before
        for run in islice(self._past.executions.runs(loop, execution.frame, before), _MOST_ROUNDS):
            if self._past.blocks.entered(run) is False:
                if run.row < execution.row:
                    break
                headers, end = [], run.row  # the end of the loop; or of another time that it was come to
            else:
                headers.append(run.row)
        if not headers or headers[-1] > execution.row:
            return []
        headers.reverse()
        rounds = [_LoopRound(*pair) for pair in zip(headers, [*headers[1:], end], strict=True)]
        return rounds if end < before or rounds[-1].begin < execution.row else rounds[:-1]

    def _raiser(self, loop: Statement, frame: int, one: _LoopRound) -> StatementExecution | None:
        """Return the line of a loop that raised in a round, and left the rest of it out."""
        number = self._record.back_of(_RAISES, frame, one.end)
        owner = self._record.row(number).owner if number > one.begin else 0
        raiser = self._past.executions.at(owner) if owner else None
        if raiser is None or loop not in list(raiser.statement.outer()):
            return None
        is_handled = any(
            isinstance(outer.node, ast.Try | ast.With | ast.AsyncWith) for outer in raiser.statement.outer()
        )
        return raiser if is_handled else None
