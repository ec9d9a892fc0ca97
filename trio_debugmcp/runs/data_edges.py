"""Where a value comes from: names, arguments, results, attributes, items, contents."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs import process_record as rows
from trio_debugmcp.runs import slicing_nodes as cost
from trio_debugmcp.runs.call_arguments import MAKERS, argument, call_of, called
from trio_debugmcp.runs.executions import StatementExecution
from trio_debugmcp.runs.object_edges import PLAIN, ObjectEdges
from trio_debugmcp.runs.past_process import PastProcess
from trio_debugmcp.runs.process_record import Row
from trio_debugmcp.runs.read_paths import PathRead, ValuePath, calls_in, reads_of
from trio_debugmcp.runs.recorded_values import RecordedValue, says_nothing, type_name
from trio_debugmcp.runs.slicing_nodes import SliceEdge, SliceNode


class DataEdges:
    """The edges by data of one process."""

    def __init__(self, past: PastProcess, objects: ObjectEdges) -> None:
        self._past = past
        self._objects = objects
        self._record = past.record

    def of_statement(
        self, execution: StatementExecution, focus: tuple[ast.expr, ...], *, whole: bool
    ) -> Iterator[SliceEdge]:
        """Yield what the value of a statement, or of expressions in it, was made of; `whole`: and what is in that."""
        results = list(self._results(execution, focus))
        copies = self._copied(execution, focus, results)
        if copies is not None:
            yield from copies
            return
        for ending, edges in results:
            yield from edges
            if ending.object:
                result = self._past.values.value_at(ending.number)
                yield from self._objects.of_content(
                    execution, "the result", result, self._past.executions.ended(execution.row)
                )
        reads = reads_of(*focus, whole=whole) if focus else execution.statement.reads
        is_carried = isinstance(execution.statement.node, ast.AugAssign)
        price = cost.FOCUS if focus or is_carried else cost.READ
        recorded = self._recorded_calls(execution)
        for read in reads:
            if read.is_callee or (not focus and read.argument_of in recorded):
                yield from self._of_callee(execution, read)
            else:
                is_read_by_callee = read.target_of in recorded
                yield from self.of_read(execution, read._replace(is_whole=False) if is_read_by_callee else read, price)

    def of_read(self, execution: StatementExecution, read: PathRead, price: float) -> Iterator[SliceEdge]:
        """Yield what a path that is read was made by."""
        value = self._past.values.read(execution, read)
        if value is None:
            yield from self._of_nearest_holder(execution, read)
            return
        yield from self.of_value(execution, read.path, value, cost.HOLDER if read.target_of and value.object else price)
        if read.path.steps:
            yield from self._of_holder(execution, read)
        before = self._past.values.bound(execution, read)
        if read.of_items:
            yield from self._objects.of_items(value, read.of_items, before)
        is_read_by_methods = read.target_of is not None and self._past.scopes.classes(type_name(value.text))
        if (
            value.object
            and (read.is_whole or read.of_items)
            and not says_nothing(value.text)
            and not is_read_by_methods
        ):
            yield from self._objects.of_content(execution, str(read.path), value, before)

    def of_value(
        self, execution: StatementExecution, path: ValuePath, value: RecordedValue, price: float
    ) -> Iterator[SliceEdge]:
        """Yield what has given a path its value."""
        if value.kind == rows.GAP:
            yield from self._objects.of_gap(execution, str(path), value.row)
        elif value.kind in (rows.SEEN, rows.SEEN_NAME):
            holder = self._past.values.value(execution, path.holder) if path.steps else None
            yield from self._objects.of_seen(value, holder, price)
        else:
            name = str(path.steps[-1])[1:] if path.steps else path.name
            yield from self._objects.of_owner(value.owner, price, name)

    def _of_callee(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what has put another function in the place of the one that was defined."""
        if not read.is_callee:
            return
        value = self._past.values.read(execution, read)
        if value is not None and value.kind in (rows.FIELD, rows.WRITE):
            yield from self._objects.of_owner(value.owner, cost.READ, read.path.name)

    def _of_holder(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what decided of which object an attribute or item was read."""
        holder = self._past.values.value(execution, read.path.holder)
        if holder is not None and read.path.name not in ("self", "cls"):
            yield from self.of_value(execution, read.path.holder, holder, cost.HOLDER)
        if holder is not None and _is_index(read.path.steps[-1]):  # another order is another item
            before = self._past.values.bound(execution, read)
            yield from self._objects.of_content(execution, str(read.path.holder), holder, before)

    def _of_nearest_holder(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what is known of the nearest object on a path whose own value is not in the record."""
        path = read.path
        label = str(path.steps[-1]) if path.steps else ""
        if label[:1] == ".":
            yield from self._objects.of_unseen_attribute(execution, label)
        while path.steps:
            path = path.holder
            value = self._past.values.value(execution, path)
            if value is not None:
                yield from self.of_value(execution, path, value, cost.READ)
                if value.object:
                    yield from self._objects.of_content(
                        execution, str(path), value, self._past.executions.settled(execution.row)
                    )
                return

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
                yield SliceEdge(cost.COPY, SliceNode(caller.row, focus=tuple(arguments), aim="argument"))
            elif arguments is None:
                yield SliceEdge(cost.READ, SliceNode(caller.row))
            value = self._past.values.parameter(row, name)
            own = self._past.values.parameter(row, "self")
            if value is not None and own is not None and arguments == []:
                yield from self._objects.of_class(own, f".{name}", value)
            if value is not None and value.object and arguments == []:
                yield from self._objects.of_content(caller, name, value, start)

    def _recorded_calls(self, execution: StatementExecution) -> set[ast.Call]:
        """Return the calls of a statement that have called what is recorded."""
        started = [call_of(self._past, execution, start) for start in self._past.executions.calls(execution.row)]
        return {call for call in started if call is not None}

    def _results(
        self, execution: StatementExecution, focus: tuple[ast.expr, ...]
    ) -> Iterator[tuple[Row, list[SliceEdge]]]:
        """Yield how each call that a statement made has ended, and the line that ended it."""
        wanted = {id(call) for call in calls_in(*focus)} if focus else set()
        shown: dict[int, int] = {}
        for start in reversed(self._past.executions.calls(execution.row)):
            call = call_of(self._past, execution, start)
            if call is None and _is_of_message(execution.statement.node, self._record.code(start.key).name):
                continue
            if focus and (id(call) not in wanted if call is not None else not wanted and not _reads_attributes(focus)):
                continue
            ending = self._past.executions.outcome(start.number)
            if ending is None or not ending.owner or _makes(self._record.code(start.key).name, ending):
                continue
            line = self._record.row(ending.owner)
            times = shown[line.key] = shown.get(line.key, 0) + 1
            if times <= 2:
                far = 0.0 if ending.kind != rows.UNWIND else 0.2
                edge = SliceEdge(cost.RESULT + far, SliceNode(ending.owner))
                yield ending, [edge, *self._of_dispatch(start), *self._of_replaced(execution, start)]

    def _of_replaced(self, execution: StatementExecution, start: Row) -> Iterator[SliceEdge]:
        """Yield what has put a function in the place of a method."""
        scope = self._past.scopes.of_code(start.key)
        targets = [read.target_of for read in execution.statement.reads if read.target_of is not None]
        is_method = scope is not None and scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef)
        if scope is None or is_method or not targets:
            return
        for name in {called(target) for target in targets}:
            for writer in self._past.scopes.storing(f".{name}"):
                for frame in self._past.scopes.frames([writer.scope])[-1:]:
                    run = self._past.executions.last_run(writer, frame, start.number)
                    if run is not None:
                        yield SliceEdge(
                            cost.REPLACED, SliceNode(run.row), f"has put {scope.name} in the place of {name}"
                        )

    def _of_dispatch(self, start: Row) -> Iterator[SliceEdge]:
        scope = self._past.scopes.of_code(start.key)
        if scope is not None and scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef):
            yield from self._objects.of_dispatch(scope, start)

    def _copied(
        self, execution: StatementExecution, focus: tuple[ast.expr, ...], results: list[tuple[Row, list[SliceEdge]]]
    ) -> list[SliceEdge] | None:
        """Return the one edge to where an object comes from that a statement only passes on; None if it made one."""
        if isinstance(execution.statement.node, ast.GeneratorExp):  # one line, many rounds
            return None
        path = execution.statement.copied if not focus else None
        if len(focus) == 1 and not calls_in(*focus) and isinstance(focus[0], ast.Name | ast.Attribute | ast.Subscript):
            return None
        written = {effect.object for effect in self._past.executions.effects(execution.row)} - {0}
        ending = self._past.executions.ending(execution.row)
        if ending is not None and ending.object:
            written.add(ending.object)
        for outcome, edges in results:
            if outcome.object and outcome.object in written and self._record.text(outcome) not in PLAIN:
                return [SliceEdge(cost.COPY, edge.node) for edge in edges]
        if path is not None:
            value = self._past.values.value(execution, path)
            if value is not None and value.object in written:
                copied = list(self.of_value(execution, path, value, cost.COPY))
                return [*copied, *self._of_holder(execution, PathRead(path))] if path.steps else copied
        return None


def _is_index(step: str | ValuePath) -> bool:
    return isinstance(step, str) and step[:1] == "[" and step[1:-1].lstrip("-").isdigit()


def _makes(name: str, ending: Row) -> bool:
    """Whether a call has filled a new object: what it has written is found where that is read."""
    return ending.kind == rows.RETURN and name.rpartition(".")[2] in MAKERS


def _is_of_message(node: ast.AST, name: str) -> bool:
    """Whether a function was called for the message of an assertion that had failed by then."""
    calls = calls_in(node.msg) if isinstance(node, ast.Assert) else []
    return any(called(call) == name.rpartition(".")[2] for call in calls)


def _reads_attributes(focus: tuple[ast.expr, ...]) -> bool:
    """Whether a property or an operator may be called by expressions in which no call is written."""
    kinds = ast.Attribute | ast.Subscript | ast.BinOp | ast.Compare
    return any(isinstance(node, kinds) for expression in focus for node in ast.walk(expression))
