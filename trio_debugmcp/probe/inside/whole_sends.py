"""Sends over a socket, each byte once, whatever signal handlers of the program raise between any two steps."""

from typing import Any, List

from trio_debugmcp.probe.inside import signal_handlers


def send_whole(made: Any, data: bytes, flags: int, raised: List[BaseException]) -> None:
    """Send data; what signal handlers raise, and what is sent to this thread, is added to a list.

    How much was taken is kept in the same step in which it is: an exception that comes behind that loses nothing.

    Raises:
        OSError: the connection is broken.
    """
    taken: List[int] = []
    while True:
        try:
            while sum(taken) < len(data):
                taken.extend(map(made.send, [data[sum(taken) :]], [flags]))
            return
        except BaseException as error:
            is_own = isinstance(error, (OSError, MemoryError)) and not signal_handlers.is_of_handler(error)
            if is_own:
                raise
            raised += [error]
