"""The tool that gives a person in control the link with which others may watch, and its QR code."""

import re
from typing import Annotated

from msgspec import Meta

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.tools.tool import Params, Tool
from trio_debugmcp.session.debugger import Debugger

_ORIGIN = re.compile(r"https?://[\w.:\[\]-]+")

_QUIET_MODULES = 4
"""Around a QR code, so that it is found: the width that ISO/IEC 18004 asks for."""


class ObserveLink(Params, frozen=True, kw_only=True):
    origin: Annotated[
        str,
        Meta(max_length=200, description="The page's address as its reader has opened it: `http://192.0.2.7:8765`."),
    ]


class ObserverLink(Answer, frozen=True, kw_only=True):
    """The link with the observer token. `qr`: the rows of its QR code, from the top, a slash between; `1` is dark."""

    url: str
    qr: str


async def _link(debugger: Debugger, params: ObserveLink) -> ObserverLink:
    token = debugger.settings.observer_token
    if token is None:
        raise UsageError(
            "NOT_SUPPORTED", "This server has no page to observe with: start it with serve --ws HOST:PORT."
        )
    if _ORIGIN.fullmatch(params.origin) is None:
        raise UsageError(
            "INVALID_PARAMETER",
            "`origin` is not the address of a page: pass one such as http://127.0.0.1:8765, without a path.",
            {"parameter": "origin"},
        )
    url = f"{params.origin}/#token={token()}"
    return ObserverLink(url=url, qr=_qr(url))


def _qr(text: str) -> str:
    import segno  # only here: most sessions are not shared

    code = segno.make_qr(text, error="m")
    return "/".join("".join("1" if dark else "0" for dark in row) for row in code.matrix_iter(border=_QUIET_MODULES))


TOOLS = (
    Tool(
        name="observe_link",
        title="Link for observers",
        description="The link with which others watch this session in a browser, without control, and its QR code.",
        params=ObserveLink,
        run=_link,
        idempotent=True,
        listing="none",
        acts_on="people",
        noted=False,  # its answer has a token, and observers and recordings read the timeline
    ),
)
