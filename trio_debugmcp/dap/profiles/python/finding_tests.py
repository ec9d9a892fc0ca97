"""Where the tests of a Python project are: by a path, a line, a name alone, and the directory in which they run.

    find_test("tests/test_a.py:12", ["/home/ann/shop"])       # FoundTest(test="tests/test_a.py::test_b", …)
    find_test("test_total", ["/home/ann/shop"])               # the one test of that name, below this directory

A project is searched as far as `MAX_FILES` go; an answer that found nothing says if there were more.
"""

import ast
import difflib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from trio_debugmcp.dap.profiles.language import FoundTest, NoSuchTest
from trio_debugmcp.dap.profiles.test_examples import example_in

MAX_FILES = 3000
"""Python files that are searched for a name: some tenths of a second."""

MAX_DIRECTORIES = 3000
"""A home directory, or `/`, has more."""

MAX_NAMED = 8

_MARKS = (
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "manage.py",
    ".venv",
    ".git",
)
"""What is in the directory from which the tests of a project are run."""

_OF_OTHERS = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist", "venv", "env"})

_AT_LINE = re.compile(r"(?P<file>.+\.pyw?):(?P<line>[1-9]\d{0,8})(?: in \S+)?")

_NAME = re.compile(r"(?P<name>[^\W\d]\w*(?:(?:::|\.)[^\W\d]\w*)*)(?P<parameters>\[.*\])?", re.DOTALL)


class _Test(Struct, frozen=True):
    """A test in a file: its name, with its classes before it, and its lines."""

    name: str
    first: int
    last: int


def find_test(test: str, places: Sequence[str], directory: str | None = None) -> FoundTest:
    """Return the test that is meant, and the directory in which it runs.

    `places`: the directories in which it may be, the first one that has it counts; the last ones may be `/`.
    `directory`: where it is to run; else the root of its project, as far as its file is known.

    Raises:
        NoSuchTest: there is none, or there are several.
    """
    at_line = _AT_LINE.fullmatch(test)
    path, name = (at_line["file"], "") if at_line is not None else (test.partition("::")[0], test.partition("::")[2])
    is_path = "/" in path or path.endswith((".py", ".pyw"))
    for place in places:
        file = Path(place, path)
        if is_path and file.is_file():
            inner = _at_line(file, int(at_line["line"])) if at_line is not None else _in_file(file, name)
            return _run_from(file, inner, place, directory)
        if file.is_dir() and not name and path:
            return _run_from(file, "", place, directory)
    if not is_path:
        dotted = _dotted(test, places, directory)
        return dotted or _by_name(test, places if directory is None else [directory], directory)
    if "/" not in path:  # the name of a file alone
        return _by_file_name(test, path, places, directory)
    raise NoSuchTest(_no_file(path, places))


def project_root(file: Path, place: str) -> str:
    """Return the directory from which the tests in a file, or a directory, are run.

    It has the settings of the project. Without any it is `place`, if the file is below that, and else the directory
    that holds the file, or its packages.
    """
    above = [file, *file.parents] if file.is_dir() else list(file.parents)
    for folder in above:
        if any((folder / mark).exists() for mark in _MARKS):
            return str(folder)
        if str(folder) == place and folder.parent != folder:
            return place
    folder = above[0]
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return str(folder.parent if folder.name in {"test", "tests"} else folder)


# --- In a file --------------------------------------------------------------------------------------------------------


def _run_from(file: Path, inner: str, place: str, directory: str | None) -> FoundTest:
    full = Path(os.path.abspath(file))
    home = directory or project_root(full, place)
    shown = str(full.relative_to(home)) if full.is_relative_to(home) else str(full)
    return FoundTest(f"{shown}::{inner}" if inner else shown, home, str(full) if full.is_file() else None)


def _in_file(file: Path, name: str) -> str:
    """Return the name of a test as its file has it: a method is meant without its class if only one has it."""
    bare, bracket, parameters = name.partition("[")
    wanted = bare.replace(".", "::")
    names = [test.name for test in _tests_in(file)]
    inner = [each for each in names if each.endswith(f"::{wanted}")]
    if wanted in names or any(each.startswith(f"{wanted}::") for each in names):
        return wanted + bracket + parameters
    return inner[0] + bracket + parameters if wanted and len(inner) == 1 else name


def _at_line(file: Path, line: int) -> str:
    """Return the test that a line is in.

    Raises:
        NoSuchTest: it is in none.
    """
    tests = _tests_in(file)
    found = [test for test in tests if test.first <= line <= test.last]
    if found:
        return max(found, key=lambda test: test.first).name
    shown = _some([f"{test.name} (line {test.first})" for test in tests])
    there = f"There are: {shown}." if tests else "The file has no test."
    raise NoSuchTest(f"Line {line} of '{file}' is in no test. {there}")


def _tests_in(file: Path) -> list[_Test]:
    try:
        return list(_tests_of(ast.parse(file.read_bytes()).body))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []


def _tests_of(body: list[ast.stmt], outer: str = "") -> Iterator[_Test]:
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                yield from _tests_of(node.body, f"{outer}{name}::")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                yield _Test(outer + name, first, node.end_lineno or first)
            case ast.If() | ast.Try() | ast.With():
                yield from _tests_of(node.body, outer)
                yield from _tests_of(getattr(node, "orelse", []), outer)


# --- By name ----------------------------------------------------------------------------------------------------------


def _dotted(test: str, places: Sequence[str], directory: str | None) -> FoundTest | None:
    """Return a test that is named by dots, if a module of that name is in one of these places."""
    parts = test.replace(":", ".").split(".")
    for place in places:
        for number in range(len(parts), 0, -1):
            file = Path(place, *parts[:number]).with_suffix(".py")
            if all(parts) and file.is_file():
                if place == (directory or place):  # its runner looks for it from there
                    return FoundTest(test, place, str(file))
                return _run_from(file, "::".join(parts[number:]), place, directory)
    return None


def _by_name(test: str, places: Sequence[str], directory: str | None) -> FoundTest:
    """Return the only test of a name, of its function, its class or its class and function.

    Raises:
        NoSuchTest: there is none, or there are several.
    """
    words = _NAME.fullmatch(test)
    wanted = "" if words is None else words["name"].replace(".", "::")
    parameters = "" if words is None else words["parameters"] or ""
    near: set[str] = set()
    bounds = ""
    for place in dict.fromkeys(places):
        project = _Project(place)
        found = project.tests_called(wanted)
        near |= project.names
        bounds = bounds or project.bounds
        shown = [f"{os.path.relpath(file, place)}{_inner(name)}{parameters}" for file, name in found]
        if len(found) == 1:
            return _run_from(found[0][0], f"{found[0][1]}{parameters}", place, directory)
        if found:
            raise NoSuchTest(f"{len(found)} tests in {place} are called '{test}': {_some(shown)}. Pass one of them.")
    if "." in test and re.fullmatch(r"[\w.]+", test):  # of an installed package, perhaps: its runner knows
        return FoundTest(test, directory or places[0])
    alike = difflib.get_close_matches(wanted or test, sorted(near), MAX_NAMED, cutoff=0)
    more = f" and {len(near) - len(alike)} more" if len(near) > len(alike) else ""
    there = f"There are: {', '.join(alike)}{more}. " if alike else ""
    searched = [place for place in dict.fromkeys(places) if not _is_root(place)]
    what = f"There is no test, class of tests or test file '{test}' in {' nor in '.join(searched)}{bounds}. "
    if not searched:
        what = f"'{test}' was looked for nowhere: the server stands in {places[0]}. "
    raise NoSuchTest(f"{what}{there}Pass its path, `{example_in(searched)}`, or the `cwd` from which it starts.")


def _is_root(place: str) -> bool:
    """Return whether a directory is that of a whole machine, and not that of a project."""
    return Path(place).parent == Path(place)


def _inner(name: str) -> str:
    return f"::{name}" if name else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


def _by_file_name(test: str, path: str, places: Sequence[str], directory: str | None) -> FoundTest:
    """Return a test in the only file of a name.

    Raises:
        NoSuchTest: there is none, or there are several.
    """
    bounds = ""
    for place in dict.fromkeys(places):
        project = _Project(place)
        files = [file for file in project.files() if file.name == path]
        bounds = bounds or project.bounds
        if len(files) == 1:
            return find_test(str(files[0]) + test[len(path) :], [place], directory)
        if files:
            shown = _some([os.path.relpath(file, place) for file in files])
            raise NoSuchTest(f"{len(files)} files in {place} are called '{path}': {shown}. Pass one of them.")
    raise NoSuchTest(_no_file(path, places, bounds))


def _no_file(path: str, places: Sequence[str], bounds: str = "") -> str:
    for place in dict.fromkeys(places):
        folder = Path(place, path).parent
        files = {*folder.glob("test_*.py"), *folder.glob("*_test.py")}
        names = [str(Path(path).parent / file.name) for file in sorted(files)]
        near = difflib.get_close_matches(path, names, MAX_NAMED, cutoff=0)
        if near:
            return f"There is no file '{path}' in {place}{bounds}. There are: {', '.join(near)}."
    for place in dict.fromkeys(places):
        near = _files_alike(Path(path), place)
        if near:
            return f"There is no file '{path}' in {place}{bounds}. Do you mean {' or '.join(near)}?"
    where = " nor in ".join(dict.fromkeys(places))
    return f"There is no file '{path}' in {where}{bounds}. Pass its path, and the `cwd` from which it starts."


def _files_alike(wanted: Path, place: str) -> list[str]:
    """Return the files of a project that have this name elsewhere, or one like it."""
    files = list(_Project(place).files())
    names = difflib.get_close_matches(wanted.name, {file.name for file in files}, MAX_NAMED, cutoff=0.8)
    names = [wanted.name] if wanted.name in names else names
    return [os.path.relpath(file, place) for name in names for file in files if file.name == name][:MAX_NAMED]


class _Project:
    """The Python files below a directory that are its own, as far as the bounds go.

    Attributes:
        names: those of the tests and test files that were read.
        bounds: what was searched, if that is not all: a part of a sentence.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.names: set[str] = set()
        self.bounds = ""

    def files(self) -> Iterator[Path]:
        """Yield its files; those of environments and of other languages are not its own."""
        if _is_root(self._directory):
            return
        number = 0
        for folders, (folder, inner, names) in enumerate(os.walk(self._directory)):
            if number >= MAX_FILES or folders >= MAX_DIRECTORIES:
                self.bounds = f" (in {folders} directories, {number} Python files; the others were not read)"
                return
            inner[:] = [name for name in sorted(inner) if not _is_of_others(folder, name)]
            sources = [name for name in sorted(names) if name.endswith(".py")]
            number += len(sources)
            yield from (Path(folder, name) for name in sources)

    def tests_called(self, wanted: str) -> list[tuple[Path, str]]:
        """Return the tests that a name stands for: their files and names; of files that are called as tests first."""
        last = re.escape(wanted.rpartition("::")[2])
        defines = re.compile(rf"\b(?:def|class)\s+{last}\b")
        found: list[tuple[Path, str]] = []
        for file in self.files():
            try:
                text = file.read_text("utf-8", "replace")
            except OSError:
                continue
            if _is_called_test(file):
                self.names |= {file.stem, *re.findall(r"\bdef\s+(test\w*)", text)}
            if wanted and (file.stem == wanted or defines.search(text)):
                found += [(file, name) for name in _matching(file, wanted)]
        return [test for test in found if _is_called_test(test[0])] or found


def _is_of_others(folder: str, name: str) -> bool:
    is_own = not name.startswith(".") and name not in _OF_OTHERS
    return not is_own or os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _is_called_test(file: Path) -> bool:
    return file.stem.startswith("test") or file.stem.endswith("_test")


def _matching(file: Path, wanted: str) -> list[str]:
    """Return the names of the tests in a file that a name stands for: of tests, or once that of their class or file."""
    names = [test.name for test in _tests_in(file)]
    if file.stem == wanted and names:
        return [""]
    whole = [name for name in names if name == wanted or name.endswith(f"::{wanted}")]
    classes = [name.rpartition("::")[0] for name in names]
    return whole or [name for name in dict.fromkeys(classes) if name == wanted or name.endswith(f"::{wanted}")]
