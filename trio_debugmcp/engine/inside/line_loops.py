"""`LineLoops`: loops on one line, of which the interpreter reports the line once: their backward jumps begin it again.

A comprehension is not one of them, though it may be compiled into its function: it is a part of one statement.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.catching.exception_table import covering, entries
from trio_debugmcp.engine.inside.comprehension_rounds import Round, targets_at

_RESTORES = "SWAP"
"""How the handler begins that gives the names of a comprehension back their values; no other one does."""

_WAITS = "END_ASYNC_FOR"
"""Where an `async for` ends, by an exception: it handles what is raised while the next item is waited for."""

_MOST = 5000


class LineLoops:
    """What is known of jumps, by code object and instruction."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Any, int]] = {}
        self._inner: dict[tuple[int, int], tuple[Any, bool]] = {}
        self._rounds: dict[tuple[int, int], tuple[Any, Round | None]] = {}

    def line(self, code: Any, offset: int, destination: int) -> int:
        """Return the line that a jump begins again; 0 if it does not."""
        key = id(code), offset
        known = self._known.get(key)
        if known is None or known[0] is not code:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = code, _line(code, offset, destination)
        return known[1]

    def round(self, code: Any, offset: int, destination: int) -> Round | None:
        """Return the round of a comprehension that a jump ends; None if it ends none."""
        key = id(code), offset
        known = self._rounds.get(key)
        if known is None or known[0] is not code:
            if len(self._rounds) >= _MOST:
                self._rounds.clear()
            entry = _comprehension(code, destination) if destination < offset else None
            made = None
            if entry is not None:
                start, targets = targets_at(code, destination)
                begin = min(each.start for each in entries(code) if each.target == entry.target)
                made = Round(frozenset([_line_at(code, begin), _line_at(code, start)]), targets)
            known = self._rounds[key] = code, made
        return known[1]

    def is_inner(self, code: Any, offset: int, line: int) -> bool:
        """Whether a line is reported in the middle of its statement: where a comprehension goes through its items."""
        key = id(code), offset
        known = self._inner.get(key)
        if known is None or known[0] is not code:
            if len(self._inner) >= _MOST:
                self._inner.clear()
            entry = _comprehension(code, offset)
            inner = entry is not None and _line_at(code, entry.start) == line
            known = self._inner[key] = code, inner
        return known[1]


def _comprehension(code: Any, offset: int) -> Any:
    """Return the entry of the exception table of a comprehension around an instruction, or None."""
    entry = covering(entries(code), offset)
    if entry is not None and opcodes.NAMES.get(code.co_code[entry.target]) == _WAITS:
        entry = covering(entries(code), entry.target)
    if entry is not None and opcodes.NAMES.get(code.co_code[entry.target]) == _RESTORES:
        return entry
    return None


def is_in_comprehension(code: Any, offset: int) -> bool:
    """Whether an instruction is in a comprehension that is compiled into its function."""
    return _comprehension(code, offset) is not None


def _line(code: Any, offset: int, destination: int) -> int:
    if destination > offset:
        return 0
    line = _line_at(code, offset)
    if not line or line != _line_at(code, destination):
        return 0
    # The jump itself cannot raise, so no entry need cover it.
    return 0 if is_in_comprehension(code, destination) else line


def _line_at(code: Any, offset: int) -> int:
    for start, end, line in code.co_lines():
        if start <= offset < end:
            return line or 0
    return 0
