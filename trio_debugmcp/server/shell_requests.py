"""Requests of `trio-debugmcp call`, served without the SDK, whose import takes longer than most of these calls.

    shells = ShellRequests(debugger, tools, client, known)
    data = await first_line(stream)
    if shells.serves(data):
        await shells.serve(stream, data)

They are MCP of 2026-07-28, one JSON message a line: `tools/list` and `tools/call`, answered as the SDK's server answers
them. Any other client gets that server.
"""

from typing import Any, Literal

import msgspec
import trio
from msgspec import UNSET, Raw, Struct, UnsetType, field

from trio_debugmcp.kept.calling import CLIENT_NAME, MODERN_VERSION
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.known_clients import KnownClients
from trio_debugmcp.server.tool_calls import call_tool
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.transports.line_splitter import MAX_LINE_BYTES, LineSplitter

CHUNK_BYTES = 64 * 1024

METHOD_NOT_FOUND, INVALID_REQUEST = -32601, -32600


class _CallClient(Struct):
    name: str
    version: str = ""


class _Meta(Struct):
    protocol_version: str = field(name="io.modelcontextprotocol/protocolVersion")
    client: _CallClient = field(name="io.modelcontextprotocol/clientInfo")


class _Params(Struct):
    meta: _Meta = field(name="_meta")
    name: str = ""
    arguments: dict[str, Any] = {}


class _Request(Struct):
    jsonrpc: Literal["2.0"]
    id: int | str
    method: str
    params: _Params


class _Error(Struct):
    code: int
    message: str


class _Answer(Struct):
    id: int | str
    jsonrpc: Literal["2.0"] = "2.0"
    result: Raw | UnsetType = UNSET
    error: _Error | UnsetType = UNSET


class ShellRequests:
    """Serves all shells of a project, which are one client. `known`: under its name they are known."""

    def __init__(self, debugger: Debugger, tools: Toolbox, client: Client, known: KnownClients) -> None:
        self._debugger = debugger
        self._tools = tools
        self._client = client
        self._known = known
        self._decoder = msgspec.json.Decoder(_Request)
        self._encoder = msgspec.json.Encoder()

    def __repr__(self) -> str:
        return f"<ShellRequests of {self._client!r}>"

    def serves(self, data: bytes) -> bool:
        """Whether this is how a conversation of a shell begins. `data`: at least its first line."""
        try:
            meta = self._decoder.decode(data.partition(b"\n")[0]).params.meta
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        return meta.protocol_version == MODERN_VERSION and meta.client.name == CLIENT_NAME

    async def serve(self, stream: trio.abc.Stream, data: bytes) -> None:
        """Serve a conversation, whose beginning is `data`. Its end cancels what it has asked for."""
        lines, sending = LineSplitter(), trio.Lock()
        async with trio.open_nursery() as nursery:
            while data:
                for line in lines.feed(data):
                    nursery.start_soon(self._serve_line, stream, sending, b"" if line is None else line)
                data = await receive(stream)
            nursery.cancel_scope.cancel(reason="the shell has closed its end")

    async def _serve_line(self, stream: trio.abc.Stream, sending: trio.Lock, line: bytes) -> None:
        answer = await self._answer(line)
        async with sending:
            try:
                await stream.send_all(self._encoder.encode(answer) + b"\n")
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return  # it does not wait any more

    async def _answer(self, line: bytes) -> _Answer:
        try:
            request = self._decoder.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            return _Answer(id="", error=_Error(INVALID_REQUEST, f"The request cannot be read: {error}."))
        client = request.params.meta.client
        known = await self._known.introduce(client.name, client.version)
        if known is None:
            return _Answer(id=request.id, error=_Error(INVALID_REQUEST, "There are too many clients of other names."))
        with known.serving():
            if request.method == "tools/list":
                named, role = request.params.name, self._client.role
                tools = self._tools.described(named, role) if named else self._tools.listed(role)  # beyond MCP: one
                return _Answer(id=request.id, result=self._raw({"tools": [tool.wire for tool in tools]}))
            if request.method == "tools/call":
                name, arguments = request.params.name, request.params.arguments
                result = await call_tool(self._debugger, self._tools, self._client, name, arguments, client.name)
                return _Answer(id=request.id, result=self._raw(result.wire))
        return _Answer(id=request.id, error=_Error(METHOD_NOT_FOUND, f"{request.method} is not served here."))

    def _raw(self, result: dict[str, Any]) -> Raw:
        return Raw(self._encoder.encode({**result, "resultType": "complete"}))


async def first_line(stream: trio.abc.Stream) -> bytes:
    """Return what comes until a line is complete, or as much as a line may have."""
    data = b""
    while b"\n" not in data and len(data) <= MAX_LINE_BYTES and (more := await receive(stream)):
        data += more
    return data


async def receive(stream: trio.abc.Stream) -> bytes:
    """Return what comes next; nothing at the end."""
    try:
        return bytes(await stream.receive_some(CHUNK_BYTES))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return b""
