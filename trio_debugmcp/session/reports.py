"""The answer of an execution tool: one `StopReport` with everything that is needed to decide what to do next."""

from collections.abc import Hashable
from contextvars import ContextVar

import trio
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from trio_debugmcp.errors import AdapterGone, UsageError
from trio_debugmcp.session.debugger import Debugger, Outcome
from trio_debugmcp.session.truncation import truncated
from trio_debugmcp.state.model import Locals, Snapshot
from trio_debugmcp.state.payloads import (
    ExceptionInfo,
    Frame,
    Location,
    OutputEntry,
    Payload,
    SourceLine,
    UnixTime,
    Variable,
    shortened,
    signal_name,
)
from trio_debugmcp.state.resources import frame_payload

READER: ContextVar[Hashable] = ContextVar("READER", default=None)
"""Who gets the reports of this task: what is new in the output is kept apart for each client."""

REPORTED_FRAMES = 5
"""Frames in a report: enough to see how execution got here."""

EXCERPT_LINES = 5
"""Lines of source on either side of the current one."""

MAX_REPORT_OUTPUT = 4000
"""Characters at the end of one entry of program output in a report; process_read_output has all of it."""

_OUTPUT_BYTES = 8000
"""JSON bytes of the program's output in a report; process_read_output has the rest."""

LOCALS_SECONDS = 3.0
"""The longest time that a report waits for the locals of the top frame."""

MAX_LINE_LENGTH = 300
"""Characters of a source line in an excerpt; generated files have lines of many thousands."""

_LOCALS_BYTES = 8000
"""JSON bytes of the top frame's locals in a report; variables_get has the rest."""


class StopReport(Payload, frozen=True):
    """The state after an execution tool. `state`: Paused, Running or Disconnected; `reason` as pauseReason, or Exited.

    `frames`: the top 5; `locals`: of the top frame; `sourceExcerpt`: 5 lines either side; `output`: new since the
    last report; `notes`: what was left out, and where to find it; `returned`: results of the calls stepped over or out.
    """

    state: str
    reason: str | None
    description: str | None
    thread_id: int | None
    location: Location | None
    breakpoint_ids: list[str]
    exception: ExceptionInfo | None
    frames: list[Frame]
    locals: list[Variable] | None
    source_excerpt: list[SourceLine]
    output: list[OutputEntry]
    exit_code: int | None
    timed_out: bool
    session_id: str | None
    notes: list[str]
    signal: str | UnsetType = UNSET
    returned: list[Variable] | UnsetType = UNSET


async def report_outcome(
    debugger: Debugger, outcome: Outcome | None, *, deadline: float, timed_out: bool = False
) -> StopReport:
    """Report how a wait ended; `outcome` None means that the program still runs.

    At a stop the report waits for the locals, until the deadline (trio's clock) and never for long: a `__repr__` of
    the program may not return.

    Raises:
        AdapterGone: the session ended because its adapter did.
    """
    await debugger.console.settle()
    ended = outcome.ended if outcome is not None else None
    if ended is not None and ended.failed:
        raise AdapterGone(ended.end_reason or "the debug adapter is gone")
    notes: list[str] = []
    reader, console = READER.get(), debugger.console
    next_seq = console.next_seq
    output = _truncated_output(console.news(reader), notes)
    if outcome is not None and outcome.paused is not None:
        paused = outcome.paused
        with trio.move_on_at(min(deadline, trio.current_time() + LOCALS_SECONDS)):
            paused = await debugger.wait_locals(paused)
        console.mark_read(next_seq, reader)  # last: the output of a report that is cancelled is new in the next one
        return _paused_report(debugger, paused, output, notes)
    console.mark_read(next_seq, reader)
    running = outcome is None or ended is None
    return StopReport(
        state="Running" if running else "Disconnected",
        reason=None if running else "Exited",
        description=None if ended is None else ended.end_reason,
        thread_id=None,
        location=None,
        breakpoint_ids=[],
        exception=None,
        frames=[],
        locals=None,
        source_excerpt=[],
        output=output,
        exit_code=None if ended is None else ended.exit_code,
        timed_out=timed_out,
        session_id=debugger.state.focus if running else None if ended is None else ended.id,
        notes=notes,
        signal=signal_name(None if ended is None else ended.exit_code),
    )


def _paused_report(debugger: Debugger, snapshot: Snapshot, output: list[OutputEntry], notes: list[str]) -> StopReport:
    stop, stack = snapshot.stop, snapshot.stack
    if stop is None:
        raise AssertionError("a paused session has a stop")
    if stack.locals is None:
        notes.append("the locals are not there yet: ask for them with variables_get")
    return StopReport(
        state="Paused",
        reason=stop.reason,
        description=stop.description,
        thread_id=stop.thread_id,
        location=stop.location,
        breakpoint_ids=list(stop.breakpoint_ids),
        exception=stop.exception,
        frames=[frame_payload(index, frame) for index, frame in enumerate(stack.frames[:REPORTED_FRAMES])],
        locals=None if stack.locals is None else _truncated_locals(stack.locals, notes),
        source_excerpt=source_excerpt(debugger, stop.location, snapshot.origin.attached_at, notes),
        output=output,
        exit_code=None,
        timed_out=False,
        session_id=snapshot.id,
        notes=notes,
        returned=list(stack.locals.returned) if stack.locals is not None and stack.locals.returned else UNSET,
    )


def source_excerpt(
    debugger: Debugger, location: Location | None, began: UnixTime | None = None, notes: list[str] | None = None
) -> list[SourceLine]:
    """Return the lines around a place; none if its source cannot be read. `notes` get what is not right about it."""
    if location is None or location.file is None or location.line is None:
        return []
    try:
        source = debugger.sources.running(location.file, began, debugger.host)
    except UsageError:
        return []
    if source.edited and notes is not None:
        shown = "the source shown is that of before" if source.from_before else "its lines may not be those that run"
        notes.append(f"{location.file} was edited after the program started: {shown}; debug_restart runs the new text")
    text = source.text
    lines = text.splitlines()
    first = max(1, location.line - EXCERPT_LINES)
    last = min(len(lines), location.line + EXCERPT_LINES)
    return [
        SourceLine(number, shortened(lines[number - 1], MAX_LINE_LENGTH), number == location.line)
        for number in range(first, last + 1)
    ]


def _truncated_locals(locals_: Locals, notes: list[str]) -> list[Variable]:
    kept = truncated(locals_.variables, _LOCALS_BYTES)
    if len(kept) < locals_.total:
        notes.append(f"{locals_.total - len(kept)} of {locals_.total} locals left out: use variables_get")
    return kept


def _truncated_output(entries: list[OutputEntry], notes: list[str]) -> list[OutputEntry]:
    """Return the last entries that fit; an entry that is too long by itself keeps its end."""
    short = [
        replace(entry, text="…" + entry.text[-MAX_REPORT_OUTPUT:]) if len(entry.text) > MAX_REPORT_OUTPUT else entry
        for entry in reversed(entries)
    ]
    kept = truncated(short, _OUTPUT_BYTES)
    if len(kept) < len(entries) or any(entry.text.startswith("…") for entry in kept):
        notes.append("earlier output left out: use process_read_output")
    return kept[::-1]
