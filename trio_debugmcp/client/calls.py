"""The requests whose results a person looks at: each asks the server, is cached, and is announced.

Owns the reads that are in flight, so that an update which overtakes a read can mark what the read brings as
stale.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import trio
from mcp import types

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.coercion import coerce_arguments, stringify_arguments
from trio_debugmcp.client.connection.connection import ClientConnection
from trio_debugmcp.client.events import (
    PromptContentChange,
    ResourceContentChange,
    ResourceTemplateContentChange,
    ToolCallResultChange,
)
from trio_debugmcp.client.invocations import (
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.clock import Clock
from trio_debugmcp.errors import ProtocolViolation

Metadata = Mapping[str, Any] | None


class _Asked:
    """A call that was made and is not answered yet."""

    def __init__(self, call: int, timestamp: datetime) -> None:
        self.call = call
        self.timestamp = timestamp
        self.overtaken = False


class Calls:
    """Requests on a given connection, their results in the cache and on the bus.

    Args:
        metadata: `_meta` for every request; a call's own wins.
    """

    def __init__(self, cache: ContentCache, bus: EventBus, clock: Clock, metadata: Metadata) -> None:
        self._cache = cache
        self._bus = bus
        self._clock = clock
        self._metadata = metadata
        self._reading: dict[str, set[_Asked]] = {}

    def invalidate(self, uri: str) -> None:
        """`uri` changed: what is cached of it is stale, and so is what a read in flight will bring."""
        self._cache.mark_resource_stale(uri)
        for asked in self._reading.get(uri, ()):
            asked.overtaken = True

    def meta(self, connection: ClientConnection, own: Metadata) -> Any:
        """Put together the `_meta` of a request, or None; in the modern era the log level goes there too."""
        from mcp.types import LOG_LEVEL_META_KEY

        merged = {**(self._metadata or {}), **(own or {})}
        if connection.log_level is not None and connection.modern:
            merged.setdefault(LOG_LEVEL_META_KEY, connection.log_level)
        return merged or None

    async def read_resource(self, connection: ClientConnection, uri: str, metadata: Metadata) -> ResourceReadInvocation:
        """One `resources/read`."""
        return (await self._read(connection, uri, metadata))[0]

    async def _read(
        self, connection: ClientConnection, uri: str, metadata: Metadata
    ) -> tuple[ResourceReadInvocation, _Asked]:
        asked = self._ask()
        self._reading.setdefault(uri, set()).add(asked)
        meta = self.meta(connection, metadata)
        try:
            result = await connection.call("resources/read", lambda sdk, _: sdk.read_resource(uri, meta=meta))
        finally:
            self._reading[uri].discard(asked)
            if not self._reading[uri]:
                del self._reading[uri]
        invocation = ResourceReadInvocation(
            uri=uri, result=result, timestamp=asked.timestamp, metadata=dict(metadata) if metadata else None
        )
        if connection.alive:
            self._cache.set_resource(uri, invocation, call=asked.call, stale=asked.overtaken)
            self._bus.publish(ResourceContentChange(uri=uri, content=invocation, timestamp=invocation.timestamp))
        return invocation, asked

    async def read_template(
        self,
        connection: ClientConnection,
        uri_template: str,
        expanded_uri: str,
        params: Mapping[str, str],
        metadata: Metadata,
    ) -> ResourceTemplateReadInvocation:
        """One `resources/read` that is kept as a resource and as a use of its template."""
        read, asked = await self._read(connection, expanded_uri, metadata)
        invocation = ResourceTemplateReadInvocation(
            uri_template=uri_template,
            expanded_uri=expanded_uri,
            params=dict(params),
            result=read.result,
            timestamp=read.timestamp,
            metadata=read.metadata,
        )
        if connection.alive:
            self._keep_template(invocation, asked)
        return invocation

    async def reread(self, connection: ClientConnection, uri: str) -> None:
        """Read `uri` again, and renew with the same answer every template read that expanded to it."""
        templates = self._cache.stale_templates(uri)
        read, asked = await self._read(connection, uri, None)
        for old in templates if connection.alive else ():
            renewed = ResourceTemplateReadInvocation(
                uri_template=old.uri_template,
                expanded_uri=uri,
                params=old.params,
                result=read.result,
                timestamp=read.timestamp,
            )
            self._keep_template(renewed, asked)

    async def get_prompt(
        self, connection: ClientConnection, name: str, params: Mapping[str, Any], metadata: Metadata
    ) -> PromptGetInvocation:
        """One `prompts/get`."""
        asked = self._ask()
        arguments = stringify_arguments(params)
        meta = self.meta(connection, metadata)
        result = await connection.call("prompts/get", lambda sdk, _: sdk.get_prompt(name, arguments, meta=meta))
        invocation = PromptGetInvocation(
            name=name,
            params=arguments,
            result=result,
            timestamp=asked.timestamp,
            metadata=dict(metadata) if metadata else None,
        )
        if connection.alive:
            self._cache.set_prompt(name, invocation, call=asked.call)
            self._bus.publish(
                PromptContentChange(name=name, params=arguments, content=invocation, timestamp=invocation.timestamp)
            )
        return invocation

    async def call_tool(
        self,
        connection: ClientConnection,
        name: str,
        params: Mapping[str, Any],
        tool: types.Tool | None,
        metadata: Metadata,
    ) -> ToolCallInvocation:
        """One `tools/call`. A refusal is an invocation too; only a lost connection raises."""
        from mcp import MCPError

        asked = self._ask()
        arguments = coerce_arguments(params, tool.input_schema if tool is not None else {})
        meta = self.meta(connection, metadata)
        outcome: dict[str, Any]
        try:
            result = await connection.call(
                "tools/call",
                lambda sdk, progress: sdk.call_tool(name, arguments, progress_callback=progress, meta=meta),
            )
            outcome = {"result": result, "success": True}
        except MCPError as error:
            outcome = {"error": error.message, "error_code": error.code, "error_data": error.data}
        except (
            ProtocolViolation,
            RuntimeError,
        ) as error:  # the answer is not what the protocol or the output schema promises
            outcome = {"error": str(error)}
        invocation = ToolCallInvocation(
            **{"result": None, "success": False, **outcome},
            tool_name=name,
            params=dict(params),
            timestamp=asked.timestamp,
            metadata=dict(metadata) if metadata else None,
        )
        if connection.alive:
            self._cache.set_tool_call_result(name, invocation, call=asked.call)
            self._bus.publish(_tool_call_result_change(invocation))
        return invocation

    async def set_logging_level(self, connection: ClientConnection, level: types.LoggingLevel) -> None:
        """Ask for log messages of `level` and above; in the modern era every later request does."""
        from mcp import types

        connection.log_level = level
        if connection.modern:
            await trio.lowlevel.checkpoint()
            return
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
        await connection.call(request.method, lambda sdk, _: sdk.session.send_request(request, types.EmptyResult))

    def _ask(self) -> _Asked:
        return _Asked(self._cache.next_call(), self._clock.utc())

    def _keep_template(self, invocation: ResourceTemplateReadInvocation, asked: _Asked) -> None:
        self._cache.set_resource_template(invocation.uri_template, invocation, call=asked.call, stale=asked.overtaken)
        self._bus.publish(
            ResourceTemplateContentChange(
                uri_template=invocation.uri_template,
                expanded_uri=invocation.expanded_uri,
                params=invocation.params,
                content=invocation,
                timestamp=invocation.timestamp,
            )
        )


def _tool_call_result_change(invocation: ToolCallInvocation) -> ToolCallResultChange:
    return ToolCallResultChange(
        tool_name=invocation.tool_name,
        params=invocation.params,
        result=invocation.result,
        success=invocation.success,
        error=invocation.error,
        timestamp=invocation.timestamp,
        metadata=invocation.metadata,
    )
