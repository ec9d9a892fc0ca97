"""`--patience FACTOR`: how much longer than usual peers are waited for; from the command line or a variable."""

import argparse
import os

from trio_debugmcp.patience import MAX_FACTOR, Patience

VARIABLE = "TRIO_DEBUGMCP_PATIENCE"
"""For a whole machine that is slow, and for servers that a host starts whose configuration is not at hand."""


def add_patience_option(parser: argparse.ArgumentParser, peers: str) -> None:
    """Add the option, which multiplies every wait for these peers."""
    parser.add_argument(
        "--patience",
        type=_patience,
        default=os.environ.get(VARIABLE) or "1",
        metavar="FACTOR",
        help=f"on a slow or busy machine: wait so many times as long for {peers} (also in {VARIABLE}; default 1)",
    )


def _patience(text: str) -> Patience:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= MAX_FACTOR:
        where = f" (it stands in the variable {VARIABLE})" if text == os.environ.get(VARIABLE) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is not a factor between 1 and {MAX_FACTOR:g}{where}")
    return Patience(value)
