"""Where the program of a project's kept server stands, in one line, for hooks and monitors of hosts.

    print(present_stop(place))                              # None, or "Exception, ValueError: … at shop.py:7 in pay"
    for line in stops(place): print(line, flush=True)       # each stop that comes; waits for a server, too

Only files are read: nothing here starts a server, or keeps one from ending.
"""

import time
from collections.abc import Callable, Iterator

from trio_debugmcp.kept.place import Place

POLL_SECONDS = 0.5

HINT = "`trio-debugmcp call debug_state` shows the stop."


def present_stop(place: Place) -> str | None:
    """Return where the program has stopped; None if none is stopped, or no server is kept."""
    number, _, line = (place.stop() or "").partition(" ")
    return f"The debugger has stopped a program: {line}. {HINT}" if number and place.is_served() else None


def stops(place: Place, sleep: Callable[[float], object] = time.sleep) -> Iterator[str]:
    """Yield each stop that begins from now on, for ever."""
    last = place.stop()
    while True:
        sleep(POLL_SECONDS)
        now = place.stop()
        if now != last and now is not None and (line := present_stop(place)) is not None:
            yield line
        last = now
