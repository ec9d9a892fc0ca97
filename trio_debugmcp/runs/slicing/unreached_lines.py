"""Why a line did not run: what decided against it."""

from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.runs.files.process_record import LINE
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_scopes import MOST_FRAMES
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_code import has_code

_MOST_NAMING = 3


class UnreachedLine(NamedTuple):
    """Why a line did not run: what is said of it, and the nodes at which the slice begins."""

    value: str
    starts: list[SliceEdge]


def unreached(past: PastProcess, file: str, line: int) -> UnreachedLine | None:
    """Return what decided against a line; None if it is in no recorded code."""
    statement = _statement(past, file, line)
    if statement is None:
        return None
    frames = past.scopes.frames([statement.scope])
    decided = _decided(past, statement, frames[-1]) if frames else None
    if decided is None:
        return _never_called(past, statement.scope, line)
    more = "or more " if len(frames) >= MOST_FRAMES else ""
    times = f", in the last of {len(frames)} {more}calls" if len(frames) > 1 else ""
    value = f"line {line} did not run{times}: decided at line {decided.statement.first}"
    return UnreachedLine(value, [SliceEdge(0.0, SliceNode(decided.row), f"so line {line} does not run")])


def _decided(past: PastProcess, statement: Statement, frame: int) -> StatementExecution | None:
    """Return the execution that decided against a line in a call: a condition around it, or what left before it."""
    end = past.record.last + 1
    for outer in statement.outer():
        run = past.executions.last_run(outer, frame, end)
        if run is None:
            continue
        inner = [past.executions.last_run(inside, frame, end) for inside in outer.all_inner()]
        later = [inside for inside in inner if inside is not None and (outer.is_loop or inside.row > run.row)]
        left = max(later, key=lambda inside: inside.row, default=run)
        return left if left.statement.branch == statement.branch else run
    last = past.executions.last_line(frame)
    return past.executions.at(last) if last else None


def _never_called(past: PastProcess, scope: SourceScope, line: int) -> UnreachedLine:
    """Return the lines that name a function that was never called: where these ran, or what decided against them."""
    name = scope.name.rpartition(".")[2]
    starts: list[SliceEdge] = []
    for statement in _naming(past, name):
        frames = past.scopes.frames([statement.scope])[-1:]
        last = _last_run(past, statement)
        ran = [SliceEdge(0.0, SliceNode(last.row), f"names {name}")] if last is not None else []
        decided = [_decided(past, statement, frame) for frame in frames] if not ran else []
        note = f"so line {statement.first}, which names {name}, does not run"
        starts += ran + [SliceEdge(0.0, SliceNode(run.row), note) for run in decided if run is not None]
    where = "" if starts else "; no recorded line that names it was found"
    return UnreachedLine(f"line {line} did not run: {scope.name} was never called{where}", starts[-_MOST_NAMING:])


def last_run_of_line(past: PastProcess, file: str, line: int) -> int:
    """Return the LINE row of the last run of a line, in whichever call; 0: it has not run."""
    statement = _statement(past, file, line)
    run = _last_run(past, statement) if statement is not None else None
    return run.row if run is not None else 0


def _last_run(past: PastProcess, statement: Statement) -> StatementExecution | None:
    """Return the last run of a statement in all that is recorded."""
    runs = (
        past.executions.at(row)
        for code in past.scopes.codes_of(statement.scope)
        for site in past.executions.sites(statement, code)
        for row in each_back(past.record, LINE, site, past.record.last + 1)
    )
    return next((run for run in runs if run is not None and run.statement is statement), None)


def _naming(past: PastProcess, name: str) -> Iterator[Statement]:
    """Yield the statements of recorded code that name a function, but its definition."""
    for code in past.scopes.codes():
        scope = past.scopes.of_code(code)
        for statement in scope.statements if scope is not None else ():
            named = any(read.path.name == name or f".{name}" in read.path.steps for read in statement.reads)
            if named and not statement.is_definition:
                yield statement


def _statement(past: PastProcess, file: str, line: int) -> Statement | None:
    scope = past.scopes.at(file, line)
    statement = scope.statement(line) if scope is not None else None
    return statement if statement is not None and has_code(statement) else None
