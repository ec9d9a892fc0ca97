"""The backward slice of a recorded run: what a value, or the run of a line, depends on, nearest first.

    parts = backward_slice(past, [SliceEdge(0, SliceNode(54))], limit=12)
    [(part.row, part.notes) for part in parts.parts]        # in the order of time

The nearest are found by Dijkstra's way over summed costs. Each line of the source is shown once, by its nearest run,
and followed once for each of the lines that have called it: of two runs that the same lines have called, the second
seldom tells more than the first.
"""

import ast
import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, argument
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.absences.absence_edges import AbsenceEdges
from trio_debugmcp.runs.slicing.absences.dropped_result_edges import DroppedResultEdges
from trio_debugmcp.runs.slicing.absences.filtered_item_edges import FilteredItemEdges
from trio_debugmcp.runs.slicing.absences.left_out_pieces import turned
from trio_debugmcp.runs.slicing.absences.loop_end_edges import ENDED_THE_LOOP
from trio_debugmcp.runs.slicing.absences.misplaced_write_edges import MisplacedWriteEdges
from trio_debugmcp.runs.slicing.absences.missing_edges import MissingEdges
from trio_debugmcp.runs.slicing.absences.overwritten_item_edges import OverwrittenItemEdges
from trio_debugmcp.runs.slicing.absences.passed_over_edges import PassedOverEdges
from trio_debugmcp.runs.slicing.absences.skipped_write_edges import SkippedWriteEdges
from trio_debugmcp.runs.slicing.control_edges import LET_PASS, ControlEdges
from trio_debugmcp.runs.slicing.line_weights import ANOTHER_OUTCOME, DEFAULT, NEARNESS, SHARED_DEFAULT, weight
from trio_debugmcp.runs.slicing.origins.call_edges import CallEdges
from trio_debugmcp.runs.slicing.origins.callback_edges import CallbackEdges
from trio_debugmcp.runs.slicing.origins.combined_items import CombinedItemEdges
from trio_debugmcp.runs.slicing.origins.data_edges import DataEdges
from trio_debugmcp.runs.slicing.origins.file_edges import FileEdges
from trio_debugmcp.runs.slicing.origins.handed_over_edges import HandedOverEdges
from trio_debugmcp.runs.slicing.origins.handled_exceptions import line_of_handled
from trio_debugmcp.runs.slicing.origins.iteration_edges import IterationEdges
from trio_debugmcp.runs.slicing.origins.object_edges import ObjectEdges
from trio_debugmcp.runs.slicing.origins.recursion_edges import RecursionEdges
from trio_debugmcp.runs.slicing.origins.reset_edges import ResetEdges
from trio_debugmcp.runs.slicing.origins.stale_edges import StaleEdges
from trio_debugmcp.runs.slicing.overlaps.lost_update_edges import LostUpdateEdges
from trio_debugmcp.runs.slicing.overlaps.waiting_edges import WaitingEdges
from trio_debugmcp.runs.slicing.round_edges import RoundEdges
from trio_debugmcp.runs.slicing.shown.part_notes import add_note
from trio_debugmcp.runs.slicing.skipped_round_edges import SkippedRoundEdges
from trio_debugmcp.runs.slicing.slicing_nodes import (
    OF_ANOTHER_ROUND,
    PERHAPS_OF_ANOTHER,
    SliceEdge,
    SliceNode,
    ValueGap,
    wanting,
)
from trio_debugmcp.runs.source.read_paths import reads_of
from trio_debugmcp.runs.source.source_scopes import Statement
from trio_debugmcp.runs.source.statement_trees import computed_defaults

_MOST_EXPANDED = 150
"""Nodes that are followed: behind the lines that are shown, only to count what is left out."""

_MOST_SIBLINGS = 12
"""Calls by the same line that are looked at for what is out of date: the last ones."""

_MOST_CALLERS = 2
"""Calling lines by which runs of a line are kept apart: an operator stands between two."""

_Shown = tuple[int, int]
"""A line of an answer: a row, and of a statement of several lines that which matters; 0: of a call's start."""


class SlicePart(NamedTuple):
    """A line of an answer: a row of a line or of a call's start, what is said and matters, and how little it tells."""

    row: int
    notes: tuple[str, ...]
    focus: tuple[ast.expr, ...] = ()
    far: float = 0.0


class SliceResult(NamedTuple):
    """What a slice found.

    Attributes:
        parts: in the order of time.
        omitted: how many lines of the source were reached beyond these; a lower bound.
        repeated: how many were passed over, as an earlier answer has shown them.
        gaps: values that changed where nothing is recorded.
    """

    parts: list[SlicePart]
    omitted: int
    repeated: int
    gaps: list[ValueGap]


class _Slicer:
    """A slice under way: the queue, what is shown and what is followed.

    Attributes:
        shown: what is said beside each row that is a line of the answer, nearest first.
        objects: the edges to objects, with the gaps met on the way.
    """

    def __init__(self, past: PastProcess, asked: int, unshown: int) -> None:
        self.objects = ObjectEdges(past)
        self._calls = CallEdges(past, self.objects)
        self._data = DataEdges(past, self.objects, self._calls)
        self._callbacks = CallbackEdges(past)
        self.shown: dict[_Shown, list[str]] = {}
        self._control = ControlEdges(past)
        self._absence = AbsenceEdges(past)
        self._missing = MissingEdges(past, self._absence.unraised, self._absence.decisions)
        self._misplaced = MisplacedWriteEdges(past)
        self._stale = StaleEdges(past)
        self._rounds = RoundEdges(past)
        self._skipped = SkippedRoundEdges(past, self._absence.decisions)
        self._skipped_writes = SkippedWriteEdges(past, self._absence.decisions)
        self._lost_updates = LostUpdateEdges(past)
        self._dropped = DroppedResultEdges(past)
        self._recursions = RecursionEdges(past)
        self._passed_over = PassedOverEdges(past)
        self._filtered = FilteredItemEdges(past)
        self._files = FileEdges(past)
        self._handed = HandedOverEdges(past)
        self._of_statement = (
            OverwrittenItemEdges(past).of_statement,
            ResetEdges(past).of_statement,
            WaitingEdges(past, self._absence.decisions).of_statement,
            IterationEdges(past).of_statement,
            CombinedItemEdges(past).of_statement,
        )
        self._past = past
        self._asked, self._unshown = asked, unshown
        self._followed, self._returned = set[object](), set[int]()
        self._lines: dict[object, int] = {}
        self._focus: dict[_Shown, tuple[ast.expr, ...]] = {}
        self._far: dict[_Shown, float] = {}
        self._root = 0
        self._asked_about: list[SliceNode] = []

    def follow(self, starts: list[SliceEdge]) -> int:
        """Go along the edges, nearest first; return how many nodes were left."""
        self._root = self._outermost(starts)
        self._asked_about = [edge.node for edge in starts]
        queue = [(edge.cost, -edge.node.row, number, edge) for number, edge in enumerate(starts)]
        heapq.heapify(queue)
        order, expanded = len(queue), 0
        while queue and expanded < _MOST_EXPANDED:
            distance, _, _, edge = heapq.heappop(queue)
            if not self._take(edge, distance):
                continue
            expanded += 1
            for following in map(edge.beside, self._edges(edge.node)):
                if following.node.row < self._asked:
                    order, far = order + 1, distance + following.cost + cost.STEP
                    heapq.heappush(queue, (far, -following.node.row, order, following))  # of two as far, the later
        return len(queue)

    def nearest(self, shown: Iterable[_Shown]) -> list[_Shown]:
        """Return lines of the answer, those that tell most first."""
        return sorted(shown, key=lambda line: self._far[line])

    def _outermost(self, starts: list[SliceEdge]) -> int:
        """Return the frame of the test or script in which the question stands."""
        execution = self._past.executions.at(starts[0].node.row) if starts else None
        frame = execution.frame if execution is not None else 0
        while frame and (caller := self._past.executions.caller(frame)) is not None:
            frame = caller.frame
        return frame

    def part(self, line: _Shown) -> SlicePart:
        """Return a line of the answer."""
        return SlicePart(line[0], tuple(self.shown[line]), self._focus.get(line, ()), self._far[line])

    def _take(self, edge: SliceEdge, distance: float) -> bool:
        """Show a node, if its line is not shown; return whether it is to be followed."""
        node = edge.node
        execution = self._past.executions.at(node.row)
        is_definition = execution is not None and execution.statement.is_definition
        if is_definition and edge.cost and not (edge.note or node.focus or self._has_hooked(node.row)):
            return False
        if execution is None:
            self._show_default(node, distance)
            if edge.note and self._past.record.row(node.row).kind == rows.START:
                self.shown.setdefault((node.row, 0), [edge.note])
                self._far.setdefault((node.row, 0), NEARNESS * distance)
        elif node.row != self._unshown:  # another run of its line may be a part of the answer
            row = node.row, self._line_of(execution, node)
            has_raised = self._past.executions.raised(node.row) is not None  # and so it is not the line that has not
            source = execution.scope.module, row[1], has_raised
            if self._lines.setdefault(source, node.row) == node.row:
                if not self._focus.get(row):
                    self._focus[row] = node.focus
                is_plain = bool(edge.cost) and (edge.note in ("", LET_PASS) or self._is_usual_end(execution, edge))
                far = NEARNESS * distance + (self._weight(execution, edge) if is_plain else 0.0)
                if not edge.note:
                    far += ANOTHER_OUTCOME * ((execution.scope.module, row[1], not has_raised) in self._lines)
                self._far[row] = min(far, self._far.get(row, far))
                notes = self.shown.setdefault(row, [node.round_note] if node.aside else [])
                if not node.aside:
                    notes[:] = [note for note in notes if note not in (OF_ANOTHER_ROUND, PERHAPS_OF_ANOTHER)]
                add_note(notes, edge.note)
        line = self._line(node, execution)
        if line in self._followed:
            return False
        self._followed.add(line)
        return True

    def _has_hooked(self, row: int) -> bool:
        """Whether a definition has called more than the body of its class: `__init_subclass__`, `__set_name__`."""
        return any(self._past.record.code(start.key).kind != "class" for start in self._past.executions.calls(row))

    def _is_usual_end(self, execution: StatementExecution, edge: SliceEdge) -> bool:
        """Whether a loop has ended as most do: it had nothing more to go through, after some rounds."""
        if edge.note != ENDED_THE_LOOP or not isinstance(execution.statement.node, ast.For | ast.AsyncFor):
            return False
        return self._past.executions.last_run(execution.statement, execution.frame, execution.row) is not None

    def _line_of(self, execution: StatementExecution, node: SliceNode) -> int:
        """Return the line that a node is shown as: of a table on several lines each entry that matters."""
        first, held = execution.statement.first, self._focus.get((node.row, execution.statement.first))
        is_entry = isinstance(getattr(execution.statement.node, "value", None), ast.Dict | ast.List | ast.Tuple)
        if not (is_entry and node.focus and held) or held[0].lineno == node.focus[0].lineno:
            return first
        return node.focus[0].lineno

    def _weight(self, execution: StatementExecution, edge: SliceEdge) -> float:
        has_called = bool(self._past.executions.calls(execution.row))
        return weight(execution, edge, self._root, has_called=has_called)

    def _show_default(self, node: SliceNode, distance: float) -> None:
        """Show the start of a call that has used the default of a parameter."""
        past = self._past
        row = past.record.row(node.row)
        caller = past.executions.at(row.owner) if row.owner else None
        if row.kind != rows.START or past.scopes.of_code(row.key) is None:  # generated: its class has it
            return
        names = [name for name in node.names if caller and argument(past, caller, row, name) == []]
        if names and self._lines.setdefault(("start", row.key), node.row) == node.row:
            self.shown.setdefault((node.row, 0), [f"its default: {', '.join(names)}"])
            scope = past.scopes.of_code(row.key)
            is_shared = scope is not None and any(name in computed_defaults(scope.node) for name in names)
            self._far.setdefault((node.row, 0), NEARNESS * distance + (SHARED_DEFAULT if is_shared else DEFAULT))

    def _line(self, node: SliceNode, execution: StatementExecution | None) -> object:
        """Return what a node shares with others of the same line of the source and the same outcome.

        And its callers: `a = area(old)` and `b = area(new)` went by other values, and `__init__` fills all objects.
        """
        if execution is None:
            row = self._past.record.row(node.row)
            return row.key, node.names, *self._callers(self._past.executions.at(row.owner) if row.owner else None)
        raised = self._past.executions.raised(node.row) is not None
        is_end = execution.statement.is_loop and self._past.blocks.entered(execution) is False
        if isinstance(execution.statement.node, ast.Return):
            self._returned.add(execution.frame)
        is_passing_on = execution.statement.copied is not None or node.aim == "argument"
        has_own = is_passing_on or execution.frame in self._returned
        by = self._callers(self._past.executions.caller(execution.frame)) if has_own else ()
        return execution.statement, raised or is_end, node.focus, node.names, node.aim, *by

    def _callers(self, caller: StatementExecution | None) -> Iterator[Statement]:
        """Yield the innermost lines that have called, beginning with a caller."""
        for _ in range(_MOST_CALLERS):
            if caller is None:
                return
            yield caller.statement
            caller = self._past.executions.caller(caller.frame)

    def _edges(self, node: SliceNode) -> Iterator[SliceEdge]:
        """Yield what a node depends on."""
        execution = self._past.executions.at(node.row)
        if execution is None:
            if self._past.record.row(node.row).kind == rows.START:
                handed = self._handed.of_parameters(node)
                yield from handed or wanting(node, self._calls.of_parameters(node.row, node.names, node.wanted))
        elif node.aim == "run":
            yield from self._control.of_run(execution, is_decisive=True)
        else:
            node = turned(self._past, execution, node)
            yield from wanting(node, self._data.of_node(execution, node))
            yield from wanting(node, self._handed.of_results(execution))
            yield from self._callbacks.of_calls(execution, node)
            yield from wanting(node, self._files.of_statement(execution, node.wanted))
            yield from wanting(node, self._missing.of_statement(execution, node.wanted))
            reads = reads_of(*node.focus) if node.focus else execution.statement.reads
            yield from self._lost_updates.of_reads(execution, reads)
            yield from self._dropped.of_reads(execution, reads)
            yield from self._passed_over.of_reads(execution, node.wanted)
            yield from self._misplaced.of_reads(execution, reads, node.wanted)
            if node.focus and (node in self._asked_about or node.is_item_of(execution.statement.node)):
                yield from self._absence.of_reads(execution, reads)
            if node.focus and node.aim == "value" and not reads_of(*node.focus):  # that it ran is all there is to know
                yield from wanting(node, self._control.of_run(execution, is_decisive=True))
            if not node.focus:
                yield from self._of_raise(execution)
                yield from self._recursions.of_error(execution)
                yield from wanting(node, self._control.of_run(execution, is_decisive=execution.statement.is_constant))
                yield from self._absence.of_statement(execution, self._data.items_of(execution, node))
                yield from self._stale.of_statement(execution, self._asked)
                if isinstance(execution.statement.node, ast.Return):
                    for sibling in islice(self._rounds.siblings(execution), _MOST_SIBLINGS):
                        yield from self._stale.of_statement(sibling, self._asked)
                yield from self._rounds.of_statement(execution)
                yield from self._rounds.of_siblings(execution, is_unsure=bool(node.wanted.missing))
                yield from self._skipped.of_statement(execution, self._asked)
                yield from self._skipped_writes.of_statement(execution, self._asked)
                yield from self._passed_over.of_loop(execution, self._asked, node.wanted)
                for edges in self._of_statement:
                    yield from edges(execution)
                yield from self._filtered.of_statement(execution, node.wanted)

    def _of_raise(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the first raise of an exception that has passed a line, and of that which was handled at its own."""
        raised = self._past.executions.raised(execution.row)
        first = self._past.values.first_raise(raised.object) if raised is not None else 0
        again = raised is not None and first and first != raised.number
        for owner in (self._past.record.row(first).owner if again else 0, line_of_handled(self._past, execution)):
            if owner:
                yield SliceEdge(cost.RAISED, SliceNode(owner))


def backward_slice(
    past: PastProcess,
    starts: list[SliceEdge],
    *,
    limit: int,
    asked: int,
    known: frozenset[int] = frozenset(),
    unshown: int = 0,
) -> SliceResult:
    """Return the nearest lines that some nodes depend on.

    Args:
        past: the process.
        starts: the nodes to begin at, with costs of their own.
        limit: how many lines are wanted.
        asked: the row of the question: what was written later cannot be a cause.
        known: rows that an earlier answer has shown: followed, not shown again.
        unshown: a row that only begins the slice.
    """
    slicer = _Slicer(past, asked, unshown)
    left = slicer.follow(starts)
    new = slicer.nearest(line for line in slicer.shown if line[0] not in known)
    parts = [slicer.part(row) for row in sorted(new[:limit])]
    return SliceResult(parts, len(new[limit:]) + left, len(slicer.shown) - len(new), slicer.objects.gaps.all)
