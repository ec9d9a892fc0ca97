"""The requests that an `InspectorClient` makes: lists, reads, prompts, tool calls, completions.

Each needs a connection, and raises as `InspectorClient` says.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import mcp_types as types

from trio_debugmcp.client.client_views import ClientViews
from trio_debugmcp.client.invocations import (
    Metadata,
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.options import LOG_LEVEL
from trio_debugmcp.client.uri_templates import expanded_uri
from trio_debugmcp.errors import UsageError

if TYPE_CHECKING:  # these import the SDK's client, see `InspectorClient.__init__`
    from mcp.shared.dispatcher import ProgressFnT

    from trio_debugmcp.client.state.lists import SyncedList

T = TypeVar("T")


class ClientRequests(ClientViews):
    """The requests, a method for each.

    `metadata` is the `_meta` of a request. `timeout`, in seconds without an answer or progress, takes the place of the
    option `request_timeout`.

    Every method raises `NotConnected` without a connection, `ConnectionLost` if that ends during the request, and the
    SDK's `MCPError` if the server refuses or does not answer in time.
    """

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
        """Fetch one page of a list, with its `next_cursor` and `_meta`. The lists of this client stay as they are.

        Args:
            kind: which list.
            cursor: the `next_cursor` of the page before; None for the first page.
            metadata: `_meta` of the request.
        """
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

        Args:
            uri_template: one that the server lists; its list is fetched if this client does not know the template yet.
            params: a value for each variable of the template; those of a query may be left out.
            metadata: `_meta` of the request.
            timeout: seconds without an answer, in place of the option `request_timeout`.

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
        """Get a prompt; the invocation is cached and announced.

        Args:
            name: of the prompt.
            params: its arguments; those that are not strings are sent as JSON.
            metadata: `_meta` of the request.
            timeout: seconds without an answer, in place of the option `request_timeout`.
        """
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
        """Complete an argument of a prompt or a resource template; empty if the server has no completions.

        Args:
            ref: the prompt, or the template.
            argument_name: which of its arguments.
            argument_value: what was typed of the value so far.
            context: values of other arguments, by name, which the completions may depend on.
        """
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
        """Replace the roots: the directories that a server may look into. The server is notified.

        Raises:
            UsageError: `NOT_SUPPORTED`: the client was made without the option `roots`, so it has not declared any.
        """
        if self._parts.roots is None:
            raise UsageError("NOT_SUPPORTED", "The client was made without roots; pass `roots=()` in its options")
        self._parts.roots = tuple(roots)
        connection = self._supervisor.connection
        if not connection.modern:  # in the modern era the server asks when it needs them
            await connection.sdk.session.send_notification(types.RootsListChangedNotification())

    async def _fetch(self, group: str, which: "SyncedList[T]", metadata: Metadata) -> tuple[T, ...]:
        connection = self._supervisor.connection
        meta = self._state.calls.meta(connection, metadata)
        return await self._state.catalog.groups[group].fetch(connection, which, meta)

    def _has_template(self, uri_template: str) -> bool:
        return any(template.uri_template == uri_template for template in self.resource_templates)
