"""`UserCode`: which frames are the user's, and which a library's, for adapters that do not mark them.

    requests.user_code.has(frame)

Nothing without source is the user's. Debuggers of machine code know the system's files by their names. Of other
languages the user's files are those of the project: the directory with its build file above the program, or above where
it runs; what a package manager has put there is not.
"""

import os
from pathlib import Path

from trio_debugmcp.dap.messages import DapFrame
from trio_debugmcp.dap.profiles.profile import Profile
from trio_debugmcp.dap.profiles.starts import Launch, Start, asked_for
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.merger import Merger

_HIDDEN = frozenset({"subtle", "label", "deemphasize"})
"""Hints of adapters that mark what is not the user's."""

_INSTALLED = frozenset({"node_modules", "bower_components", "site-packages", "vendor", "gems", "perl5"})
"""Directories of a project where package managers put what others wrote."""

_PROJECT_FILES = (
    *(".git", "package.json", "go.mod", "Cargo.toml", "Gemfile", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("CMakeLists.txt", "Makefile", "cpanfile", "pyproject.toml"),
)

_MAX_LEVELS = 8
"""Directories above that are looked at for the beginning of a project."""


class UserCode:
    """What is the user's in one session."""

    def __init__(self, session_id: str, profile: Profile, start: Start, merger: Merger, host: Host) -> None:
        self._session_id = session_id
        self._profile = profile
        asked = asked_for(start)
        self._everything = isinstance(asked, Launch) and not asked.just_my_code
        self._merger = merger
        self._host = host
        self._projects: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<UserCode below {sorted(set(self._projects.values()))}>"

    def has(self, frame: DapFrame) -> bool:
        """Return whether a frame is the user's."""
        source, code = frame.source, self._profile.code
        if source is not None and code.is_generated(source.path or ""):
            return True
        if frame.presentation_hint in _HIDDEN or source is None or not (source.path or source.source_reference):
            return False
        if code.reads_source or self._everything:  # debugpy marks what is not
            return True
        path = source.path or ""
        if code.tells_library:
            return bool(path) and not code.is_library(path)
        return not (code.by_project and self._is_elsewhere(path))

    def _is_elsewhere(self, path: str) -> bool:
        if path.startswith("<") or not _INSTALLED.isdisjoint(path.split("/")):  # `<node_internals>/timers`
            return True
        places = self._places() if path.startswith("/") else []
        return bool(places) and not any(path.startswith(f"{place.rstrip('/')}/") for place in places)

    def _places(self) -> list[str]:
        """Return the directories of the projects that the program belongs to; none if it was attached to."""
        state = self._merger.state
        root = state.snapshot(state.root_of(self._session_id) or "")
        origin = None if root is None else root.origin
        if origin is None or origin.launch_mode != "Launch" or origin.executable_path is None:
            return []
        directories = {str(Path(origin.executable_path).parent), origin.working_directory or ""} - {""}
        return [self._project(directory) for directory in sorted(directories)]

    def _project(self, directory: str) -> str:
        if directory not in self._projects:
            try:
                found = self._host.query(f"project of {directory}", lambda: _project_of(directory))
            except UsageError:  # a recording that was made without the question
                found = directory
            self._projects[directory] = found
        return self._projects[directory]


def _project_of(directory: str) -> str:
    """Return the nearest directory that a project begins in, or the directory itself."""
    place = Path(directory)
    above = [place, *place.parents][:_MAX_LEVELS]
    found = next((folder for folder in above if any(os.path.exists(folder / name) for name in _PROJECT_FILES)), place)
    return str(found)
