"""The tools about sessions: launch, attach, disconnect, restart, state."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Attach, Launch, Listen, Profile, choose
from trio_debugmcp.errors import UsageError, no_session
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.stop import Stop, ended_answer, paused_answer, running_answer, with_sessions
from trio_debugmcp.server.tools.answering import wait_answer, with_threads
from trio_debugmcp.server.tools.breakpoints import BreakpointSet, breakpoint_spec
from trio_debugmcp.server.tools.tool import Params, Seconds, SessionId, Show, Tool, Wait
from trio_debugmcp.session.debugger import Debugger

RESTART_SECONDS = 30.0
"""For a restarted program to stop or end, as for a launch."""


class DebugLaunch(Params, frozen=True, kw_only=True):
    program: Annotated[str, Meta(description="The program to debug: a path, absolute or relative to the server.")]
    args: Annotated[list[str], Meta(description="The program's command line arguments.")] = []
    cwd: Annotated[str | None, Meta(description="The program's working directory; default: the server's.")] = None
    env: Annotated[dict[str, str], Meta(description="Environment variables added for the program.")] = {}
    adapter: Annotated[
        str | None, Meta(description="The debug adapter or language; default: by the program's file type.")
    ] = None
    stop_at_entry: Annotated[bool, Meta(description="Stop at the program's first line.")] = True
    breakpoints: Annotated[
        list[BreakpointSet],
        Meta(description="Breakpoints to set before the first line runs, as for breakpoint_set."),
    ] = []
    console: Annotated[
        Literal["pipes"],
        Meta(description="How the program's streams are connected: by pipes that the server owns."),
    ] = "pipes"
    just_my_code: Annotated[bool, Meta(description="Step over library code and do not stop in it.")] = True
    adapter_options: Annotated[
        dict[str, Any],
        Meta(description='Further arguments of the adapter\'s launch request, e.g. {"python": ["/path/to/python"]}.'),
    ] = {}
    show: Show = []
    wait: Wait = True
    timeout: Seconds = 30.0


class DebugAttach(Params, frozen=True, kw_only=True):
    pid: Annotated[Annotated[int, Meta(ge=1)] | None, Meta(description="The id of a running process.")] = None
    host: Annotated[str | None, Meta(description="The host where a debug adapter listens; default: 127.0.0.1.")] = None
    port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)] | None,
        Meta(description="The port where it listens, e.g. of `python -m debugpy --listen`."),
    ] = None
    adapter: Annotated[str | None, Meta(description="The debug adapter or language; default: debugpy.")] = None
    adapter_options: Annotated[
        dict[str, Any], Meta(description="Further arguments of the adapter's attach request.")
    ] = {}
    timeout: Seconds = 30.0


class DebugDisconnect(Params, frozen=True, kw_only=True):
    terminate: Annotated[
        bool | None, Meta(description="End the program too; default: true if launched, false if attached to.")
    ] = None


class DebugRestart(Params, frozen=True, kw_only=True):
    pass


class DebugState(Params, frozen=True, kw_only=True):
    session_id: SessionId = None


class Attached(Answer, frozen=True, kw_only=True):
    """The session of a program that was attached to, and the state of that program."""

    session: str
    pid: int | None = None
    state: str


class Ended(Answer, frozen=True, kw_only=True):
    """The session has ended: with the program, or without it."""

    ended: bool = False
    detached: bool = False
    notes: list[str] = []


async def _launch(debugger: Debugger, params: DebugLaunch) -> Stop:
    debugger.check_free()
    cwd = debugger.workspace.resolve(params.cwd or ".")
    if not debugger.host.query(f"directory {cwd}", Path(cwd).is_dir):
        raise UsageError("INVALID_PATH", f"The working directory '{cwd}' does not exist.", {"path": cwd})
    runs_file = not {"module", "code"} & params.adapter_options.keys()
    program = debugger.workspace.resolve(params.program) if runs_file else params.program
    profile = _choose(debugger, params.adapter, params.program if runs_file else None)
    _check_options(debugger, profile, params.adapter_options)
    if runs_file:
        debugger.host.query(f"program {program}", lambda: _check_program(profile, program))
    specs = [breakpoint_spec(debugger, wanted) for wanted in params.breakpoints]
    for spec in specs:  # all have been checked: a launch with a breakpoint that is refused sets none
        await debugger.breakpoints.set(spec)
    start = Launch(
        program=program,
        args=tuple(params.args),
        cwd=cwd,
        env=params.env,
        stop_at_entry=params.stop_at_entry,
        just_my_code=params.just_my_code,
        options=params.adapter_options,
    )
    return await _run(debugger, profile, start, wait=params.wait, timeout=params.timeout, show=params.show)


def _choose(debugger: Debugger, adapter: str | None, program: str | None) -> Profile:
    return choose(
        adapter,
        program,
        debugger.settings.profiles,
        lambda profile: debugger.host.query(f"adapter {profile.name}", profile.locate),
    )


def _check_options(debugger: Debugger, profile: Profile, options: dict[str, Any]) -> None:
    for name in options:
        if name in profile.reserved_options:
            instead = profile.reserved_options[name]
            raise UsageError(
                "INVALID_PARAMETER",
                f"adapter_options may not set '{name}'"
                + (f": pass the parameter {instead} instead." if instead else "."),
            )
        if name in profile.code_options and debugger.settings.roots:
            raise UsageError(
                "PERMISSION_DENIED",
                f"adapter_options may not set '{name}' on a server that is confined to {debugger.settings.roots[0]}.",
            )


def _check_program(profile: Profile, program: str) -> None:
    path = Path(program)
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise UsageError("INVALID_PATH", f"The program '{program}' {what}.", {"path": program})
    try:
        problem = profile.expressions.program_problem(program, path.read_bytes())
    except OSError as error:
        raise UsageError("PERMISSION_DENIED", f"The program '{program}' cannot be read: {error.strerror}") from None
    if problem is not None:
        raise UsageError("LAUNCH_FAILED", f"'{program}' cannot start: {problem}", {"path": program})


async def _run(
    debugger: Debugger, profile: Profile, start: Launch, *, wait: bool, timeout: float, show: Sequence[str] = ()
) -> Stop:
    deadline = trio.current_time() + timeout
    session = None
    with trio.move_on_at(deadline):
        session = await debugger.start(profile, start)
    if session is None:
        raise UsageError(
            "TIMEOUT",
            f"The program was not ready to run within {timeout:g} s. Launch again with a longer `timeout`.",
        )
    pid = None if session.snapshot is None else session.snapshot.origin.process_id
    outcome = None
    if wait:
        with trio.move_on_at(deadline):
            outcome = await debugger.wait_stop()
    answer = await wait_answer(debugger, outcome, deadline, show=show, waited=wait)
    last = session.snapshot or debugger.state.last
    return replace(answer, session=session.id, pid=pid or (None if last is None else last.origin.process_id))


async def _attach(debugger: Debugger, params: DebugAttach) -> Attached:
    debugger.check_free()
    if (params.pid is None) == (params.port is None):
        raise UsageError("INVALID_PARAMETER", "Pass either `pid`, or `port` with an optional `host`.")
    profile = _choose(debugger, params.adapter, None)
    start = Attach(pid=params.pid, host=params.host, port=params.port, options=params.adapter_options)
    if params.pid is not None and debugger.host.query(f"process {params.pid}", lambda: _is_gone(params.pid)):
        raise UsageError("ATTACH_FAILED", f"There is no process with the id {params.pid}.", {"pid": params.pid})
    problem = debugger.host.query(f"attaching to {params.pid or params.port}", lambda: profile.attach_problem(start))
    if problem is not None:
        raise UsageError("ATTACH_FAILED", problem)
    session = None
    with trio.move_on_after(params.timeout):
        session = await debugger.start(profile, start)
    if session is None:
        raise UsageError(
            "TIMEOUT",
            f"{profile.name} did not attach within {params.timeout:g} s. Attaching by pid needs the right to trace the "
            "process (same user, and ptrace allowed); attaching by port needs a listening debug adapter.",
        )
    snapshot = session.snapshot
    pid = None if snapshot is None else snapshot.origin.process_id
    return Attached(session=session.id, pid=pid, state="Running" if snapshot is None else snapshot.phase)


def _is_gone(pid: int | None) -> bool:
    return Path("/proc/self").exists() and not Path(f"/proc/{pid}").exists()


async def _disconnect(debugger: Debugger, params: DebugDisconnect) -> Ended:
    session = debugger.root_session()
    if session is None:
        return Ended(ended=True, notes=["there was no session"])
    terminate = params.terminate if params.terminate is not None else isinstance(session.start, Launch)
    await debugger.end(session, terminate=terminate, reason="disconnected")
    return Ended(ended=terminate, detached=not terminate)


async def _restart(debugger: Debugger, params: DebugRestart) -> Stop:
    if debugger.last_start is None:
        raise UsageError("NO_SESSION", "There is nothing to restart. Start a session with debug_launch.")
    profile, start = debugger.last_start
    if not isinstance(start, Launch):
        end = "End the session with debug_disconnect, then use" if debugger.root_session() is not None else "Use"
        what = "What has dialed in" if isinstance(start, Listen) else "A program that was attached to"
        raise UsageError("NOT_SUPPORTED", f"{what} cannot be restarted. {end} debug_launch.")
    session = debugger.root_session()
    if session is not None:
        await debugger.end(session, terminate=True, reason="restarted")
    return await _run(debugger, profile, start, wait=True, timeout=RESTART_SECONDS)


async def _state(debugger: Debugger, params: DebugState) -> Stop:
    if params.session_id is None and debugger.state.focused is None:
        last = debugger.state.last
        return Stop(state="Disconnected") if last is None else replace(ended_answer(last), session=last.id)
    session = debugger.session(params.session_id)
    snapshot = session.snapshot
    if snapshot is None:
        raise no_session()
    if snapshot.phase == "Paused":
        answer = paused_answer(debugger, snapshot)
    else:
        answer = await with_threads(debugger, running_answer(debugger, snapshot), session.id)
    return with_sessions(debugger, answer)


TOOLS = (
    Tool(
        name="debug_launch",
        title="Launch a program",
        description=(
            "Run a program under the debugger until it stops: at a breakpoint, at an exception that nothing catches, "
            "or at its end. With no breakpoint it stops at its first line, unless `stop_at_entry` is false. Answers "
            "with where and why, the stack, the locals, the source around and the output. To see values without "
            "stopping, give breakpoints a `log_message`."
        ),
        params=DebugLaunch,
        run=_launch,
        open_world=True,
        listing="core",
    ),
    Tool(
        name="debug_attach",
        title="Attach to a running program",
        description=(
            "Attach to a running process by pid, or to an adapter that listens on a port. The program runs on: use "
            "debug_pause or breakpoints."
        ),
        params=DebugAttach,
        run=_attach,
        open_world=True,
        listing="core",
    ),
    Tool(
        name="debug_disconnect",
        title="End the debug session",
        description=(
            "End the session; a launched program is ended too, one that was attached to runs on. Breakpoints stay for "
            "the next session."
        ),
        params=DebugDisconnect,
        run=_disconnect,
        destructive=True,
        idempotent=True,
        listing="core",
    ),
    Tool(
        name="debug_restart",
        title="Restart the program",
        description=(
            "End the launched program and run it again, with the breakpoints as they are now. Answers as debug_launch."
        ),
        params=DebugRestart,
        run=_restart,
        destructive=True,
        open_world=True,
    ),
    Tool(
        name="debug_state",
        title="State of the session",
        description=(
            "Where the program is now, or how it ended: the same answer as at its last stop, without output. While it "
            "runs: where its threads are."
        ),
        params=DebugState,
        run=_state,
        read_only=True,
        idempotent=True,
    ),
)
