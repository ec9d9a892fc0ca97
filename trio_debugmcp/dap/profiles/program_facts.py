"""Read what the file or directory of a program shows, for `detection.py`.

    read_facts("/src/shop", ["go.mod", "Cargo.toml"])      # ProgramFacts(kind="directory", files=("go.mod",))

It is bounded, whatever is there.
"""

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from trio_debugmcp.dap.profiles.detection import ProgramFacts
from trio_debugmcp.dap.profiles.native.elf import Executable, read_elf

_HEAD_BYTES = 600
"""Of a script: its first line, and the second where installers write a long path there."""

_MAX_ENTRIES = 2000
"""Files of a directory that are looked at."""

_MAX_ABOVE = 40
"""Directories above a program in which files are looked for."""

_DEBUG = Path("/usr/lib/debug")
"""Where systems keep the debug information of their programs."""

_LONG_SHEBANG = re.compile(rb"#!/bin/sh\n'''exec' \"?([^\"\n]*python[\d.]*)")
"""How installers of Python's packages begin a script where the interpreter's path is long."""


def read_facts(program: str, names: Iterable[str]) -> ProgramFacts:
    """Return what a path shows; of the files in it and above it those of these names."""
    path, wanted = Path(program), tuple(dict.fromkeys(names))
    try:
        if path.is_dir():
            files = tuple(name for name in wanted if os.path.isfile(path / name))
            inside = _names(path)
            suffixes = tuple(sorted({os.path.splitext(name)[1].lower() for name in inside} - {""}))
            return ProgramFacts("directory", files=files, above=_above(path, wanted), suffixes=suffixes, names=inside)
        if not path.is_file():
            return ProgramFacts()
        with path.open("rb", buffering=0) as file:
            head = file.read(_HEAD_BYTES) or b""
            made = read_elf(file)
    except (OSError, ValueError):  # ValueError: a NUL character
        return ProgramFacts()
    above = _above(path.parent, wanted)
    if made is None:
        return ProgramFacts("file", interpreter=_interpreter(head), above=above)
    debug = made.debug or _has_debug_file(path, made)
    return ProgramFacts("file", is_elf=True, language=made.language, debug=debug, above=above)


def _interpreter(head: bytes) -> str | None:
    """Return the name of the program that a script's first line names, with `env` or without."""
    long = _LONG_SHEBANG.match(head)
    if long is not None:
        return os.fsdecode(long[1]).rpartition("/")[2]
    line = head.partition(b"\n")[0]
    if not line.startswith(b"#!"):
        return None
    words = os.fsdecode(line[2:]).split()
    names = (word.rpartition("/")[2] for word in words)
    name = next(names, None)
    if name == "env":  # after its options and variables comes the program
        name = next((name for name in names if not name.startswith("-") and "=" not in name), None)
    return name


def _above(directory: Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return of each name the nearest file, in the directory or above it."""
    places = (directory, *islice(directory.parents, _MAX_ABOVE))
    return tuple(str(place) for place in filter(None, (_nearest(places, name) for name in names)))


def _nearest(places: Iterable[Path], name: str) -> Path | None:
    return next((place / name for place in places if os.path.isfile(place / name)), None)


def _names(directory: Path) -> tuple[str, ...]:
    """Return the names of the files in a directory that have a suffix."""
    with os.scandir(directory) as entries:
        found = [entry.name for entry in islice(entries, _MAX_ENTRIES) if _has_suffix(entry)]
    return tuple(sorted(found))


def _has_suffix(entry: os.DirEntry[str]) -> bool:
    return os.path.splitext(entry.name)[1] != "" and entry.is_file()


def _has_debug_file(program: Path, made: Executable) -> bool:
    """Whether the debug information of an executable is in a file of its own, where debuggers look for it."""
    places = []
    if made.build_id is not None:
        places.append(_DEBUG / ".build-id" / made.build_id[:2] / f"{made.build_id[2:]}.debug")
    if made.debug_link is not None:
        home = program.resolve().parent
        places += [home / made.debug_link, home / ".debug" / made.debug_link]
        places.append(_DEBUG / home.relative_to("/") / made.debug_link)
    return any(os.path.isfile(place) for place in places)
