"""Which variables of C and C++ the source declares behind a line, and of which it is not said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trio_debugmcp.dap.profiles.native.later_declarations import declared_later

SHOP = """\
int total = 0;  // of another function: last
namespace shop {
struct Shelf { int size() const { int deep = 1; return deep; } };
Shelf::Shelf(int n, int width) : a{n}, b{2} {
    use(width * n, 3);
    int made = n;
}
static int run(const std::vector<Item>& items, int count) {
    int first = 1;  /* later */ char quote = '{', other = '\\'';
    log("later = {"); digits(1'000);
    std::map<std::string, int> later = make(count);
    for (int i = 0; i < count; ++i) { first += i; }
    for (const Item& item : items) {
        std::size_t inner = item.size();
        auto [key, value] = pair(inner);
        if (auto found = later.find(key); found != later.end()) first = 2;
    }
    static int calls = 0;
    int x, *y = &first;
    int z; z = 2;
    return first * count - last->total + x * total;
}
}
"""
NAMES = ("items", "count", "first", "quote", "later", "i", "item", "inner", "value", "found", "calls", "x", "y", "z")
IN_LOOP = {"item": 13, "inner": 14, "value": 15, "found": 16}
AT_END = {"x": 19, "y": 19, "z": 20}


@pytest.mark.parametrize(
    ("line", "later"),
    [
        (9, {"later": 11, "i": 12, **IN_LOOP, **AT_END}),  # `first` and `quote` are not alone in their line
        (11, {"later": 11, "i": 12, **IN_LOOP, **AT_END}),
        (12, {**IN_LOOP, **AT_END}),
        (15, {"value": 15, "found": 16, **AT_END}),
        (19, AT_END),
        (20, {}),
        (22, {}),
    ],
)
def test_a_name_that_stands_first_in_a_declaration_behind_the_line_is_not_made_yet(
    line: int, later: dict[str, int]
) -> None:
    assert declared_later(SHOP, line, NAMES) == later


def test_arguments_members_and_what_an_expression_multiplies_are_not_declared() -> None:
    assert declared_later(SHOP, 5, ["n", "width", "made"]) == {"made": 6}
    assert declared_later(SHOP, 3, ["deep"]) == {}
    assert declared_later(SHOP, 21, ["total"]) == {}
    assert declared_later("void f() {\n  g();\n  h(k * n, 1);\n}\n", 2, ["k", "n"]) == {}


def test_a_line_that_is_not_there_and_a_text_without_a_function_say_nothing() -> None:
    for line in (0, 99):
        assert declared_later(SHOP, line, ["first"]) == {}
    assert declared_later("int a;\nint b;\n", 1, ["b"]) == {}


@given(text=st.text(alphabet="{}();:=\n \"'/*abR\\", max_size=80), line=st.integers(1, 9))
def test_no_text_is_too_odd(text: str, line: int) -> None:
    assert all(number >= line for number in declared_later(text, line, ["a", "b"]).values())
