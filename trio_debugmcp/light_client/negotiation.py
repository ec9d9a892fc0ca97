"""How a connection begins: the era that both sides speak, and what the server has.

    server = await negotiate(exchange, "auto", capabilities={})
    tools = None if server is None else await list_items(exchange, server, "tools/list")

A server is described by what `inspect --method initialize` shows of it.
"""

from collections.abc import Sequence

import trio

from trio_debugmcp.light_client.exchange import Exchange
from trio_debugmcp.light_client.protocol import (
    CLIENT_NAME,
    CLIENT_VERSION,
    HANDSHAKE_VERSIONS,
    LISTS,
    MAX_PAGES,
    MODERN_VERSION,
    UNSUPPORTED_PROTOCOL_VERSION,
    EraMode,
    Json,
    dict_of,
)

DISCOVER_SECONDS = 10.0
"""For the answer to `server/discover`, which servers of the handshake era may ignore; as in the SDK."""

_CLIENT_INFO = {"name": CLIENT_NAME, "version": CLIENT_VERSION}


async def negotiate(exchange: Exchange, era: EraMode, capabilities: Json) -> Json | None:
    """Agree on an era; returns the server's description as `inspect --method initialize` shows it.

    None if the server does not answer as the protocol says, or not in that era.
    """
    if era != "legacy":
        meta = {
            "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
            "io.modelcontextprotocol/clientInfo": _CLIENT_INFO,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        answer: Json | None = {}
        with trio.move_on_after(DISCOVER_SECONDS):
            answer = await exchange.call("server/discover", {"_meta": meta})
        if answer is None or dict_of(answer.get("error")).get("code") == UNSUPPORTED_PROTOCOL_VERSION:
            return None
        discovered = dict_of(answer.get("result"))
        versions = discovered.get("supportedVersions")
        if isinstance(versions, list) and MODERN_VERSION in versions:
            exchange.meta = meta
            info = dict_of(discovered.get("_meta")).get("io.modelcontextprotocol/serverInfo")
            return _described(info, MODERN_VERSION, discovered)
        if era == "modern":
            return None
    hello = {"protocolVersion": HANDSHAKE_VERSIONS[-1], "capabilities": capabilities, "clientInfo": _CLIENT_INFO}
    initialized = await exchange.result("initialize", hello)
    if initialized is None or initialized.get("protocolVersion") not in HANDSHAKE_VERSIONS:
        return None
    await exchange.send({"method": "notifications/initialized"})
    return _described(initialized.get("serverInfo"), initialized["protocolVersion"], initialized)


def is_modern(server: Json) -> bool:
    """Whether the server's description is of the era of 2026-07-28."""
    return bool(server["protocolVersion"] == MODERN_VERSION)


async def list_items(exchange: Exchange, server: Json, method: str) -> list[Json] | None:
    """All pages of a list; empty if the server does not have the capability, None if one is malformed."""
    capability, field, needed = LISTS[method]
    items: list[Json] = []
    if server["capabilities"].get(capability) is None:
        return items
    cursors: set[str] = set()
    params: Json = {}
    for _ in range(MAX_PAGES):
        page = await exchange.result(method, params)
        page_items = page.get(field) if page is not None else None
        if page is None or not isinstance(page_items, list) or not all(_is_item(item, needed) for item in page_items):
            return None
        items += page_items
        cursor = page.get("nextCursor")
        if cursor is None:
            return items
        if not isinstance(cursor, str) or cursor in cursors:
            return None
        cursors.add(cursor)
        params = {"cursor": cursor}
    return None


def _described(info: object, version: str, result: Json) -> Json | None:
    capabilities = result.get("capabilities") or {}
    if not isinstance(capabilities, dict):
        return None
    return {
        "serverInfo": info,
        "protocolVersion": version,
        "capabilities": capabilities,
        "instructions": result.get("instructions"),
    }


def _is_item(item: object, needed: Sequence[str]) -> bool:
    """Whether the item has what it must have: strings, and for a tool the schemas of objects."""
    if not isinstance(item, dict) or not all(
        isinstance(item.get(name), str) for name in needed if name != "inputSchema"
    ):
        return False
    # `outputSchema` may have another type since 2026-07-28: then the full client judges the list.
    schemas = [item[name] for name in ("inputSchema", "outputSchema") if name in item]
    expected = [*schemas, item.get("inputSchema")] if "inputSchema" in needed else []
    return all(isinstance(schema, dict) and schema.get("type") == "object" for schema in expected)
