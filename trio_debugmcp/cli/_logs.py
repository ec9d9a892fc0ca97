"""The log of a server on the command line: its options, and how they are met."""

import argparse
import logging
from pathlib import Path

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
    """
    level = arguments.log_level.upper()
    logging.getLogger(__name__.partition(".")[0]).setLevel(level)
    logging.basicConfig(
        level="INFO" if level == "DEBUG" else level,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        filename=arguments.log_file,
    )
    # MCP clients may lower the level of the package's logger. That must not make this log longer than asked for here.
    for handler in logging.getLogger().handlers:
        handler.setLevel(level)
        if not arguments.show_secrets:
            handler.setFormatter(_MaskingFormatter(handler.formatter))


class _MaskingFormatter(logging.Formatter):
    """Another formatter's lines, without secrets."""

    def __init__(self, inner: logging.Formatter | None) -> None:
        super().__init__()
        self._inner = inner or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        from trio_debugmcp.masking.mask import masked

        return masked(self._inner.format(record))
