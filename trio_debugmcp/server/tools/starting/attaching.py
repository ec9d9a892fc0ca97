"""`debug_attach`: find a running program and its adapter, and say what cannot work before it is tried."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import BROWSER, Attach, Profile, called, owner_problem, running, trace_problem
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.moving.pausing import DebugPause, pause
from trio_debugmcp.server.tools.paths import existing_file
from trio_debugmcp.server.tools.starting.checks import (
    adapters_for_process,
    check_attach_options,
    choose_of,
    choose_profile,
)
from trio_debugmcp.server.tools.starting.core_files import check_reads, core_notes, core_reader, program_of_core
from trio_debugmcp.server.tools.starting.mappings import Mapping, checked_mappings
from trio_debugmcp.server.tools.starting.other_programs import caller
from trio_debugmcp.server.tools.tool import NewSession, Params, Seconds
from trio_debugmcp.session.before.configured_tasks import ConfiguredTasks
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.payloads import shortened

_MOST_CANDIDATES = 10
"""Processes of a name that are listed: enough to find the one that is meant, or to see that the name is too common."""

_COMMAND_LENGTH = 120
"""Characters of their command lines: a path and the first arguments, which tell them apart."""


class DebugAttach(Params, frozen=True, kw_only=True):
    pid: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The id of a running process.")] = None
    process: Annotated[
        Annotated[str, Meta(min_length=1)] | None, Meta(description="Or its name, or that of its script.")
    ] = None
    host: Annotated[str | None, Meta(description="The host where a debug adapter listens; default: 127.0.0.1.")] = None
    port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)] | None,
        Meta(description="The port where it listens, e.g. of `python -m debugpy --listen`."),
    ] = None
    core_file: Annotated[
        str | None, Meta(description="Or a core file or minidump: what a crash has left of `program`; it does not run.")
    ] = None
    program: Annotated[str | None, Meta(description="The executable, for a core file or a gdbserver.")] = None
    url: Annotated[str | None, Meta(description="Of a browser's port: how the page's URL begins.")] = None
    adapter: Annotated[str | None, Meta(description="Debug adapter or language; default: by the process.")] = None
    adapter_options: Annotated[
        dict[str, Any], Meta(description="Further arguments of the adapter's attach request.")
    ] = {}
    path_mappings: Annotated[
        list[Mapping], Meta(description="Where the program has, or was built from, the files of this machine.")
    ] = []
    stop: Annotated[bool, Meta(description="Stop it; what waits at its first instruction stays there.")] = False
    new_session: NewSession = False
    timeout: Seconds = 30.0


class Attached(Answer, frozen=True, kw_only=True):
    """The session of a program that was attached to, and its state. `engine`: if not the default of its Python."""

    session: str
    pid: int | None = None
    state: str
    engine: str | None = None


async def attach(
    debugger: Debugger, params: DebugAttach, tasks: ConfiguredTasks | None = None
) -> Attached | StopAnswer:
    """Attach to a program, which then runs on; of a core file, answer how it ended.

    `tasks`: what is run around the session.
    """
    debugger.programs.check_free(new_session=params.new_session)
    deadline = trio.current_time() + params.timeout
    profile, start = await _found(debugger, params)
    if tasks is None:  # else a configuration has said it all
        check_attach_options(debugger, profile, start)
    session = None
    with trio.move_on_at(deadline):
        session = await debugger.start(
            profile, replace(start, tasks=tasks), new_session=params.new_session, owner=caller()
        )
    if session is None:
        raise UsageError(
            "TIMEOUT",
            f"{profile.name} did not attach within {params.timeout:g} s. Attaching by pid needs the right to trace the "
            "process (same user, and ptrace allowed); attaching by port needs a listening debug adapter.",
        )
    if start.core_file is not None or start.stop:
        answer = await _stopped(debugger, session, deadline)
        notes = [] if start.core_file is None else core_notes(debugger, start.core_file)
        return replace(answer, session=session.id, notes=[*answer.notes, *notes])
    snapshot = session.snapshot
    if snapshot is None:
        return Attached(session=session.id, state="Running")
    origin = snapshot.origin
    return Attached(session=session.id, pid=origin.process_id, state=snapshot.phase, engine=origin.unusual_engine)


async def _stopped(debugger: Debugger, session: DebugSession, deadline: float) -> StopAnswer:
    """Answer where a program is that attaching stops, or else a pause."""
    snapshot = session.snapshot
    runs = snapshot is not None and snapshot.phase == "Running"
    if runs and not session.profile.habits.stops_attached:
        left = max(0.0, deadline - trio.current_time())
        return await pause(debugger, DebugPause(session_id=session.id, timeout=left))
    outcome: Outcome | None = None
    with trio.move_on_at(deadline):
        outcome = await debugger.wait_stop(session.id)
    return await wait_answer(debugger, outcome, deadline, session_id=session.id)


async def _found(debugger: Debugger, params: DebugAttach) -> tuple[Profile, Attach]:
    """Return what is to be attached to, and the adapter that can."""
    if sum(each is not None for each in (params.pid, params.process, params.port, params.core_file)) != 1:
        ways = "`pid`, `process`, `port` with an optional `host`, and `core_file` with `program`"
        raise UsageError("INVALID_PARAMETER", f"Pass one of {ways}.")
    program, core_file = _file(debugger, params.program), _file(debugger, params.core_file)
    if core_file is not None and program is None:
        program = program_of_core(debugger, core_file)
    pid = params.pid if params.process is None else _pid_of(debugger, params.process)
    if pid is not None:
        _check_process(debugger, pid)
    adapter = BROWSER if params.url is not None and params.adapter is None else params.adapter
    reader = None if core_file is None or adapter is not None else await core_reader(debugger, core_file)
    profile = reader or await _profile(debugger, adapter, pid, program)
    start = Attach(
        pid=pid,
        host=params.host,
        port=params.port,
        program=program,
        core_file=core_file,
        name=params.process or (None if pid is None else _name_of(debugger, pid)),
        cwd=debugger.workspace.directory,
        path_mappings=checked_mappings(debugger, params.path_mappings, profile),
        options=params.adapter_options,
        stop=params.stop,
    )
    _check(debugger, profile, start)
    if profile.name == BROWSER:
        from trio_debugmcp.server.tools.starting.attaching_pages import with_page

        start = await with_page(debugger, start, params.url)
    return profile, start


def _file(debugger: Debugger, path: str | None) -> str | None:
    found = None if path is None else existing_file(debugger, path)
    if path is not None and found is None:
        raise UsageError("INVALID_PATH", f"There is no file '{path}'. Pass the path of one.", {"path": path})
    return found


# --- Which process ----------------------------------------------------------------------------------------------------


def _pid_of(debugger: Debugger, name: str) -> int:
    """Return the only process of that name.

    Raises:
        UsageError: `ATTACH_FAILED`: there is none; `INVALID_PARAMETER`: there are several, which it lists.
    """

    def ask() -> list[Any]:
        found = called(name, running(Path("/proc")), os.getpid())
        return [[each.pid, shortened(" ".join(each.command), _COMMAND_LENGTH)] for each in found]

    found = debugger.host.query(f"processes called {name}", ask)
    if not found:
        raise UsageError(
            "ATTACH_FAILED",
            f"No process is called '{name}', but for those of this server. Pass the name of its program or script, "
            "without a path and with its suffix, or its `pid`.",
            {"process": name},
        )
    if len(found) > 1:
        listed = [f"{pid}: {command}" for pid, command in found[:_MOST_CANDIDATES]]
        more = len(found) - len(listed)
        raise UsageError(
            "INVALID_PARAMETER",
            f"{len(found)} processes are called '{name}'. Pass the `pid` of one: {'; '.join(listed)}"
            + (f"; and {more} more." if more else "."),
            {"process": name, "candidates": [{"pid": pid, "command": command} for pid, command in found[: len(listed)]]}
            | ({"omitted": more} if more else {}),
        )
    return int(found[0][0])


def _name_of(debugger: Debugger, pid: int) -> str | None:
    """Return what a person calls a process: its script, or what it executes."""

    def ask() -> str | None:
        found = next((each for each in running(Path("/proc")) if each.pid == pid), None)
        return None if found is None else found.title

    return _asked(debugger, f"name of process {pid}", ask)


def _check_process(debugger: Debugger, pid: int) -> None:
    """Check that there is such a process, which this user may look into.

    Raises:
        UsageError: `ATTACH_FAILED`.
    """
    if debugger.host.query(f"process {pid}", lambda: _is_gone(pid)):
        raise UsageError("ATTACH_FAILED", f"There is no process with the id {pid}.", {"pid": pid})
    _refuse(_asked(debugger, f"whose process {pid} is", lambda: owner_problem(pid, Path("/proc"))))


def _is_gone(pid: int) -> bool:
    return Path("/proc/self").exists() and not Path(f"/proc/{pid}").exists()


# --- With which adapter -----------------------------------------------------------------------------------------------


async def _profile(debugger: Debugger, adapter: str | None, pid: int | None, program: str | None) -> Profile:
    fits = [] if adapter is not None or pid is None else adapters_for_process(debugger, pid)
    return await choose_of(debugger, fits) if fits else await choose_profile(debugger, adapter, program)


def _check(debugger: Debugger, profile: Profile, start: Attach) -> None:
    """Check that the adapter can attach in this way, and that nothing on this machine is in its way.

    Raises:
        UsageError: `NOT_SUPPORTED` or `ATTACH_FAILED`.
    """
    pid = start.pid
    if pid is not None and not profile.attaches_by_pid:
        raise UsageError(
            "NOT_SUPPORTED",
            f"{profile.name} cannot attach to a {profile.language} process by its id. Launch the program with "
            "debug_launch, or start it so that it listens for a debugger, and pass that `port` and the `adapter`.",
            {"adapter": profile.name, "pid": pid},
        )
    if start.core_file is not None:
        check_reads(debugger, profile, start.core_file)

    def ask() -> str | None:
        problem = trace_problem(pid, Path("/proc")) if pid is not None and profile.traces else None
        return problem or profile.attach_problem(start)

    _refuse(_asked(debugger, f"attaching to {pid or start.port}", ask))


def _asked(debugger: Debugger, question: str, ask: Callable[[], str | None]) -> str | None:
    try:
        return debugger.host.query(question, ask)
    except UsageError:  # a recording from before this was asked
        return None


def _refuse(problem: str | None) -> None:
    if problem is not None:
        raise UsageError("ATTACH_FAILED", f"{problem[0].upper()}{problem[1:].rstrip('.')}.")
