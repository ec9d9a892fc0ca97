"""`ClientRoots`: the directories that a client works in, asked for by `roots/list`, for the tools that take paths.

Hosts start servers in any directory, and tell by their roots where the project is. They are asked once, at the first
call of a tool, and again when the client says that they have changed. Clients of the modern era have no roots.
"""

import logging
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types
import trio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError

from trio_debugmcp.server.tools.paths import CLIENT_ROOTS
from trio_debugmcp.session.debugger import Debugger

log = logging.getLogger(__name__)

ROOTS_SECONDS = 3.0
"""For a client to name its roots, which it has at hand. One that does not answer has none."""

MAX_ROOTS = 16

Context = ServerRequestContext[Any, Any]


class ClientRoots:
    """The roots of the client of one connection."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._roots: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        return f"<ClientRoots {self._roots}>"

    async def middleware(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Serve one message; calls of tools know the roots."""
        if ctx.method != "tools/call" or self._debugger.settings.roots:  # a server that is confined has its own
            return await call_next(ctx)
        if self._roots is None:
            self._roots = await self._asked(ctx)
        token = CLIENT_ROOTS.set(self._roots)
        try:
            return await call_next(ctx)
        finally:
            CLIENT_ROOTS.reset(token)

    async def forget(self, ctx: Context, params: types.NotificationParams | None) -> None:
        """Ask again at the next call: the client has said that its roots have changed."""
        self._roots = None

    async def _asked(self, ctx: Context) -> tuple[str, ...]:
        capabilities = ctx.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return ()
        try:
            with trio.fail_after(self._debugger.patience.seconds(ROOTS_SECONDS)):
                answer = await ctx.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, trio.TooSlowError, ValueError) as error:  # whatever a client does: its calls are served
            log.info("the client does not name its roots: %r", error)
            return ()
        paths = [path_of(str(root.uri)) for root in answer.roots[:MAX_ROOTS]]
        return tuple(dict.fromkeys(path for path in paths if path is not None and Path(path).is_dir()))


def path_of(uri: str) -> str | None:
    """Return the absolute path of a directory of this machine; None for any other URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or "\0" in path or not path.startswith("/"):
        return None
    return str(Path(path))
