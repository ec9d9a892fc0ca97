"""The server's own log records, relayed to the clients that asked for them.

A client asks per connection (`logging/setLevel`, handshake era) or per request (modern era). Its records wait in its
mailbox, so a slow client delays no other:

    with open_log_relay() as logs:
        logs.set_level(subscriber, "info")

Records about unauthenticated connections go to the server's own log only: what strangers send is not for clients.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from trio_debugmcp.masking.mask import masked
from trio_debugmcp.publish.hub import Logged, LoggingLevel, Subscriber

MAX_MESSAGE_LENGTH = 8192
"""Characters of a log message: a traceback fits, a dump does not."""

_NOT_RELAYED = ("trio_debugmcp.transports.", "trio_debugmcp.recording.trace.")
"""These loggers and those below them record single connections: refusals, malformed messages, all of DAP."""

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
    """Puts each record into the mailboxes of the subscribers whose level it reaches. Made by `open_log_relay`."""

    def __init__(self, logger: logging.Logger, *, show_secrets: bool) -> None:
        super().__init__()
        self._show_secrets = show_secrets
        self._logger = logger
        self._own_level = logger.level
        self._base_level = logger.getEffectiveLevel()
        self._levels: dict[Subscriber, int] = {}
        self._token = trio.lowlevel.current_trio_token()

    def __repr__(self) -> str:
        return f"<LogRelay: {len(self._levels)} subscribers>"

    def set_level(self, subscriber: Subscriber, level: LoggingLevel) -> None:
        """Relay records of that level and above to this subscriber from now on."""
        self._levels[subscriber] = _NUMBERS[level]
        self._adjust()

    def forget(self, subscriber: Subscriber) -> None:
        """Relay nothing more to this subscriber."""
        if self._levels.pop(subscriber, None) is not None:
            self._adjust()

    def emit(self, record: logging.LogRecord) -> None:
        """Relay a record; `logging` calls this in the thread that logs."""
        if f"{record.name}.".startswith(_NOT_RELAYED):
            return
        text = self.format(record)
        if not self._show_secrets:
            text = masked(text)
        if len(text) > MAX_MESSAGE_LENGTH:
            text = text[:MAX_MESSAGE_LENGTH] + "… [truncated]"
        level = next((word for word, least in reversed(_NUMBERS.items()) if least <= record.levelno), _LOWEST)
        logged = Logged(level, record.name, text)
        # Mailboxes belong to the thread of this `trio.run`; a record of any other thread has to be passed there.
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
        """Set the level of the logger to the lowest that is wanted: records below it are not even created."""
        wanted = min(self._levels.values(), default=None)
        self._logger.setLevel(self._own_level if wanted is None else min(self._base_level, wanted))


@contextmanager
def open_log_relay(*, show_secrets: bool = False) -> Iterator[LogRelay]:
    """Relay the log records of this package for the length of the block."""
    logger = logging.getLogger("trio_debugmcp")
    level, relay = logger.level, LogRelay(logger, show_secrets=show_secrets)
    logger.addHandler(relay)
    try:
        yield relay
    finally:
        logger.removeHandler(relay)
        logger.setLevel(level)
