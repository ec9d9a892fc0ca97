"""Where in its code a frame is: at its beginning, leaving for good, or only until it is resumed."""

import dis
import types
from typing import Any


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
