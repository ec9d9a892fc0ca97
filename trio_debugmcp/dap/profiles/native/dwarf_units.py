"""The compilation units in the debug information of an ELF file: the language of each, and whose it is.

    units, complete = units_of(reader, sections)

Of each only the beginning is read, by which all are found. Source: DWARF 5, sections 7.5 and 7.12.
"""

import re
import struct

from msgspec import Struct

from trio_debugmcp.dap.profiles.native.elf_sections import Reader, Sections, Unreadable, content, text_at

_MAX_UNITS = 256
"""Compilation units that are looked at. The user's come first, as linkers take files in the order of the command."""

_UNIT_BYTES, _ABBREVIATION_BYTES, _TEXT_BYTES = 160, 2048, 256
"""Of a unit's first entry, of the descriptions of its form and others, and of a name: what is needed comes early."""

_COMPILE_UNIT, _SKELETON_UNIT = 0x11, 0x4A
"""Tags of the entry of a source file; the other one's debug information is beside the program."""

_NAME, _LANGUAGE, _DIRECTORY = 0x03, 0x13, 0x1B
"""The attributes that are read."""

_RUST_LIBRARY = re.compile(rb"/rustc/|/usr/src/rustc|library/[a-z]+/src/|/rust/deps/")
"""How the sources of Rust's own libraries are called, whose debug information is in every program of Rust."""


class Unit(Struct, frozen=True):
    """A compilation unit: the number of its language, and whether it is of Rust's libraries."""

    language: int
    of_rust: bool


def units_of(reader: Reader, sections: Sections) -> tuple[list[Unit], bool]:
    """Return the compilation units up to the first that cannot be read, and whether that are all."""
    found: list[Unit] = []
    offset = 0
    try:
        for _ in range(_MAX_UNITS):
            head = content(reader, sections.get(".debug_info"), offset, 12)
            if not head:
                return found, True
            (length,) = reader.unpack("I", head)
            wide = length == 0xFFFFFFFF  # DWARF of 64 bits
            if wide:
                (length,) = reader.unpack("Q", head, 4)
            begin = offset + (12 if wide else 4)
            data = content(reader, sections.get(".debug_info"), begin, min(length, _UNIT_BYTES))
            unit = _unit(reader, sections, data, wide=wide)
            found += [] if unit is None else [unit]
            offset = begin + length
    except (Unreadable, struct.error, IndexError):
        pass
    return found, False


def _unit(reader: Reader, sections: Sections, data: bytes, *, wide: bool) -> Unit | None:
    """Return what the first entry of a unit says; None if it is not one of a source file."""
    (version,) = reader.unpack("H", data)
    width, of_width = (8, "Q") if wide else (4, "I")
    if version >= 5:
        kind, address = data[2], data[3]
        (abbreviations,), at = reader.unpack(of_width, data, 4), 4 + width
        if kind == 4:  # of a program whose debug information is beside it
            at += 8
        elif kind != 1:
            return None
    else:
        (abbreviations,), address, at = reader.unpack(of_width, data, 2), data[2 + width], 3 + width
    code, at = _number(data, at)
    described = content(reader, sections.get(".debug_abbrev"), abbreviations, _ABBREVIATION_BYTES)
    entry = _form(described, code)
    if entry is None:
        return None
    found: dict[int, bytes | int] = {}
    for attribute, form, constant in entry:
        value, at = _value(reader, sections, data, at, form, address, width, constant)
        found[attribute] = value
        if found.keys() >= {_NAME, _LANGUAGE, _DIRECTORY}:
            break
    language = found.get(_LANGUAGE, 0)
    names = b"%b\0%b" % tuple(name if isinstance(name := found.get(key), bytes) else b"" for key in (_DIRECTORY, _NAME))
    return Unit(language if isinstance(language, int) else 0, _RUST_LIBRARY.search(names) is not None)


def _form(described: bytes, wanted: int) -> list[tuple[int, int, int]] | None:
    """Return attribute, form and constant of what is in a compilation unit's entry; None if it is another entry."""
    at = 0
    while True:
        code, at = _number(described, at)
        tag, at = _number(described, at)
        at += 1
        form = []
        while True:
            attribute, at = _number(described, at)
            kind, at = _number(described, at)
            constant = 0
            if kind == 0x21:
                constant, at = _number(described, at)
            if not attribute:
                break
            form.append((attribute, kind, constant))
        if code == wanted:
            return form if tag in (_COMPILE_UNIT, _SKELETON_UNIT) else None


_FIXED = {
    0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x19: 0, 0x1C: 4, 0x1E: 16,
    0x20: 8, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
"""Form → bytes of its value."""

_WIDTH = frozenset({0x0E, 0x10, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21})
"""Forms whose value is an offset."""

_VARIABLE = frozenset({0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23})
"""Forms whose value is a number of any length."""

_STRINGS = {0x0E: ".debug_str", 0x1F: ".debug_line_str"}
"""Forms whose value is a text in another section."""


def _value(
    reader: Reader,
    sections: Sections,
    data: bytes,
    at: int,
    form: int,
    address: int,
    width: int,
    constant: int,
) -> tuple[bytes | int, int]:
    """Return the value of an attribute, and where the next one begins."""
    if form == 0x21:
        return constant, at
    if form == 0x08:
        text = text_at(data, at)
        return text, at + len(text) + 1
    if form in _VARIABLE:
        return _number(data, at)
    size = address if form == 0x01 else width if form in _WIDTH else _FIXED.get(form)
    if size is None:  # of unknown length: what follows cannot be found
        raise Unreadable
    number = int.from_bytes(data[at : at + size], "big" if reader.order == ">" else "little")
    if form in _STRINGS:
        try:
            return text_at(content(reader, sections.get(_STRINGS[form]), number, _TEXT_BYTES), 0), at + size
        except Unreadable:  # far inside of what is compressed
            return b"", at + size
    return number, at + size


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in LEB128, and where the next thing begins."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise Unreadable
