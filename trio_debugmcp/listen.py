"""Open the transports that the command line asks for, and serve until a signal or the end of standard input.

    serve
     ├─ signals           the first SIGINT or SIGTERM closes all connections and sessions gracefully
     ├─ app               the debugger, the hub, the clients
     ├─ WebSocket port    the dashboard's page, and one task per connection
     ├─ HTTP port         one server per MCP session
     ├─ DAP port          one task tree per editor
     ├─ Unix socket       of a server that is kept for a project's shells; ends the server when no call comes any more
     └─ stdio             when its client disconnects the server ends, unless other clients are connected

The modules of a transport are imported only if it is asked for, which keeps the start on plain stdio quick.
"""

import errno
import gc
import os
import ssl
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from msgspec import Struct
from msgspec.structs import replace

from trio_debugmcp import __version__
from trio_debugmcp.app import App, open_app
from trio_debugmcp.descriptors import open_files
from trio_debugmcp.ending_signals import cancel_at_signal
from trio_debugmcp.kept.place import KeptProject, Place
from trio_debugmcp.sdk_import import import_sdk
from trio_debugmcp.server.auth import Role, Tokens
from trio_debugmcp.server.early_answers import Early
from trio_debugmcp.server_options import Address, Network, Options
from trio_debugmcp.transports.early_stdio import Handover

if TYPE_CHECKING:
    from trio_debugmcp.editors.editor_listener import EditorDoor
    from trio_debugmcp.transports.admission import Admission, Visitor
    from trio_debugmcp.transports.gate import AllowedHost, Gate
    from trio_debugmcp.transports.kept_socket import KeptCalls
    from trio_debugmcp.transports.port import Port

COLLECT_EVERY = 50_000
"""Objects created between two runs of the garbage collector. A change that notifies hundreds of clients creates that
many for a moment; Python's default threshold of 700 triggered full collections of a third of a second."""


class _Endpoint(Struct, frozen=True):
    """A port that is listened on, before a transport serves there."""

    host: str
    listeners: Sequence[trio.SocketListener]
    tls: ssl.SSLContext | None
    allowed: "tuple[AllowedHost, ...]"

    @property
    def number(self) -> int:
        number: int = self.listeners[0].socket.getsockname()[1]
        return number

    @property
    def origin(self) -> str:
        return f"{'http' if self.tls is None else 'https'}://{_shown(self.host)}:{self.number}"

    def gate(self, tokens: Tokens) -> "Gate[Role]":
        """Make the gate in front of it, and warn if other machines can connect."""
        from trio_debugmcp.transports.gate import Gate

        self.warn()
        return Gate(self.host, tokens.role_of, tls=self.tls is not None, allowed=self.allowed)

    def warn(self) -> None:
        """Warn if other machines can connect."""
        from trio_debugmcp.transports.gate import is_loopback

        if not is_loopback(self.host):
            _announce(f"WARNING: other machines can reach {self.host}. Anyone with the control token runs code as you.")
            if self.tls is None:
                _announce("WARNING: tokens and the program's data travel unencrypted; use --tls-cert and --tls-key.")


async def serve(options: Options, network: Network) -> None:
    """Serve until SIGINT or SIGTERM, or until the client on stdio disconnects and no other client keeps the server.

    Resource handling: a signal, or the end, closes every connection and session gracefully. A second signal skips
    that: it kills the process, and the watchdog kills the adapters and programs. A signal that was ignored at the
    start of the server has no effect on it, and is ignored in the programs as well.

    Raises:
        OSError: a port cannot be listened on, or a certificate cannot be read. With stdio a port that is in use only
            costs a warning.
    """
    tls = None if network.certificate is None else _tls_context(*network.certificate)
    # Before anything else is started: a port that cannot be had is the most frequent mistake.
    websocket = await _listen(network.websocket, network, tls)
    http = await _listen(network.http, network, tls)
    dap = await _listen(network.dap, network, tls)
    tokens = network.tokens or Tokens()
    if websocket is not None:
        options = replace(options, settings=replace(options.settings, observer_token=tokens.observer))
    async with open_app(options) as app, trio.open_nursery() as nursery:
        await nursery.start(cancel_at_signal, nursery.cancel_scope)
        _collect_seldom()
        if websocket is not None or http is not None or dap is not None:
            from trio_debugmcp.transports.admission import Admission, bounds

            admission = Admission(bounds(open_files()))  # one for all ports: they have the same descriptors
        if websocket is not None:
            await nursery.start(_serve_websocket, app, tokens, websocket, admission, network.page_sources)
        if http is not None:
            await nursery.start(_serve_http, app, tokens, http, admission)
        if dap is not None:
            await nursery.start(_serve_dap, app, tokens, dap, admission)
        if network.kept is not None:
            await _serve_kept(app, tokens, websocket, network.kept)
            nursery.cancel_scope.cancel(reason="no call comes any more")
        if network.stdio:
            await _serve_stdio(app, network.early)
            if websocket or http or dap:
                await app.clients.wait_dispensable()
            nursery.cancel_scope.cancel(reason="the client has disconnected")


def _collect_seldom() -> None:
    """Exempt imported modules from garbage collection, which they outlive anyway, and run it less often."""
    gc.freeze()
    gc.enable()  # which `serve` has not had while modules were imported
    gc.set_threshold(COLLECT_EVERY, *gc.get_threshold()[1:])


async def _serve_stdio(app: App, early: Early | None) -> None:
    if early is not None:
        stdio, answers = early
        stdio.add(answers.know_tools(app.tools.listed()))
    import_sdk()
    from trio_debugmcp.server import server  # noqa: F401 (the rest of what it takes, while `early` still answers)
    from trio_debugmcp.transports.stdio import open_stdio

    handover = Handover() if early is None else stdio.hand_over()
    async with open_stdio(handover) as (incoming, outgoing):
        await app.serve_connection(incoming, outgoing, transport="stdio")


async def _serve_kept(app: App, tokens: Tokens, websocket: _Endpoint | None, kept: KeptProject) -> None:
    """Serve calls from shells until none comes any more. They are all one client, who stays while the server does."""
    from trio_debugmcp.server.stop_line import keep_stop_line
    from trio_debugmcp.transports.kept_socket import KeptCalls, bound

    record = {
        "pid": os.getpid(),
        "project": kept.project,
        "version": __version__,
        "python": sys.executable,
        "environment": os.environ.get("VIRTUAL_ENV"),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "idleSeconds": kept.idle_seconds,
        "once": kept.once,
        "url": None if websocket is None else f"{websocket.origin}/",
        "control": tokens.control,
        "observe": tokens.observe,
    }
    async with app.open_shells() as serve_call:
        calls = KeptCalls(serve_call, kept.idle_seconds, lambda: len(app.clients) > 1)  # one is the shells
        with bound(Place.of(kept.project), record) as listener:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keep_stop_line, app.debugger, Place.of(kept.project))
                if kept.once:
                    nursery.start_soon(_end_with_programs, app, calls, nursery.cancel_scope)
                await calls.serve(listener)
                nursery.cancel_scope.cancel(reason="no call has come for a while")


async def _end_with_programs(app: App, calls: "KeptCalls", scope: trio.CancelScope) -> None:
    merger = app.debugger.merger
    while True:
        await merger.wait_until(lambda state: bool(state.snapshots))
        await merger.wait_until(lambda state: not state.snapshots)
        await calls.wait_quiet()
        if not merger.state.snapshots:  # it was the last one, and was not replaced meanwhile
            scope.cancel(reason="the last program has ended")
            return


async def _serve_websocket(
    app: App,
    tokens: Tokens,
    endpoint: _Endpoint,
    admission: "Admission",
    page_sources: bool,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    from trio_debugmcp.transports.accept import accept_connections

    gate = endpoint.gate(tokens)
    url = f"{endpoint.origin}/"
    if tokens.made_observe:
        _announce(f"dashboard to observe: {url}#token={tokens.observe}")
    else:
        _announce(f"dashboard: {url} (add #token= and yours)")
    if tokens.made_control:
        _announce(f"dashboard with control: {url}#token={tokens.control}")

    @cache
    def port() -> "Port":  # imported for the first connection: a server that is kept for shells may never have one
        import_sdk()
        from trio_debugmcp.transports.pages import Pages
        from trio_debugmcp.transports.port import Port

        serve_page = partial(app.serve_connection, transport="websocket")
        return Port(gate, serve_page, Pages(sources=page_sources).find, app.debugger.patience)

    async def receive(stream: trio.abc.Stream, visitor: "Visitor") -> None:
        await port().receive(stream, visitor)

    task_status.started()
    tls = endpoint.tls
    listeners = endpoint.listeners if tls is None else [_secured(each, tls) for each in endpoint.listeners]
    await accept_connections(listeners, admission, receive)


async def _serve_http(
    app: App, tokens: Tokens, endpoint: _Endpoint, admission: "Admission", *, task_status: trio.TaskStatus[None]
) -> None:
    import_sdk()
    from trio_debugmcp.transports.http import MCP_PATH, HttpApp, serve_http

    gate = endpoint.gate(tokens)
    _announce(f"http: {endpoint.origin}{MCP_PATH}")
    for role, token, made in (
        ("observer", tokens.observe, tokens.made_observe),
        ("control", tokens.control, tokens.made_control),
    ):
        if made:
            _announce(f"http {role} token: {token}")
    async with trio.open_nursery() as nursery:
        http_app = HttpApp(gate, app.open_server, nursery)
        task_status.started()
        await serve_http(http_app, endpoint.listeners, admission, endpoint.tls, app.debugger.patience)


async def _serve_dap(
    app: App, tokens: Tokens, endpoint: _Endpoint, admission: "Admission", *, task_status: trio.TaskStatus[None]
) -> None:
    from trio_debugmcp.editors.configuration import vscode_configuration
    from trio_debugmcp.transports.accept import accept_connections

    endpoint.warn()
    host = _shown(endpoint.host).strip("[]")
    tunnel = "" if endpoint.tls is None else " (TLS; editors that speak TCP alone connect through a tunnel to it)"
    _announce(f"dap: {host}:{endpoint.number}{tunnel}")
    _announce(f"launch.json of VS Code: {vscode_configuration(host, endpoint.number, tokens)}")
    door = editor_door(app, tokens)
    task_status.started()
    tls = endpoint.tls
    listeners = endpoint.listeners if tls is None else [_secured(each, tls) for each in endpoint.listeners]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.run)
        await accept_connections(listeners, admission, door.receive)


def editor_door(app: App, tokens: Tokens) -> "EditorDoor":
    """Make the door for editors, which speak DAP."""
    from trio_debugmcp.editors.breakpoints.book import EditorBook
    from trio_debugmcp.editors.editor_listener import EditorDoor
    from trio_debugmcp.editors.tool_caller import EditorContext

    context = EditorContext(app.debugger, app.tools, app.clients, EditorBook(app.debugger), app.tap)
    return EditorDoor(context, tokens.role_of)


async def _listen(address: Address | None, network: Network, tls: ssl.SSLContext | None) -> _Endpoint | None:
    if address is None:
        return None
    try:
        listeners = await trio.open_tcp_listeners(address.port, host=address.host)
    except OSError as error:
        if network.stdio and error.errno == errno.EADDRINUSE:
            # A host starts a server for each chat, by the same command: the second one has a debugger, too.
            _announce(
                f"WARNING: {address.host}:{address.port} is in use, perhaps by the server of another chat. This server "
                "is without it, on standard input and output. Port 0 picks a free one."
            )
            return None
        raise OSError(f"cannot listen on {address.host}:{address.port}: {error}") from error
    if not address.port:
        # A name with two addresses has two listeners, each with another free port: keep one.
        for spare in listeners[1:]:
            await spare.aclose()
        del listeners[1:]
    return _Endpoint(address.host, listeners, tls, network.allowed)


def _tls_context(certificate: str, key: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
        try:
            Path(file).open("rb").close()  # OpenSSL would not say which of them it cannot read
        except OSError as error:
            raise OSError(f"{option} {file} cannot be read: {error.strerror}") from error
    try:
        context.load_cert_chain(certificate, key)
    except ssl.SSLError as error:
        reason = error.reason or error
        raise OSError(f"{certificate} and {key} are not a certificate and its key, as PEM: {reason}") from error
    return context


def _secured(listener: trio.SocketListener, tls: ssl.SSLContext) -> trio.SSLListener[trio.SocketStream]:
    return trio.SSLListener(listener, tls, https_compatible=True)


def _shown(host: str) -> str:
    """The host as a person can open it: a wildcard address cannot be connected to."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _announce(line: str) -> None:
    """Print to standard error, for the person who starts the server, whatever the log level and the log file are."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201
