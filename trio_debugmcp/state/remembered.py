"""`remembered`: what a function has made of the values that it was last called with, which never change.

    @remembered
    def roots_of(snapshots: tuple[Snapshot, ...]) -> Mapping[str, str]: ...

A change compares two states, in a dozen questions about each: so two values are remembered, by identity.
"""

from collections.abc import Callable
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")

_MOST = 2


def remembered(function: Callable[[A], R]) -> Callable[[A], R]:
    """Have a function called once for each value, as long as no two others come in between."""
    kept: list[tuple[A, R]] = []

    def remembering(value: A) -> R:
        for known, result in kept:
            if known is value:
                return result
        result = function(value)
        kept.insert(0, (value, result))
        del kept[_MOST:]
        return result

    return remembering
