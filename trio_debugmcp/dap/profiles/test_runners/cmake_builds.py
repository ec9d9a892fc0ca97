"""The tests that a configured CMake project has, as the files of its build directory say: those that `ctest` reads.

    builds = builds_of(Path("/src/depot/tests/stock_test.cpp"))
    builds[0].tests[0]      # BuiltTest(name="Stock.Takes", command=("/src/depot/build/stock_tests", …), …)

Nothing is started: of a script of CMake's only the commands are read that name tests, and files with more of them.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

_MAX_FILES = 2000
"""Of CMake's that are read for one build."""

_MAX_FOLDERS = 400
"""In a project's directory that are looked at."""

_MAX_BYTES = 16 * 1024 * 1024

_BELOW = ("build", "out", "out/build", "_build", "builds", "cmake-build")
"""Directories of a project in which build directories are kept, one for each configuration."""

_COMMAND = re.compile(
    r"^[^\S\n]*+(?P<name>add_test|set_tests_properties|subdirs|add_subdirectory|include)\(", re.MULTILINE
)

_WORD = re.compile(
    r"\s*+(?:\[(?P<fence>=*)\[(?P<bracket>.*?)\](?P=fence)\]|\"(?P<quoted>(?:\\.|[^\"\\])*)\"|(?P<bare>(?:\\.|[^\s()\"\\])+))",
    re.DOTALL,
)

_HOME = re.compile(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", re.MULTILINE)


def configured_and_built(project: Path) -> str:
    """Return the command for a shell that makes the build directory of a project, and builds in it."""
    place = project / "build"
    source, build = shlex.quote(str(project)), shlex.quote(str(place))
    return f"cmake -S {source} -B {build} -DCMAKE_BUILD_TYPE=Debug && {build_command(place)}"


def build_command(directory: str | Path) -> str:
    """Return the command for a shell that builds in a build directory."""
    return f"cmake --build {shlex.quote(str(directory))}"


class BuiltTest(Struct, frozen=True):
    """A test of CTest's: its name, the command that runs it, and where that runs."""

    name: str
    command: tuple[str, ...]
    directory: str

    @property
    def program(self) -> str:
        return self.command[0]


class CMakeBuild(Struct, frozen=True):
    """A directory in which a project is built, and its tests."""

    directory: str
    project: str
    tests: tuple[BuiltTest, ...]


def project_of(file: Path) -> Path | None:
    """Return the outermost directory above a file in which CMake is described without a gap."""
    described = [folder for folder in file.parents if (folder / "CMakeLists.txt").is_file()]
    return described[-1] if described else None


def builds_of(file: Path) -> list[CMakeBuild]:
    """Return the builds of the projects that a file may be of, those that were configured last first."""
    found: dict[Path, float] = {}
    for folder in file.parents:
        if (folder / "CMakeLists.txt").is_file():
            found |= {place: (place / "CMakeCache.txt").stat().st_mtime for place in _build_directories(folder)}
    return [_build(place) for place in sorted(found, key=lambda place: -found[place])]


def _build_directories(project: Path) -> Iterator[Path]:
    """Yield the directories below that of a project in which it has been configured."""
    for place in (project, *_folders(project), *(inner for name in _BELOW for inner in _folders(project / name))):
        home = _HOME.search(_text(place / "CMakeCache.txt"))
        if home is not None and Path(home[1]) == project:
            yield place


def _folders(place: Path) -> list[Path]:
    try:
        return [folder for folder in islice(place.iterdir(), _MAX_FOLDERS) if folder.is_dir()]
    except OSError:
        return []


def _build(place: Path) -> CMakeBuild:
    home = _HOME.search(_text(place / "CMakeCache.txt"))
    left = iter(range(_MAX_FILES))
    return CMakeBuild(str(place), home[1] if home else "", tuple(_tests(place, place / "CTestTestfile.cmake", left)))


def _tests(folder: Path, file: Path, left: Iterator[int]) -> Iterator[BuiltTest]:
    """Yield the tests in a file of CTest's, and in those that it names; `left` counts the files that may be read."""
    if next(left, None) is None:
        return
    text = _text(file)
    places = {
        words[0]: words[words.index("WORKING_DIRECTORY") + 1]
        for name, words in _commands(text)
        if name == "set_tests_properties" and "WORKING_DIRECTORY" in words[:-1]
    }
    for name, words in _commands(text):
        match name:
            case "add_test" if len(words) > 1 and Path(words[1]).is_absolute():
                yield BuiltTest(words[0], tuple(words[1:]), places.get(words[0], str(folder)))
            case "include" if words:
                yield from _tests(folder, Path(folder, words[0]), left)
            case "subdirs" | "add_subdirectory" if words:
                inner = Path(folder, words[0])
                yield from _tests(inner, inner / "CTestTestfile.cmake", left)


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    for found in _COMMAND.finditer(text):
        yield found["name"], list(_words(text, found.end()))


def _words(text: str, at: int) -> Iterable[str]:
    while (found := _WORD.match(text, at)) is not None:
        if found["bracket"] is not None:
            yield found["bracket"]
        else:
            yield re.sub(r"\\(.)", r"\1", found["quoted"] if found["quoted"] is not None else found["bare"])
        at = found.end()


def _text(file: Path) -> str:
    try:
        with file.open("rb") as source:
            return source.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
