"""Items that a container has not: the call that was about the key, and what decided there that it was not stored.

    stock.get("b")          # None, as `self.items[key] = value` did not run in the call with key='b'

Only of keys that are texts or numbers, and of containers that recorded code has stored items in.
"""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing.absences.decisions import Decisions
from trio_debugmcp.runs.slicing.absences.dropped_item_edges import DroppedItemEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import targets_of

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
    parts = [node.test] if isinstance(node, ast.If | ast.While | ast.Assert) else [getattr(node, "value", None)]
    for part in (inner for whole in parts if whole is not None for inner in ast.walk(whole)):
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
