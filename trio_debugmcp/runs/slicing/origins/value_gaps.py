"""`ValueGaps`: what a slice has found changed by nothing that is recorded."""

from collections.abc import Callable

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.recorded_values import type_name
from trio_debugmcp.runs.slicing.slicing_nodes import ValueGap


class ValueGaps:
    """The gaps of one slice; `all`: one for each value and line.

    Args:
        is_shared: whether others may have the memory of a value of a type.
    """

    def __init__(self, record: ProcessRecord, is_shared: Callable[[str], bool]) -> None:
        self.all: list[ValueGap] = []
        self._record = record
        self._is_shared = is_shared

    def add_opaque(self, execution: StatementExecution, what: str, kind: str, owner: int) -> None:
        """Note that of a buffer it is not recorded what is in it, so a change in place may have been any line's."""
        if kind and not any(gap.opaque and gap.what == what for gap in self.all):
            self.note(ValueGap(execution.row, owner, what, opaque=kind))

    def add(self, execution: StatementExecution, what: str, row: int) -> None:
        """Note that a value was found changed by nothing that is recorded."""
        found = self._record.row(row)
        kinds = (rows.FIELD, rows.SEEN, rows.GAP) if found.kind == rows.GAP else (rows.SIZE,)
        keys = (found.key,) if found.kind == rows.GAP else (0, 1, 2)
        known = self._record.back_any(kinds, keys, found.subject, row)
        since = self._record.row(known).owner or known if known else 0
        is_alike = known > 0 and found.kind == rows.GAP and _is_alike(found, self._record.row(known))
        kind = type_of(self._record, found.subject) if found.kind in (rows.GAP, rows.SIZE) else ""
        self.note(ValueGap(found.owner or execution.row, since, what, is_alike, is_shared=self._is_shared(kind)))

    def note(self, gap: ValueGap) -> None:
        """Note a gap, once for each value and line."""
        same = next((other for other in self.all if (other.row, other.what) == (gap.row, gap.what)), None)
        if same is None:
            self.all.append(gap)
        elif not same.before:  # of its length, say, and of an item
            self.all[self.all.index(same)] = gap


def type_of(record: ProcessRecord, target: int) -> str:
    """Return the name of an object's type; empty: no row has it as a value."""
    known = record.forth_of(rows.WITH_VALUE, target, 0, by_value=True) if target else 0
    return type_name(record.text(record.row(known))) if known else ""


def _is_alike(row: Row, other: Row) -> bool:
    return (row.text, row.object) == (other.text, other.object)
