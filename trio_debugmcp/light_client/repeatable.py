"""Requests that may be made a second time: what they say is None if the full client should make them, and explain.

    result = await ask(pipes, era="auto", method="ping", params={}, seconds=30)

Whatever is out of the ordinary, an error, a server that ends, an item that is not what the protocol says, is None: the
caller then makes the request with `InspectorClient`, which knows what to say. `tools/call`, which may not be made
twice, is in `tool_call`.
"""

import trio

from trio_debugmcp.light_client.exchange import Exchange
from trio_debugmcp.light_client.negotiation import is_modern, list_items, negotiate
from trio_debugmcp.light_client.protocol import LISTS, EraMode, Json, no_handshake, timed_out
from trio_debugmcp.transports.line_pipes import Pipes

METHODS = {"initialize", "ping", "resources/read", *LISTS}
"""What can be asked."""


async def ask(
    pipes: Pipes, *, era: EraMode, method: str, params: Json, seconds: float, connect: float | None = None
) -> Json | None:
    """Begin a connection, within `connect` seconds, and make the one request that it is for.

    Raises:
        RequestFailed: there was no answer in time.
    """
    exchange = Exchange(pipes)
    connect = seconds if connect is None else connect
    server: Json | None = None
    with trio.move_on_after(connect) as limit:
        server = await negotiate(exchange, era, {})
        if server is None:
            return None
        limit.deadline = trio.current_time() + seconds
        return await _request(exchange, server, method, params)
    raise no_handshake(method, connect) if server is None else timed_out(method, seconds)


async def _request(exchange: Exchange, server: Json, method: str, params: Json) -> Json | None:
    if method == "initialize":
        return server
    if method in LISTS:
        items = await list_items(exchange, server, method)
        return None if items is None else {LISTS[method][1]: items}
    result = await exchange.result("server/discover" if method == "ping" and is_modern(server) else method, params)
    if result is None or result.get("resultType", "complete") != "complete":
        return None
    return {} if method == "ping" else result
