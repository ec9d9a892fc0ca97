"""Truth and comparisons for `evaluate_safe`: of builtin values all the way down, or by identity.

    equal([1, {"a": 2}], [1])       # False
    equal(order, None)              # False

An object whose class has an `__eq__` of the program's is refused.
"""

import collections
from typing import Any, List

from trio_debugmcp.probe.inside.safe.readable import (
    ATOMS,
    MOST_BITS,
    MOST_ITEMS,
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
