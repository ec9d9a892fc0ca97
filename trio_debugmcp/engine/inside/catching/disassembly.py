"""A code object as a list of instructions: their names, arguments, and the jumps between them."""

from trio_debugmcp.engine.inside.catching import opcodes
from trio_debugmcp.engine.inside.catching.exception_table import entries

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import CodeType

MOST_UNITS = 60_000
"""A code object with more is not read: that would take too long, within one event."""

BRANCHES = frozenset(
    {"POP_JUMP_IF_FALSE", "POP_JUMP_IF_TRUE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE", "FOR_ITER", "SEND"}
)
"""Instructions that jump, or do not."""

JUMPS = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})

_JUMPING = BRANCHES | JUMPS

ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT"})
"""Instructions after which the next one is not executed."""


class UnreadableCodeError(Exception):
    """The code is not as the compiler of this version makes it, or is too large."""


class Disassembly:
    """The instructions of one code object. `jumps` has the index of the instruction that each jump leads to."""

    __slots__ = ("_end", "_lines", "args", "code", "jumps", "names", "offsets", "sources", "table")

    def __init__(self, code: "CodeType") -> None:
        text = code.co_code
        if len(text) > 2 * MOST_UNITS or not opcodes.NAMES:
            raise UnreadableCodeError
        self.code = code
        self.table = entries(code)
        self.offsets: list[int] = []
        self.names: list[str] = []
        self.args: list[int] = []
        self._lines: list[tuple[int, int, int | None]] = []
        self._decode(text)
        self.jumps: dict[int, int] = {}
        self.sources: dict[int, list[int]] = {}
        self._end = len(text)
        self._follow_jumps()

    def _decode(self, text: bytes) -> None:
        """Split the text into instructions. Most of it are caches, which belong to the instruction before them."""
        (operations, arguments) = (text[::2], text[1::2])
        units = [unit for unit, operation in enumerate(operations) if operation]
        try:
            names = [opcodes.NAMES[operations[unit]] for unit in units]
        except KeyError:
            raise UnreadableCodeError from None
        if "EXTENDED_ARG" not in names:
            self.names = names
            self.args = [arguments[unit] for unit in units]
            self.offsets = [2 * unit for unit in units]
            return
        (extended, start) = (0, -1)
        for unit, name in zip(units, names):
            extended = (extended << 8) | arguments[unit]
            if start < 0:
                start = 2 * unit
            if name != "EXTENDED_ARG":
                self.offsets.append(start)
                self.names.append(name)
                self.args.append(extended)
                (extended, start) = (0, -1)

    def _follow_jumps(self) -> None:
        branching = [index for index, name in enumerate(self.names) if name in _JUMPING]
        for index in branching:
            after = self.offsets[index + 1] if index + 1 < len(self.offsets) else self._end
            distance = 2 * self.args[index]
            to = self.index(after - distance if "BACKWARD" in self.names[index] else after + distance)
            self.jumps[index] = to
            self.sources.setdefault(to, []).append(index)

    def index(self, offset: int) -> int:
        """Return the index of the instruction that an offset belongs to."""
        if not 0 <= offset < self._end:
            raise UnreadableCodeError
        (low, high) = (0, len(self.offsets))
        while high - low > 1:
            middle = (low + high) // 2
            if self.offsets[middle] <= offset:
                low = middle
            else:
                high = middle
        return low

    def line(self, index: int) -> int | None:
        """Return the line of an instruction, as `co_lines` has it."""
        if not self._lines:
            self._lines = list(self.code.co_lines())
        offset = self.offsets[index]
        for start, end, line in self._lines:
            if start <= offset < end:
                return line
        return None

    def predecessors(self, index: int) -> list[int]:
        """Return the instructions after which this one may be executed, but by an exception."""
        before = [*self.sources.get(index, ())]
        if index and self.names[index - 1] not in ENDS and self.names[index - 1] not in JUMPS:
            before.append(index - 1)
        return before

    def local(self, arg: int) -> str:
        """Return the name of a local variable, a cell or a free variable by its place in the frame."""
        code = self.code
        names = code.co_varnames
        if arg < len(names):
            return names[arg]
        cells = [name for name in code.co_cellvars if name not in names]
        return [*cells, *code.co_freevars][arg - len(names)]
