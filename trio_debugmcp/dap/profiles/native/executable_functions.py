"""The functions that are in an executable, by the names that its table of symbols has. Pure.

    with open("shop", "rb") as file:
        names = function_names(file)        # ["main", "shop::Shelf::take", ...]
    functions_alike("shop::Shelf::tak", names)

Names of C, Zig and Go stand there as they are. Those of C++ are mangled, by the Itanium C++ ABI: of these the parts are
read, and types are passed over. What has no name that people write is left out: constructors, operators, lambdas.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

from trio_debugmcp.dap.profiles.function_code import FunctionCode
from trio_debugmcp.dap.profiles.native.elf_sections import Reader, Seekable, Unreadable, sections_of
from trio_debugmcp.dap.profiles.near_names import named_alike

_MAX_BYTES = 16 * 1024 * 1024
"""Read of one table with its names: those of some 200,000 functions."""

FUNCTION = 2
"""The kind of a symbol, in four bits."""

_PARTS_OF_COMPILERS = re.compile(
    r".*\.(?:cold|part|constprop|isra|lto_priv|llvm)\b.*|(?:de)?register_tm_clones|frame_dummy"
)
"""Names that a compiler has made of others, or added."""

_ANONYMOUS = "_GLOBAL__N_1"
"""A namespace of C++ without a name."""

_PIECE = re.compile(r"S[0-9A-Z]*_|S[a-z]|T[0-9A-Z]*_|D[a-su-z]|[a-z]|L[a-z]n?\d+E")
"""A type in one piece: one that was there before, a parameter of a template, one of the standard library or built in.

Or a number in place of one."""

_OPENING = ("N", "I", "J", "L", "X", "F", "Dt", "DT")
"""What begins a group, which an E ends."""

_QUALIFIERS = re.compile(r"[PRKOVG]|A\d*_|Dp")
"""What stands before a type."""

_SEPARATOR = re.compile(r"::|\.(?!\()|/")


def function_names(file: Seekable) -> list[str]:
    """Return the names of the functions that an ELF file defines; none if its table is not there, or too long."""
    reader = Reader(file, _MAX_BYTES)
    try:
        symbols = list(_symbols(reader)) if reader.at(0, 4) == b"\x7fELF" else []
    except (Unreadable, struct.error, IndexError, ValueError):
        return []
    return list(dict.fromkeys(filter(None, map(plain_name, symbols))))


def functions_called(wanted: str, names: Sequence[str]) -> list[str]:
    """Return those that have a name: as it is, or with a namespace or a package in front of it."""
    return [name for name in names if name == wanted or name.endswith((f"::{wanted}", f".{wanted}", f"/{wanted}"))]


def functions_alike(wanted: str, names: Sequence[str]) -> list[str]:
    """Return those whose last part is like that of the wanted one; none if one is that function itself."""
    if functions_called(wanted, names):
        return []
    return named_alike(last_part(wanted), {name: last_part(name) for name in names})


def functions_of_executables(files: Sequence[str]) -> list[str]:
    """Return the names of the functions of the executables among these files."""
    names: list[str] = []
    for each in files:
        with suppress(OSError), open(each, "rb") as file:
            names += function_names(file)
    return names


def without_places(names: Sequence[str]) -> list[tuple[str, FunctionCode]]:
    """Return functions of which only the names are known, each without a file."""
    return [("", FunctionCode(last_part(name), name, 0, 0, 0)) for name in names]


def last_part(name: str) -> str:
    """Return the function's own name: `Total` of `example.org/shop/shelf.(*Shelf).Total`."""
    return _SEPARATOR.split(name)[-1]


def plain_name(symbol: str) -> str | None:
    """Return the name of a function as people write it, without parameters; None if it has none."""
    if not symbol.startswith("_Z"):
        return None if symbol.startswith("_") or _PARTS_OF_COMPILERS.fullmatch(symbol) else symbol
    nested = symbol.startswith("_ZN")
    parts: list[str] = []
    at = 3 if nested else 2
    at = re.compile(r"[rVKRO]*").match(symbol, at).end() if nested else at  # type: ignore[union-attr]
    while at < len(symbol):
        if symbol[at] == "L":  # of one file
            at += 1
        elif symbol[at] == "B":  # a tag, such as `[abi:cxx11]`
            _, at = _identifier(symbol, at + 1)
        elif symbol[at] == "I" and parts:
            at = _behind_group(symbol, at)
        elif symbol[at].isdigit():
            part, at = _identifier(symbol, at)
            parts.append(part)
        elif symbol[at] == "E" or not nested:
            break
        else:
            return None
        if not nested and parts and at < len(symbol) and symbol[at] != "B":
            break
    named = [part for part in parts if part != _ANONYMOUS]
    return None if not named or any(part.startswith("_") for part in named) else "::".join(named)


def _identifier(symbol: str, at: int) -> tuple[str, int]:
    digits = re.compile(r"\d+").match(symbol, at)
    if digits is None:
        return "", len(symbol)
    end = digits.end() + int(digits[0][:6])
    return symbol[digits.end() : end], end


def _behind_group(symbol: str, at: int) -> int:
    """Return where the group ends that begins there; the end of the symbol, where that is not known."""
    depth = 0
    while at < len(symbol):
        piece = _PIECE.match(symbol, at) or _QUALIFIERS.match(symbol, at)
        opening = next((each for each in _OPENING if symbol.startswith(each, at)), None)
        if piece is not None:
            at = piece.end()
        elif symbol[at].isdigit():
            _, at = _identifier(symbol, at)
        elif opening is not None:
            depth, at = depth + 1, at + len(opening)
        elif symbol[at] == "E":
            depth, at = depth - 1, at + 1
            if not depth:
                return at
        else:
            return len(symbol)
    return len(symbol)


def _symbols(reader: Reader) -> Iterator[str]:
    sections = sections_of(reader)
    table, texts = sections.get(".symtab"), sections.get(".strtab")
    if table is None or texts is None:
        raise Unreadable
    size = 24 if reader.is_64 else 16
    rows, names = reader.at(table.offset, table.size), reader.at(texts.offset, texts.size)
    for at in range(0, len(rows) - size + 1, size):
        if reader.is_64:
            name, info, _, place = reader.unpack("IBBH", rows, at)
        else:
            name, _, _, info, _, place = reader.unpack("IIIBBH", rows, at)
        if info & 15 == FUNCTION and place:  # not one of another file
            yield names[name : names.index(b"\0", name)].decode("latin-1")
