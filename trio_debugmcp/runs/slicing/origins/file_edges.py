"""Files: a line that opens one to read it depends on the lines that have written what is at that path.

    with open(path, "w") as file:
        csv.writer(file).writerows(rows)      # writes stock.csv, which line 3 reads
    rows = list(csv.reader(open(path)))

Of a path only its text counts, as both lines had it: other ways to write the same place are not known.
"""

import ast
from collections.abc import Iterator
from itertools import islice

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.origins.opaque_edges import OpaqueEdges
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import WantedPieces
from trio_debugmcp.runs.source.read_paths import path_of
from trio_debugmcp.runs.source.source_scopes import Statement

_OPENING = "open"

_READING = frozenset({"read_text", "read_bytes"})

_WRITING = frozenset({"write_text", "write_bytes"})

_WRITES = frozenset("wax+")
"""In the mode of a file that may be written."""

_NOT_WRITING = frozenset({"close", "fileno", "flush", "seek", "tell"})

_CUT = "…"

_MOST_FRAMES = 100
"""Of a function that writes files: the last ones."""

_MOST_RUNS = 100
"""Of a line that writes files, in one frame: the last ones."""

_MOST_HANDLED = 4
"""Lines that write by one handle: the last ones."""


class FileEdges:
    """The edges from what reads a file to what wrote it in one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._opaque = OpaqueEdges(past)

    def of_statement(self, execution: StatementExecution, wanted: WantedPieces) -> Iterator[SliceEdge]:
        """Yield the lines that have last written the files which a statement opens to read."""
        for call in execution.statement.calls:
            place = _place_of(call, _READING)
            is_read = place is not None and (called(call) in _READING or "r" in self._mode(execution, call))
            text = self._text(execution, place) if place is not None and is_read else ""
            writer = self._writer(execution, text) if text else None
            if writer is None:
                continue
            note = f"writes {text.rpartition('/')[2]}, which line {execution.statement.first} reads"
            found = self._by_name(writer, execution.row) or self._by_attribute(writer, execution)
            for run in found or [writer]:
                frames = [run.frame] if run.frame == writer.frame else self._frames(run.statement)
                yield SliceEdge(cost.FILE, SliceNode(self._fitting(run, frames, execution.row, wanted).row), note)

    def _fitting(
        self, run: StatementExecution, frames: list[int], before: int, wanted: WantedPieces
    ) -> StatementExecution:
        """Return the last run of a line that read what is wanted; if none is known, the run that is given."""
        words = {*wanted.pieces, *wanted.missing}
        for frame in frames if words else ():
            for each in islice(self._past.executions.runs(run.statement, frame, before), _MOST_RUNS):
                values = [self._past.values.read(each, read) for read in run.statement.reads if not read.is_callee]
                if words & {value.text for value in values if value is not None}:
                    return each
        return run

    def _frames(self, statement: Statement) -> list[int]:
        """Return the frames in which a statement may have run, the last one first."""
        return self._past.scopes.frames_of(statement.scope)[-_MOST_FRAMES:][::-1]

    def _writer(self, execution: StatementExecution, text: str) -> StatementExecution | None:
        """Return the last run of a line that wrote a file at a path, or opened it to write; None: there is none."""
        found: list[StatementExecution] = []
        for name in (_OPENING, *sorted(_WRITING)):
            for statement, call in self._past.mentions.calling(name):
                run = self._run(statement, call, text, execution.row)
                found += [run] if run is not None else []
        return max(found, key=lambda run: run.row, default=None)

    def _run(self, statement: Statement, call: ast.Call, text: str, before: int) -> StatementExecution | None:
        """Return the last run of a statement in which a call wrote a file at a path, or opened it to write."""
        place = _place_of(call, _WRITING)
        for frame in self._frames(statement) if place is not None else ():
            for run in islice(self._past.executions.runs(statement, frame, before), _MOST_RUNS):
                is_end = bool(statement.names) and not self._past.executions.effects(run.row)  # that of a `with`
                if is_end or place is None or self._text(run, place) != text:
                    continue
                if called(call) in _WRITING or _WRITES & {*self._mode(run, call)}:
                    return run
        return None

    def _mode(self, run: StatementExecution, call: ast.Call) -> str:
        """Return the mode of an `open`; empty: it is not known, or none is opened."""
        given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
        given += call.args[1 if isinstance(call.func, ast.Name) else 0 :][:1]
        return (self._text(run, given[0]) if given else "r") if called(call) == _OPENING else ""

    def _by_attribute(self, opened: StatementExecution, execution: StatementExecution) -> list[StatementExecution]:
        """Return the last lines that wrote by a file which a line has opened and kept in an object."""
        kept = [row.object for row in self._past.executions.effects(opened.row) if row.kind == rows.FIELD]
        edges = (edge for target in kept for edge in self._opaque.of_calls_on(execution, target, is_buffer=True))
        runs = {run for edge in edges if (run := self._past.executions.at(edge.node.row)) is not None}
        writing = [run for run in runs if any(called(call) not in _NOT_WRITING for call in run.statement.calls)]
        return sorted(writing, key=lambda run: run.row)[-_MOST_HANDLED:]

    def _by_name(self, opened: StatementExecution, before: int) -> list[StatementExecution]:
        """Return the last lines that wrote by the file which a line has opened: what is called on it, or given it.

        What that gives is a way to write, too: `writer = csv.writer(file)`.
        """
        names, runs = set(opened.statement.names), dict[Statement, StatementExecution]()
        for statement in opened.scope.statements:
            if statement.first < opened.statement.first or not names or statement is opened.statement:
                continue
            if any(_uses(call, names) for call in statement.calls):
                run = self._past.executions.last_run(statement, opened.frame, before)
                if run is not None and run.row > opened.row:
                    names |= set(statement.names)
                    runs[statement] = run
        last = [run for statement, run in runs.items() if not statement.names]
        return sorted(last or runs.values(), key=lambda run: run.row)[-_MOST_HANDLED:]

    def _text(self, execution: StatementExecution, place: ast.expr) -> str:
        """Return the path that an expression was; empty: it is not known whole."""
        if isinstance(place, ast.Constant):
            return place.value if isinstance(place.value, str) else ""
        path = path_of(place)
        value = self._past.values.value(execution, path) if path is not None else None
        text = value.text if value is not None else ""
        return text[text.find("'") + 1 : text.rfind("'")] if "'" in text and _CUT not in text else ""


def _place_of(call: ast.Call, methods: frozenset[str]) -> ast.expr | None:
    """Return the path of the file that a call opens, or reads or writes by one of some methods; None: it does not."""
    if isinstance(call.func, ast.Attribute):
        return call.func.value if called(call) in {_OPENING, *methods} else None
    return call.args[0] if called(call) == _OPENING and call.args else None


def _uses(call: ast.Call, names: set[str]) -> bool:
    """Whether a call is one of a method of what has such a name, or is given that."""
    target = call.func.value if isinstance(call.func, ast.Attribute) else None
    parts = [target, *call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(part, ast.Name) and part.id in names for part in parts)
