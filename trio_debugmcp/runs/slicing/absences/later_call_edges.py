"""Calls that came too late: handed over to a thread or an event loop, and not begun, or not ended, when it mattered."""

from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.handed_over_calls import HandedOverCalls
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.source_scopes import SourceScope

_MOST_FRAMES = 20
"""Of a method: the last ones."""

_MOST_LATE = 2

_OF_FRAMES = frozenset({rows.LINE, rows.RESUME, rows.YIELD, rows.RETURN, rows.UNWIND})


class LaterCallEdges:
    """The edges to what calls methods of objects of one process later than it is asked for."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._handed = HandedOverCalls(past)

    def of_method(self, execution: StatementExecution, method: SourceScope, holder: int) -> Iterator[SliceEdge]:
        """Yield the lines that have handed over calls of a method which had not begun, and those that wait in one."""
        left = _MOST_LATE
        for frame in reversed(self._past.scopes.frames([method])[-_MOST_FRAMES:]):
            start = self._record.row(self._record.frame(frame).start)
            own = self._past.values.parameter(start, method.parameters[0]) if method.parameters else None
            edge = self._late(execution, start) if own is not None and own.object == holder else None
            if edge is not None and left:
                left -= 1
                yield edge

    def _late(self, execution: StatementExecution, start: Row) -> SliceEdge | None:
        name = self._record.code(start.key).name.rpartition(".")[2]
        if start.number > execution.row:
            handed = self._handed.of_start(start)
            if handed is None or handed.execution.row >= execution.row:
                return None
            note = f"hands {name} over, which is called later, at #{start.number}"
            return SliceEdge(cost.MISSING, SliceNode(handed.execution.row), note)
        last = self._record.back_of(_OF_FRAMES, start.subject, execution.row)
        row = self._record.row(last) if last else None
        if row is None or row.kind != rows.YIELD or self._record.code(start.key).kind != "coroutine" or not row.owner:
            return None
        note = f"waits there since #{last}: {name} has not ended at #{execution.row}"
        return SliceEdge(cost.MISSING, SliceNode(row.owner), note)
