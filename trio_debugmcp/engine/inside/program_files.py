"""The files of the program: which of them are the same one, and which are the user's.

A file may be reached by several paths. Two names are of one file if their real paths are the same; what is shown is the
name that the program has for it. But what lies beside the main script is shown beside it: the interpreter imports from
the real directory, also where the script was reached by a link.
"""

import posix
import sys
from typing import Any

_library: str = sys._stdlib_dir or ""  # type: ignore[attr-defined]
_readlink = posix.readlink
_getcwd = posix.getcwd

_INSTALLED = ("/site-packages/", "/dist-packages/")

_MOST_LINKS = 40
"""Of links that lead to links."""

_MOST_NAMES = 50_000


def absolute(path: str) -> str:
    """Return a path of the program from the root, without `.` and `..` in it."""
    if path[:1] != "/":
        try:
            path = f"{_getcwd()}/{path}"
        except OSError:  # the directory is not there any more
            return path
    if "/." not in path and "//" not in path:
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def exists(path: str) -> bool:
    """Whether there is such a file."""
    try:
        posix.stat(path)
    except (OSError, ValueError):
        return False
    return True


def is_missing(path: str) -> bool:
    """Whether there is no such file, and it cannot be one in an archive either."""
    try:
        posix.stat(path)
    except FileNotFoundError:
        return path[:1] == "/"
    except (OSError, ValueError):
        return False
    return False


class ProgramFiles:
    """What is known of file names; each is looked at once.

    Attributes:
        just_my_code: whether only the user's files are of interest.
        home: the directory that has brought the engine here.
        rules: (path or its beginning, whether it is the user's): before all else.
        mappings: (directory of the debugger's machine, directory here).
    """

    def __init__(self, home: str = "/") -> None:
        self.just_my_code = True
        self.home = home
        self.rules: list[tuple[str, bool]] = []
        self.mappings: list[tuple[str, str]] = []
        self._link: tuple[str, str] | None = None
        self._real: dict[str, str] = {}
        self._shown: dict[str, str] = {}
        self._is_user: dict[str, bool] = {}

    def real(self, name: str) -> str:
        """Return the real path of a file name, as code objects have it; one that is not a path stays as it is."""
        found = self._real.get(name)
        if found is None:
            if len(self._real) > _MOST_NAMES:
                self._real.clear()
            found = self._real[name] = name if name[:1] == "<" else self._resolved(absolute(name), 0)
        return found

    def _resolved(self, path: str, links: int) -> str:
        """Return a path without links; directories are remembered."""
        known = self._real.get(path)
        if known is not None:
            return known
        folder, _, last = path.rpartition("/")
        parent = self._resolved(folder, links) if folder else ""
        found = f"{parent}/{last}"
        try:
            target = _readlink(found)
        except (OSError, ValueError):
            pass
        else:
            if links < _MOST_LINKS:
                found = self._resolved(absolute(target if target[:1] == "/" else f"{parent}/{target}"), links + 1)
        self._real[path] = found
        return found

    def run_as(self, script: str) -> None:
        """Have the files beside the main script shown by the directory by which it was reached."""
        folder = absolute(script).rpartition("/")[0]
        real = self.real(folder)
        self._link = (f"{real}/", f"{folder}/") if real != folder else None

    def shown(self, name: str) -> str:
        """Return a file name as the debugger's machine has it."""
        found = self._shown.get(name)
        if found is None:
            origin = self.origin(name)
            found = origin if origin[:1] == "<" else absolute(origin)
            if self._link is not None and found.startswith(self._link[0]):
                found = self._link[1] + found[len(self._link[0]) :]
            for local, here in self.mappings:
                if found.startswith(here):
                    found = local + found[len(here) :]
                    break
            self._shown[name] = found
        return found

    def here(self, path: str) -> str:
        """Return a path of the debugger's machine as it is here."""
        for local, here in self.mappings:
            if path.startswith(local):
                return here + path[len(local) :]
        return path

    def origin(self, name: str) -> str:
        """Return the file that a frozen module was made of; other names as they are."""
        if name[:8] != "<frozen ":
            return name
        return f"{_library}/{name[8:-1].replace('.', '/')}.py"

    def is_user(self, name: str) -> bool:
        """Whether code with that file name is the user's, and not a library's."""
        found = self._is_user.get(name)
        if found is None:
            found = self._is_user[name] = self._judged(name)
        return found

    def _judged(self, name: str) -> bool:
        path = name if name[:1] == "<" else absolute(name)
        for beginning, is_user in self.rules:
            if path == beginning or (beginning != "" and beginning[-1] == "/" and path.startswith(beginning)):
                return is_user
        if name[:1] == "<":
            return name[:8] != "<frozen " and name != "<runner>"  # the one that runs tests for the server
        if path.startswith((f"{_library}/", f"{self.home}/")):
            return False
        return not any(each in path for each in _INSTALLED)

    def is_standard(self, name: str) -> bool:
        """Whether code with that file name is of the standard library, or ours."""
        path = self.real(name)
        if path[:1] == "<" or path.startswith(f"{self.real(self.home)}/"):
            return True
        is_below = path.startswith((f"{_library}/", f"{self.real(_library)}/"))
        return is_below and not any(each in path for each in _INSTALLED)

    def steps_into(self, name: str) -> bool:
        """Whether steps and pauses stop in code with that file name."""
        return not self.just_my_code or self.is_user(name)


def is_made_by_library(frame: Any) -> bool:
    """Whether a frame runs what `dataclass` or `namedtuple` has made, a method or the text that defines it."""
    code = frame.f_code
    if code.co_filename != "<string>":
        return False
    maker = frame.f_back if code.co_name == "<module>" else None
    if maker is not None and dict.get(maker.f_globals, "__name__") == "dataclasses":
        return True
    module = dict.get(frame.f_globals, "__name__")
    return code.co_qualname.startswith("__create_fn__") or (type(module) is str and module.startswith("namedtuple_"))
