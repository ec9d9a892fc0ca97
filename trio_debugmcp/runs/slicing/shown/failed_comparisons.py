"""What an assertion that failed had expected, and which piece of the value differs from that."""

import ast
import operator as operators
import re
from collections.abc import Callable
from typing import Any

from trio_debugmcp.runs.files import process_record as rows
from trio_debugmcp.runs.files.process_record import Row
from trio_debugmcp.runs.past.executions import StatementExecution
from trio_debugmcp.runs.past.past_process import PastProcess, call_of, called
from trio_debugmcp.runs.past.read_ahead import is_same_place
from trio_debugmcp.runs.slicing.recorded_contents import UNSEEN, UnknownContent, content_of, literal, string_of
from trio_debugmcp.runs.slicing.wanted_pieces import (
    NOTHING_WANTED,
    WantedPieces,
    constant,
    differences,
    is_piece,
    place_in,
)
from trio_debugmcp.runs.source.read_paths import path_of

_WRAPPERS = ("sorted", "list", "tuple", "set", "dict", "frozenset")
"""Calls that give the items of their argument."""

_ORDERS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Lt: operators.lt,
    ast.LtE: operators.le,
    ast.Gt: operators.gt,
    ast.GtE: operators.ge,
}

_MOST_PIECES = 4

_LEAST_BEGIN = 3
"""Characters of a text by which it is known where in another one it should be."""

_AROUND = 12
"""Characters of a long text before and behind the place where it differs."""

_MESSAGE = re.compile(r"""AssertionError\((?P<quote>['"])(?P<line>(?:\\[^n]|[^\\])*?)(?:\\n|(?P=quote)\)$)""")
"""The text of an exception, with the first line of its message: `AssertionError('assert 409 == 200\\n +  where …')`."""

_ESCAPED = re.compile(r"\\(.)")

_EQUALITIES = (
    "assertEqual",
    "assertEquals",
    "assertListEqual",
    "assertDictEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertCountEqual",
    "assertSequenceEqual",
    "assertMultiLineEqual",
)
"""Methods of unittest that compare their first two arguments."""


def wanted_of(past: PastProcess, execution: StatementExecution, message: str = "") -> WantedPieces:
    """Return the piece that differs from what an assertion expected; nothing where it is not known.

    Args:
        past: the process.
        execution: the assertion.
        message: what it raises, where the record does not have that yet.
    """
    comparisons = _comparisons(execution.statement.node)
    for left, operator, right in comparisons:
        wanted = _of_comparison(past, execution, left, operator, right)
        if wanted != NOTHING_WANTED:
            return wanted
    raised = past.executions.raised(execution.row)
    if raised is not None and past.values.first_raise(raised.object) != raised.number:  # it is of what it has called
        return NOTHING_WANTED
    recorded = _MESSAGE.match(past.record.text(raised)) if raised is not None else None
    said = _ESCAPED.sub(r"\1", recorded["line"]) if recorded is not None else message.partition("\n")[0]
    return message_difference(said.strip(), execution.statement.node)


def message_difference(said: str, node: ast.AST) -> WantedPieces:
    """Return what differs by the first line of the message in which pytest or unittest shows both operands.

    Args:
        said: the line.
        node: the assertion; of one with a message of its own, or that compares otherwise, the line shows none.
    """
    comparisons = _comparisons(node)
    if len(comparisons) != 1 or not isinstance(comparisons[0][1], ast.Eq):
        return NOTHING_WANTED
    if isinstance(node, ast.Assert):
        texts = [said.removeprefix("assert ")] if node.msg is None and said.startswith("assert ") else []
        sign = " == "
    else:
        texts, sign = [said, said.rpartition(" : ")[0]], " != "  # what follows is the words of who called assertEqual
    for text in texts:
        left, _, right = text.partition(sign)
        got, expected = literal(left), literal(right)
        if isinstance(got, UnknownContent) or isinstance(expected, UnknownContent) or got == expected:
            continue
        first, _, second = comparisons[0]
        if constant(first) is not ...:
            got, expected = expected, got
        wanted = differences(expected, got)
        is_known = constant(first) is not ... or constant(second) is not ...
        whole = f"it is {got!r}, not {expected!r}" if is_known else f"{got!r} is not {expected!r}"
        return wanted if wanted.said else wanted._replace(said=whole)
    return NOTHING_WANTED


def _comparisons(node: ast.AST) -> list[tuple[ast.expr, ast.AST, ast.expr]]:
    if isinstance(node, ast.Assert):
        parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        pairs = [part for part in parts if isinstance(part, ast.Compare) and len(part.ops) == 1]
        bare = [part for part in parts if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not)]
        empty: list[tuple[ast.expr, ast.AST, ast.expr]] = [
            (part.operand, ast.Eq(), ast.List([], ast.Load())) for part in bare
        ]
        return [(pair.left, pair.ops[0], pair.comparators[0]) for pair in pairs] + empty
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr) and isinstance(value, ast.Call) and called(value) in _EQUALITIES:
        return [(value.args[0], ast.Eq(), value.args[1])] if len(value.args) > 1 else []
    return []


def _of_comparison(
    past: PastProcess, execution: StatementExecution, left: ast.expr, operator: ast.AST, right: ast.expr
) -> WantedPieces:
    one, other = _content(past, execution, left), _content(past, execution, right)
    if isinstance(operator, ast.In | ast.NotIn):
        if one is ... or isinstance(one, UnknownContent):
            return NOTHING_WANTED
        is_missing = isinstance(operator, ast.In)
        if not is_missing and isinstance(one, str) and isinstance(other, str) and one and one in other:
            return WantedPieces((repr(one),), text=other, offset=other.index(one) + len(one) - 1)  # what completes it
        if is_missing and isinstance(one, str) and isinstance(other, str):
            return _of_nearest(one, other)
        return WantedPieces(() if is_missing else (repr(one),), (repr(one),) if is_missing else ())
    if type(operator) in _ORDERS:
        return _of_order(past, execution, left, operator, right)
    if not isinstance(operator, ast.Eq) or one is ... or other is ...:
        return NOTHING_WANTED
    expected, got = (one, other) if constant(left) is not ... else (other, one)
    if (wanted := _of_long_texts(expected, got)) != NOTHING_WANTED:
        return wanted
    wanted = differences(expected, got)
    if constant(left) is ... and constant(right) is ...:  # it is not known which is right
        wanted = wanted._replace(pieces=(*wanted.pieces, *wanted.missing), lack=0)
    return wanted


def _of_nearest(one: str, other: str) -> WantedPieces:
    """Return where a text parts from another one in which it should be, behind the longest beginning that is there."""
    length = next((end for end in range(len(one), _LEAST_BEGIN - 1, -1) if one[:end] in other), 0)
    if not length:
        return WantedPieces((), (repr(one),))
    place = other.index(one[:length]) + length
    continues = (other.startswith(one[end:], place) for end in range(length + 1, len(one) - _LEAST_BEGIN + 1))
    return WantedPieces((), (repr(one),), text=other, offset=place, ends_early=any(continues) or place == len(other))


def _of_long_texts(expected: Any, got: Any) -> WantedPieces:
    """Return where two texts differ of which at least one is recorded up to some length only."""
    texts = [string_of(side.text) if isinstance(side, UnknownContent) else side for side in (expected, got)]
    if not any(isinstance(side, UnknownContent) for side in (expected, got)):
        return NOTHING_WANTED
    wanted, shown = (text.rstrip(UNSEEN) if isinstance(text, str) else "" for text in texts)
    text, offset, ends_early = place_in(wanted, shown)
    if offset >= min(len(wanted), len(shown)):
        return NOTHING_WANTED
    begin = max(offset - _AROUND, 0)
    said = f"at character {offset} it has {shown[begin : offset + _AROUND]!r}, not {wanted[begin : offset + _AROUND]!r}"
    return WantedPieces((), (), said, (), text, offset, ends_early)


def _of_order(
    past: PastProcess, execution: StatementExecution, left: ast.expr, operator: ast.AST, right: ast.expr
) -> WantedPieces:
    """Return the items that are too great, or too small, of `min(sizes.values()) >= 0`, with their keys."""
    bound, (is_keyed, items) = constant(right), _aggregated(past, execution, left)
    failing = [(key, item) for key, item in items if not _holds(operator, item, bound)]
    pieces = [piece for key, item in failing for piece in (repr(key), repr(item)) if is_piece(piece)]
    said = "; ".join(f"{key!r} has {item!r}" if is_keyed else f"it has {item!r}" for key, item in failing[:2])
    return WantedPieces(tuple(pieces[:_MOST_PIECES]), (), said)


def _aggregated(past: PastProcess, execution: StatementExecution, node: ast.expr) -> tuple[bool, list[tuple[Any, Any]]]:
    """Return the items of which `min(...)` or `max(...)` is one, with keys or places; whether these are keys."""
    name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
    if name not in ("min", "max") or not isinstance(node, ast.Call) or len(node.args) != 1:
        return False, []
    inner = node.args[0]
    is_view = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "values"
    known = _content(past, execution, inner.func.value if is_view else inner)  # type: ignore[attr-defined]
    if isinstance(known, dict):
        return True, list(known.items()) if is_view else [(key, key) for key in known]
    return False, list(enumerate(known)) if isinstance(known, list | tuple) else []


def _holds(operator: ast.AST, one: Any, other: Any) -> bool:
    try:
        return bool(_ORDERS[type(operator)](one, other))
    except TypeError:
        return True


def _content(past: PastProcess, execution: StatementExecution, node: ast.expr) -> Any:
    """Return what an expression was; `...` where the record does not have it."""
    known = constant(node)
    if known is not ...:
        return known
    is_wrapped = isinstance(node, ast.Call) and getattr(node.func, "id", "") in _WRAPPERS and not node.keywords
    if is_wrapped and isinstance(node, ast.Call) and len(node.args) == 1:
        drawn = _drawn(past, execution, node.args[0])
        inner = _content(past, execution, node.args[0]) if drawn is None else drawn
        return _wrapped(getattr(node.func, "id", ""), inner)
    if isinstance(node, ast.Tuple | ast.List):
        return _together(node, [_content(past, execution, part) for part in node.elts])
    if isinstance(node, ast.ListComp | ast.SetComp):
        return _comprehended(node, _content(past, execution, node.generators[0].iter))
    if isinstance(node, ast.Subscript) and (part := _slice(node.slice)) is not None:
        whole = _content(past, execution, node.value)
        return whole[part] if isinstance(whole, list | tuple | str) else ...
    before = past.executions.ended(execution.row)
    path = path_of(node)
    value = past.values.value(execution, path, before) if path is not None else None
    if isinstance(node, ast.Call):
        starts = [start for start in past.executions.calls(execution.row) if call_of(past, execution, start) is node]
        ending = past.executions.outcome(starts[-1].number) if starts else None
        value = past.values.value_at(ending.number) if ending is not None else None
    return ... if value is None else content_of(past, value, before)


def _drawn(past: PastProcess, execution: StatementExecution, node: ast.expr) -> list[Any] | None:
    """Return all that a generator has given a statement, as contents; None: not of a generator that was drawn empty."""
    if past.executions.has_more_calls(execution.row) or not isinstance(node, ast.Call | ast.GeneratorExp):
        return None
    starts = [start for start in past.executions.calls(execution.row) if _is_of(past, execution, start, node)]
    endings = [past.executions.outcome(start.number) for start in starts]
    given = [ending for ending in endings if ending is not None]
    is_whole = len({start.subject for start in starts}) == 1 and len(given) == len(starts)
    kinds = [ending.kind for ending in given]
    if not is_whole or kinds != [rows.YIELD] * (len(kinds) - 1) + [rows.RETURN] or starts[0].kind != rows.START:
        return None
    return [content_of(past, past.values.value_at(ending.number), ending.number + 1) for ending in given[:-1]]


def _is_of(past: PastProcess, execution: StatementExecution, start: Row, node: "ast.Call | ast.GeneratorExp") -> bool:
    """Whether a call was made for an expression of a statement, or for a round of it."""
    if isinstance(node, ast.Call):
        return call_of(past, execution, start) is node
    scope = past.scopes.of_code(start.key)
    return scope is not None and is_same_place(scope.node, node)


def _together(node: "ast.Tuple | ast.List", parts: list[Any]) -> Any:
    """Return what is written out as a tuple or list; a part that is not known, `len(rows)`, equals nothing else."""
    if any(isinstance(part, ast.Starred) for part in node.elts) or all(part is ... for part in parts):
        return ...
    known = [
        UnknownContent(ast.unparse(element)) if part is ... else part
        for element, part in zip(node.elts, parts, strict=True)
    ]
    return tuple(known) if isinstance(node, ast.Tuple) else known


def _slice(node: ast.expr) -> slice | None:
    """Return a slice with constant bounds; None: it is another one, or an index."""
    bounds = (node.lower, node.upper, node.step) if isinstance(node, ast.Slice) else ()
    known = [None if bound is None else constant(bound) for bound in bounds]
    is_known = bool(known) and all(bound is None or isinstance(bound, int) for bound in known) and known[2] != 0
    return slice(*known) if is_known else None


def _comprehended(node: "ast.ListComp | ast.SetComp", items: Any) -> Any:
    """Return what a comprehension takes out of items: variables of its loop, and what is at constant places in them."""
    generator = node.generators[0]
    if len(node.generators) > 1 or not isinstance(items, list | tuple | dict):
        return ...
    passed = [[_passes(test, generator.target, item) for test in generator.ifs] for item in items]
    if any(... in tests for tests in passed):
        return ...
    found = [_taken(node.elt, generator.target, item) for item, tests in zip(items, passed, strict=True) if all(tests)]
    return found if ... not in found else ...


def _passes(test: ast.expr, target: ast.expr, item: Any) -> Any:
    """Return whether an item is what a filter compares it with; `...` where that is not known."""
    is_plain = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.NotEq)
    if not is_plain or not isinstance(test, ast.Compare):
        return ...
    one, other = _taken(test.left, target, item), constant(test.comparators[0])
    if one is ... or other is ... or isinstance(one, UnknownContent):
        return ...
    return (one == other) == isinstance(test.ops[0], ast.Eq)


def _taken(node: ast.expr, target: ast.expr, item: Any) -> Any:
    if isinstance(node, ast.Subscript):
        inner, place = _taken(node.value, target, item), constant(node.slice)
        try:
            return inner[place]
        except (TypeError, KeyError, IndexError):
            return ...
    if isinstance(node, ast.Tuple | ast.List):
        parts = [_taken(part, target, item) for part in node.elts]
        return ... if ... in parts else tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "str" and len(node.args) == 1:
        inner = _taken(node.args[0], target, item)
        return str(inner) if isinstance(inner, str | int | float) else ...
    if isinstance(node, ast.Name) and isinstance(target, ast.Name):
        return item if node.id == target.id else ...
    if isinstance(node, ast.Name) and isinstance(target, ast.Tuple) and isinstance(item, tuple | list):
        pairs = [(part, value) for part, value in zip(target.elts, item, strict=False)]
        return next((value for part, value in pairs if getattr(part, "id", "") == node.id), ...)
    return ...


def _wrapped(name: str, inner: Any) -> Any:
    if inner is ... or isinstance(inner, UnknownContent):  # of what is iterated only what it is, and not its items
        return ...
    try:
        if name == "sorted":
            return sorted(inner)
        return {"list": list, "tuple": tuple, "set": set, "dict": dict, "frozenset": frozenset}[name](inner)
    except (TypeError, ValueError):
        return ...
