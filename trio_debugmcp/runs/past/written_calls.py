"""Calls by their text, as one asks about them: `cart.total()`, in the lines that have made them.

    call = call_in(ast.parse("cart.total() + 1", mode="eval").body)
    execution, node, ending = next(calls_back(past, call, 913, 1_000))

Of `type(x)` this is not one: it is a step of a path.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, called
from trio_debugmcp.runs.source.read_paths import path_of


def call_in(expression: ast.expr) -> ast.Call | None:
    """Return the outermost call that is written in an expression; None: there is none."""
    return next((node for node in ast.walk(expression) if isinstance(node, ast.Call) and path_of(node) is None), None)


def asked_instead(past: PastProcess, call: ast.Call) -> str:
    """Return what can be asked where a call is not in the record: of a builtin or library only what it was given is."""
    name = called(call)
    if past.scopes.named(name):
        return f"history_get(function='{name}') has the calls of it, and `at` asks why about one"
    given = [*call.args, *(keyword.value for keyword in call.keywords), getattr(call.func, "value", call.func)]
    paths = [str(path) for node in given if (path := path_of(node)) is not None and node is not call.func]
    what = f"what it was given, such as {paths[0]}" if paths else "what came of it"
    return f"{name or 'it'} is not recorded code, so ask about {what}"


def calls_back(
    past: PastProcess, call: ast.Call, begin: int, most: int
) -> Iterator[tuple[StatementExecution, ast.Call, Row]]:
    """Yield the lines from a row backward that have made such a call of recorded code, with its node and its end."""
    text = ast.dump(call)
    for number in range(begin, max(past.record.first, begin - most + 1) - 1, -1):
        execution = past.executions.at(number) if past.record.row(number).kind == rows.LINE else None
        nodes = [node for node in execution.statement.calls if ast.dump(node) == text] if execution is not None else []
        for start in past.executions.calls(number) if nodes else ():
            node = call_of(past, execution, start) if execution is not None else None
            ending = past.executions.outcome(start.number)
            if execution is not None and node in nodes and node is not None and ending is not None:
                yield execution, node, ending
