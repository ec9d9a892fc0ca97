"""From the command line's wishes to a running server: which transports, who gets in, when it ends.

    serve
     ├─ signals           the first SIGINT or SIGTERM says goodbye to everybody
     ├─ app               the debugger, the hub, the clients
     ├─ WebSocket port    the dashboard's page, and one task per connection
     ├─ HTTP port         hypercorn, and one server per MCP session
     └─ stdio             its client's leaving ends the server, when nobody else is there

Nothing of a transport is imported unless it is asked for.
"""

import gc
import signal
import ssl
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import trio
from msgspec import Struct

from trio_debugmcp.app import App, Options, open_app
from trio_debugmcp.server.auth import Role, Tokens

if TYPE_CHECKING:
    from trio_debugmcp.transports.gate import Gate

COLLECT_EVERY = 50_000
"""Objects made and kept, between two looks for cyclic garbage. A change that is told to hundreds of clients makes that
many for a moment; with Python's 700 they were taken for growth, and a third of a second at a time went into looking."""


class Address(Struct, frozen=True):
    """Where to listen; port 0 picks a free one."""

    host: str
    port: int


class Network(Struct, frozen=True):
    """How to serve: on which transports, and who gets in. `certificate`: its file, and the key's."""

    stdio: bool = True
    websocket: Address | None = None
    http: Address | None = None
    tokens: Tokens | None = None
    certificate: tuple[str, str] | None = None


async def serve(options: Options, network: Network) -> None:
    """Serve until SIGINT or SIGTERM arrives or the client on standard input and output leaves and nobody else is there.

    The second signal ends the process's patience with goodbyes: everything left is killed.

    Raises:
        OSError: a port cannot be had, or a certificate cannot be read.
    """
    tls = None if network.certificate is None else _tls_context(*network.certificate)
    websocket = [] if network.websocket is None else await _listen(network.websocket)
    http = [] if network.http is None else await _listen(network.http)
    tokens = network.tokens or Tokens()
    async with open_app(options) as app, trio.open_nursery() as nursery:

        async def watch_signals(*, task_status: trio.TaskStatus[None]) -> None:
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                task_status.started()
                async for _ in signals:
                    nursery.cancel_scope.cancel(reason="told to stop by a signal")

        await nursery.start(watch_signals)
        _collect_seldom()
        if network.websocket is not None:
            await nursery.start(_serve_websocket, app, tokens, network.websocket, websocket, tls)
        if network.http is not None:
            await nursery.start(_serve_http, app, tokens, network.http, http, tls)
        if network.stdio:
            await _serve_stdio(app)
            if websocket or http:
                await app.clients.wait_dispensable()
            nursery.cancel_scope.cancel(reason="the client has left")


def _collect_seldom() -> None:
    """What has been imported stays for as long as the process, and is not looked at again."""
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY, *gc.get_threshold()[1:])


async def _serve_stdio(app: App) -> None:
    from trio_debugmcp.transports.stdio import open_stdio

    async with open_stdio() as (incoming, outgoing):
        await app.serve_connection(incoming, outgoing, transport="stdio")


async def _serve_websocket(
    app: App,
    tokens: Tokens,
    address: Address,
    listeners: Sequence[trio.SocketListener],
    tls: ssl.SSLContext | None,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    from trio_debugmcp.transports.port import Port, serve_port

    number = _port_of(listeners)
    gate = _gate(address.host, number, tokens, secure=tls is not None)
    url = f"{'http' if tls is None else 'https'}://{_shown(address.host)}:{number}/"
    _announce(f"dashboard: {url}" + (f"#token={tokens.observe}" if tokens.made_observe else " (add #token= and yours)"))
    if tokens.made_control:
        _announce(f"dashboard with control: {url}#token={tokens.control}")
    port = Port(gate, partial(app.serve_connection, transport="websocket"))
    task_status.started()
    await serve_port(port, listeners if tls is None else [_secured(each, tls) for each in listeners])


async def _serve_http(
    app: App,
    tokens: Tokens,
    address: Address,
    listeners: Sequence[trio.SocketListener],
    tls: ssl.SSLContext | None,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    from trio_debugmcp.transports.http import MCP_PATH, HttpApp, serve_http

    number = _port_of(listeners)
    gate = _gate(address.host, number, tokens, secure=tls is not None)
    _announce(f"http: {'http' if tls is None else 'https'}://{_shown(address.host)}:{number}{MCP_PATH}")
    for role, token, made in (
        ("observer", tokens.observe, tokens.made_observe),
        ("control", tokens.control, tokens.made_control),
    ):
        if made:
            _announce(f"http {role} token: {token}")
    async with trio.open_nursery() as nursery:
        http_app = HttpApp(gate, app.open_server, nursery)
        await serve_http(http_app, listeners, tls, task_status=task_status)


async def _listen(address: Address) -> Sequence[trio.SocketListener]:
    try:
        listeners = await trio.open_tcp_listeners(address.port, host=address.host)
    except OSError as error:
        raise OSError(f"cannot listen on {address.host}:{address.port}: {error}") from error
    if address.port:
        return listeners
    for spare in listeners[1:]:  # a name with two addresses would get two port numbers
        await spare.aclose()
    return listeners[:1]


def _port_of(listeners: Sequence[trio.SocketListener]) -> int:
    number: int = listeners[0].socket.getsockname()[1]
    return number


def _tls_context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return context


def _secured(listener: trio.SocketListener, tls: ssl.SSLContext) -> trio.SSLListener[trio.SocketStream]:
    return trio.SSLListener(listener, tls, https_compatible=True)


def _shown(host: str) -> str:
    """The host as a person can open it: the address that means all of them is none to connect to."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _gate(host: str, number: int, tokens: Tokens, *, secure: bool) -> "Gate[Role]":
    """Who is let in there, with a warning if others than this machine can knock."""
    from trio_debugmcp.transports.gate import Gate, is_loopback

    if not is_loopback(host):
        _announce(f"WARNING: other machines can reach {host}. Whoever has the control token runs code as you.")
        if not secure:
            _announce("WARNING: tokens and the program's data travel unencrypted; use --tls-cert and --tls-key.")
    return Gate(host, number, tokens.role_of, tls=secure)


def _announce(line: str) -> None:
    """To the person who starts the server, whatever the log level, and whether or not the log is a file."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201
