"""The object that Java throws, `$exception` for the adapter, and what is behind it: causes, and what it suppressed.

    looked = thrown_object("java.lang.NullPointerException", ends=True)     # looks
    looked = causes()

An adapter that was installed before it had `$exception` answers with an error, and nothing is found.
"""

from collections.abc import Generator

from trio_debugmcp.dap.profiles.java.java_collections import class_of
from trio_debugmcp.dap.profiles.java.java_expressions import is_of_library
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame
from trio_debugmcp.dap.profiles.thrown import ThrownObject

_THROWN = "$exception"

_SAYS_WHEN_ASKED = frozenset({"java.lang.NullPointerException"})
"""Exceptions whose message is made when they are asked for it, by the virtual machine itself."""

_MAX_BEHIND = 20
"""Exceptions behind one that are looked at."""

_MAX_FRAMES = 10
"""Of each of these, which are read by some expressions each."""

_MAX_OUTER = 50
"""Frames in which the program's own code is looked for, where a library makes an exception."""

_Asking = Generator[str, str | None, str | None]


def thrown_object(kind: str, *, ends: bool) -> Generator[str, str | None, ThrownObject | None]:
    """Look at the object itself; where it was made only if it ends something, as that calls a method of it."""
    identity = yield _THROWN
    if identity is None or class_of(identity) is None:
        return None
    message = (yield from _text(f"{_THROWN}.getMessage()")) if kind in _SAYS_WHEN_ASKED else None
    frames = (yield from _frames(_THROWN, _MAX_OUTER, own=True)) if ends else ()
    if not frames:
        return ThrownObject(identity, message)
    return ThrownObject(identity, message, (frames[0].function, frames[0].line), frames[0].file)


def causes() -> Generator[str, str | None, tuple[Crash, ...]]:
    """Look at what is behind the object, its cause first."""
    return (yield from _behind(_THROWN, frozenset(), [_MAX_BEHIND]))


def _behind(path: str, above: frozenset[str], room: list[int]) -> Generator[str, str | None, tuple[Crash, ...]]:
    """Look at what is behind one; one without a cause is its own."""
    identity = (yield path) or ""
    above |= {identity}
    found = [(f"{path}.cause", "cause")]
    count = (yield f"{path}.suppressedExceptions.size") or ""
    if count.isdecimal():
        found += [(f"{path}.suppressedExceptions.elementData[{i}]", "suppressed") for i in range(int(count))]
    crashes = []
    for place, way in found:
        kind = class_of((yield place) or "")
        if kind is None or room[0] <= 0 or (yield place) in above:
            continue
        room[0] -= 1
        message = yield from _text(f"{place}.detailMessage")
        frames = yield from _frames(place, _MAX_FRAMES, own=False)
        inner = yield from _behind(place, above, room)
        crashes.append(Crash(f"{kind}: {message}" if message else kind, frames, way=way, inner=inner))
    return tuple(crashes)


def _frames(path: str, most: int, *, own: bool) -> Generator[str, str | None, tuple[CrashFrame, ...]]:
    """Look at the frames in which an exception was made; `own`: at the first one of the program only."""
    count = (yield f"{path}.getStackTrace().length") or ""
    frames: list[CrashFrame] = []
    for index in range(min(int(count), most) if count.isdecimal() else 0):
        place = f"{path}.stackTrace[{index}]"
        kind = yield from _text(f"{place}.declaringClass")
        if kind is None or (own and is_of_library(kind)):
            continue
        method, file = (yield from _text(f"{place}.methodName")), (yield from _text(f"{place}.fileName"))
        line = (yield f"{place}.lineNumber") or ""
        number = int(line) if line.isdecimal() else 0
        frames.append(CrashFrame(f"{kind}.{method}", file or "", number, is_of_library(kind)))
        if own:
            break
    return tuple(frames)


def _text(expression: str) -> _Asking:
    """Evaluate a text, which the adapter shows in quotes and as it is inside."""
    value = yield expression
    return value[1:-1] if value is not None and value.startswith('"') and value.endswith('"') else None
