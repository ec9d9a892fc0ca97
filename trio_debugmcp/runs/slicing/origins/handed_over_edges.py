"""The edges of a value that goes through a thread, a pool or a task: into the function, and out of its result."""

import ast
from collections.abc import Iterator

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.handed_over_calls import HandedOverCalls
from trio_debugmcp.runs.past.past_process import PastProcess, called
from trio_debugmcp.runs.slicing import slicing_nodes as cost
from trio_debugmcp.runs.slicing.slicing_nodes import SliceEdge, SliceNode
from trio_debugmcp.runs.source.read_paths import ValuePath, path_of

_RESULTS = frozenset({"result", "get"})
"""Methods with which a future, or what a pool gives, gives its result."""


_RETURNS = frozenset({rows.RETURN})


class HandedOverEdges:
    """The edges through handed over calls of one process."""

    def __init__(self, past: PastProcess) -> None:
        self._past = past
        self._record = past.record
        self._handed = HandedOverCalls(past)

    def of_parameters(self, node: SliceNode) -> list[SliceEdge]:
        """Return the arguments that a handed over function was given; empty: it was called as others are."""
        start = self._record.row(node.row)
        handed = self._handed.of_start(start)
        if handed is None:
            return []
        name = self._record.code(start.key).name.rpartition(".")[2]
        focuses = [handed.arguments[parameter] for parameter in node.names if parameter in handed.arguments]
        return [
            SliceEdge(
                cost.COPY,
                SliceNode(handed.execution.row, focus=(focus,), aim="argument", wanted=node.wanted),
                f"hands {name} over, which is called at #{node.row}",
            )
            for focus in focuses
        ]

    def of_results(self, execution: StatementExecution) -> Iterator[SliceEdge]:
        """Yield the line that ended a handed over function whose result a statement takes."""
        for path in _taken(execution.statement.node):
            value = self._past.values.value(execution, path)
            fitting = self._endings(execution, value.object) if value is not None and value.object else []
            if len(fitting) == 1:
                text = self._record.text(fitting[0])
                yield SliceEdge(cost.RESULT, SliceNode(fitting[0].owner, hint=text))

    def _endings(self, execution: StatementExecution, future: int) -> list[Row]:
        """Return how those calls returned that were made for a future, as far as a statement can have that result."""
        first = self._record.forth_of(rows.WITH_VALUE, future, 0, by_value=True)
        maker = self._past.executions.at(self._record.row(first).owner) if first else None
        over = self._past.executions.over(execution)
        stored = [effect for effect in self._past.executions.effects(execution.row) if effect.kind == rows.WRITE]
        endings = []
        for start in self._handed.starts_of(maker) if maker is not None else ():
            number = self._record.forth_of(_RETURNS, start.subject, start.number)
            ending = self._record.row(number) if 0 < number < over else None
            if ending is None or not ending.owner:
                continue
            if len(stored) != 1 or (stored[0].text, stored[0].object) == (ending.text, ending.object):
                endings.append(ending)
        return endings


def _taken(node: ast.AST) -> Iterator[ValuePath]:
    """Yield the paths to what a statement awaits, or asks for its result."""
    value = (
        getattr(node, "value", None) if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr) else None
    )
    for part in ast.walk(value if isinstance(value, ast.expr) else getattr(node, "test", ast.Constant(None))):
        inner = part.value if isinstance(part, ast.Await) else None
        if isinstance(part, ast.Call) and called(part) in _RESULTS and isinstance(part.func, ast.Attribute):
            inner = part.func.value
        path = path_of(inner) if inner is not None else None
        if path is not None:
            yield path
