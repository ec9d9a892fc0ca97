"""Chains of awaits: from a task's coroutine to the innermost one."""

from typing import Any, List, Optional, Tuple

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.values import facts

MOST_FRAMES = 1000
"""Of a chain that are followed. Recursions of coroutines are rarely longer."""

_SIDES = (("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await"))


def links_of(awaitable: Any) -> Tuple[List[Tuple[Any, Any]], Any]:
    """Return the coroutines of a chain with their frames, outermost first, and the last thing awaited, without one.

    A wrapper of C is a link as well; its frame is None.
    """
    chain: List[Tuple[Any, Any]] = []
    while awaitable is not None and len(chain) < MOST_FRAMES:
        side = next(
            (side for side in _SIDES if facts.class_attribute(type(awaitable), side[0]) is not facts.MISSING), None
        )
        if side is None:
            inner = _wrapped(awaitable)
            if inner is None:
                return chain, awaitable
            chain.append((awaitable, None))
            awaitable = inner
            continue
        chain.append((awaitable, getattr(awaitable, side[0])))
        awaitable = getattr(awaitable, side[1])
    return chain, awaitable


def frames_of(awaitable: Any) -> List[Any]:
    """Return the suspended frames of a coroutine, outermost first."""
    return [frame for _, frame in links_of(awaitable)[0] if frame is not None]


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


def running_frames(top: Any, coroutine: Any) -> Optional[List[Any]]:
    """Return the frames of a task that runs now, outermost first, from its coroutine's up to a thread's top frame.

    What the debugger calls, to hold the thread at a stop or to evaluate, is not the task's.
    """
    outermost = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
    frames: List[Any] = []
    while top is not None and len(frames) < MOST_FRAMES:
        if attached.is_own(top):
            frames.clear()
        else:
            frames.append(top)
        if top is outermost:
            return list(reversed(frames))
        top = top.f_back
    return None
