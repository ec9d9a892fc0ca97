"""How source of a compiled language is built, and what compilers say of it.

    plan = plan_of(profile.builds, "/src/shop.c", facts)
    plan.command_for("/tmp/shop")                       # ["gcc", "-g", "-O0", "-o", "/tmp/shop", "/src/shop.c"]
    first_error("shop.c:3:5: error: expected ';'")      # CompilerError("expected ';'", "shop.c", 3)

Pure: `session/builds.py` runs the compiler.
"""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec import Struct

from trio_debugmcp.dap.profiles.detection import ProgramFacts
from trio_debugmcp.dap.profiles.placeholders import filled

_ERRORS = (
    re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.+)$", re.MULTILINE),
    re.compile(r"^error(?:\[\w+\])?: (?P<text>.+)\n\s*--> (?P<file>[^:\n]+):(?P<line>\d+)", re.MULTILINE),
    re.compile(r"^(?:/\S*|ld): .*?(?P<text>(?:undefined reference|multiple definition|cannot find) .+)$", re.MULTILINE),
    re.compile(r"^error: (?P<text>.+)$", re.MULTILINE),
)
"""The first error of gcc, clang and javac; of rustc; of a linker; and of cargo, about no place."""


class Build(Struct, frozen=True, forbid_unknown_fields=True):
    """How programs are built that their debugger does not run as they are written.

    Attributes:
        suffixes: of the source files that it is for.
        files: names of files that describe a whole project, `Cargo.toml`: it is for their directories, and for source
            files with one of them in their directory or above it.
        command: the command line; empty: the adapter builds them itself.
    """

    command: tuple[str, ...]
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class BuildPlan(Struct, frozen=True):
    """A build of one program: its command, where that runs, and the source file or directory."""

    command: tuple[str, ...]
    directory: str
    source: str

    def command_for(self, output: str) -> list[str]:
        """Return the command line that makes this file."""
        return [str(each) for each in filled(self.command, {"program": self.source, "output": output})]

    @property
    def reports_program(self) -> bool:
        """Whether the command chooses itself where the program is made, and reports it as cargo does."""
        return not any("{output}" in each for each in self.command)


class CompilerError(Struct, frozen=True):
    """The first error of a build, and its place if it has one."""

    text: str
    file: str | None = None
    line: int | None = None


def plan_of(builds: Iterable[Build], program: str, facts: ProgramFacts) -> BuildPlan | None:
    """Return how a program is built, by the first of `builds` that is for it; None for one that runs as it is."""
    path = PurePath(program)
    for each in builds:
        if not each.files and path.suffix.lower() in each.suffixes and facts.kind == "file":
            return BuildPlan(each.command, str(path.parent), program)
        described = next((one for one in facts.above if PurePath(one).name in each.files), None)
        if described is None:
            continue
        home = str(PurePath(described).parent)
        if facts.kind == "directory" and home == program:
            return BuildPlan(each.command, home, program)
        if facts.kind == "file" and (path.suffix.lower() in each.suffixes or described == program):
            return BuildPlan(each.command, home, home if described == program else program)
    return None


def first_error(output: str) -> CompilerError:
    """Return the first error in what a build has written; without any, its first line."""
    found = [each for each in (pattern.search(output) for pattern in _ERRORS[:3]) if each is not None]
    first = min(found, key=lambda each: each.start(), default=None) or _ERRORS[3].search(output)
    if first is None:
        return CompilerError(next(filter(None, map(str.strip, output.splitlines())), ""))
    groups = first.groupdict()
    line = groups.get("line")
    return CompilerError(first["text"].strip(), groups.get("file"), None if line is None else int(line))


# --- What cargo reports -----------------------------------------------------------------------------------------------


class MadeProgram(Struct, frozen=True):
    """A program that a build has made, and the source file that it begins in."""

    executable: str
    source: str | None


class _Target(Struct):
    src_path: str | None = None


class _Artifact(Struct):
    executable: str | None = None
    target: _Target = msgspec.field(default_factory=_Target)


def made_programs(output: str) -> list[MadeProgram]:
    """Return the programs that a build reports in lines of JSON, as cargo does."""
    found = []
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            artifact = msgspec.json.decode(line, type=_Artifact)
        except msgspec.DecodeError:
            continue
        if artifact.executable is not None:
            found.append(MadeProgram(artifact.executable, artifact.target.src_path))
    return found


def without_reports(output: str) -> str:
    """Return what a build has written for people."""
    return "".join(line for line in output.splitlines(keepends=True) if not _is_report(line))


def _is_report(line: str) -> bool:
    try:
        decoded: Any = msgspec.json.decode(line) if line.startswith("{") else None
    except msgspec.DecodeError:
        return False
    return isinstance(decoded, dict)
