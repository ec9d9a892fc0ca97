"""`InspectorClient`: a client for any MCP server, for programs that show a person what the server has.

This module is the façade and its life; `client_parts` puts its parts together:

    InspectorClient
     ├─ Supervisor ─── ClientConnection ── wire, requests      which connection there is, how it ends, reconnecting
     ├─ ClientState ── Calls                                   requests, and what came of them
     │             ├── ServerChanges                           notifications, and what follows
     │             ├── Catalog ── ListGroup, SyncedList        tools, resources, templates, prompts
     │             ├── Subscriptions ── reconcile              what is wanted, what is confirmed, re-subscribing
     │             └── MessageLog, StderrLog                   what was sent and received
     ├─ ContentCache                                           the last results
     └─ EventBus                                               what happened, in order

Everything that the server sends is seen at the tap, synchronously and in wire order; whatever takes time is a task in
the connection's nursery. So no listener, however slow, can delay the reader.

Its methods stand by subject in the classes that it inherits: `ClientViews` shows, `ClientRequests` asks,
`ClientSubscriptions` follows. Together they are more than a class usually has, one for each thing that a user can do.
"""

from collections.abc import Awaitable
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Self

import trio

from trio_debugmcp.client.client_requests import ClientRequests
from trio_debugmcp.client.client_subscriptions import ClientSubscriptions
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.errors import DebugError

if TYPE_CHECKING:  # it imports the SDK's client, see `__init__`
    from trio_debugmcp.client.connection.targets import Target


class InspectorClient(ClientRequests, ClientSubscriptions):
    """An MCP client that remembers what it saw, follows what changes, and reports in order what happened.

    In use::

        async with InspectorClient(["my-server"]) as client:
            invocation = await client.read_resource("demo://one")     # always fetches; also cached
            async with client.subscribed("demo://one") as updates:
                async for update in updates: ...

    Resource handling: `async with` owns a nursery; leaving it ends the connection, the server process and every task.
    Within it, `disconnect()` and `connect()` may be called at will. The state is cleared at the end of a connection;
    what was cached becomes stale, hence None to the getters, and can still be read with `allow_stale=True`.

    Error handling: requests raise the SDK's `MCPError` with the server's code and data (`REQUEST_TIMEOUT` if no answer
    came), `NotConnected`, or `ConnectionLost` with exit code and standard error when the connection ends during the
    request. What fails while no caller waits for it is an `error` event.

    Args:
        target: a command as a list of strings or the SDK's `StdioServerParameters`, an `http(s)://` or `ws(s)://` URL,
            an in-process SDK server, an SDK transport, or a function that returns one of these.
        options: see `InspectorOptions`.
    """

    def __init__(self, target: "Target", options: InspectorOptions = InspectorOptions()) -> None:  # noqa: B008 (frozen)
        # Here: the SDK's client brings its server, HTTP and SSE along, and takes most of a second to import.
        from trio_debugmcp.client.client_parts import ClientParts

        super().__init__(ClientParts(target, options))
        self._options = options
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open the client's nursery and, unless the options disable it, connect.

        Raises:
            ConnectFailed: the server could not be reached.
        """
        async with AsyncExitStack() as stack:
            self._supervisor.nursery = await stack.enter_async_context(trio.open_nursery())
            stack.push_async_callback(self._close)
            try:
                if self._options.connect_on_enter:
                    await self.connect()
            except DebugError as error:
                failure = error  # raised outside of the nursery, which would wrap it in a group
            else:
                self._stack = stack.pop_all()
                return self
        raise failure

    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Awaitable[bool | None]:
        return self._stack.__aexit__(kind, error, trace)

    async def connect(self) -> None:
        """Connect, fetch the lists, and return; does nothing when connected.

        Raises:
            ConnectFailed: the server could not be reached, or did not complete the handshake.
        """
        await self._supervisor.connect()

    async def disconnect(self) -> None:
        """End the connection and wait until it is closed; also ends attempts to reconnect.

        Does nothing when disconnected.
        """
        await self._supervisor.disconnect()

    async def _close(self) -> None:
        await self._supervisor.disconnect("the client was closed")
        self._parts.bus.close()
