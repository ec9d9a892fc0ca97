"""JSON-RPC over a pair of pipes: one request at a time, and what the peer sends meanwhile.

    async with command.open() as pipes:
        exchange = Exchange(pipes)
        answer = await exchange.call("tools/list", {})

Nothing is explained here: what is out of the ordinary is None. Requests of the server and notifications go to
`on_request` and `on_notification`; by default only a `ping` is answered, and notifications are ignored.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import trio

from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.light_client.protocol import Json, not_supported
from trio_debugmcp.transports.line_pipes import Pipes

OnRequest = Callable[[Json], Awaitable[None]]
OnNotification = Callable[[Json], None]
OnGarbage = Callable[[bytes, str], bool]


class Exchange:
    """See the module's docstring.

    Attributes:
        meta: `_meta` of every request.
        last_id: of the last request, by which a notification of ours names what is not awaited any more.
        violated: why nothing can be read any more although the server is there: too long a line; else None.
        on_request: called with each request of the server; answers it with `send`.
        on_notification: called with each notification, in the order of the wire.
        on_garbage: called with a line that is not a message, and why; returns whether to read on.
    """

    def __init__(self, pipes: Pipes) -> None:
        self.meta: Json = {}
        self.last_id = 0
        self.violated: str | None = None
        self.on_request: OnRequest = self._refuse
        self.on_notification: OnNotification = lambda _: None
        self.on_garbage: OnGarbage = lambda _line, _reason: False
        self._pipes = pipes

    def __repr__(self) -> str:
        return f"<Exchange, {self.last_id} requests>"

    async def result(self, method: str, params: Json) -> Json | None:
        """The result of one request, None if there is none."""
        answer = await self.call(method, params)
        result = answer.get("result") if answer is not None else None
        return result if isinstance(result, dict) else None

    async def call(self, method: str, params: Json) -> Json | None:
        """The answer of one request, None when nothing can be read any more, or it is not JSON-RPC."""
        self.last_id += 1
        if meta := {**self.meta, **params.get("_meta", {})}:
            params = {**params, "_meta": meta}
        await self.send({"id": self.last_id, "method": method, **({"params": params} if params else {})})
        lines = self._pipes.lines
        line = b""
        while True:
            try:
                message = msgspec.json.decode(line := await anext(lines))
                if not isinstance(message, dict):
                    raise TypeError("it is not an object")
                if "method" not in message:
                    if message["id"] == self.last_id:
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
        """Send a message; if the server reads no more, that it ends is seen where its answer is awaited."""
        with suppress(trio.BrokenResourceError):
            await self._pipes.frames.send(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    async def _refuse(self, request: Json) -> None:
        """Answer a request of the server: we are here, and have none of the capabilities that others need."""
        if request["method"] == "ping":
            await self.send({"id": request["id"], "result": {}})
        else:
            await self.send({"id": request["id"], "error": not_supported(request["method"])})
