"""`RunRecorder`: what happens in recorded code, as rows of the record.

    recorder = RunRecorder(files, choice)
    recorder.callbacks()        # by event, for `RecordingTool`

A line is written when it begins, and what it has written when the next event of its frame comes. The callbacks never
raise: what goes wrong in them is counted, and said in the facts.

Names of kinds and the meaning of each word: docs/recording-runs.md.
"""

import _thread
import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.recorder.known_objects import KnownObjects
from trio_debugmcp.engine.inside.recorder.object_paths import MISSING, ObjectPaths
from trio_debugmcp.engine.inside.recorder.recorded_codes import CodeRecord, RecordedCodes, RunChoice, StatementSite
from trio_debugmcp.engine.inside.recorder.recording_tool import PY_YIELD
from trio_debugmcp.engine.inside.recorder.run_output import RunOutput
from trio_debugmcp.engine.inside.recorder.secret_keys import is_secret
from trio_debugmcp.engine.inside.recorder.statement_plans import ATTRIBUTE, CHANGED, CONSTANT, ENTERED
from trio_debugmcp.engine.inside.recorder.value_words import ValueWords

LINE, START, RESUME, RETURN, YIELD, UNWIND, RAISE = [kind << 60 for kind in range(1, 8)]
WRITE, FIELD, SEEN, GAP, SIZE, SEEN_NAME = [kind << 60 for kind in range(8, 14)]

DISABLE = monitoring.DISABLE

_getframe = sys._getframe
_get_ident = _thread.get_ident


class FrameState:
    """A frame of recorded code.

    Attributes:
        line: the row of the line under way; `pending`: its statement, until what it wrote is written.
        known: by name the word of what it is known to be.
        raised: an exception came to this frame in the line under way.
    """

    __slots__ = ("code", "frame", "is_module", "known", "line", "number", "parent", "pending", "raised", "start")

    def __init__(self, code: CodeRecord, frame: Any, number: int) -> None:
        self.code = code
        self.frame = frame
        self.number = number
        self.line = 0
        self.start = 0
        self.pending: StatementSite | None = None
        self.known: dict[str, int] = {}
        self.raised = False
        self.parent: FrameState | None = None
        self.is_module = False


class RunRecorder:
    """The recorder of one process. One method for each event of the interpreter, hence so many."""

    def __init__(self, output: RunOutput, choice: RunChoice, tool: Any) -> None:
        self._output = output
        self._tool = tool
        self._rows = output.rows
        self._frames = output.frames
        self._objects = KnownObjects()
        self._words = ValueWords(output.texts, self._objects)
        self._paths = ObjectPaths()
        self.codes = RecordedCodes(choice, self._words, self._objects, output)
        self._living: dict[Any, FrameState] = {}
        self._waiting: dict[int, FrameState] = {}
        self._stacks: dict[int, list[FrameState]] = {}
        self._threads: dict[int, int] = {}

    def callbacks(self) -> dict[int, Callable[..., Any]]:
        """Return what is to be called by each event."""
        return {
            monitoring.LINE: self._guarded(self._line),
            monitoring.PY_START: self._guarded(self._start),
            monitoring.PY_RESUME: self._guarded(self._resume),
            monitoring.PY_THROW: self._guarded(self._resume),
            monitoring.PY_RETURN: self._guarded(self._return),
            PY_YIELD: self._guarded(self._yield),
            monitoring.PY_UNWIND: self._guarded(self._unwind),
            monitoring.RAISE: self._guarded(self._raise),
        }

    def _guarded(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        output = self._output

        def guarded(code: Any, *arguments: Any) -> Any:
            try:
                return callback(_getframe(1), code, *arguments)
            except Exception as error:
                output.fault(error)

        return guarded

    # --- Events -------------------------------------------------------------------------------------------------------

    def _start(self, frame: Any, code: Any, offset: int) -> Any:
        record = self.codes.by_id.get(id(code))
        if record is None or record.code is not code:
            record = self.codes.of(code, frame)
            if record is None:
                return DISABLE
            self._tool.watch(code)
        state = self._begun(frame, record, START)
        names = frame.f_locals
        for name, key in record.parameters:
            if name in names:
                word = self._words.secret if is_secret(name) else self._words.of(names[name])
                state.known[name] = word
                self._rows.add(WRITE | key << 32 | state.number, word, state.start)
        return None

    def _begun(self, frame: Any, record: CodeRecord, kind: int) -> FrameState:
        ident = _get_ident()
        stack = self._stacks.get(ident)
        if stack is None:
            stack = self._stacks[ident] = []
            self._threads[ident] = len(self._threads) + 1
        parent = self._parent(stack, frame)
        above, line = (0, 0) if parent is None else (parent.number, parent.line)
        number = self._frames.add(1 << 63, record.number << 32 | above)
        state = FrameState(record, frame, number)
        state.is_module = frame.f_locals is frame.f_globals
        state.parent = parent
        state.start = self._rows.add(kind | record.number << 32 | number, self._threads[ident] << 32 | above, line)
        self._frames.put(number, state.start)
        self._living[frame] = state
        stack.append(state)
        return state

    def _parent(self, stack: list[FrameState], frame: Any) -> FrameState | None:
        """Return the nearest recorded frame that has called this one."""
        back = frame.f_back
        while back is not None:
            found = self._living.get(back)
            if found is not None:
                return found
            back = back.f_back
        return None

    def _resume(self, frame: Any, code: Any, offset: int, *error: Any) -> Any:
        record = self.codes.by_id.get(id(code))
        if record is None or record.code is not code:
            record = self.codes.of(code, frame)
            if record is None:
                return None if error else DISABLE
            self._tool.watch(code)
        state = self._waiting.pop(id(frame), None)
        if state is None or state.code is not record:
            self._begun(frame, record, RESUME)
            return None
        ident = _get_ident()
        stack = self._stacks.setdefault(ident, [])
        self._threads.setdefault(ident, len(self._threads) + 1)
        parent = state.parent = self._parent(stack, frame)
        above, line = (0, 0) if parent is None else (parent.number, parent.line)
        state.frame = frame
        self._rows.add(RESUME | record.number << 32 | state.number, self._threads[ident] << 32 | above, line)
        self._living[frame] = state
        stack.append(state)
        return None

    def _line(self, frame: Any, code: Any, line: int) -> Any:
        state = self._living.get(frame)
        if state is None:
            record = self.codes.of(code, frame)
            if record is None:
                return DISABLE
            state = self._begun(frame, record, RESUME)
        site = state.code.sites.get(line) or self.codes.site(state.code, line)
        pending = state.pending
        if pending is not None:
            if pending is site and line != site.line:
                return None
            if pending is site and site.plan.last > site.line and not site.plan.is_compound:
                return None
            if pending.has_writes:
                self._finish(state, pending, line)
        state.raised = False
        state.line = self._rows.add(LINE | site.number << 32 | state.number, 0, 0)
        state.pending = site
        return None

    def _return(self, frame: Any, code: Any, offset: int, value: Any) -> Any:
        state = self._left(frame)
        if state is not None:
            self._rows.add(RETURN | state.code.number << 32 | state.number, self._words.of(value), state.line)

    def _yield(self, frame: Any, code: Any, offset: int, value: Any) -> Any:
        state = self._living.pop(frame, None)
        if state is not None:
            self._pop(state)
            state.frame = None
            self._waiting[id(frame)] = state
            self._rows.add(YIELD | state.code.number << 32 | state.number, self._words.of(value), state.line)

    def _unwind(self, frame: Any, code: Any, offset: int, error: Any) -> Any:
        state = self._left(frame)
        if state is not None:
            self._rows.add(UNWIND | state.code.number << 32 | state.number, self._words.of(error), state.line)

    def _raise(self, frame: Any, code: Any, offset: int, error: Any) -> Any:
        state = self._living.get(frame)
        if state is not None:
            state.raised = True
            self._rows.add(RAISE | state.code.number << 32 | state.number, self._words.of(error), state.line)

    def _left(self, frame: Any) -> FrameState | None:
        """A frame is left for good: finish its line."""
        state = self._living.pop(frame, None)
        if state is None:
            return None
        self._pop(state)
        pending, state.pending = state.pending, None
        if pending is not None and pending.has_writes:
            self._finish(state, pending, 0)
        return state

    def _pop(self, state: FrameState) -> None:
        stack = self._stacks.get(_get_ident())
        if stack and stack[-1] is state:
            stack.pop()
        elif stack and state in stack:
            stack.remove(state)

    # --- What a line wrote --------------------------------------------------------------------------------------------

    def _finish(self, state: FrameState, site: StatementSite, line: int) -> None:
        """Write what a statement has written; `line`: the next one in its frame, or 0."""
        block = site.block
        entered = block is not None and block[0] <= line <= block[1]
        names = state.frame.f_locals
        raised = state.raised
        for name, key, when, secret in site.names:
            if when == ENTERED and not entered:
                continue
            word = self._word(names, name, secret)
            if (raised or when == CHANGED or word == self._words.deleted) and state.known.get(name, 0) == word:
                continue
            if word == self._words.deleted and name not in state.known:
                continue
            state.known[name] = word
            if state.is_module:
                self._field(state.code.known_globals, self._words.key(f".{name}"), word, state.line)
            else:
                self._rows.add(WRITE | key << 32 | state.number, word, state.line)
        if site.fields:
            self._finish_globals(state, site, entered)
        if not raised:
            for base, step in site.stores:
                self._finish_store(state, names, base, step)

    def _word(self, names: Any, name: str, secret: bool) -> int:
        value = names.get(name, MISSING)
        if value is MISSING:
            return self._words.deleted
        return self._words.secret if secret else self._words.of(value)

    def _finish_globals(self, state: FrameState, site: StatementSite, entered: bool) -> None:
        known = state.code.known_globals
        for name, key, when, secret in site.fields:
            if when == ENTERED and not entered:
                continue
            word = self._word(state.frame.f_globals, name, secret)
            fields = known.fields or {}
            if (state.raised or when == CHANGED) and fields.get(key) == word:
                continue
            self._field(known, key, word, state.line)

    def _field(self, known: Any, key: int, word: int, line: int) -> None:
        if known.fields is None:
            known.fields = {}
        known.fields[key] = word
        self._rows.add(FIELD | key << 32 | known.number, word, line)

    def _finish_store(self, state: FrameState, names: Any, base: Any, step: Any) -> None:
        target = self._went(state, names, base)
        if target is MISSING or step is None:
            return
        how, what = step
        if how == ATTRIBUTE:
            value = self._paths.attribute(target, what)
            key = self._words.key(f".{what}")
        else:
            item = what if how == CONSTANT else self._root(state, names, what)
            if item is MISSING:
                return
            value = self._paths.item(target, item)
            if type(item) is int and item < 0 and type(target) is list:
                item += len(target)
            key = self._words.item_key(item)
        known = self._objects.of(target)
        if not key:
            return
        if value is not MISSING:
            word = self._words.secret if is_secret(str(what)) else self._words.of(value)
            self._field(known, key, word, state.line)
        elif known.fields and known.fields.get(key, 0) not in (0, self._words.deleted):
            self._field(known, key, self._words.deleted, state.line)

    def _root(self, state: FrameState, names: Any, name: str) -> Any:
        found = names.get(name, MISSING)
        return dict.get(state.frame.f_globals, name, MISSING) if found is MISSING else found

    def _went(self, state: FrameState, names: Any, path: Any) -> Any:
        """Return the value at a path, or MISSING."""
        value = self._root(state, names, path[0])
        for how, what in path[1]:
            if value is MISSING:
                break
            if how == ATTRIBUTE:
                value = self._paths.attribute(value, what)
            else:
                item = what if how == CONSTANT else self._root(state, names, what)
                value = MISSING if item is MISSING else self._paths.item(value, item)
        return value
