"""`trio-debugmcp shell`: one connection to any MCP server, and a prompt: list, call, read, subscribe, watch."""

import argparse

from trio_debugmcp.cli._servers import add_server_options
from trio_debugmcp.cli._target import DEFAULT_TIMEOUT_SECONDS, add_target_options, run_command, seconds

EXAMPLES = """\
examples:
  trio-debugmcp shell http://127.0.0.1:8000/mcp
  trio-debugmcp shell -- npx -y @modelcontextprotocol/server-everything
  echo 'call add a=2 b=3' | trio-debugmcp shell --format json -- my-server

At the prompt: help lists the commands, Tab completes names, arguments and values, also with what the server proposes.
Ctrl-C ends a command, Ctrl-D or quit ends the shell. Changes of subscribed resources are shown above the prompt.

Without a terminal, commands are read line by line, and the first that fails ends the shell with its exit code:
0 ok, 1 usage or unexpected, 3 not authorised, 4 unreachable, 5 tool error or not found.
"""


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `shell` and its options to the command line."""
    parser = commands.add_parser(
        "shell",
        help="explore any MCP server at a prompt",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "words", nargs="*", metavar="TARGET", help="an http(s):// or ws(s):// URL, or a server command after --"
    )
    parser.add_argument(
        "--timeout", type=seconds, default=DEFAULT_TIMEOUT_SECONDS, metavar="S",
        help="seconds for the connection, and for a request without progress (default %(default)g)",
    )  # fmt: skip
    parser.add_argument(
        "--format", choices=["text", "json"], default="text",
        help="text: for people; json: one line for each result (default text)",
    )  # fmt: skip
    parser.add_argument(
        "--verbose", action=argparse.BooleanOptionalAction,
        help="progress, log messages and the server's standard error on standard error (default: on a terminal)",
    )  # fmt: skip
    parser.add_argument(
        "--root", action="append", default=[], metavar="DIR",
        help="a directory that the server may know (repeatable; default: asked for on a terminal, else none)",
    )  # fmt: skip
    add_target_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run, many_words=())


def run(args: argparse.Namespace) -> int:
    """Connect and read commands until the end of the input; returns the exit code."""
    from trio_debugmcp.cli.shell.session import serve_person

    return run_command(lambda: serve_person(args))
