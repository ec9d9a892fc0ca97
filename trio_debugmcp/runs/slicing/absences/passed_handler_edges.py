"""Handlers that an exception has passed: `except ValueError or KeyError` does not catch a `KeyError`."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_MOST_HANDLERS = 2
"""Of one exception: those that it has come to first."""

_MOST_LOOKED_AT = 20
"""Handlers of one `try`: a bound, not a choice."""

_RAISES = frozenset({rows.RAISE})


def passed_by(past: PastProcess, raised: int) -> list[SliceEdge]:
    """Return the edges to the handlers that have not caught what was raised first at a row, wherever it has passed."""
    found, number, exception = list[SliceEdge](), raised, past.record.row(raised).object
    while number and exception and len(found) < _MOST_HANDLERS:
        owner = past.record.row(number).owner
        execution = past.executions.at(owner) if owner else None
        found += passed_handlers(past, execution) if execution is not None else []
        number = past.record.forth_of(_RAISES, exception, number, by_value=True)
    return found[:_MOST_HANDLERS]


def passed_handlers(past: PastProcess, execution: StatementExecution) -> Iterator[SliceEdge]:
    """Yield the edges to the handlers that have not caught what a statement in their `try` has raised."""
    if past.executions.raised(execution.row) is None:
        return
    row, around = execution.row, list(execution.statement.outer())
    for _ in range(_MOST_LOOKED_AT):
        row = past.executions.ended(row)
        handler = past.executions.at(row) if row <= past.record.last else None
        node = handler.statement.node if handler is not None else None
        if handler is None or not isinstance(node, ast.ExceptHandler) or node.type is None:
            return
        if handler.statement.parent in around and past.blocks.entered(handler) is False:  # what it would catch matters
            yield SliceEdge(cost.PASSED_HANDLER, SliceNode(handler.row, focus=(node.type,)))
