"""Conditions on recorded values: `price > 3 and name == 'tea'`, judged without any code of the program.

    condition = RecordedCondition("price > 3")
    holds = condition.holds(lambda path: texts.get(str(path)))      # True, False, or None: it cannot be known

A record has texts: those of numbers, strings and other constants are read back, of others only the text is compared,
with a string. `Decimal` and `Fraction` are numbers, which a condition may write so; dates and times are compared with
texts that `fromisoformat` reads, as in `day >= '2024-05-01'`.
"""

import ast
import operator
import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

from trio_debugmcp.runs.source.read_paths import ValuePath, path_of

_UNKNOWN = object()

_COUNTED = re.compile(r"(?:list|tuple|dict|set|deque) of (\d+)")
"""The text of a container that is known by how many items it has: whether it is empty."""

_WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "True": True, "False": False, "None": None}

_LEAST_SHARED, _MOST_SHARED = -5, 256
"""Integers that are one object wherever they are equal."""


def _is(one: Any, other: Any) -> bool:
    """Whether two values are one object: equal ones may be two, so that nothing is known."""
    if type(one) is not type(other) or one != other:
        return False
    if one is None or isinstance(one, bool) or (type(one) is int and _LEAST_SHARED <= one <= _MOST_SHARED):
        return True
    raise TypeError


_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, container: item in container,
    ast.NotIn: lambda item, container: item not in container,
    ast.Is: _is,
    ast.IsNot: lambda one, other: not _is(one, other),
}

ValueLookup = Callable[[ValuePath], str | None]
"""Returns the recorded text of a path; None where it is not known."""

_Outcome = Callable[[ast.cmpop, Any, Any], bool | None]


_NUMBER = re.compile(r"(?:Decimal\('(?P<decimal>[\w.+-]+)'\)|Fraction\((?P<over>-?\d+), (?P<under>\d+)\))")

_MOMENT = re.compile(r"<(date|datetime|time) ([\d:.T+-]+)(?:\[[^\]]*\])?>")

_MOMENTS: dict[str, Callable[[str], date | time]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}


class ConditionError(Exception):
    """A condition that cannot be judged over recorded values, and why."""


class _Text(str):
    """The text of a value that has no literal: `<Cart>`."""


class RecordedCondition:
    """One condition, parsed.

    Raises:
        ConditionError: it does not parse, or does something else than compare.
    """

    def __init__(self, text: str) -> None:
        try:
            self._node = ast.parse(text.strip(), mode="eval").body
            _check(self._node)
            _value(self._node, lambda _: None, _outcome)  # so deep that it can be judged
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ConditionError(f"`{text[:200]}` is not an expression, or too deep") from None

    def holds(self, lookup: ValueLookup) -> bool | None:
        """Return whether it holds; None: what it needs was not recorded."""
        return _truth(_value(self._node, lookup, _outcome))

    def held(self, lookup: ValueLookup) -> bool | None:
        """Return whether it held in the program, which does not take `'2024-05-01'` for a date."""
        return _truth(_value(self._node, lookup, _outcome_in_program))


def _check(node: ast.expr) -> None:
    match node:
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                _check(part)
        case ast.UnaryOp(operand=operand, op=ast.Not() | ast.USub()):
            _check(operand)
        case ast.Compare(left=left, comparators=others):
            for part in (left, *others):
                _check(part)
        case ast.Constant():
            return
        case ast.Call() if _number_of(node) is not None:
            return
        case _ if path_of(node) is not None:
            return
        case _:
            raise ConditionError(
                f"`{ast.unparse(node)}` cannot be judged over recorded values: compare variables, attributes and items "
                "with constants, `Decimal('1.20')` among them, by ==, <, in, and, or, not"
            )


def _value(node: ast.expr, lookup: ValueLookup, outcome: _Outcome) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Call():
            return _number_of(node)
        case ast.BoolOp(op=op, values=parts):
            return _joined(isinstance(op, ast.And), [_truth(_value(part, lookup, outcome)) for part in parts])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _truth(_value(operand, lookup, outcome))
            return _UNKNOWN if truth is None else not truth
        case ast.UnaryOp(operand=operand):
            value = _value(operand, lookup, outcome)
            return -value if isinstance(value, int | float | complex) else _UNKNOWN
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return _display(node, [_value(part, lookup, outcome) for part in parts])
        case ast.Compare():
            return _compared(node, lookup, outcome)
    path = path_of(node)
    text = None if path is None else lookup(path)
    return _UNKNOWN if text is None else _read(text)


def _number_of(node: ast.Call) -> Decimal | Fraction | None:
    """Return the number that `Decimal('1.20')` or `Fraction(1, 3)` in a condition is; None: it is another call."""
    makers: dict[str, type[Decimal | Fraction]] = {"Decimal": Decimal, "Fraction": Fraction}
    maker = makers.get(getattr(node.func, "id", getattr(node.func, "attr", "")))
    if maker is None or node.keywords:
        return None
    try:
        return maker(*[ast.literal_eval(argument) for argument in node.args])
    except (ValueError, ArithmeticError, TypeError, SyntaxError):
        return None


def _display(node: ast.expr, items: list[Any]) -> Any:
    """Return the tuple, list or set that a display makes: a tuple is equal to no list."""
    if any(item is _UNKNOWN for item in items):
        return _UNKNOWN
    try:
        return tuple(items) if isinstance(node, ast.Tuple) else set(items) if isinstance(node, ast.Set) else items
    except TypeError:  # of lists there is no set
        return _UNKNOWN


def _truth(value: Any) -> bool | None:
    if isinstance(value, _Text) and (counted := _COUNTED.fullmatch(value)):
        return int(counted[1]) > 0
    return None if value is _UNKNOWN or isinstance(value, _Text) else bool(value)


def _joined(is_and: bool, truths: list[bool | None]) -> Any:
    decides = not is_and
    if decides in truths:
        return decides
    return _UNKNOWN if None in truths else is_and


def _compared(node: ast.Compare, lookup: ValueLookup, outcome: _Outcome) -> Any:
    left, truths = _value(node.left, lookup, outcome), []
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, lookup, outcome)
        truths.append(outcome(op, left, right))
        left = right
    return _joined(True, truths)


def _outcome(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    if left is _UNKNOWN or right is _UNKNOWN:
        return None
    if isinstance(left, _Text) or isinstance(right, _Text):
        return _outcome_of_texts(op, left, right)
    try:
        return bool(_COMPARED[type(op)](*_as_moments(left, right)))
    except (TypeError, ArithmeticError):  # what has no order: a text and a number, a time with and one without a zone
        return None


def _outcome_in_program(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    """Return the outcome without reading a text of the program as the date or object that has this text."""
    for one, other in ((left, right), (right, left)):
        if type(one) is str and isinstance(other, _Text | date | time):
            return None
    return _outcome(op, left, right)


def _as_moments(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both sides, a text beside a date or a time as the same, where it is one."""
    if isinstance(left, date | time) and isinstance(right, str):
        return left, _moment_like(left, right)
    if isinstance(right, date | time) and isinstance(left, str):
        return _moment_like(right, left), right
    return left, right


def _moment_like(moment: date | time, text: str) -> Any:
    recorded = _MOMENT.fullmatch(text)
    try:
        return type(moment).fromisoformat(text if recorded is None else recorded[2])
    except ValueError:
        return text


def _outcome_of_texts(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    """Return the outcome where one side at least is known by its text only, such as `<Cart>`."""
    if not isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        return None
    constant = right if isinstance(left, _Text) else left
    if isinstance(constant, _Text):  # equal texts may be of two objects
        return None
    if constant is not None and not (isinstance(constant, str) and re.match(r"<|\w+\(", constant)):
        return None
    same = constant is not None and str(left) == str(right)
    return same if isinstance(op, ast.Eq | ast.Is) else not same


def _read(text: str) -> Any:
    """Return the constant that a text is; else the text itself, which was maybe cut."""
    if text in ("nan", "inf", "-inf", "True", "False", "None"):
        return _WORDS[text]
    if text.isascii() and text.isdigit():  # most are, and this is read for each of thousands of rows
        return int(text)
    try:
        number, moment = _NUMBER.fullmatch(text), _MOMENT.fullmatch(text)
        if number is not None:
            return (
                Decimal(number["decimal"]) if number["decimal"] else Fraction(int(number["over"]), int(number["under"]))
            )
        if moment is not None:
            return _MOMENTS[moment[1]](moment[2])
        return ast.literal_eval(text)
    except (ValueError, ArithmeticError, SyntaxError, MemoryError, RecursionError):
        return _Text(text)
