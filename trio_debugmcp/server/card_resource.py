"""The resource `ui://trio-debugmcp/stop`: the page of the card, for clients that draw cards.

if is_card(ctx, uri):
return read_card()
"""

from functools import cache
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from trio_debugmcp.server.declared import CARDS_EXTENSION

MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://trio-debugmcp/stop"

Context = ServerRequestContext[Any, Any]

META = {
    # Empty lists: nothing is loaded from anywhere. The host draws the border, so that all cards of a chat look alike.
    "ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}
}

LISTED = {
    "uri": URI,
    "name": "stop-card",
    "title": "A stop of the program",
    "description": "Draws where the program is: source, stack, locals, output, and buttons to step.",
    "mimeType": MIME_TYPE,
    "_meta": META,
}


def shows_cards(ctx: Context) -> bool:
    """Return whether the client of a request has declared that it draws cards. In both eras it does so itself."""
    capabilities = ctx.session.client_capabilities
    declared = (capabilities.extensions or {}).get(CARDS_EXTENSION) if capabilities is not None else None
    mime_types = declared.get("mimeTypes") if declared is not None else None
    return isinstance(mime_types, list) and MIME_TYPE in mime_types


def is_card(ctx: Context, uri: str) -> bool:
    """Return whether a resource is the card, for a client that draws cards."""
    return uri == URI and shows_cards(ctx)


def read_card() -> types.ReadResourceResult:
    """Return the page, with what hosts are to know of it."""
    content = types.TextResourceContents(uri=URI, mime_type=MIME_TYPE, text=_html(), _meta=META)
    return types.ReadResourceResult(contents=[content])


@cache
def _html() -> str:
    """Return the page, which changes with the installed version of this package only."""
    # Imported at the first use: a start on plain stdio needs no page.
    from trio_debugmcp.transports.bundle import bundled
    from trio_debugmcp.transports.pages import DASHBOARD

    return bundled(DASHBOARD / "card" / "card.html")
