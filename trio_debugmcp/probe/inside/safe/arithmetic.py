"""Operators on builtin values, each refused where its result would be huge or its operand is not builtin.

    arithmetic("Pow", 10, 3)        # 1000

The size of a result is estimated before it is computed: C code cannot be interrupted.
"""

from typing import Any, Callable, Dict

from trio_debugmcp.probe.inside.safe import comparing, readable
from trio_debugmcp.probe.inside.safe.readable import MOST_BITS, NUMBERS, RejectedError, name_of, one_of

_ARITHMETIC: Dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda left, right: left + right,
    "Sub": lambda left, right: left - right,
    "Mult": lambda left, right: left * right,
    "Div": lambda left, right: left / right,
    "FloorDiv": lambda left, right: left // right,
    "Mod": lambda left, right: left % right,
    "Pow": lambda left, right: left**right,
    "LShift": lambda left, right: left << right,
    "RShift": lambda left, right: left >> right,
    "BitOr": lambda left, right: left | right,
    "BitAnd": lambda left, right: left & right,
    "BitXor": lambda left, right: left ^ right,
}
_UNARY: Dict[str, Callable[[Any], Any]] = {"UAdd": lambda found: +found, "USub": lambda found: -found}
_UNARY["Invert"] = lambda found: ~found
_ORDER: Dict[str, Callable[[Any, Any], Any]] = {
    "Lt": lambda left, right: left < right,
    "LtE": lambda left, right: left <= right,
    "Gt": lambda left, right: left > right,
    "GtE": lambda left, right: left >= right,
}
_ENOUGH = 10**12
"""More than any bound, and short when it is named."""

_JOINED = (str, bytes, list, tuple)


def arithmetic(name: str, left: Any, right: Any) -> Any:
    """Return what an operator makes of two values."""
    if name not in _ARITHMETIC:
        raise RejectedError("this operator is not evaluated safely")
    kinds = type(left), type(right)
    if all(one_of(kind, NUMBERS) for kind in kinds):
        _check_size(name, left, right)
        return _ARITHMETIC[name](left, right)
    if name == "Add" and kinds[0] is kinds[1] and one_of(kinds[0], _JOINED):
        readable.bounded((), len(left) + len(right))
        return left + right
    if name == "Mult":
        text, times = (left, right) if one_of(kinds[0], _JOINED) else (right, left)
        if one_of(type(text), _JOINED) and one_of(type(times), (int, bool)):
            readable.bounded((), len(text) * min(max(times, 0), _ENOUGH))
            return text * times
    of_sets = all(one_of(kind, (set, frozenset)) for kind in kinds) and comparing.is_plain([left, right])
    if of_sets and name in ("Sub", "BitOr", "BitAnd", "BitXor"):
        return _ARITHMETIC[name](left, right)
    if name == "Mod" and one_of(kinds[0], (str, bytes)):
        raise RejectedError("`%` on texts formats whatever it is given: use an f-string")
    wrong = next((kind for kind in kinds if not one_of(kind, (*readable.ATOMS, *_JOINED))), kinds[0])
    raise RejectedError(f"the operator on {name_of(wrong)} could run code, or is not evaluated safely")


def _check_size(name: str, left: Any, right: Any) -> None:
    bits = [each.bit_length() if one_of(type(each), (int, bool)) else 0 for each in (left, right)]
    made = max(bits)
    if all(one_of(type(each), (int, bool)) for each in (left, right)):
        if name == "Mult":
            made = sum(bits)
        elif name == "LShift":
            made = bits[0] + min(max(right, 0), _ENOUGH)
        elif name == "Pow":
            made = bits[0] * min(abs(right), _ENOUGH) if bits[0] > 1 else made
    if made > MOST_BITS:
        raise RejectedError(f"a number of {made} bits is too large: at most {MOST_BITS}")


def unary(name: str, found: Any) -> Any:
    """Return `-found`, `+found` or `~found`."""
    if not one_of(type(found), NUMBERS):
        raise RejectedError(f"the operator on {name_of(type(found))} could run code")
    _check_size("Add", found, 0)
    return _UNARY[name](found)


def comparison(name: str, left: Any, right: Any) -> bool:
    """Return whether a comparison holds."""
    if name in ("Is", "IsNot"):
        return (left is right) is (name == "Is")
    if name in ("Eq", "NotEq"):
        return comparing.equal(left, right) is (name == "Eq")
    if name in ("In", "NotIn"):
        return comparing.contains(right, left) is (name == "In")
    for each in (left, right):
        if not comparing.is_plain(each):
            raise RejectedError(f"comparing a {name_of(type(each))} could run code of the program")
    return bool(_ORDER[name](left, right))
