"""The command line, one file per command. Importing a command imports nothing that only its run needs."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from trio_debugmcp import __version__
from trio_debugmcp.cli._output import INTERRUPTED
from trio_debugmcp.cli._usage import UsageParser

COMMANDS = (
    *("serve", "call", "adapters", "setup", "doctor", "skill", "vsix"),
    *("inspect", "watch", "shell", "relay", "replay", "scenario", "demo", "completion"),
)
"""In the order of the help. A command `x` is the module `x` of this package; only the one that is run is imported."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 usage. Without a command it is `serve`.

    `inspect` and `watch` have more exit codes, see `_target`.
    """
    if (problem := _unsupported(sys.platform)) is not None:
        print(f"trio-debugmcp: {problem}", file=sys.stderr)
        return 1
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help", "--version")):
        arguments.insert(0, "serve")
    for stream in (sys.stdout, sys.stderr):  # not every terminal has every character
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):  # of a stream whose descriptor is another one by now; it is set all the same
                stream.reconfigure(errors="backslashreplace")
    try:
        parsed = _parse(arguments)
        return int(parsed.run(parsed))
    except KeyboardInterrupt:  # while the rest of the program was imported; a command that runs sees to it itself
        return INTERRUPTED
    except AttributeError as failure:
        if isinstance(failure.__context__, KeyboardInterrupt):  # which argparse's own cleanup fails at
            return INTERRUPTED
        raise
    except BrokenPipeError:  # the reader of standard output has left, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter fails at its end
        return 1


def _unsupported(platform: str) -> str | None:
    """Say why nothing runs on a platform; None where all does. First of all: later it would be a missing module."""
    if platform in ("win32", "cygwin"):
        return (
            "Windows is not supported. Use it in WSL (wsl --install), where the program must run, too; or start a "
            "server on the Linux machine that has the program, and connect to that (docs/remote.md)."
        )
    return None


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser, commands = made_parser(arguments[:1] if arguments[0] in COMMANDS else COMMANDS)
    parser.chosen = chosen = commands.choices.get(arguments[0])
    parse = chosen.get_default("parse") if chosen is not None else None
    return parser.parse_args(arguments) if parse is None else parse(arguments[1:])


def made_parser(
    names: Sequence[str] = COMMANDS,
) -> "tuple[UsageParser, argparse._SubParsersAction[UsageParser]]":
    """Return the parser of these commands, and its commands."""
    parser = UsageParser(
        prog="trio-debugmcp",
        description="A real debugger for LLM agents, over the Model Context Protocol.",
        epilog="Without a command: serve, on standard input and output. This is what an MCP host starts.",
    )
    parser.add_argument("--version", action="version", version=f"trio-debugmcp {__version__}")
    parser.commands = COMMANDS
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        import_module(f"{__name__}.{name}").add_parser(commands)
    return parser, commands
