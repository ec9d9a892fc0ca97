"""Loops that ended: what ended the one in which a value was made, or a container changed, that is used after it."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import CONTENT, RecordedValue
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement

ENDED_THE_LOOP = "ended the loop"

LEFT_THE_LOOP = "its exception left the loop"

_MOST_CALLERS = 3

_RAISES, _LINES = frozenset({rows.RAISE}), frozenset({rows.LINE})


class LoopEndEdges:
    """The edges to the ends of loops of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_loop(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what ended the loop in which a value was made that is used after it."""
        writer = self._past.executions.at(value.owner) if value.owner else None
        if writer is not None and writer.frame == execution.frame:
            yield from self._of_loops_around(writer, execution)

    def of_last_change(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield what ended the loop in which a container was changed last."""
        number = self._record.back_of(CONTENT, value.object, execution.row)
        owner = self._record.row(number).owner if number else 0
        changed = self._past.executions.at(owner) if owner else None
        if changed is None or changed.row >= execution.row:
            return
        yield from self._of_loops_around(changed, execution)
        caller = self._past.executions.caller(changed.frame)
        for _ in range(_MOST_CALLERS):  # the loop that has called what changed it
            if caller is None or caller.frame == execution.frame or not caller.scope.is_function:
                return
            yield from self._of_loops_around(caller, execution, is_by_break=True)
            caller = self._past.executions.caller(caller.frame)

    def _of_loops_around(
        self, writer: StatementExecution, use: StatementExecution, *, is_by_break: bool = False
    ) -> Iterator[SliceEdge]:
        """Yield what ended the loops around one statement that are not around its use.

        `is_by_break`: only those that were left by that, not by an exception or as there was nothing more.
        """
        above = set(map(id, use.statement.outer())) if use.frame == writer.frame else set()
        for loop in [writer.statement, *writer.statement.outer()]:
            if not loop.is_loop or id(loop) in above:
                continue
            last = self._last_of(loop, writer.frame, use.row)
            leaver = self._left_by(loop, last, use.row) if last is not None else None
            if leaver is not None and not is_by_break:
                yield SliceEdge(cost.LOOP_END, SliceNode(leaver.row), LEFT_THE_LOOP)
            elif leaver is None and last is not None and last.row != writer.row and self._has_ended(last):
                is_early = isinstance(last.statement.nodes[-1], ast.Break | ast.Return)
                if is_by_break and not is_early:
                    continue
                yield from self._of_exhausted(last)
                price = cost.LOOP_END if is_early else 2 * cost.LOOP_END
                yield SliceEdge(price, SliceNode(self._decision_on(last).row), ENDED_THE_LOOP)

    def _left_by(self, loop: Statement, last: StatementExecution, before: int) -> StatementExecution | None:
        """Return the line in a loop whose exception has left it, as something around the loop has caught that."""
        number = self._record.back_of(_RAISES, last.frame, before)
        raiser = self._past.executions.at(self._record.row(number).owner) if number > last.row else None
        if raiser is None or loop not in [*raiser.statement.outer()]:
            return None
        following = self._past.executions.at(self._record.forth_of(_LINES, last.frame, number))
        is_inside = following is None or loop in [following.statement, *following.statement.outer()]
        return None if is_inside else raiser

    def _has_ended(self, last: StatementExecution) -> bool:
        """Whether the last run of what may end a loop has done that: a header that has not led into it again."""
        return not last.statement.is_loop or self._past.blocks.entered(last) is False

    def _of_exhausted(self, header: StatementExecution) -> Iterator[SliceEdge]:
        """Yield what ended the generator whose items a loop went through."""
        for start in self._past.executions.calls(header.row):
            ending = self._past.executions.outcome(start.number)
            ended = self._past.executions.at(ending.owner) if ending is not None and ending.owner else None
            if ending is not None and ended is not None and ending.kind == rows.RETURN and start.kind == rows.RESUME:
                yield SliceEdge(cost.LOOP_END, SliceNode(self._decision_on(ended).row), "ended the items")

    def _decision_on(self, run: StatementExecution) -> StatementExecution:
        """Return the condition under which a loop was left: `break` alone tells nothing; else the run itself."""
        above = run.statement.parent
        if isinstance(run.statement.node, ast.Break) and above is not None and isinstance(above.node, ast.If):
            return self._past.executions.last_run(above, run.frame, run.row) or run
        return run

    def _last_of(self, loop: Statement, frame: int, before: int) -> StatementExecution | None:
        """Return the last run of what may end a loop before a row."""
        inside = [loop, *(inner for inner in loop.all_inner() if isinstance(inner.nodes[-1], ast.Break))]
        runs = [self._past.executions.last_run(statement, frame, before) for statement in inside]
        ending = [run for run in runs if run is not None and not self._has_let_pass(run)]
        return max(ending, key=lambda run: run.row, default=None)

    def _has_let_pass(self, run: StatementExecution) -> bool:
        """Whether it is `if done: break` on one line, and has not left the loop."""
        return isinstance(run.statement.node, ast.If) and self._past.blocks.entered(run) is not True
