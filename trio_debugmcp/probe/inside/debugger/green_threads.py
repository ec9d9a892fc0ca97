"""Threads of a program in which gevent has replaced those of `threading`, which are greenlets then.

Threads of the system are known to `threading` no more. What has started them shows which are the debugger's own; the
one that is left runs the greenlets, the main one among them.
"""

from typing import Any, List

from trio_debugmcp.probe.inside.debugger import seam
from trio_debugmcp.probe.inside.debugger.pydevd_parts import part
from trio_debugmcp.probe.inside.debugger.seam import ProgramThread, ProgramView

_STARTS = ("threading", "gevent", "_pydev_bundle.pydev_monkey")
"""Modules whose frames are below the first one that a thread runs."""


def named(view: ProgramView, found: List[ProgramThread]) -> List[ProgramThread]:
    """Return threads without the debugger's own. What runs greenlets is the one that is stopped, else the first."""
    known = seam.known_threads()
    strangers = [each for each in found if each.ident not in known]
    left = [each for each in strangers if not _is_of(view, each.top)]
    kept = [each for each in found if each.ident in known] + left
    running = {each.ident for each in found if each.ident in known}
    pydevds = getattr(part("_pydev_bundle._pydev_saved_modules", "threading"), "_active", {})  # from before
    greenlets = [
        each
        for ident, each in [*pydevds.items(), *known.items()]
        if ident not in running and not view.owns_thread(each)
    ]
    if not left or not greenlets:
        return kept
    oldest = left[-1]  # the interpreter has the newest first
    here = [view.program_thread(oldest.ident, each, oldest.top) for each in greenlets]
    stopped = [each for each in here if each.stopped is not None]
    return [*(stopped or here[:1]), *[each for each in kept if each is not oldest]]


def _is_of(view: ProgramView, top: Any) -> bool:
    """Whether a thread is the debugger's: the first function that it runs, behind those that start threads, is."""
    frames = []
    while top is not None:
        frames.append(top)
        top = top.f_back
    for frame in reversed(frames):
        if not seam.module_of(frame).startswith(_STARTS):
            return view.owns(frame)
    return False
