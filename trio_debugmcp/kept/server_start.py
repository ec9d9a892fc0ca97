"""Start the server that is kept for a project: one, however many shells call at the same moment.

    with reach(place, lambda: own_command("serve", "--kept", place.project)) as conversation: ...

The server is a process of its own session, so it survives the shell, and ends by itself: see `serve --kept`.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from trio_debugmcp.errors import DebugError
from trio_debugmcp.kept.calling import Conversation, connect
from trio_debugmcp.kept.place import Place, hold

START_SECONDS = 60.0
"""For a server to listen, on a busy machine; if its process ends before, that is known at once."""

POLL_SECONDS = 0.01

LOG_LINES = 12
"""Of a server that could not start, in the error message."""


class NoServer(DebugError):
    """No server could be had."""


def reach(place: Place, command: Callable[[], Sequence[str]]) -> Conversation:
    """Connect to the project's server, and start it if there is none, by the command line that `command` returns.

    Raises:
        NoServer: it did not start.
        UsageError: the place cannot be used.
    """
    place.make()
    conversation = connected(place)
    if conversation is not None:
        return conversation
    with _alone(place):
        conversation = connected(place)  # another shell may have started it meanwhile
        return _started(place, command()) if conversation is None else conversation


def connected(place: Place) -> Conversation | None:
    """Connect to the project's server; None if there is none.

    Raises:
        NoServer: there is one that cannot be reached.
        UsageError: it may be the server of another user.
    """
    try:
        return connect(place)
    except OSError as error:
        raise NoServer(f"{place.socket} cannot be reached: {error.strerror}.") from error


@contextmanager
def _alone(place: Place) -> Iterator[None]:
    """Hold the lock of who starts the server."""
    end = time.monotonic() + START_SECONDS
    file = hold(place, place.starting_lock)
    while file is None:
        if time.monotonic() > end:
            raise NoServer("Another shell has been starting the server for a minute: try again.")
        time.sleep(POLL_SECONDS)
        file = hold(place, place.starting_lock)
    with file:
        yield


def _started(place: Place, command: Sequence[str]) -> Conversation:
    import subprocess  # most calls find a server

    try:
        with open(place.log, "wb") as log:
            process = subprocess.Popen(
                command,
                cwd=place.project,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        raise NoServer(f"The server cannot be started: {error.strerror}: {error.filename}.") from error
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        conversation = connected(place) if os.path.lexists(place.socket) else None
        if conversation is not None:
            return conversation
        code = process.poll()
        if code is not None:
            raise NoServer(f"The server ended at its start, with exit code {code}.{_last_lines(place)}")
        time.sleep(POLL_SECONDS)
    process.kill()
    process.wait()
    raise NoServer(f"The server did not start within {START_SECONDS:g} seconds.{_last_lines(place)}")


def _last_lines(place: Place) -> str:
    try:
        with open(place.log, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - 8192, 0))
            lines = file.read().decode(errors="replace").splitlines()[-LOG_LINES:]
    except OSError:
        return ""
    return "".join(f"\n{line}" for line in lines)
