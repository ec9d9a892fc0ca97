"""`RunDirectories`: the directory that has the files of a server's recorded runs, one below it for each.

It is removed when the server ends. What a server that was killed has left is removed by the next one that records:
the lock on it is free then.
"""

import fcntl
import logging
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX, _LOCK = "trio_debugmcp-runs-", "lock"

log = logging.getLogger(__name__)


class RunDirectories:
    """The directory of all, made when it is needed; only this user may look into it."""

    def __init__(self) -> None:
        self._home: Path | None = None
        self._lock: int | None = None

    def __repr__(self) -> str:
        return f"<RunDirectories below {self._home}>"

    def home(self) -> str:
        """Return the directory; the first call makes it.

        Raises:
            OSError: this machine gives none.
        """
        if self._home is None:
            home = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = _locked(home / _LOCK, os.O_CREAT)
            self._home = home
            _tidy(home)
        return str(self._home)

    def close(self) -> None:
        """Remove it with all files."""
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
        self._home = self._lock = None


def _tidy(own: Path) -> None:
    """Remove the directories of servers that were killed: the locks on them are free."""
    for place in own.parent.glob(f"{_PREFIX}*"):
        try:
            if place == own or place.lstat().st_uid != os.getuid():
                continue
            lock = _locked(place / _LOCK)
        except OSError:  # gone meanwhile, or of a server that lives
            continue
        log.info("recorded runs of a server that was killed: %s", place)
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _locked(path: Path, flags: int = 0) -> int:
    """Open and lock a file; the lock ends with the process."""
    descriptor = os.open(path, os.O_RDWR | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def size_of(directory: str) -> int:
    """Return the bytes of the files in a directory, as far as they are there while it is looked at."""
    total = 0
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    total += size_of(entry.path)
                else:
                    found = entry.stat(follow_symlinks=False)
                    total += min(found.st_size, found.st_blocks * 512)  # a file that is being filled has holes
    except OSError:
        return total
    return total
