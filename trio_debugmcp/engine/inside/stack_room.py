"""`call_with_room`: room on the stack for what is done at a hit, where the program has used up nearly all of its own.

    hits = call_with_room(self._hits, record, frame, line)

The limit of recursion is that of all threads. It is the program's own again when the call is over, and meanwhile the
others hardly run: they park, or the call is short.
"""

import sys
from typing import Any, Callable

_frame: Any = sys._getframe
_limit: Any = sys.getrecursionlimit
_set_limit: Any = sys.setrecursionlimit

_NEEDED = 80
"""Frames of ours, of the probe, and of what a condition calls."""

_LAST = 3
"""Frames: with so few left nothing is done about it, as the limit could not be set back from here."""

_MORE = 400

_owed: list[int] = []
"""The limit of the program, where it could not be set back at once."""


def call_with_room(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; where the stack is nearly full, with a higher limit."""
    limit = _limit()
    # Not called while an error is handled here, which would be the context of what code of the program raises.
    if not _has(limit - _NEEDED):
        if _owed:
            _restore(limit)
        return function(*arguments)
    if _owed or _has(limit - _LAST):
        return function(*arguments)
    _set_limit(limit + _MORE)
    _owed.append(limit)
    try:
        return function(*arguments)
    finally:
        _restore(limit + _MORE)


def _has(frames: int) -> bool:
    """Whether the stack has so many frames; nearly always it has not."""
    try:
        return _frame(max(0, frames)) is not None
    except ValueError:
        return False


def _restore(raised: int) -> None:
    """Set the program's limit again, unless it has another one since."""
    try:
        if _limit() == raised:
            _set_limit(_owed[-1])
        _owed.clear()
    except RecursionError:  # not from so far up: at a later hit
        pass
