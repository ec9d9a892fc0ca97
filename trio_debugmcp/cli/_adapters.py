"""`--adapters FILE`: tables of debug adapters that a user adds to ours."""

import argparse
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from trio_debugmcp.home import expanded

if TYPE_CHECKING:
    from trio_debugmcp.dap.profiles import Profile

log = logging.getLogger(__name__)


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
    return expanded(configuration) / "trio-debugmcp" / "adapters.toml"


def tables_files(arguments: argparse.Namespace) -> list[Path]:
    """Return the files of tables that count: the user's own, and those of the option."""
    always = users_file()
    return [*([always] if _is_there(always) else []), *arguments.adapters]


def _is_there(file: Path) -> bool:
    """Return whether a file can be found; one in a directory that may not be searched is as good as none."""
    try:
        file.stat()
    except PermissionError as error:
        log.warning("%s is not read: %s", file, error.strerror)
        return False
    except OSError:
        return False
    return True


def known_profiles(arguments: argparse.Namespace) -> "tuple[Profile, ...]":
    """Return the debug adapters that are known with these arguments.

    Raises:
        UsageError: `INVALID_PARAMETER`: a file cannot be read, or something in it is wrong.
    """
    from trio_debugmcp.dap.profiles import profiles_with

    return profiles_with(tables_files(arguments))
