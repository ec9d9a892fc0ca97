"""Which debugger a Python program gets: pydevd, or our engine where that is asked for and can be.

    engine = await chosen_engine(command, options)      # "own" or "pydevd"

The engine needs Python 3.12, for `sys.monitoring`, and an interpreter that looks for `sitecustomize`.
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import trio

Engine = Literal["own", "pydevd"]

OPTION = "engine"
"""The key of `adapter_options` that chooses one."""

OLDEST_OWN = (3, 12)
"""Older ones have no `sys.monitoring`."""

_ASK = "import sys; print(sys.implementation.name, *sys.version_info[:2])"

_ASK_SECONDS = 10.0
"""For an interpreter to say its version; it takes some milliseconds."""

_KEEPS_OUT = re.compile(r"-[bBdhiOqsuvxP?]*[IES]")
"""Options of the interpreter with which it does not look for `sitecustomize` where the environment says."""

Version = tuple[str, int, int]


async def chosen_engine(command: Sequence[str], options: Mapping[str, Any]) -> Engine:
    """Return the engine for a program that is run by this command of an interpreter, options included."""
    if options.get(OPTION) != "own" or _keeps_out(command[1:]):
        return "pydevd"
    found = await _version(command[0]) if len(command) == 1 or command[1].startswith("-") else await _asked(command)
    return "own" if found is not None and found[0] == "cpython" and found[1:] >= OLDEST_OWN else "pydevd"


def _keeps_out(arguments: Sequence[str]) -> bool:
    return any(_KEEPS_OUT.match(each) for each in arguments)


async def _version(interpreter: str) -> Version | None:
    """Return the implementation and the version of an interpreter, asked once as long as its file stays the same."""
    if interpreter == sys.executable:
        return sys.implementation.name, *sys.version_info[:2]
    try:
        changed = Path(interpreter).stat().st_mtime_ns
    except OSError:
        return await _asked([interpreter])
    key = interpreter, changed
    if key not in _known:
        _known[key] = await _asked([interpreter])
    return _known[key]


_known: dict[tuple[str, int], Version | None] = {}


async def _asked(command: Sequence[str]) -> Version | None:
    with trio.move_on_after(_ASK_SECONDS):
        try:
            found = await trio.run_process(
                [*command, "-c", _ASK], capture_stdout=True, stderr=subprocess.DEVNULL, check=False
            )
        except OSError:
            return None
        words = found.stdout.split()
        if len(words) == 3 and words[1].isdigit() and words[2].isdigit():
            return words[0].decode(errors="replace"), int(words[1]), int(words[2])
    return None
