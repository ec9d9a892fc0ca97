"""`trio-debugmcp completion`: a script by which a shell completes commands and options."""

import argparse
from importlib import import_module

from trio_debugmcp.cli._output import failed
from trio_debugmcp.installation import with_package

SHELLS = ("bash", "zsh", "fish")


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `completion` to the command line."""
    parser = commands.add_parser(
        "completion",
        help="print the script by which a shell completes commands and options",
        description="Prints a script for the shell, which needs shtab to be made. In ~/.bashrc: "
        'eval "$(trio-debugmcp completion bash)"',
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    try:
        shtab = import_module("shtab")
    except ImportError:
        return failed("completion", f"the script is made by shtab: {with_package('shtab')}", 1)
    from trio_debugmcp.cli import made_parser

    parser, _ = made_parser()
    print(shtab.complete(parser, arguments.shell))
    return 0
