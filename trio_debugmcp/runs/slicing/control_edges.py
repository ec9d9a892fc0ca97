"""Why a statement ran at all: conditions, loops, handlers, what let it pass before, and who called its function."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement

_TRANSPARENT = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
"""Statements whose blocks run without a decision."""

_ENDS = (ast.Return, ast.Raise)

LET_PASS = "let it pass"

WROTE_THE_CODE = "executed this code's text"

_WAITING = ("wait", "wait_for", "sleep")
"""Names of calls that wait, as of a condition of threads."""

_FAR_GUARDS = 3
"""So many of the guards of one block are looked at: the last ones."""


class ControlEdges:
    """The edges by control of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_run(self, execution: StatementExecution, *, is_decisive: bool) -> Iterator[SliceEdge]:
        """Yield what decided that a statement runs; `is_decisive`: that is what is asked, and near."""
        decision = self._decision(execution.statement)
        if isinstance(execution.statement.node, ast.ExceptHandler):
            yield from self._caught(execution)
        elif decision is not None:
            run = self._past.executions.last_run(decision, execution.frame, execution.row)
            if run is not None:
                near = cost.CONDITION_OF_CONSTANT if is_decisive else _nearness(decision, execution.statement)
                yield SliceEdge(near, SliceNode(run.row))
        else:
            yield from self._called(execution)
        yield from self._compiled(execution)
        yield from self._guards(execution, is_decisive)

    def _decision(self, statement: Statement) -> Statement | None:
        """Return the innermost statement that has decided on the block that a statement is in."""
        for outer in statement.outer():
            if isinstance(outer.node, ast.ExceptHandler):
                return outer
            if not isinstance(outer.node, _TRANSPARENT):
                return outer
        return None

    def _called(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        caller = self._past.executions.caller(execution.frame)
        if caller is not None and caller.scope.is_function:
            yield SliceEdge(cost.CALLER, SliceNode(caller.row, aim="run"))

    def _compiled(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the line that had the text of generated code compiled or executed, which has read that text."""
        row = self._record.code(self._record.frame(execution.frame).code).compiled
        if row > 0:
            yield SliceEdge(cost.COMPILED, SliceNode(row), note=WROTE_THE_CODE)

    # --- Handlers -----------------------------------------------------------------------------------------------------

    def _caught(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the place of the raise that a handler caught."""
        number = self._record.back_of(frozenset({rows.RAISE}), execution.frame, execution.row)
        if number:
            yield from self.of_exception(number)

    def of_exception(self, raised: int) -> Iterator[SliceEdge]:
        """Yield the line that raised an exception first, and the one in this frame that it passed."""
        row = self._record.row(raised)
        first = self._past.values.first_raise(row.object) or raised
        origin = self._record.row(first)
        if origin.owner:
            yield SliceEdge(cost.RAISED, SliceNode(origin.owner))
        if row.owner and row.owner != origin.owner:
            yield SliceEdge(cost.CALLER, SliceNode(row.owner))

    # --- Guards -------------------------------------------------------------------------------------------------------

    def _guards(self, execution: StatementExecution, is_decisive: bool) -> Iterator[SliceEdge]:
        """Yield the conditions before a statement that would have left its block, and let it pass."""
        price = cost.GUARD_OF_CONSTANT if is_decisive else cost.GUARD
        statement: Statement | None = execution.statement
        is_near = True
        while statement is not None:
            for guard in [before for before in statement.before if self._may_leave(before)][-_FAR_GUARDS:]:
                run = self._past.executions.last_run(guard, execution.frame, execution.row)
                if guard.is_loop:
                    yield from self._inner_guards(guard, execution, price + cost.STEP)
                    yield from self._breaks(guard, execution, run, price)
                if run is not None and not (not guard.is_loop and self._past.blocks.entered(run)):
                    near = min(price, _nearness_of_guard(guard, execution.statement))
                    yield SliceEdge(near if is_near else cost.GUARD, SliceNode(run.row), note=LET_PASS)
            is_near = is_near and not (statement.parent is not None and statement.parent.is_loop)
            statement = statement.parent

    def _inner_guards(self, loop: Statement, execution: StatementExecution, price: float) -> Iterator[SliceEdge]:
        """Yield the conditions in a loop that would have left the function, and did not."""
        for inner in loop.all_inner():
            leaves = [leaf for leaf in inner.all_inner() if leaf.leaves] if isinstance(inner.node, ast.If) else []
            run = self._past.executions.last_run(inner, execution.frame, execution.row) if leaves else None
            if run is None:
                continue
            if self._past.blocks.entered(run) is False:
                yield SliceEdge(price, SliceNode(run.row), note=LET_PASS)
            elif not any(isinstance(leaf.node, _ENDS) for leaf in leaves):
                yield SliceEdge(price, SliceNode(run.row))

    def _breaks(
        self, loop: Statement, execution: StatementExecution, round_: StatementExecution | None, price: float
    ) -> Iterator[SliceEdge]:
        """Yield the `break` that has left a loop in its last round, if no condition has led to it."""
        for inner in loop.all_inner():
            around = next((outer for outer in inner.outer() if outer.is_loop or isinstance(outer.node, ast.If)), None)
            if not isinstance(inner.node, ast.Break) or around is not loop:
                continue
            run = self._past.executions.last_run(inner, execution.frame, execution.row)
            if run is not None and round_ is not None and run.row > round_.row:
                yield SliceEdge(price, SliceNode(run.row, aim="run"), "left the loop")

    def _may_leave(self, statement: Statement) -> bool:
        """Whether a condition or a loop has a block that leaves, by return, raise, continue or break, or that waits."""
        if _holds_up(statement):
            return True
        if isinstance(statement.node, ast.If):
            return any(inner.leaves for inner in statement.all_inner()) or (
                len(statement.nodes) > 1 and statement.leaves
            )
        return statement.is_loop and any(
            isinstance(inner.node, ast.Return | ast.Raise) for inner in statement.all_inner()
        )


def _nearness_of_guard(guard: Statement, statement: Statement) -> float:
    """Return the cost of the edge to a condition before a statement that has let it pass."""
    if _holds_up(guard):
        return cost.WAIT_ENDED
    return cost.GUARD_OF_ITEM if statement.mutates and _leaves_out(guard) else cost.GUARD


def _leaves_out(guard: Statement) -> bool:
    """Whether a condition passes over what comes after it: one that raises complains of it."""
    leaves = [inner for inner in guard.all_inner() if inner.leaves]
    return not guard.is_loop and any(not isinstance(inner.nodes[-1], ast.Raise) for inner in leaves)


def _nearness(decision: Statement, statement: Statement) -> float:
    """Return the cost of the edge to what has decided that a statement runs."""
    if isinstance(statement.node, ast.Return):  # another one would have given another value
        return cost.CONDITION_OF_RETURN
    if decision.is_loop:
        return cost.CONDITION_OF_LOOP
    return cost.CONDITION_OF_ITEM if statement.mutates else cost.CONDITION


def _holds_up(statement: Statement) -> bool:
    """Whether a loop has what follows wait for its condition: `while self.active > limit: await sleep(0)`."""
    node = statement.node
    if not isinstance(node, ast.While) or isinstance(node.test, ast.Constant):
        return False
    inner = [part for line in node.body for part in ast.walk(line)]
    return any(
        isinstance(part, ast.Await) or (isinstance(part, ast.Call) and called(part) in _WAITING) for part in inner
    )
