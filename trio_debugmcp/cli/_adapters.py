"""`--adapters FILE`: tables of debug adapters that a user adds to ours."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile


def add_adapters_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names files with tables, for commands which know debug adapters."""
    parser.add_argument(
        "--adapters",
        action="append",
        type=Path,
        default=[],
        metavar="FILE",
        help="also know the debug adapters of this TOML file, which is laid over ours (repeatable; always read: "
        "~/.config/trio-debugmcp/adapters.toml)",
    )


def users_file() -> Path:
    """Return the file of tables that is read without being named, if it is there. Those in projects never are."""
    configuration = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(configuration).expanduser() / "trio-debugmcp" / "adapters.toml"


def tables_files(arguments: argparse.Namespace) -> list[Path]:
    """Return the files of tables that count: the user's own, and those of the option."""
    always = users_file()
    return [*([always] if always.exists() else []), *arguments.adapters]


def known_profiles(arguments: argparse.Namespace) -> "tuple[Profile, ...]":
    """Return the debug adapters that are known with these arguments.

    Raises:
        UsageError: `INVALID_PARAMETER`: a file cannot be read, or something in it is wrong.
    """
    from trio_debugmcp.dap.profiles import profiles_with

    return profiles_with(tables_files(arguments))
