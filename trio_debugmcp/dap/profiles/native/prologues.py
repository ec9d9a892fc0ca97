"""Whether a frame is in the prologue of its function, which stores the arguments where debuggers look for them. Pure.

    with open("shop", "rb") as file:
        prologue_left(file, "shop::look", 0x5591FFD2D2C9)       # 3: so many instructions

lldb finds the end of a prologue by a change of line. So it stops at the first instruction of a function of gcc that
stands in one line. Known of x86-64 and of functions that are not optimized: others have their arguments in registers.
"""

import re
import struct
from collections.abc import Iterator

from trio_debugmcp.dap.profiles.native.elf_sections import Reader, Sections, Seekable, Unreadable, sections_of
from trio_debugmcp.dap.profiles.native.executable_functions import FUNCTION, plain_name

_MAX_BYTES = 16 * 1024 * 1024
"""Read of one file: the table of some 200,000 functions."""

_MAX_PROLOGUE = 256
"""Bytes of a prologue that are looked at: the stores of some sixty arguments."""

_PAGE = 0xFFF
"""Programs are loaded anywhere, but in whole pages."""

_X86_64 = 62

_ROW = 24
"""Bytes of a symbol of an ELF file of 64 bits."""

_BEGIN = re.compile(rb"(\xf3\x0f\x1e\xfa)?\x55\x48\x89\xe5")
"""How a function begins that is not optimized: endbr64, push rbp, mov rbp, rsp."""

_NEXT = re.compile(
    rb"\x53|\x41[\x54-\x57]|\x48\x83\xec.|\x48\x81\xec.{4}"  # push, sub rsp
    rb"|[\x44\x45]?\x89[\xc0-\xff]"  # to another register, of which a part is stored
    rb"|(?P<store>(?:[\x44\x48\x4c]|\x66\x44?)?[\x88\x89](?:[\x45\x4d\x55\x5d\x75\x7d].|[\x85\x8d\x95\x9d\xb5\xbd].{4})"
    rb"|[\xf2\xf3]\x0f\x11(?:[\x45\x4d\x55\x5d\x65\x6d\x75\x7d].|[\x85\x8d\x95\x9d\xa5\xad\xb5\xbd].{4}))",
    re.DOTALL,
)
"""What follows in it, up to the first instruction that reads memory. `store`: an argument that is stored."""


def prologue_left(file: Seekable, function: str, address: int) -> int:
    """Return how many instructions of the function's prologue are to run yet; 0 if it is behind, or that is unknown."""
    reader = Reader(file, _MAX_BYTES)
    try:
        head = reader.at(0, 20)
        if head[:6] != b"\x7fELF\x02\x01" or reader.unpack("H", head, 18) != (_X86_64,):
            return 0
        sections = sections_of(reader)
        for start in _addresses(reader, sections, function):
            into = (address - start) & _PAGE
            if into < _MAX_PROLOGUE:
                left = sum(at >= into for at in _instructions(_code(reader, sections, start)))
                if left:
                    return left
    except (Unreadable, struct.error, IndexError):
        pass
    return 0


def _addresses(reader: Reader, sections: Sections, function: str) -> Iterator[int]:
    """Yield the addresses of the symbols that may be the function's: overloads have the same name."""
    table, texts = sections.get(".symtab"), sections.get(".strtab")
    if table is None or texts is None:
        raise Unreadable
    rows, names = reader.at(table.offset, table.size), reader.at(texts.offset, texts.size)
    for name_at in _name_places(names, re.sub(r"<[^<>]*>|\(anonymous namespace\)::", "", function)):
        wanted = struct.pack("<I", name_at)
        at = rows.find(wanted)
        while at >= 0:
            if at % _ROW == 0 and rows[at + 4] & 15 == FUNCTION:
                (address,) = reader.unpack("Q", rows, at + 8)
                yield address
            at = rows.find(wanted, at + 1)


def _name_places(names: bytes, function: str) -> Iterator[int]:
    """Yield where the symbols are in the table of names: as the function's name is, or mangled."""
    for symbol in re.finditer(rb"%b(?=\0)" % re.escape(function.encode()), names):
        yield symbol.start()
    *outer, last = function.split("::")
    last = last.removeprefix("~")
    mangled = re.escape(f"{len(last.encode())}{last}".encode())
    makes = re.compile(rb"%b(?:I[^\0]*E)?[CD]\d" % mangled) if outer[-1:] == [last] else None
    for symbol in re.finditer(rb"(?<=\0)_Z[^\0]*?%b[^\0]*" % mangled, names):
        if plain_name(symbol[0].decode("latin-1")) == function or (makes is not None and makes.search(symbol[0])):
            yield symbol.start()


def _code(reader: Reader, sections: Sections, address: int) -> bytes:
    for section in sections.values():
        into = address - section.address
        if section.address and 0 <= into < section.size:
            return reader.at(section.offset + into, min(_MAX_PROLOGUE, section.size - into))
    raise Unreadable


def _instructions(code: bytes) -> list[int]:
    """Return where the instructions of a prologue begin; none if it stores no argument."""
    begin = _BEGIN.match(code)
    if begin is None:
        return []
    end, stores = begin.end(), False
    places = [*([0] if begin[1] else []), end - 4, end - 3]
    while (following := _NEXT.match(code, end)) is not None:
        places.append(end)
        end, stores = following.end(), stores or following["store"] is not None
    return places if stores else []
