"""What takes long to make and is the same for every worker: installed packages, built programs.

    root = shared.made(shared.installed("inspector"), install)
    program = shared.made(shared.of_this_run(tmp_path_factory, "orders"), build) / "orders"

The first worker that needs it makes it, and the others wait for that one.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest


def installed(name: str) -> Path:
    """The directory of what was installed from a registry, for later runs as well."""
    return Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir()) / "trio-debugmcp-shared" / name


def of_this_run(factory: pytest.TempPathFactory, name: str) -> Path:
    """A directory that the workers of this run share."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared" / name


def made(directory: Path, make: Callable[[Path], object]) -> Path:
    """Return the directory, filled by `make` unless that has been done."""
    done = directory.with_name(f"{directory.name}.done")
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_name(f"{directory.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(directory, ignore_errors=True)  # what was left half-way
            directory.mkdir()
            make(directory)
            done.touch()
    return directory
