"""What is done when a line begins: rows of the line before, that of the line itself, and checks of what it reads.

    lines = LineEvents(late, site_of, fault, states, objects, rows, watch, writes)
    callbacks[LINE] = lines.on_line

The most frequent event by far, so what most lines do is done with few calls: the row of a name that is an integer, and
that of the line.
"""

import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.recorder.frame_states import UNRECORDED
from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown
from trio_debugmcp.engine.inside.recorder.run_blocks import (
    LAST_PLACE,
    ROW_BYTES,
    put_begin,
    put_row_and_begin,
)
from trio_debugmcp.engine.inside.recorder.value_words import INT, ZERO

DISABLE = monitoring.DISABLE

_NUMBER = INT + ZERO
"""What the text of an integer is more than the integer."""

_SMALL = ZERO - 1
"""Of one digit, as the interpreter has them: comparing is quick."""

_JOINS_ARE_LINES = sys.version_info < (3, 13)
"""Whether the interpreter reports a line again where a jump within it leads, when a call has been recorded before."""

_NOTHING = (None, 0)
"""In place of a name, and of the kind and key of its row: a statement writes none."""

_getframe = sys._getframe


class LineEvents:
    """The callback of lines, with all that it needs at hand."""

    __slots__ = ("_begin", "_dying", "_late", "_living", "_map", "_objects", "_rows", "_site_of", "_writes", "fault")

    def __init__(
        self, late: Callable[[Any, Any], Any], site_of: Callable[[Any, int], Any], fault: Any, states: Any, *parts: Any
    ) -> None:
        self._late, self._site_of, self.fault = late, site_of, fault
        self._living = states.living
        self._objects, self._rows, watch, self._writes = parts
        self._dying = self._objects.dying
        self._begin = watch.begin
        self._map = self._rows.map

    def on_line(self, code: Any, line: int) -> Any:
        """A line begins, or continues: with few calls, where it follows a statement as it has done before."""
        try:
            frame = _getframe(1)
            state = self._living.get(frame)
            step = None if state is None else state.steps.get(line)
            if step is None:
                return self._first(state or self._late(frame, code), frame, line)
            name, key, site = step
            names, rows, own, text = state.names, self._rows, state.number, 0
            if name is not None:
                names = frame.f_locals if names is None else names
                value = names.get(name)
                if type(value) is not int or not -_SMALL < value < _SMALL or state.raised or state.watch or state.given:
                    return self._first(state, frame, line)
                if state.holds and type(state.known.get(name)) is HeldKnown:
                    self._dying.append(state.known[name])
                state.known[name] = value
                text = value + _NUMBER
            number, place = rows.next, rows.place
            if place >= LAST_PLACE:
                return self._first(state, frame, line)
            if text:
                rows.place = place + 2 * ROW_BYTES
                number += 1
                rows.next = number + 1
                put_row_and_begin(self._map, place, own, key, 0, text, state.line, own, site.key)
            else:
                rows.place = place + ROW_BYTES
                rows.next = number + 1
                put_begin(self._map, place, own, site.key)
            if self._dying:
                self._objects.bury()
            state.line = number
            state.lines, state.called = 2, 0
            state.raised = state.suspended = False
            if not site.is_plain or (state.objects and not site.local_names.isdisjoint(state.objects)):
                self._begin(state, site, frame, names)
            state.pending, state.steps = site, site.steps
        except Exception as error:
            self.fault(error)
        return None

    def _first(self, state: Any, frame: Any, line: int) -> Any:
        """The same for any line."""
        if state is None or state is UNRECORDED:
            return DISABLE if state is None else None
        site = state.sites.get(line) or self._site_of(state.code, line)
        if site is None:
            return None
        names: Any = None
        pending = state.pending
        if pending is not None:
            if pending.number == site.number and (
                site.is_long
                or line != site.line
                or state.is_begun
                or (state.suspended and _is_continued(frame))
                or (_JOINS_ARE_LINES and _is_joined(frame, site))
            ):
                state.is_begun = False
                return None
            if pending.has_writes:
                names = state.names_now(frame)
                self._over(state, pending, names, line)
            single = pending.single
            is_quick = single[2] <= line <= single[3] if single is not None else not pending.has_writes
            if is_quick and pending.number != site.number and not site.is_with:
                pending.steps[line] = (*(single or _NOTHING)[:2], site)
                if single is None and pending.has_writes:  # another thread has just seen that it makes a key
                    pending.steps.clear()
        state.line = self._rows.add_line(state.number, site.key)
        if self._dying:
            self._objects.bury()
        state.raised = state.suspended = False
        state.called = 0
        state.lines += 1
        if site.is_with and frame.f_lasti >= site.with_ends:  # its block has ended
            site = site.exit
        elif not site.is_plain or not site.local_names.isdisjoint(state.objects):
            self._begin(state, site, frame, names)
        else:  # nothing that could be changed
            state.watch = state.given = ()
        state.pending, state.steps = site, site.steps
        return None

    def _over(self, state: Any, site: Any, names: Any, line: int) -> None:
        """Write what a statement has written."""
        single = site.single
        value: Any = None
        if single is not None and not state.raised and single[2] <= line <= single[3]:
            value = names.get(single[0])
        if type(value) is not int or not -_SMALL < value < _SMALL:
            self._writes.finish(state, site, names, line)
            return
        if state.holds and type(state.known.get(single[0])) is HeldKnown:
            self._dying.append(state.known[single[0]])
        state.known[single[0]] = value
        self._rows.add_row(state.number, single[1], 0, value + _NUMBER, state.line)
        if state.watch or state.given:
            self._writes.finish_effects(state, site)


def _is_joined(frame: Any, site: Any) -> bool:
    """Whether a line that is reported is under way: the ways of `a if b else f()` have met behind a call.

    Of a generator expression each round begins behind its first instruction.
    """
    code = frame.f_code
    if site.begins < 0:
        site.begins = min([start for start, _, line in code.co_lines() if line == site.line])
    return bool(code.co_name != "<genexpr>" and frame.f_lasti > site.begins)


def _is_continued(frame: Any) -> bool:
    """Whether a line that is reported is under way: what it awaits has ended as an exception was thrown into it."""
    return opcodes.NAMES.get(frame.f_code.co_code[frame.f_lasti]) in ("CLEANUP_THROW", "END_SEND")
