"""MCP requests, in both protocol eras, for one connection.

Tools, prompts and completions are here; resources are in `resource_requests.py`, subscriptions in
`subscription_requests.py`.

    async with clients.connect("control") as client:
        connection = ConnectionServer(debugger, hub, tools, logs, client)
        async with connection.open() as server:
            await server.run(incoming, outgoing, server.create_initialization_options())
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from trio_debugmcp import __version__
from trio_debugmcp.publish.hub import Hub
from trio_debugmcp.server.card import Cards, declare_cards
from trio_debugmcp.server.client_roots import ClientRoots
from trio_debugmcp.server.completions import complete
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.declarations import DeclaringServer
from trio_debugmcp.server.declared import DESCRIPTION, NAME, TITLE, WEBSITE
from trio_debugmcp.server.known_clients import open_known_clients
from trio_debugmcp.server.logs import LogRelay
from trio_debugmcp.server.peer import Peer, client_name
from trio_debugmcp.server.progress import PROGRESS
from trio_debugmcp.server.prompts import PROMPTS, get_prompt
from trio_debugmcp.server.request_limits import RequestLimits
from trio_debugmcp.server.resource_requests import ResourceRequests
from trio_debugmcp.server.sdk_results import sdk_result, sdk_tool
from trio_debugmcp.server.skills import serve_skills
from trio_debugmcp.server.subscription_requests import ConnectionStatistics, SubscriptionRequests
from trio_debugmcp.server.tool_calls import call_tool
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger

Context = ServerRequestContext[Any, Any]


class ConnectionServer:
    """The request handlers of one connection."""

    def __init__(
        self, debugger: Debugger, hub: Hub, tools: Toolbox, logs: LogRelay, client: Client, *, shared: bool = False
    ) -> None:
        self._debugger = debugger
        self._client = client
        self._hub = hub
        self._tools = tools
        self._logs = logs
        self._limits = RequestLimits(shared=shared)
        self._resources = ResourceRequests(debugger, tools)
        self._subscriptions = SubscriptionRequests(hub, logs, shared=shared)

    def __repr__(self) -> str:
        return f"<ConnectionServer for {self._client!r}: {self.statistics().streams} streams>"

    def statistics(self) -> ConnectionStatistics:
        """Return what this connection is subscribed to at this moment."""
        return self._subscriptions.statistics()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Server[dict[str, Any]]]:
        """Return the SDK's server with these handlers. The connection must be served within the block.

        Resource handling: at the end of the block the connection's subscriptions are closed, the timeline records that
        the client has disconnected, and the tasks that deliver to it are cancelled.
        """
        async with trio.open_nursery() as nursery:
            async with open_known_clients(self._debugger, self._client, nursery) as clients:
                with self._subscriptions.delivered(nursery):
                    yield self._build(Peer(clients, self._hub, self._logs, nursery))
            nursery.cancel_scope.cancel(reason="the client has disconnected")

    def _build(self, peer: Peer) -> Server[dict[str, Any]]:
        server = DeclaringServer(
            NAME,
            version=__version__,
            title=TITLE,
            description=DESCRIPTION,
            website_url=WEBSITE,
            instructions=self._tools.instructions,
            on_list_resources=self._resources.list_resources,
            on_list_resource_templates=self._resources.list_templates,
            on_read_resource=self._resources.read,
            on_subscribe_resource=self._subscriptions.subscribe,
            on_unsubscribe_resource=self._subscriptions.unsubscribe,
            on_subscriptions_listen=self._subscriptions.listen,
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
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._subscriptions.set_log_level)
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._subscriptions.begin
        )
        server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, roots.forget)
        serve_skills(server)
        declare_cards(server)
        return server

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
