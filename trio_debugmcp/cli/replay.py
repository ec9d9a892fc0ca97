"""`trio-debugmcp replay`: serves a recording in the place of a debugger."""

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trio_debugmcp.cli._logs import configure_logging
from trio_debugmcp.cli._numbers import number_between
from trio_debugmcp.cli._output import failed
from trio_debugmcp.cli._patience import add_patience_option
from trio_debugmcp.cli._transport_options import (
    PORTS,
    add_transport_options,
    network_of,
    serve_until_done,
    transport_misuse,
)
from trio_debugmcp.cli._unmet_needs import Need
from trio_debugmcp.patience import Patience

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile
    from trio_debugmcp.recording.format import Header
    from trio_debugmcp.server_options import Options

MAX_SPEED = 1000.0

_NEEDS = (Need("--tls-cert", PORTS, ": no program dials in to a recording"),)

log = logging.getLogger(__name__)


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the parser of `replay` to the commands."""
    parser = commands.add_parser(
        "replay",
        help="serve a recording of `serve --record`, with no debugger installed",
        description="Serve a recording: the same resources, notifications and answers, without a debugger. It is "
        "played once, when the first client makes a request; then the server continues until its client disconnects.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="made by `trio-debugmcp serve --record FILE`")
    parser.add_argument(
        "--speed",
        type=number_between(0, MAX_SPEED),
        default=1.0,
        metavar="X",
        help="1: as recorded (default); 2: twice as fast; 0: as fast as possible",
    )
    parser.add_argument(
        "--drive",
        action="store_true",
        help="let the client make the recorded calls, and give it the recorded answers, instead of making them for it",
    )
    add_patience_option(parser, "the clients; for debug adapters the recorded server's patience counts")
    add_transport_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Replay until the client disconnects; returns the exit code."""
    problem = transport_misuse(arguments, _NEEDS)
    if problem is not None:
        return failed("replay", problem)
    from trio_debugmcp.dap.profiles import recorded_profiles
    from trio_debugmcp.errors import UsageError
    from trio_debugmcp.listen import serve
    from trio_debugmcp.recording.format import NotARecording, read_recording
    from trio_debugmcp.replay.replaying import Replay

    try:
        configure_logging(arguments)
        network = network_of(arguments)
        recording = read_recording(arguments.file)
        profiles = recorded_profiles(recording.header.adapters, recording.header.tables or {}, str(arguments.file))
        replay = Replay(recording, arguments.patience, speed=arguments.speed, drive=arguments.drive, report=_report)
    except NotARecording as error:
        return failed("replay", f"{arguments.file} cannot be replayed: {error}.")
    except UsageError as error:
        return failed("replay", error.message)
    except ValueError as error:
        return failed("replay", error)
    except OSError as error:
        return failed("replay", f"{arguments.file} cannot be read: {error.strerror}")
    if recording.torn:
        _report("the last line of the recording is torn: the server that wrote it was killed. The rest is played.")
    options = options_of(recording.header, profiles, arguments)
    return serve_until_done("replay", serve, options.replayed(replay), network)


def options_of(header: "Header", profiles: "tuple[Profile, ...]", arguments: argparse.Namespace) -> "Options":
    """Return the options of the server that was recorded; how long a session lingers, and what is masked, is asked."""
    from trio_debugmcp.server_options import Options
    from trio_debugmcp.session.settings import Settings

    return Options(
        settings=Settings(
            directory=header.directory,
            roots=tuple(header.roots),
            profiles=profiles,
            show_secrets=arguments.show_secrets,
            patience=Patience(header.patience),
        ),
        quiet=header.debounce,
        max_wait=header.max_wait,
        core_tools_only=header.tools == "core",
        linger=arguments.linger,
    )


def _report(sentence: str) -> None:
    """Print a sentence for the person who replays, and log it."""
    print(f"trio-debugmcp replay: {sentence}", file=sys.stderr, flush=True)
    log.info("%s", sentence)
