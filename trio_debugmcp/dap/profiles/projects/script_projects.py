"""What projects of Ruby and PHP run: the commands that their directories have."""

import json
from pathlib import Path

from trio_debugmcp.dap.profiles.projects.project_program import NoProgram, ProjectProgram, beginning, listed

_ENTRIES = ("artisan", "bin/console", "public/index.php", "index.php")
"""Where programs of PHP begin, as their frameworks have it."""


def of_ruby(file: Path, _: str) -> ProjectProgram:
    """Return the only command of a project of Ruby.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    commands = [path for place in ("exe", "bin") for path in sorted((home / place).glob("*")) if _is_ruby(path)]
    near = [*sorted(home.glob("*.rb")), *sorted((home / "lib").glob("*.rb"))]
    return _only(home, "Ruby", commands, near)


def _is_ruby(path: Path) -> bool:
    return path.is_file() and (path.suffix == ".rb" or "ruby" in beginning(path, 200).partition("\n")[0])


def of_php(file: Path, _: str) -> ProjectProgram:
    """Return the only command of a package of PHP.

    Raises:
        NoProgram: there is none, or there are several.
    """
    home = file.parent
    try:
        named = json.loads(beginning(file)).get("bin", [])
    except (ValueError, AttributeError, RecursionError) as error:
        raise NoProgram(f"'{file}' cannot be read: {error}.") from None
    named = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    commands = [path for path in (home / name for name in named if isinstance(name, str)) if path.is_file()]
    near = [path for path in (home / name for name in _ENTRIES) if path.is_file()]
    return _only(home, "PHP", commands, [*near, *(path for path in sorted(home.glob("*.php")) if path not in near)])


def _only(home: Path, language: str, commands: list[Path], near: list[Path]) -> ProjectProgram:
    if len(commands) == 1:
        return ProjectProgram(program=str(commands[0]), why="its only command")
    if commands:
        raise NoProgram(f"'{home}' has several commands. Pass one as `program`: {listed(map(str, commands))}.")
    such = f", such as {listed(map(str, near))}" if near else ""
    raise NoProgram(f"'{home}' is a project of {language} that names no command. Pass a file of it as `program`{such}.")
