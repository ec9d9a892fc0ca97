"""What a project of Zig runs: the executable that its build.zig names, built by `zig build`."""

import re
from pathlib import Path

from trio_debugmcp.dap.profiles.compilers import BuildPlan
from trio_debugmcp.dap.profiles.projects.project_program import NoProgram, ProjectProgram, beginning, listed

_EXECUTABLE = re.compile(r"\baddExecutable\s*\(\s*\.\{[^;]*?\.name\s*=\s*\"(?P<name>[^\"\n]+)\"")

_LLVM = re.compile(r"\.use_llvm\s*=\s*true\b")

_COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)


def of_zig(file: Path, _: str) -> ProjectProgram:
    """Return the only executable of a build.zig, to be built.

    Raises:
        NoProgram: it names none, or several.
    """
    home, text = file.parent, _COMMENT.sub("", beginning(file))
    programs = {found["name"]: str(home / "zig-out" / "bin" / found["name"]) for found in _EXECUTABLE.finditer(text)}
    if not programs:
        raise NoProgram(
            f"'{file}' names no executable (`addExecutable` with a `.name`). Build it, and pass what is in "
            'zig-out/bin as `program`; a test of it is test="FILE.zig::NAME".'
        )
    if len(programs) > 1:
        named = listed(programs.values())
        raise NoProgram(f"'{file}' names several programs. Build them: zig build; pass one as `program`: {named}.")
    name, program = next(iter(programs.items()))
    plan = BuildPlan(("zig", "build"), str(home), str(file), program=program, otherwise=("python-zig",))
    unreadable = "" if _LLVM.search(text) else "; without `.use_llvm = true` gdb reads no optional and no error union"
    return ProjectProgram(program=str(file), why=f"{name} of {file.name}, built by `zig build`{unreadable}", build=plan)


def of_root(source: Path, cwd: str) -> ProjectProgram | None:
    """Return the program of the build.zig that a source file is the root of; None of any other file."""
    for folder in source.parents:
        file = folder / "build.zig"
        if file.is_file():
            text = beginning(file)
            is_root = f'b.path("{source.relative_to(folder)}")' in text and "addExecutable" in text
            return of_zig(file, cwd) if is_root else None
    return None
