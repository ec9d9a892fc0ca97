"""Functions by the names in an executable's table of symbols: mangled ones, damaged tables, names that are alike."""

import io
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dap.profiles.native.test_elf import elf
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.native.executable_functions import function_names, functions_alike, plain_name
from trio_debugmcp.dap.profiles.starts import Launch
from trio_debugmcp.session.breakpoints.source_places import SourcePlaces
from trio_debugmcp.session.host import Host
from trio_debugmcp.session.looking.sources import Sources


def executable(*symbols: str, bits: int = 64, order: str = "<", more: Sequence[tuple[str, int, int]] = ()) -> bytes:
    """An executable that defines these functions, and `more` symbols, each of a kind and in a section."""
    names, rows = b"\0", bytes(24 if bits == 64 else 16)
    for name, kind, place in [*((each, 2, 1) for each in symbols), *more]:
        fields = (len(names), 16 + kind, 0, place, 0, 0) if bits == 64 else (len(names), 0, 0, 16 + kind, 0, place)
        rows += struct.pack(f"{order}IBBHQQ" if bits == 64 else f"{order}IIIBBH", *fields)
        names += name.encode() + b"\0"
    return elf({".symtab": rows, ".strtab": names}, bits=bits, order=order)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("example.org/depot/shelf.(*Shelf).Total", "example.org/depot/shelf.(*Shelf).Total"),
        ("_ZL5takesv", "takes"),
        ("_ZNK5depot5Shelf5totalEv", "depot::Shelf::total"),
        ("_ZN5depot12_GLOBAL__N_16numberESt17basic_string_viewIcSt11char_traitsIcEE", "depot::number"),
        ("_ZN5depot4nameB5cxx11Ev", "depot::name"),
        ("_Z3maxIiET_S0_S0_", "max"),
        ("_ZN5depot5StackINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE4pushES6_", "depot::Stack::push"),
        ("_ZN3fooINS_3barILi3EEEE3bazEv", "foo::baz"),
        ("_ZN5depot5StackIPKcLb1EJiRSsEE4pushEi", "depot::Stack::push"),
        ("_ZN1aIFvvEE1bEv", "a::b"),
        ("_ZN5StackIA5_iE3topEv", "Stack::top"),
        ("_ZN5depot5ShelfC1Ev", None),
        ("_ZN5depoteqERKS_", None),
        ("_ZNSt6vectorIiE3fooEv", None),
        ("_ZN9__gnu_cxx3fooEv", None),
        ("_start", None),
        ("total.cold", None),
        ("total.part.0", None),
    ],
)
def test_a_symbol_is_the_name_that_people_write(symbol: str, name: str | None) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(("bits", "order"), [(64, "<"), (32, "<"), (64, ">")])
def test_only_functions_that_the_file_defines_are_named_and_each_once(bits: int, order: str) -> None:
    more = [("total", 1, 1), ("printf", 2, 0)]
    data = executable("main", "_Z3maxIiET_S0_S0_", "_Z3maxIdET_S0_S0_", bits=bits, order=order, more=more)
    assert function_names(io.BytesIO(data)) == ["main", "max"]


@given(data=st.binary(max_size=200), cut=st.integers(0, 400))
def test_a_damaged_file_has_functions_or_none(data: bytes, cut: int) -> None:
    whole = executable("main")
    assert function_names(io.BytesIO(data)) == []
    assert function_names(io.BytesIO(whole[:cut])) in ([], ["main"])
    assert isinstance(function_names(io.BytesIO(whole[:cut] + data + whole[cut:])), list)
    assert isinstance(plain_name(f"_ZN{data.decode('latin-1')}"), str | None)


def test_names_are_alike_by_their_last_part_and_none_is_where_the_function_is_there() -> None:
    names = ["main", "depot::Shelf::take", "shop/shelf.(*Shelf).Total"]
    assert functions_alike("mian", names) == ["main"]
    assert functions_alike("shelf::tak", names) == ["depot::Shelf::take"]
    assert functions_alike("shelf.Toal", names) == ["shop/shelf.(*Shelf).Total"]
    assert functions_alike("Shelf::take", names) == []
    assert functions_alike("Total", names) == []


@pytest.mark.parametrize(
    ("adapter", "symbols", "wanted", "meant"),
    [
        ("gdb", ["main", "_ZN5depot5Shelf4takeEv"], "mian", "do you mean `main`?"),
        ("lldb-dap", ["main", "_ZN5depot5Shelf4takeEv"], "tak", "do you mean `depot::Shelf::take`?"),
        ("codelldb", ["main"], "main", ""),
        (
            "delve",
            ["type..eq.main.Take", "main.Take.func1", "runtime.Take", "main.Take"],
            "Tak",
            "do you mean `main.Take`?",
        ),
    ],
)
async def test_a_name_that_a_debugger_does_not_know_has_those_of_the_executable_that_are_like_it(
    tmp_path: Path, adapter: str, symbols: list[str], wanted: str, meant: str
) -> None:
    program = tmp_path / "depot"
    program.write_bytes(executable(*symbols))
    profile = profile_named(adapter)
    assert profile is not None
    places = SourcePlaces(profile, Host(), Sources(()), Launch(program=str(program), cwd=str(tmp_path)))
    assert await places.functions_alike(wanted) == meant
