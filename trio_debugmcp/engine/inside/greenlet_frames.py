"""The frames of greenlets that wait: what runs in a thread next may be none of those that the thread has now.

C code switches between greenlets, without an event (gevent, eventlet, Playwright's synchronous API).
"""

import gc
import sys
from typing import Any

_MOST = 1000
"""Greenlets that are looked at."""


def waiting_frames() -> list[Any]:
    """Return the innermost frame of each greenlet that waits; none where the program has not imported greenlets."""
    kind = getattr(sys.modules.get("greenlet"), "greenlet", None)
    if not isinstance(kind, type):
        return []
    read: Any = kind.__dict__["gr_frame"].__get__
    waiting = [each for each in gc.get_objects() if issubclass(type(each), kind)][:_MOST]
    return [frame for frame in map(read, waiting) if frame is not None]
