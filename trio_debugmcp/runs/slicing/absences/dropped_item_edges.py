"""Items that never came to a container: the last lines that ran for what had their key, a line of input for example.

    "eve" in means          # `return None` of parse, the last line that ran for line='10:03 eve POST /d 10'

Only of keys that are texts, and of values that have one as a word or as an item.
"""

import ast
import re
from collections.abc import Iterator

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode

_MOST_ROWS = 5_000
"""Before the line that misses the item."""

_MOST_PLACES = 2
"""The last ones: a function that was given it, and the loop that gave it."""

_MOST_TEXT = 40

_LINES = frozenset({rows.LINE})


class DroppedItemEdges:
    """The edges to where one process had a key that did not come to a container."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_key(self, execution: StatementExecution, label: str) -> Iterator[SliceEdge]:
        """Yield the last lines of the calls and rounds that had a key, as a label has it, before a line misses it."""
        key = ast.literal_eval(label) if label[:1] in ("'", '"') else ""
        if not key or not key[0].isalnum() or not key[-1].isalnum() or len(key) < 2:
            return
        found: set[int] = set()
        for row in self._with(re.compile(rf"(?<!\w){re.escape(key)}(?!\w)"), label, execution.row):
            last = self._last_line(row, execution)
            if last and last not in found:
                found.add(last)
                text = masked_beginning(self._record.text(row), _MOST_TEXT)
                note = f"the last line that ran for {self._record.label(row.key)}={text}"
                yield SliceEdge(cost.ABSENCE, SliceNode(last, aim="run"), note)
            if len(found) == _MOST_PLACES:
                return

    def _with(self, word: re.Pattern[str], label: str, before: int) -> Iterator[Row]:
        """Yield the writes of variables that have a key as a word of their text or as an item, the last one first."""
        item = re.compile(rf"{re.escape(label)}(?!\s*:)")
        known: dict[int, bool] = {}
        for number in range(before - 1, max(self._record.first, before - _MOST_ROWS) - 1, -1):
            row = self._record.row(number)
            if row.kind != rows.WRITE or not row.owner:
                continue
            if row.text not in known:
                text = self._record.text(row)
                known[row.text] = (word if text[:1] in ("'", '"') else item).search(text) is not None
            if known[row.text]:
                yield row

    def _last_line(self, row: Row, execution: StatementExecution) -> int:
        """Return the last line of the round or the call in which a variable was written; 0: that is not over."""
        frame, end = row.subject, 0
        writer = self._past.executions.at(row.owner)
        loops = [] if writer is None else [writer.statement, *writer.statement.outer()]
        loop = next((each for each in loops if each.is_loop), None)
        if loop is not None:
            header = self._past.executions.last_run(loop, frame, row.owner + 1)
            end = (
                0
                if header is None
                else self._record.forth(rows.LINE, self._record.row(header.row).key, frame, row.number)
            )
        last = self._record.back_of(_LINES, frame, end) if end else self._past.executions.last_line(frame)
        return last if row.owner < last and self._past.executions.ended(last) < execution.row else 0
