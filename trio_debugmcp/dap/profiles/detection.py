"""Which debug adapters fit a program, by what is known of its file. Pure.

    Detect(suffixes=(".go",), files=("go.mod",), elf="go").fits_name("/src/main.go")    # True

A program fits by the first of these: its name, the interpreter that its `#!` line names, how its machine code was made,
and for a directory the files in it. What a file shows is read by `program_facts.py`.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Literal, TypeVar

from msgspec import Struct


class ProgramFacts(Struct, frozen=True):
    """What the file or directory of a program shows.

    Attributes:
        kind: None if there is nothing of that path, or it cannot be read.
        interpreter: the name of the program that its `#!` line names.
        is_elf: it is an executable of machine code; `language`: as `Executable.language`.
        debug: it has debug information, or that is unknown.
        files: of the names that were asked for, those in the directory.
        above: of each of these names, the nearest file in the program's directory or above it.
        suffixes: of the files in the directory; `names`: of these files, in order.
    """

    kind: Literal["file", "directory"] | None = None
    interpreter: str | None = None
    is_elf: bool = False
    language: str | None = None
    debug: bool = True
    files: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


class Detect(Struct, frozen=True, forbid_unknown_fields=True):
    """The programs for which an adapter is selected.

    Attributes:
        suffixes: of source files.
        files: names of files by which a directory is a program: `go.mod`.
        elf: executables of that language; `native`: of any, except those of Go, which no other debugger understands.
        interpreters: names in `#!` lines, and of processes, without a version.
    """

    suffixes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    elf: Literal["native", "c", "rust", "go"] | None = None
    interpreters: tuple[str, ...] = ()

    def fits_name(self, program: str) -> bool:
        """Whether a program fits by its name alone."""
        path = PurePath(program)
        return path.suffix.lower() in self.suffixes or path.name in self.files

    def fits_interpreter(self, name: str | None) -> bool:
        """Whether an interpreter's name is one of these, with a version or without."""
        return name is not None and any(
            re.fullmatch(re.escape(interpreter) + r"[\d.]*t?d?", name) for interpreter in self.interpreters
        )

    def fits_machine_code(self, facts: ProgramFacts) -> bool:
        """Whether an executable fits by the language that it was made of."""
        if not facts.is_elf or self.elf is None:
            return False
        return facts.language != "go" if self.elf == "native" else facts.language == self.elf

    def fits_directory(self, facts: ProgramFacts) -> bool:
        """Whether a directory has one of the files, or is one of sources with such a file above it: a Go package."""
        if facts.kind != "directory":
            return False
        has_sources = not set(self.suffixes).isdisjoint(facts.suffixes)
        above = {PurePath(path).name for path in facts.above}
        return not set(self.files).isdisjoint(facts.files) or (has_sources and not set(self.files).isdisjoint(above))


T = TypeVar("T")


def fitting(known: Sequence[tuple[T, Detect]], program: str, facts: ProgramFacts | None) -> list[T]:
    """Return what fits a program, in the order of `known`; without `facts` only by its name."""
    found = [item for item, detect in known if detect.fits_name(program)]
    if found or facts is None:
        return found
    ways: tuple[Callable[[Detect], bool], ...] = (
        lambda detect: detect.fits_interpreter(facts.interpreter),
        lambda detect: detect.fits_machine_code(facts),
        lambda detect: detect.fits_directory(facts),
    )
    return next(filter(None, ([item for item, detect in known if fits(detect)] for fits in ways)), [])
