"""The exception at a stop in words: what it is, how it stopped the program, and who will catch it."""

from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.state.payloads import ExceptionInfo

_PLAIN_MODE = "always"
"""How an exception stops the program unless something else is said: where it is raised."""


def stopped_by(places: Places, found: ExceptionInfo | None) -> tuple[str | None, str | None, str | None]:
    """Return the text of an exception, its mode, and who will catch it; None for what there is not, or is not known."""
    if found is None:
        return None, None, None
    return *exception_text(found), _caught_by(places, found)


def exception_text(found: ExceptionInfo) -> tuple[str, str | None]:
    """Return `ValueError: …`, and its mode where it is not the plain one: it is not caught, for example."""
    mode = None if found.break_mode == _PLAIN_MODE else found.break_mode
    return f"{found.type}: {found.message}" if found.message else found.type, mode


def _caught_by(places: Places, found: ExceptionInfo) -> str | None:
    """Return `load shop.py:12`, or `Mapping.__contains__ (library)`."""
    place = found.caught_by
    if place is None:
        return None
    line = f" {places.line(place.file, place.line)}" if place.is_user_code else LIBRARY
    return f"{place.function}{line}{' (in C code)' if place.in_c_code else ''}"
