"""Where the kept server of a project is: a directory that only this user may enter, with its socket.

    place = Place.of(project_root(os.getcwd()))
    place.make()
    place.socket                    # /run/user/1000/trio-debugmcp/5f1c…/call
    place.record()                  # what the server has written about itself, or None

Nothing here starts or connects anything.
"""

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import IO, Any, NamedTuple

from trio_debugmcp.errors import UsageError

PROJECT_FILES = (
    *("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "CMakeLists.txt", "pom.xml", "build.gradle"),
    *("setup.py", "setup.cfg", "Gemfile", "composer.json", "Makefile", ".git", ".vscode"),
)
"""What stands in the topmost directory of a project."""

MAX_SOCKET_PATH = 100
"""Bytes of the path of a socket: Linux permits 107, macOS 103."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class PlaceRefused(UsageError):
    """A server cannot be kept, or must not be reached, at a place."""


class KeptProject(NamedTuple):
    """For which project a server is kept, and for how long. `once`: no longer than until its last program has ended."""

    project: str
    idle_seconds: float
    once: bool = False


class Place(NamedTuple):
    """The place of one project's server. `directory` is made by `make`."""

    project: str
    directory: str

    @classmethod
    def of(cls, project: str) -> "Place":
        """Return the place of the project in this directory, which is the same one for every shell of this user."""
        name = sha256(os.fsencode(os.path.realpath(project))).hexdigest()[:16]
        for folder in _parents():
            fits = len(os.fsencode(folder)) + len(name) + len("//call") < MAX_SOCKET_PATH
            if os.path.isabs(folder) and fits and os.access(os.path.dirname(folder), os.W_OK):
                return cls(project, f"{folder}/{name}")
        return cls(project, f"/tmp/{_mine()}/{name}")

    @property
    def socket(self) -> str:
        """The path of the Unix socket that calls come to."""
        return f"{self.directory}/call"

    @property
    def log(self) -> str:
        """The file with what the server writes to standard error."""
        return f"{self.directory}/log"

    @property
    def starting_lock(self) -> str:
        """The file whose lock is held while a server is started."""
        return f"{self.directory}/starting"

    @property
    def serving_lock(self) -> str:
        """The file whose lock the server holds for as long as it is there."""
        return f"{self.directory}/serving"

    def make(self) -> None:
        """Make the directory.

        Raises:
            PlaceRefused: it cannot be made, or others could put a socket of theirs there.
        """
        try:
            for folder in self._folders:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o700)
                _check_private(folder)
        except OSError as error:
            sentence = f"No server can be kept: {error.strerror}: {error.filename}. Set XDG_RUNTIME_DIR to a directory."
            raise PlaceRefused("PERMISSION_DENIED", sentence) from error

    def check(self) -> None:
        """Check the directory, before what is there is believed. None at all is fine.

        Raises:
            PlaceRefused: others could put a socket of theirs there.
        """
        with suppress(FileNotFoundError):
            for folder in self._folders:
                _check_private(folder)

    @property
    def _folders(self) -> tuple[str, str]:
        return os.path.dirname(self.directory), self.directory

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Write what the server says of itself; it has tokens, so only this user may read it."""
        part = f"{self.directory}/server.json.{os.getpid()}"
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.replace(part, f"{self.directory}/server.json")

    def record(self) -> dict[str, Any] | None:
        """Return what the server has written of itself; None if there is none, or it is torn."""
        try:
            with open(f"{self.directory}/server.json", encoding="utf-8") as file:
                record = json.load(file)
        except (OSError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def write_stop(self, line: str | None) -> None:
        """Write where the program has stopped; None takes that away."""
        with suppress(OSError):  # a full disk ends no debugging
            if line is None:
                os.unlink(f"{self.directory}/stop")
                return
            part = f"{self.directory}/stop.{os.getpid()}"
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
                file.write(line)
            os.replace(part, f"{self.directory}/stop")

    def stop(self) -> str | None:
        """Return where the program has stopped, after the number of the stop; None while none is."""
        try:
            self.check()
            with open(f"{self.directory}/stop", encoding="utf-8") as file:
                return file.read()
        except (OSError, ValueError, PlaceRefused):
            return None

    def is_served(self) -> bool:
        """Whether a server holds the place, also one whose socket was removed."""
        try:
            with open(self.serving_lock, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def clear(self) -> None:
        """Remove what a server leaves of itself and of its program. Its log stays."""
        for name in ("call", "server.json", "stop"):
            with suppress(FileNotFoundError):
                os.unlink(f"{self.directory}/{name}")


def hold(place: Place, path: str) -> IO[str] | None:
    """Lock a file of the place until it is closed; None if another process has locked it.

    Raises:
        PlaceRefused: as `Place.make`.
    """
    while True:
        place.make()
        with suppress(FileNotFoundError):  # a server that ends may remove the place meanwhile
            file = open(path, "a")  # noqa: SIM115 - it is held beyond this function
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            if is_at(file, path):
                return file
            file.close()


def remove(place: Place) -> None:
    """Remove all of the place, after `Place.clear`; while a server is being started there, nothing."""
    with suppress(OSError), open(place.starting_lock, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in (place.log, place.serving_lock, place.starting_lock):
            os.unlink(name)
        os.rmdir(place.directory)


def is_at(file: IO[Any], path: str) -> bool:
    """Whether an open file is the one at a path: a lock of another one does not count."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _parents() -> Iterator[str]:
    """The directories in which the places of all projects could be, the preferred one first."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if _is_mine(runtime):  # sudo may leave that of another user, who could not remove what is made there
        yield os.path.join(runtime, "trio-debugmcp")
    from tempfile import gettempdir  # last, as it takes long to import

    yield os.path.join(gettempdir(), _mine())


def _mine() -> str:
    return f"trio-debugmcp-{os.geteuid()}"


def _is_mine(directory: str) -> bool:
    try:
        return os.stat(directory).st_uid == os.geteuid()
    except OSError:
        return False


def _check_private(folder: str) -> None:
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
        sentence = f"{folder} is not a directory that only you may enter: remove it, then call again."
        raise PlaceRefused("PERMISSION_DENIED", sentence)


def other_projects(place: Place) -> list[str]:
    """Return the other projects for which a server of this user is kept, beside this place."""
    above = os.path.dirname(place.directory)
    try:
        names = sorted(os.listdir(above))
    except OSError:
        return []
    places = [Place("", f"{above}/{name}") for name in names if name != os.path.basename(place.directory)]
    records = [other.record() for other in places if other.is_served()]  # one that was killed leaves its record
    return [str(record.get("project", "")) for record in records if record is not None]


def project_root(directory: str) -> str:
    """Return the nearest directory, this one or above, that looks like a project's; this one, if none does.

    The home directory and the root of the file system never count, whatever files they have.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    path = start = os.path.realpath(directory)
    while path not in (home, os.path.dirname(path)):
        if any(os.path.lexists(os.path.join(path, name)) for name in PROJECT_FILES):
            return path
        path = os.path.dirname(path)
    return start
