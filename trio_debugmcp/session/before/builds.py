"""`Builds`: programs that are built before they are launched, each in a directory that is gone with its session.

    built = await builds.build(plan, seconds=30)
    launch = Launch(program=built.program, source=plan.source, preface=built.output)
    builds.discard(launch)

A session discards its own at its end. A compiler is a command that is run to its end: no shell, no input, and what it
writes is bounded. Cancelling ends it with everything that it has started.
"""

import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import Struct

from trio_debugmcp.dap.process import Watchdog, environment, open_process
from trio_debugmcp.dap.profiles.compilers import (
    BuildPlan,
    first_error,
    lacks_module,
    lacks_other_files,
    made_programs,
    without_reports,
)
from trio_debugmcp.dap.profiles.starts import Launch, Start
from trio_debugmcp.dap.profiles.test_examples import example_in
from trio_debugmcp.errors import CannotRun, UsageError
from trio_debugmcp.owned_directory import OwnedDirectory
from trio_debugmcp.session.host import Host
from trio_debugmcp.state.payloads import shortened

_HEAD_BYTES, _TAIL_BYTES = 128 * 1024, 1024 * 1024
"""Kept of each stream: a compiler's first error, and at the end what it has made."""

_DRAIN_SECONDS = 1.0
"""For the last output after the end; what the command has left running may keep the pipes open."""

_CHUNK_BYTES = 64 * 1024


class Ran(Struct, frozen=True):
    """How a command has ended, and what it has written."""

    exit_code: int
    stdout: str
    stderr: str


async def run_command(
    argv: Sequence[str], watchdog: Watchdog, *, cwd: str | None = None, env: Mapping[str, str] | None = None
) -> Ran:
    """Run a command and return what it has written. The caller bounds the time.

    Resource handling: when this returns or is cancelled, no process of the command is left.

    Raises:
        CannotRun: it could not be started.
    """
    stdout, stderr = _Kept(), _Kept()
    async with open_process(argv, watchdog, cwd=cwd, env=env) as process, trio.open_nursery() as pumps:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise AssertionError("the process was opened with pipes")
        await process.stdin.aclose()
        pumps.start_soon(stdout.fill, process.stdout)
        pumps.start_soon(stderr.fill, process.stderr)
        exit_code = await process.wait()
        pumps.cancel_scope.deadline = trio.current_time() + watchdog.patience.seconds(_DRAIN_SECONDS)
    return Ran(exit_code, stdout.text(), stderr.text())


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    async def fill(self, pipe: trio.abc.ReceiveStream) -> None:
        """Read to the end."""
        while data := await pipe.receive_some(_CHUNK_BYTES):
            room = _HEAD_BYTES - len(self._head)
            self._head += data[:room]
            self._tail += data[room:] if room < len(data) else b""
            too_many = max(0, len(self._tail) - _TAIL_BYTES)
            self._left_out += too_many
            del self._tail[:too_many]

    def text(self) -> str:
        middle = f"\n… {self._left_out} bytes left out …\n".encode() if self._left_out else b""
        return (self._head + middle + self._tail).decode(errors="replace")


_OUTPUT_LENGTH = 4000
"""Characters of a compiler's output in the details of an error."""

_MAX_NAMED = 8
"""Programs or files of a project that an error names."""


_CORRECT = "Correct it, and call debug_launch again."

_OF_PROJECT = (
    "Only `zig build` knows the modules that build.zig names: pass build.zig as `program`; a test is launched of a "
    "file that imports none of them."
)

_PLAIN = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "CARGO_TERM_COLOR": "never"}
"""Variables with which compilers write their errors in English and without colors, as `first_error` knows them."""


class Built(Struct, frozen=True):
    """A program that was built, or the directory of its classes, and what the build has written."""

    program: str
    output: str


class Builds:
    """The programs that this server has built, as long as a session has them."""

    def __init__(self, host: Host, watchdog: Watchdog) -> None:
        self._host = host
        self._watchdog = watchdog
        self._directories: dict[str, OwnedDirectory] = {}

    def __repr__(self) -> str:
        return f"<Builds of {list(self._directories)}>"

    async def build(self, plan: BuildPlan, seconds: float) -> Built:
        """Build a program. Cancelling ends the compiler.

        Raises:
            UsageError: `LAUNCH_FAILED` with the first error, or `TIMEOUT`.
        """

        async def ask() -> Any:
            return msgspec.to_builtins(await self._build(plan, seconds))

        return msgspec.convert(await self._host.find_out(f"build of {plan.source}", ask), Built)

    def discard(self, start: Start) -> None:
        """Delete what was built for a launch, if anything was, in a directory of ours."""
        directory = self._directories.pop(start.program, None) if isinstance(start, Launch) else None
        if directory is not None:
            directory.remove()

    async def _build(self, plan: BuildPlan, seconds: float) -> Built:
        directory = OwnedDirectory("trio-debugmcp-build-")
        try:
            output = str(Path(directory.path, Path(plan.source).stem or "program"))
            if plan.makes == "classes":
                Path(output).mkdir()  # javac makes none before 9
            ran: Ran | None = None
            with trio.move_on_after(seconds):
                ran = await self._run(plan, output)
            if ran is None:
                raise UsageError(
                    "TIMEOUT",
                    f"'{plan.source}' was not built within {round(seconds, 1):g} s by {plan.command[0]}. Pass a longer "
                    "timeout.",
                    {"path": plan.source},
                )
            program = self._made(plan, ran, output)
        except BaseException:
            directory.remove()
            raise
        if program == output:
            self._directories[program] = directory
        else:
            directory.remove()
        return Built(program, _for_people(ran))

    async def _run(self, plan: BuildPlan, output: str) -> Ran:
        try:
            (command, *further), env = plan.commands_for(output), environment(_PLAIN)
            command[0] = _compiler(command[0], plan.otherwise)
            ran = await run_command(command, self._watchdog, cwd=plan.runs_in(output), env=env)
            for each in further:
                if ran.exit_code == 0:
                    ran = await run_command(each, self._watchdog, cwd=plan.runs_in(output), env=env)
            return ran
        except CannotRun as error:
            raise UsageError(
                "LAUNCH_FAILED",
                f"'{plan.source}' cannot be built: {error.program} does not run ({error.reason}). Install it, or build "
                "the program with debug information in another way, and launch that.",
                {"path": plan.source},
            ) from error

    def _made(self, plan: BuildPlan, ran: Ran, output: str) -> str:
        """Return the program that a build has made.

        Raises:
            UsageError: `LAUNCH_FAILED`: there is none, or there are several.
        """
        if ran.exit_code != 0:
            raise _failed(plan, ran)
        if plan.program and Path(plan.program).is_file():
            return plan.program
        if plan.program:
            raise _no_program(plan, f"{plan.command[0]} made no {plan.program}")
        if not plan.reports_program:
            if Path(output).is_file() or (plan.makes == "classes" and any(Path(output).iterdir())):
                return output
            raise _no_program(plan, f"{plan.command[0]} made no program")
        programs = made_programs(ran.stdout)
        fits = [program for program in programs if program.source == plan.source] or programs
        if len(fits) == 1 and (Path(plan.source).is_dir() or fits[0].source == plan.source):
            return fits[0].executable
        sources = [str(program.source or program.executable) for program in programs]
        if not programs:
            test = example_in([plan.source])
            raise _no_program(plan, f'its project builds no program. A test of it can be, named like `test="{test}"`')
        raise _no_program(plan, f"its project builds programs from: {_named(sources)}. Pass one of these as `program`")


def _compiler(name: str, otherwise: Sequence[str]) -> str:
    """Return the first of a compiler's names that is a program on PATH, or beside this server's Python as pip's are."""
    beside = sysconfig.get_path("scripts")
    found = (shutil.which(each) or shutil.which(each, path=beside) for each in (name, *otherwise))
    return next(filter(None, found), name) if otherwise else name


def _for_people(ran: Ran) -> str:
    return without_reports(ran.stdout) + ran.stderr


def _failed(plan: BuildPlan, ran: Ran) -> UsageError:
    written = _for_people(ran)
    # A compiler writes its errors to stderr, and some to stdout, as cargo's scripts do.
    error = first_error(ran.stderr if ran.stderr.strip() else written)
    place = "" if error.file is None else f"{error.file}:{error.line}: "
    place = f"line {error.line}: " if error.file == plan.source else place
    what = shortened(error.text) or f"{plan.command[0]} ended with exit code {ran.exit_code}"
    others = _beside(plan.source) if lacks_other_files(plan, error) else []
    then = _with_others(plan, others) if others else _CORRECT
    then = _OF_PROJECT if lacks_module(error) else then
    return UsageError(
        "LAUNCH_FAILED",
        f"'{plan.source}' cannot be built: {place}{what.rstrip('. ')}. {then}",
        {
            "path": plan.source if error.file is None else str(Path(plan.directory, error.file)),
            **({} if error.line is None else {"line": error.line}),
            "output": shortened(written, limit=_OUTPUT_LENGTH),
        },
    )


def _beside(source: str) -> list[str]:
    """Return the names of the other files of a language in a file's directory."""
    file = Path(source)
    return sorted(each.name for each in file.parent.glob(f"*{file.suffix}") if each != file)


def _with_others(plan: BuildPlan, others: Sequence[str]) -> str:
    made = "a jar" if plan.makes == "classes" else "a program with debug information"
    return (
        f"Only this file was built, and not {_named(others)} beside it. If that is defined there, build them together, "
        f"and pass what is made, {made}, as `program`."
    )


def _named(files: Sequence[str]) -> str:
    more = f" and {len(files) - _MAX_NAMED} more" if len(files) > _MAX_NAMED else ""
    return ", ".join(files[:_MAX_NAMED]) + more


def _no_program(plan: BuildPlan, why: str) -> UsageError:
    return UsageError("LAUNCH_FAILED", f"'{plan.source}' cannot be launched: {why}.", {"path": plan.source})
