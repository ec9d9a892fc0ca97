"""The card: a stop drawn in the chat, by the extension MCP Apps (SEP-1865, `io.modelcontextprotocol/ui`).

What hosts that declare the extension see beyond others: the link to the page (`card_resource.py`) in the tools that
answer with a stop, the tools that the card calls, and in `_meta` of an answer what only the card needs. A host that
does not declare it sees nothing of all that.

    cards = Cards(tools, client)
    server.middleware.append(cards.middleware)
"""

from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server

from trio_debugmcp.server.answers.moment import META_KEY, WANTED
from trio_debugmcp.server.answers.seen import SeenLocals
from trio_debugmcp.server.card_resource import LISTED, URI, Context, shows_cards
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.declared import CARDS_EXTENSION, EXTENSIONS
from trio_debugmcp.server.peer import client_name
from trio_debugmcp.server.tools.toolbox import Toolbox

LINKED = frozenset(
    {
        "debug_launch",
        "debug_attach",
        "debug_restart",
        "debug_state",
        "debug_wait",
        "debug_continue",
        "debug_step",
        "debug_pause",
        "debug_run_to",
        "debug_run_until",
        "debug_goto",
    }
)
"""The tools that answer with a stop. Of batch_evaluate it is the smallest part."""

OF_THE_CARD = ("card_state", "card_run")
"""The tools that only the card calls: in the lists for hosts with cards, which keep them from the model."""

MAX_NAMES = 20
"""Clients of one connection whose locals are remembered. Over HTTP, those of the modern era share one."""


def declare_cards(server: Server[dict[str, Any]]) -> None:
    """Declare the extension: a host that negotiates shows cards only of a server that has declared them."""
    server.extensions[CARDS_EXTENSION] = EXTENSIONS[CARDS_EXTENSION]


class Cards:
    """What the clients of one connection see of cards."""

    def __init__(self, tools: Toolbox, client: Client) -> None:
        self._tools = tools
        self._client = client
        self._seen: dict[str | None, SeenLocals] = {}

    def __repr__(self) -> str:
        return f"<Cards of {len(self._seen)} clients>"

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message; the answer to a client that draws cards gets what belongs to them."""
        if not shows_cards(ctx):
            return await call_next(ctx)
        token = WANTED.set(True)
        try:
            result = await call_next(ctx)
        finally:
            WANTED.reset(token)
        if isinstance(result, dict):  # as it goes to the client
            if ctx.method == "tools/list":
                self._link(result)
            elif ctx.method == "resources/list":
                result["resources"] = [*result["resources"], LISTED]
            elif ctx.method == "tools/call":
                self._mark(ctx, result)
        return result

    def _link(self, result: dict[str, Any]) -> None:
        for tool in result["tools"]:
            if tool["name"] in LINKED:
                tool["_meta"] = {**tool.get("_meta", {}), "ui": {"resourceUri": URI}}
        for tool in self._tools.tools:
            if tool.name in OF_THE_CARD and tool.allows(self._client.role):
                result["tools"].append({**tool.listed().wire, "_meta": {"ui": {"visibility": ["app"]}}})

    def _mark(self, ctx: Context, result: dict[str, Any]) -> None:
        """Add to a stop what has changed since the last one that this client has seen."""
        for_card = (result.get("_meta") or {}).get(META_KEY)
        if for_card is None:
            return
        for_card["control"] = self._client.role == "control"
        moment, stop = for_card.get("moment"), for_card["stop"]
        if moment is None:
            return
        name = client_name(ctx)
        seen = self._seen.pop(name, None) or SeenLocals()
        self._seen[name] = seen  # the last one of the dict is the one seen last
        while len(self._seen) > MAX_NAMES:
            del self._seen[next(iter(self._seen))]
        for_card["changed"] = seen.changed(moment, stop)
