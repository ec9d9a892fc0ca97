"""The debuggers of machine code on a Rust program that is launched from its source: from `main` to a panic."""

import shutil
from pathlib import Path

from tests.languages.conftest import need
from tests.real.conftest import Connect

SOURCE = Path(__file__).parent.parent / "programs" / "rust" / "shop.rs"


def at(mark: str) -> dict[str, object]:
    """The only line of shop.rs that ends with this comment, as arguments of the breakpoint tools."""
    lines = SOURCE.read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if line.endswith(f"// {mark}")]
    return {"file": str(SOURCE), "line": number}


def place(mark: str, function: str) -> str:
    """The same, as a stop shows it."""
    return f"{SOURCE.relative_to(Path(__file__).parents[2])}:{at(mark)['line']} in {function}"


async def test_a_program_is_built_stops_in_its_own_main_and_shows_its_values_and_a_panic_is_stopped_at_by_its_function(
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
        qualified = await client.call("breakpoint_set", function="shop::add")
        called = await client.call("debug_continue")
        assert (called["reason"], called["breakpoints"]) == ("FunctionBreakpoint", [qualified["id"]])
        assert called["at"] == place("sum", "shop::add")
        await client.call("breakpoint_remove", id="*")
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 7)
        panicking = [{"function": "__rustc::rust_panic"}]
        panic = await client.call("debug_launch", **start, args=["panic"], breakpoints=panicking)
        assert panic["reason"] == "FunctionBreakpoint"
        assert "bad plum" in panic.get("stderr", "") + panic["stdout"]
        frames = (await client.call("stacktrace_get"))["frames"]
        user = next(each for each in frames if "(library)" not in each and "shop::" in each)
        assert f":{at('panic')['line']} " in user
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 101)
