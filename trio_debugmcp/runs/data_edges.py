"""Where a value comes from: names, arguments, results, attributes, items, contents."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs import process_record as rows
from trio_debugmcp.runs import slicing_nodes as cost
from trio_debugmcp.runs.call_arguments import argument, call_of
from trio_debugmcp.runs.executions import StatementExecution
from trio_debugmcp.runs.past_process import PastProcess
from trio_debugmcp.runs.process_record import Row
from trio_debugmcp.runs.read_paths import PathRead, ValuePath, calls_in, reads_of
from trio_debugmcp.runs.recorded_values import CONTENT, RecordedValue
from trio_debugmcp.runs.slicing_nodes import SliceEdge, SliceNode, ValueGap

_MOST_CHANGES = 4
"""Of the content of one object: the last ones, at as many lines."""

_PLAIN = frozenset({"None", "True", "False", "0", "1", "''", "b''", "[]", "{}", "()", "set()"})
"""Values that are everywhere: that two of them are the same one says nothing."""


class DataEdges:
    """The edges by data of one process: names, objects, contents, calls, hence so many methods.

    Attributes:
        gaps: what was found changed by nothing that is recorded.
    """

    def __init__(self, past: PastProcess) -> None:
        self.gaps: list[ValueGap] = []
        self._past = past
        self._record = past.record

    def of_statement(self, execution: StatementExecution, focus: tuple[ast.expr, ...]) -> Iterator[SliceEdge]:
        """Yield what the value of a statement, or of expressions in it, was made of."""
        results = list(self._results(execution, focus))
        copies = self._copied(execution, focus, results)
        if copies is not None:
            yield from copies
            return
        yield from (edge for _, edges in results for edge in edges)
        reads = reads_of(*focus) if focus else execution.statement.reads
        called = self._recorded_calls(execution)
        for read in reads:
            if read.is_callee or (not focus and read.call in called):
                yield from self._of_callee(execution, read)
            else:
                yield from self.of_read(execution, read)

    def of_read(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what a path that is read was made by."""
        value = self._past.values.read(execution, read)
        if value is None:
            yield from self._of_nearest_holder(execution, read)
            return
        yield from self.of_value(execution, read.path, value, cost.READ)
        if read.path.steps:
            yield from self._of_holder(execution, read)
        before = self._past.values.bound(execution, read)
        if read.of_items:
            yield from self._of_items(value, read.of_items, before)
        if value.object and (read.is_whole or read.of_items):
            yield from self.of_content(execution, str(read.path), value.object, before)

    def of_value(
        self, execution: StatementExecution, path: ValuePath, value: RecordedValue, price: float
    ) -> Iterator[SliceEdge]:
        """Yield what has given a path its value."""
        if value.kind == rows.GAP:
            self._gap(execution, str(path), value)
            return
        if value.kind in (rows.SEEN, rows.SEEN_NAME):
            yield from self._of_origin(value, price)
            return
        yield from self._of_owner(value.owner, path, price)

    def _of_owner(self, owner: int, path: ValuePath, price: float) -> Iterator[SliceEdge]:
        if not owner:
            return
        if self._record.row(owner).kind == rows.START:
            yield SliceEdge(cost.ARGUMENT, SliceNode(owner, names=(path.name,)))
        elif not self._is_definition(owner):
            yield SliceEdge(price, SliceNode(owner))

    def _is_definition(self, row: int) -> bool:
        execution = self._past.executions.at(row)
        return execution is None or execution.statement.is_definition

    def _of_callee(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what has put another function in the place of the one that was defined."""
        if not read.is_callee:
            return
        value = self._past.values.read(execution, read)
        if (value is not None and value.kind == rows.FIELD) or (value is not None and value.kind == rows.WRITE):
            yield from self._of_owner(value.owner, read.path, cost.READ)

    def _of_holder(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what decided of which object an attribute or item was read."""
        holder = self._past.values.value(execution, read.path.holder)
        if holder is not None and read.path.name not in ("self", "cls"):
            yield from self.of_value(execution, read.path.holder, holder, cost.HOLDER)

    def _of_nearest_holder(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what is known of the nearest object on a path whose own value is not in the record."""
        path = read.path
        while path.steps:
            path = path.holder
            value = self._past.values.value(execution, path)
            if value is not None:
                yield from self.of_value(execution, path, value, cost.READ)
                if value.object:
                    yield from self.of_content(
                        execution, str(path), value.object, self._past.executions.settled(execution.row)
                    )
                return

    def _of_origin(self, value: RecordedValue, price: float) -> Iterator[SliceEdge]:
        """Yield the place where an object that was there already was first seen in a variable."""
        if value.object and value.text not in _PLAIN:
            number = self._record.forth_of(rows.WITH_VALUE, value.object, 0, by_value=True)
            while number and number < value.row:
                row = self._record.row(number)
                if row.kind in (rows.WRITE, rows.FIELD, rows.RETURN) and row.owner:
                    yield SliceEdge(price, SliceNode(row.owner))
                    return
                number = self._record.forth_of(rows.WITH_VALUE, value.object, number, by_value=True)

    # --- Contents -----------------------------------------------------------------------------------------------------

    def of_content(self, execution: StatementExecution, name: str, container: int, before: int) -> Iterator[SliceEdge]:
        """Yield what has changed an object last, at different lines: those of other frames first."""
        statements: dict[int, tuple[StatementExecution, int]] = {}
        number = self._record.back_of(CONTENT, container, before)
        while number and len(statements) < _MOST_CHANGES:
            row = self._record.row(number)
            changed = self._past.executions.at(row.owner) if row.owner else None
            if row.kind == rows.GAP or (row.kind == rows.SIZE and row.key == 2):
                self._gap(execution, name, self._past.values.value_at(number))
                break
            if changed is not None and changed.row != execution.row and (row.kind == rows.FIELD or row.key == 1):
                statements.setdefault(id(changed.statement), (changed, number))
            number = self._record.back_of(CONTENT, container, number)
        for changed, _ in statements.values():
            yield SliceEdge(cost.CHANGE * (0.8 if changed.frame != execution.frame else 1), SliceNode(changed.row))
        yield from self._of_birth(execution, container, before)

    def _of_birth(self, execution: StatementExecution, container: int, before: int) -> Iterator[SliceEdge]:
        """Yield the line that has made an object."""
        number = self._record.forth_of(rows.WITH_VALUE, container, 0, by_value=True)
        if number and number < before:
            row = self._record.row(number)
            if row.kind in (rows.WRITE, rows.FIELD, rows.RETURN) and row.owner != execution.row and row.owner:
                yield from self._of_owner(row.owner, ValuePath(self._record.label(row.key)), cost.CHANGE)

    def _of_items(self, value: RecordedValue, label: str, before: int) -> Iterator[SliceEdge]:
        """Yield what has given the items of a container an attribute, last and at different lines."""
        key, lines = self._record.key_of(label), set[int]()
        for item in self._items(value.object, before):
            field = self._past.values.field(item, label, before) if key else None
            statement = self._past.executions.at(field.owner) if field is not None and field.owner else None
            if field is None or statement is None or field.kind != rows.FIELD or id(statement.statement) in lines:
                continue
            lines.add(id(statement.statement))
            yield SliceEdge(cost.CHANGE, SliceNode(statement.row))

    def _items(self, container: int, before: int) -> list[int]:
        """Return the objects in a container, as far as they were seen, the last ones first."""
        items: list[int] = []
        number = self._record.back_of(frozenset({rows.FIELD, rows.SEEN, rows.GAP}), container, before)
        while number and len(items) < 100:
            row = self._record.row(number)
            if row.object and row.object not in items:
                items.append(row.object)
            number = self._record.back_of(frozenset({rows.FIELD, rows.SEEN, rows.GAP}), container, number)
        return items

    # --- Calls --------------------------------------------------------------------------------------------------------

    def of_parameters(self, start: int, names: tuple[str, ...]) -> Iterator[SliceEdge]:
        """Yield the arguments that parameters of a call were given."""
        row = self._record.row(start)
        caller = self._past.executions.at(row.owner) if row.owner else None
        if caller is None:
            return
        for name in names:
            arguments = argument(self._past, caller, row, name)
            if arguments:
                yield SliceEdge(cost.COPY, SliceNode(caller.row, focus=tuple(arguments)))
            elif arguments is None:
                yield SliceEdge(cost.READ, SliceNode(caller.row))
            value = self._past.values.parameter(row, name)
            if value is not None and value.object and arguments == []:
                yield from self.of_content(caller, name, value.object, start)

    def _recorded_calls(self, execution: StatementExecution) -> set[int]:
        """Return the places of the calls of a statement that have called what is recorded."""
        places = {id(call): place for place, call in enumerate(execution.statement.calls)}
        started = [call_of(self._past, execution, start) for start in self._past.executions.calls(execution.row)]
        return {places[id(call)] for call in started if call is not None}

    def _results(
        self, execution: StatementExecution, focus: tuple[ast.expr, ...]
    ) -> Iterator[tuple[Row, list[SliceEdge]]]:
        """Yield how each call that a statement made has ended, and the line that ended it."""
        wanted = {id(call) for call in calls_in(*focus)} if focus else set()
        shown: dict[int, int] = {}
        for start in self._past.executions.calls(execution.row):
            call = call_of(self._past, execution, start)
            if focus and (id(call) not in wanted if call is not None else not wanted and not _reads_attributes(focus)):
                continue
            ending = self._past.executions.outcome(start.number)
            if ending is None or not ending.owner:
                continue
            line = self._record.row(ending.owner)
            times = shown[line.key] = shown.get(line.key, 0) + 1
            if times <= 2:
                far = 0.0 if ending.kind != rows.UNWIND else 0.2
                yield ending, [SliceEdge(cost.RESULT + far, SliceNode(ending.owner)), *self._of_class(start)]

    def _of_class(self, start: Row) -> Iterator[SliceEdge]:
        """Yield the class that has chosen a method of one of its bases, by their order."""
        scope = self._past.scopes.of_code(start.key)
        if scope is None or scope.parent is None or not isinstance(scope.parent.node, ast.ClassDef):
            return
        own = self._past.values.parameter(start, scope.parameters[0]) if scope.parameters else None
        name = own.text[1:].partition(" ")[0].rstrip(">") if own is not None and own.text[:1] == "<" else ""
        if not name or name == scope.parent.name.rpartition(".")[2]:
            return
        written = self._record.key_of(f".{name}")
        made = (
            self._record.back(rows.FIELD, written, self._record.code(start.key).globals, start.number) if written else 0
        )
        if made:
            yield SliceEdge(
                cost.CLASS, SliceNode(self._record.row(made).owner), f"its bases decide which {_last(scope.name)}"
            )

    def _copied(
        self, execution: StatementExecution, focus: tuple[ast.expr, ...], results: list[tuple[Row, list[SliceEdge]]]
    ) -> list[SliceEdge] | None:
        """Return the one edge to where an object comes from that a statement only passes on; None if it made one."""
        path = execution.statement.copied if not focus else None
        if len(focus) == 1 and not calls_in(*focus) and isinstance(focus[0], ast.Name | ast.Attribute | ast.Subscript):
            return None
        written = {effect.object for effect in self._past.executions.effects(execution.row)} - {0}
        ending = self._past.executions.ending(execution.row)
        if ending is not None and ending.object:
            written.add(ending.object)
        for outcome, edges in results:
            if outcome.object and outcome.object in written and self._record.text(outcome) not in _PLAIN:
                return [SliceEdge(cost.COPY, edge.node) for edge in edges]
        if path is not None:
            value = self._past.values.value(execution, path)
            if value is not None and value.object in written:
                copied = list(self.of_value(execution, path, value, cost.COPY))
                return [*copied, *self._of_holder(execution, PathRead(path))] if path.steps else copied
        return None

    def _gap(self, execution: StatementExecution, what: str, value: RecordedValue) -> None:
        gap = ValueGap(execution.row, value.row, what)
        if gap not in self.gaps:
            self.gaps.append(gap)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _reads_attributes(focus: tuple[ast.expr, ...]) -> bool:
    """Whether a property or an operator may be called by expressions in which no call is written."""
    kinds = ast.Attribute | ast.Subscript | ast.BinOp | ast.Compare
    return any(isinstance(node, kinds) for expression in focus for node in ast.walk(expression))
