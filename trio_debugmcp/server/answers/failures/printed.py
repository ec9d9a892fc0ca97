"""What the program that has ended printed of exceptions, for answers: the one that ended it, and others."""

import json
import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from trio_debugmcp.dap.profiles import Launch
from trio_debugmcp.dap.profiles.printed_exceptions import Crash, CrashFrame, PrintedExceptions, Survived
from trio_debugmcp.server.answers.ended_by import ChildrenOf
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.source import source_line
from trio_debugmcp.server.answers.stop_answer import CausePayload
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.output.terminal_sequences import plain
from trio_debugmcp.state.model import Snapshot
from trio_debugmcp.state.payloads import ExceptionInfo, Location, shortened, signal_name

CRASH_NOTE = "the exception is the last one that the program printed"

STOPPED_NOTE = "the exception is that of the last stop, from which the program ran to its end"

MAX_BEHIND = 5
"""Exceptions behind the one that ended a program, in the answer about its end; exception_get_context has the others."""

_MAX_SURVIVED = 5
"""Exceptions that did not end it, each in a note; the output has the others."""

_FROM_OUTSIDE = frozenset({"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"})
"""Signals by which programs are ended from outside, also by this server: whatever they have stopped at before."""

_MAX_KINDS = 3
"""Types of exceptions that ended tests, and are named."""

_MAX_LENGTH = 200
"""Characters of an exception in one line."""


def last_crash(debugger: Debugger, last: Snapshot) -> tuple[Crash, str] | None:
    """Return the exception that ended the last program, if it failed, and a note on how that is known."""
    found = _stopped_crash(debugger, last)
    if found is not None:
        return found, STOPPED_NOTE + _values_note(debugger, last, found)
    if not last.exit_code or isinstance(signal_name(last.exit_code), str):
        return None
    printed = _printed(debugger).crash
    return None if printed is None else (printed, CRASH_NOTE + _values_note(debugger, last, printed))


def _values_note(debugger: Debugger, last: Snapshot, crash: Crash) -> str:
    """Return where the values at an exception are: its stop is kept, if it was the last one."""
    stop = last.stop
    raised = stop is not None and stop.exception is not None and is_of_type(crash.exception, stop.exception.type)
    if stop is None or not raised or all(each.stop.number != stop.number for each in debugger.state.kept.stops):
        return "; no values are kept after the end"
    return f"; its values are in stop {stop.number}: see stop_get"


def is_of_type(printed: str, name: str) -> bool:
    """Whether an exception as it was printed is of a type as a stop names it, which may lack the module: `Closed`.

    node prints a code behind the type: `AssertionError [ERR_ASSERTION]: …`.
    """
    kind = printed.partition(": ")[0].partition(" [")[0]
    return kind == name or kind.endswith(f".{name}")


def _stopped_crash(debugger: Debugger, last: Snapshot) -> Crash | None:
    """Return the exception or the signal of the last stop, if nothing catches such in programs of that language."""
    stop, started = last.stop, debugger.last_start
    if stop is None or stop.exception is None or started is None or prints_tracebacks(debugger):
        return None
    signal = signal_name(last.exit_code)
    if not last.exit_code or (signal in _FROM_OUTSIDE and stop.exception.type != signal):
        return None
    text = f"{stop.exception.type}: {stop.exception.message}" if stop.exception.message else stop.exception.type
    frames = [
        CrashFrame(frame.name, frame.location.file or "", frame.location.line or 0, not frame.is_user_code)
        for frame in last.stack.frames
    ]
    return Crash(text, tuple(frames))


def prints_tracebacks(debugger: Debugger) -> bool:
    """Whether programs of the last one's language print the exceptions that end them."""
    return debugger.last_start is not None and debugger.last_start[0].prints_tracebacks


def survived_notes(debugger: Debugger, ended: Snapshot, children: ChildrenOf) -> list[str]:
    """Return notes on exceptions that did not end the program: in threads, for example, or in processes of it.

    Those of processes of which the note on `children` says it are left out.
    """
    places = Places(debugger.workspace.directory)
    printed = _printed(debugger)
    shown = tuple(children.failures.values())
    found = [each for each in printed.survived if not _is_shown(each.exception, shown)]
    notes = [_note(places, each) for each in found[:_MAX_SURVIVED]]
    left_out = len(found) - len(notes)
    if left_out:
        notes.append(f"{left_out} more exceptions that did not end the program are in its output")
    crash = printed.crash
    if children.pids and ended.exit_code == 0 and crash is not None and not _is_shown(crash.exception, shown):
        place = _place(places, crash.frames[0] if crash.frames else None)
        notes.append(
            "the program ended with exit code 0, but it, or a process that it started, has printed an exception"
            f"{place}: {shortened(crash.exception, _MAX_LENGTH)}"
        )
    return [*notes, *_unseen(debugger, ended, printed), *ended_tests(debugger, ended)]


def _unseen(debugger: Debugger, ended: Snapshot, printed: PrintedExceptions) -> list[str]:
    """Return a note on what ended a program without a stop: what was taken for caught, or the debugger itself."""
    if printed.of_debugger is not None:
        return [printed.of_debugger] if ended.exit_code else []
    started, crash = debugger.last_start, printed.crash
    asked = started is not None and isinstance(started[1], Launch) and started[1].stop_at != ()
    if printed.unseen is None or crash is None or not ended.exit_code or not asked:
        return []
    pid = ended.origin.process_id  # the session that has ended may be one that only launched the program
    of_program = [
        kept.stop.exception
        for kept in debugger.state.kept.stops
        if kept.session_id == ended.id or (pid is not None and kept.process_id == pid)
    ]
    if any(each is not None and is_of_type(crash.exception, each.type) for each in of_program):
        return []
    if printed.by_line and crash.frames:
        frame = crash.frames[0]
        place = Places(debugger.workspace.directory).line(frame.file, frame.line)
        said = shortened(crash.exception.partition(": ")[2], _MAX_LENGTH)
        wanted = _wanted({"file": frame.file, "line": frame.line})
        return [f"the program wrote last, at {place}: {said}. As {printed.unseen}, `{wanted}` stops before that"]
    kind = crash.exception.partition(": ")[0].partition(" ")[0]
    wanted = _wanted({"exception": kind})
    return [
        f"{kind} ended the program without a stop, as {printed.unseen}: with `{wanted}` it stops where it is raised"
    ]


def ended_tests(debugger: Debugger, ended: Snapshot) -> list[str]:
    """Return a note on exceptions that ended tests without a stop, as their runner has caught them."""
    program = debugger.programs.at_hand.started()
    start = None if program is None else program.start
    if program is None or not isinstance(start, Launch) or start.raised is None:
        return []
    if not start.stop_at or not ended.exit_code:
        return []
    said = "".join(entry.text for entry in debugger.console.entries() if entry.stream in ("stdout", "stderr"))
    stops = [kept.stop.exception for kept in debugger.state.kept.stops if kept.session_id in program.sessions]
    seen = {each.type for each in stops if each is not None}
    every = {found["kind"]: found.groupdict() for found in re.finditer(start.raised, plain(said))}
    kinds = [kind for kind in every if kind not in start.fails_with and kind not in seen]
    if not kinds:
        return []
    named, others = kinds[:_MAX_KINDS], len(kinds) - _MAX_KINDS
    what = " and ".join(named) + (f" and {others} more types" if others > 0 else "")
    tests = "the test" if len(kinds) == 1 else "tests"
    lines = [each for kind in named if (each := _line_of(start, every[kind])) is not None]
    if lines:
        return [f"{what} ended {tests} without a stop, as the runner catches that: `{_wanted(*lines)}` stops before it"]
    wanted = _wanted(*({"exception": kind} for kind in named))
    return [
        f"{what} ended {tests} without a stop, as the runner catches that: with `{wanted}` one stops where it is raised"
    ]


def _line_of(start: Launch, said: dict[str, str | None]) -> dict[str, str | int] | None:
    """Return the line that an exception was raised in, of a runner that says it: it raises too many itself."""
    file, line = said.get("file"), said.get("line")
    return None if file is None or line is None else {"file": os.path.join(start.cwd, file), "line": int(line)}


def _wanted(*breakpoints: dict[str, str | int]) -> str:
    return f"breakpoints: {json.dumps(breakpoints, ensure_ascii=False)}"


def _is_shown(exception: str | None, shown: tuple[str, ...]) -> bool:
    return exception is not None and any(failure.startswith(exception) for failure in shown)


def survived_type(debugger: Debugger) -> str | None:
    """Return the type of the first exception that did not end the program; None if there was none."""
    found = next((each.exception for each in _printed(debugger).survived if each.exception is not None), None)
    return None if found is None else found.partition(":")[0].strip()


def behind_crash(crash: Crash) -> tuple[list[CausePayload], int]:
    """Return the exceptions behind the one that ended a program, and the number of those left out."""
    found = list(_behind(crash))
    shown = [
        CausePayload(each.way or "", each.exception, crash_location(each.frames[0]) if each.frames else None)
        for each in found[:MAX_BEHIND]
    ]
    return shown, len(found) - len(shown)


def cause_line(places: Places, cause: CausePayload) -> str:
    """Return `cause: KeyError: 'tea', at shop.py:9 in price`."""
    place = "" if cause.location is None else f", at {places.at_location(cause.location)}"
    return f"{cause.way}: {shortened(cause.exception, _MAX_LENGTH)}{place}"


def crash_location(frame: CrashFrame) -> Location:
    """Return the place of a frame that was printed."""
    return Location(frame.file or None, frame.line if frame.file else None, None, frame.function, None)


def printed_exception(text: str) -> ExceptionInfo:
    """Return an exception of the line that a program has printed: `ValueError: …`."""
    kind, colon, message = text.partition(": ")
    return ExceptionInfo(kind, message if colon else None, None)


def _behind(crash: Crash) -> Iterator[Crash]:
    for exception in crash.inner:
        yield exception
        yield from _behind(exception)


def _printed(debugger: Debugger) -> PrintedExceptions:
    if debugger.last_start is None:
        return PrintedExceptions()
    stderr = "".join(entry.text for entry in debugger.console.entries() if entry.stream == "stderr")
    programs = debugger.last_start[0].programs
    found = programs.printed_in(plain(stderr))
    if found.by_line and found.crash is not None and found.crash.frames:
        frame = found.crash.frames[0]
        if programs.only_warns(source_line(debugger, None, frame.file, frame.line) or ""):
            return replace(found, crash=None)
    return found


def _note(places: Places, each: Survived) -> str:
    place = _place(places, each.frame)
    if each.exception is None:
        return f"{each.where}{place}"
    return f"an exception {each.where}{place} did not end the program: {shortened(each.exception, _MAX_LENGTH)}"


def _place(places: Places, frame: CrashFrame | None) -> str:
    return "" if frame is None else f", at {places.at(frame.file, frame.line, frame.function)}"
