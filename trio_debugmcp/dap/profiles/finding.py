"""`Finder`: where the adapter of a table is on this machine, and in which version.

    finder = Finder(("$GDB_PATH", "gdb"), Version(("{adapter}", "--version"), "14", "older ones do not speak DAP"))
    found = finder.find()       # None, or Found("/usr/bin/gdb", "15.2", None)

A version is asked for by running the adapter, once until the program changes.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.placeholders import filled
from trio_debugmcp.dap.profiles.table_format import Version

_VERSION_SECONDS = 5.0
"""For an adapter to say its version: gdb takes 0.05 from a cold cache 0.3."""

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


class Found(Struct, frozen=True):
    """A place where an adapter is, its version where that is known, and why it cannot be used if so."""

    place: str
    version: str | None = None
    problem: str | None = None


class Finder:
    """Looks for one adapter at the places where it may be."""

    def __init__(self, places: tuple[str, ...], version: Version | None) -> None:
        self._places = places
        self._version = version

    def __repr__(self) -> str:
        return f"<Finder of {' or '.join(self._places)}>"

    def find(self) -> Found | None:
        """Return the first place where the adapter is and works; else the first where it is, and why it does not."""
        first: Found | None = None
        for each in self._places:
            place = _place(each)
            if place is None:
                continue
            found = self._found(place)
            if found.problem is None:
                return found
            first = first or found
        return first

    def _found(self, place: str) -> Found:
        wanted, version = self._version, self._version_of(place)
        if wanted is None or (version is not None and _numbers(version) >= _numbers(wanted.at_least)):
            return Found(place, version)
        which = "does not say its version" if version is None else f"is version {version}"
        return Found(place, version, f"it {which}, and {wanted.at_least} or newer is needed: {wanted.why}")

    def _version_of(self, place: str) -> str | None:
        if self._version is None:
            return None
        command = tuple(str(filled(each, {"adapter": place})) for each in self._version.command)
        try:
            changed = Path(place).stat().st_mtime_ns
        except OSError:
            return None
        return _version_said(command, changed)


def _place(wanted: str) -> str | None:
    """Return the absolute path of a program, which is named by a variable, by its path, or as one on PATH."""
    name: str | None = wanted
    if wanted.startswith("$"):
        name = os.environ.get(wanted[1:])
    elif wanted.startswith("{scripts}"):
        name = wanted.replace("{scripts}", sysconfig.get_path("scripts"), 1)
    found = shutil.which(os.path.expanduser(name)) if name else None
    return None if found is None else os.path.abspath(found)


@lru_cache
def _version_said(command: tuple[str, ...], changed: int) -> str | None:
    """Return the first version that a command prints; asked again when the program has `changed`."""
    try:
        said = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = _NUMBERS.search(said.decode(errors="replace"))
    return found[0] if found else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version))
