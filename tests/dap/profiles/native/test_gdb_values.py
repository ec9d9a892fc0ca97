"""Values as gdb alone shows them: the items of a vector of Rust, and where a variable is from."""

import pytest

from trio_debugmcp.dap.profiles.adapter_values import IndexedItem, NameOrigin
from trio_debugmcp.dap.profiles.native.gdb_values import GdbMeanings, GdbValues

VECTOR = "alloc::vec::Vec<shop::Item, alloc::alloc::Global>"


def test_an_item_of_a_vector_is_spelled_as_memory_with_its_index_and_the_length() -> None:
    items = "(*((shop.items.buf.inner.ptr.pointer.pointer as *mut shop::Item) + {}))"
    for vector in (VECTOR, f"*mut {VECTOR}"):
        found = GdbMeanings().item("1 + shop.items[i.n].price", "shop.items", vector)
        spelled = items.format("i.n")
        assert found == IndexedItem(f"1 + {spelled}.price", spelled, "[i.n]", "i.n", "shop.items.len")
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
    "kind",
    [
        "std::map<std::__cxx11::basic_string<char, std::char_traits<char> >, int>",
        "const std::unordered_map<int, int> &",
        "std::__debug::map<int, int>",
        "std::collections::hash::map::HashMap<alloc::string::String, i32>",
        "*mut alloc::collections::btree::map::BTreeMap<u8, u8>",
        "alloc::collections::vec_deque::VecDeque<i32, alloc::alloc::Global>",
    ],
)
@pytest.mark.parametrize("key", ['"a]\\"b"', "-1", "'x'", "i.n", "Colour::red", "this->i"])
def test_an_item_of_a_map_is_found_by_its_key(kind: str, key: str) -> None:
    spelled = f"$_item(shop.counts, {key})"
    found = GdbMeanings().item(f"shop.counts[{key}].n + 1", "shop.counts", kind)
    assert found == IndexedItem(f"{spelled}.n + 1", spelled, f"[{key}]")
    assert GdbMeanings().item("my.shop.counts[1] + shop.counts[f(1)]", "shop.counts", kind) is None


def test_in_c_nothing_that_is_indexed_is_looked_at_and_in_cpp_no_pointer_is_refused() -> None:
    values = GdbValues()
    assert [values.indexed("a[1][2]", file) for file in ("/a.c", None)] == [(), ()]
    assert values.indexed('a["x"].b[2]', "/a.cpp") == values.indexed('a["x"].b[2]', "/a.rs") == ["a", 'a["x"].b']
    assert values.index_problem("shop::Item *") is None
    assert values.index_problem("*mut shop::Item") is not None


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
