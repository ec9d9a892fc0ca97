"""What gdb and lldb print of types."""

import pytest

from trio_debugmcp.dap.profiles.native.safe_commands import SafeCommands, SafeRepl
from trio_debugmcp.dap.profiles.native.type_layout import NativeField, NativeType, parsed_type, with_allocator

GDB = """\
/* offset      |    size */  type = const struct shop::Order<int, 3> : public Base, private std::map<int, Item> {
                                   static int count;
/*      0      |       4 */    int number;
/*      4: 0   |       4 */    unsigned int flag : 3;
/*      4: 3   |       4 */    bool set : 1;
/* XXX  4-byte hole      */
/*     32      |      56 */    struct Item {
/*     32      |      32 */        std::string name;
/*     64      |       4 */        union {
/*                     4 */            int inner;

                                       /* total size (bytes):    4 */
                                   };

                                   /* total size (bytes):   56 */
                               } first;
/*     88      |       8 */    Order *next;
/*     96      |       8 */    int (*compare)(int, int);
/*    104      |      16 */    double weights[2];

                               /* total size (bytes):  120 */
                             } &
"""

LLDB = """\
`image lookup -t Order
error: orders 0x00001b98: DW_TAG_member refers to a type which extends beyond the bounds
Best match found in /tmp/orders:
id = {0x00008ef8}, name = "Order", byte-size = 96, decl = orders.cpp:19:8, compiler_type = "struct Order : public Base {
    int number;
    std::vector<Item> items;
    Order *next;
    int total() const;
    Order(int);
}"
"""


def test_gdb_prints_offsets_and_sizes_and_structures_within() -> None:
    found = parsed_type(GDB)
    assert found is not None
    assert (found.name, found.size) == ("shop::Order<int, 3>", 120)
    assert found.bases == ("Base", "std::map<int, Item>")
    assert found.fields == (
        NativeField("count", "static int"),
        NativeField("number", "int", 0, 4),
        NativeField("flag", "unsigned int : 3", 4, 4),
        NativeField("set", "bool : 1", 4, 4),
        NativeField("first", "Item", 32, 56),
        NativeField("next", "Order *", 88, 8),
        NativeField("int (*compare)(int, int)", "", 96, 8),
        NativeField("weights", "double[2]", 104, 16),
    )
    assert found.methods == ()


def test_what_is_in_a_union_has_no_offset() -> None:
    text = "type = union Either {\n/*                     4 */    int a;\n\n     /* total size (bytes):    4 */\n   }\n"
    assert parsed_type(text) == NativeType("Either", 4, fields=(NativeField("a", "int", None, 4),))


def test_lldb_prints_fields_methods_and_where_the_type_is_declared() -> None:
    assert parsed_type(LLDB) == NativeType(
        "Order",
        96,
        ("Base",),
        (NativeField("number", "int"), NativeField("items", "std::vector<Item>"), NativeField("next", "Order *")),
        ("int total() const", "Order(int)"),
        "orders.cpp",
        19,
    )


def test_lldb_prints_the_whole_name_of_what_is_in_a_namespace_and_names_within_are_not_fields() -> None:
    text = (
        'id = {0x4}, name = "vector<int>", qualified = "std::vector<int>", byte-size = 24, decl = stl_vector.h:423:11, '
        'compiler_type = "template<> class vector<int> : protected std::_Vector_base<int> {\npublic:\n'
        '    typedef int value_type;\n    using size = int;\n    int *first;\n    vector();\n}"\n'
    )
    assert parsed_type(text) == NativeType(
        "std::vector<int>",
        24,
        ("std::_Vector_base<int>",),
        (NativeField("first", "int *"),),
        ("vector()",),
        "stl_vector.h",
        423,
    )


def test_a_container_has_its_allocator_in_its_whole_name() -> None:
    assert with_allocator(" std::vector<int> ") == "std::vector<int, std::allocator<int> >"
    assert with_allocator("std::list<A<int, B> >") == "std::list<A<int, B>, std::allocator<A<int, B> > >"
    for text in ("std::vector<int, Mine>", "std::map<int, A>", "vector<int>", "std::vector", "std::vector<>", "Order"):
        assert with_allocator(text) is None


def test_without_a_structure_there_is_a_name_or_nothing() -> None:
    assert parsed_type("type = int\n") == NativeType("int")
    assert parsed_type("/* offset      |    size */  type = std::vector<Item>\n") == NativeType("std::vector<Item>")
    assert parsed_type('No symbol "Nope" in current context.') is None
    assert parsed_type("") is None


@pytest.mark.parametrize("text", ["Order; quit", "a\nb", "`x`", "'x'", '"x"', "f(1)", "a|b", "!ls"])
def test_what_a_command_line_takes_for_more_does_not_pass(text: str) -> None:
    repl = SafeRepl(SafeCommands(command="output {expression}", types="ptype /o {expression}"))
    with pytest.raises(ValueError, match="no name of a type"):
        repl.type_command(text)
    assert repl.type_command(" std::map<int, Item *>[2] ") == "ptype /o std::map<int, Item *>[2]"
    assert SafeRepl(SafeCommands(command="x")).type_command(text) is None


def test_a_path_to_a_variable_has_a_command_and_what_is_more_than_a_path_has_none() -> None:
    repl = SafeRepl(SafeCommands(command="x", path="frame variable -- {expression}"))
    for path in ("order", "*order.next", "&a->b[0]", "$x", "a::b"):
        assert repl.value_command(f" {path} ") == f"frame variable -- {path}"
    for text in ("a b", "unsigned int", "a`b", "a+b", "-v", "1", "a\nb", "a;b", "std::vector<Item>"):
        assert repl.value_command(text) is None
    assert SafeRepl(SafeCommands(command="x")).value_command("order") is None
