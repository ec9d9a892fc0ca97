"""Conditions of a program judged over recorded values: with arithmetic of numbers, which `RecordedCondition` has not.

    folded_holds(ast.parse("line.price * 2 > 10", mode="eval").body, {"line.price": "4"})     # False

Nothing of the program is called: numbers and texts are those of Python itself.
"""

import ast
import copy
import operator
from collections.abc import Callable
from typing import Any

from trio_debugmcp.runs.past.recorded_conditions import ConditionError, RecordedCondition
from trio_debugmcp.runs.slicing.recorded_contents import literal
from trio_debugmcp.runs.source.read_paths import path_of

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}

_MOST = 1 << 60
"""Numbers beyond it are not computed with."""

_TEXT_METHODS = frozenset({"startswith", "endswith", "lower", "upper", "strip", "isdigit", "isalpha"})


def folded_holds(condition: ast.expr, texts: dict[str, str]) -> bool | None:
    """Return whether a condition held, by the texts of the paths that it read; None: that is not known."""
    folded = _Folding(texts).visit(copy.deepcopy(condition))
    try:
        return RecordedCondition(ast.unparse(folded)).held(lambda path: texts.get(str(path)))
    except (ConditionError, ValueError):
        return None


def is_at_bound(condition: ast.expr, texts: dict[str, str]) -> bool:
    """Whether two sides that a condition compares by their order are equal."""
    for part in ast.walk(condition):
        if isinstance(part, ast.Compare) and len(part.ops) == 1:
            is_ordered = isinstance(part.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
            equal = ast.Compare(part.left, [ast.Eq()], part.comparators)
            if is_ordered and folded_holds(equal, texts):
                return True
    return False


class _Folding(ast.NodeTransformer):
    """Puts constants in the place of what is computed from known numbers and texts."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        left, right = self._number(node.left), self._number(node.right)
        compute = _OPERATORS.get(type(node.op))
        if left is None or right is None or compute is None:
            return node
        try:
            return ast.Constant(compute(left, right))
        except (TypeError, ArithmeticError):
            return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        text = self._constant(node.func.value) if isinstance(node.func, ast.Attribute) else None
        given = [self._constant(argument) for argument in node.args]
        is_plain = isinstance(text, str) and all(isinstance(one, str) for one in given) and not node.keywords
        if isinstance(node.func, ast.Attribute) and is_plain and node.func.attr in _TEXT_METHODS:
            try:
                return ast.Constant(getattr(text, node.func.attr)(*given))
            except TypeError:
                return node
        return node

    def _number(self, node: ast.expr) -> int | float | None:
        value = self._constant(node)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
        return value if is_number else None

    def _constant(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        path = path_of(node)
        text = self._texts.get(str(path)) if path is not None else None
        return literal(text) if text is not None else None
