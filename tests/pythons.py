"""The Pythons on this machine, as those that run programs to be debugged."""

import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

PLACES = ("/root/.pyenv/versions/*/bin/python", "~/.pyenv/versions/*/bin/python", "/usr/bin/python3.[0-9]*")

ON_PATH = tuple(f"python3.{minor}" for minor in range(8, 16))
"""Where they are elsewhere, as on the machines of CI."""


class Interpreter(NamedTuple):
    """A Python on this machine."""

    path: str
    version: tuple[int, int]

    @property
    def label(self) -> str:
        return f"{self.version[0]}.{self.version[1]} ({self.path})"


@cache
def found() -> list[Interpreter]:
    """One of each version on this machine, the running one always, by version."""
    here = Interpreter(sys.executable, sys.version_info[:2])
    by_version = {here.version: here}
    for path in _paths():
        # By its name, as each start would cost every process of the suite.
        named = re.search(r"/(?:versions/|python)3\.(\d+)[^/]*(?:/bin/python)?$", str(path))
        if named and os.access(path, os.X_OK) and "config" not in path.name:
            by_version.setdefault((3, int(named[1])), Interpreter(str(path), (3, int(named[1]))))
    return [by_version[version] for version in sorted(by_version)]


def _paths() -> list[Path]:
    paths: list[Path] = []
    for place in PLACES:
        path = Path(place).expanduser()
        paths += sorted(Path(path.anchor).glob(str(path).lstrip("/")))
    on_path = map(Path, filter(None, map(shutil.which, ON_PATH)))
    return [*paths, *(path for path in on_path if path.parent.name != "shims")]  # pyenv's, of versions not chosen too
