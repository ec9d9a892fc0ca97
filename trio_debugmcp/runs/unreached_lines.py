"""Why a line did not run: what decided against it."""

from typing import NamedTuple

from trio_debugmcp.runs.executions import StatementExecution
from trio_debugmcp.runs.past_process import PastProcess
from trio_debugmcp.runs.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source_scopes import SourceScope, Statement


class UnreachedLine(NamedTuple):
    """Why a line did not run: what is said of it, and the nodes at which the slice begins."""

    value: str
    starts: list[SliceEdge]


def unreached(past: PastProcess, file: str, line: int) -> UnreachedLine | None:
    """Return what decided against a line; None if it is in no recorded code."""
    for scope, statement in _statements(past, file, line):
        frames = past.scopes.frames([scope])
        if not frames:
            continue
        decided = _decided(past, statement, frames[-1])
        if decided is None:
            break
        times = f", in the last of {len(frames)} calls" if len(frames) > 1 else ""
        value = f"line {line} did not run{times}: decided at line {decided.statement.first}"
        return UnreachedLine(value, [SliceEdge(0.0, SliceNode(decided.row), f"so line {line} does not run")])
    return _never_called(past, file, line)


def _decided(past: PastProcess, statement: Statement, frame: int) -> StatementExecution | None:
    """Return the last run of the innermost statement around, else before, a line, in a call that did not reach it."""
    end = past.record.last + 1
    for outer in statement.outer():
        run = past.executions.last_run(outer, frame, end)
        if run is not None:
            return run
    last = past.executions.last_line(frame)
    return past.executions.at(last) if last else None


def _never_called(past: PastProcess, file: str, line: int) -> UnreachedLine | None:
    """Return the lines that name a function that was never called, where these ran."""
    scope = past.scopes.at(file, line)
    if scope is None or scope.parent is None:
        return None
    name = scope.name.rpartition(".")[2]
    starts = [
        SliceEdge(0.0, SliceNode(run), f"names {name}")
        for run in _runs_naming(past, name)
        if not (execution := past.executions.at(run)) or not execution.statement.is_definition
    ]
    where = "" if starts else "; no line that ran names it"
    return UnreachedLine(f"line {line} did not run: {scope.name} was never called{where}", starts)


def runs_of_line(past: PastProcess, file: str, line: int) -> list[int]:
    """Return the LINE row of the last run of a line in each frame that ran it, in the order of time."""
    end = past.record.last + 1
    runs = [
        past.executions.last_run(statement, frame, end)
        for scope, statement in _statements(past, file, line)
        for frame in past.scopes.frames([scope])
    ]
    return sorted(run.row for run in runs if run is not None)


def _runs_naming(past: PastProcess, name: str) -> list[int]:
    """Return the last runs of some statements that name a function."""
    found = []
    for code in past.scopes.codes():
        scope = past.scopes.of_code(code)
        for statement in scope.statements if scope is not None else ():
            if any(read.path.name == name or f".{name}" in read.path.steps for read in statement.reads):
                frames = past.scopes.frames([statement.scope])[-1:]
                runs = [past.executions.last_run(statement, frame, past.record.last + 1) for frame in frames]
                found += [run.row for run in runs if run is not None]
    return found[-3:]


def _statements(past: PastProcess, file: str, line: int) -> list[tuple[SourceScope, Statement]]:
    scope = past.scopes.at(file, line)
    statement = scope.statement(line) if scope is not None else None
    return [(scope, statement)] if scope is not None and statement is not None else []
