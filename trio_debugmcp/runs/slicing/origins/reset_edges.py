"""What was not set anew: a value of an earlier round that a later one still has."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import is_empty_container


class ResetEdges:
    """The edges to what begins anew in a loop of one process, and what does not."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield where names that a statement reads were set before a loop, if they have a value of another round."""
        loops = [outer for outer in execution.statement.outer() if outer.is_loop]
        if not loops:
            return
        for read in execution.statement.reads:
            value = self._past.values.read(execution, read) if not read.path.steps and not read.is_callee else None
            writer = self._past.executions.at(value.owner) if value is not None and value.owner else None
            if writer is None or writer.frame != execution.frame:
                continue
            yield from self._of_name(execution, read.path.name, writer, loops)

    def _of_name(
        self, execution: StatementExecution, name: str, writer: StatementExecution, loops: list[Statement]
    ) -> Iterator[SliceEdge]:
        begun = self._past.executions.last_run(loops[-1], execution.frame, execution.row)
        inner = self._past.executions.last_run(loops[0], execution.frame, execution.row)
        first = self._beginning(execution, name, loops[-1])
        if begun is None or inner is None or first is None:
            return
        if len(loops) > 1 and name in execution.statement.names and writer.row > first.row:
            if self._is_set_in_round(name, begun, loops[-1], execution.row):
                return
            yield SliceEdge(cost.NOT_ANEW, SliceNode(first.row), f"not set anew in a round of line {loops[-1].first}")
        elif first.row < writer.row < inner.row and writer.statement.is_constant and not _is_alike(writer, first):
            for other in self._anew(loops[0], name):
                run = self._past.executions.last_run(other, execution.frame, execution.row)
                if run is not None and run.row > writer.row and not _is_beside(other, writer.statement):
                    yield SliceEdge(cost.NOT_ANEW, SliceNode(run.row), f"sets {_names(other)} anew, and not {name}")

    def _beginning(self, execution: StatementExecution, name: str, loop: Statement) -> StatementExecution | None:
        """Return the run of the statement before a loop that has set a name to something to begin with."""
        for before in reversed(loop.before):
            if name in before.names:
                run = self._past.executions.last_run(before, execution.frame, execution.row)
                return run if _begins(before) else None
        return None

    def _is_set_in_round(self, name: str, begun: StatementExecution, loop: Statement, before: int) -> bool:
        """Whether a name was given a value of its own in the round of a loop that began last."""
        for inner in loop.all_inner():
            is_own = name in inner.names and not any(read.path.name == name for read in inner.reads)
            run = self._past.executions.last_run(inner, begun.frame, before) if is_own else None
            if run is not None and run.row > begun.row:
                return True
        return False

    def _anew(self, loop: Statement, name: str) -> list[Statement]:
        """Return the statements in a loop that set again what was set beside a name before it."""
        beside = {other for before in loop.before if _begins(before) for other in before.names} - {name}
        return [
            inner for inner in loop.all_inner() if _begins(inner) and inner.names & beside and name not in inner.names
        ]


def _begins(statement: Statement) -> bool:
    """Whether a statement sets names to a constant or an empty container."""
    value = getattr(statement.node, "value", None)
    is_assignment = isinstance(statement.node, ast.Assign | ast.AnnAssign) and bool(statement.names)
    return is_assignment and value is not None and (isinstance(value, ast.Constant) or is_empty_container(value))


def _is_alike(one: StatementExecution, other: StatementExecution) -> bool:
    """Whether two statements set what they set to the same: then it was set anew."""
    values = [getattr(run.statement.node, "value", None) for run in (one, other)]
    return all(value is not None for value in values) and len({ast.dump(value) for value in values if value}) == 1


def _is_beside(one: Statement, other: Statement) -> bool:
    """Whether two statements stand in one block: one runs where the other does."""
    return one.parent is other.parent and one.branch == other.branch


def _names(statement: Statement) -> str:
    return ", ".join(sorted(statement.names))
