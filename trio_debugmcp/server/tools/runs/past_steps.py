"""Steps back where the debug adapter cannot make them and the session is recorded: what is shown is the record.

    moment = await past_step(debugger, "s-1", "back")       # None: to the present

The next step of a reader that has gone back begins there, also one forth, until it is at the present again. Nothing is
undone.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.runs.histories.recorded_hits import LineBreakpoint
from trio_debugmcp.runs.past.present_moments import StackPlace
from trio_debugmcp.runs.run_walks import NoWalkError, RunWalk, WalkedMoment, WalkMode, walked
from trio_debugmcp.server.answers.recorded.recorded_moment import RecordedMoment, recorded_moment
from trio_debugmcp.server.tools.runs.reading_runs import FoundInRun, RunPlaces, RunQuestion, asked, shown_to_reader
from trio_debugmcp.session.debugger import Debugger, current_reader
from trio_debugmcp.session.session import DebugSession
from trio_debugmcp.state.breakpoint import Breakpoint
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.recorded_runs import KeptRun

_MOST_FRAMES = 200
"""Of a stack, by which its thread is found in the record."""


class PastStep(RunQuestion, frozen=True, kw_only=True):
    """A way through the record of a program that is stopped."""

    walk: RunWalk


def recorded_run(debugger: Debugger, session: DebugSession) -> KeptRun | None:
    """Return the run as which a session is being recorded, if steps back are to be shown from that."""
    if session.requests.capabilities.supports_step_back:
        return None
    program = debugger.programs.of(session.id)
    return debugger.runs.recorded_in(session.id if program is None else program.id)


def shows_record(debugger: Debugger, session_id: str | None, *, back: bool) -> bool:
    """Whether a step is shown from the record: one back, or one of a client that has gone back from this stop."""
    session, snapshot = debugger.paused(session_id)
    run = recorded_run(debugger, session)
    if run is None or snapshot.stop is None:
        return False
    return back or shown_to_reader(debugger, RunQuestion(run=run.id)).left == snapshot.stop.number


def back_in_present(debugger: Debugger, snapshot: Snapshot) -> None:
    """Have the client that calls be where the program is: it has been shown that."""
    program = debugger.programs.of(snapshot.id)
    run = debugger.runs.recorded_in(snapshot.id if program is None else program.id)
    if run is not None:
        shown_to_reader(debugger, RunQuestion(run=run.id)).left = 0


async def past_step(
    debugger: Debugger,
    session_id: str | None,
    mode: WalkMode,
    *,
    count: int = 1,
    thread_id: int | None,
    show: Sequence[str],
) -> RecordedMoment | None:
    """Return where a step leads to in the record; None: to the present.

    Raises:
        UsageError: `NOT_SUPPORTED`: of this thread nothing is recorded; what `asked` raises.
    """
    session, snapshot = debugger.paused(session_id)
    run = recorded_run(debugger, session)
    if run is None or snapshot.stop is None:
        raise AssertionError("a step in a record that there is not")
    question = RunQuestion(run=run.id, process=snapshot.origin.process_id)
    shown = shown_to_reader(debugger, question)
    is_past = shown.left == snapshot.stop.number
    thread = snapshot.active_thread(thread_id)
    breakpoints, passed = searched_breakpoints(debugger, snapshot.id) if mode in ("reverse", "continue") else ([], [])
    walk = RunWalk(
        mode=mode,
        at=shown.row if is_past else 0,
        count=count,
        stack=await places_of(session, snapshot, thread),
        breakpoints=breakpoints,
        show=list(show),
    )
    reading = await _asked(debugger, session, question, walk)
    found = reading.found
    if found.moment is None:
        shown.left = 0
        return None
    shown.row, shown.left = found.moment.row, snapshot.stop.number
    debugger.runs.readers.has_moment(current_reader()[0], run.id)
    return _answer(reading, snapshot, passed, is_past=is_past)


async def _asked(
    debugger: Debugger, session: DebugSession, question: RunQuestion, walk: RunWalk
) -> FoundInRun[WalkedMoment]:
    params = PastStep(run=question.run, process=question.process, walk=walk)
    try:
        return await asked(debugger, params, WalkedMoment, lambda record: walked(record, walk))
    except NoWalkError as error:
        reason = str(error)
    raise UsageError(
        "NOT_SUPPORTED",
        f"{session.requests.debugger_name} cannot step back, and in {question.run} {reason}. See run_list for what is "
        "recorded; run_goto shows any moment of it.",
        {"adapter": session.profile.name, "capability": "supportsStepBack"},
    )


def _answer(
    reading: FoundInRun[WalkedMoment], snapshot: Snapshot, passed: list[str], *, is_past: bool
) -> RecordedMoment:
    found, run, places, notes = reading
    if found.moment is None:
        raise AssertionError("the present has no moment in the record")
    told = [*found.notes, *passed, *notes, _note(places, run, snapshot, is_past=is_past)]
    moment = recorded_moment(places, found.moment, run.id, told)
    return replace(moment, session=snapshot.id, breakpoints=found.hits, show=found.show)


def _note(places: RunPlaces, run: KeptRun, snapshot: Snapshot, *, is_past: bool) -> str:
    """Return the note that says what a moment is, where the program is, and the first time how to come back."""
    place = None if snapshot.stop is None else snapshot.stop.location
    at = f" at {places.at_location(place)}" if place is not None else ""
    said = f"shown from {run.id}, nothing is undone: the program is still{at}"
    if is_past:
        return said
    return f"{said}. Steps and debug_continue go through the record up to there; debug_state leads back at once"


async def places_of(session: DebugSession, snapshot: Snapshot, thread: int) -> list[StackPlace]:
    """Return the places of a thread's stack, by which it is found in the record."""
    frames, _ = await session.looking.frames(snapshot, thread, 0, _MOST_FRAMES)
    return [(frame.location.file or "", frame.location.line or 0) for frame in frames]


def searched_breakpoints(debugger: Debugger, session_id: str | None) -> tuple[list[LineBreakpoint], list[str]]:
    """Return the breakpoints that the record can be searched for, and what is to be said of the others."""
    active = [breakpoint for breakpoint in debugger.state.breakpoints if breakpoint.is_active]
    stopping = [breakpoint for breakpoint in active if breakpoint.spec.log_message is None]
    searched = [breakpoint for breakpoint in stopping if _is_searched(breakpoint)]
    others = [breakpoint.id for breakpoint in stopping if breakpoint not in searched]
    others += [breakpoint.id for breakpoint in debugger.state.exceptions if breakpoint.enabled]
    lines = []
    for breakpoint in searched:
        bound = [binding.line for binding in breakpoint.bindings if binding.session_id == session_id and binding.line]
        line = bound[0] if bound else breakpoint.spec.line or 0
        lines.append(LineBreakpoint(breakpoint.id, breakpoint.spec.file or "", line, breakpoint.spec.condition))
    if not others:
        return lines, []
    return lines, [f"not looked for, as only lines and conditions are: {', '.join(others)}"]


def _is_searched(breakpoint: Breakpoint) -> bool:
    spec = breakpoint.spec
    return spec.file is not None and spec.line is not None and spec.hit_condition is None
