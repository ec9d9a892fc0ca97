"""`trio-debugmcp serve`: the MCP server."""

import argparse
import gc
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trio_debugmcp.cli._adapters import add_adapters_option, known_profiles
from trio_debugmcp.cli._engine import add_engine_option
from trio_debugmcp.cli._logs import configure_logging
from trio_debugmcp.cli._numbers import number_between
from trio_debugmcp.cli._output import failed
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.cli._transport_options import (
    add_transport_options,
    network_of,
    serve_until_done,
    transport_misuse,
)
from trio_debugmcp.cli._unmet_needs import Need
from trio_debugmcp.transports.early_stdio import EarlyStdio

if TYPE_CHECKING:
    from trio_debugmcp.recording.recorder import Recorder
    from trio_debugmcp.server.early_answers import Early
    from trio_debugmcp.server_options import Network, Options

_NEEDS = (Need("--record-secrets", ("--record",)),)


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `serve` and its options to the command line."""
    parser = commands.add_parser(
        "serve",
        help="serve MCP on standard input and output",
        description="Serve MCP on standard input and output until the client disconnects. Logs go to standard error.",
    )
    _add_publishing_options(parser)
    parser.add_argument(
        "--root",
        action="append",
        type=_directory,
        default=[],
        metavar="DIR",
        help="resolve relative paths against it, and confine what may be launched and read to it (repeatable)",
    )
    parser.add_argument(
        "--allow-build",
        action="store_true",
        help="with --root: build programs before they are launched, and run tasks; compilers can read and run anything",
    )
    parser.add_argument(
        "--tools",
        choices=("core", "full"),
        default="core",
        help="list the everyday tools and one that calls any other, or all (default core); all can be called",
    )
    add_adapters_option(parser)
    add_engine_option(parser)
    add_patience_option(parser, "debug adapters, programs and clients that owe an answer")
    parser.add_argument(
        "--no-state",
        action="store_true",
        help="do not keep the last launch and the breakpoints of the project for the next server",
    )
    _add_recording_options(parser)
    add_transport_options(parser)
    parser.set_defaults(run=run)


def _add_recording_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="record the messages of debug adapters and clients in a new file, for `trio-debugmcp replay`; in a "
        "directory, each start makes a file of its own",
    )
    parser.add_argument(
        "--record-secrets",
        action="store_true",
        help="keep in it what looks like a key, a token or a password of the program (default: `[redacted]`)",
    )


def _add_publishing_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--debounce",
        type=number_between(0, 60, "seconds"),
        default=0.3,
        metavar="SECONDS",
        help="publish a changed resource after this many seconds without a further change (default %(default)s)",
    )
    parser.add_argument(
        "--max-wait",
        type=number_between(0, 60, "seconds"),
        default=0.9,
        metavar="SECONDS",
        help="and never later than this after its first unpublished change (default %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve until the client disconnects, and return the exit code."""
    problem = transport_misuse(arguments, _NEEDS)
    if problem is not None:
        return failed("serve", problem)
    gc.disable()  # hundreds of modules come now, and none of them goes again: `listen.serve` enables it
    try:
        return _serve(arguments)
    finally:
        gc.enable()


def _serve(arguments: argparse.Namespace) -> int:
    from trio_debugmcp.errors import UsageError

    try:
        configure_logging(arguments)
        early = _early(arguments)
        options = _options(arguments)
    except UsageError as error:
        return failed("serve", error.message)
    from trio_debugmcp.listen import serve  # and Trio: the first messages are answered meanwhile

    try:
        network = replace(network_of(arguments), early=early)
        recording = _recording(arguments, options, network)
    except (ValueError, FileExistsError) as error:
        return failed("serve", error)
    except OSError as error:
        return failed("serve", f"cannot record to {arguments.record}: {error.strerror}", 1)
    with recording as recorder:
        options = options if recorder is None else options.recorded(recorder)
        if arguments.log_level == "debug":
            options = _traced(options, network)
        return serve_until_done("serve", serve, options, network)


def _early(arguments: argparse.Namespace) -> "Early | None":
    """Begin to answer on standard input and output, if they are served: the rest takes a second to import.

    Not of a server that records: a recording has when each client was answered.
    """
    if arguments.no_stdio or arguments.kept is not None or arguments.record is not None:
        return None
    from trio_debugmcp.server.early_answers import EarlyAnswers

    answers = EarlyAnswers(core_only=arguments.tools == "core")
    stdio = EarlyStdio(answers.answer)
    stdio.start()
    return stdio, answers


def _options(arguments: argparse.Namespace) -> "Options":
    """Return how to serve.

    Raises:
        UsageError: a table of debug adapters cannot be read.
    """
    from trio_debugmcp.server_options import Options
    from trio_debugmcp.session.project_file import path_for
    from trio_debugmcp.session.settings import Settings

    roots: list[str] = arguments.root
    directory = roots[0] if roots else os.getcwd()
    return Options(
        settings=Settings(
            directory=directory,
            roots=tuple(roots),
            profiles=known_profiles(arguments),
            show_secrets=arguments.show_secrets,
            allow_build=arguments.allow_build,
            patience=arguments.patience,
            engine=arguments.engine,
            project_file=None if arguments.no_state else path_for(directory),
            certificate=None if arguments.tls_cert is None else (arguments.tls_cert, arguments.tls_key),
        ),
        quiet=arguments.debounce,
        max_wait=arguments.max_wait,
        core_tools_only=arguments.tools == "core",
        linger=arguments.linger,
    )


def _recording(
    arguments: argparse.Namespace, options: "Options", network: "Network"
) -> AbstractContextManager["Recorder | None"]:
    if arguments.record is None:
        return nullcontext(None)
    from trio_debugmcp.cli._serve_taps import recorder_of

    return recorder_of(arguments, options, network)


def _traced(options: "Options", network: "Network") -> "Options":
    from trio_debugmcp.cli._serve_taps import traced

    return traced(options, network)


def _directory(text: str) -> str:
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is not a directory")
    return str(path)
