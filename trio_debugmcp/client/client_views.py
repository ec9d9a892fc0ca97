"""What an `InspectorClient` shows of its server and of itself."""

from typing import TYPE_CHECKING

import mcp_types as types

from trio_debugmcp.client.client_errors import NotConnected
from trio_debugmcp.client.events import ConnectionStatus
from trio_debugmcp.client.state.message_log import MessageEntry, StderrLine
from trio_debugmcp.client.statistics import InspectorClientStatistics

if TYPE_CHECKING:  # it imports the SDK's client, see `InspectorClient.__init__`
    from trio_debugmcp.client.client_parts import ClientParts


class ClientViews:
    """The state of a client, as last learned.

    Attributes:
        cache: the last results.
    """

    def __init__(self, parts: "ClientParts") -> None:
        self._parts = parts
        self._state = parts.state
        self._supervisor = parts.supervisor
        self.cache = parts.cache.view()

    def __repr__(self) -> str:
        server = self.server_info.name if self.server_info is not None else "no server"
        return f"<InspectorClient, {self.status}: {server}, {self._state.subscriptions}>"

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
        """The last lines that a server which was started as a command has written to its standard error.

        They are kept over all connections of this client.
        """
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
            cache=self._parts.cache.stats(),
            events=self._parts.bus.statistics(),
            messages=self._state.messages.statistics(),
        )
