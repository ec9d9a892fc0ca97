"""How many instructions of a function's prologue are left: of gcc's functions, of optimized ones, of damaged files."""

import io
import struct
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dap.profiles.native.test_elf import elf
from trio_debugmcp.dap.profiles.native.prologues import prologue_left

LOADED = 0x5591FFD2C000
"""What is added to all addresses of the file."""

TEXT = 0x12C9

PUSH_MOVE = "55 48 89 e5"

LOOK = bytes.fromhex(f"{PUSH_MOVE} 48 89 7d f8 48 8b 45 f8 8b 40 20 5d c3")
"""gcc's `int look(const Item &item) { return item.price; }`."""


def program(functions: Mapping[str, bytes]) -> bytes:
    """An executable with these functions, one behind the other."""
    names, rows, code = b"\0", bytes(24), b""
    for name, body in functions.items():
        rows += struct.pack("<IBBHQQ", len(names), 18, 0, 1, TEXT + len(code), len(body))
        names += name.encode() + b"\0"
        code += body
    return elf({".text": code, ".symtab": rows, ".strtab": names}, address=TEXT)


def left(code: bytes, into: int = 0, *, symbol: str = "_Z4lookRK4Item", function: str = "look") -> int:
    """How many are left so many bytes into a function of this code, which is behind another one."""
    file = io.BytesIO(program({"main": b"\x90" * 40, symbol: code}))
    return prologue_left(file, function, LOADED + TEXT + 40 + into)


@pytest.mark.parametrize(("into", "instructions"), [(0, 3), (1, 2), (4, 1), (8, 0), (11, 0), (15, 0)])
def test_instructions_are_left_until_the_argument_is_stored(into: int, instructions: int) -> None:
    assert left(LOOK, into) == instructions


@pytest.mark.parametrize(
    ("code", "instructions"),
    [
        pytest.param(f"f3 0f 1e fa {PUSH_MOVE} 89 7d fc 8b 45 fc", 4, id="endbr64"),
        pytest.param(f"{PUSH_MOVE} 53 48 83 ec 38 48 89 7d d8 48 89 75 d0 89 55 cc 48 8b 5d d8", 7, id="this and two"),
        pytest.param(f"{PUSH_MOVE} 89 f8 f2 0f 11 45 f0 88 45 fc f2 0f 2c 45 f0", 5, id="char and double"),
        pytest.param(f"{PUSH_MOVE} 48 81 ec 00 10 00 00 48 89 bd f8 ef ff ff 48 8b", 4, id="large frame"),
        pytest.param(f"{PUSH_MOVE} c7 45 fc 03 00 00 00 8b 45 fc 5d c3", 0, id="no argument"),
        pytest.param("89 f8 c3", 0, id="optimized"),
        pytest.param(f"{PUSH_MOVE} 8b 47 20 5d c3", 0, id="optimized, with a frame"),
    ],
)
def test_only_functions_that_store_their_arguments_have_such_a_prologue(code: str, instructions: int) -> None:
    assert left(bytes.fromhex(code)) == instructions


@pytest.mark.parametrize(
    ("symbol", "function", "instructions"),
    [
        ("look", "look", 3),
        ("_ZNK5depot5Shelf4lookEv", "depot::Shelf::look", 3),
        ("_ZN5depot12_GLOBAL__N_14lookEi", "depot::(anonymous namespace)::look", 3),
        ("_ZN5depot4lookIiEET_S1_", "depot::look<int>", 3),
        ("_ZN4ItemC1EPKci", "Item::Item", 3),
        ("_ZN4ItemD2Ev", "Item::~Item", 3),
        ("_ZN4Item4lookEv", "Item::Item", 0),
        ("_Z5takesRK4look", "look", 0),
        ("outlook", "look", 0),
    ],
)
def test_the_function_is_found_by_its_name(symbol: str, function: str, instructions: int) -> None:
    assert left(LOOK, symbol=symbol, function=function) == instructions


@given(cut=st.integers(0, 700), place=st.integers(0, 700), byte=st.integers(0, 255))
def test_of_a_damaged_file_nothing_is_known_or_something(cut: int, place: int, byte: int) -> None:
    data = bytearray(program({"look": LOOK})[:cut])
    data[place : place + 1] = bytes([byte])
    assert 0 <= prologue_left(io.BytesIO(data), "look", LOADED + TEXT) <= 256
