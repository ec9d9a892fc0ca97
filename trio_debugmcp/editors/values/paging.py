"""Pages of the children of a value, also of adapters that answer all of them whatever is asked for. Pure.

    if not is_without(place, "indexed"):
        shown = page(body.variables, place, filter="indexed", start=100, count=100)

gdb, perl-ls and lldb-dap pass over `start` and `count`, or the kind. Each page of an editor would show the whole array.
"""

import re
from collections.abc import Sequence

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.editors.numbers import AdapterNumber

_INDEX = re.compile(r"\[?(\d+)\]?")
"""How elements are called: `3` or `[3]`."""


def is_without(place: AdapterNumber, kind: str | None) -> bool:
    """Return whether a value is known to have no children of a kind. rdbg 1.4 does not survive the question."""
    return (kind == "indexed" and place.indexed == 0) or (kind == "named" and place.named == 0)


def page(
    found: Sequence[DapVariable], place: AdapterNumber, kind: str | None, start: int, count: int
) -> Sequence[DapVariable]:
    """Return the children of a kind that were asked for, of those that were answered; `count` 0: all."""
    found = _of_kind(found, place, kind)
    if not count:
        return found
    # In this order, as perl-ls has them in that of their names: 0, 1, 10, 11.
    in_order = sorted(found, key=lambda variable: _index(variable.name) or 0)
    is_array = [_index(variable.name) for variable in in_order] == list(range(len(found)))
    if len(found) <= count and not (start and is_array):
        return found
    return (in_order if is_array else found)[start : start + count]


def _of_kind(found: Sequence[DapVariable], place: AdapterNumber, kind: str | None) -> Sequence[DapVariable]:
    elements = [variable for variable in found if _index(variable.name) is not None]
    if kind == "indexed" and elements:  # else they are called otherwise, and the adapter knows which they are
        return elements
    if kind == "named" and place.indexed:  # else a number may be a key, as in a dictionary
        return [variable for variable in found if _index(variable.name) is None]
    return found


def _index(name: str) -> int | None:
    match = _INDEX.fullmatch(name)
    return None if match is None else int(match[1])
