"""What a statement has found to be missing in something: the items of a difference, the words of its complaint.

Of these both the names of what is stuck:

    stuck = sorted(set(self.rules) - set(result))                   # ("'app'", "'ui'"): result has none of them
    raise ValueError(", ".join(sorted(set(jobs) - set(done))))      # the same, by the words of what it raises
"""

import ast
import re

from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess
from trio_debugmcp.runs.slicing.recorded_contents import container_kind, content_of, parts_of
from trio_debugmcp.runs.slicing.slicing_nodes import SliceNode
from trio_debugmcp.runs.slicing.wanted_pieces import is_piece
from trio_debugmcp.runs.source.source_scopes import Statement

_MOST_PIECES = 4

_SETS = ("set", "frozenset", "keys")

_WORD = re.compile(r"[\w.-]*\w")


def turned(past: PastProcess, execution: StatementExecution, node: SliceNode) -> SliceNode:
    """Return a node with what it has too many of as missing, too, where a statement leaves that out.

    What is missing behind a filter is looked for before it: there it is one of the items.
    """
    wanted = node.wanted
    if wanted.missing and execution.statement.filters:
        return node._replace(wanted=wanted._replace(pieces=tuple(dict.fromkeys((*wanted.missing, *wanted.pieces)))))
    if not execution.statement.leaves_out or (node.focus and not wanted.pieces):
        return node
    found = wanted.pieces or (() if wanted.missing else _left_out(past, execution))
    missing = tuple(dict.fromkeys((*wanted.missing, *found)))
    return node._replace(wanted=wanted._replace(pieces=found, missing=missing))


def _left_out(past: PastProcess, execution: StatementExecution) -> tuple[str, ...]:
    """Return the texts of what a statement has found missing, as records show them; empty: it looked for nothing."""
    statement = execution.statement
    if not statement.leaves_out or not _is_of_items(statement):
        return ()
    if isinstance(statement.node, ast.Raise):
        return _complained_of(past, execution)
    made = past.executions.effects(execution.row)[-1:]
    if not made or not made[0].object or not container_kind(past.record.text(made[0])):
        return ()
    over = past.executions.ended(execution.row)
    items = parts_of(past, made[0].object, over).values()
    texts = [repr(content_of(past, item, over)) for item in items]
    return tuple(text for text in texts if is_piece(text))[:_MOST_PIECES]


def _is_of_items(statement: Statement) -> bool:
    """Whether a statement has the items that one container has and another has not."""
    parts = [part for head in statement.heads for part in ast.walk(head)]
    differences = [part for part in parts if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)]
    filters = [
        test for part in parts if isinstance(part, ast.comprehension) for one in part.ifs for test in ast.walk(one)
    ]
    return any(_is_set(part.left) or _is_set(part.right) for part in differences) or any(
        isinstance(test, ast.NotIn) for test in filters
    )


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", "")) in _SETS
    return isinstance(node, ast.Set | ast.SetComp)


def _complained_of(past: PastProcess, execution: StatementExecution) -> tuple[str, ...]:
    """Return the words in the text of an exception that are not in the source of the line that raises it."""
    raised = past.executions.raised(execution.row)
    if raised is None:
        return ()
    _, _, said = past.record.text(raised).partition("(")
    known = set(_WORD.findall(execution.statement.text))
    words = [repr(word) for word in _WORD.findall(said) if word not in known]
    return tuple(word for word in dict.fromkeys(words) if is_piece(word))[:_MOST_PIECES]
