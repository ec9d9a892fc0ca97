"""`symbols_search` and `type_get` by the commands of gdb and lldb: what is asked, and what is made of the answers."""

from typing import Any

import pytest
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.natives import SOURCE, launched
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.dap.profiles.native.symbol_listing import NamePattern
from trio_debugmcp.session.looking.machine_code.native_symbols import MAX_FOUND
from trio_debugmcp.testing import DebugClient, FakeAdapter

FUNCTIONS = f"""\
{SOURCE}\t33\tadd(int)\tint (int)
{SOURCE}\t33\tadd(int)\tint (int)
{SOURCE}\t9\tshop::Adder::run(Add)\tvoid (Adder *, Add)
/usr/include/c++/12/bits/move.h\t49\tstd::__addressof<Item>(Item&)\t
./elf/dl-tls.c\t7\t__tls_get_addr\tvoid *(tls_index *)
"""


def scripted(name: str, pattern: str, *texts: str) -> FakeAdapter:
    """An adapter that answers what is asked for a pattern: types and functions, or the count and functions."""
    adapter, profile = FakeAdapter(), profile_named(name)
    assert profile is not None
    assert profile.symbols is not None
    adapter.frames = [("add", SOURCE, 33)]
    asked = (profile.symbols.types if name == "gdb" else profile.symbols.count, profile.symbols.functions)
    for command, text in zip(asked, texts, strict=True):
        assert command is not None
        filled = command.replace("{pattern}", NamePattern(pattern).expression)
        adapter.values[filled.replace("{limit}", str(MAX_FOUND))] = text
    return adapter


async def search(name: str, adapter: FakeAdapter, **given: Any) -> dict[str, Any]:
    async with launched(name, adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        found: dict[str, Any] = await client.call("symbols_search", **given)
        return found


async def refused(name: str, adapter: FakeAdapter, tool: str, **given: Any) -> tuple[str, str]:
    async with launched(name, adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        error = await failure(client, tool, **given)
        return error.code, str(error)


async def test_the_programs_own_symbols_are_listed_once_and_those_of_libraries_are_counted(
    autojump_clock: MockClock,
) -> None:
    types = f"{SOURCE}\t5\tshop::Adder\t\n/usr/include/add.h\t5\tadd_t\t\n"
    adapter = scripted("gdb", "add", types, FUNCTIONS)
    assert await search("gdb", adapter, pattern="add") == {
        "types": ["shop::Adder /work/orders.cpp:5"],
        "functions": ["add(int) -> int /work/orders.cpp:33"],
        "notes": ["3 more in files of libraries: pass `module`, a part of a file's path"],
    }
    assert await search("gdb", adapter, pattern="add", kind="functions", module="ELF") == {
        "functions": ["__tls_get_addr(tls_index *) -> void * ./elf/dl-tls.c:7 (library)"],
    }
    assert [each["context"] for each in adapter.sent("evaluate")] == ["repl"] * 3


async def test_a_page_of_the_symbols_has_their_total(autojump_clock: MockClock) -> None:
    types = "".join(f"{SOURCE}\t5\tadd{letter}\t\n" for letter in "cgafdeb")
    found = await search("gdb", scripted("gdb", "add", types, FUNCTIONS), pattern="add", start=1, count=2)
    assert found["types"] == ["addb /work/orders.cpp:5", "addc /work/orders.cpp:5"]
    assert (found.get("functions"), found["total"]) == (None, 8)


async def test_types_are_found_by_their_whole_names_where_the_adapter_lists_none(autojump_clock: MockClock) -> None:
    text = 'id = {0x1}, name = "Order", qualified = "shop::Order", byte-size = 9, decl = orders.cpp:19:8, compiler_'
    adapter = scripted("lldb-dap", "Order", "0 matches found in orders:\n", "")
    adapter.values['`image lookup -t "Order"'] = text
    asked = {"pattern": "Order", "kind": "types"}
    found = await search("lldb-dap", adapter, **asked)
    assert found["types"] == ["shop::Order orders.cpp:19"]
    assert found["notes"] == ["fake finds types only by their whole names"]
    adapter.values['`image lookup -t "Order"'] = text.replace("shop::Order", "shop::Reorder")
    found = await search("lldb-dap", adapter, **asked)
    assert "types" not in found
    assert found["notes"][1] == "nothing was found; only what has debug information is"
    for pattern in ("Ord*", "Order;"):
        asked_before = len(adapter.sent("evaluate"))
        assert "types" not in await search("lldb-dap", adapter, pattern=pattern, kind="types")
        assert len(adapter.sent("evaluate")) == asked_before


async def test_what_a_debugger_reports_instead_of_symbols_is_passed_on(autojump_clock: MockClock) -> None:
    adapter = scripted("lldb-dap", "add", "0 matches found in orders:\n", "`image lookup\nerror: no modules\n")
    found = await search("lldb-dap", adapter, pattern="add", kind="functions")
    assert found["notes"][-1].endswith(": no modules")


@pytest.mark.parametrize("name", ["gdb", "lldb-dap"])
async def test_a_pattern_that_too_many_have_is_refused(autojump_clock: MockClock, name: str) -> None:
    many = "".join(f"/a.c\t1\tadd{number}\tint (void)\n" for number in range(MAX_FOUND))
    texts = (many, "") if name == "gdb" else (f"{MAX_FOUND - 1} matches found in a:\n1 match found in b:\n", "")
    code, sentence = await refused(name, scripted(name, "add", *texts), "symbols_search", pattern="add")
    assert (code, "20,000 symbols or more match `add`" in sentence) == ("INVALID_PARAMETER", True)


async def test_the_commands_are_for_a_paused_program(autojump_clock: MockClock) -> None:
    adapter = scripted("gdb", "add", "", FUNCTIONS)
    async with launched("gdb", adapter) as client:
        assert (await failure(client, "symbols_search", pattern="add")).code == "NOT_PAUSED"
        assert adapter.sent("evaluate") == []


async def shown_type(client: DebugClient, expression: str) -> str:
    return str((await client.call("type_get", expression=expression))["type"])


async def test_a_variable_comes_before_a_type_of_its_name_where_types_are_looked_up_by_name(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", SOURCE, 33)]
    adapter.values = {
        "`frame variable -- total": "(lldb)\n(const Order *) total = 0x0",
        '`image lookup -t "total"': 'id = {0x1}, name = "total", byte-size = 4, ',
        '`image lookup -t "Order"': 'id = {0x2}, name = "Order", byte-size = 96, ',
        "`frame variable -- *node": "(lldb)\n(Order) *node = {...}",
        "`frame variable -- div_t": "(lldb)\nerror: no variable named 'div_t' found in this frame\n",
        '`image lookup -t "div_t"': 'id = {0x3}, name = "div_t", byte-size = 8, ',
        "`frame variable -- items": "(lldb)\n(std::vector<Item>) items = size=3 {...}",
        '`image lookup -t "std::vector<Item>"': "(lldb)\n",
        '`image lookup -t "std::vector<Item, std::allocator<Item> >"': 'id = {0x4}, name = "v", qualified = "std::v"',
        "`frame variable -- odd": "(lldb)\n(Odd<int>) odd = {...}",
        '`image lookup -t "Odd<int>"': "(lldb)\n",
        '`image lookup -t "unsigned long"': 'id = {0x5}, name = "unsigned long", byte-size = 8, ',
    }
    async with launched("lldb-dap", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        for expression, name in (
            ("total", "Order"),
            ("*node", "Order"),
            ("div_t", "div_t"),
            ("items", "std::v"),
            ("std::vector<Item>", "std::v"),
            ("odd", "Odd<int>"),
            ("unsigned long", "unsigned long"),
        ):
            assert await shown_type(client, expression) == name


async def test_gdb_is_asked_for_the_type_itself_and_for_a_container_by_its_whole_name(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", SOURCE, 33)]
    fields = "".join(f"/*      {4 * number}      |       4 */    int {name};\n" for number, name in enumerate("abcd"))
    adapter.values = {
        "ptype /o std::vector<Item, std::allocator<Item> >": "/* offset      |    size */  type = std::vector<Item>\n",
        "ptype /o Order": f"/* offset      |    size */  type = struct Order {{\n{fields}    void run(int);\n}}\n",
    }
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        assert await shown_type(client, "std::vector<Item>") == "std::vector<Item>"
        found = await client.call("type_get", expression="Order", start=1, count=2, kind="fields")
        assert ([*found["fields"]], found.get("methods"), found["total"]) == (["b", "c"], None, 4)
        found = await client.call("type_get", expression="Order", filter="RU")
        assert (found.get("fields"), found["methods"]) == (None, {"run": "void run(int)"})
        assert (await failure(client, "type_get", expression="Nope")).code == "EVAL_FAILED"
        assert (await failure(client, "type_get", expression="Order; quit")).code == "SAFE_EVAL_REJECTED"
        error = await failure(client, "references_get", expression="order")
        assert (error.code, "does not tell what refers to an object" in str(error)) == ("NOT_SUPPORTED", True)
