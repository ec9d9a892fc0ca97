"""Which Python runs a program."""

import os
import re
import shutil
import sys
from pathlib import Path

_SHEBANG = re.compile(
    rb"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?P<command>(?:\S*/)?(?:python|pypy)[\d.]*)(?!\S)"
    rb"|#!/bin/sh\n'''exec' \"?(?P<long>[^\"\n]*python[\d.]*)"
)
"""How a script of Python begins. Installers write two lines of shell where the interpreter's path is long."""

_HEAD_BYTES = 600


def interpreter_for(program: str) -> str:
    """Return the Python that should run a program.

    It is the one that the first line names, by its path, as in the scripts of a virtual environment, or by its version,
    as `env python3.9`; else that of an active virtual environment, else that of the nearest `.venv`, else ours.
    """
    named = _named_by(program)
    if named is not None and "/" not in named and "." in named:  # `env python3.9`: others may not even parse it
        named = shutil.which(named)
    if named is not None and os.path.isabs(named) and os.path.isfile(named):
        return named
    active = os.environ.get("VIRTUAL_ENV")
    homes = [Path(active)] if active else []
    places = [Path(program), *Path(program).parents]
    homes += [place / name for place in places for name in (".venv", "venv")]
    for home in homes:
        if os.path.isfile(f"{home}/pyvenv.cfg"):
            for candidate in (f"{home}/bin/python", f"{home}/Scripts/python.exe"):
                if os.path.isfile(candidate):
                    return candidate
    return sys.executable


def is_script(program: str) -> bool:
    """Return whether a file says in its first line that Python runs it."""
    return _named_by(program) is not None


def _named_by(program: str) -> str | None:
    try:
        with Path(program).open("rb") as file:
            found = _SHEBANG.match(file.read(_HEAD_BYTES))
    except (OSError, ValueError):
        return None
    return None if found is None else os.fsdecode(found["command"] or found["long"])
