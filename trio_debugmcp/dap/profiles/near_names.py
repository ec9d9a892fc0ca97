"""Names that may be meant by one that there is not. Pure."""

import difflib
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

MAX_NAMED = 3

_CUTOFF = 0.7
"""How alike two names must be for one to be a slip of the other."""


def named_alike(wanted: str, names: Mapping[T, str]) -> list[T]:
    """Return those whose name is like the wanted one, the likeliest first: three at most."""
    alike = difflib.get_close_matches(wanted, {*names.values()}, MAX_NAMED, cutoff=_CUTOFF)
    likely = [each for each, name in names.items() if name in alike]
    return sorted(likely, key=lambda each: alike.index(names[each]))[:MAX_NAMED]
