"""Items that a later call of the same function would have written over, and what decided against it there.

    def set(self, key, value):
        if self.cache.get(key):         # true; so ['a'] is not set at line 5
            self.cache.move_to_end(key)
        else:
            self.cache[key] = value     # has run in an earlier call

Said of the last call that was about the same item of the same object.
"""

from collections.abc import Iterator

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.source.read_paths import ValuePath

_MOST_CALLS = 20
"""Of a function that are looked at: the last ones."""


class SkippedWriteEdges:
    """The edges to what decided, in later calls of functions of one process, against writing an item again."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._decisions = decisions

    def of_statement(self, execution: StatementExecution, asked: int) -> Iterator[SliceEdge]:
        """Yield what decided, after a statement and before a row, against another run of it for the same item."""
        for path in execution.statement.stores:
            item = self._item(execution, path)
            decided = self._last_against(execution, path, item, asked) if item is not None else None
            if item is not None and decided is not None:
                note = f"so {item[1]} is not set at line {execution.statement.first}"
                for edge in self._decisions.not_reached(decided, note):
                    yield edge._replace(cost=cost.SKIPPED_WRITE)

    def _item(self, execution: StatementExecution, path: ValuePath) -> tuple[int, str] | None:
        """Return the container and the label of an item that a path leads to; None: another thing, or not known."""
        if not path.steps or (isinstance(path.steps[-1], str) and path.steps[-1][0] == "."):
            return None
        holder = self._past.values.value(execution, path.holder)
        label = self._past.values.label_of(execution, path.steps[-1])
        return (holder.object, label) if holder is not None and holder.object and label is not None else None

    def _last_against(
        self, execution: StatementExecution, path: ValuePath, item: tuple[int, str], asked: int
    ) -> StatementExecution | None:
        statement = execution.statement
        frames = self._past.scopes.frames([execution.scope])[-_MOST_CALLS:]
        for frame in reversed(frames):
            if not execution.row < self._past.record.frame(frame).start < asked:
                continue
            if self._past.executions.last_run(statement, frame, asked) is not None:
                continue
            decided = self._decisions.against(statement, execution._replace(row=asked), 0, frame)
            if decided is not None and self._item(decided, path) == item:
                return decided
        return None
