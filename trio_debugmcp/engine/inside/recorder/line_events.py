"""What is done when a line begins: rows of the line before, that of the line itself, and checks of what it reads.

    lines = LineEvents(late, site_of, fault, states, objects, rows, watch, writes)
    callbacks[LINE] = lines.on_line

The most frequent event by far, so what most lines do is done with few calls: the row of a name that is an integer, and
that of the line.
"""

import sys
from typing import Any, Callable

from trio_debugmcp.engine.inside import monitoring
from trio_debugmcp.engine.inside.recorder.known_objects import HeldKnown
from trio_debugmcp.engine.inside.recorder.object_paths import names_of
from trio_debugmcp.engine.inside.recorder.run_blocks import (
    HEAD_BYTES,
    LAST_PLACE,
    ROW_BYTES,
    put_begin,
    put_row,
    put_row_and_begin,
)
from trio_debugmcp.engine.inside.recorder.value_words import INT, ZERO

DISABLE = monitoring.DISABLE

_NUMBER = INT + ZERO
"""What the text of an integer is more than the integer."""

_SMALL = ZERO - 1
"""Of one digit, as the interpreter has them: comparing is quick."""

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
        """A line begins, or continues."""
        try:
            frame = _getframe(1)
            state = self._living.get(frame) or self._late(frame, code)
            if state is None:
                return DISABLE
            site = state.sites.get(line) or self._site_of(state.code, line)
            if site is None:
                return None
            names: Any = None
            number = 0
            pending = state.pending
            if pending is not None:
                if pending.number == site.number and (site.is_long or line != site.line or state.is_begun):
                    state.is_begun = False
                    return None
                if pending.has_writes:
                    names = frame.f_locals if state.is_function else names_of(frame, False)
                    number = self._over(state, pending, names, line, site.key)
            if not number:
                rows = self._rows
                number = rows.next
                rows.next = number + 1
                place = (number - rows.base) * ROW_BYTES + HEAD_BYTES
                put_begin(self._map, place if place <= LAST_PLACE else rows.place_of(number), state.number, site.key)
            if self._dying:
                self._objects.bury()
            state.line = number
            state.raised = state.suspended = False
            state.called = 0
            state.lines += 1
            if site.is_with and frame.f_lasti >= site.with_ends:  # its block has ended
                site = site.exit
            elif not site.is_plain or not site.local_names.isdisjoint(state.objects):
                self._begin(state, site, frame, names)
            else:  # nothing that could be changed
                state.watch = state.given = ()
            state.pending = site
        except Exception as error:
            self.fault(error)
        return None

    def _over(self, state: Any, site: Any, names: Any, line: int, begins: int) -> int:
        """Write what a statement has written, and if there is nothing else, the row of the next one; return its number.

        0: that row is still to be written.
        """
        single = site.single
        value: Any = None
        if single is not None and not state.raised and single[2] <= line <= single[3]:
            value = names.get(single[0])
        if type(value) is not int or not -_SMALL < value < _SMALL:
            self._writes.finish(state, site, names, line)
            return 0
        if state.holds and type(state.known.get(single[0])) is HeldKnown:
            self._dying.append(state.known[single[0]])
        state.known[single[0]] = value
        rows, own, text = self._rows, state.number, value + _NUMBER
        number: int = rows.next + 1
        place = (number - rows.base) * ROW_BYTES + HEAD_BYTES
        if state.watch or state.given or place > LAST_PLACE:
            place = rows.reserved()
            put_row(self._map, place, own, single[1], 0, text, state.line)
            self._writes.finish_effects(state, site)
            return 0
        rows.next = number + 1
        put_row_and_begin(self._map, place - ROW_BYTES, own, single[1], 0, text, state.line, own, begins)
        return number
