"""`Finder`: where the adapter of a table is on this machine, and in which version.

    finder = Finder("gdb", table)
    found = finder.find()       # None, or Found("/usr/bin/gdb", "15.2", None)

A version is asked for by running the adapter, once until the program changes.
"""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.placeholders import filled
from trio_debugmcp.dap.profiles.table_format import Table

DIRECTORY_VARIABLE = "TRIO_DEBUGMCP_ADAPTERS_DIR"
"""Names the directory below which adapters are installed, each in one of its own: `{installed}` in a table."""

_VERSION_SECONDS = 5.0
"""For an adapter to say its version: gdb takes 0.05 from a cold cache 0.3."""

_MAX_VERSION_FILE_BYTES = 65536
"""A file with a version is a small one; a table that names another does not fill the memory."""

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


class Found(Struct, frozen=True):
    """A place where an adapter is, its version where that is known, and why it cannot be used if so."""

    place: str
    version: str | None = None
    problem: str | None = None


def adapters_directory() -> Path:
    """Return the directory below which `trio-debugmcp adapters --install` puts adapters."""
    named = os.environ.get(DIRECTORY_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "trio-debugmcp" / "adapters"


class Finder:
    """Looks for one adapter at the places where it may be."""

    def __init__(self, name: str, table: Table) -> None:
        self._name = name
        self._table = table

    def __repr__(self) -> str:
        return f"<Finder of {self._name}: {' or '.join(self._table.find)}>"

    def find(self) -> Found | None:
        """Return the first place where the adapter is and works; else the first where it is, and why it does not."""
        first: Found | None = None
        for each in self._table.find:
            place = self._place(each)
            if place is None:
                continue
            found = self._found(place)
            if found.problem is None:
                return found
            first = first or found
        return first

    def _place(self, wanted: str) -> str | None:
        """Return the absolute path of what a variable, a path or a name on PATH stands for."""
        name = os.environ.get(wanted[1:]) if wanted.startswith("$") else wanted
        if not name:
            return None
        if wanted is name:
            installed = str(adapters_directory() / self._name)
            name = str(filled(name, {"scripts": sysconfig.get_path("scripts"), "installed": installed}))
        name = os.path.expanduser(name)
        if os.path.dirname(name):  # not only programs: a script or a directory that another program is given
            return os.path.abspath(name) if os.path.exists(name) else None
        found = shutil.which(name)
        return None if found is None else os.path.abspath(found)

    def _found(self, place: str) -> Found:
        absent = [each for each in self._table.needs if shutil.which(each) is None]
        if absent:
            return Found(place, None, f"cannot be used: it needs {' and '.join(absent)}, which is not on PATH")
        wanted = self._table.version
        if wanted is None:
            return Found(place)
        said, complaint = self._said(place)
        version = _NUMBERS.search(said)
        if version is None:
            because = f" ({complaint})" if complaint else ""
            return Found(place, None, f"cannot be used: it does not say its version{because}")
        if wanted.at_least is None or _numbers(version[0]) >= _numbers(wanted.at_least):
            return Found(place, version[0])
        why = f": {wanted.why}" if wanted.why else ""
        needed = f"it is version {version[0]}, and {wanted.at_least} or newer is needed{why}"
        return Found(place, version[0], f"is too old: {needed}")

    def _said(self, place: str) -> tuple[str, str]:
        """Return what has the version in it, and the complaint if there is nothing."""
        wanted = self._table.version
        assert wanted is not None
        values = {"adapter": place, "directory": os.path.dirname(place)}
        try:
            if wanted.file is not None:
                with open(str(filled(wanted.file, values)), errors="replace") as file:
                    return file.read(_MAX_VERSION_FILE_BYTES), ""
            return _run(tuple(str(filled(each, values)) for each in wanted.command), Path(place).stat().st_mtime_ns)
        except OSError as error:
            return "", str(error)


_printed: dict[tuple[str, ...], tuple[int, str]] = {}
"""Command → when its program was changed, and what it printed. What it did not say may be there the next time."""


def _run(command: tuple[str, ...], changed: int) -> tuple[str, str]:
    """Return what a command prints, and its first complaint; it is run again when the program has `changed`."""
    if (kept := _printed.get(command)) is not None and kept[0] == changed:
        return kept[1], ""
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return "", str(error)
    said, complaint = (each.decode(errors="replace").strip() for each in (ran.stdout, ran.stderr))
    if ran.returncode:
        return "", complaint.partition("\n")[0]
    said = said or complaint  # `java -version` writes to standard error
    if _NUMBERS.search(said):
        _printed[command] = (changed, said)
    return said, ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(each) for each in re.findall(r"\d+", version))
