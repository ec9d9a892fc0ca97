"""The address of a page: what a user means by it, and whether there is a page."""

import http.client
import ssl
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

import trio
from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.debugger import Debugger

_ANSWER_SECONDS = 10.0
"""For a server to begin its answer: a dev server compiles first."""

_PORTS = {"http": 80, "https": 443}


class PageAddress(Struct, frozen=True):
    """A page's URL, and where it is asked for."""

    url: str
    host: str
    port: int


def page_address(url: str) -> PageAddress:
    """Return what a user means by a URL; without a scheme it is http.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    whole = url if "://" in url else f"http://{url.removeprefix('//')}"
    try:
        parts: SplitResult = urlsplit(whole)
        port = parts.port
    except ValueError as error:
        raise UsageError("INVALID_PARAMETER", f"'{url}' is not a URL: {error}.", {"parameter": "url"}) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError(
            "INVALID_PARAMETER",
            f"'{url}' is not the URL of a page: pass one such as http://localhost:5173/, or an HTML file as `program`.",
            {"parameter": "url"},
        )
    return PageAddress(whole, parts.hostname, port or _PORTS[parts.scheme])


async def check_page(debugger: Debugger, page: PageAddress, advice: str) -> list[str]:
    """Check that a page is at an address; return notes about it. `advice`: what to do if nothing listens there.

    Raises:
        UsageError: `LAUNCH_FAILED`: nothing listens there; `INVALID_PARAMETER`: what is there is not a page.
    """

    async def ask() -> list[object]:
        seconds = debugger.patience.seconds(_ANSWER_SECONDS)
        return [*await trio.to_thread.run_sync(_answer, page.url, seconds, abandon_on_cancel=True)]

    status, kind, problem = await debugger.host.find_out(f"page at {page.url}", ask)
    if problem:
        raise UsageError("LAUNCH_FAILED", f"No page at {page.url}: {problem}. {advice}", {"url": page.url})
    if isinstance(status, int) and status >= 400:
        return [f"the server answers {status} for {page.url}"]
    if kind and "html" not in str(kind):
        raise UsageError(
            "INVALID_PARAMETER",
            f"{page.url} is not a page: it is {kind}. Pass the URL of the page that loads it.",
            {"parameter": "url", "type": kind},
        )
    return []


def _answer(url: str, seconds: float) -> tuple[int, str, str]:
    """Return status and type of what is at a URL, and what is wrong if nothing is; a proxy is not asked."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme in getproxies() and not proxy_bypass(host) and host not in ("localhost", "127.0.0.1", "::1"):
        return 0, "", ""
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        # Only whether there is a page is asked; whether its certificate is trusted, the browser decides.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=seconds)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"Accept": "text/html,*/*"})
        response = connection.getresponse()
        return response.status, response.headers.get_content_type() if response.headers["Content-Type"] else "", ""
    except ConnectionRefusedError:
        return 0, "", "nothing listens there"
    except (OSError, http.client.HTTPException) as error:
        return 0, "", str(error) or type(error).__name__
    finally:
        connection.close()
