"""The debuggers of machine code on a Rust program that is launched from its source: from `main` to a panic."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import shared
from tests.languages.conftest import TEST_SECONDS, installed, need
from tests.real.conftest import Connect
from trio_debugmcp.dap.profiles import profile_named
from trio_debugmcp.testing import ToolFailed

SOURCE = Path(__file__).parent.parent / "programs" / "rust" / "shop.rs"

POINTER = "buf.inner.ptr.pointer.pointer"
ITEM = {
    "gdb": f"((items.{POINTER} as *mut shop::Item) + 1).price",
    "lldb-dap": f"((shop::Item*)items->{POINTER})[1].price",
    "codelldb": f"/nat ((shop::Item*)items->{POINTER})[1].price",
}
"""The price of an item of a `Vec`, as docs/adapters.md spells it."""


def at(mark: str) -> dict[str, object]:
    """The only line of shop.rs that ends with this comment, as arguments of the breakpoint tools."""
    lines = SOURCE.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return {"file": str(SOURCE), "line": number}


def place(mark: str, function: str) -> str:
    """The same, as a stop shows it."""
    return f"{SOURCE.relative_to(Path(__file__).parents[2])}:{at(mark)['line']} in {function}"


async def test_a_program_is_built_stops_in_its_own_main_and_shows_its_values(
    debugging: Connect, machine_debugger: str
) -> None:
    need("rustc", shutil.which("rustc"), "apt-get install rustc")
    async with debugging() as client:
        start = {"program": str(SOURCE), "adapter": machine_debugger}
        entry = await client.call("debug_launch", **start)
        assert (entry["reason"], entry["at"]) == ("Entry", place("main", "shop::main"))
        await client.call("breakpoint_set", **at("loop"), hit_condition="2")
        second = await client.call("debug_continue")
        assert (second["reason"], second["breakpoints"]) == ("Breakpoint", ["bp-1"])
        assert second["at"] == place("loop", "shop::total_of")
        assert [second["locals"][name].partition(" (")[0] for name in ("total", "i")] == ["2", "1"]
        assert {"items", "label", "item"} <= second["locals"].keys()
        assert second["stack"][0].startswith("shop::main :")
        for path, value in (("item.price", "5"), ("items.len", "3")):
            assert (await client.call("evaluate", expression=path))["value"] == value
        assert (await client.call("evaluate", expression=ITEM[machine_debugger]))["value"] == "5"
        # Each of these debuggers answers it with memory that is not the item's.
        if machine_debugger == "gdb":
            assert (await client.call("evaluate", expression="items[i].price"))["value"] == "5"
            with pytest.raises(ToolFailed, match=r"index 3 is out of bounds, `items` has 3 items"):
                await client.call("evaluate", expression="items[3]")
        of_items = () if machine_debugger == "gdb" else ("items[1]", "items[1].len")
        for path in (*of_items, "item[1].price"):
            with pytest.raises(ToolFailed, match="is a reference to"):
                await client.call("evaluate", expression=path)
        qualified = await client.call("breakpoint_set", function="shop::add")
        called = await client.call("debug_continue")
        assert (called["reason"], called["breakpoints"]) == ("FunctionBreakpoint", [qualified["id"]])
        assert called["at"] == place("sum", "shop::add")
        await client.call("breakpoint_remove", id="*")
        part = await client.call("breakpoint_set", function="add")
        assert "message" not in part
        again = await client.call("debug_continue")
        assert (again["breakpoints"], again["at"]) == ([part["id"]], place("sum", "shop::add"))
        await client.call("breakpoint_remove", id="*")
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 7)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program of shop.rs, built as a launch from its source builds it."""
    rustc = need("rustc", shutil.which("rustc"), "apt-get install rustc")

    def build(directory: Path) -> None:
        command = [rustc, "-g", "--edition", "2021", "-o", str(directory / "shop"), str(SOURCE)]
        subprocess.run(command, check=True, timeout=TEST_SECONDS)

    return str(shared.made(shared.of_this_run(tmp_path_factory, "rust"), build) / "shop")


async def test_a_panic_that_nothing_catches_is_an_exception_with_its_message_where_the_program_panics(
    debugging: Connect, machine_debugger: str, program: str
) -> None:
    async with debugging() as client:
        start = {"program": program, "adapter": machine_debugger, "stop_at_entry": False}
        panic = await client.call("debug_launch", **start, args=["index"])
        told = f"panic: thread 'main' panicked at {SOURCE}:{at('index')['line']}:5: index out of bounds: the len is 3"
        assert (panic["reason"], panic["at"]) == ("Exception", place("index", "shop::sell"))
        assert panic["exception"].startswith(told)
        assert panic["mode"] == "unhandled"
        assert "breakpoints" not in panic
        assert (await client.call("evaluate", expression="index"))["value"] == "7"
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 101)
        caught = await client.call("debug_launch", **start, args=["caught"])
        assert (caught["state"], caught["exitCode"]) == ("Disconnected", 7)
        asked = await client.call("debug_launch", **start, args=["caught"], breakpoints=[{"exception": "panic"}])
        assert (asked["reason"], asked["breakpoints"]) == ("Exception", ["ex-1"])
        assert (asked["at"], "mode" in asked) == (place("panic", "shop::refuse"), False)
        assert asked["exception"].endswith(f"{at('panic')['line']}:5: bad fig")
        unseen = await client.call("debug_continue")
        assert (unseen["state"], unseen["exitCode"]) == ("Disconnected", 7)
        await client.call("breakpoint_remove", id="*")
        deaf = await client.call("debug_launch", **start, args=["panic"], stop_on_uncaught=False)
        assert (deaf["state"], deaf["exitCode"]) == ("Disconnected", 101)


COLLECTIONS = """use std::collections::BTreeMap;

#[derive(Debug)]
enum Shape {
    Dot,
    Round(f64, i32),
    Flat { wide: u32 },
}

fn main() {
    let shapes = (Some(Shape::Dot), Shape::Flat { wide: 2 });
    let (round, dot) = (Shape::Round(1.5, 2), Shape::Dot);
    let (text, none): (_, Option<i32>) = (Some(String::from("fig")), None);
    let failed: Result<i32, String> = Err("no".into());
    let (boxed, grid) = (Some(Box::new(7)), vec![vec![1, 2], vec![3]]);
    println!("{shapes:?} {round:?} {dot:?} {text:?} {none:?} {failed:?} {boxed:?} {grid:?}");
    let who = String::from("ann");
    let items = vec![1, 2, 3];
    let accounts = BTreeMap::from([("ann".to_string(), 5)]);
    let (second, books) = (&items[1], &accounts);
    println!("{who} {items:?} {accounts:?} {second} {books:?}");
}
"""


async def test_gdb_shows_what_collections_hold_by_the_printers_of_the_installed_rust(
    debugging: Connect, tmp_path: Path
) -> None:
    need("rustc", shutil.which("rustc"), "apt-get install rustc")
    profile = profile_named("gdb")
    assert profile is not None
    need("gdb", profile.locate(), profile.install_hint)
    program = tmp_path / "held.rs"
    program.write_text(COLLECTIONS)
    place = {"file": str(program), "statement": 'println!("{who} {items:?} {accounts:?} {second} {books:?}");'}
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(program), adapter="gdb", breakpoints=[place])
        assert stop["locals"]["who"] == '"ann" (alloc::string::String)'
        assert stop["locals"]["items"] == "[1, 2, 3] (alloc::vec::Vec<i32>)"
        assert stop["locals"]["accounts"].startswith('{"ann": 5} ')
        for name, value in (("second", "2"), ("books", '{"ann": 5}')):
            assert re.match(rf"0x[0-9a-f]+ -> {re.escape(value)} \(\*mut ", stop["locals"][name])
        assert (await client.call("evaluate", expression="items.len"))["value"] == "3"
        variants = {
            "round": "Round(1.5, 2)",
            "dot": "Dot",
            "text": 'Some("fig")',
            "none": "None",
            "failed": 'Err("no")',
        }
        assert {name: stop["locals"][name].rpartition(" (")[0] for name in variants} == variants
        assert (await client.call("evaluate", expression="shapes.__1"))["value"] == "Flat(wide=2)"
        boxed = await client.call("evaluate", expression="boxed")
        assert re.fullmatch(r"Some\(0x[0-9a-f]+\)", boxed["value"])
        assert boxed["type"] == "core::option::Option<alloc::boxed::Box<i32>>"
        indexed = {"grid[0][1] + grid[1][0]": "5", 'accounts["ann"]': "5", 'books["ann"] * 2': "10"}
        for expression, value in indexed.items():
            assert (await client.call("evaluate", expression=expression))["value"] == value
        with pytest.raises(ToolFailed, match='there is no key "bob": it has 1 items'):
            await client.call("evaluate", expression='accounts["bob"]')
        with pytest.raises(ToolFailed, match=r"function named 'alloc::vec::Vec<i32.*its length in `len`, without"):
            await client.call("evaluate", expression="items.len()")


VARIANTS = """use std::num::NonZeroU64;
use std::rc::Rc;

#[derive(Debug)]
enum Shape {
    Dot,
    Round(f64),
    Flat { wide: u32, high: u32 },
    Named(String),
}

#[derive(Debug)]
#[repr(i8)]
enum Signed {
    Below(u8) = -1,
    Above = 5,
}

fn main() {
    let who = String::from("ann");
    let items = vec![1, 2, 3];
    let bytes = vec![0u8; 40];
    let last = &items[2..];
    let names = vec![None, Some(String::new()), Some("bo".to_string())];
    let twice: [Option<Option<String>>; 3] = [None, Some(None), Some(Some(who.clone()))];
    let numbers = [NonZeroU64::new(0), NonZeroU64::new(1 << 63)];
    let shapes = vec![Shape::Dot, Shape::Round(1.5), Shape::Flat { wide: 2, high: 3 }];
    let empty = Shape::Named(String::new());
    let signed = vec![Signed::Below(7), Signed::Above];
    let failed: Result<u32, String> = Err("bad".into());
    let shared = Rc::new(('x', "y"));
    let accounts = std::collections::HashMap::from([(1, 2)]);
    println!("{bytes:?} {last:?} {names:?} {twice:?} {numbers:?} {shapes:?} {empty:?} {signed:?}");
    println!("{failed:?} {shared:?} {accounts:?}");
}
"""

SHOWN = {
    "who": '"ann"',
    "items": "[1, 2, 3]",
    "bytes": "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, … 30 more]",
    "last": "[3]",
    "names": '[None, Some(""), Some("bo")]',
    "shapes": "[Dot, Round(1.5), Flat(wide=2, high=3)]",
    "empty": 'Named("")',
    "signed": "[Below(7), Above]",
    "failed": 'Err("bad")',
    "shared": "('x', \"y\")",
    "accounts": "size=1",
}


@pytest.mark.parametrize("adapter", ["lldb-dap", "codelldb"])
async def test_lldb_shows_texts_vectors_and_variants_and_ends_at_what_is_not_made_yet(
    debugging: Connect, tmp_path: Path, adapter: str
) -> None:
    need("rustc", shutil.which("rustc"), "apt-get install rustc")
    installed(adapter)
    program = tmp_path / "held.rs"
    program.write_text(VARIANTS)
    last = next(number for number, line in enumerate(VARIANTS.splitlines(), 1) if "println" in line)
    async with debugging() as client:
        start = {"program": str(program), "adapter": adapter, "stop_at_entry": True}
        entry = await client.call("debug_launch", **start, breakpoints=[{"file": str(program), "line": last}])
        assert entry["reason"] == "Entry"
        stop = await client.call("debug_continue")
        shown = {name: value.rpartition(" (")[0] for name, value in stop["locals"].items()}
        assert {name: shown[name] for name in SHOWN} == SHOWN
        assert adapter == "codelldb" or "console" not in stop
        assert (await client.call("evaluate", expression="items.len"))["value"] == "3"
        told = {"twice[0]": "None", "twice[1]": "Some(None)", "twice[2]": 'Some(Some("ann"))', "numbers[0]": "None"}
        for path, value in told.items():
            assert (await client.call("evaluate", expression=path))["value"] == value
        assert "9223372036854775808" in (await client.call("evaluate", expression="numbers[1]"))["value"]
