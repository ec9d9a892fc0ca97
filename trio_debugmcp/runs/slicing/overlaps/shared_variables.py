"""Variables of a function that inner functions write, too, as they have declared them `nonlocal`.

    shared.is_of(execution, path, row)      # whether a path is the variable that a row WRITE has written
    shared.before(row, (FIELD,))            # the write of it before that one, by whichever of the functions

A record does not say which calls of inner functions share a variable. So only those are followed of a function that was
called once.
"""

from bisect import bisect_left
from collections.abc import Iterable

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.files.row_search import count
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.source.read_paths import ValuePath
from trio_debugmcp.runs.source.source_scopes import SourceScope

_MOST_WRITES = 300
"""Of a variable in one call that are looked at: the last ones."""


class SharedVariables:
    """The variables of one process that several functions write."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._known: dict[tuple[int, str], list[int]] = {}

    def is_of(self, execution: StatementExecution, path: ValuePath, row: Row) -> bool:
        """Whether a path in a line is the shared variable that a row has written."""
        if path.steps or row.kind != rows.WRITE or self._record.label(row.key) != path.name:
            return False
        home = execution.scope.home(path.name)
        return home is not None and row.number in self._writes(home, path.name)

    def before(self, row: Row, kinds: Iterable[int]) -> int:
        """Return the write of a shared variable before one of it, of a field the row of some kinds; 0: none."""
        if row.kind != rows.WRITE:
            return self._record.back_any(kinds, (row.key,), row.subject, row.number)
        name = self._record.label(row.key)
        scope = self._past.scopes.of_code(self._past.executions.code_of(row.subject))
        home = scope.home(name) if scope is not None else None
        writes = self._writes(home, name) if home is not None else []
        place = bisect_left(writes, row.number)
        return writes[place - 1] if place else 0

    def _writes(self, home: SourceScope, name: str) -> list[int]:
        """Return the writes of a variable, in order; none of one that no other function writes."""
        known = self._known.get((id(home), name))
        if known is None:
            inner = [scope for scope in home.all_inner() if name in scope.body.outside and scope.home(name) is home]
            is_one = sum(count(self._record, rows.START, code) for code in self._past.scopes.codes_of(home)) == 1
            frames = self._past.scopes.frames([home, *inner]) if inner and is_one else []
            known = sorted(row for frame in frames for row in self._of_frame(frame, name))
            self._known[id(home), name] = known
        return known

    def _of_frame(self, frame: int, name: str) -> list[int]:
        key, found = self._record.key_of(name), list[int]()
        before = self._record.last + 1
        while before and len(found) < _MOST_WRITES:
            before = self._record.back(rows.WRITE, key, frame, before)
            found += [before] if before else []
        return found
