"""An ASGI application on connections that are ours: hypercorn speaks HTTP, and one connection is one task.

hypercorn's own way to serve ends the whole server at the first connection that fails, and shields what it sends from
being cancelled, however long that takes. So the connections are accepted, guarded and cut off here.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState

from trio_debugmcp.transports.head import HEAD_SECONDS, MAX_HEAD_BYTES

log = logging.getLogger(__name__)

GOODBYE_SECONDS = 3.0
"""For what is being sent when the server ends; as long as a WebSocket has for its closing handshake."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Listeners = Sequence[trio.abc.Listener[Any]]


class _Connections:
    """Those that are open. Whatever happens on one of them ends with it."""

    def __init__(self, app: Application) -> None:
        self._app = ASGIWrapper(app)  # type: ignore[arg-type]
        self._config = _configured()
        self._context = WorkerContext(None)
        self._streams: dict[trio.abc.Stream, None] = {}

    async def receive(self, stream: Any) -> None:
        self._streams[stream] = None
        try:
            await TCPServer(self._app, self._config, self._context, ConnectionState({}), stream)
        except* Exception as errors:  # noqa: BLE001 - hypercorn stumbles over responses that were called off
            log.info("a connection ended badly: %r", errors.exceptions)
        finally:
            del self._streams[stream]
            await trio.aclose_forcefully(stream)

    async def cut_off_when_cancelled(self, over: trio.Event) -> None:
        """Until then wait; and then until it is over, or patience is."""
        try:
            await trio.sleep_forever()
        finally:
            with trio.move_on_after(GOODBYE_SECONDS, shield=True):
                await over.wait()
            for stream in list(self._streams):
                await trio.aclose_forcefully(stream)


def _configured() -> Config:
    config = Config()
    config.errorlog = log
    config.accesslog = None
    config.include_server_header = False
    config.h11_max_incomplete_size = MAX_HEAD_BYTES
    config.ssl_handshake_timeout = HEAD_SECONDS
    return config


async def serve_asgi(
    app: Application, listeners: Listeners, *, task_status: trio.TaskStatus[Any] = trio.TASK_STATUS_IGNORED
) -> None:
    """Serve until cancelled; a peer that does not read holds up the end for `GOODBYE_SECONDS` at most."""
    connections, over = _Connections(app), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connections.cut_off_when_cancelled, over)
        try:
            await trio.serve_listeners(connections.receive, list(listeners), task_status=task_status)
        finally:
            over.set()
