"""`ProjectFile`: what a server keeps of a project for the next one: the last launch, and the breakpoints.

    file = ProjectFile(path_for("/src/shop"))
    file.write(LastUse(directory="/src/shop", launch=KeptLaunch({"program": "shop.py"}, at=1764000000.0)))
    ProjectFile(path_for("/src/shop")).read()      # by a server that is started later

It has places, conditions and arguments, and no value of a program. Only this user may read it. A file that cannot be
read, or is not of this format, is one line in the log: the server does without.
"""

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.home import home_directory
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.state.breakpoint import BreakpointSpec
from trio_debugmcp.state.payloads import UnixTime

log = logging.getLogger(__name__)

FORMAT = 1
"""Raised where an older server could not read what a newer one has written, or the other way round."""

MAX_BYTES = 64 * 1024
"""Of a file: a launch and some hundred breakpoints. A larger one is not written, and not read."""

MAX_FILES = 200
"""Projects that are kept; those that were debugged longest ago go."""


class KeptLaunch(Struct, frozen=True):
    """The last launch, as its client asked for it. `without`: what of that is not kept, as it may be secret."""

    arguments: Mapping[str, Any]
    at: UnixTime
    without: tuple[str, ...] = ()
    is_whole: bool = True


class KeptBreakpoint(Struct, frozen=True):
    """A breakpoint as it was wanted."""

    spec: BreakpointSpec | None = None
    exception: ExceptionSpec | None = None
    enabled: bool = True


class LastUse(Struct, frozen=True, kw_only=True):
    """What the server of a project was last used for. `left_out`: how many breakpoints are not kept."""

    directory: str
    format: int = FORMAT
    launch: KeptLaunch | None = None
    breakpoints: tuple[KeptBreakpoint, ...] = ()
    left_out: int = 0


def path_for(directory: str) -> str:
    """Return the file for a project: one for each directory, below `$XDG_STATE_HOME`."""
    base = os.environ.get("XDG_STATE_HOME", "")
    base = base if os.path.isabs(base) else str(home_directory() / ".local" / "state")
    name = sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:16]
    return os.path.join(base, "trio-debugmcp", "projects", f"{name}.json")


class ProjectFile:
    """The file of one project; without a path nothing is kept."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._written: bytes | None = None

    def __repr__(self) -> str:
        return f"<ProjectFile {self.path}>"

    def read(self) -> LastUse | None:
        """Return what an earlier server has kept; None if that is nothing, or cannot be read."""
        if self.path is None:
            return None
        try:
            with open(self.path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise ValueError(f"it has more than {MAX_BYTES} bytes")
            found = msgspec.json.decode(data, type=LastUse)
            if found.format != FORMAT:
                raise ValueError(f"it has the format {found.format}, this server's is {FORMAT}")
        except FileNotFoundError:
            return None
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            log.warning("what an earlier server has kept of this project cannot be read: %s: %s", self.path, error)
            return None
        return found

    def write(self, kept: LastUse) -> None:
        """Keep this, in place of what was kept. Where that cannot be, nothing is kept any more."""
        if self.path is None:
            return
        data = msgspec.json.encode(kept)
        if data == self._written:
            return
        if len(data) > MAX_BYTES:
            log.info("more than %d bytes are not kept of a project", MAX_BYTES)
            return
        part = f"{self.path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with open(descriptor, "wb") as file:
                file.write(data)
            os.replace(part, self.path)
        except OSError as error:
            log.info("nothing is kept of this project: %s", error)
            self.path = None
            with suppress(OSError):
                os.unlink(part)
            return
        if self._written is None:
            _drop_oldest(os.path.dirname(self.path))
        self._written = data


def _drop_oldest(folder: str) -> None:
    with suppress(OSError):
        files = sorted(
            (entry for entry in os.scandir(folder) if entry.name.endswith(".json")),
            key=lambda entry: entry.stat().st_mtime,
        )
        for entry in files[:-MAX_FILES]:
            os.unlink(entry.path)
