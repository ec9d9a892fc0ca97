"""Items that a loop has passed over, as its rounds took others out of the list that it was going through.

    #26 waiting.remove(job)         so the loop at line 21 passes over <Job name='compile'>

A loop takes the item at the place of its round, whatever has become of the list. What stood behind it, and stands at
this place or before it when the next round begins, is taken by none.
"""

import ast
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.past.recorded_values import RecordedValue, container_word
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.recorded_contents import parts_of
from trio_debugmcp.runs.slicing.short_names import short_name
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces, is_in
from trio_debugmcp.runs.source.read_paths import path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_ROUNDS = 100
"""Of a loop: one of more is not looked at."""

_MOST_CHANGES, _MOST_CALLERS = 20, 3
"""Changes of a list that are looked at for the loops around them, the last ones; and calls around each."""

_SIZE, _CHANGED = frozenset({rows.SIZE}), 1

_Item = tuple[int, str]
"""An item as it is compared: the number of its object, or the text of a number or string."""


class _PassedOver(NamedTuple):
    """An item that a round has passed over, and the line that had taken another one out."""

    remover: StatementExecution
    name: str


class PassedOverEdges:
    """The edges to what made the loops of one process pass over items."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_loop(self, execution: StatementExecution, asked: int, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield the line by which a loop has passed over a missing item before a row, or else over the last one."""
        passed = self._passed_over(execution, asked)
        if passed:
            missed = [one for one in passed if any(is_in(piece, one.name) for piece in wanted.missing)]
            yield self._edge(execution, [*missed, *passed][0], len(passed), asked)

    def of_reads(self, execution: StatementExecution, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield the lines by which loops have passed over an item that is in a list and should not be."""
        for read in execution.statement.reads if wanted.pieces else ():
            value = self._past.values.read(execution, read) if not read.is_callee else None
            if value is None or container_word(value.text) != "list":
                continue
            for run in self._loops_through(value.object, execution.row):
                passed = self._passed_over(run, execution.row)
                kept = [one for one in passed if any(is_in(piece, one.name) for piece in wanted.pieces)]
                if kept:
                    yield self._edge(run, kept[0], len(passed), execution.row)

    def _edge(self, loop: StatementExecution, passed: _PassedOver, count: int, before: int) -> SliceEdge:
        remover, name = passed
        last = self._past.executions.last_run(remover.statement, remover.frame, before) or remover
        when = f" (#{remover.row})" if last.row != remover.row else ""
        times = f", {count} items in all" if count > 1 else ""
        note = f"so the loop at line {loop.statement.first} passes over {name}{when}{times}"
        return SliceEdge(cost.PASSED_OVER, SliceNode(last.row), note)

    def _loops_through(self, container: int, before: int) -> Iterator[StatementExecution]:
        """Yield the last runs of loops through a list while which it became shorter, the last ones first."""
        known = set[tuple[int, int]]()
        number = self._record.back_of(_SIZE, container, before)
        for _ in range(_MOST_CHANGES):
            row = self._record.row(number) if number else None
            if row is None:
                return
            at = self._past.executions.at(row.owner) if row.key == _CHANGED and row.text < row.object else None
            for _ in range(_MOST_CALLERS):
                for loop in at.statement.outer() if at is not None else ():
                    run = self._past.executions.last_run(loop, at.frame, at.row) if at is not None else None
                    if run is not None and (id(loop), run.frame) not in known and _gone_through(loop)[0] is not None:
                        known.add((id(loop), run.frame))
                        yield run
                at = self._past.executions.caller(at.frame) if at is not None else None
            number = self._record.back_of(_SIZE, container, number)

    def _passed_over(self, execution: StatementExecution, asked: int) -> list[_PassedOver]:
        """Return what a loop has passed over before a row, the last one first; empty: nothing, or it is not known."""
        iterated, target = _gone_through(execution.statement)
        headers = self._headers(execution, asked) if iterated is not None and target else []
        path = path_of(iterated) if iterated is not None else None
        value = self._past.values.value(headers[-1], path) if headers and path is not None else None
        if value is None or container_word(value.text) != "list":
            return []
        passed: list[_PassedOver] = []
        for place, (after, before) in enumerate(pairwise(headers)):
            number = len(headers) - 2 - place
            remover = self._remover(value.object, before.row, after.row)
            if remover is None:
                continue
            items, left = self._items(value.object, before.row), self._items(value.object, after.row)
            if self._taken(before, target) != [_compared(item) for item in items[number : number + 1]]:
                return []  # another list, or the rounds are those of another time that it was come to
            is_first = self._removes(remover, value.object)
            passed += [
                _PassedOver(remover, short_name(self._past, item, after.row))
                for item in _between(items, left, number, is_first=is_first)
            ]
        return passed

    def _headers(self, execution: StatementExecution, asked: int) -> list[StatementExecution]:
        """Return the rounds of a loop before a row, and its end, the last one first; empty: there are too many.

        Those of the time that it was come to in which one of its rounds is.
        """
        outer = next((outer for outer in execution.statement.outer() if outer.is_loop), None)
        headers: list[StatementExecution] = []
        runs = self._past.executions.runs(execution.statement, execution.frame, max(asked, execution.row + 1))
        for run in islice(runs, _MOST_ROUNDS):
            last = headers[-1].row if headers else run.row
            is_left = outer is not None and self._past.executions.last_run(outer, run.frame, last) != (
                self._past.executions.last_run(outer, run.frame, run.row)
            )
            if is_left or self._past.blocks.entered(run) is False:  # it is of another time than those behind it
                if last <= execution.row:
                    return headers
                headers = []
            headers.append(run)
        return headers if len(headers) < _MOST_ROUNDS else []

    def _taken(self, run: StatementExecution, target: str) -> list[_Item]:
        """Return the item that a round has taken."""
        key = self._record.key_of(target)
        written = [row for row in self._past.executions.effects(run.row) if row.kind == rows.WRITE and row.key == key]
        return [_compared(self._past.values.value_at(row.number)) for row in written]

    def _remover(self, container: int, after: int, before: int) -> StatementExecution | None:
        """Return the one line that made a list shorter between two rows; None: none, several, or it grew as well."""
        owners = set()
        number = self._record.back_of(_SIZE, container, before)
        while number > after:
            row = self._record.row(number)
            if row.key and (row.key != _CHANGED or row.text >= row.object):
                return None
            owners |= {row.owner} if row.key else set()
            number = self._record.back_of(_SIZE, container, number)
        return self._past.executions.at(owners.pop()) if len(owners) == 1 else None

    def _removes(self, remover: StatementExecution, container: int) -> bool:
        """Whether a line calls `remove` of a list: of equal items that takes the first one out."""
        for call in remover.statement.calls:
            path = path_of(call.func.value) if isinstance(call.func, ast.Attribute) else None
            value = self._past.values.value(remover, path) if path is not None else None
            if getattr(call.func, "attr", "") == "remove" and value is not None and value.object == container:
                return True
        return False

    def _items(self, container: int, before: int) -> list[RecordedValue]:
        """Return the items of a list; empty: not all are known."""
        size = self._record.back_of(_SIZE, container, before)
        parts = parts_of(self._past, container, before) if size else {}
        places = [f"[{place}]" for place in range(len(parts))]
        is_whole = bool(size) and len(parts) == self._record.row(size).text and all(place in parts for place in places)
        return [parts[place] for place in places] if is_whole else []


def _compared(item: RecordedValue) -> _Item:
    return item.object, "" if item.object else item.text


def _between(
    items: list[RecordedValue], left: list[RecordedValue], number: int, *, is_first: bool
) -> list[RecordedValue]:
    """Return the items of a list that its next round passes over, as others before them were taken out.

    Args:
        items: those in the list when a round began.
        left: those of them when the next one began.
        number: of that round, which has taken the item at this place.
        is_first: of equal items the first was taken out; else that by which the fewest are passed over.
    """
    step = -1 if is_first else 1
    place, places = (len(items) - 1 if is_first else 0), list[int]()
    for item in left[::step]:
        while 0 <= place < len(items) and _compared(items[place]) != _compared(item):
            place += step
        if not 0 <= place < len(items):
            return []
        places.append(place)
        place += step
    return [items[old] for new, old in enumerate(places[::step]) if new <= number < old]


def _gone_through(loop: Statement) -> tuple[ast.expr | None, str]:
    """Return what a loop goes through from the first item on, and the variable that gets the items; none: it is not."""
    if not isinstance(loop.node, ast.For):
        return None, ""
    iterated, target = loop.node.iter, loop.node.target
    if isinstance(iterated, ast.Call) and getattr(iterated.func, "id", "") == "enumerate" and iterated.args:
        is_pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        iterated, target = iterated.args[0], target.elts[1] if isinstance(target, ast.Tuple) and is_pair else target
    is_path = path_of(iterated) is not None
    return (iterated, target.id) if is_path and isinstance(target, ast.Name) else (None, "")
