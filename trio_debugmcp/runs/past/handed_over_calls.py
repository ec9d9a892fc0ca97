"""Calls that a thread, a pool or an event loop makes: which line has handed the function over, and with what.

    handed = HandedOverCalls(past)
    handed.of_start(start)              # of `pool.submit(work, 3, factor)`: its line, and {"n": 3, "factor": factor}
    handed.starts_of(execution)         # the calls that were made of what a line has handed over

A line is named only where what it has handed over are the very values that the call began with, and no other line fits.
"""

import ast
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.source.read_paths import path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

_FORWARD = frozenset({
    "submit", "to_thread", "run_in_executor", "run_sync", "start_soon", "start", "run",
    "call_soon", "call_soon_threadsafe", "call_later", "call_at",
})  # fmt: skip
"""What calls a function with the arguments behind it."""

_WITH_KEYWORDS = frozenset({"submit", "to_thread"})

_BY_TUPLE = frozenset({"apply_async", "apply", "Timer", "start_new_thread"})
"""What calls a function with a tuple of arguments, and perhaps a dictionary."""

_MOST_RUNS = 200
"""Of the lines that hand a function over, looked at for one call of it."""


class HandedOverCall(NamedTuple):
    """The line that handed a function over, and the expressions that its parameters were given."""

    execution: StatementExecution
    arguments: dict[str, ast.expr]


class HandedOverCalls:
    """The handed over calls of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._known: dict[int, HandedOverCall | None] = {}

    def of_start(self, start: Row) -> HandedOverCall | None:
        """Return the line that handed over what a START row began; None: a recorded line called it, or not known."""
        if start.number not in self._known:
            self._known[start.number] = self._found(start)
        return self._known[start.number]

    def starts_of(self, execution: StatementExecution) -> list[Row]:
        """Return the START rows of the calls that were made of what a line has handed over."""
        names = {name for call in execution.statement.calls for name in _names_in(call)}
        starts: list[Row] = []
        for code in dict.fromkeys(code for name in sorted(names) for code in self._past.scopes.named(name)):
            scope = self._past.scopes.of_code(code)
            for frame in self._past.scopes.frames([scope]) if scope is not None else ():
                start = self._record.row(self._record.frame(frame).start)
                handed = self.of_start(start) if start.number > execution.row else None
                if handed is not None and handed.execution.row == execution.row and start not in starts:
                    starts.append(start)
        return starts

    def _found(self, start: Row) -> HandedOverCall | None:
        scope = self._past.scopes.of_code(start.key)
        node = scope.node if scope is not None else None
        if scope is None or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        if start.owner and (isinstance(node, ast.FunctionDef) or self._is_called(start, node.name)):
            return None
        fitting: dict[int, tuple[HandedOverCall, tuple[int, ...]]] = {}
        for statement, arguments in self._handing(scope, node):
            runs = list(islice(self._runs_back(statement, start.number), _MOST_RUNS + 1))
            for run in runs[:_MOST_RUNS]:
                origin = self._origin(run, arguments, start)
                if origin is not None:
                    if run.row in fitting:  # it hands over two with the same values
                        return None
                    fitting[run.row] = HandedOverCall(run, arguments), origin
            if len(runs) > _MOST_RUNS:
                return None
        if len({(id(handed.arguments), origin) for handed, origin in fitting.values()}) != 1:
            return None
        row = max(fitting)
        return fitting[row][0] if len(fitting) == 1 or 0 not in fitting[row][1] else None

    def _is_called(self, start: Row, name: str) -> bool:
        caller = self._past.executions.at(start.owner)
        return caller is None or any(called(call) == name for call in caller.statement.calls)

    def _handing(
        self, scope: SourceScope, node: "ast.FunctionDef | ast.AsyncFunctionDef"
    ) -> Iterator[tuple[Statement, dict[str, ast.expr]]]:
        """Yield the statements that hand a function over, with what they give to its parameters."""
        for statement, _, call in self._past.mentions.calls_with({node.name}):
            given = _given_behind(call, node.name)
            if given is not None:
                yield statement, _by_name(scope, node, *given)
        if isinstance(node, ast.AsyncFunctionDef):
            for statement, call in self._past.mentions.calling(node.name):
                yield statement, _by_name(scope, node, call.args, call.keywords)

    def _runs_back(self, statement: Statement, before: int) -> Iterator[StatementExecution]:
        codes = self._past.scopes.codes_of(statement.scope)
        sites = [site for code in codes for site in self._past.executions.sites(statement, code)]
        for row in merge(*(each_back(self._record, rows.LINE, site, before) for site in sites), reverse=True):
            run = self._past.executions.at(row)
            if run is not None and run.statement is statement:
                yield run

    def _origin(self, run: StatementExecution, arguments: dict[str, ast.expr], start: Row) -> tuple[int, ...] | None:
        """Return the rows that gave the arguments their values, 0 if not known; None: a parameter had another value."""
        origin = []
        for name, expression in arguments.items():
            had, path = self._past.values.parameter(start, name), path_of(expression)
            if had is None:
                continue
            if isinstance(expression, ast.Constant):
                if isinstance(expression.value, int | None) and repr(expression.value) != had.text:
                    return None
                origin.append(run.statement.first)
                continue
            value = self._past.values.value(run, path) if path is not None else None
            if value is not None and (value.object or value.text) != (had.object or had.text):
                return None
            origin.append(value.row if value is not None else 0)
        return tuple(origin)


def _names_in(call: ast.Call) -> Iterator[str]:
    """Yield the names of what a call is given, and of itself: of a function or a coroutine."""
    yield called(call)
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        name = _last_name(argument)
        if name:
            yield name


def _last_name(expression: ast.expr) -> str:
    path = path_of(expression)
    return "" if path is None else str(path.steps[-1])[1:] if path.steps else path.name


def _given_behind(call: ast.Call, name: str) -> tuple[list[ast.expr], list[ast.keyword]] | None:
    """Return what a call lets a function be called with that it is given; None: it is not known what it does."""
    place = next((place for place, argument in enumerate(call.args) if _last_name(argument) == name), -1)
    if place >= 0 and called(call) in _FORWARD:
        return call.args[place + 1 :], call.keywords if called(call) in _WITH_KEYWORDS else []
    parts = {keyword.arg: keyword.value for keyword in call.keywords}
    if place >= 0 and called(call) in _BY_TUPLE:
        behind = call.args[place + 1 :]
        parts |= dict(zip(("args", "kwargs"), behind, strict=False))
    elif _last_name(parts.get("target", ast.Constant(None))) != name:
        return None
    arguments, keywords = parts.get("args", ast.Tuple([])), parts.get("kwargs", parts.get("kwds", ast.Dict([], [])))
    if not isinstance(arguments, ast.Tuple | ast.List) or not isinstance(keywords, ast.Dict):
        return None
    named = [
        ast.keyword(key.value, value)
        for key, value in zip(keywords.keys, keywords.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    ]
    return arguments.elts, named


def _by_name(
    scope: SourceScope,
    node: "ast.FunctionDef | ast.AsyncFunctionDef",
    arguments: list[ast.expr],
    keywords: list[ast.keyword],
) -> dict[str, ast.expr]:
    """Return what parameters are given, up to the first argument that stands for several."""
    names = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    is_method = scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
    static = any(getattr(decorator, "id", "") == "staticmethod" for decorator in node.decorator_list)
    given: dict[str, ast.expr] = {}
    for name, argument in zip(names[is_method and not static :], arguments, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given[name] = argument
    return given | {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
