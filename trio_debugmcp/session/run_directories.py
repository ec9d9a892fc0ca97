"""`RunDirectories`: the directory that has the files of a server's recorded runs, one below it for each.

It is removed when the server ends. What a server that was killed has left is removed by the next one that records.
"""

import os

from trio_debugmcp.owned_directory import OwnedDirectory

_PREFIX = "trio_debugmcp-runs-"


class RunDirectories:
    """The directory of all, made when it is needed; only this user may look into it."""

    def __init__(self) -> None:
        self._home: OwnedDirectory | None = None
        self._paths: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<RunDirectories in {self._home}>"

    def home(self) -> str:
        """Return the directory; the first call makes it.

        Raises:
            OSError: this machine gives none.
        """
        if self._home is None:
            self._home = OwnedDirectory(_PREFIX)
        return self._home.path

    def add(self, run_id: str, home: str) -> str:
        """Return the directory of a run from now on; it is not made."""
        self._paths[run_id] = f"{home}/{run_id}"
        return self._paths[run_id]

    def of(self, run_id: str) -> str:
        """Return the directory that has the files of a run."""
        return self._paths[run_id]

    def get(self, run_id: str) -> str | None:
        """Return it if the run has one."""
        return self._paths.get(run_id)

    def size(self, run_id: str) -> int:
        """Return the bytes of a run's files now."""
        return size_of(self._paths[run_id])

    def forget(self, run_id: str) -> str:
        """Return the directory that a run had so far; its files are left there."""
        return self._paths.pop(run_id)

    def close(self) -> None:
        """Remove it with all files."""
        home, self._home = self._home, None
        if home is not None:
            home.remove()


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
