"""The requests of a client. Those whose results a person looks at are cached and announced.

Owns the reads that are in flight, so that an update which overtakes a read can mark the read's result as stale.

A result is only kept if the connection is still alive when it arrives: what comes later belongs to a state that was
cleared.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import trio
from mcp import MCPError, types
from mcp.shared.dispatcher import ProgressFnT

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.connection.connection_requests import NoAnswer
from trio_debugmcp.client.events import (
    PromptContentChange,
    ResourceContentChange,
    ResourceTemplateContentChange,
    ToolCallResultChange,
)
from trio_debugmcp.client.given import need_json, need_text
from trio_debugmcp.client.invocations import (
    Metadata,
    PromptGetInvocation,
    ResourceReadInvocation,
    ResourceTemplateReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.state.cache import ContentCache
from trio_debugmcp.clock import Clock
from trio_debugmcp.coercion import coerce_arguments, stringify_arguments
from trio_debugmcp.errors import ProtocolViolation


class _Pending:
    """A call that is not answered yet."""

    def __init__(self, call: int, timestamp: datetime) -> None:
        self.call = call
        self.timestamp = timestamp
        self.overtaken = False


class Calls:
    """Makes requests on a given connection, keeps their results in the cache and publishes them on the bus.

    Args:
        cache: where results are kept.
        bus: where they are published.
        clock: for the time of each call.
        metadata: `_meta` for every request; a call's own takes precedence.
    """

    def __init__(self, cache: ContentCache, bus: EventBus, clock: Clock, metadata: Metadata) -> None:
        self._cache = cache
        self._bus = bus
        self._clock = clock
        self._metadata = metadata
        self._reading: dict[str, set[_Pending]] = {}

    def __repr__(self) -> str:
        return f"<Calls: {sum(map(len, self._reading.values()))} reads in flight>"

    def invalidate(self, uri: str) -> None:
        """Mark what is cached of `uri` as stale, and what a read in flight will return: both may be out of date."""
        self._cache.mark_resource_stale(uri)
        for pending in self._reading.get(uri, ()):
            pending.overtaken = True  # its answer may be from before the change, whichever of the two arrives first

    def meta(self, connection: ClientConnection, own: Metadata) -> Any:
        """The `_meta` of a request, or None; in the modern era the log level is part of it."""
        merged = {**(self._metadata or {}), **(own or {})}
        if connection.log_level is not None and connection.modern:
            merged.setdefault(types.LOG_LEVEL_META_KEY, connection.log_level)
        return merged or None

    async def read_resource(
        self, connection: ClientConnection, uri: str, metadata: Metadata, timeout: float | None = None
    ) -> ResourceReadInvocation:
        """Read a resource with one request, whether it is cached or not."""
        need_text(uri, "uri")
        need_json(metadata, "metadata")
        return (await self._read(connection, uri, metadata, timeout))[0]

    async def _read(
        self, connection: ClientConnection, uri: str, metadata: Metadata, timeout: float | None = None
    ) -> tuple[ResourceReadInvocation, _Pending]:
        pending = self._begin()
        self._reading.setdefault(uri, set()).add(pending)
        meta = self.meta(connection, metadata)
        try:
            result = await connection.call(
                "resources/read", lambda sdk, _: sdk.read_resource(uri, meta=meta), timeout=timeout
            )
        finally:
            self._reading[uri].discard(pending)
            if not self._reading[uri]:
                del self._reading[uri]
        invocation = ResourceReadInvocation(
            uri=uri, result=result, timestamp=pending.timestamp, metadata=dict(metadata) if metadata else None
        )
        if connection.alive:
            self._cache.set_resource(uri, invocation, call=pending.call, stale=pending.overtaken)
            self._bus.publish(ResourceContentChange(uri=uri, content=invocation, timestamp=invocation.timestamp))
        return invocation, pending

    async def read_template(
        self,
        connection: ClientConnection,
        uri_template: str,
        expanded_uri: str,
        params: Mapping[str, str],
        metadata: Metadata,
        timeout: float | None = None,
    ) -> ResourceTemplateReadInvocation:
        """Make one `resources/read`, kept as a read of the resource and as one through its template."""
        read, pending = await self._read(connection, expanded_uri, metadata, timeout)
        invocation = ResourceTemplateReadInvocation(
            uri_template=uri_template,
            expanded_uri=expanded_uri,
            params=dict(params),
            result=read.result,
            timestamp=read.timestamp,
            metadata=read.metadata,
        )
        if connection.alive:
            self._keep_template(invocation, pending)
        return invocation

    async def reread(self, connection: ClientConnection, uri: str) -> None:
        """Read `uri` again; the answer also renews every stale template read that expanded to it."""
        templates = self._cache.stale_templates(uri)  # before the read: those that are read meanwhile are newer
        read, pending = await self._read(connection, uri, None)
        for old in templates if connection.alive else ():
            renewed = ResourceTemplateReadInvocation(
                uri_template=old.uri_template,
                expanded_uri=uri,
                params=old.params,
                result=read.result,
                timestamp=read.timestamp,
            )
            self._keep_template(renewed, pending)

    async def get_prompt(
        self,
        connection: ClientConnection,
        name: str,
        params: Mapping[str, Any],
        metadata: Metadata,
        timeout: float | None = None,
    ) -> PromptGetInvocation:
        """Get a prompt with one request, its arguments as strings."""
        need_text(name, "name")
        need_json(params, "params")
        need_json(metadata, "metadata")
        pending = self._begin()
        arguments = stringify_arguments(params)
        meta = self.meta(connection, metadata)
        result = await connection.call(
            "prompts/get", lambda sdk, _: sdk.get_prompt(name, arguments, meta=meta), timeout=timeout
        )
        invocation = PromptGetInvocation(
            name=name,
            params=arguments,
            result=result,
            timestamp=pending.timestamp,
            metadata=dict(metadata) if metadata else None,
        )
        if connection.alive:
            self._cache.set_prompt(name, invocation, call=pending.call)
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
        timeout: float | None = None,
        progress: ProgressFnT | None = None,
    ) -> ToolCallInvocation:
        """Make one `tools/call`. Whatever comes of it is an invocation; only a lost connection raises."""
        need_text(name, "name")
        need_json(params, "params")
        need_json(metadata, "metadata")
        pending = self._begin()
        arguments = coerce_arguments(params, tool.input_schema if tool is not None else {})
        meta = self.meta(connection, metadata)
        outcome: dict[str, Any]
        try:
            result = await connection.call(
                "tools/call",
                lambda sdk, heard: sdk.call_tool(name, arguments, progress_callback=heard, meta=meta),
                timeout=timeout,
                progress=progress,
            )
            problem = await connection.output_problem(name, result)
            outcome = {"result": result, "success": problem is None, "error": problem}
            outcome["fault"] = None if problem is None else "protocol"
        except NoAnswer as error:
            outcome = {"error": error.message, "error_code": error.code, "fault": "timeout"}
        except MCPError as error:
            refused = {"error": error.message, "error_code": error.code, "error_data": error.data}
            outcome = {**refused, "fault": "refused"}
        except (ProtocolViolation, RuntimeError) as error:  # RuntimeError: how the SDK says that it cannot use it
            outcome = {"error": str(error), "fault": "protocol"}
        invocation = ToolCallInvocation(
            **{"result": None, "success": False, **outcome},
            tool_name=name,
            params=dict(params),
            timestamp=pending.timestamp,
            metadata=dict(metadata) if metadata else None,
        )
        if connection.alive:
            self._cache.set_tool_call_result(name, invocation, call=pending.call)
            self._bus.publish(_tool_call_result_change(invocation))
        return invocation

    async def set_logging_level(self, connection: ClientConnection, level: types.LoggingLevel) -> None:
        """Request log messages of `level` and above; in the modern era the level goes with every later request."""
        connection.log_level = level
        if connection.modern:
            await trio.lowlevel.checkpoint()
            return
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
        await connection.call(request.method, lambda sdk, _: sdk.session.send_request(request, types.EmptyResult))

    async def complete(
        self,
        connection: ClientConnection,
        ref: types.PromptReference | types.ResourceTemplateReference,
        argument: dict[str, str],
        context: Mapping[str, str] | None,
    ) -> types.Completion:
        """Make one `completion/complete`; a server without completions has none to offer."""
        try:
            result = await connection.call(
                "completion/complete", lambda sdk, _: sdk.complete(ref, argument, dict(context) if context else None)
            )
        except MCPError as error:
            if error.code != types.METHOD_NOT_FOUND:
                raise
            return types.Completion(values=[])
        return result.completion

    async def ping(self, connection: ClientConnection) -> None:
        """Make one `ping`; the modern era has none, `server/discover` takes its place."""
        version = connection.sdk.protocol_version
        if connection.modern:
            await connection.call("server/discover", lambda sdk, _: sdk.session.send_discover(version))
        else:
            await connection.call("ping", lambda sdk, _: sdk.session.send_ping())

    def _begin(self) -> _Pending:
        return _Pending(self._cache.next_call(), self._clock.utc())

    def _keep_template(self, invocation: ResourceTemplateReadInvocation, pending: _Pending) -> None:
        template = invocation.uri_template
        self._cache.set_resource_template(template, invocation, call=pending.call, stale=pending.overtaken)
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
