"""`CallRecord`: what happens in one call of a function that is traced, line by line, within bounds, and how it is left.

    record = CallRecord(frame, head=1000)
    record.begin(frame)
    record.line(frame, 24)                  # and `called`, `raised`, `suspended`, `resumed`
    record.returned(frame, 33)
    record.json()["head"]                   # [[24, [["paid", "33"]], [["call", "total", "", "returned", "33", 0]]]]

The first lines of a call are kept, and the last; of those between only how often each ran. What the variables became is
compared at each line, until that has taken too long.
"""

import dis
import time
import types
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import visible_frames
from trio_debugmcp.probe.inside.bounds import patient
from trio_debugmcp.probe.inside.debugger.attached import is_own
from trio_debugmcp.probe.inside.debugger.frame_lines import line_of
from trio_debugmcp.probe.inside.tracing.changed_locals import MOST_NAMES, Change, LocalValues
from trio_debugmcp.probe.inside.values.program_text import error_text
from trio_debugmcp.probe.inside.visible_frames import Json


class UnableError(Exception):
    """Calls cannot be followed in this program, and why."""


_AWAITS = 3
_DELEGATES = 2
"""What the instruction after a yield has as its argument, from Python 3.11 on."""


def begins(frame: Any) -> bool:
    """Whether a call begins in a frame: it is at the first line of the function, and not at the next turn of a loop."""
    code = frame.f_code
    starts = (offset for offset, line in dis.findlinestarts(code) if line is not None and line > code.co_firstlineno)
    first = next(starts, -1)
    if frame.f_lasti != (_single_line(code) if first < 0 else first):
        return False
    most = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    given = code.co_varnames[:most] + code.co_freevars
    return all(name in given for name in frame.f_locals)


def _single_line(code: types.CodeType) -> int:
    """Return where the line begins of a function that has only one: behind what makes the frame ready."""
    instructions = code.co_code
    names = (dis.opname[instructions[offset]] for offset in range(0, len(instructions), 2))
    return next((2 * number for number, name in enumerate(names, 1) if name in ("RESUME", "GEN_START")), 0)


def suspends(frame: Any, offset: int) -> str:
    """Return how a frame leaves at an instruction if it will be resumed: yielded, delegates or awaits; else empty."""
    instructions = frame.f_code.co_code
    name = dis.opname[instructions[offset]] if 0 <= offset < len(instructions) else ""
    following = offset + 2
    after = dis.opname[instructions[following]] if following + 1 < len(instructions) else ""
    if name == "YIELD_VALUE":
        kind = instructions[following + 1] & 3 if after == "RESUME" else 1
        return {_AWAITS: "awaits", _DELEGATES: "delegates"}.get(kind, "yielded")
    if after == "YIELD_FROM":  # up to Python 3.10, which goes back by one instruction before it leaves
        before = dis.opname[instructions[offset - 2]] if offset >= 2 else ""
        return "awaits" if before == "GET_AWAITABLE" else "delegates"
    return ""


def returns(frame: Any) -> bool:
    """Whether a frame that ends is at the instruction by which it returns, and not where an exception left it."""
    instructions = frame.f_code.co_code
    offset = frame.f_lasti
    return 0 <= offset < len(instructions) and dis.opname[instructions[offset]] in ("RETURN_VALUE", "RETURN_CONST")


def ends_loop(frame: Any, error: Any) -> bool:
    """Whether an exception only says to a loop or an `await` that there is no more; the interpreter takes it."""
    if type(error) not in (StopIteration, StopAsyncIteration):
        return False
    instructions = frame.f_code.co_code
    offset = frame.f_lasti
    name = dis.opname[instructions[offset]] if 0 <= offset < len(instructions) else ""
    return name in ("FOR_ITER", "SEND", "YIELD_FROM", "END_ASYNC_FOR", "GET_ANEXT")


_INNER = frozenset(("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"))


def is_inner(code: types.CodeType) -> bool:
    """Whether a function is a comprehension, which its readers take for a part of the line it is on."""
    return code.co_name in _INNER


MOST_TAIL = 200
"""Lines of the end of a call that are kept."""

MOST_CALLS = 4
"""Calls of a line that are noted one by one; further ones are counted."""

COMPARING_SECONDS = 1.5
"""For comparing variables in one call. A program that is watched is slow, but it must not stand still."""

MOST_NOTES = 12
"""Of one line, after which exceptions are noted no more."""

MOST_ARGUMENTS = 12
"""Arguments of a call that are shown."""

_GENERATORS = 0x220
"""Flags of the code of a generator, also of an asynchronous one."""

_KEYWORDS = 0x0C
"""Flags of a function's code: it takes `*args` or `**kwargs`."""

Note = List[Any]


class ExecutedLine:
    """One execution of a line: what it changed, and what happened in it."""

    __slots__ = ("calls", "changes", "generators", "notes", "number", "yielded")

    def __init__(self, number: int) -> None:
        self.number = number
        self.changes: List[Change] = []
        self.notes: List[Note] = []
        self.calls = 0
        self.generators: Dict[Any, Note] = {}
        self.yielded: Optional[Note] = None

    def json(self) -> List[Any]:
        return [self.number, self.changes, self.notes]


class CallRecord:
    """One call. Every method is called in the thread that runs the call, in the order of what happens."""

    def __init__(self, frame: Any, head: int) -> None:
        self._most_head = head
        self._head: List[ExecutedLine] = []
        self._tail: Deque[ExecutedLine] = deque()
        self._between: Dict[int, int] = {}
        self._count = 0
        self._now: Optional[ExecutedLine] = None
        self._values = LocalValues()
        self._comparing = 0.0
        self._unwatched = 0
        self._since = 0.0
        self._begun_at: Optional[int] = None
        self._error = ""
        self.outcome: Optional[Tuple[str, str]] = None
        self.place = _place(frame)
        back = frame.f_back
        while back is not None and is_own(back):
            back = back.f_back
        self.caller = None if back is None else _place(back)
        local_names = visible_frames.local_names(frame)
        self.arguments = arguments(frame, self._values, local_names)
        self._values.changes(local_names)

    # --- What happens -------------------------------------------------------------------------------------------------

    def begin(self, frame: Any) -> None:
        """The call is at its first line, which is reported once more if the debugger's own report came before ours."""
        self.line(frame, frame.f_lineno)
        self._begun_at = frame.f_lasti

    def line(self, frame: Any, number: int) -> None:
        begun_at, self._begun_at = self._begun_at, None
        if begun_at is not None and begun_at == frame.f_lasti:
            return
        self._settle(frame)
        self._error = ""
        self._now = ExecutedLine(number)
        self._count += 1

    def called(self, frame: Any) -> Optional[Note]:
        """Note that the line calls a function; return the note, to be completed, unless there are many."""
        now = self._now
        if now is None:
            return None
        known = now.generators.get(frame)
        if known is not None:
            return known
        now.calls += 1
        name = visible_frames.qualified_name(frame)
        if now.calls > MOST_CALLS:
            more = now.notes[-1]
            if more[0] != "more":
                now.notes.append(["more", 0])
            now.notes[-1][1] += 1
            return None
        shown = ", ".join(
            f"{name}={text}" for name, text in arguments(frame, self._values, visible_frames.local_names(frame))
        )
        note: Note = ["call", name, shown, "", "", 0]
        now.notes.append(note)
        if frame.f_code.co_flags & _GENERATORS:
            now.generators[frame] = note
        return note

    def call_ended(self, note: Note, how: str, value: Any) -> None:
        """Complete the note of a call. `how`: returned, raised or yielded."""
        note[3] = how
        note[5] += how == "yielded"
        note[4] = error_text(value) if how == "raised" else self._values.said(value)

    def raised(self, error: Any) -> None:
        """An exception is raised in a line, or comes out of what it calls."""
        text = error_text(error)
        if self._now is None or text == self._error or len(self._now.notes) >= MOST_NOTES:
            return
        self._error = text
        self._now.notes.append(["raised", text])

    def suspended(self, frame: Any, how: str, value: Any) -> None:
        """The call yields a value, or waits (`how`: yielded, delegates, awaits)."""
        self._since = time.monotonic()
        if self._now is None:
            return
        now, notes = self._now, self._now.notes
        if how == "awaits":
            if not notes or notes[-1][0] != "waited":
                notes.append(["waited", 0, 0.0])
            return
        if now.yielded is None:
            now.yielded = ["yielded", "", 0]
            notes.append(now.yielded)
        now.yielded[1] = self._values.said(value)
        now.yielded[2] += 1

    def resumed(self) -> None:
        now = self._now
        if now is None:
            return
        if now.notes and now.notes[-1][0] == "waited":
            now.notes[-1][1] += 1
            now.notes[-1][2] += time.monotonic() - self._since

    def returned(self, frame: Any, value: Any) -> None:
        self.outcome = ("returned", self._values.said(value))
        self._settle(frame, last=True)

    def failed(self, frame: Any, error: Any) -> None:
        """The call ends by an exception; `error` may be only known from what was raised last."""
        self.outcome = ("raised", error_text(error) if error is not None else self._error)
        self._settle(frame, last=True)

    def stop(self, frame: Any) -> None:
        """No more is recorded of a call that has not ended."""
        if self.outcome is None:
            self._settle(frame)

    # --- Parts --------------------------------------------------------------------------------------------------------

    def _settle(self, frame: Any, last: bool = False) -> None:
        """The line that ran has ended: find what it changed, and keep it."""
        now, self._now = self._now, None
        if now is None:
            return
        now.generators = {}
        if self._comparing < patient(COMPARING_SECONDS) or last:
            begin = time.perf_counter()
            now.changes = self._values.changes(visible_frames.local_names(frame))
            self._comparing += time.perf_counter() - begin
        else:
            self._unwatched += 1
        if len(self._head) < self._most_head:
            self._head.append(now)
            return
        self._tail.append(now)
        if len(self._tail) > MOST_TAIL:
            number = self._tail.popleft().number
            self._between[number] = self._between.get(number, 0) + 1

    def json(self) -> Json:
        found: Json = {
            "place": self.place,
            "caller": self.caller,
            "arguments": self.arguments,
            "head": [each.json() for each in self._head],
            "count": self._count,
        }
        if self._tail:
            found["tail"] = [each.json() for each in self._tail]
        if self._between:
            found["between"] = sorted(self._between.items())
        if self._unwatched:
            found["unwatched"] = self._unwatched
        if self.outcome is not None:
            found["outcome"] = list(self.outcome)
        return found


def arguments(frame: Any, values: LocalValues, local_names: List[Tuple[str, Any]]) -> List[List[str]]:
    """Return the arguments of a call that begins, by name."""
    code = frame.f_code
    flags = code.co_flags & _KEYWORDS
    most = code.co_argcount + code.co_kwonlyargcount + (flags & 4 > 0) + (flags & 8 > 0)
    names = code.co_varnames[:most]
    found = [[name, values.said(value)] for name, value in local_names[:MOST_NAMES] if name in names]
    return found[:MOST_ARGUMENTS]


def _place(frame: Any) -> Json:
    return {
        "file": frame.f_code.co_filename,
        "line": line_of(frame),
        "function": visible_frames.qualified_name(frame),
    }
