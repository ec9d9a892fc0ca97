"""`InspectorClient`: a client for any MCP server, for programs that show a person what the server has.

This module is the façade, and the wiring of its parts:

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

Long because the façade has a documented method for each thing that a user can do; almost every one is a line over a
part.
"""

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

import mcp_types as types
import trio

from trio_debugmcp.client.bus import (
    DEFAULT_BUFFER_EVENTS,
    EventBus,
    EventStream,
    Expectation,
    Predicate,
)
from trio_debugmcp.client.client_errors import NotConnected
from trio_debugmcp.client.events import CacheChange, ConnectionStatus, EventKind
from trio_debugmcp.client.given import need_text
from trio_debugmcp.client.invocations import (
    Metadata,
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.options import LOG_LEVEL, InspectorOptions, Roots
from trio_debugmcp.client.state.cache import ContentCache, ReadOnlyContentCache
from trio_debugmcp.client.state.message_log import MessageEntry, StderrLine
from trio_debugmcp.client.state.subscriptions import EXPLICIT, Updates
from trio_debugmcp.client.statistics import InspectorClientStatistics
from trio_debugmcp.client.uri_templates import expanded_uri
from trio_debugmcp.clock import Clock
from trio_debugmcp.errors import DebugError, UsageError

if TYPE_CHECKING:  # these import the SDK's client, see `__init__`
    from mcp.shared.dispatcher import ProgressFnT

    from trio_debugmcp.client.connection.client_connection import ClientConnection
    from trio_debugmcp.client.connection.targets import Target
    from trio_debugmcp.client.state.lists import SyncedList

T = TypeVar("T")


class InspectorClient:
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
        from trio_debugmcp.client.connection.supervisor import Supervisor
        from trio_debugmcp.client.state.client_state import ClientState
        from trio_debugmcp.client.state.state_parts import StateParts

        self._target = target
        self._options = options
        self._clock = Clock()
        self._bus = EventBus(self._clock)
        self._cache = ContentCache(
            max_entries=options.cache_max_entries,
            max_bytes=options.cache_max_bytes,
            ttl=options.cache_ttl,
            clock=self._clock.utc,
        )
        self._cache.on_change(
            lambda kind, key, reason: self._bus.publish(CacheChange(content=kind, key=key, reason=reason))
        )
        self.cache: ReadOnlyContentCache = self._cache.view()
        self._state = ClientState(StateParts(options, self._bus, self._clock, self._cache))
        self._supervisor = Supervisor(self._open_connection, self._state, self._bus, options.reconnect)
        self._roots: Roots | None = options.roots
        self._stack = AsyncExitStack()

    def __repr__(self) -> str:
        server = self.server_info.name if self.server_info is not None else "no server"
        return f"<InspectorClient, {self.status}: {server}, {self._state.subscriptions}>"

    # --- Life ---------------------------------------------------------------------------------------------------------

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

    # --- State --------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> ConnectionStatus:
        """The status of the connection."""
        return self._supervisor.status

    @property
    def capabilities(self) -> types.ServerCapabilities | None:
        """The server's capabilities, None when disconnected."""
        return self._state.server.capabilities

    @property
    def server_info(self) -> types.Implementation | None:
        """The server's name and version, None when disconnected or when the server does not give them."""
        return self._state.server.info

    @property
    def instructions(self) -> str | None:
        """The server's instructions for a model, None when there are none."""
        return self._state.server.instructions

    @property
    def protocol_version(self) -> str | None:
        """The negotiated version of the protocol, None when disconnected."""
        return self._state.server.protocol_version

    @property
    def tools(self) -> tuple[types.Tool, ...]:
        """The tools as last fetched."""
        return self._state.catalog.tools.items

    @property
    def resources(self) -> tuple[types.Resource, ...]:
        """The resources as last fetched."""
        return self._state.catalog.resources.items

    @property
    def resource_templates(self) -> tuple[types.ResourceTemplate, ...]:
        """The resource templates as last fetched."""
        return self._state.catalog.resource_templates.items

    @property
    def prompts(self) -> tuple[types.Prompt, ...]:
        """The prompts as last fetched."""
        return self._state.catalog.prompts.items

    @property
    def messages(self) -> tuple[MessageEntry, ...]:
        """The log of JSON-RPC messages, oldest first. It starts anew with each connection."""
        return tuple(self._state.messages)

    @property
    def stderr(self) -> tuple[StderrLine, ...]:
        """The last lines of standard error of stdio servers, over all connections of this client."""
        return tuple(self._state.stderr)

    def statistics(self) -> InspectorClientStatistics:
        """The statistics of all parts: connection, subscriptions, cache, events."""
        try:
            connection = self._supervisor.connection.statistics()
        except NotConnected:
            connection = None
        return InspectorClientStatistics(
            supervisor=self._supervisor.statistics(),
            connection=connection,
            subscriptions=self._state.subscriptions.statistics(),
            cache=self._cache.stats(),
            events=self._bus.statistics(),
            messages=self._state.messages.statistics(),
        )

    # --- Lists --------------------------------------------------------------------------------------------------------

    async def list_tools(self, metadata: Metadata = None) -> tuple[types.Tool, ...]:
        """Fetch all pages, commit and announce them (even if nothing changed), and return them."""
        return await self._fetch("tools", self._state.catalog.tools, metadata)

    async def list_resources(self, metadata: Metadata = None) -> tuple[types.Resource, ...]:
        """As `list_tools`. Removed resources are cleared from the cache."""
        return await self._fetch("resources", self._state.catalog.resources, metadata)

    async def list_resource_templates(self, metadata: Metadata = None) -> tuple[types.ResourceTemplate, ...]:
        """As `list_tools`. Removed templates are cleared from the cache."""
        return await self._fetch("resources", self._state.catalog.resource_templates, metadata)

    async def list_prompts(self, metadata: Metadata = None) -> tuple[types.Prompt, ...]:
        """As `list_tools`. Removed prompts are cleared from the cache."""
        return await self._fetch("prompts", self._state.catalog.prompts, metadata)

    async def list_page(
        self,
        kind: Literal["tools", "resources", "resource_templates", "prompts"],
        cursor: str | None = None,
        metadata: Metadata = None,
    ) -> types.PaginatedResult:
        """Fetch one page of a list, with its `next_cursor` and `_meta`. The lists of this client stay as they are."""
        connection = self._supervisor.connection
        which: SyncedList[Any] = getattr(self._state.catalog, kind)
        page: types.PaginatedResult = await which.page(connection, cursor, self._state.calls.meta(connection, metadata))
        return page

    # --- Calls --------------------------------------------------------------------------------------------------------

    async def read_resource(
        self, uri: str, metadata: Metadata = None, *, timeout: float | None = None
    ) -> ResourceReadInvocation:
        """Read `uri` from the server, always; the invocation is cached and announced.

        If the resource was announced as changed during the read, the result may be from before or after the change: it
        is returned, and cached as stale.
        """
        return await self._state.calls.read_resource(self._supervisor.connection, uri, metadata, timeout)

    async def read_resource_from_template(
        self,
        uri_template: str,
        params: Mapping[str, str],
        metadata: Metadata = None,
        *,
        timeout: float | None = None,
    ) -> ResourceTemplateReadInvocation:
        """Expand a template (RFC 6570) and read the result.

        The read is cached and announced twice, under the template and under the expanded URI.

        Raises:
            UsageError: the server has no such template, or `params` do not fit it: one is missing that is not of a
                query, or one is not of the template.
        """
        connection = self._supervisor.connection
        if not self._has_template(uri_template):
            await self.list_resource_templates()
        if not self._has_template(uri_template):
            raise UsageError("INVALID_PARAMETER", f"The server has no resource template {uri_template!r}")
        expanded = expanded_uri(uri_template, params)
        return await self._state.calls.read_template(connection, uri_template, expanded, params, metadata, timeout)

    async def get_prompt(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        metadata: Metadata = None,
        *,
        timeout: float | None = None,
    ) -> PromptGetInvocation:
        """Get a prompt; the invocation is cached and announced. Arguments that are not strings are sent as JSON."""
        return await self._state.calls.get_prompt(self._supervisor.connection, name, params or {}, metadata, timeout)

    async def call_tool(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        metadata: Metadata = None,
        tool_metadata: Metadata = None,
        *,
        timeout: float | None = None,
        progress: "ProgressFnT | None" = None,
    ) -> ToolCallInvocation:
        """Call a tool.

        A failed call is an invocation with `success` False, cached and announced like any other; its `fault` says who
        caused it, and so whether the tool may have run.

        Args:
            name: of the tool.
            params: its arguments; strings are converted where the tool's schema wants another type.
            metadata: `_meta` of the request.
            tool_metadata: takes precedence over `metadata`, key by key.
            timeout: seconds without an answer or progress, in place of the option `request_timeout`.
            progress: an async function that is called with the progress, the total and the message of this call.

        Raises:
            NotConnected, ConnectionLost: there is no answer that could be kept.
            UsageError: the arguments cannot be sent.
        """
        tool = next((tool for tool in self.tools if tool.name == name), None)
        merged = {**(metadata or {}), **(tool_metadata or {})} or None
        return await self._state.calls.call_tool(
            self._supervisor.connection, name, params or {}, tool, merged, timeout, progress
        )

    async def get_completions(
        self,
        ref: types.PromptReference | types.ResourceTemplateReference,
        argument_name: str,
        argument_value: str,
        context: Mapping[str, str] | None = None,
    ) -> types.Completion:
        """Complete an argument of a prompt or a resource template; empty if the server has no completions."""
        argument = {"name": argument_name, "value": argument_value}
        return await self._state.calls.complete(self._supervisor.connection, ref, argument, context)

    async def set_logging_level(self, level: types.LoggingLevel) -> None:
        """Request log messages of `level` and above; in the modern era the level goes with every later request.

        Raises:
            UsageError: the server does not have `logging`, or the protocol has no such level.
        """
        if not LOG_LEVEL.holds(level):
            raise UsageError("INVALID_PARAMETER", f"`level` must be {LOG_LEVEL.allowed}, not {level!r}")
        connection = self._supervisor.connection
        if self.capabilities is None or self.capabilities.logging is None:
            raise UsageError("NOT_SUPPORTED", "The server does not support logging")
        await self._state.calls.set_logging_level(connection, level)

    async def ping(self) -> None:
        """Check that the server answers: with `ping`, or with `server/discover` in the modern era."""
        await self._state.calls.ping(self._supervisor.connection)

    async def set_roots(self, roots: Sequence[types.Root]) -> None:
        """Replace the roots and notify the server; the options must have given roots, even none, to begin with."""
        if self._roots is None:
            raise UsageError("NOT_SUPPORTED", "The client was made without roots; pass `roots=()` in its options")
        self._roots = tuple(roots)
        connection = self._supervisor.connection
        if not connection.modern:  # in the modern era the server asks when it needs them
            await connection.sdk.session.send_notification(types.RootsListChangedNotification())

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

    # --- Events -------------------------------------------------------------------------------------------------------

    def events(self, *kinds: EventKind, buffer: int = DEFAULT_BUFFER_EVENTS) -> EventStream:
        """Listen for a block: `async with client.events("error") as events: async for event in events`.

        Args:
            kinds: the kinds of events; all if none is named.
            buffer: how many events a slow listener may lag behind; beyond it the oldest are dropped, and an
                `eventsDropped` in their place counts them.
        """
        return self._bus.stream(kinds, buffer)

    def wait_for(self, kind: EventKind, predicate: Predicate | None = None) -> Expectation:
        """`await client.wait_for(kind)`: the next event of `kind` that `predicate` accepts.

        It listens from the call, not from the `await`, so it can be armed before the action: `coming =
        client.wait_for("toolsChange")`, act, `await coming`.
        """
        return self._bus.expect(kind, predicate)

    # --- Wiring -------------------------------------------------------------------------------------------------------

    async def _close(self) -> None:
        await self._supervisor.disconnect("the client was closed")
        self._bus.close()

    def _open_connection(self) -> "ClientConnection":
        from trio_debugmcp.client.connection.opening_connection import open_connection

        started = self._clock.utc()
        self._state.messages.clear()
        return open_connection(
            self._target,
            self._options,
            log=self._state.messages,
            bus=self._bus,
            on_notification=self._state.on_notification,
            on_stderr=self._state.on_stderr,
            stderr_tail=lambda: self._state.stderr.tail(started),
            roots=lambda: self._roots,
        )

    async def _fetch(self, group: str, which: "SyncedList[T]", metadata: Metadata) -> tuple[T, ...]:
        connection = self._supervisor.connection
        meta = self._state.calls.meta(connection, metadata)
        return await self._state.catalog.groups[group].fetch(connection, which, meta)

    def _has_template(self, uri_template: str) -> bool:
        return any(template.uri_template == uri_template for template in self.resource_templates)

    def _need_subscriptions(self, uri: str) -> None:
        need_text(uri, "uri")
        if self._supervisor.reconnecting:
            return  # wanted from now on, requested when there is a connection again
        _ = self._supervisor.connection
        if not self.supports_resource_subscriptions():
            raise UsageError("NOT_SUPPORTED", "The server does not support resource subscriptions")
