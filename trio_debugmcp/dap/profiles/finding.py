"""`Finder`: where the adapter of a table is on this machine, and in which version.

    finder = Finder("gdb", table)
    found = finder.find()       # None, or Found("/usr/bin/gdb", "15.2", None)

A version is asked for by running the adapter, once until the program changes; where other tasks are to run meanwhile,
`await finder.learn(patience)` comes first.
"""

import os
import re
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Sequence
from pathlib import Path

import trio
from msgspec import Struct

from trio_debugmcp.dap.profiles.tables.placeholders import filled
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.home import expanded
from trio_debugmcp.patience import Patience

DIRECTORY_VARIABLE = "TRIO_DEBUGMCP_ADAPTERS_DIR"
"""Names the directory below which adapters are installed, each in one of its own: `{installed}` in a table."""

_CWD = "/"
"""Where an adapter is asked: a `python -c` among them would import from the directory of the server, a project's."""

_VERSION_SECONDS = 5.0
"""For an adapter to say its version: gdb takes 0.05 from a cold cache 0.3."""

_MAX_VERSION_FILE_BYTES = 65536
"""A file with a version is a small one; a table that names another does not fill the memory."""

_RETRY_SECONDS = 10.0
"""After a command that printed no version: what it lacked may be installed then. The error tells its answer, too."""

_NUMBERS = re.compile(r"\d+(?:\.\d+)+")


class _Question(Struct, frozen=True):
    """A command that prints a version, and when the program that it is about was changed."""

    command: tuple[str, ...]
    changed: int


class FoundAdapter(Struct, frozen=True):
    """A place where an adapter is, its version where that is known, and why it cannot be used if so."""

    place: str
    version: str | None = None
    problem: str | None = None


def adapters_directory() -> Path:
    """Return the directory below which `trio-debugmcp adapters --install` puts adapters."""
    named = os.environ.get(DIRECTORY_VARIABLE)
    if named:
        return expanded(named).absolute()
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return expanded(data) / "trio-debugmcp" / "adapters"


def is_ours(place: str) -> bool:
    """Return whether the adapter at a place came by `trio-debugmcp adapters --install`, which may replace it."""
    return Path(place).is_relative_to(adapters_directory())


def forget_versions() -> None:
    """Ask anew: something has been installed."""
    _answers.clear()


class Finder:
    """Looks for one adapter at the places where it may be."""

    def __init__(self, name: str, table: Table) -> None:
        self._name = name
        self._table = table

    def __repr__(self) -> str:
        return f"<Finder of {self._name}: {' or '.join(self._table.find)}>"

    def find(self, *, versions: bool = False) -> FoundAdapter | None:
        """Return the first place where the adapter is and works; else the first where it is, and why it does not.

        `versions`: also ask for one that decides nothing.
        """
        first: FoundAdapter | None = None
        for entry in self._table.find:
            place = self._place(entry)
            if place is None:
                continue
            found = self._found(place, versions)
            if found.problem is None:
                return found
            first = first or found
        return first

    def places(self) -> list[str]:
        """Return where it is looked for, as a person would say it."""
        named = []
        for entry in self._table.find:
            place = self._named(entry) if not entry.startswith("$") else entry
            named.append(place if os.path.dirname(place) or entry.startswith("$") else f"{place} on PATH")
        return named

    async def learn(self, patience: Patience, *, versions: bool = False) -> None:
        """Ask for the versions that `find` needs, while other tasks run."""
        version = self._table.version
        if version is None or version.file is not None or (version.at_least is None and not versions):
            return
        for entry in self._table.find:
            place = self._place(entry)
            if place is None:
                continue
            question = self._question(place)
            if _kept(question) is None:
                _keep(question, *await _run_beside(question.command, patience.seconds(_VERSION_SECONDS)))
            if self._found(place, versions).problem is None:
                return

    def _place(self, wanted: str) -> str | None:
        """Return the absolute path of what a variable, a path or a name on PATH stands for."""
        name = os.environ.get(wanted[1:]) if wanted.startswith("$") else wanted
        if not name:
            return None
        name = self._named(name) if wanted is name else str(expanded(name))
        if os.path.dirname(name):  # not only programs: a script or a directory that another program is given
            place = os.path.abspath(name)  # also where a directory on the way is left by `..`, and is not there
            return place if os.path.exists(place) else None
        found = shutil.which(name)
        return None if found is None else os.path.abspath(found)

    def _named(self, wanted: str) -> str:
        installed = str(adapters_directory() / self._name)
        place = str(filled(wanted, {"scripts": sysconfig.get_path("scripts"), "installed": installed}))
        return str(expanded(place)) if place.startswith("~") else place

    def _found(self, place: str, versions: bool) -> FoundAdapter:
        absent = [need for need in self._table.needs if shutil.which(need) is None]
        if absent:
            return FoundAdapter(place, None, f"cannot be used: it needs {' and '.join(absent)}, which is not on PATH")
        wanted = self._table.version
        if wanted is None or (wanted.at_least is None and not versions):
            return FoundAdapter(place)
        said, complaint = self._said(place)
        version = _NUMBERS.search(said)
        if version is None and wanted.at_least is None:
            return FoundAdapter(place)
        if version is None:
            because = f" ({complaint})" if complaint else ""
            return FoundAdapter(place, None, f"cannot be used: it does not say its version{because}")
        if wanted.at_least is None or _numbers(version[0]) >= _numbers(wanted.at_least):
            return FoundAdapter(place, version[0])
        why = f": {wanted.why}" if wanted.why else ""
        needed = f"it is version {version[0]}, and {wanted.at_least} or newer is needed{why}"
        return FoundAdapter(place, version[0], f"is too old: {needed}")

    def _said(self, place: str) -> tuple[str, str]:
        """Return what has the version in it, and the complaint if there is nothing."""
        wanted = self._table.version
        assert wanted is not None
        if wanted.file is not None:
            try:
                with open(str(filled(wanted.file, _around(place))), errors="replace") as file:
                    return file.read(_MAX_VERSION_FILE_BYTES), ""
            except OSError as error:
                return "", str(error)
        question = self._question(place)
        return _kept(question) or _keep(question, *_run(question.command))

    def _question(self, place: str) -> _Question:
        assert self._table.version is not None
        command = tuple(str(filled(word, _around(place))) for word in self._table.version.command)
        try:
            changed = os.stat(place).st_mtime_ns
        except OSError:
            changed = 0
        return _Question(command, changed)


def _around(place: str) -> dict[str, str]:
    return {"adapter": place, "directory": os.path.dirname(place)}


# --- Commands that print versions -------------------------------------------------------------------------------------

_answers: dict[_Question, tuple[str, str, float]] = {}
"""What each command printed and complained of, and when."""


def _kept(question: _Question) -> tuple[str, str] | None:
    """Return what was answered before. What had no version in it may have one the next time, but not at once."""
    said, complaint, at = _answers.get(question, ("", "", -_RETRY_SECONDS))
    return (said, complaint) if said or time.monotonic() - at < _RETRY_SECONDS else None


def _keep(question: _Question, exit_code: int, out: bytes, err: bytes) -> tuple[str, str]:
    said, complaint = (stream.decode(errors="replace").strip() for stream in (out, err))
    if exit_code:
        said, complaint = "", complaint.rpartition("\n")[2]
    elif not said:
        said, complaint = complaint, ""  # `java -version` writes to standard error
    answer = (said, complaint) if _NUMBERS.search(said) else ("", complaint)
    _answers[question] = (*answer, time.monotonic())
    return answer


def _run(command: Sequence[str]) -> tuple[int, bytes, bytes]:
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_SECONDS, check=False, cwd=_CWD
        )
    except (OSError, subprocess.SubprocessError) as error:
        return 1, b"", str(error).encode()
    return ran.returncode, ran.stdout, ran.stderr


async def _run_beside(command: Sequence[str], seconds: float) -> tuple[int, bytes, bytes]:
    with trio.move_on_after(seconds):
        try:
            ran = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False, cwd=_CWD)
        except OSError as error:
            return 1, b"", str(error).encode()
        return ran.returncode, ran.stdout, ran.stderr
    return 1, b"", f"no answer within {seconds:g} s".encode()


def newer_than_tested(version: str | None, table: Table) -> str | None:
    """Return the version with which our tests debug, if this one is newer; None if it is not, or that is unknown."""
    tested = None if table.version is None else table.version.tested
    return tested if _compared(version, tested) > 0 else None


def older_than_tested(version: str | None, table: Table) -> str | None:
    """Return the version with which our tests debug, if this one is older; None if it is not, or that is unknown."""
    tested = None if table.version is None else table.version.tested
    return tested if _compared(version, tested) < 0 else None


def _compared(version: str | None, tested: str | None) -> int:
    """Compare as many numbers as the tested version has: 1 is newer, -1 older, 0 the same or unknown."""
    if version is None or tested is None:
        return 0
    known = _numbers(tested)
    numbers = _numbers(version)[: len(known)]
    return (numbers > known) - (numbers < known)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))
