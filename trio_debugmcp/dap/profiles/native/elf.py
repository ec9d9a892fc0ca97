"""What an ELF executable says of how it was made: by which language's compiler, and whether with debug information.

    with open("/usr/bin/dlv", "rb") as file:
        found = read_elf(file)      # Executable("go", debug=True)

The sections are read in `elf_sections.py`, the compilation units in `dwarf_units.py`.
"""

import struct
from collections.abc import Sequence

from msgspec import Struct

from trio_debugmcp.dap.profiles.native.dwarf_units import Unit, units_of
from trio_debugmcp.dap.profiles.native.elf_sections import (
    Reader,
    Sections,
    Seekable,
    Unreadable,
    content,
    sections_of,
    text_at,
)

_TEXT_BYTES = 256
"""Of the name of a file."""

_LANGUAGES = {
    **dict.fromkeys((0x01, 0x02, 0x04, 0x0C, 0x19, 0x1A, 0x1D, 0x21, 0x2A, 0x2B, 0x2C), "c"),
    0x16: "go",
    0x1C: "rust",
}
"""DW_AT_language → our name; C and C++ of all years are one."""


class Executable(Struct, frozen=True):
    """How an executable was made.

    Attributes:
        language: `go`, `rust`, or `c` for C and C++; None if that is unknown.
        debug: its debug information is in it, or that is unknown.
        build_id: by which debug information is found that is kept elsewhere; `debug_link`: the name of that file.
    """

    language: str | None = None
    debug: bool = True
    build_id: str | None = None
    debug_link: str | None = None


def read_elf(file: Seekable) -> Executable | None:
    """Read how an executable was made; None if the file is not one. What is damaged or too long is unknown."""
    reader = Reader(file)
    try:
        if reader.at(0, 4) != b"\x7fELF":
            return None
    except Unreadable:
        return None
    try:
        sections = sections_of(reader)
    except (Unreadable, struct.error, IndexError):
        return Executable()
    units, complete = units_of(reader, sections)
    return Executable(
        language=_language(reader, sections, units),
        # Rust's own libraries have it in a program that is built without, too.
        debug=".debug_info" in sections and not (complete and units and all(unit.of_rust for unit in units)),
        build_id=_build_id(reader, sections),
        debug_link=_debug_link(reader, sections),
    )


def address_of(file: Seekable, offset: int) -> int | None:
    """Return the address, as the file itself counts, of what is at an offset in it; None if it is not loaded."""
    reader = Reader(file)
    try:
        head = reader.at(0, 64)
        if head[:6] != b"\x7fELF\x02\x01":
            return None
        (table,), (size, count) = reader.unpack("Q", head, 32), reader.unpack("HH", head, 54)
        rows = [reader.unpack("IIQQQQ", reader.at(table + size * number, 56)) for number in range(min(count, 512))]
    except (Unreadable, struct.error):
        return None
    loaded = ((begin, address, held) for kind, _, begin, address, _, held in rows if kind == 1)
    return next((offset - begin + address for begin, address, held in loaded if begin <= offset < begin + held), None)


def _language(reader: Reader, sections: Sections, units: Sequence[Unit]) -> str | None:
    if ".go.buildinfo" in sections or ".note.go.buildid" in sections:
        return "go"
    for unit in units:
        if unit.language in _LANGUAGES:  # not of the assembler's files, which may come first
            return _LANGUAGES[unit.language]
    try:
        compilers = content(reader, sections.get(".comment"), 0, 4096)
    except (Unreadable, struct.error):
        return None
    if b"rustc version" in compilers:
        return "rust"
    return "c" if b"GCC:" in compilers or b"clang version" in compilers else None


def _build_id(reader: Reader, sections: Sections) -> str | None:
    try:
        note = content(reader, sections.get(".note.gnu.build-id"), 0, 64)
        name_size, size, kind = reader.unpack("III", note)
    except (Unreadable, struct.error):
        return None
    return note[16 : 16 + size].hex() if (name_size, kind) == (4, 3) and 2 <= size <= 40 else None


def _debug_link(reader: Reader, sections: Sections) -> str | None:
    try:
        name = text_at(content(reader, sections.get(".gnu_debuglink"), 0, _TEXT_BYTES), 0)
    except (Unreadable, struct.error):
        return None
    return name.decode(errors="replace") if name and b"/" not in name else None
