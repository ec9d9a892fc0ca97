"""Where packages of Java, Kotlin and Scala begin, and the files that are named by their package below these places.

    roots = project_roots(Path("/src/till/src/test/java/shop/ShelfTest.java"), "shop")
    file_named("shop/Shelf.java", ["/src/till/target/till.jar"])    # "/src/till/src/main/java/shop/Shelf.java"

Files are read only for the package that they begin with.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from trio_debugmcp.dap.profiles.test_runners.class_paths import PROJECT_FILES
from trio_debugmcp.dap.profiles.test_runners.named_test import nearest

_SOURCES = (
    *("src/main/java", "src/test/java", "src/main/kotlin", "src/test/kotlin", "src/main/scala", "src/test/scala"),
    *("src", "test"),
)

_PACKAGE = re.compile(rb"^[^\S\n]*package[^\S\n]+([\w.]+)", re.MULTILINE)

_MAX_BYTES = 100_000
"""Of a source file in which its package is looked for: it is at the beginning."""


def project_of(file: Path, package: str) -> Path:
    """Return the directory of the project that a file of a package belongs to."""
    described = nearest(file, PROJECT_FILES)
    return described.parent if described is not None else _home_of(_package_root(file, package))


def project_roots(file: Path, package: str) -> list[str]:
    """Return the directories in which packages begin: that of the file's own, and those of its project."""
    project = project_of(file, package)
    places = [_package_root(file, package), *(project / place for place in _SOURCES if (project / place).is_dir())]
    return list(dict.fromkeys(map(str, places)))


def file_named(named: str, programs: Sequence[str]) -> str | None:
    """Return the file that a path means which begins with its package, among the sources of these programs.

    A program is a source, what was built of one, or a directory where one runs.
    """
    for program in programs:
        file = Path(program, "_") if Path(program).is_dir() else Path(program)
        for root in project_roots(file, _package_in(file)):
            found = Path(root, named)
            if found.is_file():
                return str(found)
    return None


def _package_in(file: Path) -> str:
    if file.suffix not in (".java", ".kt", ".scala"):
        return ""
    try:
        with file.open("rb") as source:
            found = _PACKAGE.search(source.read(_MAX_BYTES))
    except OSError:
        return ""
    return "" if found is None else found[1].decode()


def _package_root(file: Path, package: str) -> Path:
    """Return the directory in which a file's package begins."""
    root, parts = file.parent, package.split(".") if package else []
    if parts and list(root.parts[-len(parts) :]) == parts:
        return root.parents[len(parts) - 1]
    return root


def _home_of(root: Path) -> Path:
    """Return the directory of a project that nothing describes, by where its sources are by custom."""
    if root.parts[-3:] == ("src", "test", "java"):
        return root.parents[2]
    return root.parent if root.name in ("test", "tests", "src") else root
