"""Attributes that code of the program computes: a read of one is a call of its getter.

    path, ending = computed(past, execution)[0]     # `order.gross`, and the RETURN row of Order.gross

Which functions are getters is known from their decorators.
"""

import ast

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import SourceScope


def computed(past: PastProcess, execution: StatementExecution) -> list[tuple[ValuePath, Row]]:
    """Return the attributes that a statement has read by a call of their getter, each with how that ended."""
    paths = [read.path for read in execution.statement.reads if read.path.steps and not read.is_callee]
    found: list[tuple[ValuePath, Row]] = []
    for start in past.executions.calls(execution.row) if not past.executions.has_more_calls(execution.row) else ():
        scope = past.scopes.of_code(start.key)
        name = past.record.code(start.key).name.rpartition(".")[2]
        path = next((path for path in paths if path.steps[-1] == f".{name}"), None)
        if path is None or scope is None or not is_getter(scope):
            continue
        ending = past.executions.outcome(start.number)
        if ending is not None:
            found.append((path, ending))
            paths.remove(path)
    return found


def computed_value(past: PastProcess, execution: StatementExecution, path: ValuePath) -> Row | None:
    """Return the row with which a statement's read of a computed attribute returned; None: it did not read it so."""
    found = (ending for read, ending in computed(past, execution) if read == path and ending.kind == rows.RETURN)
    return next(found, None)


def getter_of(past: PastProcess, name: str) -> str | None:
    """Return the qualified name of a property of this name in recorded code; None: there is none that ran."""
    scopes = (past.scopes.of_code(code) for code in past.scopes.named(name))
    found = (scope.name.replace(".<locals>", "") for scope in scopes if scope is not None and is_getter(scope))
    return next(found, None)


def is_getter(scope: SourceScope) -> bool:
    """Whether a function computes an attribute: `@property`, `@cached_property` and the like."""
    if scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
        return False
    decorators = [ast.unparse(node) for node in getattr(scope.node, "decorator_list", ())]
    return any("property" in decorator for decorator in decorators)
