"""A scripted MCP server for tests, in either era: raw JSON-RPC over memory streams, as ill-behaved as wanted.

It is itself an SDK transport, so `InspectorClient(peer)` connects to it, as often as wanted. Requests are answered by
handlers (a handler may wait, refuse, or never answer); notifications are sent synchronously, so that a test decides the
order on the wire. Nothing may be left running at the end: the nursery of the connection sees to it.
"""

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from inspect import isawaitable
from types import TracebackType
from typing import Any

import anyio
import trio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from trio_debugmcp.client import EventStream

Json = dict[str, Any]
Handler = Callable[[Json], Json | Awaitable[Json]]
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

FULL: Json = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}


class Refuse(Exception):
    """Raised by a handler: the request is answered with an error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        self.error: Json = {"code": code, "message": message, "data": data}
        super().__init__(message)


class Peer:
    """See the module's docstring.

    Attributes:
        requests: every request received, with `method` and `params`, in order, over all connections.
        notifications: likewise.
        connections: how often it was connected to.
        tools, resources, templates, prompts: what the lists answer; replaced at will.
        on_listen: called with each `subscriptions/listen`, instead of `acknowledge` if a test replaces it.
        on_reply: called after each reply.
        nursery: of the connection, for what a handler starts.
    """

    def __init__(self, *, modern: bool = False, capabilities: Json | None = None) -> None:
        self.modern = modern
        self.capabilities = FULL if capabilities is None else capabilities
        self.requests: list[Json] = []
        self.notifications: list[Json] = []
        self.responses: list[Json] = []
        self.connections = 0
        self.tools: list[str] = []
        self.resources: list[str] = []
        self.templates: list[str] = []
        self.prompts: list[str] = []
        self.contents: dict[str, str] = {}
        self.page_size = 1000
        self.silent_about: set[str] = set()
        self.listening: list[Any] = []
        self.on_listen: Callable[[Json], None] = self.acknowledge
        self.on_reply: Callable[[], None] = lambda: None
        self.nursery: trio.Nursery
        self.handlers: dict[str, Handler] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "tools/list": lambda p: self._page("tools", [tool(name) for name in self.tools], p),
            "resources/list": lambda p: self._page("resources", [{"uri": u, "name": u} for u in self.resources], p),
            "resources/templates/list": lambda p: self._page(
                "resourceTemplates", [{"uriTemplate": t, "name": t} for t in self.templates], p
            ),
            "prompts/list": lambda p: self._page("prompts", [{"name": name} for name in self.prompts], p),
            "resources/read": lambda p: content(p["uri"], self.contents.get(p["uri"], "")),
            "resources/subscribe": lambda _: {},
            "resources/unsubscribe": lambda _: {},
            "prompts/get": lambda p: {"messages": [], "description": str(p.get("arguments"))},
            "tools/call": lambda p: text(str(p.get("arguments"))),
            "logging/setLevel": lambda _: {},
            "completion/complete": lambda p: {"completion": {"values": [p["argument"]["value"] + "!"]}},
            "ping": lambda _: {},
        }
        self._to_client: anyio.abc.ObjectSendStream[SessionMessage | Exception]
        self._open: list[AbstractAsyncContextManager[Any]] = []

    # --- What a test does ---------------------------------------------------------------------------------------------

    def count(self, method: str) -> int:
        return sum(request["method"] == method for request in self.requests)

    def params(self, method: str) -> list[Json]:
        return [request.get("params", {}) for request in self.requests if request["method"] == method]

    def notify(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params} if params else {"method": method})

    def changed(self, what: str = "tools") -> None:
        for meta in self._stamps():
            self.notify(f"notifications/{what}/list_changed", **meta)

    def updated(self, uri: str) -> None:
        for meta in self._stamps():
            self.notify("notifications/resources/updated", uri=uri, **meta)

    def send(self, message: Json) -> None:
        parsed = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})
        self._to_client.send_nowait(SessionMessage(parsed))  # type: ignore[attr-defined]

    def pass_on(self, item: SessionMessage) -> None:
        """Hand `item` to the client as a transport does."""
        self._to_client.send_nowait(item)  # type: ignore[attr-defined]

    def crash(self) -> None:
        """Close the connection without notice."""
        self._to_client.close()  # type: ignore[attr-defined]

    def end_listening(self) -> None:
        """Close every listen stream, gracefully, as a server does that is about to stop."""
        for request_id in self.listening:
            self.send({"id": request_id, "result": {"resultType": "complete"}})
        self.listening = []

    def garble(self, error: Exception) -> None:
        """Hand `error` to the client, as a transport does with what is not a message."""
        self._to_client.send_nowait(error)  # type: ignore[attr-defined]

    def reply(self, request_id: Any, result: Json) -> None:
        """Answer a request that no handler has answered."""
        self._reply({"id": request_id, "result": self._complete(result)})

    def acknowledge(self, message: Json, honored: Json | None = None) -> None:
        """Open the listen stream that `message` asks for; `honored` is what it reports, if less than asked for."""
        self.listening.append(message["id"])
        self.notify(
            "notifications/subscriptions/acknowledged",
            notifications=message["params"]["notifications"] if honored is None else honored,
            _meta={SUBSCRIPTION_ID: message["id"]},
        )

    # --- What an SDK transport does -----------------------------------------------------------------------------------

    async def __aenter__(self) -> Any:
        connection = self.connect()
        self._open.append(connection)
        return await connection.__aenter__()

    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Coroutine[Any, Any, bool | None]:
        return self._open.pop().__aexit__(kind, error, trace)

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Any, None]:
        to_client, client_reads = anyio.create_memory_object_stream[SessionMessage | Exception](math.inf)
        client_writes, from_client = anyio.create_memory_object_stream[SessionMessage](math.inf)
        self.connections += 1
        self.listening = []
        async with trio.open_nursery() as nursery:
            self._to_client, self.nursery = to_client, nursery
            nursery.start_soon(self._serve, from_client)
            try:
                yield client_reads, client_writes
            finally:
                nursery.cancel_scope.cancel("the client has disconnected")
                for stream in (to_client, client_reads, client_writes, from_client):
                    stream.close()

    async def _serve(self, from_client: Any) -> None:
        async for item in from_client:
            message = item.message.model_dump(by_alias=True, exclude_unset=True)
            if "method" not in message:
                self.responses.append(message)
            elif "id" not in message:
                self.notifications.append(message)
                self._on_cancelled(message)
            else:
                self.requests.append(message)
                self.nursery.start_soon(self._answer, message)

    async def _answer(self, message: Json) -> None:
        method = message["method"]
        if method in self.silent_about:
            return
        if method == "subscriptions/listen" and method not in self.handlers:
            self.on_listen(message)
            return
        try:
            handler = self.handlers[method]
            result = handler(message.get("params") or {})
            if isawaitable(result):
                result = await result
        except KeyError:
            self._reply({"id": message["id"], "error": {"code": -32601, "message": f"no {method}"}})
        except Refuse as refusal:
            self._reply({"id": message["id"], "error": refusal.error})
        else:
            self.reply(message["id"], result)

    def _reply(self, message: Json) -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the client has disconnected
            self.send(message)
        self.on_reply()

    def _complete(self, result: Json) -> Json:
        if not self.modern:
            return result
        return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}

    def _initialize(self, _: Json) -> Json:
        if self.modern:
            raise Refuse(-32601, "modern only")
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": self.capabilities,
            "serverInfo": {"name": "peer", "version": "1"},
            "instructions": "be kind",
        }

    def _discover(self, _: Json) -> Json:
        if not self.modern:
            raise Refuse(-32601, "no server/discover")
        return {
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities,
            "instructions": "be kind",
        }

    def _page(self, name: str, items: list[Json], params: Json) -> Json:
        start = int(params.get("cursor", 0))
        page: Json = {name: items[start : start + self.page_size]}
        if start + self.page_size < len(items):
            page["nextCursor"] = str(start + self.page_size)
        return page

    def _on_cancelled(self, message: Json) -> None:
        if message["method"] == "notifications/cancelled":
            gone = message["params"]["requestId"]
            self.listening = [request_id for request_id in self.listening if request_id != gone]

    def _stamps(self) -> list[Json]:
        """One copy of a notification per listen stream in the modern era, a bare one in the other."""
        return [{"_meta": {SUBSCRIPTION_ID: i}} for i in self.listening] if self.modern else [{}]


def tool(name: str, **schema: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object", **schema}}


def text(value: str, *, is_error: bool = False) -> Json:
    return {"content": [{"type": "text", "text": value}], "isError": is_error}


def content(uri: str, value: str) -> Json:
    return {"contents": [{"uri": uri, "text": value}]}


def received(events: EventStream[Any]) -> list[Any]:
    """Take out of a stream the events that it has received."""
    taken: list[Any] = []
    while True:
        try:
            taken.append(events.receive_nowait())
        except (trio.WouldBlock, trio.EndOfChannel):
            return taken
