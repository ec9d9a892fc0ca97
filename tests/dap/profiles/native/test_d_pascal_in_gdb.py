"""What gdb runs for programs of D and Pascal: texts as their languages write them, and where an AnsiString is."""

import pytest

from trio_debugmcp.dap.profiles.native.d_pascal_values import ansi_place, quoted


@pytest.mark.parametrize(
    ("data", "encoding", "quote", "shown"),
    [
        (b"", "utf-8", '"', '""'),
        (b'a "b"\n', "utf-8", '"', '"a \\"b\\"\\n"'),
        ("f\xefg".encode("utf-16-le"), "utf-16-le", '"', '"f\xefg"'),
        (b"it's", "utf-8", "'", "'it''s'"),
        (b"x" * 300, "utf-8", "'", f"'{'x' * 200}'…"),
    ],
)
def test_a_text_is_shown_as_its_language_writes_it(data: bytes, encoding: str, quote: str, shown: str) -> None:
    assert quoted(data, encoding, quote, has_more=False) == shown


def test_of_a_longer_text_no_half_letter_is_shown() -> None:
    assert quoted("fä".encode()[:2], "utf-8", '"', has_more=True) == '"f"…'


def test_an_ansistring_is_found_at_its_characters_or_behind_the_pointer_to_them() -> None:
    memory = (4).to_bytes(8, "little") + b"plum\0" + bytes(3) + (0x1008).to_bytes(8, "little")

    def read(address: int, size: int) -> bytes:
        if not 0x1000 <= address <= 0x1000 + len(memory) - size:
            raise RuntimeError("Cannot access memory")
        return memory[address - 0x1000 :][:size]

    assert ansi_place(0x1008, 4, read) == 0x1008
    assert ansi_place(0x1010, 4, read) == 0x1008
    assert ansi_place(0x1010, 3, read) is None
