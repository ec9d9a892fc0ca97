"""`InspectorClient`: a client for any MCP server, for programs that show a person what the server has.

This module is the client's face and its wiring. The parts, each with one thing to own:

    InspectorClient
     ├─ Supervisor ─────── ClientConnection ── tap ── transport      which connection there is, how it ends
     ├─ ClientState ───── Calls                               requests in flight, and what came of them
     │           ├── Catalog ── ListGroup, SyncedList    tools, resources, templates, prompts
     │           ├── Subscriptions ── keepers            what is wanted, what is confirmed
     │           └── MessageLog, StderrLog               what passed
     ├─ ContentCache                                     what was read last
     └─ EventBus                                         what happened

Everything that the server says is taken in at the tap, synchronously and in the order of the wire; whatever
takes time is a task in the connection's nursery. So nothing that listens, however slow, can hold up the
reader.
"""

from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Self

import trio
from mcp import types

from trio_debugmcp.client.bus import DEFAULT_BUFFER_EVENTS, EventBus, EventStream, Expectation, Predicate
from trio_debugmcp.client.calls import Metadata
from trio_debugmcp.client.connection.connection import ClientConnection
from trio_debugmcp.client.connection.supervisor import Supervisor
from trio_debugmcp.client.connection.targets import Target, resolve_target
from trio_debugmcp.client.events import (
    CacheChange,
    ConnectionStatus,
    EventKind,
)
from trio_debugmcp.client.invocations import (
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.client.state.cache import ContentCache, ReadOnlyContentCache
from trio_debugmcp.client.state.messages import MessageEntry, StderrLine
from trio_debugmcp.client.state.state import ClientState
from trio_debugmcp.client.state.subscriptions import EXPLICIT, Updates
from trio_debugmcp.clock import Clock
from trio_debugmcp.errors import DebugError, UsageError


class InspectorClient:
    """An MCP client that remembers what it saw, follows what changes, and tells in order what happened.

    ```python
    async with InspectorClient(["my-server"]) as client:
        invocation = await client.read_resource("demo://one")     # always fetches; also cached
        async with client.subscribed("demo://one") as updates:
            async for update in updates: ...
    ```

    Resource handling: `async with` owns a nursery; leaving it ends the connection, the server process and
    every task. Within it, `disconnect()` and `connect()` may be called at will. State is cleared at the end
    of a connection; what was cached becomes stale, hence None to the getters, and can still be read with
    `allow_stale=True`.

    Error handling: requests raise the SDK's `MCPError` with the server's code and data (`REQUEST_TIMEOUT`
    when none came), `NotConnected`, or `ConnectionLost` with exit code and standard error when the connection
    ends under them. What fails with nobody waiting for it is an `error` event.

    Args:
        target: a command as a list of strings or the SDK's `StdioServerParameters`, an `http(s)://` URL, an
            in-process SDK server, an SDK transport, or a function that returns one of these.
        options: see `InspectorOptions`.
    """

    def __init__(self, target: Target, options: InspectorOptions = InspectorOptions()) -> None:  # noqa: B008 (frozen)
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
        self._state = ClientState(options, self._bus, self._clock, self._cache)
        self._supervisor = Supervisor(self._open_connection, self._state, self._bus, options.reconnect)
        self._roots = options.roots
        self._stack = AsyncExitStack()

    # Life

    async def __aenter__(self) -> Self:
        """Open the client's nursery and, unless the options say otherwise, connect.

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
                failure = error  # raised outside of the nursery, which would make a group of it
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
        """End the connection and wait until it is closed; also ends the attempts to come back.

        Does nothing when disconnected.
        """
        await self._supervisor.disconnect()

    # State

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._supervisor.status

    @property
    def capabilities(self) -> types.ServerCapabilities | None:
        """The server's capabilities, None when disconnected."""
        return self._state.server.capabilities

    @property
    def server_info(self) -> types.Implementation | None:
        """The server's name and version, None when disconnected or when it keeps them to itself."""
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
        """What stdio servers wrote to their standard error, over all connections of this client."""
        return tuple(self._state.stderr)

    # Lists

    async def list_tools(self, metadata: Metadata = None) -> tuple[types.Tool, ...]:
        """Fetch all pages, commit and announce them (even if nothing changed), and return them."""
        connection = self._supervisor.connection
        group = self._state.catalog.groups["tools"]
        return await group.fetch(connection, self._state.catalog.tools, self._state.calls.meta(connection, metadata))

    async def list_resources(self, metadata: Metadata = None) -> tuple[types.Resource, ...]:
        """As `list_tools`. What is cached of resources that are gone is forgotten."""
        connection = self._supervisor.connection
        group = self._state.catalog.groups["resources"]
        return await group.fetch(
            connection, self._state.catalog.resources, self._state.calls.meta(connection, metadata)
        )

    async def list_resource_templates(self, metadata: Metadata = None) -> tuple[types.ResourceTemplate, ...]:
        """As `list_tools`. What is cached of templates that are gone is forgotten."""
        connection = self._supervisor.connection
        group = self._state.catalog.groups["resources"]
        return await group.fetch(
            connection, self._state.catalog.resource_templates, self._state.calls.meta(connection, metadata)
        )

    async def list_prompts(self, metadata: Metadata = None) -> tuple[types.Prompt, ...]:
        """As `list_tools`. What is cached of prompts that are gone is forgotten."""
        connection = self._supervisor.connection
        group = self._state.catalog.groups["prompts"]
        return await group.fetch(connection, self._state.catalog.prompts, self._state.calls.meta(connection, metadata))

    # Calls

    async def read_resource(self, uri: str, metadata: Metadata = None) -> ResourceReadInvocation:
        """Read `uri` from the server, always; the invocation is cached and announced.

        If the resource was announced as changed while it was being read, what came may be of before or after:
        it is returned, and kept as stale.
        """
        return await self._state.calls.read_resource(self._supervisor.connection, uri, metadata)

    async def read_resource_from_template(
        self, uri_template: str, params: Mapping[str, str], metadata: Metadata = None
    ) -> ResourceTemplateReadInvocation:
        """Expand a template (RFC 6570) and read the result.

        The read is kept twice, under the template and under the expanded URI, and announced twice: it is
        both.

        Raises:
            UsageError: the server has no such template, or `params` do not fit it.
        """
        from mcp import InvalidUriTemplate, UriTemplate

        connection = self._supervisor.connection
        if not self._has_template(uri_template):
            await self.list_resource_templates()
        if not self._has_template(uri_template):
            raise UsageError("INVALID_PARAMETER", f"The server has no resource template {uri_template!r}")
        try:
            expanded = UriTemplate.parse(uri_template).expand(params)
        except (InvalidUriTemplate, TypeError, ValueError) as error:
            raise UsageError("INVALID_PARAMETER", f"Cannot expand {uri_template!r}: {error}") from error
        return await self._state.calls.read_template(connection, uri_template, expanded, params, metadata)

    async def get_prompt(
        self, name: str, params: Mapping[str, Any] | None = None, metadata: Metadata = None
    ) -> PromptGetInvocation:
        """Get a prompt; arguments that are not strings are sent as JSON.

        The invocation is cached and announced.
        """
        return await self._state.calls.get_prompt(self._supervisor.connection, name, params or {}, metadata)

    async def call_tool(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        metadata: Metadata = None,
        tool_metadata: Metadata = None,
    ) -> ToolCallInvocation:
        """Call a tool.

        A refusal by the server is an invocation with `success` False, cached and announced like any other.

        Args:
            name: the tool.
            params: its arguments; strings are converted where the tool's schema wants another type.
            metadata: `_meta` of the request.
            tool_metadata: wins over `metadata`, key by key.

        Raises:
            NotConnected, ConnectionLost: there was no answer to keep.
        """
        tool = next((tool for tool in self.tools if tool.name == name), None)
        merged = {**(metadata or {}), **(tool_metadata or {})} or None
        return await self._state.calls.call_tool(self._supervisor.connection, name, params or {}, tool, merged)

    async def get_completions(
        self,
        ref: types.PromptReference | types.ResourceTemplateReference,
        argument_name: str,
        argument_value: str,
        context: Mapping[str, str] | None = None,
    ) -> types.Completion:
        """Complete an argument of a prompt or a resource template; a server without completions has none."""
        from mcp import MCPError
        from mcp.types import METHOD_NOT_FOUND, Completion

        argument = {"name": argument_name, "value": argument_value}
        try:
            result = await self._supervisor.connection.call(
                "completion/complete",
                lambda sdk, _: sdk.complete(ref, argument, dict(context) if context else None),
            )
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            return Completion(values=[])
        return result.completion

    async def set_logging_level(self, level: types.LoggingLevel) -> None:
        """Say which log messages are wanted; in the modern era this goes with every later request.

        Raises:
            UsageError: the server does not have `logging`.
        """
        connection = self._supervisor.connection
        if self.capabilities is None or self.capabilities.logging is None:
            raise UsageError("NOT_SUPPORTED", "The server does not support logging")
        await self._state.calls.set_logging_level(connection, level)

    async def ping(self) -> None:
        """Ask for a sign of life. The modern era has no `ping`: there it is a `server/discover`."""
        connection = self._supervisor.connection
        version = connection.sdk.protocol_version
        if connection.modern:
            await connection.call("server/discover", lambda sdk, _: sdk.session.send_discover(version))
        else:
            await connection.call("ping", lambda sdk, _: sdk.session.send_ping())

    async def set_roots(self, roots: Sequence[types.Root]) -> None:
        """Replace the roots and tell the server.

        They can only be offered if the options gave roots, even none, to begin with.
        """
        from mcp import types

        if self._roots is None:
            raise UsageError("NOT_SUPPORTED", "The client was made without roots; pass `roots=()` in its options")
        self._roots = tuple(roots)
        connection = self._supervisor.connection
        if not connection.modern:  # there the server asks when it needs them
            await connection.sdk.session.send_notification(types.RootsListChangedNotification())

    # Subscriptions

    def supports_resource_subscriptions(self) -> bool:
        """Whether the connected server has the capability."""
        resources = self.capabilities.resources if self.capabilities is not None else None
        return resources is not None and resources.subscribe is True

    def get_subscribed_resources(self) -> tuple[str, ...]:
        """List the URIs whose subscription the server has confirmed; none when disconnected."""
        return self._state.subscriptions.confirmed

    def is_subscribed_to_resource(self, uri: str) -> bool:
        """Whether the server has confirmed the subscription of `uri`."""
        return uri in self._state.subscriptions.confirmed

    async def subscribe_to_resource(self, uri: str) -> None:
        """Hear of changes of `uri` until `unsubscribe_from_resource` or the end of the connection.

        With a reconnect policy it is replayed after a lost connection. What was read *before* the
        subscription may have changed
        unnoticed: read after it.

        Raises:
            UsageError: the server has no such capability, or there is no connection.
            MCPError: the server refused.
        """
        self._need_subscriptions()
        await self._state.subscriptions.hold(uri, EXPLICIT)

    async def unsubscribe_from_resource(self, uri: str) -> None:
        """Undo `subscribe_to_resource`; `subscribed()` blocks keep their own hold.

        Nothing happens when there is none.

        Raises:
            NotConnected: there is no connection.
        """
        _ = self._supervisor.connection
        self._state.subscriptions.let_go(uri, EXPLICIT)
        await self._state.subscriptions.wait_settled(uri)

    def subscribed(self, uri: str) -> AbstractAsyncContextManager[Updates]:
        """Subscribe for a block: `async with client.subscribed(uri) as updates: async for update in updates`.

        Any number of blocks share one subscription, which ends with the last of them; leaving does not wait
        for the server. A reader that is slow gets the latest update, once. Iteration raises `ConnectionLost`
        when the connection is gone for good.
        """
        self._need_subscriptions()
        return self._state.subscriptions.mailbox(uri)

    # Events

    def events(self, *kinds: EventKind, buffer: int = DEFAULT_BUFFER_EVENTS) -> EventStream:
        """Listen for a block: `async with client.events("error") as events: async for event in events`.

        Args:
            kinds: what to listen to; to everything when none is named.
            buffer: how many events a slow listener may lag behind; beyond it the oldest are dropped, and an
                `eventsDropped` in their place says how many.
        """
        return self._bus.stream(kinds, buffer)

    def wait_for(self, kind: EventKind, predicate: Predicate | None = None) -> Expectation:
        """`await client.wait_for(kind)`: the next event of `kind` that `predicate` accepts.

        It listens from the call, not from the `await`, so it can be armed before the action: `coming =
        client.wait_for("toolsChange")`, act, `await coming`.
        """
        return self._bus.expect(kind, predicate)

    # Wiring

    async def _close(self) -> None:
        await self._supervisor.disconnect("the client was closed")
        self._bus.close()

    def _open_connection(self) -> ClientConnection:
        started = self._clock.utc()
        self._state.messages.clear()
        return ClientConnection(
            resolve_target(self._target, self._options, self._state.on_stderr),
            self._options,
            log=self._state.messages,
            bus=self._bus,
            on_notification=self._state.on_notification,
            stderr_tail=lambda: self._state.stderr.tail(started),
            roots=lambda: self._roots,
        )

    def _has_template(self, uri_template: str) -> bool:
        return any(template.uri_template == uri_template for template in self.resource_templates)

    def _need_subscriptions(self) -> None:
        if self._supervisor.reconnecting:
            return  # wanted now, asked for when there is a connection again
        _ = self._supervisor.connection
        if not self.supports_resource_subscriptions():
            raise UsageError("NOT_SUPPORTED", "The server does not support resource subscriptions")
