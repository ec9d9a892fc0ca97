"""From a subscriber's mailbox to its client, in each protocol era's own way and at the client's own pace."""

from collections.abc import Callable

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp_types import RequestId

from trio_debugmcp.publish.hub import ListChanged, Logged, Subscriber, Updated


async def deliver(subscriber: Subscriber, session: ServerSession, request_id: RequestId | None = None) -> None:
    """The notifications of a connection, or of one request of it, in order, until there are no more."""
    while True:
        match await subscriber.take():
            case Updated(uri=uri):
                await session.send_resource_updated(uri)
            case ListChanged():
                await session.send_resource_list_changed()
            case Logged(level=level, logger=logger, text=text):
                params = types.LoggingMessageNotificationParams(level=level, logger=logger, data=text)
                await session.send_notification(types.LoggingMessageNotification(params=params), request_id)


class SubscriberBus:
    """The SDK's listen handler listens to a bus; this one carries a single subscriber's notices."""

    def __init__(self) -> None:
        self._listeners: dict[object, Callable[[ServerEvent], None]] = {}

    async def publish(self, event: ServerEvent) -> None:
        """Tell the listeners."""
        for listener in list(self._listeners.values()):
            listener(event)
        await anyio.lowlevel.checkpoint()

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Add a listener; returns what removes it."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None

    async def relay(self, subscriber: Subscriber) -> None:
        """Publish what is in the subscriber's mailbox, until cancelled."""
        while True:
            match await subscriber.take():
                case Updated(uri=uri):
                    await self.publish(ResourceUpdated(uri=uri))
                case ListChanged():
                    await self.publish(ResourcesListChanged())
                case Logged():
                    pass  # log messages have a subscriber of their own
