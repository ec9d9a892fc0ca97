"""Values cut to a length, with what is left out of the whole.

    shortened_value("[0, 1, ...]", 200, 9000, "items")    # "[0, 1, ...] (9000 items in all)"

An adapter may have cut them before. Pure.
"""

import re

from trio_debugmcp.state.payloads import shortened

_QUOTES = {"characters": 2, "bytes": 3}
"""Characters around a text as Python writes it: `'…'`, `b'…'`."""

_CUT_COLLECTION = re.compile(r"\.\.\.[\])}]+$")
"""How a collection ends of which pydevd shows only the first items."""

_MOST_OF_ADAPTER = 2**16
"""Characters of any other value that pydevd shows; it leaves out what is in the middle."""


def shortened_value(value: str, limit: int, length: int | None, unit: str) -> str:
    """`value`, cut after `limit` characters, with what is left out of the whole, which an adapter may have cut before.

    `length`: of the whole in `unit`s (`items`, `characters`, `bytes`), if it is known.
    """
    is_long = len(value) > limit
    if length is not None and unit == "items":
        whole = f" ({length} item{'s' if length != 1 else ''} in all)"
        if is_long:
            return f"{value[:limit]}…{whole}"
        return value + whole if _CUT_COLLECTION.search(value) else value
    if length is not None and length + _QUOTES.get(unit, 0) > len(value):
        return (
            shortened(value, limit, length + _QUOTES.get(unit, 0)) if is_long else f"{value} ({length} {unit} in all)"
        )
    if is_long and length is None and len(value) >= _MOST_OF_ADAPTER:
        return f"{value[:limit]}… (and more)"
    return shortened(value, limit)
