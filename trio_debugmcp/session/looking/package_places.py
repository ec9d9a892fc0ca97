"""`PackagePlaces`: the files of this machine that an adapter names by their package, as the adapter of Java does.

    places.file("shop/Item.java")       # "/src/shop/Item.java"; the name itself, if no file is found

Each name is looked for once in a session.
"""

import os

from trio_debugmcp.dap.profiles.java.java_expressions import JavaCode
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Attach, Launch, Start, asked_for
from trio_debugmcp.dap.profiles.test_runners.package_files import file_named
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host


class PackagePlaces:
    """Those of one session's program."""

    def __init__(self, profile: Profile, start: Start, host: Host) -> None:
        self._code = profile.code
        self._host = host
        self._programs = _programs(asked_for(start))
        self._files: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<PackagePlaces of {self._programs}>"

    def file(self, named: str | None) -> str | None:
        """Return the file that an adapter's path means; the path itself, where that is not found."""
        code = self._code
        if not named or not isinstance(code, JavaCode) or os.path.isabs(named) or code.is_library(named):
            return named
        if named not in self._files:
            self._files[named] = self._found(named) or named
        return self._files[named]

    def _found(self, named: str) -> str | None:
        question = f"file {named} of {self._programs[0] if self._programs else ''}"
        try:
            return self._host.query(question, lambda: file_named(named, self._programs))
        except UsageError:  # a recording that was made without the question
            return None


def _programs(start: Start) -> list[str]:
    """Return the program of a start and where it runs, as far as these are on this machine."""
    if isinstance(start, Launch):
        places = [start.source or start.program, start.cwd]
    else:
        places = [start.program or "", start.cwd] if isinstance(start, Attach) else []
    return [place for place in places if os.path.isabs(place)]
