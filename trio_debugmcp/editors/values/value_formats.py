"""How an editor wants values written, where the session has them as text already."""

import re
from typing import Any

_INTEGER = re.compile(r"-?\d{1,4000}")
"""As Python and others write one; `int` takes no more digits."""


def formatted(value: str, wanted: dict[str, Any] | None) -> str:
    """Return the value of an expression as an editor wants it: an integer as a hexadecimal number, for `hex`."""
    if not (wanted or {}).get("hex") or not _INTEGER.fullmatch(value):
        return value
    return hex(int(value))
