"""The exception that was handled when another one was raised: `raise ParseError(line, col) from error`.

Why the first one was raised is why the second one was; what the second one was made of is seldom asked about.
"""

import ast

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess

_RAISES = frozenset({rows.RAISE})


def line_of_handled(past: PastProcess, execution: StatementExecution) -> int:
    """Return the line that raised what was handled when a statement raised another exception; 0: nothing was."""
    statement = execution.statement
    if not isinstance(statement.node, ast.Raise) or statement.node.exc is None:
        return 0
    handler = next((outer for outer in statement.outer() if isinstance(outer.node, ast.ExceptHandler)), None)
    run = past.executions.last_run(handler, execution.frame, execution.row) if handler is not None else None
    caught = past.record.back_of(_RAISES, execution.frame, run.row) if run is not None else 0
    first = past.values.first_raise(past.record.row(caught).object) if caught else 0
    return past.record.row(first).owner if first else 0
