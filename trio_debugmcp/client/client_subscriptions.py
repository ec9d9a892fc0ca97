"""What an `InspectorClient` follows: resources that it subscribes to."""

from contextlib import AbstractAsyncContextManager

from trio_debugmcp.client.client_events import ClientEvents
from trio_debugmcp.client.given import need_text
from trio_debugmcp.client.state.subscriptions import EXPLICIT, Updates
from trio_debugmcp.errors import UsageError


class ClientSubscriptions(ClientEvents):
    """What an `InspectorClient` does about subscriptions."""

    # --- Subscriptions ------------------------------------------------------------------------------------------------

    def supports_resource_subscriptions(self) -> bool:
        """Whether the connected server has the capability."""
        resources = self.capabilities.resources if self.capabilities is not None else None
        return resources is not None and resources.subscribe is True

    def get_subscribed_resources(self) -> tuple[str, ...]:
        """The URIs whose subscription the server has confirmed; empty when disconnected."""
        return self._state.subscriptions.confirmed

    def is_subscribed_to_resource(self, uri: str) -> bool:
        """Whether the server has confirmed the subscription of `uri`."""
        return uri in self._state.subscriptions.confirmed

    async def subscribe_to_resource(self, uri: str) -> None:
        """Subscribe to `uri` until `unsubscribe_from_resource` or the end of the connection.

        With the option `reconnect` it is subscribed again after a lost connection. A read from *before* the
        subscription may be out of date without a notification: read after it.

        Raises:
            UsageError: the server has no such capability, or there is no connection.
            MCPError: the server refused.
        """
        self._need_subscriptions(uri)
        await self._state.subscriptions.hold(uri, EXPLICIT)

    async def unsubscribe_from_resource(self, uri: str) -> None:
        """Undo `subscribe_to_resource`, if there was one; `subscribed()` blocks keep their own hold.

        Raises:
            NotConnected: there is no connection.
        """
        _ = self._supervisor.connection
        self._state.subscriptions.release(uri, EXPLICIT)
        await self._state.subscriptions.wait_settled(uri)

    def subscribed(self, uri: str) -> AbstractAsyncContextManager[Updates]:
        """Subscribe for a block: `async with client.subscribed(uri) as updates: async for update in updates`.

        Any number of blocks share one subscription, which ends with the last of them; leaving does not wait for the
        server. A slow reader gets the latest update, once. Iteration raises `ConnectionLost` when the connection is
        lost for good.
        """
        self._need_subscriptions(uri)
        return self._state.subscriptions.mailbox(uri)

    def _need_subscriptions(self, uri: str) -> None:
        need_text(uri, "uri")
        if self._supervisor.reconnecting:
            return  # wanted from now on, requested when there is a connection again
        _ = self._supervisor.connection
        if not self.supports_resource_subscriptions():
            raise UsageError("NOT_SUPPORTED", "The server does not support resource subscriptions")
