"""What an answer says of calls into libraries: how a line's value came about there is not recorded.

    unrecorded_calls(past, rows)
    # 'not recorded: dateutil.parser.isoparse (called at #12); debug_launch with record={"include": ["dateutil"]} …'

The record has the first call of each function of a library that a recorded line made. Another line calls it if it has
the same words in the same file, or calls a method of that name on an object of that class.
"""

import ast
import json
from collections.abc import Iterable, Iterator

from trio_debugmcp.runs.files.library_calls import LibraryCall
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.recorded_values import type_name
from trio_debugmcp.runs.slicing.run_failures import came_of_unrecorded
from trio_debugmcp.runs.source.read_paths import path_of

_MOST_NAMED = 3

_MOST_TEXT = 80
"""Of a function with its module."""

_OF_RUNNERS = frozenset({"_pytest", "pluggy", "pytest"})
"""Tests call them in assertions, of which an answer has the values already."""


def unrecorded_calls(past: PastProcess, rows: Iterable[int]) -> str:
    """Return a sentence about the calls of libraries that lines of an answer made; empty: they made none.

    Args:
        past: the process.
        rows: the LINE rows of the answer, of which the last ones are named first.
    """
    if not past.record.library_calls:
        return ""
    spelled = _spelled(past)
    named: dict[str, int] = {}
    packages: list[str] = []
    for row in sorted(rows, reverse=True):
        execution = past.executions.at(row)
        for call in _of(past, execution, spelled) if execution is not None else ():
            named.setdefault(f"{call.module}.{call.name.replace('.<locals>', '')}", row)
            packages += [] if call.package in packages else [call.package]
    if not named:
        return ""
    said = [f"{_cut(name)} (called at #{row})" for name, row in list(named.items())[:_MOST_NAMED]]
    left = len(named) - len(said)
    more = f" and {left} more" if left else ""
    include = json.dumps({"include": packages[:_MOST_NAMED]})
    return (
        f"library code is not recorded: {', '.join(said)}{more}. debug_launch with record={include} records it too, "
        "which makes the run slower and its record larger"
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _of(
    past: PastProcess, execution: StatementExecution, spelled: dict[tuple[str, str], LibraryCall]
) -> Iterator[LibraryCall]:
    """Yield the functions of libraries that a line has called for what they give, change or raise."""
    statement = execution.statement
    if statement.is_definition or isinstance(statement.node, ast.Import | ast.ImportFrom):
        return
    has_failed = past.executions.raised(execution.row) is not None and came_of_unrecorded(past, execution)
    is_unused = isinstance(statement.node, ast.Expr) and not has_failed
    for known in _all_of(past, execution, spelled):
        is_method = "." in known.name
        if known.package not in _OF_RUNNERS and (is_method or not is_unused):
            yield known


def _all_of(
    past: PastProcess, execution: StatementExecution, spelled: dict[tuple[str, str], LibraryCall]
) -> Iterator[LibraryCall]:
    statement = execution.statement
    for known in past.record.library_calls:
        if known.code == execution.code and statement.first <= known.line <= statement.last:
            yield known
    file = past.record.code(execution.code).file
    recorded = {past.record.code(start.key).name.rpartition(".")[2] for start in past.executions.calls(execution.row)}
    for call in statement.calls:
        if called(call) not in recorded:
            same = spelled.get((file, ast.unparse(call.func))) or _method(past, execution, call)
            if same is not None:
                yield same


def _method(past: PastProcess, execution: StatementExecution, call: ast.Call) -> LibraryCall | None:
    """Return the method of a class of a library that a call in a line is of."""
    path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
    held = past.values.value(execution, path) if path is not None else None
    if held is None or not held.text:
        return None
    name = f"{type_name(held.text).rpartition('.')[2]}.{called(call)}"
    return next((known for known in past.record.library_calls if known.name == name), None)


def _spelled(past: PastProcess) -> dict[tuple[str, str], LibraryCall]:
    """Return the functions by the file that called them first, and how it is written there."""
    found: dict[tuple[str, str], LibraryCall] = {}
    for known in past.record.library_calls:
        scope = past.scopes.of_code(known.code)
        statement = scope.statement(known.line) if scope is not None else None
        for call in statement.calls if statement is not None else ():
            if called(call) in known.names:
                found[past.record.code(known.code).file, ast.unparse(call.func)] = known
    return found
