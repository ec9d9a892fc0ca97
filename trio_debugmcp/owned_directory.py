"""Temporary directories of this process, which the next process removes if this one is killed.

    with OwnedDirectory("trio_debugmcp-engine-") as directory:
        Path(directory.path, "file").write_text("…")

A process holds a lock on a file in each of its directories. The system frees it when the process is gone, however it
has ended: by that, and not by a number that may be given again, others know that a directory has no owner any more.
"""

import fcntl
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Self

_LOCK = "lock"

log = logging.getLogger(__name__)


class OwnedDirectory:
    """A new directory, which only this user may look into.

    Attributes:
        path: where it is.

    Raises:
        OSError: this machine gives none.
    """

    def __init__(self, prefix: str, parent: str | None = None) -> None:
        self.path = tempfile.mkdtemp(prefix=prefix, dir=parent)
        self._lock: int | None = None
        try:
            new = Path(self.path, f"{_LOCK}.new")
            self._lock = _locked(new, os.O_CREAT)
            new.rename(Path(self.path, _LOCK))  # others see it locked
        except OSError:
            self.remove()
            raise
        _tidy(Path(self.path).parent, prefix)

    def __repr__(self) -> str:
        return f"<OwnedDirectory {self.path}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove it with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


def _tidy(parent: Path, prefix: str) -> None:
    """Remove the directories of this user's processes that were killed."""
    try:
        names = [name for name in os.listdir(parent) if name.startswith(prefix)]
    except OSError:  # others' directories in it are not to be seen
        return
    for place in (parent / name for name in names):
        try:
            if place.lstat().st_uid != os.getuid():
                continue
            lock = _locked(place / _LOCK)
        except OSError:  # gone meanwhile, or of a process that lives
            continue
        log.info("a directory of a process that was killed: %s", place)
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _locked(path: Path, flags: int = 0) -> int:
    """Open and lock a file; the lock ends with the process."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
