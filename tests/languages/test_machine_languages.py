"""Programs of Ada, D, Pascal and Zig under gdb: built from their source, and what their compilers say of a mistake."""

import shutil
from pathlib import Path

import pytest
from msgspec import Struct

from tests.languages.cases import PROGRAMS, zig
from tests.languages.conftest import installed, need
from tests.real.conftest import Connect
from tests.server.scene import failure


class Language(Struct, frozen=True):
    """A source, its compiler and the package with that, its last price, a mistake, and what is said of that."""

    source: str
    compiler: str
    package: str
    last: str
    right: str
    wrong: str
    said: str


OPTIONAL = """const std = @import("std");

const Item = struct { name: []const u8, price: i32 };
const Kind = union(enum) { fruit: Item, none };

fn find(items: []Item, price: i32) ?Item {
    return for (items) |each| {
        if (each.price == price) break each;
    } else null;
}

fn ask(price: i32) error{NoPlum}!i32 {
    if (price > 2) return error.NoPlum;
    return price;
}

pub fn main() !void {
    var shelf = [_]Item{ .{ .name = "fig", .price = 2 }, .{ .name = "", .price = 3 } };
    const items: []Item = shelf[0..];
    const found = find(items, 2);
    const absent = find(items, 9);
    var buffer: [8]u8 = undefined;
    var numbers = [_]u8{ 1, 2, @intCast(198 + items.len) };
    _ = try std.fmt.bufPrint(&buffer, "x{d}", .{numbers[1] * 2});
    const bytes: []u8 = numbers[0..];
    const kinds = [_]Kind{ .{ .fruit = items[0] }, .none };
    const right = ask(1);
    const wrong = ask(3);
    const nowhere: ?*Item = if (absent == null) null else &items[0];
    std.debug.print("{any} {any} {any} {any} {any} {any}\\n", .{ found, kinds, right, wrong, nowhere, bytes }); // print
    _ = try ask(items[1].price);
}
"""

LANGUAGES = {
    "Ada": Language(
        "shop_main.adb", "gnatmake", "gnat", "items(2).price", "Total + Item.Price", "Nope", '"Nope" is undefined'
    ),
    "D": Language("shop.d", "gdc", "gdc", "items.ptr[2].price", "total + item.price", "nope", "undefined identifier"),
    "Pascal": Language(
        "shop.pas", "fpc", "fp-compiler", "items[2].price", "total + item.price", "nope", "Identifier not found"
    ),
    "Zig": Language(
        "shop.zig", "zig", "", "items.ptr[2].price", "total + item.price", "nope", "use of undeclared identifier"
    ),
}


@pytest.mark.parametrize("name", LANGUAGES)
async def test_a_source_is_built_without_a_trace_beside_it_and_a_mistake_in_it_has_its_line(
    debugging: Connect, tmp_path: Path, name: str
) -> None:
    language = LANGUAGES[name]
    installed("gdb")
    if name == "Zig":
        zig()
    else:
        need(language.compiler, shutil.which(language.compiler), f"apt-get install {language.package}")
    source = tmp_path / language.source
    source.write_bytes((PROGRAMS / language.source).read_bytes())
    lines = source.read_text().splitlines()
    (loop,) = [number for number, line in enumerate(lines, 1) if line.endswith(" loop") and "add" in line.lower()]
    (wrong,) = [number for number, line in enumerate(lines, 1) if language.right in line]
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(source), breakpoints=[{"file": str(source), "line": loop}])
        assert (stop["reason"], stop["at"].split(" in ")[0]) == ("Breakpoint", f"{source}:{loop}")
        assert (await client.call("evaluate", expression=language.last))["value"] == "4"
        await client.call("debug_disconnect")
        assert [each.name for each in tmp_path.iterdir()] == [language.source]
        source.write_text(source.read_text().replace(language.right, language.wrong))
        failed = await failure(client, "debug_launch", program=str(source))
        assert (failed.code, f"{wrong}: {language.said}" in failed.message) == ("LAUNCH_FAILED", True)


async def test_an_item_of_an_array_of_ada_has_the_path_that_ada_has(debugging: Connect, tmp_path: Path) -> None:
    installed("gdb")
    need("gnatmake", shutil.which("gnatmake"), "apt-get install gnat")
    source = tmp_path / "shop_main.adb"
    source.write_bytes((PROGRAMS / "shop_main.adb").read_bytes())
    async with debugging() as client:
        await client.call("debug_launch", program=str(source), breakpoints=[{"function": "add"}], stop_at_entry=False)
        found = await client.call("variables_get", path="items", frame_index=1)
        paths = [each.partition(" = ")[0] for each in found["variables"]]
        assert paths == ["(0)", "(1)", "(2)"]
        assert (await client.call("evaluate", expression="items(1).price", frame_index=1))["value"] == "3"


TEXTS_OF_D = """module box;
struct Item { string name; int price; }
class Box { string label; Item[] items; }
int look(Box b, Item[] items, string[] names, wstring wide) {
    return cast(int) items.length; // look
}
void main() {
    auto b = new Box;
    b.label = "top";
    b.items = [Item("fig", 3), Item("a \\"plum\\"", 5)];
    look(b, b.items, ["x", "yz"], "größe"w);
}
"""

TEXTS_OF_PASCAL = """program box;
{$mode objfpc}{$H+}
type
  TItem = record
    name: string;
    short: string[10];
    price: longint;
  end;
  TItems = array of TItem;
function look(items: TItems; one: TItem; label_: string): longint;
begin
  look := length(items); // look
end;
var
  items: TItems;
begin
  setlength(items, 2);
  items[0].name := 'fig'; items[0].short := 'f'; items[0].price := 3;
  items[1].name := 'plum'; items[1].short := 'p'; items[1].price := 5;
  look(items, items[1], 'it''s');
end.
"""


async def test_a_text_of_d_is_shown_wherever_it_is(debugging: Connect, tmp_path: Path) -> None:
    installed("gdb")
    need("gdc", shutil.which("gdc"), "apt-get install gdc")
    source = tmp_path / "box.d"
    source.write_text(TEXTS_OF_D)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(source), breakpoints=[{"file": str(source), "line": 5}])
        shown = {name: value.partition(" (")[0] for name, value in stop["locals"].items()}
        assert (shown["names"], shown["wide"]) == ('["x", "yz"]', '"größe"')
        assert (await client.call("evaluate", expression="b.label"))["value"] == '"top"'
        items = (await client.call("variables_get", path="items"))["variables"]
        assert list(items) == ["ptr[0]", "ptr[1]"]
        assert items["ptr[1]"].startswith('box.Item(name="a \\"plum\\"", price=5)')
        assert (await client.call("evaluate", expression="items.ptr[1].price"))["value"] == "5"


async def test_a_text_of_pascal_is_shown_wherever_it_is(debugging: Connect, tmp_path: Path) -> None:
    installed("gdb")
    need("fpc", shutil.which("fpc"), "apt-get install fp-compiler")
    source = tmp_path / "box.pas"
    source.write_text(TEXTS_OF_PASCAL)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(source), breakpoints=[{"file": str(source), "line": 12}])
        assert stop["locals"]["one"].startswith("TItem(name='plum', short='p', price=5)")
        assert stop["locals"]["label_"].startswith("'it''s'")
        items = (await client.call("variables_get", path="items"))["variables"]
        assert items["[0]"].startswith("TItem(name='fig', short='f', price=3)")
        assert (await client.call("evaluate", expression="one.name"))["value"] == "'plum'"
        safe = await client.call("evaluate_safe", expression="items")  # where gdb alone ends by an internal error
        assert "name = 'fig'" in safe["value"]


async def test_values_of_zig_are_shown_by_what_they_have_and_an_error_of_main_stops_where_it_leaves(
    debugging: Connect, tmp_path: Path
) -> None:
    installed("gdb")
    zig()
    source = tmp_path / "shop.zig"
    source.write_text(OPTIONAL)
    line = OPTIONAL[: OPTIONAL.index("// print")].count("\n") + 1
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(source), breakpoints=[{"file": str(source), "line": line}])
        shown = {name: value.partition(" (")[0] for name, value in stop["locals"].items()}
        assert shown["found"] == '?shop.Item(name="fig", price=2)'
        assert (shown["absent"], shown["right"], shown["wrong"]) == ("null", "1", "error.NoPlum")
        assert shown["nowhere"] == "0x0"
        assert shown["items"] == "[shop.Item(…), shop.Item(…)]"
        for path, value in {
            "items.ptr[1].name": '""',
            "found.payload.name": '"fig"',
            "kinds[0].payload.fruit.price": "2",
            "kinds[1]": ".none",
        }.items():
            assert (await client.call("evaluate", expression=path))["value"] == value
        found = await client.call("variables_get", path="items", depth=2)
        assert found["variables"]["ptr[0].name"].startswith('"fig"')
        assert shown["buffer"] == '"x4" and 6 times 170'
        assert shown["numbers"] == "{1, 2, 200}"
        assert (await client.call("variables_get", path="numbers"))["variables"]["[2]"].startswith("200")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["at"].split(" in ")[0]) == ("Exception", f"{source}:{line + 1}")
        first = OPTIONAL[: OPTIONAL.index("return error.NoPlum")].count("\n") + 1
        assert stop["exception"] == f"error.NoPlum: first returned at shop.zig:{first} in shop.ask"
        over = await client.call("debug_continue")
        assert (over["state"], over["exitCode"]) == ("Disconnected", 1)
        assert "error: NoPlum" in over["stdout"]
