"""`RecordedCalls`: what an editor does, as a recording has it: the messages of an MCP client with its name.

So a recording needs no words for editors, and a replay plays one back as any client: each call of a tool is made again
at its time, by a client of that name and role.

    with RecordedCalls(tap, "control", "Visual Studio Code") as calls:
        number = calls.called("debug_step", {"mode": "over"})
        calls.answered(number, result)
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from mcp.shared.message import SessionMessage

from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.state.payloads import to_json
from trio_debugmcp.transports.connection_tap import ConnectionTap, Role
from trio_debugmcp.transports.jsonrpc import parse_message
from trio_debugmcp.transports.streams import ClosingStream, MessageReader, Streams

PROTOCOL = "2025-06-18"
"""The handshake that a replayed editor makes; any of its era would do."""


class _Inbox(MessageReader):
    """Hands out one message: the tap sees it as it is read."""

    def __init__(self) -> None:
        self.next: SessionMessage | None = None

    async def __anext__(self) -> SessionMessage | Exception:
        if self.next is None:
            raise StopAsyncIteration
        message, self.next = self.next, None
        return message

    async def aclose(self) -> None:
        self.next = None


class _Outbox(ClosingStream):
    """Drops what is written, which the tap has seen."""

    async def send(self, item: SessionMessage, /) -> None:
        return

    async def aclose(self) -> None:
        return


class RecordedCalls:
    """The calls of one editor, for a tap that records clients; without one nothing is made of them."""

    def __init__(self, tap: ConnectionTap, role: Role, name: str) -> None:
        self._inbox, self._outbox = _Inbox(), _Outbox()
        self._context = tap.streams((self._inbox, self._outbox), role, "dap")
        self._streams: Streams | None = None
        self._is_tapped = False
        self._name = name
        self._last = 0

    def __repr__(self) -> str:
        return f"<RecordedCalls of {self._name!r}: {self._last}>"

    def __enter__(self) -> Self:
        self._streams = self._context.__enter__()
        self._is_tapped = self._streams[0] is not self._inbox
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, traceback)

    async def introduce(self, key: str | None) -> None:
        """Record that the editor has joined, as a client that introduces itself, and as a person by that key."""
        client = {"name": self._name, "version": ""}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        await self._received(id=0, method="initialize", params=hello)
        server = {"name": "trio-debugmcp", "version": ""}
        await self._sent(id=0, result={"protocolVersion": PROTOCOL, "capabilities": {}, "serverInfo": server})
        await self._received(method="notifications/initialized")
        if key is not None:
            number = await self.called("person_join", {"key": key})
            await self.answered(number, ToolResult())

    async def called(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Record that a call begins; return its number."""
        self._last += 1
        await self._received(id=self._last, method="tools/call", params={"name": tool, "arguments": dict(arguments)})
        return self._last

    async def answered(self, number: int, result: ToolResult) -> None:
        """Record what came of a call."""
        if self._is_tapped:
            await self._sent(id=number, result={**result.wire, "resultType": "complete"})

    async def _received(self, **members: Any) -> None:
        if self._streams is not None and self._is_tapped:
            self._inbox.next = _message(members)
            await anext(self._streams[0])

    async def _sent(self, **members: Any) -> None:
        message = _message(members)
        if self._streams is not None and self._is_tapped and message is not None:
            await self._streams[1].send(message)


def _message(members: Mapping[str, Any]) -> SessionMessage | None:
    return parse_message(to_json({"jsonrpc": "2.0", **members}).encode())
