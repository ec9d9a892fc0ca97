"""Class files of the virtual machine: their name, the source that they were made of, lines and handlers. Pure.

    found = class_file(Path("ShopKt.class").read_bytes())
    found.name, found.source, found.lines      # "shop.ShopKt", "shop.kt", frozenset({6, 7, 11})

https://docs.oracle.com/javase/specs/jvms/se17/html/jvms-4.html has the format.
"""

import struct

from msgspec import Struct

_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""Bytes of an entry of a class's constants, by its tag; one of the tag 1 is a text with its length before it."""


class Handler(Struct, frozen=True):
    """Lines of a method whose exceptions are handled. `catches`: a class; None: all, and they are raised again.

    `closes`: it only closes a resource, and raises what it has caught again, as that of `try (…)`.
    """

    method: str
    lines: frozenset[int]
    catches: str | None
    closes: bool = False


class ClassFile(Struct, frozen=True):
    """What a class file says of its class; `source`: the name of its source file, where that is kept.

    `above`: the class that it extends.
    """

    name: str
    source: str | None
    lines: frozenset[int]
    above: str | None = None
    handlers: tuple[Handler, ...] = ()


_INVOKE_VIRTUAL = 0xB6

_CLOSING_BYTES = 40
"""Of a handler's code, in which one that closes a resource adds what is raised by that."""


class _ClassReader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 8
        self.texts: dict[int, str] = {}
        self.classes: dict[int, int] = {}
        self.pairs: dict[int, tuple[int, int]] = {}

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
                elif tag in (10, 12):  # a method with its class; a name with its type
                    self.pairs[number] = struct.unpack_from(">HH", self._data, self.at)
                self.at += _SIZES[tag]
            number += 2 if tag in (5, 6) else 1  # a long and a double count as two

    def class_name(self, number: int) -> str | None:
        return self.texts[self.classes[number]].replace("/", ".") if number else None

    def suppressing(self) -> bytes | None:
        """Return the instruction that calls `Throwable.addSuppressed`; None if the class has none."""
        for number, (_, called) in self.pairs.items():
            if called in self.pairs and self.texts.get(self.pairs[called][0]) == "addSuppressed":
                return struct.pack(">BH", _INVOKE_VIRTUAL, number)
        return None

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
        name = reader.class_name(reader.number(">H")) or ""
        above = reader.class_name(reader.number(">H"))
        reader.at += 2 * struct.unpack_from(">H", data, reader.at)[0] + 2  # interfaces
        _members(reader)  # fields
        codes = [(method, place) for method, found in _members(reader) for place in found.get("Code", ())]
        source = reader.attributes().get("SourceFile")
        lines, handlers = set(), []
        for method, place in codes:
            starts, caught = _code(data, reader, place, method)
            lines |= starts
            handlers += caught
        text = reader.texts[struct.unpack_from(">H", data, source[0])[0]] if source else None
    except (LookupError, struct.error) as error:
        raise ValueError("it is not a class file") from error
    return ClassFile(name, text, frozenset(lines), above, tuple(handlers))


def _members(reader: _ClassReader) -> list[tuple[str, dict[str, list[int]]]]:
    found = []
    for _ in range(reader.number(">H")):
        reader.number(">H")  # flags
        name = reader.texts[reader.number(">H")]
        reader.number(">H")  # type
        found.append((name, reader.attributes()))
    return found


def _code(data: bytes, reader: _ClassReader, place: int, method: str) -> tuple[set[int], list[Handler]]:
    """Return the lines of a method, and what it handles in which of them."""
    reader.at = place + 4
    length = reader.number(">I")
    code = data[reader.at : reader.at + length]
    reader.at += length
    table = [struct.unpack_from(">4H", data, reader.at + 8 * each) for each in range(reader.number(">H"))]
    reader.at += 8 * len(table)
    starts: list[tuple[int, int]] = []
    for place in reader.attributes().get("LineNumberTable", ()):
        count = struct.unpack_from(">H", data, place)[0]
        starts += [struct.unpack_from(">HH", data, place + 2 + 4 * each) for each in range(count)]
    starts.sort()
    ends = [start for start, _ in starts[1:]] + [length]
    suppressing, handlers = reader.suppressing() if table else None, []
    for first, last, handler, kind in table:
        within = {line for (start, line), end in zip(starts, ends, strict=False) if start < last and first < end}
        closes = suppressing is not None and suppressing in code[handler : handler + _CLOSING_BYTES]
        handlers.append(Handler(method, frozenset(within), reader.class_name(kind), closes))
    return {line for _, line in starts}, handlers
