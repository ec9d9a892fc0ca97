"""How source of a compiled language is built, and what compilers say of it.

    plan = plan_of(profile.builds, "/src/shop.c", facts)
    plan.command_for("/built/shop")                     # ["gcc", "-g", "-O0", "-o", "/built/shop", "/src/shop.c"]
    first_error("shop.c:3:5: error: expected ';'")      # CompilerError("expected ';'", "shop.c", 3)

Pure: `session/before/builds.py` runs the compiler.
"""

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Literal

import msgspec
from msgspec import Struct

from trio_debugmcp.dap.profiles.detection import ProgramFacts
from trio_debugmcp.dap.profiles.tables.placeholders import filled

_ERRORS = (
    re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.+)$", re.MULTILINE),
    re.compile(
        r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+:\n(?:\n| .*\n)+(?:Fatal )?Error: (?P<text>.+)$", re.MULTILINE
    ),
    re.compile(r"^error(?:\[\w+\])?: (?P<text>.+)\n\s*--> (?P<file>[^:\n]+):(?P<line>\d+)", re.MULTILINE),
    re.compile(
        r"^(?P<file>[^\s:#][^:\n]*\.(?:go|ad[bs])):(?P<line>\d+):(?:\d+:)? (?!warning: |\(style\) )(?P<text>.+)$",
        re.MULTILINE,
    ),
    re.compile(r"^(?P<file>[^\s(][^(\n]*)\((?P<line>\d+),\d+\) (?:Error|Fatal): (?P<text>.+)$", re.MULTILINE),
    re.compile(r"^(?:/\S*|ld): .*?(?P<text>(?:undefined reference|multiple definition|cannot find) .+)$", re.MULTILINE),
    re.compile(r"^error: (?P<text>.+)$", re.MULTILINE),
)
"""The first error of gcc, clang and javac; of gfortran; of rustc; of go and gnat; of fpc; of a linker; of cargo."""


_IN_NO_FILE = re.compile(r"(?:undefined reference to|unresolved reference:|not found: (?:value|type|object)) ")
"""How a linker, kotlinc and scalac begin what they say of something that is in none of the files they were given."""

_FINDS_OTHERS = (".adb", ".go", ".java", ".lpr", ".pas", ".rs", ".zig")
"""Sources whose compilers find the other files of a program themselves."""


class Build(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """How programs are built that their debugger does not run as they are written.

    Attributes:
        suffixes: ends of the names of source files that it is for.
        files: names of files that describe a whole project, `Cargo.toml`: it is for their directories, and for source
            files with one of them in their directory or above it.
        packages: each directory of sources below such a file is a program, and a source file is a part of its own.
        command: the command line; empty: the adapter builds them itself.
        makes: a program, or a directory of classes.
        beside_output: it runs where the program is made, as it leaves files where it runs.
        otherwise: other names of the compiler, for where the command's is not on PATH.
    """

    command: tuple[str, ...]
    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    packages: bool = False
    makes: Literal["program", "classes"] = "program"
    beside_output: bool = False
    otherwise: tuple[str, ...] = ()

    def is_for(self, path: PurePath) -> bool:
        """Whether a file's name has one of the suffixes."""
        return path.name.lower().endswith(self.suffixes)

    def is_for_sources(self, suffixes: Iterable[str]) -> bool:
        """Whether a directory has files with one of the suffixes."""
        return any(suffix.endswith(one) for suffix in suffixes for one in self.suffixes)


class BuildPlan(Struct, frozen=True):
    """A build of one program: its command, where that runs, and the source file or directory.

    `package`: the directory whose sources it is of, if that is another than where the command runs. `makes`: as of the
    build; `sources`: the directory of the packages, for classes. `program`: what is made, if the command knows where.
    `beside_output`, `otherwise`: as of the build, too. `then`: commands that add to what the first has made.
    """

    command: tuple[str, ...]
    directory: str
    source: str
    package: str = ""
    makes: Literal["program", "classes"] = "program"
    sources: str = ""
    program: str = ""
    beside_output: bool = False
    otherwise: tuple[str, ...] = ()
    then: tuple[tuple[str, ...], ...] = ()

    def command_for(self, output: str) -> list[str]:
        """Return the command line that makes this file."""
        return self.commands_for(output)[0]

    def commands_for(self, output: str) -> list[list[str]]:
        """Return the command lines that make this file, one after the other."""
        values = {
            "program": self.source,
            "package": self.package or self.directory,
            "output": output,
            "output_directory": str(PurePath(output).parent),
            "sources": self.sources or self.directory,
        }
        return [[str(word) for word in filled(words, values)] for words in (self.command, *self.then)]

    def runs_in(self, output: str) -> str:
        """Return the directory in which the command runs that makes this file."""
        return str(PurePath(output).parent) if self.beside_output else self.directory

    @property
    def reports_program(self) -> bool:
        """Whether the command chooses itself where the program is made, and reports it as cargo does."""
        return not any("{output}" in word for word in self.command)


class CompilerError(Struct, frozen=True):
    """The first error of a build, and its place if it has one."""

    text: str
    file: str | None = None
    line: int | None = None


def plan_of(builds: Iterable[Build], program: str, facts: ProgramFacts) -> BuildPlan | None:
    """Return how a program is built, by the first of `builds` that is for it; None for one that runs as it is."""
    path = PurePath(program)
    for build in builds:
        if not build.files and build.is_for(path) and facts.kind == "file":
            return BuildPlan(
                build.command,
                str(path.parent),
                program,
                makes=build.makes,
                beside_output=build.beside_output,
                otherwise=build.otherwise,
            )
        described = next((one for one in facts.above if PurePath(one).name in build.files), None)
        if described is None:
            continue
        home = str(PurePath(described).parent)
        package = "" if not build.packages else program if facts.kind == "directory" else str(path.parent)
        if facts.kind == "directory" and (home == program or (build.packages and build.is_for_sources(facts.suffixes))):
            return BuildPlan(build.command, home, program, package)
        if facts.kind == "file" and (build.is_for(path) or described == program):
            return BuildPlan(build.command, home, home if described == program else program, package)
    return None


def first_error(output: str) -> CompilerError:
    """Return the first error in what a build has written; without any, its first line."""
    matches = [match for match in (pattern.search(output) for pattern in _ERRORS[:-1]) if match is not None]
    first = min(matches, key=lambda match: match.start(), default=None) or _ERRORS[-1].search(output)
    if first is None:
        lines = map(str.strip, output.splitlines())
        return CompilerError(next((line for line in lines if line and not line.startswith("# ")), ""))  # go's headings
    groups = first.groupdict()
    line = groups.get("line")
    return CompilerError(first["text"].strip(), groups.get("file"), None if line is None else int(line))


def lacks_module(error: CompilerError) -> bool:
    """Whether a file of Zig imports a module that only its build.zig knows."""
    return error.text.startswith("no module named ")


def lacks_other_files(plan: BuildPlan, error: CompilerError) -> bool:
    """Whether a build was of one file alone, and its error may be that the program has further ones."""
    alone = "{program}" in plan.command and not plan.program and not plan.source.endswith(_FINDS_OTHERS)
    return alone and _IN_NO_FILE.match(error.text) is not None


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
