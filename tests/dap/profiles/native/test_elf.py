"""What is read of an ELF file: small ones that are made here, damaged ones, and that never much is read."""

import io
import struct
import zlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.dap.profiles.native import elf_sections
from trio_debugmcp.dap.profiles.native.elf import Executable, read_elf
from trio_debugmcp.dap.profiles.native.elf_sections import MAX_BYTES

COMPRESSED = 0x800


class CountedFile(io.BytesIO):
    """A file that counts what is read of it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0
        self.taken += size
        return super().read(size)


def elf(
    sections: Mapping[str, bytes | tuple[int, bytes]],
    *,
    bits: int = 64,
    order: str = "<",
    kind: int = 1,
    address: int = 0,
) -> bytes:
    """An ELF file with these sections, of one kind and at one address: the content, or flags and content."""
    texts = b"\0" + b"".join(f"{name}\0".encode() for name in [*sections, ".shstrtab"])
    rows, content = [(0, 0, 0, 0, 0)], b""
    head = 64 if bits == 64 else 52
    for name, given_ in [*sections.items(), (".shstrtab", texts)]:
        flags, data = given_ if isinstance(given_, tuple) else (0, given_)
        rows.append((texts.index(f"{name}\0".encode()), kind, flags, head + len(content), len(data)))
        content += data
    word = "Q" if bits == 64 else "I"
    table = b"".join(
        struct.pack(
            f"{order}II{word}{word}{word}{word}II{word}{word}", name, each, flags, address, at, size, 0, 0, 1, 0
        )
        for name, each, flags, at, size in rows
    )
    entry = 64 if bits == 64 else 40
    ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 2 if order == ">" else 1, 1]) + bytes(9)
    rest = struct.pack(
        f"{order}HHI{word}{word}{word}IHHHHHH",
        *(2, 62, 1, 0, 0, head + len(content), 0, head, 0, 0, entry, len(rows), len(rows) - 1),
    )
    return ident + rest + content + table


_UNIT_FORM = (0x25, 0x0E, 0x13, 0x05, 0x03, 0x1F, 0x1B, 0x08, 0x10, 0x17, 0, 0)
"""Producer (strp), language (data2), name (line_strp), directory (string)."""

ABBREVIATIONS = bytes(
    [2, 0x2E, 0, 0x03, 0x08, 0, 0, 1, 0x11, 1, *_UNIT_FORM, 3, 0x3C, 1, *_UNIT_FORM, 4, 0x4A, 0, *_UNIT_FORM, 0]
)
"""The forms of a function, a unit (1), a part that units share (3), and a unit that is beside the program (4)."""


def unit(
    language: int,
    name_at: int,
    directory: str,
    *,
    version: int = 5,
    order: str = "<",
    wide: bool = False,
    code: int = 1,
    kind: int = 1,
) -> bytes:
    offset = "Q" if wide else "I"
    entry = (
        bytes([code])
        + struct.pack(f"{order}{offset}H{offset}", 0, language, name_at)
        + directory.encode()
        + b"\0"
        + struct.pack(f"{order}{offset}", 0)
    )
    fields = struct.pack(f"{order}{offset}B", 0, 8)
    if version >= 5:
        fields = struct.pack(f"{order}BB{offset}", kind, 8, 0) + bytes(8 if kind == 4 else 0)
    body = struct.pack(f"{order}H", version) + fields + entry
    return (b"\xff\xff\xff\xff" if wide else b"") + struct.pack(f"{order}{offset}", len(body)) + body


NAMES = b"app.rs\0library/std/src/lib.rs\0"
OWN, OF_RUST = 0, 7


def program(*units: bytes, **more: bytes) -> dict[str, bytes]:
    return {".debug_info": b"".join(units), ".debug_abbrev": ABBREVIATIONS, ".debug_line_str": NAMES, **more}


def read(data: bytes) -> Executable | None:
    file = CountedFile(data)
    found = read_elf(file)
    assert file.taken <= MAX_BYTES
    return found


@pytest.mark.parametrize(("bits", "order"), [(64, "<"), (32, "<"), (64, ">"), (32, ">")])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("version", [4, 5])
def test_the_language_is_that_of_the_first_unit_in_either_width_and_byte_order(
    bits: int, order: str, wide: bool, version: int
) -> None:
    first = unit(0x8001, OWN, "/build", order=order, wide=wide, version=version)  # of an assembler's file
    second = unit(0x21, OWN, "/work", order=order, wide=wide, version=version)
    third = unit(0x1C, OWN, "/work", order=order, wide=wide, version=version)
    assert read(elf(program(first, second, third), bits=bits, order=order)) == Executable("c", debug=True)
    assert read(elf(program(third, second), bits=bits, order=order)) == Executable("rust", debug=True)


def test_debug_information_of_rusts_own_libraries_alone_is_none_of_the_program() -> None:
    library, of_system = unit(0x1C, OF_RUST, "/x"), unit(0x1C, OWN, "/rustc/0123456789ab")
    assert read(elf(program(library, of_system))) == Executable("rust", debug=False)
    assert read(elf(program(library, unit(0x1C, OWN, "/work")))) == Executable("rust", debug=True)
    unknown = b"\xf0\0\0\0\x63\0"  # of a later version: more may follow
    assert read(elf(program(library, unknown))) == Executable("rust", debug=True)


@pytest.mark.parametrize(
    ("sections", "language", "debug"),
    [
        ({}, None, False),
        ({".go.buildinfo": b"\xff Go buildinf:"}, "go", False),
        ({".note.go.buildid": b"", ".debug_info": b"?"}, "go", True),
        ({".comment": b"GCC: (Debian 12) 12.2\0"}, "c", False),
        ({".comment": b"Debian clang version 14\0"}, "c", False),
        ({".comment": b"GCC: 12\0rustc version 1.95.0\0"}, "rust", False),
        ({".comment": b"something else"}, None, False),
        ({".debug_info": b""}, None, True),
    ],
)
def test_without_units_that_can_be_read_sections_and_the_compilers_comment_say_the_language(
    sections: dict[str, bytes], language: str | None, debug: bool
) -> None:
    assert read(elf(sections)) == Executable(language, debug)


def test_units_that_others_share_are_passed_over_and_those_that_are_elsewhere_count() -> None:
    shared, elsewhere = unit(0x16, OWN, "/x", code=3), unit(0x1C, OWN, "/x", code=4, kind=4)
    types = unit(0x16, OWN, "/x", kind=2)
    assert read(elf(program(shared, types, elsewhere))) == Executable("rust", debug=True)
    assert read(elf(program(unit(0x1C, OF_RUST, "/x", kind=4, code=4)))) == Executable("rust", debug=False)


def test_compressed_sections_are_read_in_both_ways() -> None:
    plain = program(unit(0x1C, OWN, "/work"))
    flagged = {
        name: (COMPRESSED, struct.pack("<IIQQ", 1, 0, len(each), 1) + zlib.compress(each))
        for name, each in plain.items()
    }
    assert read(elf(flagged)) == Executable("rust", debug=True)
    old = {f".z{name[1:]}": b"ZLIB" + len(each).to_bytes(8) + zlib.compress(each) for name, each in plain.items()}
    assert read(elf(old)) == Executable("rust", debug=True)
    narrow = {
        name: (COMPRESSED, struct.pack("<III", 1, len(each), 1) + zlib.compress(each)) for name, each in plain.items()
    }
    assert read(elf(narrow, bits=32)) == Executable("rust", debug=True)
    unknown = {".debug_info": (COMPRESSED, struct.pack("<IIQQ", 2, 0, 9, 1) + b"zstd")}
    assert read(elf(unknown)) == Executable(None, debug=True)
    damaged = {".debug_info": (COMPRESSED, struct.pack("<IIQQ", 1, 0, 9, 1) + b"not zlib")}
    assert read(elf(damaged)) == Executable(None, debug=True)


def test_where_debug_information_is_kept_elsewhere_its_names_are_read() -> None:
    note = struct.pack("<III", 4, 20, 3) + b"GNU\0" + bytes(range(20))
    found = read(elf({".note.gnu.build-id": note, ".gnu_debuglink": b"app.debug\0\0\0\x12\x34"}))
    assert found == Executable(None, debug=False, build_id=bytes(range(20)).hex(), debug_link="app.debug")
    strange = struct.pack("<III", 4, 4000, 3) + b"GNU\0" + bytes(20)
    found = read(elf({".note.gnu.build-id": strange, ".gnu_debuglink": b"../../etc/passwd\0"}))
    assert found == Executable(None, debug=False)


def test_of_another_kind_of_file_nothing_is_known_and_of_one_that_is_cut_off_only_that_it_is_one() -> None:
    assert read(b"") is read(b"#!/bin/sh\n") is read(b"\x7fEL") is None
    whole = elf(program(unit(0x1C, OWN, "/work")))
    assert read(whole[:4]) == read(whole[:40]) == read(whole[:-100]) == Executable()


def test_a_large_section_costs_no_more_than_a_small_one() -> None:
    units = [struct.pack("<I", 4 << 20) + unit(0x1C, OWN, "/work")[4:], bytes(4 << 20)]
    big = elf(program(*units, **{".text": b"\0" * 4_000_000}))
    file = CountedFile(big)
    assert read_elf(file) == Executable("rust", debug=True)
    assert file.taken < 80_000


def test_what_is_compressed_is_not_unpacked_beyond_the_bound() -> None:
    far = bytes(MAX_BYTES) + b"library/std/src/lib.rs\0"
    compressed = COMPRESSED, struct.pack("<IIQQ", 1, 0, len(far), 1) + zlib.compress(far)
    found = read(elf({**program(unit(0x1C, MAX_BYTES, "/x")), ".debug_line_str": compressed}))
    assert found == Executable("rust", debug=True), "its name is not known"


def test_of_all_that_is_read_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    library = unit(0x1C, OF_RUST, "/x")
    data = elf(program(*[library] * 20))
    assert read(data) == Executable("rust", debug=False)
    monkeypatch.setattr(elf_sections, "MAX_BYTES", 2000)
    file = CountedFile(data)
    assert read_elf(file) == Executable("rust", debug=True), "there may be others"
    assert file.taken <= 2000
    monkeypatch.undo()
    assert read(elf(program(*[library] * 300))) == Executable("rust", debug=True)


def test_sections_without_content_do_not_count_and_of_too_many_nothing_is_known() -> None:
    assert read(elf({".debug_info": b"", ".go.buildinfo": b""}, kind=8)) == Executable(None, debug=False)
    assert read(elf({".go.buildinfo": b"", **{f".text.{each}": b"" for each in range(600)}})) == Executable()


@given(st.data())
def test_no_damage_makes_it_fail_or_read_much(data: st.DataObject) -> None:
    whole = bytearray(elf(program(unit(0x1C, OF_RUST, "/x"), unit(0x21, OWN, "/work", version=4))))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(4, len(whole) - 1))
        patch = data.draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 8, b"\0" * 8, b"\x80" * 8]))
        whole[at : at + len(patch)] = patch[: len(whole) - at]
    assert read(bytes(whole)) is not None


@given(st.binary(max_size=300))
def test_no_bytes_at_all_make_it_fail(data: bytes) -> None:
    read(b"\x7fELF" + data)
