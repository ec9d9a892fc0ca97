"""What `serve` and `replay` have in common: how clients connect, with which tokens, and where logs go."""

import argparse
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trio_debugmcp.cli._logs import add_log_options
from trio_debugmcp.cli._output import failed
from trio_debugmcp.cli._tokens import CONTROL_VARIABLE, OBSERVE_VARIABLE, given_token
from trio_debugmcp.cli._unmet_needs import Need, unmet_need
from trio_debugmcp.errors import leaf

if TYPE_CHECKING:
    from trio_debugmcp.server_options import Network, Options
    from trio_debugmcp.transports.gate import AllowedHost

MAX_LINGER_SECONDS = 86400
"""A day. For a session that is to outlive its client for longer, a client must stay connected."""

AT_A_TERMINAL = (
    "This is an MCP server, which a host starts and speaks JSON-RPC with; Ctrl-C ends it. To see it at work: "
    "trio-debugmcp demo. All commands: trio-debugmcp --help"
)
"""For a person who starts it by hand, to whom it would say nothing."""

TOKEN_OPTIONS = ("--token", "--token-file", "--observe-token", "--observe-token-file")

PORTS = ("--ws", "--http", "--dap")

_LINGER_SECONDS, _IDLE_SECONDS = 120.0, 1800.0

_NO_TOKENS = ": standard input and output have no tokens"

_NEEDS = (
    Need("--no-stdio", (*PORTS, "--kept")),
    Need("--once", ("--kept",)),
    Need("--idle", ("--kept",), usual=_IDLE_SECONDS),
    Need("--page-sources", ("--ws",), ", which serves the dashboard"),
    Need("--allow-host", ("--ws", "--http"), ": only requests of HTTP have the name of a host"),
    *(Need(option, PORTS, _NO_TOKENS) for option in TOKEN_OPTIONS),
    Need("--linger", (*PORTS, "--kept"), ": no other client can come by standard input and output", _LINGER_SECONDS),
)
"""The variables may be set for every command, so they are not among them; and a certificate counts in `serve` where
programs dial in, too."""

HOSTS_VARIABLE = "TRIO_DEBUGMCP_ALLOW_HOST"


def add_transport_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `serve` and `replay` share: how clients connect, and where logs go."""
    network = parser.add_argument_group("network")
    network.add_argument(
        "--ws",
        type=_address,
        metavar="[HOST:]PORT",
        help="also listen for MCP over WebSocket, and serve the dashboard page on the same port (0 picks one)",
    )
    network.add_argument(
        "--http",
        type=_address,
        metavar="[HOST:]PORT",
        help="also serve MCP Streamable HTTP at /mcp",
    )
    network.add_argument(
        "--dap",
        type=_address,
        metavar="[HOST:]PORT",
        help="also let editors join debug sessions, by the Debug Adapter Protocol (0 picks a port)",
    )
    network.add_argument("--no-stdio", action="store_true", help="network transports only")
    _add_kept_options(network)
    _add_access_options(network)
    network.add_argument(
        "--linger",
        type=float,
        default=_LINGER_SECONDS,
        metavar="SECONDS",
        help="seconds to keep the session after its client has disconnected, if others are connected "
        "(default %(default)g)",
    )
    network.add_argument(
        "--tls-cert",
        metavar="FILE",
        help="serve https://, wss:// and DAP over TLS with this certificate (PEM), and so the port of debug_listen",
    )
    network.add_argument("--tls-key", metavar="FILE", help="and this key")
    network.add_argument("--page-sources", action="store_true", help="serve the page's files one by one, to work on it")
    add_log_options(parser)


def _add_kept_options(network: "argparse._ArgumentGroup") -> None:
    network.add_argument(
        "--kept",
        metavar="DIR",
        help="be the server that `trio-debugmcp call` finds for the project in this directory; it starts one by itself",
    )
    network.add_argument(
        "--idle",
        type=float,
        default=_IDLE_SECONDS,
        metavar="SECONDS",
        help="with --kept: end so long after the last call (default %(default)g)",
    )
    network.add_argument("--once", action="store_true", help="with --kept: end with the last program")


def _add_access_options(network: "argparse._ArgumentGroup") -> None:
    network.add_argument(
        "--allow-host",
        action="append",
        metavar="NAME[:PORT]",
        help="answer requests for this name too, such as a proxy's or a Service's; may be repeated; also in "
        f"{HOSTS_VARIABLE}, with commas",
    )
    network.add_argument(
        "--token",
        metavar="TOKEN",
        help="for clients with full control; other users can see command lines, so rather pass it in a file, or in the "
        f"variable {CONTROL_VARIABLE} (default: a random one)",
    )
    network.add_argument("--token-file", type=Path, metavar="FILE", help="read that token from a file")
    network.add_argument(
        "--observe-token",
        metavar="TOKEN",
        help=f"for clients that may only observe; also in {OBSERVE_VARIABLE} (default: a random one)",
    )
    network.add_argument("--observe-token-file", type=Path, metavar="FILE", help="read that token from a file")


def network_of(arguments: argparse.Namespace) -> "Network":
    """Return the transports and tokens that the command line asks for.

    Raises:
        ValueError: a token cannot be read, or has characters that are not allowed, or both tokens are the same; what
            is to be allowed is not a name.
    """
    from trio_debugmcp.kept.place import KeptProject
    from trio_debugmcp.server.auth import Tokens
    from trio_debugmcp.server_options import Address, Network

    control, warning = given_token("--token", arguments.token, arguments.token_file, CONTROL_VARIABLE)
    observe, also = given_token(
        "--observe-token", arguments.observe_token, arguments.observe_token_file, OBSERVE_VARIABLE
    )
    for line in filter(None, (warning, also)):
        print(line, file=sys.stderr)
    return Network(
        stdio=not arguments.no_stdio and arguments.kept is None,
        kept=None if arguments.kept is None else KeptProject(arguments.kept, arguments.idle, arguments.once),
        websocket=None if arguments.ws is None else Address(*arguments.ws),
        http=None if arguments.http is None else Address(*arguments.http),
        dap=None if arguments.dap is None else Address(*arguments.dap),
        tokens=Tokens(control, observe),
        certificate=None if arguments.tls_cert is None else (arguments.tls_cert, arguments.tls_key),
        allowed=_allowed_hosts(arguments.allow_host or []),
        page_sources=arguments.page_sources,
    )


def _allowed_hosts(names: list[str]) -> "tuple[AllowedHost, ...]":
    names = names + [name.strip() for name in os.environ.get(HOSTS_VARIABLE, "").split(",") if name.strip()]
    if not names:
        return ()
    from trio_debugmcp.transports.gate import AllowedHost

    try:
        return tuple(map(AllowedHost.parse, names))
    except ValueError as error:
        raise ValueError(f"--allow-host: {error}") from error


def serve_until_done(
    command: str, serve: "Callable[[Options, Network], Awaitable[None]]", options: "Options", network: "Network"
) -> int:
    """Serve until everything has ended, and return the exit code; `serve` is that of `listen`."""
    import trio

    from trio_debugmcp.kept.place import PlaceRefused

    if network.stdio and sys.stdin.isatty():
        print(AT_A_TERMINAL, file=sys.stderr)
    try:
        trio.run(serve, options, network)
    except OSError as error:
        return failed(command, error, 1)
    except ExceptionGroup as group:  # of the nurseries in which a kept server finds its place
        refused, others = group.split(PlaceRefused)
        if refused is None or others is not None:
            raise
        return failed(command, leaf(refused), 1)
    return 0


def transport_misuse(arguments: argparse.Namespace, more: Sequence[Need] = ()) -> str | None:
    """Say which options contradict each other, cannot be met or have no effect; None if they are fine.

    Args:
        arguments: what the command line says.
        more: what further options of the command need.
    """
    if not 0 < arguments.idle <= MAX_LINGER_SECONDS:
        return f"--idle must be between 0 and {MAX_LINGER_SECONDS} seconds"
    if not 0 <= arguments.linger <= MAX_LINGER_SECONDS:
        return f"--linger must be between 0 and {MAX_LINGER_SECONDS} seconds"
    if (arguments.tls_cert is None) != (arguments.tls_key is None):
        return "--tls-cert and --tls-key belong together"
    return unmet_need(arguments, (*_NEEDS, *more))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError("[HOST:]PORT, with a port between 0 and 65535")
    return host.strip("[]") or "127.0.0.1", int(port)
