"""Which debugger is asked: the one that has attached itself, or pydevd where it is in the program, or none.

    for thread in debugger().threads():
        frames = [*debugger().frames(thread)]

Without one, all that the interpreter knows is answered, and nothing is stopped.
"""

import sys
from typing import Any, List, Optional

from trio_debugmcp.probe.inside import imported
from trio_debugmcp.probe.inside.debugger.seam import ProgramDebugger, ProgramThread, is_probe

_attached: List[ProgramDebugger] = []


def attach(debugger: ProgramDebugger) -> None:
    """Have a debugger asked from now on."""
    _attached[:] = [debugger]


def debugger() -> ProgramDebugger:
    """Return the debugger that is asked."""
    if not _attached:
        if "pydevd" in sys.modules:
            from trio_debugmcp.probe.inside.debugger import by_pydevd  # not loaded beside another debugger

            attach(by_pydevd.ByPydevd())
        else:
            attach(ProgramDebugger())
    return _attached[0]


def find(thread_id: Optional[int]) -> Optional[ProgramThread]:
    """Return the thread with that id; without an id the one that is stopped, or the main thread."""
    found = debugger().threads()
    if thread_id is not None:
        return next((thread for thread in found if thread.id == thread_id), None)
    stopped = [thread for thread in found if thread.stopped is not None]
    main = [thread for thread in found if is_main([thread.ident])]
    return next(iter(stopped + main + found), None)


def is_main(idents: List[int]) -> bool:
    """Whether the main thread is one of these."""
    threading = imported.now("threading")
    return threading is not None and threading._main_thread.ident in idents


def is_own(frame: Any) -> bool:
    """Whether a frame is the debugger's or the probe's."""
    return debugger().owns(frame)


def left_frames(thread: ProgramThread) -> List[Any]:
    """The frames above the one where a thread is stopped: a stop where a function has returned to is inside its return.

    Not those of an evaluation, which the debugger's are below.
    """
    stop = debugger().stop_frame(thread)
    if stop is None:
        return []
    found: List[Any] = []
    frame = thread.top
    while frame is not None and frame is not stop:
        found = [] if is_own(frame) else [*found, frame]
        frame = frame.f_back
    return found if frame is not None else []


__all__: List[str] = ["attach", "debugger", "find", "is_own", "is_probe", "left_frames"]
