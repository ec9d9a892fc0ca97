"""Items that a container has not: the call that was about the key, and what decided there that it was not stored.

    stock.get("b")          # None, as `self.items[key] = value` did not run in the call with key='b'

Only of keys that are texts or numbers, and of containers that recorded code has stored items in. Where
nothing was about the key: the last lines that ran for what had it, a line of input for example.

    "eve" in means          # `return None` of parse, the last line that ran for line='10:03 eve POST /d 10'
"""

import ast
import re
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.masking.mask import masked_beginning
from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import targets_of

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


_MOST_FRAMES = 50
"""Of a function that would have stored the item: the last ones."""

_MOST_RUNS = 50
"""Of a line that stores items in one of these: the last ones."""


class AbsentItemEdges:
    """The edges to items that did not come into containers of one process."""

    def __init__(self, past: PastProcess, decisions: Decisions) -> None:
        self._past = past
        self._record = past.record
        self._decisions = decisions
        self._dropped = DroppedItemEdges(past)

    def of_statement(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield what decided that a container has no item of a key that a statement asks for."""
        for path, key in _asked_for(execution.statement.node):
            container, text = self._past.values.value(execution, path), self._text(execution, key)
            if container is None or not container.object or not text:
                continue
            if not self._has(container.object, f"[{text}]", execution.row):
                edges = [*self._of_key(execution, container.object, _last_name(path), text)]
                is_of_class = container.text[:1] == "<"  # its `__getitem__` says what it has
                yield from edges if edges or is_of_class else self._dropped.of_key(execution, text)

    def _of_key(self, execution: StatementExecution, container: int, name: str, key: str) -> Iterator[SliceEdge]:
        for statement, path in self._past.mentions.item_stores({name}) if name else ():
            index = _index_of(statement, path)
            for frame in reversed(self._past.scopes.frames([statement.scope])[-_MOST_FRAMES:]) if index else ():
                decided = self._decisions.against(statement, execution, 0, frame)
                held = self._past.values.value(decided, path) if decided is not None else None
                if decided is None or index is None or held is None or held.object != container:
                    continue
                runs = islice(self._past.executions.runs(statement, frame, execution.row), _MOST_RUNS)
                if any(self._text(run, index) == key for run in runs):  # it came to that, and raised
                    continue
                if self._text(decided, index) == key:
                    yield from self._decisions.not_reached(
                        decided, f"so {path}[{key}] is not set at line {statement.first}"
                    )
                    return

    def _text(self, execution: StatementExecution, key: ast.expr) -> str:
        """Return a key as labels have it; empty: it is not known, or no text or number."""
        if isinstance(key, ast.Constant):
            return repr(key.value) if isinstance(key.value, str | int) else ""
        path = path_of(key)
        value = self._past.values.value(execution, path) if path is not None else None
        return value.text if value is not None and not value.object else ""

    def _has(self, container: int, label: str, before: int) -> bool:
        """Whether an item of a container was ever seen."""
        key = self._record.key_of(label)
        kinds = (rows.FIELD, rows.SEEN, rows.GAP)
        return bool(key) and self._record.back_any(kinds, (key,), container, before) != 0


def _last_name(path: ValuePath) -> str:
    """Return the name of a variable or attribute; empty for an item: what it is called by is not written."""
    last = str(path.steps[-1]) if path.steps else f".{path.name}"
    return last[1:] if last[:1] == "." else ""


def _asked_for(node: ast.AST) -> Iterator[tuple[ValuePath, ast.expr]]:
    """Yield the containers of which a statement asks for an item, by a name or constant, with that."""
    whole = node.test if isinstance(node, ast.If | ast.While | ast.Assert) else getattr(node, "value", None)
    for part in ast.walk(whole) if isinstance(whole, ast.expr) else ():  # of a lambda's constant it is a text
        container: ast.expr | None = None
        if isinstance(part, ast.Call) and called(part) in ("get", "pop") and part.args:
            container, key = getattr(part.func, "value", None), part.args[0]
        elif isinstance(part, ast.Subscript):
            container, key = part.value, part.slice
        elif isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.In | ast.NotIn):
            container, key = part.comparators[0], part.left
        path = path_of(container) if container is not None else None
        if path is not None:
            yield path, key


def _index_of(statement: Statement, path: ValuePath) -> ast.expr | None:
    """Return the index of the item of a path that a statement stores."""
    targets = [target for target in targets_of(statement.node) if isinstance(target, ast.Subscript)]
    return next((target.slice for target in targets if path_of(target.value) == path), None)
