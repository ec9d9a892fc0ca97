"""Class files of the virtual machine: their name, the source that they were made of, and their lines. Pure.

    found = class_file(Path("ShopKt.class").read_bytes())
    found.name, found.source, found.lines      # "shop.ShopKt", "shop.kt", frozenset({6, 7, 11})

https://docs.oracle.com/javase/specs/jvms/se17/html/jvms-4.html has the format.
"""

import struct

from msgspec import Struct

_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of an entry of a class's constants, by its tag; one of the tag 1 is a text with its length before it."""


class ClassFile(Struct, frozen=True):
    """What a class file says of its class; `source`: the name of its source file, where that is kept."""

    name: str
    source: str | None
    lines: frozenset[int]


class _ClassReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 8
        self.texts: dict[int, str] = {}
        self.classes: dict[int, int] = {}

    def number(self, form: str) -> int:
        value: int = struct.unpack_from(form, self._data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def constants(self) -> None:
        count, number = self.number(">H"), 1
        while number < count:
            tag = self.number(">B")
            if tag == 1:
                length = self.number(">H")
                self.texts[number] = self._data[self.at : self.at + length].decode(errors="replace")
                self.at += length
            else:
                if tag == 7:
                    self.classes[number] = struct.unpack_from(">H", self._data, self.at)[0]
                self.at += _SIZES[tag]
            number += 2 if tag in (5, 6) else 1  # a long and a double count as two

    def attributes(self) -> dict[str, list[int]]:
        """Return where the attributes of each name are, and go past them."""
        found: dict[str, list[int]] = {}
        for _ in range(self.number(">H")):
            name, length = self.texts[self.number(">H")], self.number(">I")
            found.setdefault(name, []).append(self.at)
            self.at += length
        return found


def class_file(data: bytes) -> ClassFile:
    """Return what a class file says.

    Raises:
        ValueError: the data are of something else.
    """
    if data[:4] != b"\xca\xfe\xba\xbe":
        raise ValueError("it is not a class file")
    reader = _ClassReader(data)
    try:
        reader.constants()
        reader.number(">H")  # flags
        name = reader.texts[reader.classes[reader.number(">H")]].replace("/", ".")
        reader.number(">H")  # the class above
        reader.at += 2 * struct.unpack_from(">H", data, reader.at)[0] + 2  # interfaces
        _members(reader)  # fields
        codes = [place for found in _members(reader) for place in found.get("Code", ())]
        source = reader.attributes().get("SourceFile")
        lines = {line for place in codes for line in _lines(data, reader, place)}
        text = reader.texts[struct.unpack_from(">H", data, source[0])[0]] if source else None
    except (LookupError, struct.error) as error:
        raise ValueError("it is not a class file") from error
    return ClassFile(name, text, frozenset(lines))


def _members(reader: _ClassReader) -> list[dict[str, list[int]]]:
    found = []
    for _ in range(reader.number(">H")):
        reader.at += 6  # flags, name and type
        found.append(reader.attributes())
    return found


def _lines(data: bytes, reader: _ClassReader, place: int) -> list[int]:
    reader.at = place + 4
    length = reader.number(">I")
    reader.at += length
    reader.at += 8 * struct.unpack_from(">H", data, reader.at)[0] + 2  # what it catches
    found = []
    for table in reader.attributes().get("LineNumberTable", ()):
        count = struct.unpack_from(">H", data, table)[0]
        found += [struct.unpack_from(">H", data, table + 4 + 4 * number)[0] for number in range(count)]
    return found
