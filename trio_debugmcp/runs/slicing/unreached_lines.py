"""Why a line did not run, in all of a run or in one call: what decided against it."""

from collections.abc import Iterator
from typing import NamedTuple

from trio_debugmcp.runs.files.process_record import LINE, SEEN_NAME, WRITE
from trio_debugmcp.runs.files.row_search import each_back
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_scopes import MOST_FRAMES
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_code import has_code

_LINES = frozenset((LINE,))

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


class _CallAtHand(NamedTuple):
    """A call of a line's function, and what of it is asked about: the rows from one up to another."""

    frame: int
    begin: int
    end: int
    is_round: bool


def run_in_call(past: PastProcess, file: str, line: int, at: int) -> int | UnreachedLine | None:
    """Return the last run of a line in the call that a row belongs to, or what decided against it there.

    Inside of a loop that is around the line it is the round that the row belongs to. If the row is of another function,
    it is the call of the line's function that it made, or in which it ran; None: there is none.
    """
    statement = _statement(past, file, line)
    call = None if statement is None else _call_at_hand(past, statement, at)
    if statement is None or call is None:
        return None
    last = past.executions.last_run(statement, call.frame, call.end)
    if last is not None and last.row >= call.begin:
        return last.row
    decided = _decided(past, statement, call.frame, call.begin, call.end)
    where = f"in the {'round' if call.is_round else 'call'} of #{at}"
    if decided is None:
        return UnreachedLine(f"line {line} did not run {where}", [])
    value = f"line {line} did not run {where}: decided at line {decided.statement.first}"
    return UnreachedLine(value, [SliceEdge(0.0, SliceNode(decided.row), f"so line {line} does not run")])


def _call_at_hand(past: PastProcess, statement: Statement, at: int) -> _CallAtHand | None:
    record, codes = past.record, {*past.scopes.codes_of(statement.scope)}
    row = record.row(at)
    frame = row.subject if row.kind <= WRITE or row.kind == SEEN_NAME else record.row(row.owner or at).subject
    if record.frame(frame).code not in codes and row.kind == LINE:
        called = [start.subject for start in past.executions.calls(at) if start.key in codes]
        frame, at = (called[-1], 0) if called else (frame, at)
    while record.frame(frame).code not in codes:
        caller = past.executions.caller(frame)
        if caller is None:
            return None
        frame, at = caller.frame, caller.row
    line = record.back_of(_LINES, frame, at + 1) if at else 0
    return _round_at_hand(past, statement, frame, line) or _CallAtHand(frame, 0, record.last + 1, is_round=False)


def _round_at_hand(past: PastProcess, statement: Statement, frame: int, line: int) -> _CallAtHand | None:
    """Return the round, of the innermost loop around both, that a line of the same call is in; None: of no loop."""
    execution = past.executions.at(line) if line else None
    around = [] if execution is None else [execution.statement, *execution.statement.outer()]
    loop = next((outer for outer in statement.outer() if outer.is_loop and outer in around), None)
    header = None if loop is None else past.executions.last_run(loop, frame, line + 1)
    if loop is None or header is None:
        return None
    key = past.record.row(header.row).key
    end = past.record.forth(LINE, key, frame, header.row) or past.record.last + 1
    return _CallAtHand(frame, header.row, end, is_round=True)


def _decided(
    past: PastProcess, statement: Statement, frame: int, begin: int = 0, end: int = 0
) -> StatementExecution | None:
    """Return the execution that decided against a line in a call: a condition around it, or what left before it.

    `begin`, `end`: of the rows from one up to another.
    """
    end = end or past.record.last + 1
    for outer in statement.outer():
        run = past.executions.last_run(outer, frame, end)
        if run is None or run.row < begin:
            continue
        inner = [past.executions.last_run(inside, frame, end) for inside in outer.all_inner()]
        later = [inside for inside in inner if inside is not None and (outer.is_loop or inside.row > run.row)]
        left = max(later, key=lambda inside: inside.row, default=run)
        return left if left.statement.branch == statement.branch else run
    last = past.record.back_of(_LINES, frame, end)
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
