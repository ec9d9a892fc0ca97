"""Bytes and instructions as answers show them."""

import math
import re
import struct
import sys
from collections.abc import Sequence
from typing import Literal

from trio_debugmcp.dap.messages import Instruction
from trio_debugmcp.server.answers.answer import AnswerData
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.session.looking.memory_access import number
from trio_debugmcp.state.payloads import Payload

ByteFormat = Literal["hex", "text", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]

_CODES = dict(zip(("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"), "bBhHiIqQfd", strict=True))
"""Numbers, in the byte order of this machine."""

_ORDER = "<" if sys.byteorder == "little" else ">"

_GROUP_BYTES = 4
"""Bytes that are written together, so that a reader can count them."""

_TEXT = re.compile(rb"[\x20-\x7e]{4}")
"""What makes bytes worth showing as text."""


class InstructionPayload(Payload, frozen=True):
    """A machine instruction, and the place in the source that it is of. `current`: the frame is there."""

    address: str
    instruction: str
    symbol: str | None
    file: str | None
    line: int | None
    current: bool


class InstructionsData(AnswerData, frozen=True, kw_only=True):
    """Instructions, one after the other in memory."""

    instructions: list[InstructionPayload]


def size_of(form: ByteFormat) -> int:
    """Return how many bytes a number has; 1 of what is not a number."""
    return struct.calcsize(_CODES[form]) if form in _CODES else 1


def hex_text(data: bytes) -> str:
    """Return `2a000000 07000000`."""
    return data.hex(" ", -_GROUP_BYTES)


def ascii_text(data: bytes) -> str:
    """Return the printable characters in the bytes, with a point for each other byte; nothing if there is no word."""
    if _TEXT.search(data) is None:
        return ""
    return "".join(chr(each) if 0x20 <= each < 0x7F else "." for each in data)


def numbers(data: bytes, form: ByteFormat) -> list[int | float | str]:
    """Return bytes as numbers; what JSON has no number for is text, and bytes that make no whole number are left."""
    size = size_of(form)
    found = struct.unpack(f"{_ORDER}{len(data) // size}{_CODES[form]}", data[: len(data) // size * size])
    return [each if math.isfinite(each) else str(each) for each in found]


def parsed(text: str, form: ByteFormat) -> bytes:
    """Return the bytes that a client has written.

    Raises:
        ValueError: they are not written as the format wants them; the text says why.
    """
    if form == "text":
        return text.encode()
    words = text.replace(",", " ").split()
    if form == "hex":
        return bytes.fromhex("".join(word.removeprefix("0x") for word in words))
    try:
        return b"".join(struct.pack(f"{_ORDER}{_CODES[form]}", _number(word, form)) for word in words)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{error}") from None


def _number(word: str, form: ByteFormat) -> int | float:
    return float(word) if form.startswith("f") else int(word, 0)


def instruction_payloads(found: Sequence[Instruction], current: int | None) -> list[InstructionPayload]:
    """Return instructions as data. Adapters name the file only where it is another one than before."""
    payloads: list[InstructionPayload] = []
    file: str | None = None
    for instruction in found:
        file = file if instruction.location is None else instruction.location.path or instruction.location.name
        text = " ".join(instruction.instruction.split())
        payloads.append(
            InstructionPayload(
                _address(instruction.address),
                text,
                instruction.symbol,
                file,
                instruction.line or None,
                _is(instruction, current),
            )
        )
    return payloads


def instruction_lines(places: Places, found: Sequence[InstructionPayload]) -> list[str]:
    """Return a line for each instruction: `> 0x1193 mov -0x1c(%rbp),%eax  shop.c:11 in add`. `>`: the current one.

    Place and function are named where they are others than before.
    """
    lines = []
    place = symbol = ""
    for instruction in found:
        text = f"{'> ' if instruction.current else ''}{instruction.address} {instruction.instruction}"
        now = places.line(instruction.file, instruction.line) if instruction.line else place
        where = [
            now if now != place else "",
            f"in {instruction.symbol}" if instruction.symbol not in (None, symbol) else "",
        ]
        lines.append("  ".join(word for word in (text, " ".join(filter(None, where))) if word))
        place, symbol = now, instruction.symbol or symbol
    return lines


def _is(each: Instruction, current: int | None) -> bool:
    return current is not None and number(each.address) == current


def _address(text: str) -> str:
    found = number(text)
    return text if found is None else hex(found)
