"""Which item of a value is wanted, and what has made that very item: through lists, dicts, copies and comprehensions.

    piece = origins.pieces(execution, node)[0]      # of `[f(x) for x in xs]` with `[2]` wanted: `f(x)`, round 2
    origins.of_item(container, ("[2]",), before)    # the line that has put the item there, and what of it is wanted

The way to an item is labels as records have them: `("[2]", "['price']")` is the price of the third item.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, called
from trio_debugmcp.runs.past.recorded_values import RecordedValue, of_tuple, type_name
from trio_debugmcp.runs.slicing.origins.written_items import inner
from trio_debugmcp.runs.slicing.recorded_contents import content_of, parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces, constant
from trio_debugmcp.runs.source.read_paths import PUTTING, ValuePath, iterated_path, path_of

_MOVING = ("sort", "reverse", "insert", "pop", "remove", "rotate", "appendleft", "popleft")
"""Methods after which items stand at other places."""

_REORDERING = ("sorted", "reversed")

_VIEWS = ("items", "enumerate")

_MOST_MOVES = 20

_DEEPEST = 10
"""Containers, one in the other."""


@dataclass(frozen=True)
class WantedPart:
    """The expression of a statement that has made the wanted item.

    Attributes:
        node: the expression.
        path: the way on from its value to what is wanted.
        comprehension: in the rounds of which it was evaluated; None: once.
        place: the number of that round; -1: not known.
        items: what the variables of the comprehension were in that round, as far as it is known.
        source: the container that it went through, and the label of its item in that round.
        before: behind the row from which that container is known.
    """

    node: ast.expr
    path: tuple[str, ...]
    comprehension: "ast.ListComp | ast.DictComp | None" = None
    place: int = -1
    items: dict[str, RecordedValue] = field(default_factory=dict)
    source: tuple[int, str] = (0, "")
    before: int = 0

    @property
    def is_item(self) -> bool:
        """Whether it is the item of a comprehension as it is: `x` of `[x for x in rows]`."""
        return isinstance(self.node, ast.Name) and self.node.id in self.items


class ItemOrigins:
    """The origins of the items of containers in one process: of each way to make one."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._classes = past.scopes.classes

    def of_item(self, container: int, wanted: WantedPieces, before: int) -> SliceNode | None:
        """Return the line that has put an item into a container, or has made it with the item; None: not known."""
        label = wanted.path[0]
        value = self._past.values.field(container, label, before)
        for _ in range(_MOST_MOVES):
            if value is None or value.kind == rows.GAP:
                return None
            if value.kind == rows.SEEN:  # it was there when the container was made
                made = self._past.values.birth(container, before)
                way = self._way_into(container, made)
                return self._node(made, wanted._replace(path=(*way, label, *wanted.path[1:])))
            writer = self._past.executions.at(value.owner) if value.owner else None
            if writer is None or not _has_moved(writer):
                rest = wanted.path[1:] if writer is None or _puts(writer.statement.node) else (label, *wanted.path[1:])
                return self._node(value.owner, wanted._replace(path=rest))
            label, value = _before_move(self._past, container, value, writer.row)
        return None

    def _node(self, owner: int, wanted: WantedPieces) -> SliceNode | None:
        execution = self._past.executions.at(owner) if owner else None
        if execution is None or execution.statement.is_definition:
            return None
        node = SliceNode(owner, wanted=wanted)
        value = getattr(execution.statement.node, "value", None)
        if isinstance(value, ast.Dict | ast.List | ast.Tuple):  # written out: one entry of many
            part = self._part(execution, value, wanted.path)
            if part.comprehension is None and part.node is not value:
                return node._replace(focus=(part.node,), wanted=wanted._replace(path=part.path))
        return node

    def came_with(
        self, edges: Iterator[SliceEdge], value: RecordedValue, made: int, wanted: WantedPieces
    ) -> Iterator[SliceEdge]:
        """Yield edges to what has made a container, of which an item is wanted, or of that with which it came."""
        way = self._way_into(value.object, made)
        item = wanted._replace(path=(*way, *wanted.path))
        for edge in edges:  # a tuple was made with its items; one of another container may have come later
            yield edge._replace(node=edge.node._replace(wanted=item)) if way or self._is_tuple(value) else edge

    def _is_tuple(self, value: RecordedValue) -> bool:
        """Whether an object is a tuple, or a named one of a class of the program."""
        name = type_name(value.text)
        return value.text[:1] == "(" or (value.text[: len(name) + 1] == f"{name}(" and bool(self._classes(name)))

    def _way_into(self, container: int, made: int) -> tuple[str, ...]:
        """Return the labels from what a line has made to a container that came with it."""
        way: tuple[str, ...] = ()
        for _ in range(_DEEPEST):
            number = self._record.forth_of(rows.WITH_VALUE, container, 0, by_value=True)
            row = self._record.row(number) if number else None
            if row is None or row.kind != rows.SEEN or row.owner != made:
                return way
            way, container = (self._record.label(row.key), *way), row.subject
        return way

    def iterated(self, execution: StatementExecution, iterable: ast.expr) -> RecordedValue | None:
        """Return the container that an iteration goes through: that of a path, or the result of a recorded call."""
        path = iterated_path(iterable)
        if path is not None:
            return self._past.values.value(execution, path)
        for start in self._past.executions.calls(execution.row) if isinstance(iterable, ast.Call) else ():
            ending = self._past.executions.outcome(start.number)
            if call_of(self._past, execution, start) is iterable and ending is not None and ending.kind == rows.RETURN:
                return self._past.values.value_at(ending.number)
        return None

    # --- The part of a statement --------------------------------------------------------------------------------------

    def parts(self, execution: StatementExecution, node: SliceNode) -> list[WantedPart]:
        """Return the expressions of a statement that have made what is wanted of its value."""
        path = node.wanted.path
        found = [self._part(execution, operand, path) for operand in _operands(execution, node.focus)]
        return [part for part in found if part.path or part.node not in node.focus]

    def _part(self, execution: StatementExecution, node: ast.expr, path: tuple[str, ...]) -> WantedPart:
        while True:
            written = inner(node, path, self._classes)
            if written is None:
                break
            node, path = written
        if isinstance(node, ast.ListComp | ast.DictComp) and path and len(node.generators) == 1:
            return self._of_round(execution, node, path)
        return WantedPart(node, path)

    def _of_round(
        self, execution: StatementExecution, node: "ast.ListComp | ast.DictComp", path: tuple[str, ...]
    ) -> WantedPart:
        """Return the part of a comprehension that was made in the round of an item; in each, if that is not known."""
        place = self._place(execution, node, path[0])
        element = node.elt if isinstance(node, ast.ListComp) else node.value
        labelled = self._in_round(execution, node, place, path[0])
        made, rest = element, path[1:]
        while (deeper := inner(made, rest, self._classes)) is not None:
            made, rest = deeper
        if labelled is None and place < 0:
            return WantedPart(ast.ListComp(made, node.generators), ("[]", *rest))
        items = self.bound(node.generators[0], *labelled[1:]) if labelled is not None else {}
        if labelled is None:
            return WantedPart(made, rest, node, place, items)
        source, label, _ = labelled
        return WantedPart(made, rest, node, place, items, (source.object, label), source.row + 1)

    def _place(self, execution: StatementExecution, node: "ast.ListComp | ast.DictComp", label: str) -> int:
        """Return the round that has made the item of a label; -1: not known."""
        if node.generators[0].ifs:
            return -1
        if isinstance(node, ast.ListComp):
            return int(label[1:-1]) if label[1:-1].isdigit() else -1
        iterable = node.generators[0].iter
        iterated = self.iterated(execution, iterable)
        made = _value_made(self._past, execution)
        content = content_of(self._past, made, self._record.last + 1) if made is not None else None
        labels = [f"[{key!r}]" for key in content] if isinstance(content, dict) else []
        written = _items_of_display(iterable)
        rounds = _parts(self._past, execution, iterated) if iterated is not None and iterated.object else written
        # Where two rounds have given the same key, its place among the keys is not that of its round.
        return labels.index(label) if label in labels and len(labels) == len(rounds) else -1

    def _in_round(
        self, execution: StatementExecution, node: "ast.ListComp | ast.DictComp", place: int, label: str
    ) -> tuple[RecordedValue, str, RecordedValue] | None:
        """Return the container that a comprehension went through, and the item of a round with its label."""
        iterable = node.generators[0].iter
        value = self.iterated(execution, iterable)
        if value is None or not value.object:
            return None
        parts = _parts(self._past, execution, value)
        if place >= 0 and not _reorders(iterable):
            is_listed = f"[{place}]" in parts and value.text[:1] in ("[", "(", "l", "t")
            chosen = [(f"[{place}]", parts[f"[{place}]"])] if is_listed else list(parts.items())[place : place + 1]
        else:
            chosen = self._like(execution, node, parts, label)
        return (value, *chosen[0]) if len(chosen) == 1 else None

    def _like(
        self,
        execution: StatementExecution,
        node: "ast.ListComp | ast.DictComp",
        parts: dict[str, RecordedValue],
        label: str,
    ) -> list[tuple[str, RecordedValue]]:
        """Return the items of which a comprehension has made what is wanted, by comparing it with them."""
        whole = _value_made(self._past, execution)
        made = self._past.values.field(whole.object, label, self._record.last) if whole is not None else None
        element = node.elt if isinstance(node, ast.ListComp) else node.value
        path = path_of(element)
        if made is None or path is None:
            return []
        found = []
        for key, part in parts.items():
            items = self.bound(node.generators[0], key, part)
            value = self.along(items.get(path.name), path.steps, self._past.executions.settled(execution.row))
            if value is not None and (value.object, value.text) == (made.object, made.text):
                found.append((key, part))
        return found

    def along(
        self, value: RecordedValue | None, steps: tuple[str | ValuePath, ...], before: int
    ) -> RecordedValue | None:
        """Return the value at the end of some steps from a value."""
        for step in steps:
            if value is None or not value.object or not isinstance(step, str):
                return None
            value = self._past.values.field(value.object, step, before) or of_tuple(value, step)
        return value

    def bound(self, generator: ast.comprehension, label: str, item: RecordedValue) -> dict[str, RecordedValue]:
        """Return what the variables of a comprehension were when it came to an item."""
        target = generator.target
        if isinstance(target, ast.Name):
            return (
                {} if isinstance(generator.iter, ast.Call) and called(generator.iter) in _VIEWS else {target.id: item}
            )
        if not isinstance(target, ast.Tuple):
            return {}
        if isinstance(generator.iter, ast.Call) and called(generator.iter) in _VIEWS:
            last = target.elts[-1]
            return {last.id: item} if isinstance(last, ast.Name) and len(target.elts) == 2 else {}
        fields = [(name, self.along(item, (f"[{place}]",), item.row + 1)) for place, name in enumerate(target.elts)]
        return {name.id: known for name, known in fields if isinstance(name, ast.Name) and known is not None}


def mover(past: PastProcess, container: int, label: str, before: int) -> SliceNode | None:
    """Return the line that has put an item at its place by moving all of a container; None: no such line has."""
    value = past.values.field(container, label, before)
    writer = past.executions.at(value.owner) if value is not None and value.kind == rows.FIELD else None
    return SliceNode(writer.row) if writer is not None and _has_moved(writer) else None


def _has_moved(writer: StatementExecution) -> bool:
    """Whether a line has only given the items of a container other places."""
    node = writer.statement.node
    if isinstance(node, ast.Delete):
        return True
    call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    return isinstance(call, ast.Call) and called(call) in _MOVING


def _before_move(
    past: PastProcess, container: int, value: RecordedValue, before: int
) -> tuple[str, RecordedValue | None]:
    """Return where an item was in a container before a line."""
    for label, part in parts_of(past, container, before).items():
        if (part.object, part.text) == (value.object, value.text):
            return label, part
    put = past.values.value_at(value.row)
    return past.record.label(past.record.row(put.row).key), None


def _parts(past: PastProcess, execution: StatementExecution, iterated: RecordedValue) -> dict[str, RecordedValue]:
    """Return the items of what a comprehension went through; of a call's result those when that was returned."""
    settled = past.executions.settled(execution.row)
    return parts_of(past, iterated.object, max(settled, iterated.row + 1))


def _value_made(past: PastProcess, execution: StatementExecution) -> RecordedValue | None:
    """Return the value that a statement has given a name or returned; None: there is none."""
    ending = past.executions.ending(execution.row)
    made = [*past.executions.effects(execution.row)[-1:], *([ending] if ending is not None else [])]
    return past.values.value_at(made[-1].number) if made else None


def _items_of_display(node: ast.expr) -> list[ast.expr]:
    """Return the items of a list or tuple that is written out; none of another expression."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return [] if any(isinstance(item, ast.Starred) for item in items) else items


def _operands(execution: StatementExecution, focus: tuple[ast.expr, ...]) -> list[ast.expr]:
    """Return the expressions whose value a statement gives; of an assertion those that it compares."""
    node = execution.statement.node
    if focus:
        return list(focus) if len(focus) == 1 else []
    if isinstance(node, ast.Assert):
        tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        compared = [part for test in tests if isinstance(test, ast.Compare) for part in (test.left, *test.comparators)]
        return [part for part in compared if constant(part) is ...]
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        if isinstance(value, ast.Call) and called(value) in PUTTING and value.args:
            return [value.args[-1]]
        return [value.value] if isinstance(value, ast.Yield) and value.value is not None else []
    if isinstance(node, ast.Assign) and any(isinstance(target, ast.Tuple | ast.List) for target in node.targets):
        return []
    return [value] if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) and value is not None else []


def is_put_into(past: PastProcess, execution: StatementExecution, container: int) -> bool:
    """Whether all that a line does with a container is to put something into it: what is in it gives no value."""
    call = execution.statement.node.value if isinstance(execution.statement.node, ast.Expr) else None
    if not isinstance(call, ast.Call) or called(call) not in PUTTING:
        return False
    reads = [(read, past.values.read(execution, read)) for read in execution.statement.reads]
    here = [read for read, value in reads if value is not None and value.object == container]
    return bool(here) and all(read.target_of is call for read in here)


def _puts(node: ast.AST) -> bool:
    """Whether a statement puts the value that it gives into a container, rather than to make one."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        return isinstance(value, ast.Call) and called(value) in PUTTING
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Subscript) for target in targets)


def _reorders(iterable: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) and called(node) in _REORDERING for node in ast.walk(iterable))


def target_in(past: PastProcess, owner: int, name: str) -> str:
    """Return the name under which a line of several targets has made one; empty: it is another line."""
    made, last = past.executions.at(owner), name.rpartition(".")[2]
    return last if made is not None and made.statement.place_of((last,)) >= 0 else ""
