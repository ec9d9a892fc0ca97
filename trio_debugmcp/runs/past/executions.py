"""`StatementExecutions`: the statements of a recorded process as they ran.

    execution = executions.at(36)                   # the statement whose line is row 36
    execution.statement.text                        # "amount = total(cart)"
    executions.calls(36)                            # the START rows of what it has called

What a line has written, called and raised are rows that name it as their owner.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.owned_rows import owned_of_kinds, owned_rows_back
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement

ENDS = frozenset({rows.RETURN, rows.YIELD, rows.UNWIND})
"""How a frame is left."""

_CHECKS = frozenset({rows.SEEN, rows.GAP, rows.SEEN_NAME, rows.SIZE, rows.FIELD})


_LINES = frozenset({rows.LINE})

_RAISES = frozenset({rows.RAISE})

_MAKES_NO_TEXT = frozenset(
    {
        *("abs", "all", "any", "bool", "callable", "dict", "enumerate", "float", "frozenset", "getattr", "hasattr"),
        *("id", "int", "isinstance", "issubclass", "iter", "len", "list", "max", "min", "next", "range", "reversed"),
        *("round", "set", "sorted", "sum", "tuple", "type", "zip", "items", "keys", "values", "get", "count", "index"),
    }
)
"""Functions that call no `__repr__`: builtins, and methods of containers."""

_UNBOUND = re.compile(r"(?:UnboundLocalError|NameError)\(.*?'(?P<name>\w+)(?P<end>'?)")
"""The text of an exception up to the name that had no value."""

_EVENTS = ENDS | {rows.LINE}

_OVER = frozenset({rows.LINE, rows.RETURN, rows.UNWIND})

_EFFECTS = frozenset({rows.WRITE, rows.FIELD})

_BEGINNINGS = frozenset({rows.START, rows.RESUME})

_MOST_CALLS = 2_000
"""Calls of a line that are looked at, the last ones: `all(item.price for item in items)` makes one for each item."""

_MOST_EXITS = 30
"""Lines that are run after a `return`: those of `with` blocks that it leaves, and of `finally` blocks."""


def _runs_after_return(statement: Statement) -> bool:
    """Whether a line may run between a `return` and the end of its frame: the end of a `with`, a `finally` block."""
    is_exit = isinstance(statement.node, ast.With | ast.AsyncWith)
    return is_exit or any(outer.branch == "finalbody" for outer in (statement, *statement.outer()))


def _is_name(name: str, told: str, *, is_whole: bool) -> bool:
    """Whether the text of an exception tells a name; of a long one it has the beginning."""
    return name == told or (not is_whole and name.startswith(told))


def next_event(record: ProcessRecord, line: int) -> int:
    """Return the next row of the frame of a LINE row: a LINE row, or how the frame was left; 0: none."""
    return record.forth_of(_EVENTS, record.row(line).subject, line)


def outcome(record: ProcessRecord, start: int) -> int:
    """Return the row that ends what a START or RESUME row begins: RETURN, YIELD or UNWIND; 0: it has not ended."""
    return record.forth_of(ENDS, record.row(start).subject, start)


def was_closed(record: ProcessRecord, ending: Row) -> bool:
    """Whether a generator was continued only to be closed, before its end: that gives nothing."""
    return ending.kind == rows.UNWIND and record.text(ending).startswith("GeneratorExit")


def _may_make_text(test: ast.expr, recorded: list[str]) -> bool:
    """Whether what an assertion tests may itself call `__repr__` of objects, given what is recorded of its calls."""
    parts = list(ast.walk(test))
    names = [getattr(part.func, "attr", getattr(part.func, "id", "")) for part in parts if isinstance(part, ast.Call)]
    formats = any(isinstance(part, ast.JoinedStr | ast.Mod) for part in parts)
    return formats or any(name not in recorded and name not in _MAKES_NO_TEXT for name in names)


class StatementExecution(NamedTuple):
    """One run of a statement.

    Attributes:
        row: its LINE row.
        frame: the number of its frame.
        statement: what ran.
    """

    row: int
    frame: int
    code: int
    statement: Statement

    @property
    def scope(self) -> SourceScope:
        return self.statement.scope


class StatementExecutions:
    """What ran in one process: each method is one question to its rows, hence so many."""

    def __init__(self, record: ProcessRecord, scopes: RecordedScopes) -> None:
        self.record = record
        self._scopes = scopes
        self.at = lru_cache(20_000)(self._at)
        self.calls = lru_cache(20_000)(self._calls)
        self.effects = lru_cache(20_000)(self._effects)
        self.outcome = lru_cache(20_000)(self._outcome)
        self.unbound = lru_cache(20_000)(self._unbound)

    # --- Statements ---------------------------------------------------------------------------------------------------

    def _at(self, row: int) -> StatementExecution | None:
        """Return the execution that a LINE row begins; None where its source is not known."""
        if row < self.record.first or (line := self.record.row(row)).kind != rows.LINE:
            return None
        site = self.record.site(line.key)
        scope = self._scopes.of_code(site.code)
        statement = scope.statement(site.line) if scope is not None else None
        return None if statement is None else StatementExecution(row, line.subject, site.code, statement)

    def runs(self, statement: Statement, frame: int, before: int) -> Iterator[StatementExecution]:
        """Yield the runs of a statement in a frame before a row, the last one first."""
        sites = self.sites(statement, self.code_of(frame))
        start = self.record.frame(frame).start
        while row := self.record.back_any(_LINES, sites, frame, before, start):
            execution = self.at(row)
            if execution is not None and execution.statement is statement:
                yield execution
            before = row

    def last_run(self, statement: Statement, frame: int, before: int) -> StatementExecution | None:
        """Return the last run of a statement in a frame before a row."""
        return next(self.runs(statement, frame, before), None)

    def sites(self, statement: Statement, code: int) -> list[int]:
        """Return the sites of a statement in a code object: mostly one."""
        return [site.number for site in self.record.sites_of(code) if statement.first <= site.line <= statement.last]

    def last_line(self, frame: int) -> int:
        """Return the last LINE row of a frame; 0 if it has none."""
        return self.record.back_of(frozenset({rows.LINE}), frame, self.record.last + 1)

    def code_of(self, frame: int) -> int:
        return self.record.frame(frame).code

    # --- From a line to what belongs to it ----------------------------------------------------------------------------

    def settled(self, row: int) -> int:
        """Return the row before which a line has found what it reads: behind what was looked at when it began.

        A round of a generator expression has taken its items by then.
        """
        record, after = self.record, row + 1
        execution = self.at(row)
        has_taken = execution is not None and isinstance(execution.statement.node, ast.GeneratorExp)
        while after <= record.last:
            checked = record.row(after)
            is_own = checked.owner == row
            if has_taken and is_own and checked.kind == rows.WRITE:
                after += 1
                continue
            if checked.kind not in _CHECKS or (is_own and checked.kind == rows.FIELD):
                break
            if checked.kind == rows.SIZE and is_own and checked.key == 1:
                break
            after += 1
        return after

    def ended(self, row: int) -> int:
        """Return the next event of a line's frame; behind the record if there is none."""
        return next_event(self.record, row) or self.record.last + 1

    def over(self, execution: StatementExecution) -> int:
        """Return the row at which a line is over: the next line of its frame, or its end; a yield does not end it."""
        return self.record.forth_of(_OVER, execution.frame, execution.row) or self.record.last + 1

    def _effects(self, row: int) -> list[Row]:
        """Return what a line has written: WRITE and FIELD rows."""
        return owned_of_kinds(self.record, row, _EFFECTS)

    def _calls(self, row: int) -> list[Row]:
        """Return the START and RESUME rows of what a line has called: of a line that has made very many the last."""
        calls = []
        for number in owned_rows_back(self.record, row):
            if self.record.rows.word(number, 0) >> 60 in _BEGINNINGS:
                calls.append(self.record.row(number))
            if len(calls) == _MOST_CALLS:
                break
        return self._before_message(row, calls[::-1])

    def _before_message(self, row: int, calls: list[Row]) -> list[Row]:
        """Leave out what was called to show the operands of an assertion, which had failed by then: pytest does."""
        execution = self.at(row)
        node = execution.statement.node if execution is not None else None
        if not isinstance(node, ast.Assert) or _may_make_text(node.test, self._names(calls)):
            return calls
        names = self._names(calls)
        return calls[: names.index("__repr__")] if "__repr__" in names else calls

    def _names(self, calls: list[Row]) -> list[str]:
        return [self.record.code(start.key).name.rpartition(".")[2] for start in calls]

    def has_more_calls(self, row: int) -> bool:
        """Whether a line may have made more calls than `calls` returns, so that their places say nothing."""
        return len(self.calls(row)) == _MOST_CALLS

    def _outcome(self, start: int) -> Row | None:
        """Return the row with which a call ended, or was first left: RETURN, YIELD or UNWIND; None if it was not.

        Its owner is the line of the `return`, also where a `with` was left or a `finally` has run after it.
        """
        number = outcome(self.record, start)
        return self.with_return_line(self.record.row(number)) if number else None

    def with_return_line(self, ending: Row) -> Row:
        """Return the row that ended a frame, with the line of its `return` as its owner."""
        if ending.kind != rows.RETURN or not ending.owner:
            return ending
        line, is_finally = ending.owner, False
        for _ in range(_MOST_EXITS):
            execution = self.at(line)
            statement = execution.statement if execution is not None else None
            is_return = statement is not None and any(isinstance(node, ast.Return) for node in statement.nodes)
            if statement is None or is_return or not _runs_after_return(statement):
                return ending if is_finally and not is_return else ending._replace(owner=line)
            is_finally = is_finally or not isinstance(statement.node, ast.With | ast.AsyncWith)
            line = self.record.back_of(_LINES, ending.subject, line)
        return ending

    def ending(self, row: int) -> Row | None:
        """Return how a line ended its frame, if it did."""
        number = next_event(self.record, row)
        ending = self.record.row(number) if number else None
        return ending if ending is not None and ending.kind in ENDS and ending.owner == row else None

    def is_waiting(self, ending: Row) -> bool:
        """Whether a frame was left by an `await`: what it gives then is what it waits for, and no value of its line."""
        scope = self._scopes.of_code(ending.key)
        return ending.kind == rows.YIELD and scope is not None and isinstance(scope.node, ast.AsyncFunctionDef)

    def raised(self, row: int) -> Row | None:
        """Return the exception that a line raised or passed on, if it did."""
        frame = self.record.row(row).subject
        last = self.record.forth_of(_OVER, frame, row) or self.record.last + 1
        number = self.record.forth_of(_RAISES, frame, row, until=last)
        while number:
            raised = self.record.row(number)
            if raised.owner == row and not self._has_ended_rounds(raised):
                return raised
            number = self.record.forth_of(_RAISES, frame, number, until=last)
        return None

    def _has_ended_rounds(self, raised: Row) -> bool:
        """Whether an exception showed a comprehension that there is no more: its line has made a value since."""
        text = self.record.text(raised)
        execution = self.at(raised.owner) if text.startswith(("StopAsyncIteration", "StopIteration")) else None
        if execution is None:
            return False
        heads = (part for head in execution.statement.heads for part in ast.walk(head))
        of_async = text.startswith("StopAsync")
        has_rounds = any(isinstance(part, ast.comprehension) and part.is_async == of_async for part in heads)
        made = [*self.effects(execution.row), *filter(None, [self.ending(execution.row)])] if has_rounds else []
        return any(row.number > raised.number and row.kind != rows.UNWIND for row in made)

    def _unbound(self, row: int) -> str:
        """Return the name for want of a value of which a line raised; empty: it did not, or for something else."""
        raised, execution = self.raised(row), self.at(row)
        found = _UNBOUND.match(self.record.text(raised)) if raised is not None else None
        if raised is None or found is None or execution is None:
            return ""
        ends = [outcome(self.record, start.number) for start in self.calls(row)]
        if any(end and self.record.row(end).object == raised.object for end in ends):  # it is of what it has called
            return ""
        paths = [*(read.path for read in execution.statement.reads), *execution.statement.carried]
        fitting = {path.name for path in paths if _is_name(path.name, found["name"], is_whole=bool(found["end"]))}
        return fitting.pop() if len(fitting) == 1 else ""

    def caller(self, frame: int) -> StatementExecution | None:
        """Return the statement that called a frame's function."""
        row = self.record.row(self.record.frame(frame).start).owner
        return self.at(row) if row else None
