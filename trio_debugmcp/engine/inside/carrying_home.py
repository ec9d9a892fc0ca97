"""`CarryingHome`: the directory by which the engine comes into the interpreters that the program starts.

Where the server has launched the program it has made the directory. A program that has fetched the engine makes one of
its own when it first starts an interpreter, for only its user to read, and removes it when the debugger leaves, or at
its end. What a program has left that was killed is removed by the next one that makes such a directory.
"""

import atexit
import posix
from typing import Any

_PREFIX = "trio_debugmcp-"

_BLOB = "fetched"
"""The name of the compiled code in the directory, which belongs to one version of the engine only."""

_stat, _mkdir, _listdir, _unlink, _rmdir = posix.stat, posix.mkdir, posix.listdir, posix.unlink, posix.rmdir
_open, _write, _close = posix.open, posix.write, posix.close
_getpid, _geteuid, _lstat = posix.getpid, posix.geteuid, posix.lstat
_environ: dict[bytes, bytes] = posix.environ


class CarryingHome:
    """The directory, which is there when a path of it was asked for."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._path = str(given["home"])
        self._owner = 0

    def path(self) -> bytes:
        """Return the path of the directory; empty if there is none, and none can be made."""
        if self._given.get("site") and not (self._path and _is_there(self._path)):
            self._path = self._made()
        return self._path.encode("utf-8", "surrogateescape")

    def _made(self) -> str:
        parent = _environ.get(b"TMPDIR", b"").decode("utf-8", "surrogateescape") or "/tmp"
        if ":" in parent:
            parent = "/tmp"
        path = f"{parent}/{_PREFIX}{_getpid()}-{posix.urandom(8).hex()}"
        try:
            _tidy(parent)
            _mkdir(path, 0o700)
            self._owner = _getpid()
            atexit.register(self.remove)
            _put(f"{path}/sources", self._given["sources"])
            own = {"home": path, "sources": f"{path}/sources", "blobs": path, "digest": _BLOB}
            address = {name: self._given[name] for name in ("host", "port", "token", "pin")}
            text = self._given["site"].replace("PARAMETERS", repr({**own, **address}))
            _put(f"{path}/sitecustomize.py", text.encode())
        except OSError:
            return ""
        return path

    def remove(self) -> None:
        """Remove the directory, if it is of this process."""
        if self._owner == _getpid():
            atexit.unregister(self.remove)
            self._owner = 0
            _remove(self._path)


def _is_there(path: str) -> bool:
    try:
        _stat(path)
    except OSError:
        return False
    return True


def _put(file: str, data: bytes) -> None:
    descriptor = _open(file, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[_write(descriptor, data) :]
    finally:
        _close(descriptor)


def _remove(path: str) -> None:
    try:
        for name in _listdir(path):
            try:
                _unlink(f"{path}/{name}")
            except IsADirectoryError:  # of compiled code
                _remove(f"{path}/{name}")
        _rmdir(path)
    except OSError:
        pass


def _tidy(parent: str) -> None:
    """Remove the directories of this user's processes that have ended, where the system says which those are."""
    if not _is_there("/proc/self"):
        return
    for name in _listdir(parent):
        pid, _, rest = name.removeprefix(_PREFIX).partition("-")
        is_one = name.startswith(_PREFIX) and rest and pid.isdecimal()
        if is_one and not _is_there(f"/proc/{pid}") and _lstat(f"{parent}/{name}").st_uid == _geteuid():
            _remove(f"{parent}/{name}")
