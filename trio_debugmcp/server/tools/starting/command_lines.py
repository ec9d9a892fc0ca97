"""A command line, or the name of a test, in place of a program: what is to be launched for it."""

import re
import shlex
from pathlib import Path

from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting.launch_parameters import DebugLaunch
from trio_debugmcp.session.debugger import Debugger

_COMMAND = re.compile(r"(?:(?P<python>(?:\S*/)?(?:python|pypy)[\d.]*)\s+(?=\S)|(?=\S+\s+\S))(?P<rest>.+)", re.DOTALL)
"""A command line in place of a program, as one would type it."""

_NODE = ("node", "npm", "tsx", "ts-node")
"""Commands that run a file of JavaScript; `npm start` runs what a package names."""

_AS_TEST = re.compile(r".+\.\w+::[^:].*", re.DOTALL)
"""The name of a test in place of a program, as its runner has it."""


_RUNNERS = {
    **dict.fromkeys(("npx", "bunx"), None),
    **dict.fromkeys(("poetry", "uv", "pipenv", "pdm", "rye", "hatch", "go", "cargo"), "run"),
    "bundle": "exec",
}
"""Commands that run another one, and the word between; `cargo run` has no more than arguments behind it."""


def as_meant(debugger: Debugger, params: DebugLaunch, cwd: str) -> DebugLaunch:
    """Return the parameters with a command line, or the name of a test, where it belongs.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is not a command line.
    """
    program = params.program or ""
    command = _COMMAND.fullmatch(program)
    is_there = ("::" in program or command is not None) and existing_file(debugger, program, cwd) is not None
    if is_there or (command is None and not _AS_TEST.fullmatch(program)):
        return params
    if command is None or _is_test(debugger, program, cwd):
        return replace(params, program=None, test=program)
    try:
        words = shlex.split(command["rest"])
    except ValueError as error:
        raise UsageError("INVALID_PARAMETER", f"`{program}` is not a command line: {error}.") from None
    run = _without_runner(words)
    is_run, words = run != words, run
    python = command["python"] or ""
    if "/" in python:  # a bare `python` is the one of the program's environment
        options = {"python": [str(Path(cwd, python))], **params.adapter_options}
        params = replace(params, adapter_options=options)
    if words[0] in _NODE and len(words) > 1 and not words[1].startswith("-"):
        words = words[1:] if words[0] != "npm" else [".", *words[2:]] if words[1] == "start" else words
    if words[0] == "-m" and len(words) > 1:
        return replace(params, program=None, module=words[1], args=[*words[2:], *params.args])
    is_command = is_run or words[0] == "." or ("/" not in words[0] and Path(words[0]).suffix == "" and not python)
    if words[0].startswith("-") or (existing_file(debugger, words[0], cwd) is None and not is_command):
        return params
    return replace(params, program=words[0], args=[*words[1:], *params.args])


def _is_test(debugger: Debugger, program: str, cwd: str) -> bool:
    """Return whether it is a test although it has blanks, in its name or in the path of its file."""
    file = program.partition("::")[0]
    return _AS_TEST.fullmatch(program) is not None and existing_file(debugger, file, cwd) is not None


def _without_runner(words: list[str]) -> list[str]:
    """Return a command line without what only runs it: `npx`, `poetry run`, `go run`, `cargo run --`."""
    between = _RUNNERS.get(words[0], "")
    own = words[1:] if between is None else words[2:] if between and words[1:2] == [between] else None
    if own is not None and words[0] == "cargo":
        return [".", *own[1:]] if own[:1] in ([], ["--"]) else words
    return words if not own or own[0].startswith("-") else own
