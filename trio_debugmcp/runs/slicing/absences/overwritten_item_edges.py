"""Items that a loop has stored before: a round writes over what an earlier one has given the same key.

#65 found[name] = sum(group)        ['ada']=5; writes over ['ada']=3 of an earlier round (#33)
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import path_of

_MOST_SHOWN = 60


class OverwrittenItemEdges:
    """The notes on lines of one process that have written over their own items."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield that a line has written over what an earlier round of it stored, which it has not read."""
        if not _stores_an_item(execution):
            return
        for written in self._past.executions.effects(execution.row):
            before = self._before(execution, written)
            if before is not None:
                label, text = self._record.label(written.key), self._record.text(before)
                shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
                note = f"writes over {label}={shown} of an earlier round (#{before.owner})"
                yield SliceEdge(0.0, SliceNode(execution.row), note)
                return

    def _before(self, execution: StatementExecution, written: Row) -> Row | None:
        """Return the row of an item before one, if the same statement has stored another value in an earlier round."""
        if written.kind != rows.FIELD or self._record.label(written.key)[:1] != "[":
            return None
        kinds = (rows.FIELD, rows.SEEN, rows.GAP)
        number = self._record.back_any(kinds, (written.key,), written.subject, written.number)
        before = self._record.row(number) if number else None
        if before is None or before.kind != rows.FIELD or self._record.text(before) == self._record.text(written):
            return None
        writer = self._past.executions.at(before.owner)
        is_own = writer is not None and writer.statement is execution.statement and writer.frame == execution.frame
        return before if is_own and before.owner < execution.row else None


def _stores_an_item(execution: StatementExecution) -> bool:
    """Whether a statement in a loop stores an item of what it does not read."""
    node = execution.statement.node
    if not isinstance(node, ast.Assign) or not any(outer.is_loop for outer in execution.statement.outer()):
        return False
    holders = {path_of(target.value) for target in node.targets if isinstance(target, ast.Subscript)} - {None}
    value = {path_of(part) for part in ast.walk(node.value) if isinstance(part, ast.expr)}
    return bool(holders) and holders.isdisjoint(value)
