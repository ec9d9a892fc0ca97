"""What a module of Go runs: its package `main`, where there is one; `./...` and import paths name its packages.

Names of packages are not looked up anywhere: what is launched is below the directory of the module's own file.

    package_directory("example.org/till/cmd/a", "/src/till")      # "/src/till/cmd/a"
"""

import re
from pathlib import Path

from trio_debugmcp.dap.profiles.projects.project_program import (
    NoProgram,
    ProjectProgram,
    beginning,
    files_below,
    listed,
)

_MAIN = re.compile(r"^package main\b", re.MULTILINE)

_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE)

_ALL = "..."


def of_go(file: Path, _: str) -> ProjectProgram | None:
    """Return the program of a module that has none in its own directory; None if it has, which delve builds.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    if any(_is_main(source) for source in home.glob("*.go")):
        return None
    return _program_below(home)


def of_packages(path: Path, cwd: str) -> ProjectProgram | None:
    """Return what `./...`, a library's package, or a package by its import path, runs; None for anything else.

    Raises:
        NoProgram: it names no program, or several.
    """
    sources = list(path.glob("*.go"))
    if sources and not any(_is_main(source) for source in sources) and _module_above(path) is not None:
        return _program_below(path)
    if path.name == _ALL and _module_above(path.parent) is not None:
        return _program_below(path.parent)
    name = str(path.relative_to(cwd)) if path.is_relative_to(cwd) else ""
    directory = package_directory(name, cwd)
    return None if directory is None else ProjectProgram(program=directory, why=f"the package {name}")


def package_directory(path: str, cwd: str) -> str | None:
    """Return the directory of a package that is named by its import path; None for what this module does not have."""
    module = _module_above(Path(cwd)) if "." in path.partition("/")[0] and not path.startswith((".", "/")) else None
    found = _MODULE.search(beginning(module)) if module is not None else None
    if module is None or found is None or not (path == found[1] or path.startswith(f"{found[1]}/")):
        return None
    place = module.parent / path[len(found[1]) :].lstrip("/")
    return str(place) if place.is_dir() else None


def _module_above(directory: Path) -> Path | None:
    return next((place / "go.mod" for place in (directory, *directory.parents) if (place / "go.mod").is_file()), None)


def _program_below(home: Path) -> ProjectProgram:
    packages = dict.fromkeys(str(file.parent) for file in files_below(home, ".go") if _is_main(file))
    if len(packages) == 1:
        found = next(iter(packages))
        return ProjectProgram(program=found, why="its only package `main`")
    if packages:
        raise NoProgram(f"'{home}' has several packages `main`. Pass one as `program`: {listed(packages)}.")
    raise NoProgram(f"'{home}' has no package `main`. Pass a test of it: test=\"FILE_test.go::TestName\".")


def _is_main(file: Path) -> bool:
    text = beginning(file)
    return not file.name.endswith("_test.go") and "//go:build ignore" not in text and _MAIN.search(text) is not None
