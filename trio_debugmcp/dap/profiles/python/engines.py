"""Which debugger a Python program gets: pydevd, or our engine where that is asked for and can be.

    engine = await chosen_engine(command, options, default, patience)      # "own" or "pydevd"

The engine needs CPython 3.12, for `sys.monitoring`, and an interpreter that looks for `sitecustomize`.
"""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import trio

from trio_debugmcp.dap.pids import executable_of
from trio_debugmcp.engine import OLDEST, TRIED, Engine, WantedEngine
from trio_debugmcp.errors import CannotRun
from trio_debugmcp.patience import Patience

OPTION = "engine"
"""The key of `adapter_options` that chooses one."""

_ASK = "import sys; print(sys.implementation.name, *sys.version_info[:2])"

_ASK_SECONDS = 10.0
"""For an interpreter to say its version; it takes some milliseconds."""

_KEEPS_OUT = re.compile(r"-[bBdhiOqsuvxP?]*[IES]")
"""Options of the interpreter with which it does not look for `sitecustomize` where the environment says."""

Version = tuple[str, int, int]


async def chosen_engine(
    command: Sequence[str], options: Mapping[str, Any], default: WantedEngine, patience: Patience
) -> Engine:
    """Return the engine for a program that is run by this command of an interpreter, options included.

    Raises:
        CannotRun: our engine was asked for by name, and cannot be in that program.
    """
    wanted = options.get(OPTION, default)
    if wanted == "pydevd":
        return "pydevd"
    option = option_that_keeps_out(command)
    version = None if option is not None else await version_of(command, patience)
    is_new = version is not None and version[0] == "cpython" and version[1:] >= OLDEST
    if is_new and version is not None and (wanted == "own" or version[1:] in TRIED):
        return "own"
    if options.get(OPTION) == "own":
        raise CannotRun(
            " ".join(command),
            f"{_problem(option, version)}. Leave out adapter_options.engine, or have it be pydevd",
        )
    return "pydevd"


def option_that_keeps_out(command: Sequence[str]) -> str | None:
    """Return the option of the interpreter with which our engine cannot be brought in."""
    return next((argument for argument in command[1:] if _KEEPS_OUT.match(argument)), None)


def usual_engine(runtime: str) -> Engine:
    """Return the engine for a runtime such as `CPython 3.13.0` where nothing else is said."""
    name, _, version = runtime.partition(" ")
    is_tried = name == "CPython" and version.split(".")[:2] in [list(map(str, tried)) for tried in TRIED]
    return "own" if is_tried else "pydevd"


def _problem(option: str | None, version: Version | None) -> str:
    """Return why our engine cannot be in a program with this option of the interpreter, or of this version."""
    if option is not None:
        return f"our engine cannot be brought in with the interpreter's option {option}"
    name = "an interpreter that does not say its version" if version is None else "{} {}.{}".format(*version)
    return f"our engine needs CPython 3.12 or newer, and this is {name}"


async def engine_of_process(pid: int, options: Mapping[str, Any], default: WantedEngine, patience: Patience) -> Engine:
    """Return the engine for a process that runs already.

    Raises:
        CannotRun: our engine was asked for by name, and cannot be in that program.
    """
    return await chosen_engine([executable_of(pid) or ""], options, default, patience)


async def version_of(command: Sequence[str], patience: Patience) -> Version | None:
    """Return the implementation and version of an interpreter by its command; None if it does not say them."""
    is_plain = len(command) == 1 or command[1].startswith("-")
    return await (_version(command[0], patience) if is_plain else _asked(command, patience))


async def _version(interpreter: str, patience: Patience) -> Version | None:
    """Return the implementation and the version of an interpreter, asked once as long as its file stays the same."""
    if interpreter == sys.executable:
        return sys.implementation.name, *sys.version_info[:2]
    try:
        changed = Path(interpreter).stat().st_mtime_ns
    except OSError:
        return await _asked([interpreter], patience)
    key = interpreter, changed
    if key not in _known:
        _known[key] = await _asked([interpreter], patience)
    return _known[key]


_known: dict[tuple[str, int], Version | None] = {}


async def _asked(command: Sequence[str], patience: Patience) -> Version | None:
    with trio.move_on_after(patience.seconds(_ASK_SECONDS)):
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
