"""JSON-RPC with a server command, without the SDK: a handshake, and one request at a time.

    async with command.open() as pipes:
        exchange = Exchange(pipes)
        server = await exchange.handshake("auto")
        answer = await exchange.call("tools/list", {})

Nothing is explained here: what is out of the ordinary is None. Requests of the server and notifications go to
`on_request` and `on_notification`; by default only a `ping` is answered, and notifications are ignored.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
import trio

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.transports.command import Pipes

Json = dict[str, Any]

LISTS = {
    "tools/list": ("tools", "tools", ("name", "inputSchema")),
    "resources/list": ("resources", "resources", ("uri", "name")),
    "resources/templates/list": ("resources", "resourceTemplates", ("uriTemplate", "name")),
    "prompts/list": ("prompts", "prompts", ("name",)),
}
"""The lists: the capability, the field of the items, and what each item must have."""

MAX_PAGES = 1000
"""Of one list, as in the client."""

DISCOVER_SECONDS = 10.0
"""For the answer to `server/discover`, which servers of the handshake era may ignore; as in the SDK."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
CLIENT_INFO = {"name": "trio-debugmcp-inspector", "version": "0.1.0"}

METHOD_NOT_FOUND = -32601
UNSUPPORTED_PROTOCOL_VERSION = -32022


class Exchange:
    """See the module's docstring.

    Args:
        pipes: to the server.
        capabilities: to declare to the server.

    Attributes:
        connected: whether the handshake is complete.
        violated: why nothing can be read any more although the server is there: too long a line; else None.
        on_request: called with each request of the server; answers it with `send`.
        on_notification: called with each notification, in the order of the wire.
        on_garbage: called with a line that is not a message, and why; returns whether to read on.
    """

    def __init__(self, pipes: Pipes, capabilities: Json | None = None) -> None:
        self.connected = False
        self.violated: str | None = None
        self.on_request: Callable[[Json], Awaitable[None]] = self._refuse
        self.on_notification: Callable[[Json], None] = lambda _: None
        self.on_garbage: Callable[[bytes, str], bool] = lambda _line, _reason: False
        self._pipes = pipes
        self._capabilities = capabilities or {}
        self._meta: Json = {}
        self._last_id = 0

    def __repr__(self) -> str:
        return f"<Exchange, {'connected' if self.connected else 'not connected'}, {self._last_id} requests>"

    @property
    def last_id(self) -> int:
        """By which a notification of ours names the request that is not awaited any more."""
        return self._last_id

    async def handshake(self, era: str) -> Json | None:
        """Agree on an era; the server's description as `inspect --method initialize` shows it."""
        if era != "legacy":
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
                "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
                "io.modelcontextprotocol/clientCapabilities": self._capabilities,
            }
            found: Json | None = {}
            with trio.move_on_after(DISCOVER_SECONDS):
                found = await self.call("server/discover", {"_meta": meta})
            if found is None or _error_code(found) == UNSUPPORTED_PROTOCOL_VERSION:
                return None
            result = found.get("result")
            versions = result.get("supportedVersions") if isinstance(result, dict) else None
            if isinstance(result, dict) and isinstance(versions, list) and MODERN_VERSION in versions:
                self._meta = meta
                info = _object(result.get("_meta")).get("io.modelcontextprotocol/serverInfo")
                return self._described(info, MODERN_VERSION, result)
            if era == "modern":
                return None
        hello = {
            "protocolVersion": HANDSHAKE_VERSIONS[-1],
            "capabilities": self._capabilities,
            "clientInfo": CLIENT_INFO,
        }
        result = await self.result("initialize", hello)
        if result is None or result.get("protocolVersion") not in HANDSHAKE_VERSIONS:
            return None
        await self.send({"method": "notifications/initialized"})
        return self._described(result.get("serverInfo"), result["protocolVersion"], result)

    async def items(self, server: Json, method: str) -> list[Json] | None:
        """All pages of a list; empty if the server does not have the capability."""
        capability, field, needed = LISTS[method]
        items: list[Json] = []
        if server["capabilities"].get(capability) is None:
            return items
        cursors: set[str] = set()
        params: Json = {}
        for _ in range(MAX_PAGES):
            page = await self.result(method, params)
            found = page.get(field) if page is not None else None
            if page is None or not isinstance(found, list) or not all(_is_item(item, needed) for item in found):
                return None
            items += found
            cursor = page.get("nextCursor")
            if cursor is None:
                return items
            if not isinstance(cursor, str) or cursor in cursors:
                return None
            cursors.add(cursor)
            params = {"cursor": cursor}
        return None

    async def result(self, method: str, params: Json) -> Json | None:
        """The result of one request, None if there is none."""
        answer = await self.call(method, params)
        result = answer.get("result") if answer is not None else None
        return result if isinstance(result, dict) else None

    async def call(self, method: str, params: Json) -> Json | None:
        """The answer of one request, None when nothing can be read any more, or it is not JSON-RPC."""
        self._last_id += 1
        if meta := {**self._meta, **params.get("_meta", {})}:
            params = {**params, "_meta": meta}
        await self.send({"id": self._last_id, "method": method, **({"params": params} if params else {})})
        lines = self._pipes.lines
        line = b""
        while True:
            try:
                message = msgspec.json.decode(line := await anext(lines))
                if not isinstance(message, dict):
                    raise TypeError("it is not an object")
                if "method" not in message:
                    if message["id"] == self._last_id:
                        return message
                elif "id" in message:
                    if not isinstance(message["id"], str | int):
                        raise TypeError("its id is neither a string nor a number")
                    await self.on_request(message)
                else:
                    self.on_notification(message)
            except StopAsyncIteration:
                return None
            except ProtocolViolation as error:
                self.violated = str(error)
                return None
            except (ValueError, RecursionError, TypeError, KeyError) as error:
                if not self.on_garbage(line, str(error)):
                    return None

    async def send(self, message: Json) -> None:
        with suppress(trio.BrokenResourceError):  # it reads no more; that it ends is seen where its answer is awaited
            await self._pipes.frames.send(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def _described(self, info: object, version: str, result: Json) -> Json | None:
        capabilities = result.get("capabilities") or {}
        if not isinstance(capabilities, dict):
            return None
        self.connected = True
        return {
            "serverInfo": info,
            "protocolVersion": version,
            "capabilities": capabilities,
            "instructions": result.get("instructions"),
        }

    async def _refuse(self, request: Json) -> None:
        """Answer a request of the server: we are here, and have none of the capabilities that others need."""
        if request["method"] == "ping":
            await self.send({"id": request["id"], "result": {}})
        else:
            await self.send({"id": request["id"], "error": not_supported(request["method"])})


def not_supported(method: object) -> Json:
    """The error of a request that is not answered here."""
    return {"code": METHOD_NOT_FOUND, "message": f"{method} is not supported"}


def _error_code(answer: Json) -> object:
    error = answer.get("error")
    return error.get("code") if isinstance(error, dict) else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _is_item(item: object, needed: Sequence[str]) -> bool:
    """Whether the item has what it must have: strings, and for a tool the schemas of objects."""
    if not isinstance(item, dict) or not all(
        isinstance(item.get(name), str) for name in needed if name != "inputSchema"
    ):
        return False
    # `outputSchema` may have another type since 2026-07-28: then the client judges the list.
    schemas = [item[name] for name in ("inputSchema", "outputSchema") if name in item]
    expected = [*schemas, item.get("inputSchema")] if "inputSchema" in needed else []
    return all(isinstance(schema, dict) and schema.get("type") == "object" for schema in expected)
