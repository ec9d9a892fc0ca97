"""What passes on one connection, in the order of the wire: logged, screened, and notifications acted on."""

from collections.abc import Callable, Mapping
from typing import Any

import trio
from mcp.shared.message import SessionMessage

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.connection_end import ConnectionEnd, explained
from trio_debugmcp.client.connection.screen import Screen
from trio_debugmcp.client.events import ErrorEvent, MessageEvent
from trio_debugmcp.client.state.message_log import MessageLog, Origin
from trio_debugmcp.transports.tap import Tap

Params = Mapping[str, Any]
OnNotification = Callable[[str, Params], bool]


class ConnectionWire(Tap):
    """The tap of a connection's transport.

    Args:
        log, bus: where messages are logged and announced.
        on_notification: called with each notification, in wire order; returns whether the SDK needs it too.
        last_failure: returns why the server could not be reached, of a transport that knows.

    Attributes:
        end: of the connection.
        screen: keeps what is malformed from the SDK.
        version: of the protocol, once it is negotiated.
        last_received: when the last message arrived, on Trio's clock.
    """

    def __init__(
        self,
        log: MessageLog,
        bus: EventBus,
        on_notification: OnNotification,
        last_failure: Callable[[], Exception | None] = lambda: None,
    ) -> None:
        self.end = ConnectionEnd()
        self.version: str | None = None
        self.screen = Screen(lambda: self.version, self._report)
        self.sent_count = self.received_count = 0
        self.last_received = trio.current_time()
        self._log = log
        self._bus = bus
        self._on_notification = on_notification
        self._last_failure = last_failure

    def sent(self, item: SessionMessage) -> None:
        """Log a message that is about to be written."""
        self.sent_count += 1
        message = _plain(item)
        self.screen.sent(message)
        self._record("client", message)

    def received(self, item: SessionMessage) -> bool:
        """Log a message that has arrived and act on it; False keeps it from the SDK."""
        self.received_count += 1
        self.last_received = trio.current_time()
        message = _plain(item)
        self._record("server", message)
        if "method" not in message or "id" in message:
            self.screen.received(item, message)
            return True
        # Here and not in the SDK's callbacks: the SDK starts a task per notification, so that two of them, or a
        # notification and a response, can change places. State may only change in the order of the wire.
        for_sdk = self._on_notification(message["method"], message.get("params") or {})
        return for_sdk and self.screen.admits(message)

    def failed(self, error: Exception) -> None:
        """End the connection, because of what could not be read: too long a line, or a broken stream."""
        self.end.begin(f"the connection was cut: {explained(error)}", requested=False)

    def garbled(self, error: Exception) -> None:
        """Report what is not a message, often a stray print to stdout; the connection continues."""
        self._report(error, f"The server sent something that is not a message: {error}")

    def ended(self, *, cancelled: bool) -> None:
        """End the connection: end of file is the last message of every connection."""
        self.end.reading = False
        if not cancelled:  # a cancelled reader does not know the reason; `serve()` does
            failure = self._last_failure()
            reason = "closed the connection" if failure is None else f"cannot be reached: {explained(failure)}"
            self.end.begin(f"the server {reason}", requested=False)

    def _report(self, error: Exception, message: str | None = None) -> None:
        self._bus.publish(ErrorEvent(message=message or str(error), error=error))

    def _record(self, origin: Origin, message: dict[str, Any]) -> None:
        self._bus.publish(MessageEvent(entry=self._log.record(origin, message)))


def _plain(item: SessionMessage) -> dict[str, Any]:
    """The message as it is on the wire; parameters and results are the same objects, not copies."""
    message = item.message
    fields = {name: getattr(message, name) for name in type(message).model_fields if name in message.model_fields_set}
    if (error := fields.get("error")) is not None:
        fields["error"] = error.model_dump(exclude_unset=True)
    return fields
