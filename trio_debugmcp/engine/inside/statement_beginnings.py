"""`StatementBeginnings`: where statements begin in code, so that a breakpoint on a line is hit once for each time.

    beginnings.of(code, line)       # the instructions at which the line's event is one

The interpreter reports a line whenever control comes to it from another one: also where it comes back to the first
line of a call that is written over several, at the end of a `with`, or to a class from its own body. Which instructions
belong to one statement says the source; where control comes into it, the jumps in the code. A line is reached once
from each way in: by the first instruction of the line from there on. A loop is come into anew in each round.

Without a source, and where the code is not understood, each report of the line counts.
"""

import sys
from typing import Any

from trio_debugmcp.engine.inside.catching.disassembly import ENDS, JUMPS, Disassembly, UnreadableCodeError
from trio_debugmcp.engine.inside.line_loops import is_in_comprehension
from trio_debugmcp.engine.inside.program_sources import ProgramSources

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.source_statements import StatementSpan

_MOST = 5000

_MOST_SOURCES = 50

_OF_FUNCTIONS = 0x1
"""Flag of the code of functions; that of classes and modules has it not."""

_OF_TYPE_PARAMETERS = "<generic parameters of "

_REPORTS_TARGETS = sys.version_info < (3, 13)
"""Whether the interpreter reports a line wherever a jump leads to, also from the line itself."""

_AFTER_WAIT = 0x3
"""Bits of the argument of `RESUME`; none of them at the begin of a function."""


class StatementBeginnings:
    """What is known of lines, by code object."""

    def __init__(self, sources: ProgramSources) -> None:
        self._sources = sources
        self._known: dict[tuple[int, int], tuple[Any, frozenset[int] | None]] = {}
        self._spans: dict[str, list[StatementSpan] | None] = {}

    def of(self, code: Any, line: int) -> frozenset[int] | None:
        """Return the offsets at which a statement on a line begins, for that line; None if it does at all of them."""
        key = id(code), line
        known = self._known.get(key)
        if known is None or known[0] is not code:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = code, self._found(code, line)
        return known[1]

    def _found(self, code: Any, line: int) -> frozenset[int] | None:
        if _is_of_statement_outside(code, line):
            return frozenset()
        ranges = [(start, end) for start, end, each in code.co_lines() if each == line]
        if len(ranges) < 2:
            return _without_targets(code, *ranges[0]) if ranges else None
        spans = [span for span in self._spans_of(code) or () if span.has(line)]
        if not spans:
            return None
        try:
            paths = _Paths(Disassembly(code))
        except UnreadableCodeError:
            return None
        offsets: set[int] = set()
        for span in spans:
            offsets |= paths.beginnings(span, line)
        return frozenset(offsets) if offsets else None

    def _spans_of(self, code: Any) -> "list[StatementSpan] | None":
        name = code.co_filename
        if name not in self._spans:
            if len(self._spans) >= _MOST_SOURCES:
                self._spans.clear()
            from trio_debugmcp.engine.inside.source_statements import spans_of  # its syntax trees take their time

            text = self._sources.of_name(name)
            self._spans[name] = None if text is None else spans_of(text)
        return self._spans[name]


def _is_of_statement_outside(code: Any, line: int) -> bool:
    """Whether a line of a code object is that of a statement which another one has begun, and which has called it."""
    if code.co_name.startswith(_OF_TYPE_PARAMETERS):
        return True
    is_class = not code.co_flags & _OF_FUNCTIONS and code.co_name[:1] != "<"
    return is_class and line == code.co_firstlineno


def _without_targets(code: Any, start: int, end: int) -> frozenset[int] | None:
    """Return the offsets of a line but for those to which it leads itself; None if there are none.

    A jump does, as of `a or b`, and what handles an exception within the line, as of `yield from` or a `with`.
    """
    try:
        read = Disassembly(code)
    except UnreadableCodeError:
        return None
    inside = frozenset([offset for offset in read.offsets if start <= offset < end])
    jumps = [(read.offsets[jump], read.offsets[to]) for jump, to in read.jumps.items()]
    targets = {to for jump, to in jumps if start <= jump < to} if _REPORTS_TARGETS else set()
    targets |= {entry.target for entry in read.table if start <= entry.start and entry.end <= end}
    return inside - targets if inside & targets else None


class _Paths:
    """The ways through a code object, by the indices of its instructions."""

    def __init__(self, read: Disassembly) -> None:
        self._read = read
        self._lines: list[int | None] = [None] * len(read.offsets)
        place = 0
        for _, end, line in read.code.co_lines():
            while place < len(read.offsets) and read.offsets[place] < end:
                self._lines[place] = line
                place += 1
        self._handled: dict[int, list[int]] = {}
        for entry in read.table:
            first, last = read.index(entry.start), read.index(entry.end - 1)
            self._handled.setdefault(read.index(entry.target), []).extend(range(first, last + 1))

    def beginnings(self, span: "StatementSpan", line: int) -> set[int]:
        """Return the offsets of the first instructions of a line, from each way into a statement."""
        found: set[int] = set()
        seen: set[int] = set()
        for index, own in enumerate(self._lines):
            if own is not None and span.has(own) and self._is_way_in(index, span):
                self._follow(index, span, line, found, seen)
        return found

    def _is_way_in(self, index: int, span: "StatementSpan") -> bool:
        read = self._read
        seen = {index}
        pending = [index]
        while pending:
            at = pending.pop()
            before = [*read.predecessors(at), *self._handled.get(at, ())]
            if not before:
                return True
            for each in before:
                name = read.names[each]
                if name == "RESUME" and not read.args[each] & _AFTER_WAIT:
                    return True
                if name == "JUMP_BACKWARD" and read.jumps.get(each) == at and self._is_round(each, at):
                    return True
                line = self._lines[each]
                if line is not None and not span.covers(line):
                    return True
                if line is None and each not in seen:
                    seen.add(each)
                    pending.append(each)
        return False

    def _is_round(self, jump: int, to: int) -> bool:
        """Whether a jump begins a loop again: not the one of a comprehension, nor one back from an aborted wait."""
        read = self._read
        return read.names[jump - 1] != "CLEANUP_THROW" and not is_in_comprehension(read.code, read.offsets[to])

    def _follow(self, index: int, span: "StatementSpan", line: int, found: set[int], seen: set[int]) -> None:
        """Find where control comes to a line first, from an instruction of a statement on."""
        read = self._read
        pending = [index]
        while pending:
            at = pending.pop()
            own = self._lines[at]
            if own == line:
                found.add(read.offsets[at])
                continue
            if at in seen or (own is not None and not span.has(own)):
                continue
            seen.add(at)
            if at in read.jumps:
                pending.append(read.jumps[at])
            if read.names[at] not in ENDS and read.names[at] not in JUMPS and at + 1 < len(read.offsets):
                pending.append(at + 1)
