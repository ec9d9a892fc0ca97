"""What gdb and lldb print of types and functions by a pattern, and what they are asked."""

import re

import pytest

from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.native.symbol_listing import (
    NamePattern,
    NativeSymbol,
    SymbolCommands,
    count_in,
    function_parts,
    last_part,
    symbols_in,
)

FILE = "/tmp/shop/orders.cpp"

GDB_FUNCTIONS = f"""\
./math/../sysdeps/ieee754/s_totalorder.c\t28\t__totalorder\tint (const double *, const double *)
{FILE}\t19\tOrder::~Order()\tvoid (Order * const)
{FILE}\t37\ttotal_of(Order const&)\tint (const Order &)
"""

GDB_TYPES = f"""\
{FILE}\t19\tOrder\t
{FILE}\t0\tbool\t
{FILE}\t0\tunsigned long\t
{FILE}\t0\tu8\t
{FILE}\t0\t__int128\t
{FILE}\t0\tshop::Bare\t
/tmp/shop/<built-in>\t0\ttypedef __va_list_tag __va_list_tag\t
"""

LLDB_COUNT = """\
`image lookup -i -r -F add
2 matches found in /tmp/shop/orders:
        Address: orders[0x0000000000002459] (orders.PT_LOAD[1]..text + 233)
        Summary: orders`add(int, Item const&) at orders.cpp:32:38
        Address: orders[0x0000000000003f00] (orders.PT_LOAD[1]..text + 7056)
        Summary: orders`Item* std::__addressof<Item>(Item&) at move.h:49:5
1 match found in /lib/x86_64-linux-gnu/libc.so.6:
"""

LLDB_FUNCTIONS = """\
`image lookup -v -i -r -F add
2 matches found in /tmp/shop/orders:
        Address: orders[0x0000000000002459] (orders.PT_LOAD[1]..text + 233)
        Summary: orders`add(int, Item const&) at orders.cpp:32:38
         Module: file = "/tmp/shop/orders", arch = "x86_64"
    CompileUnit: id = {0x00000000}, file = "/tmp/shop/orders.cpp", language = "c++14"
       Function: id = {0x0000bd1d}, name = "add(int, Item const&)", mangled = "_Z3addiRK4Item", range = [0x0-0x8)
       FuncType: id = {0x0000bd1d}, byte-size = 0, decl = orders.cpp:32:5, compiler_type = "int (int, const Item &)"
         Blocks: id = {0x0000bd1d}, range = [0x555555556459-0x555555556478)
      LineEntry: [0x0000555555556459-0x0000555555556464): /tmp/shop/orders.cpp:32:38
         Symbol: id = {0x00000105}, range = [0x0-0x8), name="add(int, Item const&)", mangled="_Z3addiRK4Item"
       Variable: id = {0x0000bd44}, name = "total", type = "int", valid ranges = <block>, location = DW_OP_fbreg -36

        Address: orders[0x0000000000003f00] (orders.PT_LOAD[1]..text + 7056)
        Summary: orders`add_all at all.c:49:5
         Module: file = "/tmp/shop/orders", arch = "x86_64"
       Function: id = {0x00009c44}, name = "add_all", range = [0x0000555555557f00-0x0000555555557f0e)
         Blocks: id = {0x00009c44}, range = [0x555555557f00-0x555555557f0e)
      LineEntry: [0x0000555555557f00-0x0000555555557f08): /tmp/shop/all.c:49:5

       Function: id = {0x00000001}, name = "nowhere", range = [0x0000555555557f00-0x0000555555557f0e)

       Function: id = {0x00000002}, name = "__lldb_caller(void *)", range = [0x0-0x8)
      LineEntry: [0x0000555555557f00-0x0000555555557f08): /tmp/lldb/4700/lldb-2fe8e6.expr:2
"""


def commands(name: str) -> SymbolCommands:
    profile = profile_named(name)
    assert profile is not None
    assert profile.symbols is not None
    return profile.symbols


def test_gdb_prints_functions_with_their_types_and_places() -> None:
    assert [*symbols_in(GDB_FUNCTIONS, commands("gdb").symbol, is_type=False)] == [
        NativeSymbol(
            "__totalorder",
            "(const double *, const double *) -> int",
            "./math/../sysdeps/ieee754/s_totalorder.c",
            28,
        ),
        NativeSymbol("Order::~Order", "()", FILE, 19),
        NativeSymbol("total_of", "(Order const&) -> int", FILE, 37),
    ]


def test_types_of_the_language_and_the_compiler_are_left_out() -> None:
    assert [*symbols_in(GDB_TYPES, commands("gdb").symbol, is_type=True)] == [
        NativeSymbol("Order", "", FILE, 19, True),
        NativeSymbol("shop::Bare", "", FILE, 0, True),
    ]


def test_lldb_prints_a_block_of_lines_for_each_function_and_counts_them_by_library() -> None:
    assert [*symbols_in(LLDB_FUNCTIONS, commands("lldb-dap").symbol, is_type=False)] == [
        NativeSymbol("add", "(int, Item const&) -> int", FILE, 32),
        NativeSymbol("add_all", "", "/tmp/shop/all.c", 49),
    ]
    assert count_in(LLDB_COUNT, commands("lldb-dap").counted or "") == 3


@pytest.mark.parametrize(
    ("name", "kind", "parts"),
    [
        ("main", "int (int, char **)", ("main", "(int, char **) -> int")),
        ("talk()", "void (void)", ("talk", "()")),
        ("handler(int)", "int (*(int))(int)", ("handler", "(int)")),
        ("Item* std::__addressof<Item>(Item&)", "", ("std::__addressof<Item>", "(Item&)")),
        ("shop::Till::count() const", "int (void) const", ("shop::Till::count", "() const -> int")),
        ("(anonymous namespace)::help(int)", "", ("(anonymous namespace)::help", "(int)")),
        ("apply(void (*)(int), std::map<int, A> const&)", "", ("apply", "(void (*)(int), std::map<int, A> const&)")),
        ("operator new(unsigned long)", "void *(unsigned long)", ("operator new", "(unsigned long) -> void *")),
        ("bool x::operator<<A, B>(A const&, B)", "", ("x::operator<<A, B>", "(A const&, B)")),
        ("Call::operator()(int)", "int (Call *, int)", ("Call::operator()", "(int) -> int")),
        ("main::{lambda(int)#1}::operator()(int) const", "", ("main::{lambda(int)#1}::operator()", "(int) const")),
        ("outer(int)::Local::run()", "", ("outer(int)::Local::run", "()")),
        ("shop::total", "", ("shop::total", "")),
        ("outer(int)::total", "", ("outer(int)::total", "")),
    ],
)
def test_the_name_of_a_function_is_parted_from_its_parameters(name: str, kind: str, parts: tuple[str, str]) -> None:
    assert function_parts(name, kind) == parts


def test_the_last_part_of_a_name_is_not_inside_brackets() -> None:
    assert last_part("a::Stack<b::C>::push<d::E>") == "push<d::E>"
    assert last_part("total") == "total"
    assert last_part("(anonymous namespace)::help") == "help"
    assert last_part("x::operator<") == "operator<"


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("ORD", ["shop::Order", "reorder"]),
        ("ord*", ["shop::Order"]),
        ("?rder", ["shop::Order"]),
        ("shop::*", ["shop::Order", "shop::add"]),
        ("p::O", ["shop::Order"]),
        ("*", ["shop::Order", "shop::add", "reorder", "a[b]"]),
        ("[b]", ["a[b]"]),
        ("[a]", []),
        ("shop", []),
    ],
)
def test_a_pattern_is_compared_with_the_last_part_of_a_name_or_with_colons_with_all_of_it(
    pattern: str, names: list[str]
) -> None:
    wanted = NamePattern(pattern)
    assert [each for each in ("shop::Order", "shop::add", "reorder", "a[b]") if wanted.fits(each)] == names


def test_the_debugger_is_asked_for_no_less_and_with_nothing_that_a_command_line_understands() -> None:
    assert NamePattern("tot*al_1::x").expression == "[aA][lL]_1::[xX]"
    assert NamePattern("*?*").expression == "."
    for text in ("a'b", 'a"b', "a\nb", "a`b", "a\\b", "a)b", "a b", "a;b", "a{pattern}b", "ä[", "a$(b)", "٣"):
        expression = NamePattern(text).expression
        assert re.fullmatch(r"[\w.:\[\]]*", expression, re.ASCII)
        assert re.search(expression, text, re.DOTALL)
    assert len(NamePattern("x" * 5000).expression) == 400
