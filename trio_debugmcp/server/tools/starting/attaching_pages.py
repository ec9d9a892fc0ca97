"""Which page `debug_attach` means in a browser that was started with `--remote-debugging-port`."""

import http.client
import json
from fnmatch import fnmatchcase

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Attach
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.state.payloads import shortened

_ANSWER_SECONDS = 5.0
"""For a browser to list its pages, which takes milliseconds."""

_MOST_PAGES = 8
"""Pages that an error names."""


async def with_page(debugger: Debugger, start: Attach, url: str | None) -> Attach:
    """Return the attachment to a page whose URL begins so, or fits a pattern with `*`; None: the first page.

    Raises:
        UsageError: `ATTACH_FAILED`: no browser listens, or it has no such page; with those that it has.
    """
    host, port = start.host or "127.0.0.1", start.port or 0

    async def ask() -> list[object]:
        seconds = debugger.patience.seconds(_ANSWER_SECONDS)
        return [*await trio.to_thread.run_sync(_pages, host, port, seconds, abandon_on_cancel=True)]

    pages, problem = await debugger.host.find_out(f"pages at {host}:{port}", ask)
    if problem:
        raise UsageError(
            "ATTACH_FAILED",
            f"No browser at {host}:{port}: {problem}. Start it with --remote-debugging-port={port or 9222}, and with a "
            "--user-data-dir of its own.",
        )
    urls = [str(page) for page in pages] if isinstance(pages, list) else []
    wanted = str(start.options.get("urlFilter") or "*") if url is None else url if "*" in url else f"{url}*"
    if not any(fnmatchcase(page, wanted) for page in urls):
        named = ", ".join(shortened(page) for page in urls[:_MOST_PAGES]) or "none"
        more = f" and {len(urls) - _MOST_PAGES} more" if len(urls) > _MOST_PAGES else ""
        raise UsageError(
            "ATTACH_FAILED",
            f"The browser at {host}:{port} has no page '{wanted}'. Its pages: {named}{more}. Pass the `url` of one.",
            {"pages": urls[:_MOST_PAGES]},
        )
    return replace(start, options={**start.options, "urlFilter": wanted})


def _pages(host: str, port: int, seconds: float) -> tuple[list[str], str]:
    """Return the URLs of the pages of a browser, and what is wrong if none answers."""
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    try:
        connection.request("GET", "/json/list")
        listed = json.loads(connection.getresponse().read())
        return [str(target["url"]) for target in listed if target["type"] == "page"], ""
    except ConnectionRefusedError:
        return [], "nothing listens there"
    except (ValueError, TypeError, KeyError, http.client.HTTPException):
        return [], "what listens there is not a browser"
    except OSError as error:
        return [], str(error)
    finally:
        connection.close()
