"""Calls that have made another value of one, and whose results are dropped: `name.strip()`, `sorted(names)`.

Also of methods of the program that return another object of their class: `robot.moved(2)`. And statements that only
compare, or only name something: `state == "open"`, `file.close`.
"""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, called
from trio_debugmcp.runs.past.recorded_values import RecordedValue, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_OF_TEXTS = frozenset(
    {"capitalize", "casefold", "center", "expandtabs", "format", "join", "ljust", "lower", "lstrip", "removeprefix"}
    | {"removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate", "upper", "zfill"}
)
"""Methods of texts and bytes, which cannot be changed."""

_OF_ONE = frozenset({"copy", "deepcopy", "replace", "reversed", "sorted"})
"""Functions that make another object of their only argument without a name, and leave that as it is."""

_OF_MODULES = frozenset({"copy", "dataclasses"})
"""Where they are; others, such as `shutil.copy` and `os.replace`, do something to files."""

_OF_FRAMES = frozenset(
    {"assign", "astype", "drop", "drop_duplicates", "dropna", "fillna", "rename", "replace", "reset_index", "set_index"}
    | {"sort_index", "sort_values"}
)

_OF_TYPES = {
    "date": frozenset({"replace"}),
    "datetime": frozenset({"astimezone", "replace"}),
    "time": frozenset({"replace"}),
    "DataFrame": _OF_FRAMES,
    "Series": _OF_FRAMES,
}
"""Methods that give another object, but with `inplace=True`."""


_MOST_ROWS = 2_000
"""Of a call that are looked through for what it has changed."""

_CHANGES = frozenset({rows.FIELD, rows.GAP, rows.SIZE})


class DroppedResultEdges:
    """The edges to calls of one process that have left a value as it was."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past

    def of_reads(self, execution: StatementExecution, reads: list[PathRead]) -> Iterator[SliceEdge]:
        """Yield the statements of the same call that have dropped what was made of a value that is read."""
        for statement in filter(_does_nothing, execution.scope.statements):
            run = self._past.executions.last_run(statement, execution.frame, execution.row)
            if run is not None and statement is not execution.statement:
                yield SliceEdge(cost.WITHOUT_EFFECT, SliceNode(run.row), "its result is dropped")
        for read in reads:
            value = self._past.values.read(execution, read) if not read.is_callee else None
            for statement in execution.scope.statements if value is not None else ():
                if statement is execution.statement or value is None:
                    continue
                is_dropping = self._drops(statement, read.path, value)
                if not is_dropping and not self._is_of_a_method(statement, read.path, value):
                    continue
                run = self._past.executions.last_run(statement, execution.frame, execution.row)
                if run is None or not (is_dropping or self._has_made_another(run, value)):
                    continue
                if self._is_same(run, read.path, value):
                    note = f"its result is dropped: {read.path} is as it was"
                    yield SliceEdge(cost.WITHOUT_EFFECT, SliceNode(run.row), note)

    def _drops(self, statement: Statement, path: ValuePath, value: RecordedValue) -> bool:
        """Whether a statement is nothing but a call, of no code of the program, that makes another value of a path."""
        call = _only_call(statement)
        if call is None or self._past.scopes.named(called(call)):
            return False
        if _is_of_one(call) and path_of(call.args[0]) == path:
            return True
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in self._methods(value.text):
            return False
        is_in_place = any(keyword.arg == "inplace" for keyword in call.keywords)
        return not is_in_place and path_of(call.func.value) == path

    def _is_of_a_method(self, statement: Statement, path: ValuePath, value: RecordedValue) -> bool:
        """Whether a statement is nothing but a call of a method, of a class of the program, of the object at a path."""
        call = _only_call(statement)
        if call is None or not isinstance(call.func, ast.Attribute) or path_of(call.func.value) != path:
            return False
        return bool(value.object) and bool(self._past.scopes.classes(type_name(value.text)))

    def _has_made_another(self, run: StatementExecution, value: RecordedValue) -> bool:
        """Whether a call of a method has returned another object of its object's class, and changed nothing."""
        for start in self._past.executions.calls(run.row):
            ending = self._past.executions.outcome(start.number)
            is_call = call_of(self._past, run, start) is _only_call(run.statement)
            if ending is not None and ending.kind == rows.RETURN and is_call:
                is_alike = type_name(self._past.record.text(ending)) == type_name(value.text)
                return is_alike and ending.object not in (0, value.object) and not self._has_changed_something(run)
        return False

    def _has_changed_something(self, run: StatementExecution) -> bool:
        """Whether what was there before a line is not as it was then; taken to be so where a long time lies between."""
        record, over = self._past.record, self._past.executions.over(run)
        if over - run.row > _MOST_ROWS:
            return True
        changes = [
            row for row in map(record.row, range(run.row, over)) if row.kind in _CHANGES and row.owner >= run.row
        ]
        changed = {row.subject for row in changes if row.kind != rows.SIZE or row.key}
        firsts = (record.forth_of(rows.WITH_VALUE, number, 0, by_value=True) for number in changed)
        return any(first <= run.row for first in firsts)

    def _methods(self, text: str) -> frozenset[str]:
        if text[:1] in ("'", '"') or text[:2] in ("b'", 'b"'):
            return _OF_TEXTS
        name = type_name(text)
        return frozenset() if self._past.scopes.classes(name) else _OF_TYPES.get(name, frozenset())

    def _is_same(self, run: StatementExecution, path: ValuePath, value: RecordedValue | None) -> bool:
        then = self._past.values.value(run, path)
        return then is not None and value is not None and then.row == value.row


def _does_nothing(statement: Statement) -> bool:
    """Whether a statement is only a comparison or a name: where `=`, `return`, `if` or a call was meant."""
    value = statement.node.value if isinstance(statement.node, ast.Expr) and len(statement.nodes) == 1 else None
    return isinstance(value, ast.Compare | ast.Name | ast.Attribute)


def _only_call(statement: Statement) -> ast.Call | None:
    """Return the call that a statement is, and nothing else; None: it is another one."""
    call = statement.node.value if isinstance(statement.node, ast.Expr) and len(statement.nodes) == 1 else None
    return call if isinstance(call, ast.Call) else None


def _is_of_one(call: ast.Call) -> bool:
    holder = getattr(call.func, "value", None)
    is_there = holder is None or getattr(holder, "id", "") in _OF_MODULES
    return is_there and called(call) in _OF_ONE and len(call.args) == 1
