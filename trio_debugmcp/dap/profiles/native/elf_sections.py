"""The sections of an ELF file, which may say anything of itself: bounded in what is read of it.

    reader = Reader(file)
    found = sections_of(reader)
    head = content(reader, found.get(".debug_info"), 0, 12)     # uncompressed

Programs of machine code have hundreds of megabytes. That rules out the libraries for it, which read whole sections.
Source: the ELF specification (gabi41).
"""

import struct
import zlib
from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

MAX_BYTES = 2 * 1024 * 1024
"""Read of one file: its headers, and of each compilation unit the beginning."""

_MAX_SECTIONS = 512
"""An executable has some forty; object files may have thousands."""

_COMPRESSED = 0x800
"""The flag of a section whose content is compressed."""


class Seekable(Protocol):
    """A binary file."""

    def seek(self, offset: int, /) -> int: ...

    def read(self, size: int, /) -> bytes: ...


class Unreadable(Exception):
    """What is to be read is not there, or more than may be read."""


class Reader:
    """Reads places of a file, up to a number of bytes in all: `MAX_BYTES`, or `most`."""

    def __init__(self, file: Seekable, most: int | None = None) -> None:
        self._file = file
        self._left = MAX_BYTES if most is None else most
        self.is_64, self.order = True, "<"

    def at(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; fewer only at the end of the file."""
        if not 0 <= offset < 1 << 62 or size > self._left:
            raise Unreadable
        self._left -= size
        try:
            self._file.seek(offset)
            return self._file.read(size)
        except (OSError, ValueError) as error:
            raise Unreadable from error

    def unpack(self, form: str, data: bytes, offset: int = 0) -> tuple[int, ...]:
        return struct.unpack_from(self.order + form, data, offset)


class Section(Struct, frozen=True):
    """The place of a section's content. `is_old`: compressed in the way from before the flag; it begins with `ZLIB`.

    `address`: where it is in memory, as the file itself counts; 0 if it is not loaded.
    """

    flags: int
    offset: int
    size: int
    is_old: bool = False
    address: int = 0


Sections = Mapping[str, Section]


def sections_of(reader: Reader) -> Sections:
    """Return the sections that have a content, by name."""
    head = reader.at(0, 64)
    reader.is_64, reader.order = head[4] == 2, ">" if head[5] == 2 else "<"
    if reader.is_64:
        (table,) = reader.unpack("Q", head, 0x28)
        entry_size, count, names_at = reader.unpack("HHH", head, 0x3A)
        form, fields = "IIQQQQ", 64
    else:
        (table,) = reader.unpack("I", head, 0x20)
        entry_size, count, names_at = reader.unpack("HHH", head, 0x2E)
        form, fields = "IIIIII", 40
    if entry_size < fields or count > _MAX_SECTIONS:
        raise Unreadable
    data = reader.at(table, entry_size * count)
    rows = [reader.unpack(form, data, number * entry_size) for number in range(count)]
    texts = reader.at(rows[names_at][4], min(rows[names_at][5], 64 * 1024))
    found = {}
    for name_at, kind, flags, address, offset, size in rows:
        name = text_at(texts, name_at).decode("latin-1")
        if kind != 8:  # without content: stripped, or zeroes
            old = name.startswith(".zdebug_")
            found[f".{name[2:]}" if old else name] = Section(flags, offset, size, old, address)
    return found


def content(reader: Reader, section: Section | None, offset: int, size: int) -> bytes:
    """Return a part of a section, uncompressed; shorter at the end of the section.

    Raises:
        Unreadable: there is no such section, or it is compressed in an unknown way, or too long.
    """
    if section is None or offset < 0:
        raise Unreadable
    if section.is_old or section.flags & _COMPRESSED:
        return _inflated(reader, section, offset + size)[offset:]
    return reader.at(section.offset + offset, max(0, min(size, section.size - offset)))


def _inflated(reader: Reader, section: Section, size: int) -> bytes:
    head = 12 if section.is_old or not reader.is_64 else 24
    data = reader.at(section.offset, min(section.size, head + size + 64))
    kind = 1 if section.is_old else reader.unpack("I", data)[0]
    if kind != 1 or size > MAX_BYTES:
        raise Unreadable
    try:
        return zlib.decompressobj().decompress(data[head:], size)
    except zlib.error as error:
        raise Unreadable from error


def text_at(data: bytes, offset: int) -> bytes:
    """Return the text that begins there and ends with a NUL character."""
    return data[offset:].partition(b"\0")[0]
