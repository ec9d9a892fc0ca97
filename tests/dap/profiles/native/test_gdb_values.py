"""Values as gdb alone shows them: the items of a vector of Rust, and where a variable is from."""

import pytest

from trio_debugmcp.dap.profiles.adapter_values import IndexedItem, NameOrigin
from trio_debugmcp.dap.profiles.native.gdb_values import GdbMeanings

VECTOR = "alloc::vec::Vec<shop::Item, alloc::alloc::Global>"


def test_an_item_of_a_vector_is_spelled_as_memory_with_its_index_and_the_length() -> None:
    items = "(*((shop.items.buf.inner.ptr.pointer.pointer as *mut shop::Item) + {}))"
    for vector in (VECTOR, f"*mut {VECTOR}"):
        found = GdbMeanings().item("1 + shop.items[i.n].price", "shop.items", vector)
        assert found == IndexedItem(f"1 + {items.format('i.n')}.price", "i.n", "shop.items.len")
    others: list[tuple[str, str | None]] = [
        ("shop.items[i + 1]", VECTOR),
        ("my.shop.items[1]", VECTOR),
        ("shop.items[1]", "[i64; 3]"),
        ("shop.items[1]", f"&{VECTOR}"),
        ("shop.items[1]", None),
    ]
    for expression, kind in others:
        assert GdbMeanings().item(expression, "shop.items", kind) is None


@pytest.mark.parametrize(
    ("expression", "file", "name"),
    [
        ("calls + 1", "/a.cpp", "calls"),
        ("*calls->next", "/a.c", "calls"),
        ("(&calls)", "/a.hh", "calls"),
        ("total()", "/a.cpp", None),
        ("shop::calls", "/a.cpp", None),
        ("1 + calls", "/a.cpp", None),
        ("calls", "/a.rs", None),
    ],
)
def test_where_the_variable_is_from_that_an_expression_of_c_begins_with_is_asked_for(
    expression: str, file: str, name: str | None
) -> None:
    command = GdbMeanings().origin_command(expression, file)
    assert (command is not None) is (name is not None)
    assert command is None or f"lookup_symbol('{name}')" in command


def test_the_answer_has_the_place_of_the_variable_unless_a_header_has_it() -> None:
    meanings = GdbMeanings()
    assert meanings.origin("calls\t/src/store.cpp\t3\t2\n") == NameOrigin("calls", "/src/store.cpp", 3, 1)
    assert meanings.origin("limit\t/src/store.cpp\t4\t0\n") == NameOrigin("limit", "/src/store.cpp", 4, 0)
    assert meanings.origin("limit\t/src/store.h\t4\t1\n") is None
    assert meanings.origin("") is None
    assert meanings.origin("Traceback\t…") is None
