"""Exceptions with what is behind them, for answers: causes as a list, groups as trees, frames with source lines.

In words: what the exception at a stop is, how it stopped the program, and who will catch it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec.structs import replace

from trio_debugmcp.server.answers.answer import Answer, AnswerData
from trio_debugmcp.server.answers.places import LIBRARY, Places
from trio_debugmcp.server.answers.source import source_line
from trio_debugmcp.server.answers.stacks import hidden_in_words
from trio_debugmcp.server.answers.values import counted, fitting, without_runner_names
from trio_debugmcp.session.debugger import Debugger
from trio_debugmcp.session.looking.exception_context import ExceptionContext, ExceptionTree, PassedFrame
from trio_debugmcp.state.model import Locals
from trio_debugmcp.state.payloads import ExceptionInfo, Location, Payload, UnixTime, Variable, json_size, shortened

_PLAIN_MODE = "always"
"""How an exception stops the program unless something else is said: where it is raised."""


def stopped_by(places: Places, found: ExceptionInfo | None) -> tuple[str | None, str | None, str | None]:
    """Return the text of an exception, its mode, and who will catch it; None for what there is not, or is not known."""
    if found is None:
        return None, None, None
    return *exception_text(found), _caught_by(places, found)


def exception_text(found: ExceptionInfo) -> tuple[str, str | None]:
    """Return `ValueError: …`, and its mode where it is not the plain one: it is not caught, for example."""
    mode = None if found.break_mode == _PLAIN_MODE else found.break_mode
    return f"{found.type}: {found.message}" if found.message else found.type, mode


def raised_notes(places: Places, found: Locals | None) -> list[str]:
    """Return where the exception of a stop was raised, if it has left that frame."""
    if found is None or found.raised is None:
        return []
    where = f"raised at {places.at_location(found.raised)}"
    library = "of a library: exception_get_context shows its variables there"
    return [f"{where} {library}" if found.raised_in_library else f"{where}, and raised again since"]


def _caught_by(places: Places, found: ExceptionInfo) -> str | None:
    """Return `load shop.py:12`, or `Mapping.__contains__ (library)`."""
    place = found.caught_by
    if place is None:
        return None
    line = f" {places.line(place.file, place.line)}" if place.is_user_code else LIBRARY
    return f"{place.function}{line}{' (in C code)' if place.in_c_code else ''}"


RAISED = " (raised here)"
"""At the end of the frame in which an exception was raised."""

STOPPED = " (stopped here)"
"""At the end of the frame in which the program is stopped, where that is another one."""

_FRAMES_BYTES = 5000
"""JSON bytes of the frames of the exception at hand; those left out are counted."""

_NOTES_BYTES = 2000
"""JSON bytes of its notes."""

_LOCALS_BYTES = 6000
"""JSON bytes of the locals of its frames, which share them."""

_INNER_BYTES = 8000
"""JSON bytes of the exceptions behind it, which share them: each is shown, the more of them the shorter."""

_LEAST_BYTES = 200
"""JSON bytes of one of these, however many there are."""


class PassedFramePayload(Payload, frozen=True):
    """A frame that an exception has passed. `raised`: it was raised here; `stopped`: the program is stopped here."""

    name: str
    location: Location
    is_user_code: bool
    raised: bool
    stopped: bool
    text: str | None
    locals: list[Variable]
    locals_total: int


class ExceptionPayload(Payload, frozen=True):
    """An exception, its frames from where it was raised on, and what is directly behind it, in `inner`.

    `way`: from the one before it: cause, context, suppressed, member or inner. `same`: it stands elsewhere in the tree,
    with what is behind it. `members`: how many a group has. `trace`: lines of a stack that are known only as text.
    """

    exception: str
    way: str | None
    same: bool
    added: list[str]
    added_total: int
    members: int
    frames: list[PassedFramePayload]
    total_frames: int
    trace: list[str]
    inner: list["ExceptionPayload"]


class ExceptionData(AnswerData, frozen=True, kw_only=True):
    """The exception with what is behind it; `omitted`: how many of these were left out. `mode`: how it stopped.

    `hidden`: how many frames of which packages are left out of its own.
    """

    same: ClassVar[tuple[str, ...]] = ("notes", "mode")

    exception: ExceptionPayload
    mode: str | None = None
    omitted: int = 0
    hidden: Mapping[str, int] = {}


class ExceptionAnswer(Answer, frozen=True, kw_only=True):
    """The exception, its `frames` from where it was raised on, and the `locals` of the first of these.

    `causes`: nearest first, each with its `way` from the one before it, or `of` another one: `cause` (`from`),
    `context` (raised while that was handled), `suppressed` (a context that Python does not print). `members`: of a
    group. `same`: that exception stands elsewhere in the answer in full. `added`: its notes. `total`: how many frames
    there are, where some were left out; `hidden`: those of libraries; `omitted`: exceptions behind it.
    """

    full: ExceptionData | None = None
    exception: str
    mode: str | None = None
    added: list[str] = []
    frames: list[str] = []
    locals: list[dict[str, str]] = []
    total: int | None = None
    hidden: str | None = None
    causes: list[dict[str, Any]] = []
    members: list[dict[str, Any]] = []
    omitted: dict[str, int] = {}
    notes: list[str] = []


def exception_answer(
    debugger: Debugger,
    found: ExceptionContext,
    began: UnixTime | None,
    text: str | None = None,
    mode: str | None = None,
) -> ExceptionAnswer:
    """Answer about an exception. `began`: when the program did; `text`, `mode`: of the stop, if it is at one."""
    tree = found.exception
    telling = _ExceptionAnswer(debugger, began, max(_LEAST_BYTES, _INNER_BYTES // max(1, _count(tree) - 1)))
    frames, total = telling.frames(tree, _FRAMES_BYTES)
    told = {} if text is None else {"exception": text}
    notes = list(found.remarks)
    if found.uncounted:
        notes.append("there are more exceptions behind it than were counted")
    return ExceptionAnswer(
        full=ExceptionData(
            exception=replace(_payload(debugger, began, tree), **told), omitted=found.omitted, hidden=found.hidden
        ),
        exception=text or tree.exception,
        mode=mode,
        added=_fitting_notes(tree, _NOTES_BYTES),
        frames=frames,
        locals=_locals(tree.frames, _LOCALS_BYTES),
        total=total,
        hidden=hidden_in_words(found.hidden),
        causes=telling.causes(tree),
        members=telling.members(tree),
        omitted={"exceptions": found.omitted} if found.omitted else {},
        notes=notes,
    )


def _payload(debugger: Debugger, began: UnixTime | None, tree: ExceptionTree) -> ExceptionPayload:
    """Return an exception as data; the lines of source are those of the words."""
    return ExceptionPayload(
        exception=tree.exception,
        way=tree.way,
        same=tree.same,
        added=list(tree.notes),
        added_total=tree.notes_total,
        members=tree.members,
        frames=[
            PassedFramePayload(
                frame.name,
                Location(frame.file, frame.line, None, frame.name, None),
                frame.is_user_code,
                frame.raised,
                frame.stopped,
                _source_of(debugger, began, frame),
                list(frame.locals),
                frame.locals_total,
            )
            for frame in tree.frames
        ],
        total_frames=tree.total,
        trace=list(tree.trace),
        inner=[_payload(debugger, began, each) for each in tree.inner],
    )


def _source_of(debugger: Debugger, began: UnixTime | None, frame: PassedFrame) -> str | None:
    """Return the line of a frame of the user's code, as far as it is known."""
    if not frame.is_user_code:
        return None
    return frame.text or source_line(debugger, began, frame.file, frame.line)


class _ExceptionAnswer:
    """One answer. `room`: JSON bytes of each exception behind the one at hand."""

    def __init__(self, debugger: Debugger, began: UnixTime | None, room: int) -> None:
        self._debugger = debugger
        self._began = began
        self._room = room

    def causes(self, tree: ExceptionTree) -> list[dict[str, Any]]:
        """Return what has led to an exception, nearest first: each line of causes to its end."""
        return [self._entry(each, of) for each, of in _line(tree, None)]

    def members(self, tree: ExceptionTree) -> list[dict[str, Any]]:
        return [self._entry(each, None) for each in tree.inner if each.way == "member"]

    def _entry(self, tree: ExceptionTree, of: str | None) -> dict[str, Any]:
        entry: dict[str, Any] = {} if tree.way == "member" else {"way": tree.way}
        if of is not None:
            entry["of"] = of
        entry["exception"] = shortened(tree.exception, self._room // 2)
        if tree.same:
            return {**entry, "same": True}
        room = self._room - json_size(entry)
        entry["added"] = _fitting_notes(tree, room // 2)
        room -= json_size(entry["added"])
        entry["frames"], entry["total"] = self.frames(tree, room)
        entry["locals"] = _locals(tree.frames, room - json_size(entry["frames"]), paged=False)
        entry["causes"], entry["members"] = self.causes(tree) if tree.way == "member" else [], self.members(tree)
        if tree.members > len(entry["members"]):
            entry["count"] = tree.members
        return {name: value for name, value in entry.items() if value}

    def frames(self, tree: ExceptionTree, room: int) -> tuple[list[str], int | None]:
        """Return a line for each frame, as many as there is room for, and the number of all if that is not all."""
        lines = list(tree.trace) or self._lines(tree.frames)
        shown: list[str] = []
        for each in lines:
            line = shortened(each, max(_LEAST_BYTES // 2, room))
            room -= json_size(line) + 2
            if shown and room < 0:
                break
            shown.append(line)
        return shown, tree.total if len(shown) < tree.total else None

    def _lines(self, frames: Sequence[PassedFrame]) -> list[str]:
        places = Places(self._debugger.workspace.directory)
        lines = places.stack((frame.name, frame.file, frame.line, frame.is_user_code) for frame in frames)
        return [line + self._marks(each) + self._source(each) for line, each in zip(lines, frames, strict=True)]

    def _marks(self, frame: PassedFrame) -> str:
        return RAISED if frame.raised else STOPPED if frame.stopped else ""

    def _source(self, frame: PassedFrame) -> str:
        text = _source_of(self._debugger, self._began, frame)
        return f" | {text}" if text else ""


def _line(tree: ExceptionTree, of: str | None) -> Iterator[tuple[ExceptionTree, str | None]]:
    """Yield what has led to an exception. `of`: whose it is, where that is not the one before it."""
    behind = [each for each in tree.inner if each.way != "member"]
    for number, exception in enumerate(behind):
        yield exception, of if not number else tree.exception
        yield from _line(exception, None)


def _count(tree: ExceptionTree) -> int:
    return 1 + sum(_count(each) for each in tree.inner)


def _fitting_notes(tree: ExceptionTree, room: int) -> list[str]:
    """Return the notes that there is room for, the first one in any case, and how many more there are."""
    shown: list[str] = []
    for note in tree.notes:
        text = shortened(note, max(_LEAST_BYTES // 4, room))
        room -= json_size(text)
        if shown and room < 0:
            break
        shown.append(text)
    left_out = tree.notes_total - len(shown)
    return [*shown, f"{left_out} more"] if left_out > 0 else shown


def _locals(frames: Sequence[PassedFrame], room: int, *, paged: bool = True) -> list[dict[str, str]]:
    """Return the locals of the first frames, in their order; what the last of them have none of is left out.

    `paged`: variables_get has those that are left out.
    """
    number = sum(bool(frame.locals_total) for frame in frames)
    if number and not paged and room < number * _LEAST_BYTES:
        return [{"…": f"{sum(frame.locals_total for frame in frames)} more"}]
    found = [_values(frame, room // number if number else 0, paged=paged) for frame in frames]
    while found and not found[-1]:
        found.pop()
    return found


def _values(frame: PassedFrame, room: int, *, paged: bool) -> dict[str, str]:
    own = without_runner_names(frame.locals)
    values, shown = fitting(own, room)
    left_out = frame.locals_total - len(frame.locals) + len(own) - shown
    if paged:
        return counted(values, left_out)
    return {**values, "…": f"{left_out} more"} if left_out > 0 else values
