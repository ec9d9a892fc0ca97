"""The exception table of a code object: which handler covers an instruction.

The format is described in CPython's `InternalDocs/exception_handling.md`: entries of four numbers (start, length,
target, and depth with a flag), each in groups of six bits, big end first; bit 7 marks the first byte of an entry, bit 6
that another byte follows. They are in code units of two bytes.
"""

MYPY = False
if MYPY:
    from trio_debugmcp.engine.inside.catching.notation import CodeType


class TableEntry:
    """Instructions from `start` to before `end` jump to `target`, with `depth` values left on the stack."""

    __slots__ = ("depth", "end", "start", "target")

    def __init__(self, start: int, end: int, target: int, depth: int) -> None:
        self.start = start
        self.end = end
        self.target = target
        self.depth = depth


def entries(code: "CodeType") -> list[TableEntry]:
    """Return the entries in the order of `start`. They do not overlap: each names the innermost handler."""
    numbers: list[int] = []
    value = 0
    for byte in code.co_exceptiontable:
        value = (value << 6) | (byte & 63)
        if not byte & 64:
            numbers.append(value)
            value = 0
    return [
        TableEntry(numbers[at] * 2, (numbers[at] + numbers[at + 1]) * 2, numbers[at + 2] * 2, numbers[at + 3] >> 1)
        for at in range(0, len(numbers) - 3, 4)
    ]


def covering(table: list[TableEntry], offset: int) -> TableEntry | None:
    """Return the entry that covers the instruction at an offset."""
    for entry in table:
        if entry.start <= offset < entry.end:
            return entry
    return None
