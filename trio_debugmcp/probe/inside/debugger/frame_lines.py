"""The line at which a frame is."""

from typing import Any


def line_of(frame: Any) -> int:
    """Return the line; that of the nearest instruction before which has one, where the compiler gives it none.

    That is so behind the blocks of `except*`, where what they have left is raised again. 0 if there is none at all.
    """
    line = frame.f_lineno
    if line is not None:
        return int(line)
    found = 0
    for begin, _, line in frame.f_code.co_lines():
        if begin > frame.f_lasti:
            break
        found = line or found
    return found
