"""MCP requests, in both protocol eras, for one connection: lists, reads, subscriptions, tool calls, and the rest.

Owns the handlers of a connection, and its subscribers at the hub. The handshake era subscribes with
`resources/subscribe` and is notified on the connection; the modern era opens `subscriptions/listen` streams. The same
hub serves both: a connection is one subscriber, and each stream is another.

    async with clients.connect("control") as client:
        connection = ConnectionServer(debugger, hub, tools, logs, client)
        async with connection.open() as server:
            await server.run(incoming, outgoing, server.create_initialization_options())

Reads are answered from the state and never wait for the debuggee. The exception is a source that only the adapter has:
it is requested with a short timeout.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, INVALID_REQUEST
from msgspec import Struct

from trio_debugmcp import __version__
from trio_debugmcp.errors import DebugError, UsageError
from trio_debugmcp.masking.mask import masked
from trio_debugmcp.publish.hub import Hub, Subscriber, SubscriberStatistics, TooManySubscriptions
from trio_debugmcp.server.answers.resource_pages import NoSuchPage, page_named, page_of
from trio_debugmcp.server.card import Cards, declare_cards, is_card, read_card
from trio_debugmcp.server.client_roots import ClientRoots
from trio_debugmcp.server.completions import complete
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.declarations import DeclaringServer
from trio_debugmcp.server.declared import DESCRIPTION, NAME, TITLE, WEBSITE
from trio_debugmcp.server.delivery import acknowledge, deliver
from trio_debugmcp.server.kept_answers import call_number, not_kept
from trio_debugmcp.server.known_clients import open_known_clients
from trio_debugmcp.server.logs import LogRelay
from trio_debugmcp.server.missing_resources import ended_sentence, resource_not_found, without_session
from trio_debugmcp.server.peer import Peer, client_name
from trio_debugmcp.server.processor_times import PROCESSOR, processor_payload
from trio_debugmcp.server.progress import PROGRESS
from trio_debugmcp.server.prompts import PROMPTS, get_prompt
from trio_debugmcp.server.request_limits import RequestLimits
from trio_debugmcp.server.resource_templates import listed_templates, unknown_resource
from trio_debugmcp.server.sdk_results import sdk_result, sdk_tool
from trio_debugmcp.server.secrets import masked_text
from trio_debugmcp.server.skills import is_skill_uri, read_skill_file, serve_skills
from trio_debugmcp.server.tool_calls import call_tool
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.source_text import source_text
from trio_debugmcp.session.stops.looking_back import kept_stop
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import Payload, to_json
from trio_debugmcp.state.resources import View, canonical, source_path
from trio_debugmcp.state.session_resources import SERVER_RESOURCES, find, listed, resource_of
from trio_debugmcp.state.stop_resource import stop_number, stop_payload

MAX_STREAMS = 100
"""Open `subscriptions/listen` streams of a client, which needs one, or one for each thing that it watches. Over HTTP
all modern clients share a server; there each stream takes a connection, and these are bounded for each role."""

Context = ServerRequestContext[Any, Any]


class ConnectionStatistics(Struct, frozen=True):
    """How many `subscriptions/listen` streams are open, and what the connection itself is subscribed to, if at all."""

    streams: int
    subscriber: SubscriberStatistics | None


class ConnectionServer:
    """The request handlers of one connection.

    A method for each MCP request, hence so many.
    """

    def __init__(
        self, debugger: Debugger, hub: Hub, tools: Toolbox, logs: LogRelay, client: Client, *, shared: bool = False
    ) -> None:
        self._debugger = debugger
        self._client = client
        self._hub = hub
        self._tools = tools
        self._logs = logs
        self._listening = 0
        self._max_streams = inf if shared else MAX_STREAMS
        self._limits = RequestLimits(shared=shared)
        self._subscriber: Subscriber | None = None
        self._nursery: trio.Nursery | None = None

    def __repr__(self) -> str:
        return f"<ConnectionServer for {self._client!r}: {self._listening} streams>"

    def statistics(self) -> ConnectionStatistics:
        """Return what this connection is subscribed to at this moment."""
        subscriber = None if self._subscriber is None else self._subscriber.statistics()
        return ConnectionStatistics(streams=self._listening, subscriber=subscriber)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Server[dict[str, Any]]]:
        """Return the SDK's server with these handlers. The connection must be served within the block.

        Resource handling: at the end of the block the connection's subscriptions are closed, the timeline records that
        the client has disconnected, and the tasks that deliver to it are cancelled.
        """
        async with trio.open_nursery() as self._nursery:
            async with open_known_clients(self._debugger, self._client, self._nursery) as clients:
                try:
                    yield self._build(Peer(clients, self._hub, self._logs, self._nursery))
                finally:
                    if self._subscriber is not None:
                        self._logs.forget(self._subscriber)
                        self._subscriber.close()
            self._nursery.cancel_scope.cancel(reason="the client has disconnected")

    def _build(self, peer: Peer) -> Server[dict[str, Any]]:
        server = DeclaringServer(
            NAME,
            version=__version__,
            title=TITLE,
            description=DESCRIPTION,
            website_url=WEBSITE,
            instructions=self._tools.instructions,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscribe_resource=self._subscribe,
            on_unsubscribe_resource=self._unsubscribe,
            on_subscriptions_listen=self._listen,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete,
        )
        # Replaces the SDK's tracing, which costs time on every message and is not configured here.
        roots, cards = ClientRoots(self._debugger), Cards(self._tools, self._client)
        own = (peer.middleware, self._limits.middleware, server.with_extensions, roots.middleware, cards.middleware)
        server.middleware[:] = own
        # Not as an argument of the constructor, which warns that only the handshake era has this method.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_log_level)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._on_initialized)
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots.forget)
        serve_skills(server)
        declare_cards(server)
        return server

    # --- Resources ----------------------------------------------------------------------------------------------------

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=each.uri, name=each.name, description=each.description, mime_type="application/json")
                for each in listed(self._debugger.state)
            ]
        )

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        if self._debugger.state.focused is None:
            return types.ListResourceTemplatesResult(resource_templates=[])
        return types.ListResourceTemplatesResult(resource_templates=listed_templates())

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if is_skill_uri(uri):
            return read_skill_file(ctx, uri)
        if is_card(ctx, uri):
            return read_card()
        payload = self._unnotified(ctx, uri)
        if payload is not None:
            content = types.TextResourceContents(uri=uri, mime_type="application/json", text=to_json(payload))
            return types.ReadResourceResult(contents=[content])
        snapshot, path, masks = self._debugger.state.focused, source_path(uri), not self._debugger.settings.show_secrets
        if snapshot is None and page_named(uri)[0] not in SERVER_RESOURCES:
            sentence = without_session(self._tools.no_session, self._debugger.state.last)
            raise resource_not_found(uri, self._tools.naming.text(sentence), ctx.protocol_version)
        if path is None:
            text, mime_type = self._page_text(ctx, uri, snapshot, masks=masks), "application/json"
        else:
            source = await self._source_text(ctx, uri, path)
            text, mime_type = masked(source) if masks else source, "text/plain"
        content = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
        return types.ReadResourceResult(contents=[content])

    def _unnotified(self, ctx: Context, uri: str) -> Payload | None:
        """Return what is not of the state, so that no client is notified of it, and is there without a session, too."""
        if uri == PROCESSOR:
            return processor_payload(self._debugger)
        if (number := call_number(uri)) is None:
            return None
        answer = self._tools.story.answers.payload(number)
        if answer is None:
            raise resource_not_found(uri, not_kept(number), ctx.protocol_version)
        return answer

    def _page_text(self, ctx: Context, uri: str, snapshot: Snapshot | None, *, masks: bool) -> str:
        whole, start = page_named(uri)
        text = self._json_text(ctx, whole, snapshot)
        # Masked before it is cut: the rules do not know a token by its beginning.
        try:
            return page_of(whole, masked_text(text) if masks else text, start)
        except NoSuchPage as missing:
            raise resource_not_found(uri, f"{whole} has {missing} items.", ctx.protocol_version) from None

    def _json_text(self, ctx: Context, uri: str, snapshot: Snapshot | None) -> str:
        debugger, named, number = self._debugger, find(uri), stop_number(uri)
        if uri in SERVER_RESOURCES or snapshot is None:
            _, payload = SERVER_RESOURCES[uri]
            return to_json(payload(debugger.state, debugger.merger.revisions[uri]))
        if number is not None:
            try:
                return to_json(stop_payload(kept_stop(debugger.state.kept, number)))
            except UsageError as error:
                raise resource_not_found(uri, error.message, ctx.protocol_version) from None
        if named is not None:
            of_session = debugger.state.snapshot(named.session_id)
            if of_session is None:
                known = ", ".join(snapshot.id for snapshot in debugger.state.snapshots)
                ended = debugger.state.end_of(named.session_id)
                gone = f"There is no debug session '{named.session_id}'." if ended is None else ended_sentence(ended)
                sentence = f"{gone} Sessions: {known}."
                raise resource_not_found(uri, sentence, ctx.protocol_version)
            snapshot = of_session
        resource = resource_of(uri) if named is None else named.resource
        if resource is None:
            raise resource_not_found(uri, unknown_resource(), ctx.protocol_version)
        return to_json(resource.payload(View(debugger.state, snapshot, debugger.merger.revisions[uri], debugger.rings)))

    async def _source_text(self, ctx: Context, uri: str, path: str) -> str:
        try:
            return await source_text(self._debugger, path)
        except DebugError as error:
            sentence = error.message if isinstance(error, UsageError) else str(error)
            raise resource_not_found(uri, sentence, ctx.protocol_version) from None

    # --- Subscriptions ------------------------------------------------------------------------------------------------

    async def _on_initialized(self, ctx: Context, params: types.NotificationParams) -> None:
        """Start the notifications of a client of the handshake era, which is ready for them from this message on."""
        self._connection_subscriber(ctx.session)

    def _connection_subscriber(self, sdk_session: ServerSession) -> Subscriber:
        # Not made with the connection: one of the modern era gets notifications on its streams alone.
        if self._subscriber is None:
            self._subscriber = self._hub.open_subscriber()
            if self._nursery is not None:
                self._nursery.start_soon(deliver, self._subscriber, sdk_session)
        return self._subscriber

    async def _subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        _check_uri(uri)
        try:
            self._connection_subscriber(ctx.session).subscribe(uri)
        except TooManySubscriptions:
            raise _too_many() from None
        return types.EmptyResult()

    async def _unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        if self._subscriber is not None:
            self._subscriber.unsubscribe(str(params.uri))
        return types.EmptyResult()

    async def _listen(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve one stream of the modern era, until its request is cancelled."""
        if ctx.request_id is None:
            raise MCPError(code=INVALID_REQUEST, message="subscriptions/listen must be a request with an id")
        if self._listening >= self._max_streams:
            raise _too_many()
        wanted = params.notifications
        subscriber = self._hub.open_subscriber(wants_list_changes=bool(wanted.resources_list_changed))
        self._listening += 1
        try:
            # Subscribe before the acknowledgement: a change that happens while that is sent is not lost.
            for uri in wanted.resource_subscriptions or ():
                _check_uri(str(uri))
                subscriber.subscribe(str(uri))
            await acknowledge(wanted, ctx.session, ctx.request_id)
            await deliver(subscriber, ctx.session, ctx.request_id, subscription=True)
        except TooManySubscriptions:
            raise _too_many() from None
        finally:
            self._listening -= 1
            subscriber.close()

    # --- Tools --------------------------------------------------------------------------------------------------------

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[sdk_tool(tool) for tool in self._tools.listed(self._client.role)])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        PROGRESS.set(ctx.session.report_progress)  # for this task, which serves this call
        arguments = params.arguments or {}
        return sdk_result(
            await call_tool(self._debugger, self._tools, self._client, params.name, arguments, client_name(ctx))
        )

    # --- Prompts and completions --------------------------------------------------------------------------------------

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[prompt.listed() for prompt in PROMPTS.values()])

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return get_prompt(params.name, params.arguments or {}, self._tools.naming)

    async def _complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        return await complete(self._debugger, self._client.role, params)

    # --- Logging ------------------------------------------------------------------------------------------------------

    async def _set_log_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        self._logs.set_level(self._connection_subscriber(ctx.session), params.level)
        return types.EmptyResult()


def _check_uri(uri: str) -> None:
    """Refuse a subscription to a resource that can never exist; whether it exists now does not matter."""
    whole, _ = page_named(uri)
    known = resource_of(canonical(whole)), source_path(uri), find(whole), stop_number(whole)
    if all(each is None for each in known):
        raise MCPError(code=INVALID_PARAMS, message=unknown_resource(), data={"uri": uri})
    if whole != uri:
        raise MCPError(code=INVALID_PARAMS, message=f"Subscribe to {whole}, and read its pages", data={"uri": uri})


def _too_many() -> MCPError:
    return MCPError(
        code=INVALID_PARAMS, message="Too many subscriptions on this connection: unsubscribe from some first"
    )
