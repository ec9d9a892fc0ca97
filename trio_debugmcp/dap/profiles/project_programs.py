"""The program that a project names: of `.`, a package's directory, `package.json` or `pyproject.toml`.

    project_program("/src/shop", "/src/shop")
    # ProjectProgram(program="/src/shop/server.js", args=("--port=1",), why="`npm start` in package.json")

Reads files, and starts nothing.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

FILES = ("package.json", "pyproject.toml")

_MAX_BYTES = 1_000_000

_ARCHIVE = "is an archive: what is in it is named like files below it, also for breakpoints (`NAME.pyz/__main__.py`)"

_ENTRY_POINT = re.compile(r"\s*(?P<module>[\w.]+)\s*:\s*(?P<name>[\w.]+)\s*(?:\[.*\])?\s*")


class NoProgram(Exception):
    """A project does not say what it runs, or says several; the message says what to do."""


class ProjectProgram(Struct, frozen=True):
    """What a project runs: a file, a module, a command or code; `why` names where it says so.

    `directory`: where it runs, if the project says so.
    """

    program: str | None = None
    module: str | None = None
    command: str | None = None
    code: str | None = None
    args: tuple[str, ...] = ()
    directory: str | None = None
    why: str = ""


def project_program(path: str, cwd: str) -> ProjectProgram | None:
    """Return what a directory, or the file of a project, runs in `cwd`; None for everything else.

    A `command` is to be looked for where the program would run; `code` does the same where it is not installed.

    Raises:
        NoProgram: it says nothing that can be launched, or several.
    """
    home = Path(path)
    if home.name in FILES and home.is_file():
        return _of_file(home, cwd)
    if home.suffix == ".pyz" and _is_archive(home):
        return ProjectProgram(program=path, why=_ARCHIVE)
    if not home.is_dir():
        return None
    if (home / "__main__.py").is_file():
        return _of_package(home, Path(cwd))
    found, problems = list[ProjectProgram](), list[str]()
    for file in (home / name for name in FILES if (home / name).is_file()):
        try:
            found.append(_of_file(file, cwd))
        except NoProgram as error:
            problems.append(str(error))
    if len(found) > 1:
        named = " and ".join(program.why for program in found)
        raise NoProgram(f"'{home}' names several programs: {named}. Pass one of the two files as `program`.")
    if not found and problems:
        raise NoProgram(" ".join(problems))
    return found[0] if found else None


def _of_package(home: Path, cwd: Path) -> ProjectProgram:
    if (home / "__init__.py").is_file() and home.parent == cwd and home.name.isidentifier():
        return ProjectProgram(module=home.name, why=f"python -m {home.name}, as it has a __main__.py")
    return ProjectProgram(program=str(home / "__main__.py"), why="its __main__.py")


def _of_file(file: Path, cwd: str) -> ProjectProgram:
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
    return _of_python(file, described, Path(cwd)) if file.suffix == ".toml" else _of_node(file, described)


# --- Node -------------------------------------------------------------------------------------------------------------


def _is_archive(file: Path) -> bool:
    from zipfile import is_zipfile  # not at the start of every server

    return is_zipfile(file)


def _of_node(file: Path, described: Mapping[str, Any]) -> ProjectProgram:
    """Return what `npm start` runs by node itself, or the command or the module of a package."""
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


def _of_python(file: Path, described: Mapping[str, Any], cwd: Path) -> ProjectProgram:
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
    path = "" if home == cwd else f"sys.path.insert(0, {str(home)!r})\n"
    code = f"import sys\n{path}from {entry['module']} import {function}\nsys.exit({entry['name']}())\n"
    return ProjectProgram(command=name, code=code, why=f"the command {name} of [{table}], {scripts[name]}")


def _home_of(project: Path, name: str) -> Path:
    """Return the directory of a project from which its package or module is imported: `src`, or its own."""
    source = project / "src"
    return source if (source / name).is_dir() or (source / f"{name}.py").is_file() else project


def _table(described: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = described.get(key)
    return value if isinstance(value, dict) else {}
