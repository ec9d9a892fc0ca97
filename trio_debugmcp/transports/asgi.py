"""Serve an ASGI application: connections are accepted and closed here, hypercorn speaks HTTP on each of them.

hypercorn's own server ends at the first connection that fails, and shields what it sends from cancellation, however
long that takes. Here a connection is one task: an error ends that connection only, and a peer that does not read is
cut off.
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
"""For responses that are being sent when the server ends; as long as for the closing handshake of a WebSocket."""

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Listeners = Sequence[trio.abc.Listener[Any]]


class _Connections:
    """The open connections. An error on one of them ends only that one."""

    def __init__(self, app: Application) -> None:
        self._app = ASGIWrapper(app)  # type: ignore[arg-type]
        self._config = _configured()
        self._context = WorkerContext(None)
        self._streams: dict[trio.abc.Stream, None] = {}

    async def receive(self, stream: Any) -> None:
        self._streams[stream] = None
        try:
            await TCPServer(self._app, self._config, self._context, ConnectionState({}), stream)
        except* Exception as errors:  # noqa: BLE001 - hypercorn raises for responses that were cancelled
            log.info("a connection ended badly: %r", errors.exceptions)
        finally:
            del self._streams[stream]
            await trio.aclose_forcefully(stream)

    async def cut_off_when_cancelled(self, over: trio.Event) -> None:
        """Wait until cancelled; then give the connections `GOODBYE_SECONDS` to end, and close what is left."""
        try:
            await trio.sleep_forever()
        finally:
            # Closing the streams is the only way out of hypercorn's shielded sends.
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
    """Serve until cancelled.

    Resource handling: the listeners are closed, and all connections. A peer that does not read delays the end for at
    most `GOODBYE_SECONDS`.

    Error handling: an exception on a connection is logged and ends that connection.
    """
    connections, over = _Connections(app), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(connections.cut_off_when_cancelled, over)
        try:
            await trio.serve_listeners(connections.receive, list(listeners), task_status=task_status)
        finally:
            over.set()
