"""Commands by their name: those that a project has installed for itself, and scripts on PATH.

    find_command("vitest", "/src/web")      # "/src/web/node_modules/.bin/vitest"

Machine code and scripts of the shell on PATH are not among them: they start what is meant, or are built without debug
information.
"""

import os
import re
import shutil
from pathlib import Path

from trio_debugmcp.dap.profiles.projects.project_program import beginning

PLACES = ("node_modules/.bin", "vendor/bin")
"""Directories of a project that have the commands which it has installed."""

_SHIM = re.compile(r"\"\$basedir/(?P<script>[^\"\n]+\.[cm]?js)\"")
"""How a script of the shell that npm or pnpm leaves for a command names the file that node runs."""

_OF_A_SHELL = re.compile(r"#!\s*\S*/(?:env\s+)?(?:ba|da|z|k)?sh\b")

_TOOLS = {
    "cargo": 'a project of Rust is built and run by program=".", with its own `args`',
    "go": 'a package of Go is built and run by its directory, program="." or "./cmd/NAME", with its own `args`',
    "make": "build it, and pass the executable as `program`",
    "ninja": "build it, and pass the executable as `program`",
    "cmake": 'a project of CMake is run by program=".", and configured by that with adapter="cmake"',
    "mvn": 'a class of Java is built and run by its file, or by program="pom.xml"',
    "gradle": 'a class of Java is built and run by its file, or by program="build.gradle"',
}
"""Command that builds and runs programs of others → what is launched instead."""


def find_command(name: str, directory: str) -> str | None:
    """Return the script of a command: of the project that a directory is in, or on PATH."""
    home = Path(directory)
    for place in (folder / each / name for folder in (home, *home.parents) for each in PLACES):
        if os.access(place, os.X_OK) and place.is_file():
            return _run_by_node(place) or str(place)
    found = shutil.which(name)
    text = beginning(Path(found), 300) if found is not None else ""
    return found if text.startswith("#!") and not _OF_A_SHELL.match(text) else None


def _run_by_node(place: Path) -> str | None:
    shim = _SHIM.search(beginning(place, 4000)) if place.parent.name == ".bin" else None
    script = place.parent / shim["script"] if shim is not None else None
    return os.path.normpath(script) if script is not None and script.is_file() else None


def instead_of(name: str) -> str:
    """Return a sentence on what is launched in place of a command; for most, where it would have been found."""
    if name in _TOOLS:
        return f"`{name}` runs programs of others, which are launched themselves: {_TOOLS[name]}."
    places = " or ".join(PLACES)
    found = shutil.which(name)
    if found is not None:
        return f"The command {found} is not a script of a project: pass that path as `program` to debug it."
    return f"No command of that name is in {places} here or above, or on PATH; for a module of Python pass `module`."
