"""`InspectorClient`: a client for any MCP server, for programs that show a person what the server has.

This module is the client's face and its wiring. The parts, each with one thing to own:

    InspectorClient
     ├─ Link ─────────── Connection ── tap ── transport     which connection there is, how it ends
     ├─ Calls ────────── ContentCache                       requests, and what came of them
     ├─ Catalog ──────── ListGroup, SyncedList              tools, resources, templates, prompts
     ├─ Subscriptions ── a keeper of the era                what is wanted, what is confirmed
     └─ EventBus, MessageLog, StderrLog                     what happened

Everything that the server says is taken in at the tap, synchronously and in the order of the wire; whatever
takes time is a task in the connection's nursery. So nothing that listens, however slow, can hold up the
reader.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

import trio

from trio_debugmcp.client.bus import DEFAULT_BUFFER, EventBus, EventStream, Expectation, Predicate
from trio_debugmcp.client.cache import ContentCache, ReadOnlyContentCache
from trio_debugmcp.client.calls import Calls, Metadata
from trio_debugmcp.client.catalog import open_catalog
from trio_debugmcp.client.clock import WallClock
from trio_debugmcp.client.connection import Connection, Ending, Params
from trio_debugmcp.client.errors import NotConnected
from trio_debugmcp.client.events import (
    CacheChange,
    CapabilitiesChange,
    Connect,
    ConnectionStatus,
    Disconnect,
    ErrorEvent,
    EventKind,
    InstructionsChange,
    Progress,
    ServerInfoChange,
    UpdateCause,
)
from trio_debugmcp.client.events import (
    StderrLog as StderrLogEvent,
)
from trio_debugmcp.client.keepers import ListenFilter, ListenKeeper, keep_subscribed
from trio_debugmcp.client.link import Link
from trio_debugmcp.client.messages import MessageEntry, MessageLog, StderrLine, StderrLog
from trio_debugmcp.client.options import InspectorOptions
from trio_debugmcp.client.rereads import Rereads
from trio_debugmcp.client.subscriptions import EXPLICIT, Subscriptions, Updates
from trio_debugmcp.client.targets import resolve_target
from trio_debugmcp.errors import DebugError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from mcp import types

    from trio_debugmcp.client.invocations import (
        PromptGetInvocation,
        ResourceReadInvocation,
        ResourceTemplateReadInvocation,
        ToolCallInvocation,
    )
    from trio_debugmcp.client.targets import Target

LIST_CHANGED = {f"notifications/{name}/list_changed": name for name in ("tools", "resources", "prompts")}
RESOURCE_UPDATED = "notifications/resources/updated"


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
        self._clock = WallClock()
        self._bus = EventBus(self._clock)
        self._cache = ContentCache(
            max_entries=options.cache_max_entries,
            max_bytes=options.cache_max_bytes,
            ttl=options.cache_ttl,
            clock=self._clock.now,
        )
        self._cache.on_change(
            lambda kind, key, reason: self._bus.publish(CacheChange(content=kind, key=key, reason=reason))
        )
        self.cache: ReadOnlyContentCache = self._cache.view()
        self._messages = MessageLog(options.max_messages, options.max_message_bytes, self._clock.now)
        self._stderr = StderrLog(self._clock.now)
        self._calls = Calls(self._cache, self._bus, self._clock, options.metadata)
        self._catalog = open_catalog(self._bus, self._cache, auto_sync=options.auto_sync_lists)
        self._subscriptions = Subscriptions(self._bus, self._cache.pin)
        self._rereads = Rereads(self._reread, self._bus)
        self._link = Link(self._open_connection, self, self._bus, options.reconnect)
        self._roots = options.roots
        self._server: _Server = _Server()
        self._stack = AsyncExitStack()

    # Life

    async def __aenter__(self) -> Self:
        """Open the client's nursery and, unless the options say otherwise, connect.

        Raises:
            ConnectFailed: the server could not be reached.

        """
        async with AsyncExitStack() as stack:
            self._link.nursery = await stack.enter_async_context(trio.open_nursery())
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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    async def connect(self) -> None:
        """Connect, fetch the lists, and return; does nothing when connected.

        Raises:
            ConnectFailed: the server could not be reached, or did not complete the handshake.

        """
        await self._link.connect()

    async def disconnect(self) -> None:
        """End the connection and wait until it is closed; also ends the attempts to come back.

        Does nothing when disconnected.
        """
        await self._link.disconnect()

    # State

    @property
    def status(self) -> ConnectionStatus:
        """Where the connection stands."""
        return self._link.status

    @property
    def capabilities(self) -> types.ServerCapabilities | None:
        """The server's capabilities, None when disconnected."""
        return self._server.capabilities

    @property
    def server_info(self) -> types.Implementation | None:
        """The server's name and version, None when disconnected or when it keeps them to itself."""
        return self._server.info

    @property
    def instructions(self) -> str | None:
        """The server's instructions for a model, None when there are none."""
        return self._server.instructions

    @property
    def protocol_version(self) -> str | None:
        """The negotiated version of the protocol, None when disconnected."""
        return self._server.protocol_version

    @property
    def tools(self) -> tuple[types.Tool, ...]:
        """The tools as last fetched."""
        return self._catalog.tools.items

    @property
    def resources(self) -> tuple[types.Resource, ...]:
        """The resources as last fetched."""
        return self._catalog.resources.items

    @property
    def resource_templates(self) -> tuple[types.ResourceTemplate, ...]:
        """The resource templates as last fetched."""
        return self._catalog.resource_templates.items

    @property
    def prompts(self) -> tuple[types.Prompt, ...]:
        """The prompts as last fetched."""
        return self._catalog.prompts.items

    @property
    def messages(self) -> tuple[MessageEntry, ...]:
        """The log of JSON-RPC messages, oldest first. It starts anew with each connection."""
        return tuple(self._messages)

    @property
    def stderr(self) -> tuple[StderrLine, ...]:
        """What stdio servers wrote to their standard error, over all connections of this client."""
        return tuple(self._stderr)

    # Lists

    async def list_tools(self, metadata: Metadata = None) -> tuple[types.Tool, ...]:
        """Fetch all pages, commit and announce them (even if nothing changed), and return them."""
        connection = self._link.connection
        group = self._catalog.groups["tools"]
        return await group.fetch(connection, self._catalog.tools, self._calls.meta(connection, metadata))

    async def list_resources(self, metadata: Metadata = None) -> tuple[types.Resource, ...]:
        """As `list_tools`. What is cached of resources that are gone is forgotten."""
        connection = self._link.connection
        group = self._catalog.groups["resources"]
        return await group.fetch(connection, self._catalog.resources, self._calls.meta(connection, metadata))

    async def list_resource_templates(self, metadata: Metadata = None) -> tuple[types.ResourceTemplate, ...]:
        """As `list_tools`. What is cached of templates that are gone is forgotten."""
        connection = self._link.connection
        group = self._catalog.groups["resources"]
        return await group.fetch(
            connection, self._catalog.resource_templates, self._calls.meta(connection, metadata)
        )

    async def list_prompts(self, metadata: Metadata = None) -> tuple[types.Prompt, ...]:
        """As `list_tools`. What is cached of prompts that are gone is forgotten."""
        connection = self._link.connection
        group = self._catalog.groups["prompts"]
        return await group.fetch(connection, self._catalog.prompts, self._calls.meta(connection, metadata))

    # Calls

    async def read_resource(self, uri: str, metadata: Metadata = None) -> ResourceReadInvocation:
        """Read `uri` from the server, always; the invocation is cached and announced.

        If the resource was announced as changed while it was being read, what came may be of before or after:
        it is returned, and kept as stale.
        """
        return await self._calls.read_resource(self._link.connection, uri, metadata)

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

        connection = self._link.connection
        if not self._has_template(uri_template):
            await self.list_resource_templates()
        if not self._has_template(uri_template):
            raise UsageError("INVALID_PARAMETER", f"The server has no resource template {uri_template!r}")
        try:
            expanded = UriTemplate.parse(uri_template).expand(params)
        except (InvalidUriTemplate, TypeError, ValueError) as error:
            raise UsageError("INVALID_PARAMETER", f"Cannot expand {uri_template!r}: {error}") from error
        return await self._calls.read_template(connection, uri_template, expanded, params, metadata)

    async def get_prompt(
        self, name: str, params: Mapping[str, Any] | None = None, metadata: Metadata = None
    ) -> PromptGetInvocation:
        """Get a prompt; arguments that are not strings are sent as JSON.

        The invocation is cached and announced.
        """
        return await self._calls.get_prompt(self._link.connection, name, params or {}, metadata)

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
        return await self._calls.call_tool(self._link.connection, name, params or {}, tool, merged)

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
            result = await self._link.connection.call(
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
        from mcp import types

        connection = self._link.connection
        if self.capabilities is None or self.capabilities.logging is None:
            raise UsageError("NOT_SUPPORTED", "The server does not support logging")
        connection.log_level = level
        if connection.modern:
            await trio.lowlevel.checkpoint()
            return
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
        await connection.call(
            request.method, lambda sdk, _: sdk.session.send_request(request, types.EmptyResult)
        )

    async def ping(self) -> None:
        """Ask for a sign of life. The modern era has no `ping`: there it is a `server/discover`."""
        connection = self._link.connection
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
            raise UsageError(
                "NOT_SUPPORTED", "The client was made without roots; pass `roots=()` in its options"
            )
        self._roots = tuple(roots)
        connection = self._link.connection
        if not connection.modern:  # there the server asks when it needs them
            await connection.sdk.session.send_notification(types.RootsListChangedNotification())

    # Subscriptions

    def supports_resource_subscriptions(self) -> bool:
        """Whether the connected server has the capability."""
        resources = self.capabilities.resources if self.capabilities is not None else None
        return resources is not None and resources.subscribe is True

    def get_subscribed_resources(self) -> tuple[str, ...]:
        """List the URIs whose subscription the server has confirmed; none when disconnected."""
        return self._subscriptions.confirmed

    def is_subscribed_to_resource(self, uri: str) -> bool:
        """Whether the server has confirmed the subscription of `uri`."""
        return uri in self._subscriptions.confirmed

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
        await self._subscriptions.hold(uri, EXPLICIT)

    async def unsubscribe_from_resource(self, uri: str) -> None:
        """Undo `subscribe_to_resource`; `subscribed()` blocks keep their own hold.

        Nothing happens when there is none.

        Raises:
            NotConnected: there is no connection.

        """
        _ = self._link.connection
        self._subscriptions.let_go(uri, EXPLICIT)
        await self._subscriptions.wait_settled(uri)

    def subscribed(self, uri: str) -> AbstractAsyncContextManager[Updates]:
        """Subscribe for a block: `async with client.subscribed(uri) as updates: async for update in updates`.

        Any number of blocks share one subscription, which ends with the last of them; leaving does not wait
        for the server. A reader that is slow gets the latest update, once. Iteration raises `ConnectionLost`
        when the connection is gone for good.
        """
        self._need_subscriptions()
        return self._subscriptions.mailbox(uri)

    # Events

    def events(self, *kinds: EventKind, buffer: int = DEFAULT_BUFFER) -> EventStream:
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

    # What the link asks of its tenant

    async def settle_in(
        self, connection: Connection, nursery: trio.Nursery, opened: Callable[[], None]
    ) -> None:
        """Take over an open connection: follow it, say so, fill the lists, replay the subscriptions."""
        sdk = connection.sdk
        self._server = _Server(
            sdk.server_capabilities, sdk.server_info, sdk.instructions, sdk.protocol_version
        )
        if connection.modern:
            keeper = ListenKeeper(
                connection,
                self._subscriptions,
                self._bus,
                opt_ins=self._opt_ins(),
                on_gap=self._resync,
            )
            await nursery.start(keeper.keep)  # before anything is fetched: what changes from here on is heard
        else:
            nursery.start_soon(keep_subscribed, connection, self._subscriptions, self._bus)
        opened()
        self._bus.publish(Connect(protocol_version=sdk.protocol_version))
        self._announce_server(self._server)
        nursery.start_soon(self._rereads.run)
        for group in self._catalog.groups.values():
            nursery.start_soon(group.follow, connection)
        await self._first_requests(connection)
        for uri in self._subscriptions.wanted:  # wanted before this connection: a replay
            self._note_update(uri, "resync")

    def move_out(self, ending: Ending) -> None:
        """Clear the state of a closed connection, however it came to be closed."""
        server, self._server = self._server, _Server()
        if not ending.requested:
            error = ending.as_error()
            self._bus.publish(ErrorEvent(message=f"The connection was lost: {ending.reason}", error=error))
        self._cache.mark_all_stale()
        self._announce_server(self._server, before=server)
        self._catalog.reset()
        self._subscriptions.connection_over(ending.as_error(), for_good=False)
        self._bus.publish(
            Disconnect(
                reason=ending.reason,
                requested=ending.requested,
                exit_code=ending.exit_code,
                stderr_tail=ending.stderr_tail,
            )
        )

    def give_up(self, error: Exception) -> None:
        """No connection will come: nothing is wanted any more."""
        self._subscriptions.connection_over(error, for_good=True)

    # Wiring

    async def _close(self) -> None:
        await self._link.disconnect("the client was closed")
        self._bus.close()

    def _open_connection(self) -> Connection:
        started = self._clock.now()
        self._messages.clear()
        return Connection(
            resolve_target(self._target, self._options, self._on_stderr),
            self._options,
            log=self._messages,
            bus=self._bus,
            on_notification=self._on_notification,
            stderr_tail=lambda: self._stderr.tail(started),
            roots=lambda: self._roots,
        )

    def _on_notification(self, method: str, params: Params) -> bool:
        """Take in what the server says unasked, in wire order. False: the SDK has no use for it."""
        if (name := LIST_CHANGED.get(method)) is not None:
            if self._heeds(name):
                self._catalog.groups[name].announce()
            return False
        if method == RESOURCE_UPDATED:
            if isinstance(uri := params.get("uri"), str) and uri in self._subscriptions.wanted:
                self._note_update(uri, "notification")
            return False
        if method == "notifications/progress":
            self._note_progress(params)
        return True

    def _heeds(self, capability: str) -> bool:
        """Whether `list_changed` of this capability counts.

        Before the handshake is done nothing is declared yet: then it does.
        """
        if not getattr(self._options.list_changed_notifications, capability):
            return False
        if self.capabilities is None:
            return True
        return bool(getattr(getattr(self.capabilities, capability), "list_changed", False))

    def _note_update(self, uri: str, cause: UpdateCause) -> None:
        self._calls.invalidate(uri)
        self._subscriptions.updated(uri, cause)
        if self._options.auto_reread:
            self._rereads.want(uri)

    def _note_progress(self, params: Params) -> None:
        token, progress = params.get("progressToken"), params.get("progress")
        if not isinstance(token, str | int) or not isinstance(progress, int | float):
            return
        request = self._messages.request("client", token)
        asked = (request.message.get("params") or {}) if request is not None else {}
        self._bus.publish(
            Progress(
                token=token,
                progress=progress,
                total=params.get("total"),
                message=params.get("message"),
                method=request.message.get("method") if request is not None else None,
                name=asked.get("name") or asked.get("uri"),
            )
        )

    def _on_stderr(self, line: str) -> None:
        self._bus.publish(StderrLogEvent(line=self._stderr.record(line)))

    async def _reread(self, uri: str) -> None:
        await self._calls.reread(self._link.connection, uri)

    def _resync(self) -> None:
        """Take as changed whatever a missed notification may have been about."""
        for name, group in self._catalog.groups.items():
            if self._heeds(name):
                group.announce()
        for uri in self._subscriptions.confirmed:
            self._note_update(uri, "resync")

    def _opt_ins(self) -> ListenFilter:
        heeded = {name: self._heeds(name) for name in self._catalog.groups}
        return ListenFilter(tools=heeded["tools"], resources=heeded["resources"], prompts=heeded["prompts"])

    async def _first_requests(self, connection: Connection) -> None:
        async with trio.open_nursery() as nursery:
            for group in self._catalog.groups.values() if self._options.auto_sync_lists else ():
                nursery.start_soon(group.sync, connection, "connect")
            has_logging = self.capabilities is not None and self.capabilities.logging is not None
            if self._options.log_level is not None and has_logging and not connection.modern:
                nursery.start_soon(self.set_logging_level, self._options.log_level)

    def _announce_server(self, server: _Server, before: _Server | None = None) -> None:
        before = before or _Server()
        if server.capabilities != before.capabilities:
            self._bus.publish(CapabilitiesChange(capabilities=server.capabilities))
        if server.info != before.info:
            self._bus.publish(ServerInfoChange(server_info=server.info))
        if server.instructions != before.instructions:
            self._bus.publish(InstructionsChange(instructions=server.instructions))

    def _has_template(self, uri_template: str) -> bool:
        return any(template.uri_template == uri_template for template in self.resource_templates)

    def _need_subscriptions(self) -> None:
        if self._link.coming_back:
            return  # wanted now, asked for when there is a connection again
        _ = self._link.connection
        if not self.supports_resource_subscriptions():
            raise UsageError("NOT_SUPPORTED", "The server does not support resource subscriptions")


class _Server:
    """What the handshake told."""

    def __init__(
        self,
        capabilities: types.ServerCapabilities | None = None,
        info: types.Implementation | None = None,
        instructions: str | None = None,
        protocol_version: str | None = None,
    ) -> None:
        self.capabilities = capabilities
        self.info = info
        self.instructions = instructions
        self.protocol_version = protocol_version


__all__ = ["InspectorClient", "NotConnected"]
