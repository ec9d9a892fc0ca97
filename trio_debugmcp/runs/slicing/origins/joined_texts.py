"""Which of the texts that were joined has the place at which a text differs from what was expected.

The line and what it gave:

    return "".join(out)         # '<h1>2.ann': the second of out, '2', as 1 was expected there
"""

import ast
from itertools import accumulate

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.recorded_contents import content_of, literal
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.source.read_paths import path_of


def of_joined(past: PastProcess, execution: StatementExecution, node: SliceNode) -> SliceNode:
    """Return a node of a statement that joins texts, with the one of them that is wanted; else the node itself."""
    call = getattr(execution.statement.node, "value", None)
    if not node.wanted.text or node.focus or not isinstance(call, ast.Call) or len(call.args) != 1:
        return node
    glue = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "join" else None
    path = path_of(call.args[0])
    if path is None or not isinstance(glue, ast.Constant) or not isinstance(glue.value, str):
        return node
    value = past.values.value(execution, path)
    items = content_of(past, value, execution.row) if value is not None else None
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        return node
    place = _item_at(items, glue.value, _offset(past, execution, node))
    if place < 0:
        return node
    pieces = tuple(dict.fromkeys((repr(items[place]), *node.wanted.pieces)))
    wanted = node.wanted._replace(path=(f"[{place}]",), pieces=pieces)
    return node._replace(focus=(call.args[0],), wanted=wanted)


def _offset(past: PastProcess, execution: StatementExecution, node: SliceNode) -> int:
    """Return at which place the text differs that a statement has made; -1: it does not occur in the one that does."""
    made = [*past.executions.effects(execution.row)[-1:], past.executions.ending(execution.row)]
    texts = [literal(past.record.text(row)) for row in made if row is not None]
    got, offset = node.wanted.text, node.wanted.offset
    text = texts[-1] if texts else None
    if not isinstance(text, str) or not text or got.count(text) != 1:
        return -1
    return offset - got.index(text)


def _item_at(items: "list[str] | tuple[str, ...]", glue: str, offset: int) -> int:
    """Return the place of the item that has an offset of the joined text; -1: none has."""
    ends = accumulate(len(item) + len(glue) * (place < len(items) - 1) for place, item in enumerate(items))
    return next((place for place, end in enumerate(ends) if 0 <= offset < end), -1)
