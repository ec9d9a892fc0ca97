"""Where a value comes from: names, arguments, results, attributes, items, contents."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue, says_nothing, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.asked_items import label_asked_for, named_in
from trio_debugmcp.runs.slicing.origins.call_edges import CallEdges
from trio_debugmcp.runs.slicing.origins.holder_edges import HolderEdges
from trio_debugmcp.runs.slicing.origins.item_origins import ItemOrigins, WantedPart, mover
from trio_debugmcp.runs.slicing.origins.joined_texts import of_joined, wanted_texts
from trio_debugmcp.runs.slicing.origins.loop_items import LoopItem, LoopItems
from trio_debugmcp.runs.slicing.origins.object_edges import PLAIN, ObjectEdges
from trio_debugmcp.runs.slicing.origins.opaque_edges import naming
from trio_debugmcp.runs.slicing.origins.outside_writes import OutsideWrites
from trio_debugmcp.runs.slicing.origins.recursion_edges import RecursionEdges
from trio_debugmcp.runs.slicing.origins.thread_local_edges import ThreadLocalEdges
from trio_debugmcp.runs.slicing.origins.uncertain_rounds import UncertainRounds
from trio_debugmcp.runs.slicing.recorded_contents import container_kind
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import PathRead, ValuePath, calls_in, path_of, reads_of


class DataEdges:
    """The edges by data of one process: a question for each way in which a value comes about."""

    def __init__(self, past: PastProcess, objects: ObjectEdges, calls: CallEdges) -> None:
        self._past = past
        self._objects = objects
        self._calls = calls
        self._items = ItemOrigins(past)
        self._taken = LoopItems(past, self._items)
        self._outside = OutsideWrites(past, objects)
        self._uncertain = UncertainRounds(past)
        self._recursions = RecursionEdges(past)
        self._locals = ThreadLocalEdges(past)
        self._holders = HolderEdges(past, objects, self.of_value)
        self._record = past.record

    def of_node(self, execution: StatementExecution, node: SliceNode) -> Iterator[SliceEdge]:
        """Yield what the value of a statement, or of expressions in it, was made of."""
        part = execution.statement.place_of(node.names)
        value = getattr(execution.statement.node, "value", None)
        if part >= 0 and isinstance(value, ast.Tuple) and part < len(value.elts):
            node = node._replace(focus=(value.elts[part],), names=())
        if (texts := wanted_texts(self._past, execution, node)) is not None:
            yield from self._of_texts(execution, node, *texts)
            return
        node = of_joined(self._past, execution, node)
        taken = self._taken.of_round(execution, node.wanted)
        yield from (SliceEdge(cost.HOLDER, item.origin) for item in taken)
        for name, value in self._taken.read_whole(execution) if not node.focus else ():
            yield from self._objects.of_content(execution, name, value, execution.row, node.wanted)
        parts = self._items.parts(execution, node)
        if len(parts) == 1 and parts[0].comprehension is not None:
            if self._is_known(execution, parts[0]):
                yield from self._of_round(execution, node, parts[0])
                return
            parts = []
        if (
            node.wanted.path
            and len(parts) == 1
            and parts[0].node not in (getattr(execution.statement.node, "value", None), *node.focus)
        ):
            node = node._replace(focus=(parts[0].node,))
        results = list(self._calls.results(execution, node, part, _paths_of_calls(parts)))
        copies = self._copied(execution, node, results, parts)
        if copies is not None:
            yield from copies
            for ending, _ in results:
                yield from self._recursions.of_result(ending)
            return
        if part < 0:
            yield from self._of_results(execution, node, results)
        else:
            for ending, edges in results:
                yield from edges
                yield from self._recursions.of_result(ending)
        yield from self._of_reads(execution, node, parts, taken)

    def _of_texts(
        self, execution: StatementExecution, node: SliceNode, run: StatementExecution, texts: list[ast.expr]
    ) -> Iterator[SliceEdge]:
        """Yield what made the texts that have the place which differs; of another run of a statement, that run."""
        node = node._replace(focus=tuple(texts))
        if run.row != execution.row:
            yield SliceEdge(cost.TEXT, SliceNode(run.row, focus=node.focus, wanted=node.wanted))
            return
        for ending, edges in self._calls.results(execution, node, -1):
            yield from (edge._replace(cost=min(edge.cost, cost.TEXT)) for edge in edges)
            yield from self._recursions.of_result(ending)
        recorded = self._calls.recorded_calls(execution)
        for text in texts:
            price = cost.TEXT if path_of(text) is not None else cost.FOCUS
            for read in reads_of(text, whole=False):
                if read.is_callee or read.argument_of in recorded:
                    yield from self._of_callee(execution, read)
                else:
                    yield from self.of_read(execution, read, price, node.wanted._replace(path=()))

    def _of_results(
        self, execution: StatementExecution, node: SliceNode, results: list[tuple[Row, list[SliceEdge]]]
    ) -> Iterator[SliceEdge]:
        """Yield the lines that ended the calls of a statement, and what has changed their results."""
        for ending, edges in results:
            yield from edges
            yield from self._recursions.of_result(ending)
            if ending.object:
                result = self._past.values.value_at(ending.number)
                wanted = node.wanted._replace(path=edges[0].node.wanted.path if edges else ())
                yield from self._objects.of_content(
                    execution, "the result", result, self._past.executions.ended(execution.row), wanted
                )

    def _of_reads(
        self, execution: StatementExecution, node: SliceNode, parts: list[WantedPart], taken: list[LoopItem]
    ) -> Iterator[SliceEdge]:
        """Yield what a statement, or the expressions in it that matter, has read."""
        focus, whole = node.focus, node.aim != "argument"
        reads = reads_of(*focus, whole=whole) if focus else execution.statement.reads
        is_carried = isinstance(execution.statement.node, ast.AugAssign)
        price = cost.FOCUS if focus or is_carried else cost.READ
        recorded = self._calls.recorded_calls(execution)
        makers = self._calls.recorded_calls(execution, makers=True) if not focus else ()
        if not focus and self._past.executions.raised(execution.row) is not None:  # into what it could not store
            reads = [*reads, *(PathRead(path.holder, is_whole=True) for path in execution.statement.stores)]
        decided = self._taken.decided(execution)
        yield from self._locals.of_reads(execution, reads)
        for read in reads:
            if read.is_callee or (not focus and read.argument_of in recorded):
                yield from self._of_callee(execution, read)
            else:
                here = read._replace(is_whole=False) if read.target_of in recorded else read  # the callee reads it
                path = next((part.path for part in parts if path_of(part.node) == read.path), ())
                item = None if focus else next((item for item in taken if item.container == read.path), None)
                if item is not None or read.path in decided:
                    here, path = here._replace(is_whole=False, of_items=""), ()
                for edge in self.of_read(execution, here, price, node.wanted._replace(path=path)):
                    dear = edge._replace(cost=edge.cost + cost.GIVEN_TO_MAKER * (read.argument_of in makers))
                    yield self._uncertain.of_line(dear) if read.of_items and node.wanted.path else dear

    def items_of(self, execution: StatementExecution, node: SliceNode) -> list[int]:
        """Return the objects that a comprehension of a statement has made the wanted item of; empty: not known."""
        parts = self._items.parts(execution, node)
        return [item.object for part in parts for item in part.items.values() if item.object]

    def _is_known(self, execution: StatementExecution, part: WantedPart) -> bool:
        """Whether all that an item of a comprehension was made of is in the record: a class may have given it."""
        before = max(self._past.executions.settled(execution.row), part.before)
        reads = [read for read in reads_of(part.node) if read.path.name in part.items]
        items = [(part.items[read.path.name], read.path.steps) for read in reads]
        return all(container_kind(item.text) or self._items.along(item, steps, before) for item, steps in items)

    def _of_round(self, execution: StatementExecution, node: SliceNode, part: WantedPart) -> Iterator[SliceEdge]:
        """Yield what an item of a comprehension was made of, in the round that made it."""
        wanted = node.wanted._replace(path=part.path)
        inner = node._replace(focus=(part.node,))
        paths = {id(part.node): part.path} if isinstance(part.node, ast.Call) else {}
        for ending, edges in self._calls.results(execution, inner, -1, paths, part.place):
            yield from edges
            yield from self._recursions.of_result(ending)
        before = max(self._past.executions.settled(execution.row), part.before)
        recorded = self._calls.recorded_calls(execution)
        for read in reads_of(part.node):
            item = part.items.get(read.path.name)
            if item is None:
                if not read.is_callee and read.argument_of not in recorded:
                    yield from self.of_read(execution, read, cost.FOCUS, wanted._replace(path=()))
                continue
            value = self._items.along(item, read.path.steps, before)
            if value is None and read.path.steps and part.source[0]:  # what is in it came with it
                way = (part.source[1], *map(str, read.path.steps))
                made = self._items.of_item(part.source[0], wanted._replace(path=way), before)
                yield from [SliceEdge(cost.ITEM, made)] if made is not None else []
            if value is not None and value.object and part.path and path_of(part.node) == read.path:
                within = self._items.of_item(value.object, wanted, before)  # it may have changed since it was put there
                yield from [SliceEdge(cost.ITEM, within)] if within is not None else []
            if value is None or not read.path.steps:
                continue
            yield from self.of_value(execution, read.path, value, cost.FOCUS)
            if value.object and read.is_whole:
                yield from self._objects.of_content(execution, str(read.path), value, before, wanted)
        container, label = part.source
        if container:
            origin = self._items.of_item(
                container, wanted._replace(path=(label, *(part.path if part.is_item else ()))), before
            )
            if origin is not None:
                yield SliceEdge(cost.ITEM if part.is_item else cost.READ, origin)
            moved = mover(self._past, container, label, before)
            yield from [SliceEdge(cost.READ, moved)] if moved is not None else []
        yield from self._of_filters(execution, node, part)
        yield from self._of_iterated(execution, node, part)

    def _of_filters(self, execution: StatementExecution, node: SliceNode, part: WantedPart) -> Iterator[SliceEdge]:
        """Yield what the conditions of a comprehension have called and read in the round that let an item in."""
        place = part.source[1][1:-1]
        for condition in part.comprehension.generators[0].ifs if part.comprehension is not None else ():
            whole = node._replace(focus=(condition,))
            rounds = int(place) if place.isdigit() else -1
            for ending, edges in self._calls.results(execution, whole, -1, {}, rounds):
                yield from edges
                yield from self._recursions.of_result(ending)
            recorded = self._calls.recorded_calls(execution)
            for read in reads_of(condition):
                if read.path.name not in part.items and not read.is_callee and read.argument_of not in recorded:
                    yield from self.of_read(execution, read, cost.FOCUS, node.wanted._replace(path=()))

    def _of_iterated(self, execution: StatementExecution, node: SliceNode, part: WantedPart) -> Iterator[SliceEdge]:
        """Yield where that comes from which the comprehension of a part goes through."""
        if part.comprehension is None:
            return
        iterable = part.comprehension.generators[0].iter
        way = () if part.source[0] or part.place < 0 else (f"[{part.place}]",)
        draws = self._calls.draws.of_round(execution, iterable, part.place)
        path = () if draws or part.source[0] else node.wanted.path
        whole = node._replace(focus=(iterable,), wanted=node.wanted._replace(path=path))
        for ending, edges in self._calls.results(execution, whole, -1, {id(iterable): way}, draws=draws):
            yield from edges
            if ending.object and not part.source[0]:
                result, ended = self._past.values.value_at(ending.number), self._past.executions.ended(execution.row)
                wanted = node.wanted._replace(path=way)
                yield from self._objects.of_content(execution, "the result", result, ended, wanted)
        for read in reads_of(iterable):
            if not read.is_callee:
                here = read._replace(is_whole=read.is_whole and not part.source[0])
                yield from self.of_read(execution, here, cost.READ, node.wanted._replace(path=()))

    def of_read(
        self, execution: StatementExecution, read: PathRead, price: float, wanted: WantedPieces
    ) -> Iterator[SliceEdge]:
        """Yield what a path that is read was made by."""
        value = self._past.values.read(execution, read)
        if value is None:
            if isinstance(execution.scope.node, ast.GeneratorExp):  # it is an item, and was not kept
                yield SliceEdge(cost.ARGUMENT, SliceNode(self._record.frame(execution.frame).start, names=(".0",)))
            yield from self._holders.of_nearest(execution, read, wanted)
            return
        holder = self._past.values.value(execution, read.path.holder) if read.path.steps else None
        if holder is not None and holder.row == value.row:  # an item of a tuple, which came with it
            label = self._past.values.label_of(execution, read.path.steps[-1]) or ""
            way = (label, *wanted.path)
            whole = read._replace(path=read.path.holder, is_whole=False, of_items="")
            yield from self.of_read(execution, whole, price, wanted._replace(path=way))
            return
        if read.target_of and value.object:
            price = cost.HOLDER if type_name(value.text) != "Pattern" else cost.FOCUS  # what it looks for is all
        elif wanted.fits(value.text):
            price *= cost.WANTED
        for edge in self.of_value(execution, read.path, value, price):
            yield edge.with_path(wanted)
        if read.path in execution.statement.carried and value.kind in (rows.WRITE, rows.FIELD):
            yield from self._objects.of_carried(execution, value)
        if read.path.steps:
            yield from self._holders.of_holder(execution, read, wanted)
        before = self._past.values.bound(execution, read)
        if read.of_items:
            yield from self._objects.of_items(execution, value, read.of_items, before, wanted)
        is_read_by_methods = read.target_of is not None and self._past.scopes.classes(type_name(value.text))
        if (
            value.object
            and (read.is_whole or read.of_items or wanted.path)
            and not says_nothing(value.text)
            and not is_read_by_methods
        ):
            named = named_in(self._past, execution, read)
            wanted = wanted._replace(pieces=(*named, *wanted.pieces)) if named else wanted
            label = label_asked_for(self._past, execution, read)
            wanted = wanted._replace(path=(label,)) if label else wanted
            for edge in self._objects.of_content(execution, str(read.path), value, before, wanted):
                own = edge.node.wanted.path
                yield edge._replace(node=edge.node._replace(wanted=wanted._replace(path=own)))

    def of_value(
        self, execution: StatementExecution, path: ValuePath, value: RecordedValue, price: float
    ) -> Iterator[SliceEdge]:
        """Yield what has given a path its value."""
        if value.kind == rows.GAP:
            yield from self._objects.of_gap(execution, str(path), value.row)
        elif value.kind == rows.SEEN_NAME:
            yield from self._outside.of_seen_name(execution, path.name, value, price)
        elif value.kind == rows.SEEN:
            holder = self._past.values.value(execution, path.holder) if path.steps else None
            for edge in self._objects.of_seen(value, holder, price):
                yield self._to_item(edge, value)
        else:
            name = str(path.steps[-1])[1:] if path.steps else path.name
            for edge in self._objects.of_owner(value.owner, price, name, value.text):
                yield self._to_item(edge, value)

    def _to_item(self, edge: SliceEdge, value: RecordedValue) -> SliceEdge:
        """Return an edge to the maker of a container of which an item was read: that item is wanted."""
        label = self._record.label(self._record.row(value.row).key)
        if value.kind not in (rows.FIELD, rows.SEEN) or label[:1] != "[" or edge.node.wanted.path:
            return naming(edge, label) if value.kind == rows.SEEN else edge
        origin = self._items.of_item(self._record.row(value.row).subject, WantedPieces(path=(label,)), value.row + 1)
        same = origin is not None and origin.row == edge.node.row
        if origin is None or not same:
            return edge
        return edge._replace(node=edge.node._replace(wanted=origin.wanted, focus=origin.focus or edge.node.focus))

    def _of_callee(self, execution: StatementExecution, read: PathRead) -> Iterator[SliceEdge]:
        """Yield what has put another function in the place of the one that was defined."""
        value = self._past.values.read(execution, read) if read.is_callee else None
        if value is not None and value.kind in (rows.FIELD, rows.WRITE):
            yield from self._objects.of_owner(value.owner, cost.READ, read.path.name)

    def _copied(
        self,
        execution: StatementExecution,
        node: SliceNode,
        results: list[tuple[Row, list[SliceEdge]]],
        parts: list[WantedPart],
    ) -> list[SliceEdge] | None:
        """Return the one edge to where an object comes from that a statement only passes on; None if it made one."""
        focus = node.focus
        is_operand = node.aim == "argument" and not focus  # of a call that is not written: what that gave is known
        if is_operand or isinstance(execution.statement.node, ast.GeneratorExp):  # one line, many rounds
            return None
        path = execution.statement.copied if not focus else None
        if len(focus) == 1 and not calls_in(*focus) and isinstance(focus[0], ast.Name | ast.Attribute | ast.Subscript):
            return None
        written = {effect.object for effect in self._past.executions.effects(execution.row)} - {0}
        ending = self._past.executions.ending(execution.row)
        if ending is not None and ending.object and not self._past.executions.is_waiting(ending):
            written.add(ending.object)
        for outcome, edges in results:
            if outcome.object and outcome.object in written and self._record.text(outcome) not in PLAIN:
                return [SliceEdge(cost.COPY, edge.node) for edge in edges]
        if path is not None:
            value = self._past.values.value(execution, path)
            if value is not None and value.object in written:
                on = next((part.path for part in parts if path_of(part.node) == path), ())
                wanted = node.wanted._replace(path=on)
                copied = [edge.with_path(wanted) for edge in self.of_value(execution, path, value, cost.COPY)]
                holder = self._holders.of_holder(execution, PathRead(path), wanted)
                return [*copied, *holder, *self._holders.of_keys(execution, path)] if path.steps else copied
        return None


def _paths_of_calls(parts: list[WantedPart]) -> dict[int, tuple[str, ...]]:
    """Return the ways on from the results of calls that give what is wanted, by the ids of the calls."""
    return {id(part.node): part.path for part in parts if isinstance(part.node, ast.Call)}
