"""Which server a command connects to: a URL, a command, or an entry of an mcp.json; and how it is authorised.

    target, options = choose(args, args.words, connect_timeout=10)

The client is imported inside functions: the command line loads this module for `serve` too.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trio_debugmcp.cli._output import UNREACHABLE
from trio_debugmcp.cli._target import Failure, client_options, one_target, pairs
from trio_debugmcp.errors import UsageError

if TYPE_CHECKING:  # `serve` must start without the client
    from trio_debugmcp.client import InspectorOptions, OAuth
    from trio_debugmcp.client.config import ConfiguredServer, Input

CLIENT_SECRET = "TRIO_DEBUGMCP_CLIENT_SECRET"
"""The environment variable with the secret of `--client-id`: other users see a command line."""


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a server of an mcp.json, and those of authorisation."""
    parser.add_argument(
        "--kept", action="store_true", help="the server that is kept for this project: see `trio-debugmcp call`"
    )
    file = parser.add_argument_group("a server of an mcp.json, instead of a URL or a command")
    file.add_argument("--server", metavar="NAME", help="the entry to use (default: the only one)")
    file.add_argument(
        "--config", metavar="FILE", type=Path,
        help="of VS Code, Cursor, Claude or the like (default: .mcp.json, .vscode/mcp.json or .cursor/mcp.json)",
    )  # fmt: skip
    file.add_argument(
        "--input", action="append", default=[], metavar="ID=VALUE",
        help="the value of an ${input:ID} (repeatable); others are asked for on a terminal",
    )  # fmt: skip
    group = parser.add_argument_group("authorisation of an http(s):// URL")
    group.add_argument(
        "--auth", choices=["auto", "new", "stored", "off"], default="auto",
        help="auto: with stored tokens, or in a browser if there is a terminal; new: forget stored tokens first; "
        "stored: never ask; off: no OAuth (default %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--client-id", metavar="ID", help=f"of a client registered beforehand, with its secret in ${CLIENT_SECRET}"
    )
    group.add_argument("--scope", help="what to ask for (default: what the server wants)")
    group.add_argument(
        "--transport", choices=["auto", "http", "sse"], default="auto",
        help="auto takes the old sse for a path that ends in /sse (default %(default)s)",
    )  # fmt: skip


def is_named_by_option(args: argparse.Namespace) -> bool:
    """Whether an option names the server, so that no word does."""
    return bool(args.kept) or args.server is not None or args.config is not None


def choose(args: argparse.Namespace, words: list[str], **more: Any) -> "tuple[str | list[str], InspectorOptions]":
    """The target and the options that the command line means; `more` are further options of the client."""
    options: InspectorOptions = client_options(args, transport=args.transport, oauth=_oauth(args), **more)
    if not is_named_by_option(args):
        target = one_target(words)
    elif words:
        raise Failure("usage", f"--kept, --server and --config name the server; unexpected: {' '.join(words)}")
    elif args.kept:
        target, options = _kept(options)
    else:
        target, options = _from_file(args, options)
    if args.auth == "new" and isinstance(target, str):
        from trio_debugmcp.client.oauth import default_store

        default_store(target).unlink(missing_ok=True)
    return target, options


def has_terminal() -> bool:
    """Whether there is a person to ask: the questions are on standard error, the answers on standard input."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _kept(options: "InspectorOptions") -> "tuple[str, InspectorOptions]":
    from msgspec.structs import replace

    from trio_debugmcp.kept.place import Place, project_root

    place = Place.of(project_root(os.getcwd()))
    try:
        place.check()
    except UsageError as error:
        raise Failure("usage", error.message) from error
    record = place.record()
    if record is None or not record.get("url"):
        sentence = f"no server is kept for {place.project}: a `trio-debugmcp call` starts one"
        raise Failure("unreachable", sentence, UNREACHABLE)
    headers = {**(options.headers or {}), "Authorization": f"Bearer {record['control']}"}
    return f"{record['url'].replace('http', 'ws', 1)}mcp", replace(options, headers=headers)


def _from_file(args: argparse.Namespace, options: "InspectorOptions") -> "tuple[str | list[str], InspectorOptions]":
    from msgspec.structs import replace

    from trio_debugmcp.client.config import ServerConfig, find_config

    inputs = pairs(args.input, "--input")
    try:
        config = ServerConfig.read(args.config or find_config(Path.cwd()))
        server: ConfiguredServer = config.server(
            args.server, lambda field: inputs[field.id] if field.id in inputs else _ask(field)
        )
    except UsageError as error:
        raise Failure("usage", str(error)) from error
    # The file's variables are more specific than those of the shell, and --env more than both.
    options = server.options(replace(options, env=pairs(args.env, "--env")))
    return server.target(), replace(options, env={**os.environ, **(options.env or {})})


def _ask(field: "Input") -> str:
    if not has_terminal():
        raise Failure("usage", f"the server needs {field.description!r}: pass --input {field.id}=VALUE")
    choice = f" ({', '.join(field.options)})" if field.options else ""
    default = f" [{field.default}]" if field.default else ""
    question = f"{field.description}{choice}{default}: "
    while True:
        if field.password:
            from getpass import getpass

            answer = getpass(question, sys.stderr)
        else:
            print(question, end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
            if not line:
                raise Failure("usage", f"no answer for {field.description!r}")
            answer = line.strip()
        answer = answer or field.default or ""
        if answer and (not field.options or answer in field.options):
            return answer


def _oauth(args: argparse.Namespace) -> "OAuth | None":
    if args.auth == "off":
        return None
    from trio_debugmcp.cli._browser import show_page
    from trio_debugmcp.client.oauth import OAuth

    return OAuth(
        open_url=show_page if args.auth != "stored" and has_terminal() else None,
        client_id=args.client_id,
        client_secret=os.environ.get(CLIENT_SECRET),
        scope=args.scope,
    )
