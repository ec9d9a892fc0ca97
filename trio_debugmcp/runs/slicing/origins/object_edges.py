"""Where objects and what is in them come from: what made them, what changed them, what their class gave them."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import CONTENT, RecordedValue, never_changes, type_name
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.enum_alias_edges import enum_alias
from trio_debugmcp.runs.slicing.origins.handed_method_edges import HandedMethodEdges
from trio_debugmcp.runs.slicing.origins.item_origins import ItemOrigins, is_put_into, target_in
from trio_debugmcp.runs.slicing.origins.opaque_edges import OpaqueEdges
from trio_debugmcp.runs.slicing.origins.value_gaps import ValueGaps, type_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import NOTHING_WANTED, WantedPieces
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of
from trio_debugmcp.runs.source.source_scopes import SourceScope, Statement
from trio_debugmcp.runs.source.statement_trees import entry_of

_MOST_CHANGES = 4
"""Of the content of one object: the last ones, at as many lines."""

_GENERATOR = "<generator "
_SHARED = "all instances share it"
_ENTRIES = frozenset({rows.START, rows.RESUME})

_MOST_BASES = 10
"""One above the other."""

_MOST_LOOKED_AT = 400
"""Changes of one object: the last ones."""

_MOST_INNER = 20
"""Items of one container whose own content is looked at: the last ones."""

PLAIN = frozenset({"None", "True", "False", "0", "1", "''", "b''", "[]", "{}", "()", "set()"})
"""Values that are everywhere: that two of them are the same one says nothing."""


class ObjectEdges:
    """The edges to objects of one process: what made, changed and gave each kind of them.

    Attributes:
        gaps: what a slice has found changed by nothing that is recorded.
    """

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._origins = ItemOrigins(past)
        self._opaque = OpaqueEdges(past)
        self.gaps = ValueGaps(past.record, self._opaque.is_shared)
        self._handed = HandedMethodEdges(past)

    # --- What was there already ---------------------------------------------------------------------------------------

    def of_seen(self, value: RecordedValue, holder: RecordedValue | None, price: float) -> Iterator[SliceEdge]:
        """Yield where a value comes from that was there when it was first looked at.

        Args:
            value: it.
            holder: the object whose attribute or item it is.
            price: the cost of the edge.
        """
        if holder is not None:
            yield from enum_alias(self._past, value, self._record.label(self._record.row(value.row).key))
        if value.object and value.text not in PLAIN:
            owner = self._past.values.birth(value.object, value.row)
            if owner:
                yield from self.of_owner(owner, price, hint=value.text)
                return
        if holder is not None:
            label = self._record.label(self._record.row(value.row).key)
            yield from self.of_class(holder, label, value)
            yield from self.of_owner(self._past.values.birth(holder.object, value.row), price, label[1:], value.text)

    def of_class(self, holder: RecordedValue, label: str, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield the line of a class body that has given an attribute the value that its instances have."""
        key = self._record.key_of(label[1:]) if label[:1] == "." else 0
        note = _SHARED if value.object else "the class has this default"
        for scope in self._with_bases(type_name(holder.text)) if key else ():
            for frame in self._past.scopes.frames([scope]):
                written = self._record.back(rows.WRITE, key, frame, value.row)
                if written and self._past.values.value_at(written).text == value.text:
                    yield SliceEdge(cost.READ, SliceNode(self._record.row(written).owner), note)
                    return

    def _with_bases(self, name: str, deep: int = 0) -> Iterator[SourceScope]:
        """Yield the classes of a name, and behind them their bases."""
        for scope in self._past.scopes.classes(name):
            yield scope
            for base in scope.bases if deep < _MOST_BASES else ():
                yield from self._with_bases(base, deep + 1)

    def of_unseen_attribute(self, execution: StatementExecution, path: ValuePath, label: str) -> Iterator[SliceEdge]:
        """Yield what may have given an attribute the value that is not in the record: its class, or a `setattr`."""
        holder = self._past.values.value(execution, path.holder)
        if holder is not None:
            yield from self._of_class_attribute(execution, path, type_name(holder.text), label[1:])
        for statement, _, name in self._past.mentions.attribute_updates():
            key = path_of(name)
            for frame in self._past.scopes.frames([statement.scope])[-_MOST_CHANGES:] if key is not None else ():
                for run in self._past.executions.runs(statement, frame, execution.row):
                    value = self._past.values.value(run, key) if key is not None else None
                    if value is not None and value.text == repr(label[1:]):
                        yield SliceEdge(cost.READ, SliceNode(run.row), f"sets {label}")
                        break

    def _of_class_attribute(
        self, execution: StatementExecution, path: ValuePath, class_name: str, name: str
    ) -> Iterator[SliceEdge]:
        """Yield the line of a class body, or of the body of a base, that has set an attribute, and what changed it."""
        key = self._record.key_of(name)
        for scope in self._past.scopes.classes(class_name) if key else ():
            for frame in self._past.scopes.frames([scope])[-1:]:
                written = self._record.back(rows.WRITE, key, frame, execution.row)
                if written:
                    value = self._past.values.value_at(written)
                    writer = self._past.executions.at(value.owner)
                    if writer is not None and writer.statement.is_definition:  # a method: no instance has it
                        return
                    price = cost.READ if value.object else 2 * cost.READ
                    yield SliceEdge(price, SliceNode(value.owner), _SHARED)
                    yield from self.of_content(execution, str(path), value, execution.row)
                    return
            for base in scope.bases:
                yield from self._of_class_attribute(execution, path, base, name)

    # --- What is in an object -----------------------------------------------------------------------------------------

    def of_content(
        self,
        execution: StatementExecution,
        name: str,
        value: RecordedValue,
        before: int,
        wanted: WantedPieces = NOTHING_WANTED,
    ) -> Iterator[SliceEdge]:
        """Yield what has changed an object last, at different lines: of the wanted piece, of other frames first."""
        container = value.object
        if value.text.startswith(_GENERATOR):
            yield from self._of_generator(execution, value, before)
        origin = self._origins.of_item(container, wanted, before) if wanted.path else None
        if origin is not None and origin.row != execution.row:
            yield SliceEdge(cost.ITEM, origin)
        changes = self._changes(execution, name, container, before, wanted)
        fitting = [row for _, row in changes if _fits(self._record, row, wanted)]
        for changed, row in changes:
            far = 2.0 if self._record.label(row.key)[:1] == "." else 1.0
            if fitting or origin is not None:
                far = cost.WANTED if row in fitting and origin is None else cost.UNWANTED
            near = 0.8 if changed.frame != execution.frame else 1.0
            yield SliceEdge(cost.CHANGE * far * near, SliceNode(changed.row))
            if _is_gap(row):
                yield from self._handed.of_change(changed, container, row.number)
        known = {changed.statement for changed, _ in changes}
        yield from self._of_inner(execution, container, before, wanted, known)
        owner = self._past.values.birth(container, before)
        is_opaque = not changes and not self._record.back_of(frozenset({rows.SIZE}), container, before)
        is_buffer = is_opaque and self._opaque.is_buffer(type_name(value.text))
        can_change = is_opaque and not never_changes(value.text)
        if is_buffer or (can_change and not self._past.scopes.classes(type_name(value.text))):
            self.gaps.add_opaque(execution, name, type_name(value.text) if is_buffer else "", owner)
            yield from self._opaque.of_calls_on(execution, container, wanted, is_buffer=is_buffer, before=before)
        elif self._past.values.is_big(container, before):  # a store under a key that it has changes no length
            yield from self._opaque.of_stores(execution, container)
        if owner and owner != execution.row:
            made = self.of_owner(owner, cost.BIRTH if changes else cost.CHANGE, target_in(self._past, owner, name))
            yield from self._origins.came_with(made, value, owner, wanted)

    def _of_inner(
        self, execution: StatementExecution, container: int, before: int, wanted: WantedPieces, known: set[Statement]
    ) -> Iterator[SliceEdge]:
        """Yield what has changed the containers in a container last, at lines that have not changed it itself.

        Of what the round of a loop has taken only that: its body has no other item. Where one item is wanted only its
        changes: the same line has often filled all of them, and one run of it is shown. So none where one is put
        beside them.
        """
        if is_put_into(self._past, execution, container):
            return
        found: list[StatementExecution] = []
        only = self._past.values.field(container, wanted.path[0], before) if wanted.path else None
        items = [only.object] if only is not None else self._past.values.items(container, before)[:_MOST_INNER]
        is_round = isinstance(execution.statement.node, ast.For | ast.AsyncFor)
        taken = {effect.object for effect in self._past.executions.effects(execution.row)} if is_round else set()
        for item in [item for item in items if item in taken] or items:
            number = self._record.back_of(CONTENT, item, before)
            owner = self._record.row(number).owner if number and self._record.row(number).key != 0 else 0
            changed = self._past.executions.at(owner) if owner else None
            if changed is None or changed.row == execution.row or changed.statement in known:
                continue
            known.add(changed.statement)
            found.append(changed)
        for changed in found[:_MOST_CHANGES]:
            yield SliceEdge(cost.INNER, SliceNode(changed.row))

    def of_carried(self, execution: StatementExecution, value: RecordedValue) -> Iterator[SliceEdge]:
        """Yield the last writes, by other statements, of a place to whose value a statement adds."""
        row = self._record.row(value.row)
        lines: set[Statement] = {execution.statement}
        number = value.row + 1
        after = self._record.frame(row.subject).start if row.kind == rows.WRITE else 0
        for _ in range(_MOST_LOOKED_AT):
            number = self._record.back(row.kind, row.key, row.subject, number, after)
            if not number or len(lines) > _MOST_CHANGES:
                return
            writer = self._past.executions.at(self._record.row(number).owner)
            if writer is not None and writer.statement not in lines:
                lines.add(writer.statement)
                yield SliceEdge(cost.CARRIED, SliceNode(writer.row))

    def _of_generator(self, execution: StatementExecution, value: RecordedValue, before: int) -> Iterator[SliceEdge]:
        """Yield what has taken the items of a generator before, and the line that gave the last one."""
        born = self._record.forth_of(rows.WITH_VALUE, value.object, 0, by_value=True)
        frame = self._past.scopes.first_frame(value.text[len(_GENERATOR) : -1], born)
        last = self._record.back_of(_ENTRIES, frame, before) if frame else 0
        if not last:
            return
        taker, ending = self._past.executions.at(self._record.row(last).owner), self._past.executions.outcome(last)
        if taker is None or not self._has_read(taker, value.object):  # the frame may be that of another one
            return
        while taker is not None and taker.frame and not taker.scope.is_named:  # another generator passes them on
            caller = self._past.executions.caller(taker.frame)
            taker = caller
        is_used_up = ending is not None and ending.kind == rows.RETURN and ending.number < before
        if taker is not None and taker.row != execution.row:
            yield SliceEdge(cost.USED, SliceNode(taker.row), "used it up" if is_used_up else "took items from it")
        if ending is not None and ending.owner:
            yield SliceEdge(cost.CHANGE, SliceNode(ending.owner))

    def _has_read(self, taker: StatementExecution, target: int) -> bool:
        """Whether a line has read an object, or its generator expression was given it."""
        start = self._record.row(self._record.frame(taker.frame).start)
        given = self._past.values.parameter(start, ".0")
        read = [self._past.values.read(taker, read) for read in taker.statement.reads if not read.is_callee]
        return any(value is not None and value.object == target for value in [given, *read])

    def of_owner(self, owner: int, price: float, name: str = "", hint: str = "") -> Iterator[SliceEdge]:
        """Yield the line that a row belongs to, but no definitions; of a call the parameter `name`, or its caller."""
        if not owner:
            return
        row, execution = self._record.row(owner), self._past.executions.at(owner)
        if row.kind == rows.LINE and execution is None:  # of generated code: what it has called, or was called with
            yield from _of_generated(self._past, owner, name)
            owner = self._record.frame(row.subject).start
            row = self._record.row(owner)
        if row.kind == rows.START:
            if name == ".0" or name in self._record.code(row.key).params:
                yield SliceEdge(cost.ARGUMENT, SliceNode(owner, names=(name,)))
            elif row.owner:
                yield SliceEdge(price, SliceNode(row.owner))
        elif execution is not None and not execution.statement.is_definition:
            names = (name,) if execution.statement.place_of((name,)) >= 0 else ()
            entry = entry_of(execution.statement.node, name)
            node = SliceNode(owner, names=names, hint=hint, focus=(entry,) if entry is not None else ())
            yield SliceEdge(price + cost.GIVEN * execution.statement.is_given, node)

    def _changes(
        self, execution: StatementExecution, name: str, container: int, before: int, wanted: WantedPieces
    ) -> list[tuple[StatementExecution, Row]]:
        """Return what has changed an object last, at different lines, each with the row that fits best."""
        lines: dict[Statement, tuple[StatementExecution, Row]] = {}
        number = before
        for _ in range(_MOST_LOOKED_AT):
            number = self._record.back_of(CONTENT, container, number)
            if not number or (len(lines) >= _MOST_CHANGES and not wanted.pieces):
                break
            row = self._record.row(number)
            if _is_gap(row) and not self._past.values.is_during(row):
                self.gaps.add(execution, name, number)
                continue
            changed = self._past.executions.at(row.owner) if row.owner and row.key != 0 else None
            if changed is None or changed.row == execution.row:
                continue
            known = lines.get(changed.statement)
            if known is None or _place(self._record, row, wanted) < _place(self._record, known[1], wanted):
                lines[changed.statement] = changed, row
        found = list(lines.values())
        return sorted(found, key=lambda change: _place(self._record, change[1], wanted))[:_MOST_CHANGES]

    def of_items(
        self,
        execution: StatementExecution,
        value: RecordedValue,
        label: str,
        before: int,
        wanted: WantedPieces = NOTHING_WANTED,
    ) -> Iterator[SliceEdge]:
        """Yield what has given the items of a container an attribute, last and at different lines."""
        lines: set[object] = set()
        classes: set[str] = set()
        fields = [
            (item, self._past.values.field(item, label, before))
            for item in self._past.values.items(value.object, before)
        ]
        for item, field in sorted(fields, key=lambda known: known[1] is None or not wanted.fits(known[1].text)):
            writer = self._past.executions.at(field.owner) if field is not None and field.owner else None
            if field is None:
                name = type_of(self._record, item)
                if name and name not in classes:
                    classes.add(name)
                    path = ValuePath(name, (label,))
                    yield from self._of_class_attribute(execution, path, name, label[1:])
            elif field.kind == rows.SEEN:
                yield from self.of_seen(field, RecordedValue(0, 0, "", item, 0), cost.CHANGE)
            elif writer is not None and writer.statement not in lines:
                lines.add(writer.statement)
                yield SliceEdge(cost.CHANGE, SliceNode(writer.row))

    def of_gap(self, execution: StatementExecution, name: str, gap: int) -> Iterator[SliceEdge]:
        """Yield the line while which a value changed; if it changed between lines, note that."""
        row = self._record.row(gap)
        if self._past.values.is_during(row) and row.owner != execution.row:
            yield SliceEdge(cost.READ, SliceNode(row.owner), "changed while it ran")
        else:
            self.gaps.add(execution, name, gap)


def _of_generated(past: PastProcess, line: int, name: str) -> Iterator[SliceEdge]:
    """Yield the line that has returned the object that generated code has stored: of a data class's factory."""
    fields = [row for row in past.executions.effects(line) if past.record.label(row.key).strip(".") == name]
    stored = {row.object for row in fields} - {0}
    for start in past.executions.calls(line):
        ending = past.executions.outcome(start.number)
        if ending is not None and ending.owner and ending.object in stored:
            yield SliceEdge(cost.RESULT, SliceNode(ending.owner))


def _is_gap(row: Row) -> bool:
    return row.kind == rows.GAP or (row.kind == rows.SIZE and row.key == 2)


def _place(record: ProcessRecord, row: Row, wanted: WantedPieces) -> int:
    if not wanted.pieces:
        return 0
    has_text = row.kind in (rows.FIELD, rows.GAP)
    return wanted.place(record.text(row), record.label(row.key)) if has_text else 2 * len(wanted.pieces)


def _fits(record: ProcessRecord, row: Row, wanted: WantedPieces) -> bool:
    return _place(record, row, wanted) < 2 * len(wanted.pieces)
