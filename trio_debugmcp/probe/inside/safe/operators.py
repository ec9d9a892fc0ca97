"""Operators on builtin values, each refused where its result would be huge or its operand is not builtin.

    arithmetic("Pow", 10, 3)        # 1000
    equal([1, {"a": 2}], [1])       # False: by builtin values all the way down, or by identity

An object whose class has an `__eq__` of the program's is refused.

The size of a result is estimated before it is computed: C code cannot be interrupted.
"""

import collections
from typing import Any, Callable, Dict, List

from trio_debugmcp.probe.inside.safe import readable
from trio_debugmcp.probe.inside.safe.readable import (
    ATOMS,
    MOST_BITS,
    MOST_ITEMS,
    NUMBERS,
    SEQUENCES,
    SETS,
    VIEWS,
    RejectedError,
    bounded,
    builtin_base,
    class_entry,
    has_plain_keys,
    inherits,
    items,
    length,
    name_of,
    one_of,
)
from trio_debugmcp.probe.inside.values.facts import MISSING

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
    of_sets = all(one_of(kind, (set, frozenset)) for kind in kinds) and is_plain([left, right])
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
        return equal(left, right) is (name == "Eq")
    if name in ("In", "NotIn"):
        return contains(right, left) is (name == "In")
    for each in (left, right):
        if not is_plain(each):
            raise RejectedError(f"comparing a {name_of(type(each))} could run code of the program")
    return bool(_ORDER[name](left, right))


_KNOWN = (*ATOMS, *SEQUENCES, *SETS, dict, bytearray)

_WEIGHT = 100
"""Characters that count as one item."""

_DEEPEST = 20
"""Collections in one another, before they are refused: a cycle has no end."""


def truth(value: Any) -> bool:
    """Return whether a value counts as true."""
    cls = type(value)
    if one_of(cls, ATOMS):
        return bool(value)
    if one_of(cls, (*_KNOWN, *VIEWS)):
        return length(value) > 0
    if class_entry(cls, "__bool__") is not MISSING:
        raise RejectedError(f"whether {name_of(cls)} is true is for its __bool__ to say, which would run")
    if class_entry(cls, "__len__") is not MISSING:
        return length(value) > 0
    return True


def is_plain(value: Any) -> bool:
    """Whether comparing, hashing and printing a value runs C code only: it and all that is in it are builtin.

    Raises:
        RejectedError: it is too large for that. What is in it twice counts twice, as it does when it is printed.
    """
    left, level = MOST_ITEMS, [value]
    for _ in range(_DEEPEST):
        deeper: List[Any] = []
        left -= len(level)
        for each in level:
            cls = type(each)
            if one_of(cls, (int, str, bytes)):
                if cls is int and each.bit_length() > MOST_BITS:
                    raise RejectedError(f"a number has more than {MOST_BITS} bits")
                left -= 0 if cls is int else len(each) // _WEIGHT
            elif one_of(cls, (list, tuple, dict, set, frozenset, collections.deque)):
                deeper += bounded(each, len(each))
                deeper += [] if cls is not dict else list(each.values())
            elif not one_of(cls, _KNOWN):
                return False
            if left < len(deeper):
                raise RejectedError(f"with all that is in it, it has more than {MOST_ITEMS} items")
        if not deeper:
            return True
        level = deeper
    raise RejectedError(f"more than {_DEEPEST} collections are in one another")


def equal(left: Any, right: Any) -> bool:
    """Return `left == right`, of objects that have no `__eq__` by identity."""
    plain = is_plain(left), is_plain(right)
    if all(plain):
        return bool(left == right)
    for value, known in zip((left, right), plain):
        cls = type(value)
        atom = known and one_of(cls, ATOMS)
        if not atom and not (inherits(cls, "__eq__", object) and inherits(cls, "__ne__", object)):
            raise RejectedError(f"comparing a {name_of(cls)} could run its __eq__, or that of what is in it")
    return left is right


def check_text(text: Any, most: int = 10 * MOST_ITEMS) -> None:
    """Refuse to search in a very long text, or for one."""
    if len(text) > most:
        raise RejectedError(f"the text has {len(text)} characters, more than {most}")


def contains(value: Any, wanted: Any) -> bool:
    """Return `wanted in value`."""
    cls = type(value)
    if one_of(cls, (str, bytes)) and type(wanted) is cls:
        check_text(value)
        check_text(wanted, 1000)
        return wanted in value
    if one_of(cls, (set, frozenset, dict)) and has_plain_keys((wanted,)) and has_plain_keys(value):
        return wanted in value
    if builtin_base(value, "__contains__", (*SEQUENCES, *SETS, dict)) is None:
        raise RejectedError(f"the __contains__ of {name_of(cls)} could run code")
    return any(item is wanted or equal(item, wanted) for item in items(value))
