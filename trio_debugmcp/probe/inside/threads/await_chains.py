"""Chains of awaits: from a task's coroutine to the innermost one, with the place where each waits."""

from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.values import facts

Json = Dict[str, Any]

MOST_LINKS = 30
"""Of a chain that are shown. Recursions of coroutines are rarely longer."""

_SIDES = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))


def frames_of(awaitable: Any) -> Tuple[List[Any], Any]:
    """Return the suspended frames of a coroutine, outermost first, and the last thing awaited, which has no frame."""
    frames: List[Any] = []
    for _ in range(MOST_LINKS):
        side = next(
            (side for side in _SIDES if facts.class_attribute(type(awaitable), side[0]) is not facts.MISSING), None
        )
        if side is None:
            inner = _wrapped(awaitable)
            if inner is None:
                return frames, awaitable
            awaitable = inner
            continue
        frame = getattr(awaitable, side[0])
        if frame is not None:
            frames.append(frame)
        awaitable = getattr(awaitable, side[1])
        if awaitable is None:
            return frames, None
    return frames, awaitable


def _wrapped(awaitable: Any) -> Any:
    """Return the coroutine behind a wrapper of C that has no attribute for it, as `asend` of an async generator."""
    gc = imported.first_seen("gc")
    name = facts.type_name(type(awaitable))
    if gc is None or name not in ("async_generator_asend", "async_generator_athrow", "coroutine_wrapper"):
        return None
    for referent in gc.get_referents(awaitable):
        if facts.type_name(type(referent)) in ("async_generator", "coroutine", "generator"):
            return referent
    return None


def places(frames: List[Any]) -> List[Json]:
    """Return the places of a chain, from the outermost frame to the innermost."""
    return [place(frame) for frame in frames]


def place(frame: Any) -> Json:
    """Return where a frame of a chain is."""
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)
    found: Json = {"function": str(name), "file": code.co_filename, "line": frame.f_lineno or code.co_firstlineno}
    if attached.debugger().is_library(frame):
        found["library"] = True
    return found


def running_frames(top: Any, coroutine: Any) -> Optional[List[Any]]:
    """Return the frames of a task that runs now, outermost first, from its coroutine's up to a thread's top frame.

    What the debugger calls, to hold the thread at a stop or to evaluate, is not the task's.
    """
    outermost = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
    frames: List[Any] = []
    while top is not None and len(frames) < 200:
        if attached.is_own(top):
            frames.clear()
        else:
            frames.append(top)
        if top is outermost:
            return list(reversed(frames))[:MOST_LINKS]
        top = top.f_back
    return None
