"""A pause that is wanted no more, and which no thread has come to yet, is taken back."""

import sys
from typing import Any

from trio_debugmcp.probe.inside import bounds, pydevd


def take_back() -> bool:
    """Have threads run on that were to stop at their next line; return whether none has stopped already.

    pydevd marks threads, and looks at the marks at each line. Its `continue` takes them away too, but is answered only
    once a thread has resumed, which none does here.
    """
    lifecycle: Any = sys.modules.get("_pydevd_bundle.pydevd_thread_lifecycle")
    resume = getattr(lifecycle, "resume_threads", None)
    notifications = getattr(bounds.debugger(), "threads_suspended_single_notification", None)
    if resume is None or notifications is None or any(each.stopped is not None for each in pydevd.threads()):
        return False
    notifications._pause_requested = False  # else the next stop of a thread beside another one would be reported twice
    resume("*")
    return True
