"""The lines of the statement that a line of Python is part of.

    lines_of(["total = price(", "    cart,", ")"], 2)    # (1, 3)

Read from a few lines only, and remembered, as it is asked at every stop: a file is not parsed for it. Pure.
"""

import io
import tokenize
from collections.abc import Sequence
from functools import lru_cache

PYTHON = (".py", ".pyw")
"""How the names of its files end."""

MOST_LINES = 16
"""Lines of a statement on either side of the current one that are looked at; a table of data has hundreds."""


def lines_of(lines: Sequence[str], current: int) -> tuple[int, int]:
    """Return the first and the last line of the statement, as far as they are near; else the line itself, twice."""
    before = max(0, current - 1 - MOST_LINES)
    first, last = _lines_near(tuple(lines[before : current + MOST_LINES]), current - before)
    return before + first, before + last


@lru_cache(maxsize=256)  # places that are stopped at again and again, as in a loop
def _lines_near(lines: tuple[str, ...], current: int) -> tuple[int, int]:
    for first in range(1, current + 1):
        last = _end(lines[first - 1 :], first)
        if last is not None and last >= current and lines[first - 1].strip():
            return first, last
    return current, current


def _end(lines: Sequence[str], first: int) -> int | None:
    """Return the last line of the statement that begins with these lines; None where they do not have its end."""
    text = "\n".join(line.rstrip("\n") for line in lines)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text + "\n").readline):
            if token.type == tokenize.NEWLINE:
                return first + token.start[0] - 1
            if token.type in (tokenize.NL, tokenize.COMMENT) and token.start[0] == 1 and not lines[0].strip():
                return None
    except (tokenize.TokenError, SyntaxError):
        pass
    return None
