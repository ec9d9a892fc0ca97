"""Types of C++, Rust and Zig are named as people write them."""

import pytest

from trio_debugmcp.dap.profiles.native.short_types import short_type

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("int", "int"),
        (STRING, "std::string"),
        (f"const std::vector<{STRING}, std::allocator<{STRING} > > &", "const std::vector<std::string> &"),
        (
            f"std::map<{STRING}, int, std::less<{STRING} >, std::allocator<std::pair<{STRING} const, int> > >",
            "std::map<std::string, int>",
        ),
        ("std::set<int, Later, std::allocator<int> >", "std::set<int, Later>"),
        ("std::allocator<int>", "std::allocator<int>"),
        ("Pool<std::allocator<int> >", "Pool<std::allocator<int>>"),
        ("alloc::vec::Vec<shop::Item, alloc::alloc::Global>", "alloc::vec::Vec<shop::Item>"),
        (
            "std::collections::hash::map::HashMap<i32, u8, std::hash::random::RandomState>",
            "std::collections::hash::map::HashMap<i32, u8>",
        ),
        ("bool operator<(int)", "bool operator<(int)"),
        ("struct []const shop.Item", "[]const shop.Item"),
        ("struct error{NoPlum}!i32", "error{NoPlum}!i32"),
        ("struct ?shop.Item", "?shop.Item"),
        ("struct shop.Item", "shop.Item"),
        ("struct Item", "struct Item"),
    ],
)
def test_a_type_is_named_without_what_it_has_by_default(name: str, short: str) -> None:
    assert short_type(name) == short
