"""What gdb runs for programs of Zig: bytes as texts, and errors that nothing handles."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trio_debugmcp.dap.profiles.native.zig_errors import described, leaves
from trio_debugmcp.dap.profiles.native.zig_values import ByteArray, Bytes, shown_bytes


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", '""'),
        ("fig “ä”\n".encode(), '"fig “ä”\\n"'),
        (b'a "b" \\', '"a \\"b\\" \\\\"'),
        (b"\x01\x02\xc8", "{1, 2, 200}"),
        (b"x4\xaa\xaa\xaa", '"x4" and 3 times 170'),
        (b"x\0y", "{120, 0, 121}"),
        (b"\0\0", "{0, 0}"),
        (b"x" * 300, f'"{"x" * 200}"…'),
    ],
)
def test_bytes_are_shown_as_the_text_that_they_are_and_else_as_numbers(data: bytes, shown: str) -> None:
    assert shown_bytes(data, len(data)) == shown


def test_of_many_bytes_the_answer_says_how_many_were_left_out() -> None:
    assert shown_bytes(b"\x01" * 40, 50).endswith("1, 1, … 18 more}")
    assert shown_bytes(b"ab", 9) == '"ab"…'


class Pointer:
    """What gdb has of a pointer to bytes: they are read one at a time."""

    def __init__(self, data: bytes, reads: list[int]) -> None:
        self.data, self.reads = data, reads
        self.sizeof = len(data)

    @property
    def type(self) -> "Pointer":
        return self

    def same(self, *_: object) -> "Pointer":
        """Return the pointer, its type, the array that it points to: here they are one."""
        return self

    target = array = pointer = cast = dereference = same

    def __getitem__(self, number: int) -> int:
        self.reads.append(number)
        if number >= len(self.data):
            raise RuntimeError("Cannot access memory at address 0x7ffffffff000")
        return self.data[number]


def test_bytes_that_cannot_be_read_are_counted_and_refuse_nothing_beside_them() -> None:
    assert Bytes({"ptr": Pointer(b"fig", []), "len": 3}).to_string() == '"fig"'
    assert Bytes({"ptr": Pointer(b"fig", []), "len": 1 << 40}).to_string() == f"slice of length {1 << 40}"


def test_of_very_many_bytes_only_the_first_are_read() -> None:
    reads: list[int] = []
    assert Bytes({"ptr": Pointer(b"\1" * 9999, reads), "len": 9999}).to_string().endswith(", … 9967 more}")
    assert ByteArray(Pointer(b"x" * 9999, reads)).to_string() == f'"{"x" * 200}"…'
    assert len(reads) <= 2000


def frames(*names: str) -> Any:
    """The innermost of frames with these names."""
    frame = None
    for name in reversed(names):
        frame = SimpleNamespace(name=lambda name=name: name, older=lambda older=frame: older)
    return frame


def test_an_error_leaves_the_program_where_main_or_a_test_returns_it() -> None:
    assert leaves(frames("lang.returnError", "shop.main", "start.callMain"))
    assert leaves(frames("lang.returnError", "shop.test.adds up", "test_runner.mainTerminal"))
    assert not leaves(frames("lang.returnError", "shop.find", "shop.main", "start.callMain"))
    assert not leaves(frames("lang.returnError", "shop.main"))


def test_an_error_is_named_by_the_nearest_line_that_returns_one(tmp_path: Path) -> None:
    file = tmp_path / "shop.zig"
    file.write_text("return error.First;\ntry first();\nsecond() catch |problem| return problem;\nreturn error.Last;\n")
    first, passed, caught, last = ((str(file), line, f"shop.f{line}") for line in (1, 2, 3, 4))
    assert described(passed, [first]) == "error.First: first returned at shop.zig:1 in shop.f1"
    assert described(caught, [first, passed]) == "error.First: first returned at shop.zig:1 in shop.f1"
    assert described(last, [first]) == "error.Last"
    assert described(passed, [first, last]) == "error.Last: first returned at shop.zig:4 in shop.f4"
    assert described(passed, []) == "error"
    assert described(passed, [caught]) == "error: first returned at shop.zig:3 in shop.f3"
