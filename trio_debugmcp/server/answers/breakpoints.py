"""What the tools about breakpoints answer."""

from pathlib import Path

from trio_debugmcp.dap.profiles.near_names import named_alike
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.lines import breakpoint_line
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.breakpoints.exception_settings import ExceptionSpec
from trio_debugmcp.session.breakpoints.ownership import Owner
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.sources import KnownSource, read_source
from trio_debugmcp.source_lines import source_lines
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec, ExceptionBreakpoint
from trio_debugmcp.state.breakpoint_payloads import (
    NO_TYPE,
    breakpoint_payload,
    breakpoints_payload,
    data_breakpoint_payload,
    exception_breakpoint_payload,
)
from trio_debugmcp.state.payloads import (
    BreakpointPayload,
    BreakpointsPayload,
    DataBreakpointPayload,
    ExceptionBreakpointPayload,
    shortened,
)
from trio_debugmcp.state.resources import BREAKPOINTS

MAX_LINE_LENGTH = 120
"""Characters of the line that a breakpoint is on: enough to see whether it is the one that was meant."""


_DROPPABLE = ("condition", "hit_condition", "log_message")
"""What an update does away with where it does not say it again; the file of an exception breakpoint likewise."""

MAX_NAMED = 5
"""Breakpoints of before that a note names."""

_MOST_ALIKE = 2
"""Types of exceptions that a question names, where none is known of the name that was given."""


class BreakpointData(AnswerData, frozen=True, kw_only=True):
    """A breakpoint, which is one of these; the others are null. `text`: of its line.

    `instruction`: where it is on one; `value`: of its data, there now.
    """

    breakpoint: BreakpointPayload | None = None
    exception_breakpoint: ExceptionBreakpointPayload | None = None
    data_breakpoint: DataBreakpointPayload | None = None
    text: str | None = None
    instruction: str | None = None
    value: str | None = None


class BreakpointAnswer(Answer, frozen=True, kw_only=True):
    """A breakpoint: where it is, and the text of that line. `state`: Pending in a session, or Disabled.

    `notes`: what the update of one has dropped, and which of other clients are on that line.
    Of data: what the adapter `watches`, and the `value` there now.
    """

    full: BreakpointData = BreakpointData()
    id: str
    at: str | None = None
    line: str | None = None
    requested_line: int | None = None
    instruction: str | None = None
    watches: str | None = None
    value: str | None = None
    state: str | None = None
    message: str | None = None
    notes: list[str] = []


class Removed(Answer, frozen=True, kw_only=True):
    """The ids of what was removed."""

    removed: list[str]
    notes: list[str] = []


class BreakpointLines(Answer, frozen=True, kw_only=True):
    """All breakpoints, a line each."""

    full: BreakpointsPayload | None = None
    breakpoints: list[str]
    notes: list[str] = []


def breakpoint_answer(debugger: Debugger, each: Breakpoint | ExceptionBreakpoint) -> BreakpointAnswer:
    """Answer what a breakpoint is now."""
    in_session = debugger.state.root is not None
    if isinstance(each, ExceptionBreakpoint):
        known = exception_breakpoint_payload(each)
        return BreakpointAnswer(
            full=BreakpointData(exception_breakpoint=known),
            id=each.id,
            state=_state(each.enabled, known.verified, in_session=in_session),
            message=known.message,
        )
    if each.spec.watch is not None:
        data = data_breakpoint_payload(each, each.spec.watch)
        return BreakpointAnswer(
            full=BreakpointData(data_breakpoint=data),
            id=each.id,
            watches=each.spec.watch.description or None,
            state=_state(data.enabled, data.verified, in_session=in_session),
            message=data.message,
        )
    shown = breakpoint_payload(each)
    placed = shown.file is not None and bool(shown.line)
    moved = shown.requested_line is not None and shown.requested_line != shown.line
    line = _text(debugger, shown.file, shown.line) if shown.file is not None and shown.line else None
    return BreakpointAnswer(
        full=BreakpointData(breakpoint=shown, text=line),
        id=each.id,
        at=Places(debugger.workspace.directory).line(shown.file, shown.line) if placed else None,
        line=line,
        requested_line=shown.requested_line if moved else None,
        state=_state(shown.enabled, shown.verified, in_session=in_session),
        message=message_of(debugger, each, shown),
    )


def update_notes(debugger: Debugger, spec: BreakpointSpec | ExceptionSpec, owner: Owner | None = None) -> list[str]:
    """Return notes on what a breakpoint that is about to be set drops from the one that it replaces.

    Also which breakpoints of other clients stay at its place.
    """
    old: Breakpoint | ExceptionBreakpoint | None
    if isinstance(spec, ExceptionSpec):
        old, others = debugger.breakpoints.exceptions.of_type(spec.exception_type), []
    else:
        old = debugger.breakpoints.replaced_by(spec, owner)
        others = [each for each in debugger.breakpoints.at_place(spec) if each is not old]
    before = old.spec if isinstance(old, Breakpoint) else old
    kept = [(name, getattr(before, name, None)) for name in (*_DROPPABLE, *(("file",) if before is old else ()))]
    dropped = [f"{name} `{value}`" for name, value in kept if value and not getattr(spec, name, None)]
    notes = [f"the update has dropped its {' and its '.join(dropped)}"] if dropped and old is not None else []
    if others:
        named = "; ".join(other.id + condition_words(other) for other in others[:MAX_NAMED])
        left_out = f"; {len(others) - MAX_NAMED} more" if len(others) > MAX_NAMED else ""
        notes.append(f"set by other clients at this place, and still in force: {named}{left_out}")
    return notes


def breakpoint_lines(debugger: Debugger) -> BreakpointLines:
    """Answer which breakpoints there are."""
    state, places = debugger.state, Places(debugger.workspace.directory)
    in_session = state.root is not None
    lines = [breakpoint_line(places, each, in_session=in_session) for each in state.every_breakpoint]
    full = breakpoints_payload(state, debugger.merger.revisions[BREAKPOINTS])
    return BreakpointLines(full=full, breakpoints=lines)


def _state(enabled: bool, verified: bool, *, in_session: bool) -> str | None:
    if not enabled:
        return "Disabled"
    return "Pending" if in_session and not verified else None


def condition_words(each: Breakpoint) -> str:
    """Return the condition of a breakpoint behind its place; empty without one."""
    return f" if {each.spec.condition}" if each.spec.condition else ""


def place_words(places: Places, each: Breakpoint) -> str:
    """Return where a breakpoint was set."""
    spec = each.spec
    return spec.watch.expression if spec.watch else spec.function or spec.address or places.line(spec.file, spec.line)


def message_of(debugger: Debugger, each: Breakpoint, shown: BreakpointPayload) -> str | None:
    """Return what is unexpected about a breakpoint. That its file ends before it is known without any session."""
    in_it = each.spec.text is not None  # when it was set
    behind = None if shown.verified or each.lost or in_it else behind_the_end(debugger, each.spec.file, each.spec.line)
    return behind or shown.message or _nowhere(debugger, each)


def behind_the_end(debugger: Debugger, file: str | None, line: int | None) -> str | None:
    """Return that a file ends before a line, if so."""
    if file is None or line is None:
        return None
    lines = _source(debugger, file)
    if lines is None or line <= len(lines):
        return None
    return f"no code follows line {line} of the file, which has {len(lines)} line{'s' * (len(lines) != 1)}"


def _nowhere(debugger: Debugger, each: Breakpoint) -> str | None:
    """Return that a breakpoint is on a line without code, if so: at the end no session is there any more to say it."""
    if debugger.state.root is not None or each.spec.file is None or each.spec.line is None:
        return None
    file, line, profile = each.spec.file, each.spec.line, debugger.language_of(each.spec.file)
    if profile is None or not profile.code.reads_source:
        return None
    try:
        there = debugger.host.query(f"line {line} of {file}", lambda: profile.code.line_with_code(file, line))
    except UsageError:  # a recording of a session that did not get to its breakpoints
        return None
    return f"no code follows line {line} of the file" if there is None else None


def exception_message(debugger: Debugger, each: ExceptionBreakpoint) -> str | None:
    """Return what is unexpected about an exception breakpoint: after the end, too, its type may not exist."""
    message = exception_breakpoint_payload(each).message
    profile = debugger.language_of(None)
    builtin = profile.expressions.exception_types() if profile is not None else ()
    if each.exception_type in builtin or each.exception_type == "*" or (message and message != NO_TYPE):
        return message
    if not message and (debugger.state.root is not None or each.hits):
        return None
    message = message or "no exception of that name was raised"
    near = type_question(debugger, each.exception_type)
    return f"{message}. {near}" if near else message


def type_question(debugger: Debugger, exception_type: str) -> str:
    """Return the question whether another type is meant; empty where one of this name is known, or none is like it."""
    profile = debugger.language_of(None)
    built_in = profile.expressions.exception_types() if profile is not None else ()
    if profile is None or exception_type == "*" or "." in exception_type or exception_type in built_in:
        return ""
    files = [file for file in debugger.programs.known_sources() if Path(file).is_absolute()]
    own = [file for file in files if not profile.code.is_library(file)]
    places = list(dict.fromkeys([*(str(Path(file).parent) for file in own), debugger.workspace.directory]))
    thrown = profile.thrown
    try:
        defined = debugger.host.query(
            f"exceptions beside {exception_type}", lambda: thrown.types_beside(exception_type, own, places)
        )
    except UsageError:  # a recording from before this was asked
        defined = ()
    names = () if defined is None else {*built_in, *defined}
    alike = named_alike(exception_type, {name: name for name in sorted(names)})[:_MOST_ALIKE]
    return f"Is it {' or '.join(alike)}?" if alike else ""


def _text(debugger: Debugger, file: str, line: int) -> str | None:
    lines = _source(debugger, file)
    found = lines[line - 1].strip() if lines is not None and line <= len(lines) else ""
    return shortened(found, MAX_LINE_LENGTH) or None


def _source(debugger: Debugger, file: str) -> list[str] | None:
    """Return the lines of a source; None if it cannot be read."""
    text = debugger.sources.code(file)
    try:
        text = text or debugger.host.query(f"source {file}", lambda: read_source(KnownSource(file, None, "")))
    except UsageError:
        return None
    return source_lines(text)
