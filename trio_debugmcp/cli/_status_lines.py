"""Lines that begin with a status, `ok`, `missing` or `failed`, and what is being looked for meanwhile.

    status_line("missing", "py-spy: not installed", "pipx inject …")
    with looking("debugging a program"):        # shown on a terminal as long as the block lasts
        ...

Colours and progress are for terminals only; `NO_COLOR` and `TERM=dumb` are respected.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_COLOURS = {"ok": "32", "missing": "33", "failed": "31"}

_ERASE = "\r\x1b[K"


def status_line(status: str, text: str, hint: str | None = None) -> str:
    """Return a line with a status, and another one with what to do."""
    word = f"{status:8}"
    if status in _COLOURS and _has_colours():
        word = f"\x1b[{_COLOURS[status]}m{status}\x1b[0m{word[len(status) :]}"
    return f"{word}{text}" if not hint else f"{word}{text}\n{'':8}→ {hint}"


@contextmanager
def looking(what: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on a terminal what is being done, for the length of the block. `quiet`: show nothing."""
    shows = not quiet and sys.stderr.isatty() and _is_able()
    if shows:
        sys.stderr.write(f"{what} …")
        sys.stderr.flush()
    try:
        yield
    finally:
        if shows:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


def _has_colours() -> bool:
    return sys.stdout.isatty() and _is_able() and not os.environ.get("NO_COLOR")


def _is_able() -> bool:
    return os.environ.get("TERM", "") not in ("", "dumb")
