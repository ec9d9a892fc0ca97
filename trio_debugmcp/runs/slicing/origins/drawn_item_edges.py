"""Where items come from that a line has drawn from a generator, also through an iterator that reads ahead."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import ProcessRecord, Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.past.read_ahead import DrawnItems, calls_itself
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import calls_in, path_of

_IN_STEP = ("enumerate", "zip", "iter")
"""Calls that give an item for each one that they are given, in the same order."""

_LATER = 0.01
"""More for each further one: they stand in the order in which they count."""


class DrawnItemEdges:
    """The edges to the `yield`s that gave what lines of one process were given."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record

    def of_item(self, execution: StatementExecution, node: SliceNode) -> list[Row]:
        """Return the call by which a line drew the wanted item of a generator it goes through; empty: not known."""
        path = path_of(node.focus[0]) if len(node.focus) == 1 else None
        value = self._past.values.value(execution, path) if path is not None and node.wanted.path else None
        if value is None or not value.text.startswith("<generator "):
            return []
        label, draws = node.wanted.path[0], list[tuple[Row, Row]]()
        for start in self._past.executions.calls(execution.row):
            ending = self._past.executions.outcome(start.number)
            if ending is not None and ending.kind == rows.YIELD:
                draws.append((start, ending))
        made = [self._past.values.field(row.object, label, self._record.last + 1) for row in self._made(execution)]
        items = {(item.object, item.text) for item in made if item is not None}
        fitting = [start for start, ending in draws if (ending.object, self._record.text(ending)) in items]
        if len(fitting) > 1:  # equal ones: a list has them in the order in which they were drawn
            is_known = label[1:-1].isdigit() and not self._past.executions.has_more_calls(execution.row)
            place = int(label[1:-1]) if is_known else len(draws)
            fitting = [start for start, _ in draws[place : place + 1] if start in fitting]
        return fitting

    def of_round(self, execution: StatementExecution, iterable: ast.expr, place: int) -> list[Row]:
        """Return the calls by which a round of a comprehension drew what generators gave; empty: not known."""
        if place < 0 or self._past.executions.has_more_calls(execution.row):
            return []
        named = [called(call) for call in calls_in(iterable)]
        frames: dict[int, list[Row]] = {}
        for start in self._past.executions.calls(execution.row):
            ending = self._past.executions.outcome(start.number)
            name = self._record.code(start.key).name.rpartition(".")[2]
            is_drawn = ending is not None and ending.kind == rows.YIELD
            if is_drawn and (name in named or path_of(iterable) is not None):
                frames.setdefault(start.subject, []).append(start)
        made = [self._record.code(starts[0].key).name.rpartition(".")[2] for starts in frames.values()]
        is_one = len(made) == 1 and path_of(iterable) is not None
        if not is_one and any(made.count(name) != named.count(name) for name in made):  # of another one in the line
            return []
        if not _is_in_step(iterable, made):
            return []
        return [starts[place] for starts in frames.values() if place < len(starts)]

    def _made(self, execution: StatementExecution) -> list[Row]:
        ending = self._past.executions.ending(execution.row)
        return [*self._past.executions.effects(execution.row), *([ending] if ending is not None else [])]

    def before(self, node: SliceNode, drawn: DrawnItems) -> Iterator[tuple[Row, list[SliceEdge]]]:
        """Yield the lines that gave what an iterator had read ahead."""
        for place, row in enumerate(drawn.before):
            wanted = node.wanted._replace(path=())
            origin = SliceNode(row.owner, hint=self._record.text(row), wanted=wanted)
            yield row, [SliceEdge(cost.RESULT + _LATER * place, origin, f"{drawn.function} has read it ahead")]

    def is_given(self, execution: StatementExecution, start: Row, ending: Row, drawn: DrawnItems) -> bool:
        """Whether a line was given the result of a call, rather than an iterator that keeps it for later."""
        if ending.kind == rows.YIELD and not is_expression(self._record, start.key):
            return drawn.gave(ending) and start.owner == execution.row
        return calls_itself(self._past, execution, start)


def read_ahead(drawn: DrawnItems, execution: StatementExecution) -> str:
    """Return what is said of a `yield` during a line where it is not known which item the line was given."""
    if drawn.is_known:
        return ""
    return f"{drawn.function} reads ahead: perhaps not of what line {execution.statement.first} was given"


def is_expression(record: ProcessRecord, code: int) -> bool:
    """Whether code is that of a generator expression, each round of which is a run of its line."""
    return record.code(code).name.rpartition(".")[2] == "<genexpr>"


def _is_in_step(iterable: ast.expr, generators: list[str]) -> bool:
    """Whether a round of a comprehension draws one item of each of the generators that it goes through."""
    if isinstance(iterable, ast.Call) and called(iterable) in _IN_STEP and not iterable.keywords:
        return all(_is_in_step(argument, generators) for argument in iterable.args)
    return path_of(iterable) is not None or (isinstance(iterable, ast.Call) and called(iterable) in generators)
