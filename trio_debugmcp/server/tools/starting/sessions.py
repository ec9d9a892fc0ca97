"""The tools about sessions: launch, attach, disconnect, restart, state."""

from typing import Annotated

import trio
from msgspec import Meta
from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch, Listen
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer
from trio_debugmcp.server.answers.ended_by import others_notes
from trio_debugmcp.server.answers.fleet.fleet_classes import named, without_common_host
from trio_debugmcp.server.answers.stop_answer import StopAnswer
from trio_debugmcp.server.tools.answering import wait_answer
from trio_debugmcp.server.tools.group_choice import GroupOf, chosen_group, on_each, programs_there, refuse_beside
from trio_debugmcp.server.tools.starting.attaching import DebugAttach, attach
from trio_debugmcp.server.tools.starting.building import built
from trio_debugmcp.server.tools.starting.checks import check_program
from trio_debugmcp.server.tools.starting.launching import run_program
from trio_debugmcp.server.tools.starting.launching_again import launch_again
from trio_debugmcp.server.tools.starting.other_programs import end_before_tasks, end_with, runs_beside
from trio_debugmcp.server.tools.starting.recording_runs import as_recorded
from trio_debugmcp.server.tools.starting.state_now import DebugState, state_now
from trio_debugmcp.server.tools.tool import Params, Seconds, SessionId, Show, ThreadId, Tool
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.session import DebugSession


class DebugDisconnect(Params, frozen=True, kw_only=True):
    terminate: Annotated[bool | None, Meta(description="Default: true if launched, false if attached to.")] = None
    group: GroupOf = None
    session_id: SessionId = None


class DebugRestart(Params, frozen=True, kw_only=True):
    frame_index: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="Only begin this frame's function again, where supported.")
    ] = None
    thread_id: ThreadId = None
    record: Annotated[bool | None, Meta(description="Record the run; default: as it was launched.")] = None
    show: Show = []
    timeout: Seconds = 30.0
    session_id: SessionId = None


class Ended(Answer, frozen=True, kw_only=True):
    """The session has ended: with the program, or without it."""

    ended: bool = False
    detached: bool = False
    session: str | None = None
    processes: str | None = None
    notes: list[str] = []


async def _disconnect(debugger: Debugger, params: DebugDisconnect) -> Ended:
    if params.group is not None:
        refuse_beside(params)
        return await _disconnect_group(debugger, params.group, terminate=params.terminate)
    root = debugger.root_session()
    if root is None:
        return Ended(ended=True, notes=["there was no session"])
    session = root if params.session_id is None else debugger.session(params.session_id)
    terminate = params.terminate if params.terminate is not None else isinstance(root.start, Launch)
    if not terminate and isinstance(session.start, Launch) and session.profile.habits.ends_launched:
        name = session.profile.name
        raise UsageError(
            "NOT_SUPPORTED",
            f"{name} ends a program that it has launched. Leave out `terminate`, or start the program yourself and use "
            "debug_attach, which lets it run on.",
            {"adapter": name, "capability": "supportTerminateDebuggee"},
        )
    several, program = len(debugger.state.snapshots) > 1, debugger.state.program_of(session.id)
    await debugger.sessions.end(session, terminate=terminate, reason="disconnected")
    await end_with(debugger, session, terminate=terminate)
    others = others_notes(debugger, session.id)
    return Ended(ended=terminate, detached=not terminate, session=program if several and others else None, notes=others)


async def _disconnect_group(debugger: Debugger, group: str, *, terminate: bool | None) -> Ended:
    """End the sessions of a group; where its programs came from, a listening address say, stays as it is."""
    chosen, root = await chosen_group(debugger, group), debugger.root_session()
    ends = terminate if terminate is not None else root is not None and isinstance(root.start, Launch)

    async def end(session: DebugSession) -> None:
        await debugger.sessions.end(session, terminate=ends, reason="disconnected")

    await on_each(chosen.sessions, end)
    left = len(programs_there(debugger))
    notes = [*chosen.notes, f"{left} processes are still debugged"] if left else chosen.notes
    return Ended(
        ended=ends,
        detached=not ends,
        processes=f"{len(chosen.processes)} ({named(without_common_host(chosen.processes))})",
        notes=list(notes),
    )


async def _restart(debugger: Debugger, params: DebugRestart) -> StopAnswer:
    if params.frame_index is not None:
        return await _restart_frame(debugger, params.frame_index, params)
    if debugger.last_start is None:
        kept = debugger.earlier.found()
        if kept is not None and kept.launch is not None:
            return await launch_again(debugger, kept, kept.launch, timeout=params.timeout, show=params.show)
        raise UsageError("NO_SESSION", "There is nothing to restart. Start a session with debug_launch.")
    profile, start = debugger.last_start
    if not isinstance(start, Launch):
        end = "End the session with debug_disconnect, then use" if debugger.root_session() is not None else "Use"
        what = "What has dialed in" if isinstance(start, Listen) else "A program that was attached to"
        raise UsageError("NOT_SUPPORTED", f"{what} cannot be restarted. {end} debug_launch.")
    deadline = trio.current_time() + params.timeout
    start = await as_recorded(debugger, profile, start, params.record)
    program = start.source or start.program
    if not profile.target_options & start.options.keys():  # before the end of the session that there is
        check_program(debugger, profile, program, start.options, builds=start.source is not None)
    # A batch lets its program run past the entry, that time only.
    at_entry = start.stop_at_entry if start.restart_at_entry is None else start.restart_at_entry
    tasks = debugger.tasks.again(start)
    if tasks.before is not None:
        await end_before_tasks(debugger, "restarted")
    again = replace(start, stop_at_entry=at_entry, tasks=tasks)
    left = max(0.0, deadline - trio.current_time())
    async with tasks.begun(left), built(debugger, profile, again, deadline) as launch:
        session = debugger.root_session()
        beside = runs_beside(debugger, session)
        if session is not None:
            await debugger.sessions.end(session, terminate=True, reason="restarted")
        left = max(0.0, deadline - trio.current_time())
        return await run_program(debugger, profile, launch, beside=beside, timeout=left, show=params.show)


async def _restart_frame(debugger: Debugger, index: int, params: DebugRestart) -> StopAnswer:
    deadline = trio.current_time() + params.timeout
    session, _snapshot = debugger.paused()
    frame = await session.looking.frame(params.thread_id, index)
    outcome: Outcome | None = None
    with trio.move_on_at(deadline):
        await session.execution.restart_frame(frame.id)
        outcome = await debugger.wait_stop(session.id)
    return await wait_answer(debugger, outcome, deadline, show=params.show, session_id=session.id)


TOOLS = (
    Tool(
        name="debug_attach",
        title="Attach to a running program",
        description=(
            "Attach to a process by `pid` or `process` (its name), or to an adapter listening (`python -m debugpy "
            "--listen`) on a `port`. It runs on: pass `stop`, or use breakpoints."
        ),
        params=DebugAttach,
        run=attach,
        open_world=True,
        phrase="to a process (pid)",
        unlisted=frozenset({"process", "path_mappings", "core_file", "program", "adapter", "adapter_options", "stop"}),
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
        unlisted=frozenset({"record"}),
    ),
    Tool(
        name="debug_state",
        title="State of the session",
        description=(
            "Where the program is now, or how it ended: the same answer as at its last stop, without output. While it "
            "runs: where its threads are."
        ),
        params=DebugState,
        run=state_now,
        read_only=True,
        idempotent=True,
    ),
)
