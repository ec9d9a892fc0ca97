"""Names that may be meant by one that there is not. Pure."""

import difflib
from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")

MAX_NAMED = 3

_CUTOFF = 0.7
"""How alike two names must be for one to be a slip of the other."""


_LEAST_SLIPPED = 3
"""Characters of a name in which one may be a slip; of shorter ones that could be any."""


def named_alike(wanted: str, names: Mapping[T, str]) -> list[T]:
    """Return those whose name is like the wanted one, the likeliest first: three at most."""
    slips = sorted(name for name in {*names.values()} if _is_one_slip(wanted, name))
    close = difflib.get_close_matches(wanted, {*names.values()}, MAX_NAMED, cutoff=_CUTOFF)
    alike = list(dict.fromkeys([*slips, *close]))
    likely = [each for each, name in names.items() if name in alike]
    return sorted(likely, key=lambda each: alike.index(names[each]))[:MAX_NAMED]


def _is_one_slip(wanted: str, name: str) -> bool:
    """Whether two names differ by one letter, or two that changed places: of short ones that is much of them."""
    short, long = sorted((wanted.lower(), name.lower()), key=len)
    if len(short) < _LEAST_SLIPPED or len(long) - len(short) > 1:
        return False
    same = next(
        (place for place, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short)
    )
    if any(text[same : same + 1].isdigit() for text in (short, long)):  # `s-9` is no `s-2`
        return False
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = short[same + 1 : same + 2] + short[same : same + 1] + short[same + 2 :]
    return short[same + 1 :] == long[same + 1 :] or swapped == long[same:]
