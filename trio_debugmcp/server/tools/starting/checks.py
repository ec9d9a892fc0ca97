"""Checks of what is to be started: which adapter, with which options, and whether a program can start at all."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from trio_debugmcp.dap.pids import executable_of
from trio_debugmcp.dap.profiles import (
    Attach,
    Profile,
    ProgramFacts,
    candidates,
    files_to_launch,
    first_installed,
    for_process,
    read_facts,
)
from trio_debugmcp.errors import UsageError
from trio_debugmcp.session.debugger import Debugger

_HEAD_BYTES = 64
"""Of an executable: enough to know its format."""

_MAX_SOURCE_BYTES = 4 * 1024 * 1024
"""Of a source file whose syntax is checked; what is larger was not written by people, and fails by itself."""


_MAX_WORD_BYTES = 131072
"""Of an argument or a variable, with the NUL behind it: Linux takes no longer one."""


def check_words(args: Sequence[str], env: Mapping[str, str | None]) -> None:
    """Refuse what no process can be started with, before anything is ended for it.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    words = {f"args[{number}]": word for number, word in enumerate(args)}
    words |= {f"env {name}": f"{name}={value or ''}" for name, value in env.items()}
    for name, word in words.items():
        if "\0" in word:
            raise UsageError("INVALID_PARAMETER", f"`{name}` has a NUL character, which ends a text of the system.")
        if len(word.encode(errors="surrogateescape")) >= _MAX_WORD_BYTES:
            sentence = f"`{name}` has more than {_MAX_WORD_BYTES - 1} bytes. Put it into a file that the program reads."
            raise UsageError("INVALID_PARAMETER", sentence)
    if any(not name or "=" in name for name in env):
        raise UsageError("INVALID_PARAMETER", "The name of a variable in `env` is empty, or has a `=`.")
    size = sum(len(word.encode(errors="surrogateescape")) + 9 for word in words.values())
    if size > (most := os.sysconf("SC_ARG_MAX") // 2):
        raise UsageError("INVALID_PARAMETER", f"`args` and `env` have {size} bytes, {most} at most can be passed on.")


async def choose_profile(
    debugger: Debugger, adapter: str | None, program: str | None, kind: str | None = None
) -> Profile:
    """Return the profile of an adapter or language, or of the `type` of a configuration, or the one for a program.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`.
    """
    fits = candidates(
        adapter,
        program,
        debugger.settings.profiles,
        lambda program: program_facts(debugger, program),
        kind=kind,
    )
    return await choose_of(debugger, fits)


async def choose_of(debugger: Debugger, fits: Sequence[Profile]) -> Profile:
    """Return the first of these adapters that is installed.

    Raises:
        UsageError: `ADAPTER_NOT_FOUND`.
    """
    places: dict[str, str | None] = {}
    for profile in fits:
        places[profile.name] = await debugger.host.locate(profile, debugger.patience)
        if places[profile.name] is not None:
            break
    return first_installed(fits, lambda each: places.get(each.name))


def program_facts(debugger: Debugger, program: str) -> ProgramFacts:
    """Return what the file or directory of a program shows."""
    profiles = debugger.settings.profiles
    names = {name for profile in profiles for name in profile.detect.files}
    names |= {name for profile in profiles for build in profile.builds for name in build.files}
    try:
        answer = debugger.host.query(
            f"kind of {program}", lambda: msgspec.to_builtins(read_facts(program, sorted(names)))
        )
    except UsageError:  # a recording from before this was asked
        return ProgramFacts()
    return msgspec.convert(answer, ProgramFacts)


def adapters_for_process(debugger: Debugger, pid: int) -> list[Profile]:
    """Return the adapters that debug what a process runs, installed or not; none if that is not known."""
    profiles = debugger.settings.profiles

    def ask() -> list[str]:
        executable = executable_of(pid)
        if executable is None:  # no such process, or another user's: that has been said
            return []
        link = Path(f"/proc/{pid}/exe")  # leads to the file that it executes, even if that was replaced
        facts = read_facts(str(link) if link.exists() else executable, ())
        return [profile.name for profile in for_process(executable, facts, profiles)]

    try:
        names = debugger.host.query(f"what debugs process {pid}", ask)
    except UsageError:  # a recording from before this was asked
        return []
    return [profile for profile in profiles if profile.name in names]


def check_options(debugger: Debugger, profile: Profile, options: Mapping[str, Any]) -> None:
    """Check that options set nothing that has a parameter, and select no code on a server that is confined.

    Raises:
        UsageError: `INVALID_PARAMETER` or `PERMISSION_DENIED`.
    """
    for name in options:
        if name in profile.reserved_options:
            instead = profile.reserved_options[name]
            raise UsageError(
                "INVALID_PARAMETER",
                f"adapter_options may not set '{name}'"
                + (f": pass the parameter {instead} instead." if instead else "."),
            )
        _check_value(debugger, profile, name, options[name])


def check_attach_options(debugger: Debugger, profile: Profile, start: Attach) -> None:
    """Check that options of an attachment do not contradict what it attaches to, and select no code either.

    Raises:
        UsageError: `INVALID_PARAMETER` or `PERMISSION_DENIED`.
    """
    asked = {"pid": start.pid, "port": start.port, "host": start.host, "core_file": start.core_file}
    own = profile.attach_arguments(replace(start, options={}))
    for name, value in start.options.items():
        parameter = next((key for key, each in asked.items() if each is not None and own.get(name) == each), None)
        if parameter is not None:
            raise UsageError(
                "INVALID_PARAMETER", f"adapter_options may not set '{name}': pass the parameter {parameter} instead."
            )
        _check_value(debugger, profile, name, value)


def _check_value(debugger: Debugger, profile: Profile, name: str, value: object) -> None:
    problem = profile.programs.option_problem(name, value)
    if problem is not None:
        raise UsageError("INVALID_PARAMETER", f"adapter_options: '{name}' {problem}.")
    if name in profile.code_options and debugger.settings.roots:
        raise UsageError(
            "PERMISSION_DENIED",
            f"'{name}' may not be chosen on a server that is confined to {debugger.settings.roots[0]}.",
        )


def check_program(
    debugger: Debugger, profile: Profile, program: str, options: Mapping[str, Any], *, builds: bool
) -> None:
    """Check that a program is there, can be read, and can start; with `builds` it is what is built first.

    `options`: those of the adapter. The syntax of an interpreter that they choose may be another one.

    Raises:
        UsageError: `INVALID_PATH`, `PERMISSION_DENIED` or `LAUNCH_FAILED`.
    """
    found = program_facts(debugger, program)
    takes_directory = profile.detect.files != () and profile.detect.fits_directory(found)
    files = files_to_launch(found, [profile])
    debugger.host.query(
        f"program {program}",
        lambda: _check(profile, program, options, files, builds=builds, takes_directory=takes_directory),
    )


def _check(
    profile: Profile, program: str, options: Mapping[str, Any], files: str, *, builds: bool, takes_directory: bool
) -> None:
    path = Path(program)
    if path.is_dir() and (builds or takes_directory):
        return
    if not path.is_file():
        inside = f"is a directory. Pass a file in it{f': {files}' if files else ''}"
        what = inside if path.is_dir() else "does not exist. Pass the path of a file"
        raise UsageError("INVALID_PATH", f"The program '{program}' {what}.", {"path": program})
    try:
        # A program of machine code may have hundreds of megabytes, and no syntax to check.
        source = _beginning(path, _MAX_SOURCE_BYTES + 1 if profile.code.reads_source else _HEAD_BYTES)
    except OSError as error:
        raise UsageError("PERMISSION_DENIED", f"The program '{program}' cannot be read: {error.strerror}") from None
    usual, chosen = (profile.programs.interpreter(program, program, each) for each in ({}, options))
    if builds or len(source) > _MAX_SOURCE_BYTES or chosen != usual:
        return
    problem = profile.expressions.program_problem(program, source)
    if problem is not None:
        raise UsageError("LAUNCH_FAILED", f"'{program}' cannot start: {problem}", {"path": program})


def _beginning(program: Path, size: int) -> bytes:
    with program.open("rb") as file:
        return file.read(size)
