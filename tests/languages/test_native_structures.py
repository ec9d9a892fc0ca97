"""`type_get` in programs of machine code: what gdb and lldb print of a type, as members."""

import re
from pathlib import Path

from tests.languages.conftest import SOURCES, at, installed
from tests.real.conftest import Connect
from tests.real.test_tools import failure


async def test_the_fields_of_a_structure_with_offsets_where_the_debugger_prints_them(
    debugging: Connect, native_adapter: str, native_program: str
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=native_program, adapter=native_adapter, breakpoints=[at("loop")])
        offsets = native_adapter == "gdb"
        for expression in ("Order", "order"):
            found = await client.call("type_get", expression=expression)
            assert (found["type"], found["size"]) == ("Order", 96)
            assert [*found["fields"]] == ["number", "items", "first", "next"]
            assert found["fields"]["number"] == ("int, offset 0, 4 bytes" if offsets else "int")
            assert found["fields"]["first"] == ("Item, offset 32, 56 bytes" if offsets else "Item")
            assert found["fields"]["next"].startswith("Order *")
        found = await client.call("type_get", expression="Item", filter="w", kind="fields")
        assert found["fields"] == {"weights": "double[2], offset 40, 16 bytes" if offsets else "double[2]"}
        assert (await client.call("type_get", expression="OutOfStock"))["bases"] == ["std::runtime_error"]
        found = await client.call("type_get", expression="Order", count=1, start=1)
        assert ([*found["fields"]], found["total"]) == (["items"], 4)
        assert (await failure(client, "type_get", expression="Nope"))[0] == "EVAL_FAILED"
        for expression in ("Order; shell true", "Order`x`", "Order\nquit"):
            assert (await failure(client, "type_get", expression=expression))[0] == "SAFE_EVAL_REJECTED"
        for expression, name in (("item", "Item"), ("*order.next", "Order")):
            assert (await client.call("type_get", expression=expression))["type"] == name
        for expression in ("order.items", "std::vector<Item>"):
            found = await client.call("type_get", expression=expression, kind="fields")
            assert found["type"].startswith("std::vector<Item")
        assert (await client.call("type_get", expression="total"))["type"] == "int"


async def test_types_and_functions_of_the_program_are_found_by_a_pattern_and_those_of_libraries_are_counted(
    debugging: Connect, native_adapter: str, native_program: str
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=native_program, adapter=native_adapter, breakpoints=[at("loop")]
        )
        assert "console" not in stop
        orders = f"{SOURCES.relative_to(SOURCES.parents[2])}/orders.cpp"
        found = await client.call("symbols_search", pattern="TOTAL_")
        assert found["functions"] == [f"total_of(Order const&) -> int {orders}:{line_of('int total_of')}"]
        found = await client.call("symbols_search", pattern="*", count=1000)
        names = [each.partition("(")[0] for each in found["functions"]]
        assert [each for each in names if "::" not in each] == [
            "add", "check", "check_all", "crash", "main", "spin", "talk", "total_of",
        ]  # fmt: skip
        assert any("more in files of libraries" in note for note in found["notes"])
        types = (await client.call("symbols_search", pattern="Order", kind="types"))["types"]
        if native_adapter == "gdb":
            assert types == [f"Order {orders}:{line_of('struct Order')}"]
            assert [each.partition(" ")[0] for each in found["types"]] == ["Item", "Order", "OutOfStock"]
        else:
            assert types == [f"Order orders.cpp:{line_of('struct Order')}"]
        found = await client.call("symbols_search", pattern="begin", module="stl_vector.h", kind="functions")
        assert found["functions"][0].startswith("std::vector<Item, std::allocator<Item>")
        assert found["functions"][0].endswith("(library)")
        for pattern in ("a'); print('x", "a`b", "a\nquit", 'a" -v', "a; shell true"):
            assert "functions" not in await client.call("symbols_search", pattern=pattern)
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue")
        assert (await failure(client, "symbols_search", pattern="add"))[0] == "NO_SESSION"


HOLDERS = """#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>

struct Shelf {
    std::map<std::string, int> counts{{"fig", 3}, {"saw", 4}};
    std::unordered_map<int, std::map<std::string, int>> years{{2025, {{"fig", 5}}}};
    std::variant<int, std::string> label = std::string("top");
    std::optional<double> price = 1.5, none;
    std::shared_ptr<int> shared = std::make_shared<int>(7);
    int total() const {
        return counts.at("fig");  // here
    }
};

int main() {
    Shelf shelf;
    return shelf.total() - 3;
}
"""


async def test_gdb_has_items_of_maps_by_their_keys_and_shows_what_is_held(debugging: Connect, tmp_path: Path) -> None:
    installed("gdb")
    program = tmp_path / "shelf.cpp"
    program.write_text(HOLDERS)
    async with debugging() as client:
        place = {"file": str(program), "statement": 'return counts.at("fig");'}
        stop = await client.call("debug_launch", program=str(program), adapter="gdb", breakpoints=[place])
        assert re.match(r"0x[0-9a-f]+ -> Shelf\(counts=std::map<std::string, int>\(…\), ", stop["locals"]["this"])
        for expression, value in {
            'counts["saw"] + this->counts["fig"]': "7",
            'years[2025]["fig"]': "5",
            "label": 'std::variant<int, std::string>("top")',
            "price": "std::optional<double>(1.5)",
            "none": "std::optional<double> [no contained value]",
        }.items():
            assert (await client.call("evaluate", expression=expression))["value"] == value
        shared = await client.call("evaluate", expression="shared")
        assert re.fullmatch(r"std::shared_ptr<int>\(0x[0-9a-f]+\)", shared["value"])
        assert (await client.call("evaluate", expression="years"))["type"] == (
            "std::unordered_map<int, std::map<std::string, int>>"
        )
        assert await failure(client, "evaluate", expression='counts["bag"]') == (
            "EVAL_FAILED",
            '`counts["bag"]` failed: there is no key "bag": it has 2 items',
        )


def line_of(text: str) -> int:
    """The line of orders.cpp that begins with this text."""
    lines = (SOURCES / "orders.cpp").read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.startswith((f"{text} ", f"{text}("))]
    return number
