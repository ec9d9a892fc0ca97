"""The log of a server on the command line: its options, and how they are met."""

import argparse
import logging
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

LOG_LEVELS = ("debug", "info", "warning", "error")


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is logged, and where."""
    parser.add_argument("--log-level", choices=LOG_LEVELS, default="warning", help="default: warning")
    parser.add_argument("--log-file", type=Path, metavar="FILE", help="log to a file instead of standard error")
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="show keys, tokens and passwords as they are (default: `<GitHub token, 40 characters>`)",
    )


def configure_logging(arguments: argparse.Namespace) -> None:
    """Set up logging as the command line asks for it.

    Other packages log from `info` on: at `debug` they copy whole messages, secrets included.

    Raises:
        UsageError: `INVALID_PARAMETER`: the file cannot be written.
    """
    level = arguments.log_level.upper()
    try:
        stream = sys.stderr if arguments.log_file is None else open(arguments.log_file, "a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        from trio_debugmcp.errors import UsageError

        sentence = f"--log-file {arguments.log_file} cannot be written: {error.strerror}."
        raise UsageError("INVALID_PARAMETER", sentence) from error
    handler = LogHandler(stream, show_secrets=arguments.show_secrets)
    # MCP clients may lower the level of the package's logger. That must not make this log longer than asked for here.
    handler.setLevel(level)
    logging.getLogger(__name__.partition(".")[0]).setLevel(level)
    logging.basicConfig(
        level="INFO" if level == "DEBUG" else level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[handler],
    )


class LogHandler(logging.StreamHandler[TextIO]):
    """Writes the log without secrets: no part of a record that may have one is kept, whatever becomes of the line."""

    def __init__(self, stream: TextIO, *, show_secrets: bool) -> None:
        super().__init__(stream)
        self._show_secrets = show_secrets
        self._complained = False

    def handle(self, record: logging.LogRecord) -> bool:
        """Write a record, unless a filter refuses it."""
        return super().handle(record if self._show_secrets else _without_secrets(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the name of `logging`)
        """Say once that the log cannot be written, and why. `logging` would print each record, with its arguments."""
        if self._complained:
            return
        self._complained = True
        error = sys.exc_info()[1]
        reason = getattr(error, "strerror", None) or type(error).__name__
        with suppress(OSError, ValueError, AttributeError):  # standard error may be full, closed, or not there
            sys.stderr.write(f"trio-debugmcp: the log cannot be written: {reason}. What follows is not in it.\n")
            sys.stderr.flush()


def _without_secrets(record: logging.LogRecord) -> logging.LogRecord:
    """Return a copy of a record, as a text."""
    from trio_debugmcp.masking.mask import masked

    copied = logging.makeLogRecord(record.__dict__)
    formatter = logging.Formatter()
    if record.exc_info and not record.exc_text:
        copied.exc_text = formatter.formatException(record.exc_info)
    copied.exc_text = masked(copied.exc_text) if copied.exc_text else None
    copied.stack_info = masked(record.stack_info) if record.stack_info else None
    try:
        copied.msg = masked(record.getMessage())
    except (TypeError, ValueError, KeyError):  # arguments that do not fit, of another package
        copied.msg = masked(str(record.msg))
    copied.args, copied.exc_info = None, None
    return copied
