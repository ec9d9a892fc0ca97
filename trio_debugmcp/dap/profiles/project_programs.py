"""The program that a project names: of `.`, a package's directory, or the file that describes it: `pom.xml`, `./...`.

    project_program("/src/shop", "/src/shop")
    # ProjectProgram(program="/src/shop/server.js", args=("--port=1",), why="`npm start` in package.json")

Reads files, and starts nothing.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trio_debugmcp.dap.profiles.projects.built_projects import of_cmake, of_commands, of_source
from trio_debugmcp.dap.profiles.projects.go_projects import of_go, of_packages
from trio_debugmcp.dap.profiles.projects.java_projects import of_java
from trio_debugmcp.dap.profiles.projects.project_program import NoProgram, ProjectProgram
from trio_debugmcp.dap.profiles.projects.script_projects import of_php, of_ruby
from trio_debugmcp.dap.profiles.projects.zig_projects import of_root, of_zig

_MAX_BYTES = 1_000_000

_ARCHIVE = "is an archive: what is in it is named like files below it, also for breakpoints (`NAME.pyz/__main__.py`)"

_OF_CMAKE = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
"""Suffixes of source files that a project of CMake may have."""

_ENTRY_POINT = re.compile(r"\s*(?P<module>[\w.]+)\s*:\s*(?P<name>[\w.]+)\s*(?:\[.*\])?\s*")


def project_program(path: str, cwd: str) -> ProjectProgram | None:
    """Return what a directory, or the file of a project, runs in `cwd`; None for everything else.

    A `command` is to be looked for where the program would run; `code` does the same where it is not installed.

    Raises:
        NoProgram: it says nothing that can be launched, or several.
    """
    home = Path(path)
    reader = _READERS.get(home.name)
    if reader is not None and home.is_file():
        return reader(home, cwd)
    if home.suffix == ".pyz" and _is_archive(home):
        return ProjectProgram(program=path, why=_ARCHIVE)
    if not home.is_dir():
        if home.suffix == ".zig" and home.is_file():
            return of_root(home, cwd)
        return of_source(home) if home.suffix.lower() in _OF_CMAKE and home.is_file() else of_packages(home, cwd)
    if (home / "__main__.py").is_file():
        return _of_package(home, Path(cwd))
    described = [home / name for name in _READERS if (home / name).is_file()]
    own = [file for file in described if file.name not in _BESIDE_OTHERS]
    return _of_directory(home, own or described, cwd) if described else of_packages(home, cwd)


def _of_directory(home: Path, files: Sequence[Path], cwd: str) -> ProjectProgram | None:
    """Return what the files of a directory say that it runs; None also if an adapter knows that."""
    found, problems = list[ProjectProgram](), list[str]()
    for file in files:
        try:
            program = _READERS[file.name](file, cwd)
        except NoProgram as error:
            problems.append(str(error))
            continue
        if program is None:
            return None
        found += [program] if program not in found else []
    if len(found) > 1:
        named = " and ".join(program.why for program in found)
        raise NoProgram(f"'{home}' names several programs: {named}. Pass one of the two files as `program`.")
    if not found and problems:
        raise NoProgram(" ".join(dict.fromkeys(problems)))
    return found[0] if found else None


def _of_package(home: Path, cwd: Path) -> ProjectProgram:
    if (home / "__init__.py").is_file() and home.parent == cwd and home.name.isidentifier():
        return ProjectProgram(module=home.name, why=f"python -m {home.name}, as it has a __main__.py")
    return ProjectProgram(program=str(home / "__main__.py"), why="its __main__.py")


def _described(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as opened:
            text = opened.read(_MAX_BYTES).decode("utf-8-sig")
        described = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise NoProgram(f"'{file}' cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise NoProgram(f"'{file}' cannot be read: {error}.") from None
    if not isinstance(described, dict):
        raise NoProgram(f"'{file}' is not an object.")
    return described


# --- Node -------------------------------------------------------------------------------------------------------------


def _is_archive(file: Path) -> bool:
    from zipfile import is_zipfile  # not at the start of every server

    return is_zipfile(file)


def _of_node(file: Path, _: str) -> ProjectProgram:
    """Return what `npm start` runs by node itself, or the command or the module of a package."""
    described = _described(file)
    scripts = _table(described, "scripts")
    start = scripts.get("start")
    if isinstance(start, str):
        return _started(file, start, [name for name in ("prestart", "poststart") if name in scripts])
    commands = described.get("bin")
    commands = _table(described, "bin") if not isinstance(commands, str) else {str(described.get("name")): commands}
    if len(commands) > 1:
        named = ", ".join(f"{name} ({place})" for name, place in commands.items())
        raise NoProgram(f"'{file}' has several commands: {named}. Pass the file of one as `program`.")
    for name, place in commands.items():
        if isinstance(place, str) and (file.parent / place).is_file():
            return ProjectProgram(program=str(file.parent / place), why=f"the command {name} in {file.name}")
    main = described.get("main", "index.js")
    if isinstance(main, str):
        for place in (main, f"{main}.js", f"{main}/index.js"):
            if (file.parent / place).is_file():
                return ProjectProgram(program=str((file.parent / place).resolve()), why=f"`main` of {file.name}")
    known = f" Its scripts are: {', '.join(scripts)}." if scripts else ""
    raise NoProgram(f"'{file}' names no program that is there, by `start`, `bin` or `main`.{known} Pass its file.")


def _started(file: Path, start: str, beside: list[str]) -> ProjectProgram:
    try:
        words = shlex.split(start)
    except ValueError:
        words = []
    script = words[1] if len(words) > 1 and words[0] in ("node", "tsx", "ts-node") else ""
    if script and not script.startswith("-") and (file.parent / script).is_file() and not _is_shell(words):
        home, place = str(file.parent), str(file.parent / script)
        why = f"`npm start` in {file.name}" + (f", without its {' and '.join(beside)}" if beside else "")
        return ProjectProgram(program=place, args=tuple(words[2:]), directory=home, why=why)
    raise NoProgram(
        f"`npm start` in '{file}' is `{start}`, which is not a file that node runs. Pass the file as `program`; "
        'for a page of a dev server, url="http://localhost:…" and dev_server="npm start".'
    )


def _is_shell(words: list[str]) -> bool:
    return any(mark in word for word in words for mark in "&;|$><`*?~\n")


# --- Python -----------------------------------------------------------------------------------------------------------


def _of_python(file: Path, cwd: str) -> ProjectProgram:
    described = _described(file)
    poetry = _table(_table(described, "tool"), "poetry")
    project, table = _table(described, "project"), "project.scripts"
    if "scripts" not in project and "scripts" in poetry:
        project, table = {"name": project.get("name"), **poetry}, "tool.poetry.scripts"
    scripts = {name: place for name, place in _table(project, "scripts").items() if isinstance(place, str)}
    own = project.get("name")
    name = own if own in scripts else next(iter(scripts), None)
    if name is None:
        raise NoProgram(f"'{file}' has no [project.scripts]. Pass a file of the project as `program`, or a `module`.")
    if len(scripts) > 1 and name != own:
        raise NoProgram(f"'{file}' has several commands. Pass one as `program`: {', '.join(scripts)}.")
    entry = _ENTRY_POINT.fullmatch(scripts[name])
    if entry is None:
        raise NoProgram(f"'{file}': the command {name} is '{scripts[name]}', which is not module:function.")
    function = entry["name"].partition(".")[0]
    home = _home_of(file.parent, entry["module"].partition(".")[0])
    path = "" if home == Path(cwd) else f"sys.path.insert(0, {str(home)!r})\n"
    code = f"import sys\n{path}from {entry['module']} import {function}\nsys.exit({entry['name']}())\n"
    return ProjectProgram(command=name, code=code, why=f"the command {name} of [{table}], {scripts[name]}")


def _home_of(project: Path, name: str) -> Path:
    """Return the directory of a project from which its package or module is imported: `src`, or its own."""
    source = project / "src"
    return source if (source / name).is_dir() or (source / f"{name}.py").is_file() else project


def _table(described: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = described.get(key)
    return value if isinstance(value, dict) else {}


# --- All of them ------------------------------------------------------------------------------------------------------

_READERS: Mapping[str, Callable[[Path, str], ProjectProgram | None]] = {
    "package.json": _of_node,
    "pyproject.toml": _of_python,
    "CMakeLists.txt": of_cmake,
    "pom.xml": of_java,
    "build.gradle": of_java,
    "build.gradle.kts": of_java,
    "go.mod": of_go,
    "build.zig": of_zig,
    "composer.json": of_php,
    "Gemfile": of_ruby,
    "Rakefile": of_ruby,
    "meson.build": of_commands,
    "Makefile": of_commands,
    "makefile": of_commands,
}
"""File that describes a project → what reads what it runs, from the file in a working directory; None of it: an adapter
takes the directory as it is."""

_BESIDE_OTHERS = frozenset({"Makefile", "makefile", "Rakefile", "Gemfile", "composer.json"})
"""Those that projects of any language have for tasks of theirs."""

FILES = tuple(_READERS)
