"""A core file of Linux: the threads of the program, what each did in the kernel, and its memory. Pure.

    with open("core", "rb") as file:
        core = read_core(file)
        core.threads            # (CoreThread(4711, SystemCall("futex", …)), …)
        core.read(0x7ffe298f8170, 4)

Source: the ELF specification (gabi41), and `fs/binfmt_elf.c` of the kernel for what its notes hold. Only on x86-64 a
register says in which system call a thread was: elsewhere the number is in one that a program uses for other things.
"""

import struct
from collections.abc import Iterator, Sequence

from msgspec import Struct

from trio_debugmcp.dap.profiles.native.elf_sections import Reader, Seekable, Unreadable
from trio_debugmcp.dap.profiles.native.kernel_calls import SystemCall, numbered_call

_CORE = 4
"""The type of the file."""

_X86_64 = "x86_64"
_MACHINES = {62: _X86_64, 183: "aarch64", 243: "riscv64"}
"""By the number in the file."""

_LOAD, _NOTE = 1, 4
"""Types of segments: of memory, and of what the kernel says of the process."""

_STATUS, _VECTOR, _FILES = 1, 6, 0x46494C45
"""Types of notes: of one thread, the auxiliary vector, and the files that were mapped."""

_PROGRAM_HEADERS = 3
"""The key in the auxiliary vector: where the headers of the program's executable are in memory."""

_TID_AT, _REGISTERS_AT, _REGISTERS = 32, 112, struct.Struct("<27Q")
"""In the note of a thread."""

_CALL, _ARGUMENTS = 15, (14, 13, 12, 7, 9, 8)
"""Which of the registers have the number of the system call (orig_rax), and what is passed to it."""

_MAX_SEGMENTS, _MAX_NOTES, _FILES_BYTES, _VECTOR_BYTES = 10_000, 20_000, 256 * 1024, 1024
"""Bounds. A thread has some five notes."""

MINIDUMP = b"MDMP"
"""How the other kind of file begins that is left of a crash: of Breakpad, Crashpad and Windows."""


class CoreThread(Struct, frozen=True):
    """A thread, by its id in the program's own namespace, and the system call in which it waited."""

    tid: int
    call: SystemCall | None


class _Segment(Struct, frozen=True):
    """A piece of memory, as far as it is in the file."""

    address: int
    offset: int
    size: int


class Core(Struct, frozen=True):
    """What a core file holds; `mapped`: names of the files that the program had mapped; `program`: its executable.

    `has_calls`: it says in which system calls the threads were.
    """

    threads: tuple[CoreThread, ...]
    mapped: tuple[str, ...]
    program: str | None
    reader: Reader
    memory: tuple[_Segment, ...]
    machine: str = _X86_64

    @property
    def has_calls(self) -> bool:
        return self.machine == _X86_64

    def read(self, address: int, size: int) -> bytes:
        """Return memory of the program; fewer bytes, or none, where the file has none."""
        for each in self.memory:
            if each.address <= address < each.address + each.size:
                skipped = address - each.address
                try:
                    return self.reader.at(each.offset + skipped, min(size, each.size - skipped))
                except Unreadable:
                    return b""
        return b""


def read_core(file: Seekable) -> Core | None:
    """Read a core file; None for another file, for one of another machine, and for one that cannot be read."""
    reader = Reader(file)
    try:
        head = reader.at(0, 64)
        kind_of_file, number = struct.unpack_from("<HH", head, 16)
        if head[:6] != b"\x7fELF\x02\x01" or kind_of_file != _CORE or number not in _MACHINES:
            return None
        machine = _MACHINES[number]
        (table,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        if size != 56 or count > _MAX_SEGMENTS:
            return None
        rows = struct.iter_unpack("<IIQQQQQQ", _exactly(reader, table, 56 * count))
        segments = [(kind, _Segment(address, offset, held)) for kind, _, offset, address, _, held, _, _ in rows]
        notes = [each for kind, segment in segments if kind == _NOTE for each in _notes(reader, segment)]
        threads = tuple(_thread(reader, at, machine) for kind, at, length in notes if kind == _STATUS and length >= 336)
        files, vector = (_first(reader, notes, kind, most) for kind, most in _TEXTS)
        mapped = _mapped(files)
    except (Unreadable, struct.error, IndexError):
        return None
    pairs = struct.iter_unpack("<QQ", vector[: len(vector) // 16 * 16])
    headers = next((value for key, value in pairs if key == _PROGRAM_HEADERS), 0)
    program = next((name for begin, end, name in mapped if begin <= headers < end), None)
    memory = tuple(segment for kind, segment in segments if kind == _LOAD)
    return Core(threads, tuple(name for _, _, name in mapped), program, reader, memory, machine)


_TEXTS = ((_FILES, _FILES_BYTES), (_VECTOR, _VECTOR_BYTES))


def _first(reader: Reader, notes: Sequence[tuple[int, int, int]], wanted: int, most: int) -> bytes:
    return next((reader.at(at, min(length, most)) for kind, at, length in notes if kind == wanted), b"")


def _mapped(data: bytes) -> list[tuple[int, int, str]]:
    """Return where each file was mapped."""
    if len(data) < 16:
        return []
    (count,) = struct.unpack_from("<Q", data)
    names_at = 16 + 24 * count
    if names_at > len(data):  # more files than are read
        return []
    names = [name.decode(errors="surrogateescape") for name in data[names_at:].split(b"\0")]
    places = struct.iter_unpack("<QQQ", data[16:names_at])
    return [(begin, end, name) for (begin, end, _), name in zip(places, names, strict=False)]


def _exactly(reader: Reader, offset: int, size: int) -> bytes:
    data = reader.at(offset, size)
    if len(data) < size:
        raise Unreadable
    return data


def _notes(reader: Reader, segment: _Segment) -> Iterator[tuple[int, int, int]]:
    """Yield the type of each note, where its content is, and how long that is."""
    at, end = segment.offset, segment.offset + segment.size
    for _ in range(_MAX_NOTES):
        if at + 12 > end:
            return
        name, length, kind = struct.unpack("<III", _exactly(reader, at, 12))
        content = at + 12 + _padded(name)
        yield kind, content, length
        at = content + _padded(length)


def _padded(size: int) -> int:
    return (size + 3) & ~3


def _thread(reader: Reader, at: int, machine: str) -> CoreThread:
    (tid,) = struct.unpack("<i", _exactly(reader, at + _TID_AT, 4))
    if machine != _X86_64:
        return CoreThread(tid, None)
    registers: Sequence[int] = _REGISTERS.unpack(_exactly(reader, at + _REGISTERS_AT, _REGISTERS.size))
    number = registers[_CALL]
    if number >= 1 << 31:  # -1: it was in no call
        return CoreThread(tid, None)
    return CoreThread(tid, numbered_call(number, tuple(registers[each] for each in _ARGUMENTS), machine))
