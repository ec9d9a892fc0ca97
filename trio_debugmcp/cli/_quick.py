"""The quick way to ask a server command for something that it only shows: without the SDK.

Most of the time of `inspect --method tools/list` would be the import of the SDK. What is asked here needs none of it:
a handshake, one request (of a list all its pages), and JSON that is printed as it came.

    result = await ask(["my-server"], os.environ, None, era="auto", method="ping", params={}, seconds=30)

Nothing is explained here. Whatever is out of the ordinary, an error, a server that ends, an item that is not what the
protocol says, is answered with None: the client then asks again and knows what to say. That is why only requests are
asked that may be repeated.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import msgspec
import trio

from trio_debugmcp.cli._target import UNREACHABLE, Failure
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.command import Command, Pipes

Json = dict[str, Any]

LISTS = {
    "tools/list": ("tools", "tools", ("name", "inputSchema")),
    "resources/list": ("resources", "resources", ("uri", "name")),
    "resources/templates/list": ("resources", "resourceTemplates", ("uriTemplate", "name")),
    "prompts/list": ("prompts", "prompts", ("name",)),
}
"""The lists: the capability, the field of the items, and what each item must have."""

METHODS = {"initialize", "ping", "resources/read", *LISTS}
"""What can be asked the quick way."""

MAX_PAGES = 1000
"""Of one list, as in the client."""

DISCOVER_SECONDS = 10.0
"""For the answer to `server/discover`, which servers of the handshake era may ignore; as in the SDK."""

STDERR_LINES = 20
"""Of a server that does not complete the handshake, in the error message."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
CLIENT_INFO = {"name": "trio-debugmcp-inspector", "version": "0.1.0"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}

METHOD_NOT_FOUND = -32601
UNSUPPORTED_PROTOCOL_VERSION = -32022
REQUEST_TIMEOUT = -32001


async def ask(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | None,
    *,
    era: Literal["auto", "legacy", "modern"],
    method: str,
    params: Json,
    seconds: float,
) -> Json | None:
    """Start the server, make one request, stop the server; None if the client should do it.

    Raises:
        Failure: there was no answer in time.
    """
    stderr: deque[str] = deque(maxlen=STDERR_LINES)
    command = Command(argv, env, cwd, stderr.append)
    async with command.open() as pipes:
        exchange = _Exchange(pipes)
        with trio.move_on_after(seconds) as patience:
            server = await exchange.handshake(era)
            if server is None:
                return None
            patience.deadline = trio.current_time() + seconds
            return await exchange.request(server, method, params)
    if not exchange.connected:
        said = "".join(f"\n{line}" for line in stderr)
        raise Failure("unreachable", f"Cannot connect: no handshake within {seconds:g} s{said}", UNREACHABLE)
    raise Failure("error", f"{method}: no answer within {seconds:g} s", rpcCode=REQUEST_TIMEOUT)


class _Exchange:
    """Requests and answers, one at a time."""

    def __init__(self, pipes: Pipes) -> None:
        self.connected = False
        self._pipes = pipes
        self._meta: Json = {}
        self._last_id = 0

    async def handshake(self, era: str) -> Json | None:
        """Agree on an era; the server's description as `inspect --method initialize` shows it."""
        if era != "legacy":
            found: Json | None = {}
            with trio.move_on_after(DISCOVER_SECONDS):
                found = await self._call("server/discover", {"_meta": META})
            if found is None or (found.get("error") or {}).get("code") == UNSUPPORTED_PROTOCOL_VERSION:
                return None
            result = found.get("result")
            if isinstance(result, dict) and MODERN_VERSION in (result.get("supportedVersions") or ()):
                self._meta = {"_meta": META}
                self.connected = True
                info = (result.get("_meta") or {}).get("io.modelcontextprotocol/serverInfo")
                return _described(info, MODERN_VERSION, result)
            if era == "modern":
                return None
        hello = {"protocolVersion": HANDSHAKE_VERSIONS[-1], "capabilities": {}, "clientInfo": CLIENT_INFO}
        answer = await self._call("initialize", hello)
        result = answer.get("result") if answer is not None else None
        if not isinstance(result, dict) or result.get("protocolVersion") not in HANDSHAKE_VERSIONS:
            return None
        await self._send({"method": "notifications/initialized"})
        self.connected = True
        return _described(result.get("serverInfo"), result["protocolVersion"], result)

    async def request(self, server: Json, method: str, params: Json) -> Json | None:
        """Make the one request that the exchange is for."""
        if method == "initialize":
            return server
        if method in LISTS:
            return await self._list(server, method)
        modern = server["protocolVersion"] == MODERN_VERSION
        asked = "server/discover" if method == "ping" and modern else method
        result = await self._result(asked, params)
        if result is None or result.get("resultType", "complete") != "complete":
            return None
        return {} if method == "ping" else result

    async def _list(self, server: Json, method: str) -> Json | None:
        capability, field, needed = LISTS[method]
        items: list[Json] = []
        if server["capabilities"].get(capability) is None:
            return {field: items}
        cursors: set[str] = set()
        params: Json = {}
        for _ in range(MAX_PAGES):
            page = await self._result(method, params)
            found = page.get(field) if page is not None else None
            if page is None or not isinstance(found, list) or not all(_is_item(item, needed) for item in found):
                return None
            items += found
            cursor = page.get("nextCursor")
            if cursor is None:
                return {field: items}
            if not isinstance(cursor, str) or cursor in cursors:
                return None
            cursors.add(cursor)
            params = {"cursor": cursor}
        return None

    async def _result(self, method: str, params: Json) -> Json | None:
        answer = await self._call(method, {**params, **self._meta})
        result = answer.get("result") if answer is not None else None
        return result if isinstance(result, dict) else None

    async def _call(self, method: str, params: Json) -> Json | None:
        """The answer of one request, None when nothing can be read any more, or it is not JSON-RPC."""
        self._last_id += 1
        await self._send({"id": self._last_id, "method": method, **({"params": params} if params else {})})
        try:
            async for line in self._pipes.lines:
                message = msgspec.json.decode(line)
                if "method" not in message:
                    if message["id"] == self._last_id:
                        return dict(message)
                elif "id" in message:
                    await self._refuse(message)
        except (msgspec.DecodeError, ProtocolViolation, TypeError, KeyError):
            return None
        return None

    async def _refuse(self, request: Json) -> None:
        """Answer a request of the server: we are here, and have none of the capabilities that others need."""
        if request["method"] == "ping":
            await self._send({"id": request["id"], "result": {}})
        else:
            error = {"code": METHOD_NOT_FOUND, "message": f"{request['method']} is not supported"}
            await self._send({"id": request["id"], "error": error})

    async def _send(self, message: Json) -> None:
        with suppress(trio.BrokenResourceError):  # it reads no more; that it ends is seen where its answer is awaited
            await self._pipes.frames.send(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")


def _described(info: object, version: str, result: Json) -> Json:
    return {
        "serverInfo": info,
        "protocolVersion": version,
        "capabilities": result.get("capabilities") or {},
        "instructions": result.get("instructions"),
    }


def _is_item(item: object, needed: Sequence[str]) -> bool:
    """Whether the item has what it must have: strings, and for a tool the schema of its arguments."""
    return isinstance(item, dict) and all(
        isinstance(item.get(name), dict if name == "inputSchema" else str) for name in needed
    )
