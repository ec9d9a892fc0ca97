"""Where the program is now, as the answer of every tool that moves it.

    outcome = await debugger.wait_stop()
    return await stop_answer(debugger, outcome, deadline=deadline)

At an ordinary breakpoint it takes some 600 bytes beside the values and the output themselves.
"""

from collections.abc import Container, Mapping, Sequence

import trio
from msgspec.structs import replace

from trio_debugmcp.dap.profiles.printed_exceptions import Crash
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.server.answers import text, values
from trio_debugmcp.server.answers.breakpoint_notes import end_notes, moved_notes, thread_notes
from trio_debugmcp.server.answers.ended_by import ChildrenOf, end_reason, family_notes, others_notes
from trio_debugmcp.server.answers.failures.exceptions import raised_notes, stopped_by
from trio_debugmcp.server.answers.failures.printed import (
    behind_crash,
    cause_line,
    crash_location,
    printed_exception,
    survived_notes,
)
from trio_debugmcp.server.answers.lines import thread_name
from trio_debugmcp.server.answers.moment import moment_of
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.source_around import source_around
from trio_debugmcp.server.answers.stop_answer import (
    EXCERPT_LINES,
    FRAMES_BELOW,
    StopAnswer,
    StopData,
    of_process,
    output_data,
    paused_data,
    with_data,
)
from trio_debugmcp.session.debugger import READER, Debugger, Outcome, current_reader
from trio_debugmcp.session.looking.from_outside.kernel_log import OUT_OF_MEMORY
from trio_debugmcp.session.not_paused import phase_notes
from trio_debugmcp.session.program_at_hand import chosen
from trio_debugmcp.session.waiting import wait_locals
from trio_debugmcp.state.labels import short_label
from trio_debugmcp.state.model import DataChange, Locals, Snapshot, Stack, StackFrame, Stop
from trio_debugmcp.state.payloads import Frame, OutputEntry, Variable, shortened, signal_name
from trio_debugmcp.state.session_view import listening_payload

_STREAM_CHARACTERS = 4000
"""The end of one stream's output; process_read_output has all of it."""

_RUNTIMES = ("/rustc/", "<node_internals>/")
"""How files of the library of Rust and those of node begin, which are on no disk of the user's."""

LOCALS_SECONDS = 3.0
"""The longest time that an answer waits for the locals of the top frame."""

_LOCALS_BYTES = 8000
"""JSON bytes of the top frame's locals; variables_get has the rest."""

GLOBALS_BYTES = 1000
"""JSON bytes of the globals that the statement at hand reads."""

UNKNOWN_DATA = "the adapter does not say which data breakpoint was hit, and their values do not show it"


async def stop_answer(
    debugger: Debugger,
    outcome: Outcome | None,
    *,
    deadline: float,
    timed_out: bool = False,
    session_id: str | None,
    held: Container[str] = (),
) -> StopAnswer:
    """Answer how a wait ended; `outcome` None means that the program still runs, in that session or in the focused one.

    At a stop the answer waits for the locals, until the deadline (trio's clock) and never for long: a `__repr__` of
    the program may not return. `held`: breakpoints that were not to stop it.

    Raises:
        AdapterGone: the session ended because its adapter did.
        DebugError: the program never ran: its start has failed after the wait for that.
    """
    found = None if outcome is None else outcome.paused or outcome.ended
    about = session_id if found is None else found.id
    # Its console and sources, whatever takes the focus meanwhile.
    with chosen(about or debugger.programs.at_hand.chosen):
        return await _stop_answer(debugger, outcome, deadline, timed_out, held)


async def _stop_answer(
    debugger: Debugger, outcome: Outcome | None, deadline: float, timed_out: bool, held: Container[str]
) -> StopAnswer:
    await debugger.console.settle()
    ended = outcome.ended if outcome is not None else None
    program = debugger.programs.at_hand.program()
    if ended is not None and program is not None:
        await program.start_over.wait()  # a start that fails has ended the session just before
        if program.late_failures:
            raise program.late_failures[0]
    if ended is not None and ended.failed:
        raise AdapterGone(ended.end_reason or "the debug adapter is gone")
    reader, console = READER.get(), debugger.console
    next_seq = console.next_seq
    news, lost = console.news(reader), console.lost(reader)
    if outcome is not None and outcome.paused is not None:
        paused = outcome.paused
        with trio.move_on_at(min(deadline, trio.current_time() + debugger.patience.seconds(LOCALS_SECONDS))):
            paused = await wait_locals(debugger.merger, paused)
        found = replace(paused_answer(debugger, paused), moment=moment_of(paused, next_seq))
    elif ended is not None:
        found = ended_answer(debugger, ended)
        children = ChildrenOf(debugger, ended)
        notes = [*found.notes, *survived_notes(debugger, ended, children), *end_notes(debugger, held)]
        notes += [*children.notes(), *others_notes(debugger, ended.id)]
        found = replace(found, notes=notes, session=ended.id if debugger.state.snapshots or children.pids else None)
    else:
        named = debugger.state.snapshot(debugger.programs.at_hand.chosen or "")
        found = replace(running_answer(debugger, named or debugger.state.focused), timed_out=timed_out)
    console.mark_read(next_seq, reader)  # last: the output of an answer that is cancelled is new in the next one
    return with_output(found, news, lost)


_CALLERS = 3
"""Frames of the user's code that are shown behind those of libraries, as of a lambda that a library calls."""


def paused_answer(debugger: Debugger, snapshot: Snapshot) -> StopAnswer:
    """Answer where a session is paused."""
    stop, stack = snapshot.stop, snapshot.stack
    if stop is None:
        raise AssertionError("a paused session has a stop")
    debugger.programs.report(stop.number, READER.get())
    notes, omitted = list[str](), dict[str, int]()
    places = Places(debugger.workspace.directory)
    shown, known, total = _locals(stack, omitted, notes)
    globals_ = shown_globals(stack.locals, omitted)
    results = () if stack.locals is None else stack.locals.returned
    full = paused_data(snapshot, 1 + FRAMES_BELOW, known, total)
    exception, mode, by = stopped_by(places, stop.exception)
    notes += [] if stop.exception is None else raised_notes(places, stack.locals)
    notes += _said(debugger, stop) + moved_notes(debugger, snapshot.id, stop)
    notes += thread_notes(debugger, snapshot, stop.thread_id) + family_notes(debugger, snapshot)
    source = source_around(debugger, stop.location, snapshot.origin.attached_at, EXCERPT_LINES, notes)
    return StopAnswer(
        full=replace(full, source=source),
        state="Paused",
        reason=stop.reason,
        breakpoints=stop.breakpoint_ids,
        exception=exception,
        mode=mode,
        caught_by=by,
        handling=stop.handling,
        says=shortened(stop.adapter_says) if stop.adapter_says else None,
        thread=thread_name(snapshot, stop.thread_id) if len(snapshot.threads.threads) > 1 else None,
        at=places.at_location(stop.location),
        stack=_stack(places, stack, omitted),
        changed={change.expression: data_change(change) for change in stop.changes},
        returned=values.returned(results),
        yielded=values.yielded(results),
        locals=shown,
        globals=globals_,
        source=text.numbered_excerpt(source) or None,
        omitted=omitted,
        notes=notes,
        session=_several(debugger, snapshot.id),
        labels=short_label(snapshot.origin.labels),
    )


def _said(debugger: Debugger, stop: Stop) -> list[str]:
    """Return why this server left a program stopped, and what is wrong with the breakpoints that it is at."""
    notes = [stop.description] if stop.is_explained and stop.description and stop.exception is None else []
    notes += stop.remarks
    kinds = [kind for kind in debugger.state.exceptions if kind.id in stop.breakpoint_ids]
    notes += [kind.problem for kind in kinds if kind.problem]
    notes += [f"{change.breakpoint} {change.expression}: {change.note}" for change in stop.changes if change.note]
    if stop.reason == "DataBreakpoint" and not stop.changes:
        notes.append(UNKNOWN_DATA)
    return notes


def ended_answer(debugger: Debugger, ended: Snapshot) -> StopAnswer:
    """Answer how a session has ended."""
    reason = end_reason(debugger, ended, current_reader()[1])
    is_told = ended.exit_code is None or ended.failed or OUT_OF_MEMORY in (ended.end_reason or "")
    return StopAnswer(
        full=replace(of_process(ended), end_reason=ended.end_reason if is_told else None),
        state="Disconnected",
        reason="Exited",
        exit_code=ended.exit_code,
        signal=signal_name(ended.exit_code) or None,
        notes=[reason] if reason and is_told else [],
    )


def with_crash(debugger: Debugger, answer: StopAnswer, crash: Crash, note: str) -> StopAnswer:
    """Return the answer about an end, with the exception that led to it."""
    places = Places(debugger.workspace.directory)
    shown = [
        (frame.function, frame.file or None, frame.line if frame.file else None, not frame.is_library)
        for frame in crash.frames
    ]
    name, file, line, _ = shown[0] if shown else ("", None, None, True)
    causes, behind = behind_crash(crash)
    omitted = {"frames": len(shown) - 1 - FRAMES_BELOW, "causes": behind}
    frames = [
        Frame(index, each.function, crash_location(each), not each.is_library)
        for index, each in enumerate(crash.frames[: 1 + FRAMES_BELOW])
    ]
    return replace(
        answer,
        full=replace(
            answer.full or StopData(),
            exception=printed_exception(crash.exception),
            causes=causes,
            location=frames[0].location if frames else None,
            frames=frames,
            total_frames=len(crash.frames),
        ),
        exception=crash.exception,
        causes=[cause_line(places, cause) for cause in causes],
        at=places.at(file, line, name) or None,
        stack=places.stack(shown[1 : 1 + FRAMES_BELOW], before=file),
        omitted={name: count for name, count in omitted.items() if count > 0},
        notes=[*answer.notes, note],
    )


def running_answer(debugger: Debugger, snapshot: Snapshot | None) -> StopAnswer:
    """Answer that a program runs, or that programs may dial in to a session."""
    if snapshot is None:
        return StopAnswer(full=StopData(), state="Running")
    listens, listening = listening_payload(debugger.state, snapshot), None
    if listens is not None:
        listening = f"{listens.address}, {listens.connected} connected, {listens.dialed_in} have dialed in"
    notes = phase_notes(snapshot)
    # The answer to the launch, which names the session, is not there yet.
    named = snapshot.id if snapshot.phase == "Starting" else _several(debugger, snapshot.id)
    full = replace(of_process(snapshot), listening=listens)
    return StopAnswer(full=full, state="Running", listening=listening, notes=notes, session=named)


def _several(debugger: Debugger, session_id: str) -> str | None:
    return session_id if debugger.state.shows_several else None


def _runtime_below(frames: Sequence[StackFrame]) -> int:
    """Return below how many frames all that are known are those with which the runtime has called the program."""
    users = max((number for number, frame in enumerate(frames) if frame.is_user_code), default=0)
    return next(
        (
            number
            for number, frame in enumerate(frames)
            if number > users and (frame.location.file or "").startswith(_RUNTIMES)
        ),
        len(frames),
    )


def _stack(places: Places, stack: Stack, omitted: dict[str, int]) -> list[str]:
    if not stack.frames:
        return []
    top, *below = stack.frames[: _runtime_below(stack.frames)]
    shown = below[:FRAMES_BELOW]
    lines = places.frames(shown, before=top.location.file)
    callers = [] if all(frame.is_user_code for frame in shown) else _callers(below[len(shown) :])
    for passed, frame in callers:
        lines += [f"… {passed} of libraries"] * (passed > 0)
        lines += places.frames([frame])
    left_out = max(stack.total, len(stack.frames)) - 1 - len(shown) - len(callers)
    if left_out > 0:
        omitted["frames"] = left_out
    return lines


def _callers(frames: Sequence[StackFrame]) -> list[tuple[int, StackFrame]]:
    """Return the next frames of the user's code, each with the number of those of libraries before it."""
    found = list[tuple[int, StackFrame]]()
    passed = 0
    for frame in frames:
        if frame.is_user_code:
            found.append((passed, frame))
            passed = 0
            if len(found) == _CALLERS:
                break
        else:
            passed += 1
    return found


def data_change(change: DataChange) -> str:
    """Return `3 -> 4`, what a data breakpoint saw."""
    if change.after is None or change.before is None:
        return f"{change.before or '?'} -> {change.after or '?'}"
    return f"{change.before} -> {change.after}" if change.before != change.after else f"{change.after}, not changed"


def _locals(
    stack: Stack, omitted: dict[str, int], notes: list[str]
) -> tuple[dict[str, str], Sequence[Variable] | None, int]:
    """Return the locals that there is room for, by name and as they are, and how many there are."""
    found = stack.locals
    if found is None:
        known = "the locals are not there yet: ask for them with variables_get"
        notes.append(known if stack.frames else "where it is stopped is not known: the debug adapter reported no stack")
        return {}, None, 0
    own = values.without_runner_names(found.variables)
    shown, count = values.fitting(own, _LOCALS_BYTES)
    total = found.total - len(found.variables) + len(own)
    if total > count:
        omitted["locals"] = total - count
    if hidden := sum(found.hidden.values()):
        omitted["libraryFrames"] = hidden
    return shown, own[:count], total


def shown_globals(found: Locals | None, omitted: dict[str, int]) -> dict[str, str]:
    """Return the globals that the statement at hand reads, as many as there is room for."""
    own = () if found is None else found.globals
    shown, count = values.fitting(own, GLOBALS_BYTES)
    if len(own) > count:
        omitted["globals"] = len(own) - count
    return shown


def with_output(answer: StopAnswer, news: list[OutputEntry], lost: Mapping[str, int]) -> StopAnswer:
    """Return the answer with the end of what each stream got, and how much was left out."""
    answer = with_data(answer, **output_data(news, lost, _STREAM_CHARACTERS))
    omitted = dict(answer.omitted)
    streams = {}
    dropped = {text.STREAMS.get(stream, stream): number for stream, number in lost.items()}
    for stream, written in (dict.fromkeys(dropped, "") | text.joined(news)).items():
        shown = written[-_STREAM_CHARACTERS:]
        left_out = dropped.get(stream, 0) + len(written) - len(shown)
        if left_out > 0:
            omitted[f"{stream}Characters"] = left_out
        streams[stream] = f"…{shown}" if left_out > 0 else shown
    return replace(answer, **streams, omitted=omitted)
