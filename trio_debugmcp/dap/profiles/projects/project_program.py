"""`ProjectProgram`: what a project runs; `NoProgram`: why nothing is run, and what can be."""

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.searched_files import text_of

_MAX_NAMED = 8
"""Programs that a refusal names."""

_MAX_FILES = 5000
"""Of a project that are looked at."""

_OF_OTHERS = frozenset({"node_modules", "vendor", "target", "build", "dist", "out", "testdata", "venv", "CMakeFiles"})


class NoProgram(Exception):
    """A project does not say what it runs, or says several; the message says what to do."""


class ProjectProgram(Struct, frozen=True):
    """What a project runs: a file, a module, a command or code; `why` names where it says so.

    `directory`: where it runs, if the project says so. `build`: how it is made anew before.
    """

    program: str | None = None
    module: str | None = None
    command: str | None = None
    code: str | None = None
    args: tuple[str, ...] = ()
    directory: str | None = None
    why: str = ""
    build: BuildPlan | None = None


def listed(names: Iterable[str]) -> str:
    """Return the first of these names, and how many were left out."""
    known = list(names)
    more = f" and {len(known) - _MAX_NAMED} more" if len(known) > _MAX_NAMED else ""
    return ", ".join(known[:_MAX_NAMED]) + more


def files_below(home: Path, suffix: str = "") -> Iterator[Path]:
    """Yield the files of a project with a suffix, in the order of their names, as far as the bound goes."""
    names = (Path(folder, name) for folder, _, names in _walk(home) for name in sorted(names))
    yield from (file for file in islice(names, _MAX_FILES) if file.name.endswith(suffix))


def _walk(home: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, inner, names in os.walk(home):
        inner[:] = sorted(name for name in inner if name not in _OF_OTHERS and not name.startswith((".", "_")))
        yield folder, inner, names


def beginning(file: Path, size: int = 100_000) -> str:
    """Return how a file begins; nothing of one that cannot be read."""
    try:
        return text_of(file, size)
    except OSError:
        return ""
