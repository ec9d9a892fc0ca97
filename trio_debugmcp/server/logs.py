"""The server's own log records on their way to the clients that asked for them.

A client asks per connection (`logging/setLevel`, handshake era) or per request (modern era). Its records wait in its
mailbox, so a slow client delays nobody. Who knocks at the network's doors, and what strangers send there, is for the
eyes of the person who runs the server.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import trio
from mcp_types import LoggingLevel

from trio_debugmcp.publish.hub import Logged, Subscriber

MAX_MESSAGE_LENGTH = 8192
"""Characters of a log message: a traceback fits, a dump does not."""

_NOT_RELAYED = "trio_debugmcp.transports"
"""The loggers, this one and those below it, that speak of single connections: refusals, nonsense, hypercorn's words."""

_LOWEST: LoggingLevel = "debug"

_NUMBERS: dict[LoggingLevel, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO + 5,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL + 10,
    "emergency": logging.CRITICAL + 20,
}
"""MCP's levels on Python's scale."""


class LogRelay(logging.Handler):
    """Hands each record to the subscribers whose level it reaches. Made by `open_log_relay`."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__()
        self._logger = logger
        self._own_level = logger.level
        self._base_level = logger.getEffectiveLevel()
        self._levels: dict[Subscriber, int] = {}
        self._token = trio.lowlevel.current_trio_token()

    def set_level(self, subscriber: Subscriber, level: LoggingLevel) -> None:
        """From now on this subscriber gets records of that level and above."""
        self._levels[subscriber] = _NUMBERS[level]
        self._adjust()

    def forget(self, subscriber: Subscriber) -> None:
        """It gets no more."""
        if self._levels.pop(subscriber, None) is not None:
            self._adjust()

    def emit(self, record: logging.LogRecord) -> None:
        """Called by `logging`, in whatever thread."""
        if f"{record.name}.".startswith(f"{_NOT_RELAYED}."):
            return
        text = self.format(record)
        if len(text) > MAX_MESSAGE_LENGTH:
            text = text[:MAX_MESSAGE_LENGTH] + "… [truncated]"
        level = next((word for word, least in reversed(_NUMBERS.items()) if least <= record.levelno), _LOWEST)
        logged = Logged(level, record.name, text)
        try:
            here = trio.lowlevel.current_trio_token() is self._token
        except RuntimeError:
            here = False
        if here:
            self._hand_out(logged, record.levelno)
        else:
            self._token.run_sync_soon(self._hand_out, logged, record.levelno)

    def _hand_out(self, logged: Logged, number: int) -> None:
        for subscriber, level in self._levels.items():
            if number >= level:
                subscriber.put(logged)

    def _adjust(self) -> None:
        """Records below the level of the logger are not even made, so it follows the most curious client."""
        wanted = min(self._levels.values(), default=None)
        self._logger.setLevel(self._own_level if wanted is None else min(self._base_level, wanted))


@contextmanager
def open_log_relay() -> Iterator[LogRelay]:
    """Relay what this package logs, for the length of the block."""
    logger = logging.getLogger("trio_debugmcp")
    level, relay = logger.level, LogRelay(logger)
    logger.addHandler(relay)
    try:
        yield relay
    finally:
        logger.removeHandler(relay)
        logger.setLevel(level)
