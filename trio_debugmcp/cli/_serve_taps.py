"""What listens in on `serve`: the recorder of `--record`, and the log of what adapters say at `--log-level debug`."""

import argparse
import os
import sys

from msgspec.structs import replace

from trio_debugmcp.recording.recorder import Recorder, open_recorder
from trio_debugmcp.recording.redact import Redactor
from trio_debugmcp.recording.trace import TracingHost
from trio_debugmcp.server_options import Network, Options


def traced(options: Options, network: Network) -> Options:
    """Make a copy of the options that logs what adapters say, without secrets."""
    tokens, settings = network.tokens, options.settings
    known = () if tokens is None else (tokens.control, tokens.observe)
    redactor = Redactor(known, keep_recognized=settings.show_secrets)
    redactor.learn_environment(os.environ)
    return replace(options, settings=replace(settings, host=TracingHost(settings.host, redactor)))


def recorder_of(arguments: argparse.Namespace, options: Options, network: Network) -> Recorder:
    """Open the recorder that the command line asks for.

    Raises:
        FileExistsError: with what to do instead.
    """
    tokens = network.tokens
    try:
        return open_recorder(
            arguments.record,
            argv=sys.argv[1:],
            secrets=() if tokens is None else (tokens.control, tokens.observe),
            keep_recognized=arguments.record_secrets,
            directory=options.settings.directory,
            roots=options.settings.roots,
            debounce=options.quiet,
            max_wait=options.max_wait,
            linger=options.linger,
            tools=arguments.tools,
            patience=options.settings.patience,
            profiles=options.settings.profiles,
        )
    except FileExistsError:
        raise FileExistsError(
            f"--record: {arguments.record} exists already, and a recording is never added to another. "
            "Name a new file, or a directory, in which each start makes a new one; or delete that file."
        ) from None
