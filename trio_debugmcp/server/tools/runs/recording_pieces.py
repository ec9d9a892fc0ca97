"""`debug_record`: record a piece of a program that runs already."""

from pathlib import Path
from typing import Annotated

import trio
from msgspec import Meta

from trio_debugmcp.dap.messages import Nothing
from trio_debugmcp.dap.pids import directory_of
from trio_debugmcp.dap.profiles.starts import RunRecording
from trio_debugmcp.errors import AdapterRefused, DebugError, UsageError
from trio_debugmcp.server.answers.recorded.run_lines import RecordedPiece
from trio_debugmcp.server.answers.text import size_text
from trio_debugmcp.server.tools.starting.recording_runs import included
from trio_debugmcp.server.tools.starting.run_settings import Include, MaxMegabytes
from trio_debugmcp.server.tools.tool import Params, SessionId, Tool
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.merger import MERGE_SECONDS
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import name_of

_END_SECONDS = 30.0
"""For the program to write the last of its files; a few blocks are left then."""


class DebugRecord(Params, frozen=True, kw_only=True):
    on: Annotated[bool, Meta(description="False ends the recording.")] = True
    include: Include = []
    max_mb: MaxMegabytes = 256
    session_id: SessionId = None


async def _record(debugger: Debugger, params: DebugRecord) -> RecordedPiece:
    session = debugger.program(params.session_id)
    program = debugger.programs.of(session.id)
    root_id = session.id if program is None else program.id
    if not params.on:
        return await _end(debugger, session, root_id)
    known = debugger.runs.recorded_in(root_id)
    if known is not None:
        raise UsageError(
            "INVALID_PARAMETER", f"{known.id} is being recorded. End it with debug_record(on=false), then begin again."
        )
    snapshot = session.snapshot
    if snapshot is None or not session.requests.capabilities.records_runs:
        name = session.profile.name
        raise UsageError(
            "NOT_SUPPORTED",
            f"{name} cannot record this program: only our engine can, in CPython 3.12 and newer. Launch it on such an "
            'interpreter (adapter_options={"python": ["/path/to/python3.13"]}).',
            {"adapter": name, "capability": "record"},
        )
    include = tuple(included(debugger, each) for each in params.include)
    wanted = RunRecording(root=_root(debugger, session, snapshot), include=include, max_mb=params.max_mb)
    recording = debugger.runs.planned(root_id, _what(snapshot), wanted)
    await debugger.runs.begin(root_id)
    run = debugger.runs.run()
    try:
        await session.requests.request("recordRun", recording.arguments(), Nothing)
    except BaseException:
        with trio.move_on_after(MERGE_SECONDS, shield=True):
            await debugger.runs.end(root_id, discard=True)
        raise
    notes = [
        f"{other.id}: {problem}"
        for other in _others(debugger, session, root_id)
        if (problem := await _begun(other, recording)) is not None
    ]
    return RecordedPiece(run=run.id, state="Recording", notes=[*notes, _LATER])


_LATER = "processes that the program starts from now on are not in it: for these use debug_launch(record=true)"


async def _begun(session: DebugSession, recording: RunRecording) -> str | None:
    """Begin to record a child, too; return why that is not possible."""
    if not session.requests.capabilities.records_runs:
        return "is not recorded: its engine cannot"
    try:
        await session.requests.request("recordRun", recording.arguments(), Nothing)
    except DebugError as error:
        return f"is not recorded: {error.reason if isinstance(error, AdapterRefused) else error}"
    return None


async def _end(debugger: Debugger, session: DebugSession, root_id: str) -> RecordedPiece:
    run = debugger.runs.recorded_in(root_id)
    if run is None:
        raise UsageError("RUN_NOT_FOUND", "Nothing is being recorded. Begin with debug_record, or see run_list.")
    notes = []
    for process in (session, *_others(debugger, session, root_id)):
        try:
            if process.requests.capabilities.records_runs:
                await process.requests.request("recordEnd", None, Nothing, seconds=_END_SECONDS)
        except DebugError as error:  # it has ended meanwhile, or cannot write: what is there is kept
            notes.append(f"{process.id}: {error.reason if isinstance(error, AdapterRefused) else error}")
    await debugger.runs.end(root_id)
    size = size_text(debugger.runs.directories.size(run.id))
    return RecordedPiece(run=run.id, state="Recorded", size=size, notes=notes)


def _others(debugger: Debugger, session: DebugSession, root_id: str) -> list[DebugSession]:
    """Return the other living sessions of a program: its children."""
    family = debugger.state.family(root_id)
    return [other for other in debugger.sessions if other.id in family and other.id != session.id]


def _root(debugger: Debugger, session: DebugSession, snapshot: Snapshot) -> str:
    """Return the directory of the project that a running program belongs to."""
    origin = snapshot.origin

    def ask() -> str:
        place = origin.working_directory
        if place is None and origin.process_id is not None:
            place = directory_of(origin.process_id)
        place = place or debugger.workspace.resolve(".")
        file = origin.executable_path
        return session.profile.recordings.project_root(file if file and Path(file).is_file() else place, place)

    return debugger.host.query(f"project of the program of {session.id}", ask)


def _what(snapshot: Snapshot) -> str:
    name = snapshot.origin.process_name or f"process {snapshot.origin.process_id}"
    return name_of(f"a piece of {name}")


TOOLS = (
    Tool(
        name="debug_record",
        title="Record a piece of a run",
        description=(
            "Begin to record a program that runs already, or end it (on=false): what its own code does is kept for "
            "questions about it. A program or test from its start: debug_launch(record=true)."
        ),
        params=DebugRecord,
        run=_record,
        phrase="a piece of a running program",
    ),
)
