"""Compiled Lua as `string.dump` writes it, of 5.1 to 5.4 and LuaJIT: which functions there are, and their lines. Pure.

    read_code(dumped)       # (CodeOfFunction(first=0, last=9, lines={1, 5, 9}), CodeOfFunction(first=1, last=4, …))

Hooks of lines are called for just the lines that are listed here.
"""

from collections.abc import Iterator

from msgspec import Struct

_SIGNATURE, _JIT_SIGNATURE = b"\x1bLua", b"\x1bLJ"

_STRIPPED = 2
"""The flag of LuaJIT's that says that there are no lines."""


class CodeOfFunction(Struct, frozen=True):
    """A function: the lines of its text, and those at which something is executed; a file is one that begins at 0."""

    first: int
    last: int
    lines: frozenset[int]


def read_code(dumped: bytes) -> tuple[CodeOfFunction, ...]:
    """Return the functions of a file.

    Raises:
        ValueError: this is not the code of a version that is known.
    """
    try:
        if dumped.startswith(_JIT_SIGNATURE):
            return tuple(_JitDump(dumped).functions())
        if dumped.startswith(_SIGNATURE) and dumped[4] in _DUMPS:
            return tuple(_DUMPS[dumped[4]](dumped).functions())
    except (LookupError, RecursionError) as error:
        raise ValueError("the code is not what it should be") from error
    raise ValueError("the code is of an unknown version of Lua")


class _Dump:
    """The bytes of a dump, read one after the other."""

    place = 0

    def __init__(self, data: bytes) -> None:
        self.data = data

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def number(self, size: int = 4) -> int:
        return int.from_bytes(self.take(size), "little")

    def take(self, size: int) -> bytes:
        if size < 0 or self.place + size > len(self.data):
            raise IndexError
        self.place += size
        return self.data[self.place - size : self.place]

    def repeat(self, size: int) -> None:
        """Pass over a number of things of this size, which is written before them."""
        self.take(self.number() * size)


class _Dump51(_Dump):
    """Lua 5.1: a header of 12 bytes, and one function, which has those that are in it."""

    def functions(self) -> Iterator[CodeOfFunction]:
        self.take(12)
        yield from self.function()

    def string(self) -> None:
        self.take(self.number(8))

    def constants(self) -> None:
        for _ in range(self.number()):
            kind = self.byte()
            if kind == 4:
                self.string()
            else:
                self.take({0: 0, 1: 1, 3: 8}[kind])

    def names(self) -> None:
        """Pass over the names of variables."""
        for _ in range(self.number()):
            self.string()
            self.take(8)
        for _ in range(self.number()):
            self.string()

    def function(self) -> Iterator[CodeOfFunction]:
        self.string()
        first, last = self.number(), self.number()
        self.take(4)
        self.repeat(4)
        self.constants()
        for _ in range(self.number()):
            yield from self.function()
        lines = {self.number() for _ in range(self.number())}
        self.names()
        yield CodeOfFunction(first, last, frozenset(lines))


class _Dump52(_Dump51):
    """Lua 5.2: a header of 18 bytes; what is for debugging comes last."""

    header = 18

    def functions(self) -> Iterator[CodeOfFunction]:
        self.take(self.header)
        yield from self.function()

    def before(self) -> None:
        """Pass over what a function begins with."""

    def upvalues(self) -> None:
        self.repeat(2)

    def inner(self) -> Iterator[CodeOfFunction]:
        """Read what is between the code and the lines, with the functions that are in this one."""
        self.constants()
        for _ in range(self.number()):
            yield from self.function()
        self.upvalues()

    def function(self) -> Iterator[CodeOfFunction]:
        self.before()
        first, last = self.number(), self.number()
        takes_any = self.take(3)[1] != 0
        self.repeat(4)
        yield from self.inner()
        yield CodeOfFunction(first, last, self.lines(first, takes_any))

    def lines(self, first: int, takes_any: bool) -> frozenset[int]:
        """Read what is for debugging; a function may take any number of arguments."""
        self.string()
        lines = {self.number() for _ in range(self.number())}
        self.names()
        return frozenset(lines)


class _Dump53(_Dump52):
    """Lua 5.3: short texts have their length in a byte, and functions follow the upvalues."""

    header = 34

    def string(self) -> None:
        length = self.byte()
        self.take(max(0, (self.number(8) if length == 0xFF else length) - 1))

    def before(self) -> None:
        self.string()

    def constants(self) -> None:
        for _ in range(self.number()):
            kind = self.byte()
            if kind in (4, 20):
                self.string()
            else:
                self.take({0: 0, 1: 1, 3: 8, 19: 8}[kind])

    def inner(self) -> Iterator[CodeOfFunction]:
        self.constants()
        self.upvalues()
        for _ in range(self.number()):
            yield from self.function()

    def lines(self, first: int, takes_any: bool) -> frozenset[int]:
        lines = {self.number() for _ in range(self.number())}
        self.names()
        return frozenset(lines)


class _Dump54(_Dump53):
    """Lua 5.4: numbers take as many bytes as they need, and a line is its distance from the one before."""

    header = 32

    def number(self, size: int = 4) -> int:
        value = 0
        while True:
            byte = self.byte()
            value = value << 7 | byte & 0x7F
            if byte & 0x80:
                return value

    def string(self) -> None:
        self.take(max(0, self.number() - 1))

    def upvalues(self) -> None:
        self.repeat(3)

    def constants(self) -> None:
        for _ in range(self.number()):
            kind = self.byte()
            if kind in (0x04, 0x14):
                self.string()
            else:
                self.take({0x00: 0, 0x01: 0, 0x11: 0, 0x03: 8, 0x13: 8}[kind])

    def names(self) -> None:
        for _ in range(self.number()):
            self.string()
            self.number()
            self.number()
        for _ in range(self.number()):
            self.string()

    def lines(self, first: int, takes_any: bool) -> frozenset[int]:
        distances = self.take(self.number())
        absolute = {self.number(): self.number() for _ in range(self.number())}
        self.names()
        lines, line = set(), first
        for place, distance in enumerate(distances):
            line = absolute[place] if distance == 0x80 else line + distance - (distance > 0x80) * 0x100
            if place or not takes_any:  # to prepare its arguments is on no line
                lines.add(line)
        return frozenset(lines)


class _JitDump(_Dump):
    """LuaJIT: functions one after the other, those that are in others before them."""

    def variable(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def functions(self) -> Iterator[CodeOfFunction]:
        self.take(4)
        if self.variable() & _STRIPPED:
            raise ValueError("the code has no lines")
        self.take(self.variable())
        while (length := self.variable()) != 0:
            end = self.place + length
            self.take(4)
            self.variable()
            self.variable()
            instructions, size = self.variable(), self.variable()
            first, count = self.variable(), self.variable()
            self.place = end - size
            width = 1 if count < 0x100 else 2 if count < 0x10000 else 4
            lines = {first + self.number(width) for _ in range(instructions)}
            self.place = end
            yield CodeOfFunction(first, first + count, frozenset(lines - {0}))


_DUMPS = {0x51: _Dump51, 0x52: _Dump52, 0x53: _Dump53, 0x54: _Dump54}
