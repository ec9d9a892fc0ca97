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
    return Path(os.environ.get("XDG_CACHE_HOME") or tempfile.gettempdir()) / "trio-debugmcp-tests" / name


def of_this_run(factory: pytest.TempPathFactory, name: str) -> Path:
    """A directory that the workers of this run share."""
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared" / name


def made(directory: Path, make: Callable[[Path], object]) -> Path:
    """Return the directory, made by `make` if it is not there. What `make` raises leaves nothing behind."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_name(f"{directory.name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            under_way = directory.with_name(f"{directory.name}.new")
            shutil.rmtree(under_way, ignore_errors=True)
            under_way.mkdir()
            make(under_way)
            under_way.rename(directory)
    return directory
