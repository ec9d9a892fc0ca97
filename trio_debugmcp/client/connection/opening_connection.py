"""Puts a connection together: its way to the server, its wire, its requests."""

from collections.abc import Callable

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.connection.client_connection import ClientConnection
from trio_debugmcp.client.connection.connection_requests import ConnectionRequests
from trio_debugmcp.client.connection.connection_wire import ConnectionWire, OnNotification
from trio_debugmcp.client.connection.targets import Target, resolve_target
from trio_debugmcp.client.options import InspectorOptions, Roots
from trio_debugmcp.client.state.message_log import MessageLog
from trio_debugmcp.deadlines import Deadlines

__all__ = ["ClientConnection", "Target", "open_connection"]


def open_connection(
    target: Target,
    options: InspectorOptions,
    *,
    log: MessageLog,
    bus: EventBus,
    on_notification: OnNotification,
    on_stderr: Callable[[str], None],
    stderr_tail: Callable[[], str],
    roots: Callable[[], Roots | None],
) -> ClientConnection:
    """Make a connection to `target`, which `serve()` opens.

    Args:
        target: of the client.
        options: of the client.
        log: where messages are logged.
        bus: where they are announced.
        on_notification: called with each notification, in wire order; returns whether the SDK needs it too.
        on_stderr: called with each line of standard error of a server process.
        stderr_tail: returns the last lines of standard error of this connection.
        roots: returns the roots that the server may list, None to have no such capability.

    Raises:
        UsageError: `target` is not one of the kinds that there are.
    """
    deadlines = Deadlines()
    route = resolve_target(target, options, on_stderr, deadlines)
    watch = route.watch
    last_failure = (lambda: watch.last_failure) if watch is not None else (lambda: None)
    wire = ConnectionWire(log, bus, on_notification, last_failure)
    return ClientConnection(ConnectionRequests(route, options, deadlines, wire, stderr_tail), options, roots)
