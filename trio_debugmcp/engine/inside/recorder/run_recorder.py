"""`RunRecorder`: what happens in recorded code, as rows of the record.

    recorder = RunRecorder(output, choice, tool, own_threads)
    tool.open(recorder.callbacks())
    recorder.adopt()            # frames that have begun before

A line is written when it begins, and what it has written when the next event of its frame comes. The callbacks never
raise: what goes wrong in them is counted, and said in the facts. Rows are described in docs/recording-runs.md.
"""

import _thread
import collections
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.catching.exception_table import covering, entries
from trio_debugmcp.engine.inside.recorder.frame_states import UNRECORDED, FrameState, FrameStates
from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown, KnownObjects
from trio_debugmcp.engine.inside.recorder.line_events import LineEvents
from trio_debugmcp.engine.inside.recorder.line_watch import LineWatch
from trio_debugmcp.engine.inside.recorder.line_writes import LineWrites
from trio_debugmcp.engine.inside.recorder.object_paths import MISSING, names_of
from trio_debugmcp.engine.inside.recorder.recorded_codes import CodeRecord, RecordedCodes, RunChoice
from trio_debugmcp.engine.inside.recorder.run_output import RunOutput
from trio_debugmcp.engine.inside.recorder.value_words import (
    INT,
    RAISE,
    RESUME,
    RETURN,
    SEEN_NAME,
    UNWIND,
    WRITE,
    YIELD,
    ZERO,
    ValueWords,
    is_atom,
)

DISABLE = monitoring.DISABLE

_NUMBER = INT + ZERO

_FIRST_LINE_IS_SILENT = sys.version_info >= (3, 13)
"""Whether the line on which a function begins is not reported when its body is there, too."""

_LOCALS_STAY = sys.version_info >= (3, 13)
"""Whether the locals of a function's frame are one object that shows what they are now."""

_STAYING = 3
"""Blocks of rows before the first failure that stay where the oldest go."""

_getframe, _get_ident = sys._getframe, _thread.get_ident
_current_frames = sys._current_frames


class RunRecorder:
    """The recorder of one process. One method for each event of the interpreter, hence so many.

    Attributes:
        own_threads: identifiers of threads of the debugger, which are not recorded.
    """

    def __init__(self, output: RunOutput, choice: RunChoice, tool: Any, own_threads: Any) -> None:
        self._output = output
        self._fault = output.fault
        self._tool = tool
        self.own_threads = own_threads
        self._rows = output.rows
        self._add = output.rows.add
        self._frames = output.frames
        self._objects = KnownObjects()
        self._words = ValueWords(output.texts, self._objects)
        self._states = FrameStates()
        self.codes = RecordedCodes(choice, self._words, self._objects, output, self._states.line_of)
        self._living = self._states.living
        self._watch = LineWatch(output.rows, self._words, self._objects, self._states, collections.deque)
        self._writes = LineWrites(output.rows, self._words, self._objects, self._states, self._watch)
        self._lines = LineEvents(
            *(self._late, self.codes.site, self._fault, self._states, self._objects, self._rows),
            *(self._watch, self._writes),
        )
        self._by_id = self.codes.by_id
        self._token = self._watch.fields.token

    def callbacks(self) -> dict[int, Callable[..., Any]]:
        """Return what is to be called by each event."""
        return {
            monitoring.LINE: self._lines.on_line,
            monitoring.PY_START: self._start,
            monitoring.PY_RESUME: self._resume,
            monitoring.PY_THROW: self._throw,
            monitoring.PY_RETURN: self._return,
            monitoring.PY_YIELD: self._yield,
            monitoring.PY_UNWIND: self._unwind,
            monitoring.RAISE: self._raise,
            monitoring.CALL: self._call,
        }

    def adopt(self) -> None:
        """Record frames that have begun before: their names are said when one of their lines comes."""
        tops: list[Any] = list(_current_frames().values())
        while tops:
            frame = tops.pop()  # not kept by a variable: one of them is the frame of this function
            while frame is not None:
                code = frame.f_code
                self._record(code, frame)
                frame = frame.f_back

    # --- Frames -------------------------------------------------------------------------------------------------------

    def _record(self, code: Any, frame: Any) -> CodeRecord | None:
        """Return the record of code, which is watched from now on; None if it is not recorded."""
        record = self.codes.by_id.get(id(code))
        if record is None or record.code is not code:
            record = self.codes.of(code, frame)
            if record is not None:
                self._tool.watch(code)
        return record

    def _begun(self, frame: Any, record: CodeRecord, is_late: bool) -> FrameState:
        """A frame begins; late: it has begun before the recording, or before this was looked at."""
        number = self._frames.reserve()
        state = FrameState(record, frame, number)
        thread = self._states.enter(state, frame)
        known = record.known_globals
        state.globals = known if known.held is frame.f_globals else self.codes.globals_of(record, frame)
        parent = state.parent
        above, line = (0, 0) if parent is None else (parent.number, parent.line)
        start = self._rows.add_row(number, record.start, above, thread, 0 if is_late else line)
        state.start = start
        self._frames.put(number, start, above, record.number)
        if not record.is_function:
            state.is_module = frame.f_locals is frame.f_globals
        elif _LOCALS_STAY:
            state.names = frame.f_locals
        if is_late:
            self._say_names(state, record.named(names_of(frame, record.is_function)), frame, SEEN_NAME)
        elif record.parameters:
            self._say_names(state, record.parameters, frame, WRITE)
        return state

    def _say_names(self, state: FrameState, said: Any, frame: Any, kind: int) -> None:
        """Write the parameters of a frame; of one that has begun before, all of its names."""
        if state.is_module:
            return
        names = state.names_now(frame)
        add, known, words = self._rows.add_row, state.known, self._words
        own, start = state.number, state.start
        for name, key, secret in said:
            value = names.get(name, MISSING)
            if type(value) is int and not secret and -ZERO <= value < ZERO:
                known[name] = value
                add(own, (kind >> 32) + key, 0, value + _NUMBER, start)
            elif value is not MISSING:
                word = words.secret_of(value) if secret else words.of(value)
                self._add(kind | key << 32 | own, word, start)
                if is_atom(value):
                    known[name] = value
                    continue
                known[name] = now = self._token(value)
                if state.objects:
                    state.objects.add(name)
                else:
                    state.objects = {name}
                self._writes.look_at(value, start)
                if type(now) is HeldKnown:
                    state.holds = True

    # --- Events -------------------------------------------------------------------------------------------------------

    def _start(self, code: Any, offset: int) -> Any:
        try:
            if _get_ident() in self.own_threads:
                return None
            frame = _getframe(1)
            record = self._by_id.get(id(code))
            if record is None or record.code is not code:
                record = self._record(code, frame)
                if record is None:
                    return DISABLE
            self._begun(frame, record, is_late=False)
            if _FIRST_LINE_IS_SILENT and code.co_firstlineno in record.plans:
                self._first_line(frame, code)
        except Exception as error:
            self._fault(error)
        return None

    def _resume(self, code: Any, offset: int) -> Any:
        try:
            return self._resumed(_getframe(1), code)
        except Exception as error:
            self._fault(error)

    def _throw(self, code: Any, offset: int, error: Any) -> Any:
        try:
            self._resumed(_getframe(1), code, True)
        except Exception as fault:
            self._fault(fault)

    def _resumed(self, frame: Any, code: Any, thrown: bool = False) -> Any:
        if _get_ident() in self.own_threads:
            return None
        record = self._record(code, frame)
        if record is None:
            return DISABLE
        state = self._states.waiting.pop(id(frame), None)
        if state is None or state.code is not record:
            self._begun(frame, record, is_late=True)
            return None
        thread = self._states.enter(state, frame, thrown)
        if _LOCALS_STAY and record.is_function:
            state.names = frame.f_locals
        parent = state.parent
        above, line = (0, 0) if parent is None else (parent.number, parent.line)
        self._rows.add_row(state.number, (RESUME >> 32) + record.number, above, thread, line)
        if state.watch:
            self._writes.resumed(state)
        if record.has_rounds and state.pending is not None:
            self._line(state, state.pending, frame)
        return None

    def _late(self, frame: Any, code: Any) -> Any:
        """A line of a frame that is not known: it began before the recording, or is in a thread of the debugger.

        Return its state; None: it is of other code.
        """
        if _get_ident() in self.own_threads:
            return UNRECORDED
        record = self._record(code, frame)
        return None if record is None else self._begun(frame, record, is_late=True)

    def _first_line(self, frame: Any, code: Any) -> None:
        """Write the line on which a function begins and is written, too, if that is not reported."""
        state = self._living[frame]
        site = self.codes.site(state.code, code.co_firstlineno)
        if site is not None:
            self._line(state, site, frame)
            state.is_begun = True

    def _line(self, state: FrameState, site: Any, frame: Any) -> None:
        """Write a line that is not reported."""
        state.lines += 1
        state.line = self._rows.add_line(state.number, site.key)
        state.raised = state.suspended = False
        state.called = 0
        self._watch.begin(state, site, frame, None)
        state.pending, state.steps = site, site.steps

    def _return(self, code: Any, offset: int, value: Any) -> Any:
        self._left(_getframe(1), RETURN, value)

    def _unwind(self, code: Any, offset: int, error: Any) -> Any:
        self._left(_getframe(1), UNWIND, error)

    def _left(self, frame: Any, kind: int, value: Any) -> None:
        """A frame is left for good: finish its line."""
        try:
            state = self._states.leave(frame)
            if state is None:
                return
            pending, state.pending = state.pending, None
            if pending is not None and pending.has_writes:
                self._writes.finish(state, pending, state.names_now(frame), 0)
            if type(value) is int and -ZERO <= value < ZERO and not state.code.is_secret:
                self._rows.add_row(state.number, (kind >> 32) + state.code.number, 0, value + _NUMBER, state.line)
            else:
                word = self._words.secret_of(value) if state.code.is_secret else self._words.of(value)
                self._add(kind | state.code.number << 32 | state.number, word, state.line)
            if state.holds:
                self._objects.replaced(state.known)
            if kind == UNWIND and state.parent is None and not self._rows.pinned:
                self._rows.pin(_STAYING)
        except Exception as fault:
            self._fault(fault)

    def _yield(self, code: Any, offset: int, value: Any) -> Any:
        try:
            frame = _getframe(1)
            state = self._states.leave(frame)
            if state is not None:
                pending = state.pending
                if pending is not None and (state.code.has_rounds or pending.has_rounds):
                    self._writes.finish_round(state, pending, state.names_now(frame))
                if state.watch:
                    self._writes.finish_watched(state)
                state.suspended = True
                self._states.wait(state, frame)
                self._add(YIELD | state.code.number << 32 | state.number, self._words.of(value), state.line)
        except Exception as fault:
            self._fault(fault)

    def _call(self, code: Any, offset: int, function: Any, first: Any) -> Any:
        try:
            return self.codes.generated.called(function, first, self._states.line_of(_getframe(1)))
        except Exception as fault:
            self._fault(fault)

    def _raise(self, code: Any, offset: int, error: Any) -> Any:
        try:
            state = self._living.get(_getframe(1))
            if state is not None and not (type(error) is StopIteration and _is_sent(code, offset)):
                state.raised = True
                self._add(RAISE | state.code.number << 32 | state.number, self._words.of(error), state.line)
        except Exception as fault:
            self._fault(fault)


def _is_sent(code: Any, offset: int) -> bool:
    """Whether an instruction awaits, or gives to another generator: that one's end is a value, and no exception.

    Also where that one ends as an exception is thrown into it.
    """
    if opcodes.NAMES.get(code.co_code[offset]) == "SEND":
        return True
    handler = covering(entries(code), offset)
    return handler is not None and opcodes.NAMES.get(code.co_code[handler.target]) == "CLEANUP_THROW"
