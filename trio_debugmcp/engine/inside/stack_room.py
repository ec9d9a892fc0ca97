"""`call_with_room`: room on the stack for what is done at a hit, where the program has used up nearly all of its own.

    hits = call_with_room(self._hits, record, frame, line)

The limit of recursion is that of all threads. It is the program's own again when the call is over, and meanwhile the
others hardly run: they park, or the call is short.
"""

import sys
from typing import Any, Callable

_frame: Any = sys._getframe
_module_of: Any = sys._getframemodulename  # type: ignore[attr-defined]
_get: Any = dict.get
_limit: Any = sys.getrecursionlimit
_set_limit: Any = sys.setrecursionlimit

_NEEDED = 80
"""Frames of ours, of the probe, and of what a condition calls."""

_LAST = 1
"""Frames: with so few left nothing is done about it, as the limit could not be set back from here."""

_MORE = 400

_owed: list[int] = []
"""The limit of the program, where it could not be set back at once."""


def call_with_room(function: Callable[..., Any], frame: Any, *arguments: Any) -> Any:
    """Call a function with a frame of the program; where the stack is nearly full, with a higher limit."""
    limit = _limit()
    last = limit - _NEEDED
    # That the stack ends before says an exception for sure, which takes as long as the rest of a hit. So the names of
    # modules are asked for first, of two frames in a row: one may be of a function that has none.
    is_short = _module_of(last) is None and _module_of(last - 1) is None
    if is_short and not _owed and _get(frame.f_globals, "__name__") is not None:
        return function(frame, *arguments)
    # Not called while an error is handled here, which would be the context of what code of the program raises.
    if not _has(last):
        if _owed:
            _restore(limit)
        return function(frame, *arguments)
    if _owed or _has(limit - _LAST):
        return function(frame, *arguments)
    _set_limit(limit + _MORE)
    _owed.append(limit)
    try:
        return function(frame, *arguments)
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
