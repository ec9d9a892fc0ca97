"""The quick way to ask a server command for something that it only shows: without the SDK.

Most of the time of `inspect --method tools/list` would be the import of the SDK. What is asked here needs none of it:
a handshake, one request (of a list all its pages), and JSON that is printed as it came.

    result = await ask(["my-server"], os.environ, None, era="auto", method="ping", params={}, seconds=30)

Nothing is explained here. Whatever is out of the ordinary, an error, a server that ends, an item that is not what the
protocol says, is answered with None: the client then asks again and knows what to say. That is why only requests are
asked that may be repeated. `tools/call`, which may not, is in `_quick_call`.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Literal

import trio

from trio_debugmcp.cli._exchange import LISTS, MODERN_VERSION, Exchange, Json
from trio_debugmcp.cli._target import UNREACHABLE, Failure
from trio_debugmcp.transports.command import Command

METHODS = {"initialize", "ping", "resources/read", *LISTS}
"""What can be asked the quick way."""

STDERR_LINES = 20
"""Of a server that does not complete the handshake, in the error message."""

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
        exchange = Exchange(pipes)
        with trio.move_on_after(seconds) as patience:
            server = await exchange.handshake(era)
            if server is None:
                return None
            patience.deadline = trio.current_time() + seconds
            return await _request(exchange, server, method, params)
    if not exchange.connected:
        raise no_handshake(seconds, stderr)
    raise Failure("error", f"{method}: no answer within {seconds:g} s", rpcCode=REQUEST_TIMEOUT)


def no_handshake(seconds: float, stderr: Sequence[str]) -> Failure:
    """The failure to connect in time, with what the server said of it."""
    said = "".join(f"\n{line}" for line in stderr)
    return Failure("unreachable", f"Cannot connect: no handshake within {seconds:g} s{said}", UNREACHABLE)


async def _request(exchange: Exchange, server: Json, method: str, params: Json) -> Json | None:
    """Make the one request that the exchange is for."""
    if method == "initialize":
        return server
    if method in LISTS:
        items = await exchange.items(server, method)
        return None if items is None else {LISTS[method][1]: items}
    modern = server["protocolVersion"] == MODERN_VERSION
    result = await exchange.result("server/discover" if method == "ping" and modern else method, params)
    if result is None or result.get("resultType", "complete") != "complete":
        return None
    return {} if method == "ping" else result
