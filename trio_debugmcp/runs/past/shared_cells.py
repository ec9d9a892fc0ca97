"""`SharedCells`: what gave variables their values that a function and those in it have in common.

    cells.of_own(execution, "count", key, before)           # the row that gave `count` its value, in the function of it
    cells.of_outer(execution, home, "count", key, before)   # and in a function that is in that one

Each call of the outer function has variables of its own, and a record does not say which calls of the inner ones belong
to it. That is found by the function object that the caller has named: the call that made it is the one around. Where it
is not found, and more than one variable may be meant, no write is named.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Protocol

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord
from trio_debugmcp.runs.past.executions import StatementExecution, StatementExecutions
from trio_debugmcp.runs.past.recorded_scopes import RecordedScopes
from trio_debugmcp.runs.source.read_paths import PathRead
from trio_debugmcp.runs.source.source_scopes import SourceScope

_DEEPEST = 10
"""So many functions are in one another, at most."""


class _ReadValue(Protocol):
    """What a path was, as far as it matters here."""

    @property
    def text(self) -> str: ...

    @property
    def object(self) -> int: ...


class SharedCells:
    """The variables of one process that functions have in common with those in them."""

    def __init__(
        self,
        record: ProcessRecord,
        scopes: RecordedScopes,
        executions: StatementExecutions,
        read: Callable[[StatementExecution, PathRead], _ReadValue | None],
    ) -> None:
        self._record = record
        self._scopes = scopes
        self._executions = executions
        self._read = read
        self._around: dict[int, int] = {}

    def of_own(self, execution: StatementExecution, name: str, key: int, before: int) -> int:
        """Return the row that has given a variable of a frame its value, be it by a function in it."""
        own = self._set_in(execution.frame, key, before)
        within = self._writes_from_within(execution.scope, name, key, before)
        if within and len(self._scopes.frames_of(execution.scope)) > 1:
            within = [row for row in within if self._home_of(row, execution.scope) == execution.frame]
        return self._left_from_within(own, within) or max([own, *within])

    def of_outer(self, execution: StatementExecution, home: SourceScope, name: str, key: int, before: int) -> int:
        """Return the row that has given a variable of a function around its value."""
        start = self._record.frame(execution.frame).start
        seen = self._record.back_any((rows.WRITE, rows.SEEN_NAME), (key,), execution.frame, before, start)
        frames = self._scopes.frames_of(home)
        found = [self._set_in(frame, key, before) for frame in frames]
        writes = [row for row in [*found, *self._writes_from_within(home, name, key, before)] if row]
        if seen:
            writes = [row for row in writes if self._is_same(row, seen)]
        is_one_object = seen > 0 and self._record.row(seen).object != 0
        if len(writes) > 1 and len(frames) > 1 and not is_one_object:
            writes = self._of_one_call(execution.frame, home, writes)
        return max(writes, default=seen)

    # --- Writes -------------------------------------------------------------------------------------------------------

    def _set_in(self, frame: int, key: int, before: int) -> int:
        """Return the row that has given a name of a frame its value: a write, or where it was found to have another."""
        own = self._record.back(rows.WRITE, key, frame, before, self._record.frame(frame).start)
        seen = self._record.back(rows.SEEN_NAME, key, frame, before, own or self._record.frame(frame).start)
        return own if own and seen and self._is_same(own, seen) else max(own, seen)

    def _writes_from_within(self, home: SourceScope, name: str, key: int, before: int) -> list[int]:
        """Return the last writes of a name by inner functions that have declared it `nonlocal`."""
        inner = [scope for scope in home.all_inner() if name in scope.body.outside and scope.home(name) is home]
        found = (self._record.back(rows.WRITE, key, frame, before) for frame in self._scopes.frames(inner))
        return [row for row in found if row]

    def _left_from_within(self, own: int, within: Iterable[int]) -> int:
        """Return the write by an inner function that has left what a variable was found with; 0: none has."""
        found = self._record.row(own) if own else None
        if found is None or found.kind != rows.SEEN_NAME:
            return 0
        start = self._record.frame(found.subject).start
        after = self._record.back(rows.WRITE, found.key, found.subject, own, start) or start
        return max((row for row in within if after < row < own and self._is_same(row, own)), default=0)

    def _is_same(self, one: int, other: int) -> bool:
        """Whether two values are one object, whatever is in it by now, or have the same text."""
        first, second = self._record.row(one), self._record.row(other)
        is_alike = bool(first.object) or self._record.text(first) == self._record.text(second)
        return first.object == second.object and is_alike

    # --- Calls --------------------------------------------------------------------------------------------------------

    def _of_one_call(self, frame: int, home: SourceScope, writes: list[int]) -> list[int]:
        """Return the writes of the variable that a frame has; none where it is not known which are its own."""
        around = self._made_in(frame, home)
        calls = {row: self._home_of(row, home) for row in writes}
        if not around:
            return writes if len(set(calls.values())) == 1 and 0 not in calls.values() else []
        own = [row for row, call in calls.items() if call == around]
        unknown = max((row for row, call in calls.items() if not call), default=0)
        return own if unknown < max(own, default=0) else []

    def _home_of(self, row: int, home: SourceScope) -> int:
        """Return the frame of a function whose variable a row WRITE, of that or a function in it, has written."""
        return self._made_in(self._record.row(row).subject, home)

    def _made_in(self, frame: int, home: SourceScope) -> int:
        """Return the frame of a function in which the inner function of a frame was made; 0: not known."""
        for _ in range(_DEEPEST):
            if not frame or self._scopes.of_code(self._executions.code_of(frame)) is home:
                return frame
            if frame not in self._around:
                self._around[frame] = 0  # it may be asked for again meanwhile
                self._around[frame] = self._maker(frame)
            frame = self._around[frame]
        return 0

    def _maker(self, frame: int) -> int:
        """Return the frame of the function around that of a frame; 0: not known."""
        scope = self._scopes.of_code(self._executions.code_of(frame))
        caller = self._executions.caller(frame)
        if scope is None or caller is None:
            return 0
        if isinstance(scope.node, ast.GeneratorExp | ast.ClassDef):
            return caller.frame if caller.scope is scope.parent else 0
        values = (self._read(caller, read) for read in caller.statement.reads)
        made = {value.object for value in values if value is not None and _is_function(value.text, scope)}
        birth = self._record.forth_of(rows.WITH_VALUE, made.pop(), 0, by_value=True) if len(made) == 1 else 0
        maker = self._executions.at(self._record.row(birth).owner) if birth else None
        return maker.frame if maker is not None and maker.scope is scope.parent else 0


def _is_function(text: str, scope: SourceScope) -> bool:
    """Whether a value is a function of a scope."""
    return text.startswith("<function ") and text[10:-1] == scope.name
