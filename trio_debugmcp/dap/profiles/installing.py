"""How the adapter of a table is installed: the way that fits this machine, and the command that a person types.

    way = way_here(table)               # Install(pip="bash-dap"), None if there is no way
    command_for("bash-dap", table)      # "trio-debugmcp adapters --install bash-dap"

What takes several steps is done by `trio-debugmcp adapters --install NAME`, for which `cli/_install.py` has the code.
"""

import hashlib
import shutil
from collections.abc import Sequence

from trio_debugmcp.dap.profiles.finding import adapters_directory, is_ours
from trio_debugmcp.dap.profiles.tables.table_format import Install, Table

MADE_BY = ".made-by"
"""The file beside an adapter that was made of what was fetched: by which steps, as `steps_of` has them."""


def ways_of(table: Table) -> tuple[Install, ...]:
    """Return every way to install an adapter, the preferred ones first."""
    return (table.install,) if isinstance(table.install, Install) else table.install


def way_here(table: Table) -> Install | None:
    """Return the first way whose installer this machine has; without one, the first."""
    ways = ways_of(table)
    return next((way for way in ways if not absent_installers(way)), ways[0] if ways else None)


def absent_installers(way: Install) -> list[str]:
    """Return the programs that install something, are needed for this way, and are not on PATH."""
    npm = None if isinstance(way.apt, dict) and "npm" in way.apt else way.npm or way.npm_pack  # which apt can bring
    wanted = {"apt-get": system_packages(way), "brew": way.brew, "npm": npm}
    return [program for program, what in wanted.items() if what and not shutil.which(program)]


def system_packages(way: Install) -> list[str]:
    """Return the packages of apt that a way takes on this machine."""
    if isinstance(way.apt, dict):
        return [package for program, what in way.apt.items() if not shutil.which(program) for package in what.split()]
    return [] if way.apt is None else way.apt.split()


def command_for(name: str, table: Table) -> str:
    """Return the command that installs an adapter here; of several ways that are all absent, each."""
    ways = ways_of(table)
    here = [way for way in ways if not absent_installers(way)]
    return " or ".join(_in_words(name, way) for way in here[:1] or ways)


def _in_words(name: str, way: Install) -> str:
    """Return one way as a command line: as people know it, if there is one that does all of it."""
    if way.command is not None:
        return way.command
    several = isinstance(way.apt, dict) or way.npm or way.npm_pack or way.then
    plain = [f"{words} {getattr(way, what)}" for words, what in _PLAIN if getattr(way, what) is not None]
    if len(plain) == 1 and not several:
        return plain[0]
    return f"trio-debugmcp adapters --install {name}"


def steps_of(way: Install) -> str:
    """Return what differs where an adapter is made of something else, or by other steps."""
    return hashlib.sha256(repr((way.npm_pack, way.unpack, way.then)).encode()).hexdigest()


def is_made_otherwise(name: str, place: str, table: Table) -> bool:
    """Whether an adapter of an earlier installation was made by other steps than those of now, in whichever version."""
    now = [steps_of(way) for way in ways_of(table) if way.then]
    if not now or not is_ours(place):
        return False
    try:
        return (adapters_directory() / name / MADE_BY).read_text() not in now
    except (OSError, UnicodeDecodeError):
        return True


_PLAIN: Sequence[tuple[str, str]] = (
    ("apt-get install", "apt"),
    ("brew install", "brew"),
)
