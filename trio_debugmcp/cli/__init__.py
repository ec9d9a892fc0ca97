"""The command line, one file per command. Importing a command imports nothing that only its run needs."""

import argparse
import sys
from collections.abc import Sequence

from trio_debugmcp import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 usage. Without a command it is `serve`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version")):
        arguments.insert(0, "serve")
    parsed = _parser().parse_args(arguments)
    return int(parsed.run(parsed))


def _parser() -> argparse.ArgumentParser:
    from trio_debugmcp.cli import adapters, demo, inspect, replay, serve, watch

    parser = argparse.ArgumentParser(
        prog="trio-debugmcp",
        description="A real debugger for LLM agents, over the Model Context Protocol.",
        epilog="Without a command: serve, on standard input and output. This is what an MCP host starts.",
    )
    parser.add_argument("--version", action="version", version=f"trio-debugmcp {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, adapters, inspect, watch, replay, demo):
        command.add_parser(commands)
    return parser
