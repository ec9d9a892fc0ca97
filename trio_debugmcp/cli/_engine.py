"""`--engine NAME`: what debugs Python programs; from the command line or a variable."""

import argparse
import os

VARIABLE = "TRIO_DEBUGMCP_ENGINE"
"""For servers that a host starts whose configuration is not at hand."""

ENGINES = ("auto", "own", "pydevd")


def add_engine_option(parser: argparse.ArgumentParser) -> None:
    """Add the option; its default is that of the machine, or auto."""
    parser.add_argument(
        "--engine",
        type=_engine,
        default=os.environ.get(VARIABLE) or "auto",
        metavar="NAME",
        help="what debugs Python programs: own, the engine of this project, which CPython 3.12 and newer can have, or "
        f"pydevd; auto: own for CPython 3.12 and 3.13 (also in {VARIABLE}; default auto)",
    )


def _engine(text: str) -> str:
    if text not in ENGINES:
        where = f" (it stands in the variable {VARIABLE})" if text == os.environ.get(VARIABLE) else ""
        raise argparse.ArgumentTypeError(f"{text!r} is none of auto, own and pydevd{where}")
    return text
