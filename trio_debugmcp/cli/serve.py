"""`trio-debugmcp serve`: the MCP server."""

import argparse
import logging
import os
from pathlib import Path

LOG_LEVELS = ("debug", "info", "warning", "error")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command."""
    parser = commands.add_parser(
        "serve",
        help="serve MCP on standard input and output",
        description="Serve MCP on standard input and output until the client leaves. Logs go to standard error.",
    )
    parser.add_argument(
        "--debounce",
        type=_seconds,
        default=0.3,
        metavar="SECONDS",
        help="publish a changed resource when it has been quiet for so long (default 0.3)",
    )
    parser.add_argument(
        "--max-wait",
        type=_seconds,
        default=0.9,
        metavar="SECONDS",
        help="and never later than this after its first unpublished change (default 0.9)",
    )
    parser.add_argument(
        "--root",
        action="append",
        type=_directory,
        default=[],
        metavar="DIR",
        help="resolve relative paths against it, and confine what may be launched and read to it (repeatable)",
    )
    parser.add_argument(
        "--tools",
        choices=("core", "full"),
        default="full",
        help="offer the everyday tools only, or all (default full)",
    )
    parser.add_argument("--log-level", choices=LOG_LEVELS, default="warning", help="default: warning")
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="log to a file instead of standard error")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    import trio

    from trio_debugmcp.app import Options, serve_stdio
    from trio_debugmcp.session.debugger import Settings

    logging.basicConfig(
        level=arguments.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        filename=arguments.log_file,
    )
    for handler in logging.getLogger().handlers:  # MCP clients may ask for more; here is only what was asked for here
        handler.setLevel(arguments.log_level.upper())
    roots: list[str] = arguments.root
    options = Options(
        settings=Settings(directory=roots[0] if roots else os.getcwd(), roots=tuple(roots)),
        quiet=arguments.debounce,
        max_wait=arguments.max_wait,
        core_tools_only=arguments.tools == "core",
    )
    trio.run(serve_stdio, options)
    return 0


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 60:
        raise argparse.ArgumentTypeError("must be between 0 and 60 seconds")
    return value


def _directory(text: str) -> str:
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a directory")
    return str(path)
