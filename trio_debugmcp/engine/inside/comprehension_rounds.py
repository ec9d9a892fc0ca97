"""`Round`: a round of a comprehension that is compiled into its function, as conditions on its variables see it.

    round_ = loops.round(code, offset, destination)     # None if the jump is not a comprehension's
    breakpoint.holds(round_.frame(frame))

Up to Python 3.11 a comprehension has a frame of its own, with an argument `.0`. A condition that is meant for it asks
for that name, and for `.rounds`: the variables that the loop binds. At the end of a round they have their values.
"""

from typing import Any

from trio_debugmcp.engine.inside.catching.disassembly import Disassembly, UnreadableCodeError
from trio_debugmcp.engine.inside.judged_breakpoints import ROUNDS

_UNPACKS = frozenset({"UNPACK_SEQUENCE", "UNPACK_EX", "SWAP", "EXTENDED_ARG", "NOP"})

_BEFORE = frozenset({"FOR_ITER", "GET_ANEXT", "LOAD_CONST", "SEND", "YIELD_VALUE", "RESUME", "END_SEND"}) | {
    "JUMP_BACKWARD_NO_INTERRUPT",
    "CLEANUP_THROW",
}
"""What comes before the item of a loop is there, also one that waits for it."""


class Round:
    """A loop that a jump begins again.

    Attributes:
        lines: on which its comprehension begins, and on which its variables are bound.
        targets: the variables that it binds.
    """

    __slots__ = ("lines", "targets")

    def __init__(self, lines: frozenset[int], targets: frozenset[str]) -> None:
        self.lines = lines
        self.targets = targets

    def frame(self, frame: Any) -> "RoundFrame":
        """Return a frame as conditions see it in this round."""
        return RoundFrame(frame, self.targets)


class RoundFrame:
    """The names of a frame in a round of a comprehension in it."""

    __slots__ = ("f_globals", "f_locals")

    def __init__(self, frame: Any, targets: frozenset[str]) -> None:
        self.f_globals = frame.f_globals
        self.f_locals = {**frame.f_locals, ".0": None, ROUNDS: targets}


def targets_at(code: Any, destination: int) -> tuple[int, frozenset[str]]:
    """Return where a loop that begins a round at an instruction binds variables, and which; none if it is not known."""
    try:
        read = Disassembly(code)
        index = read.index(destination)
    except UnreadableCodeError:
        return destination, frozenset()
    while index < len(read.names) - 1 and read.names[index] in _BEFORE:
        index += 1
    start = read.offsets[index]
    targets: set[str] = set()
    for name, arg in zip(read.names[index:], read.args[index:]):
        if name == "STORE_FAST_LOAD_FAST":
            targets.add(read.local(arg >> 4))
        elif name == "STORE_FAST_STORE_FAST":
            targets |= {read.local(arg >> 4), read.local(arg & 15)}
        elif name in {"STORE_FAST", "STORE_DEREF"}:
            targets.add(read.local(arg))
        elif name not in _UNPACKS:
            break
        if name == "STORE_FAST_LOAD_FAST":
            break
    return start, frozenset(targets)
