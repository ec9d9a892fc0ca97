"""Variables that their line has not made yet: at a stop, in a frame, and in what is evaluated."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from tests.dap.profiles.native.test_prologues import LOADED, LOOK, TEXT, program
from tests.session.natives import launched
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.fake_native import Refusal

SOURCE = """int main() {
    int first = 1;
    std::vector<int> later = make(first);
    return last(later);
}
"""

LATER = {"name": "later", "value": "{ ... }", "type": "std::vector<int>", "variablesReference": 50}
LOCALS = [{"name": "first", "value": "1", "type": "int", "variablesReference": 0}, LATER]
UNMADE = "<not made yet: line 3 declares it> (std::vector<int>)"


def stopped_at(file: Path, line: int) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.frames = [("main", str(file), line)]

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": LOCALS if arguments["variablesReference"] == 2 else []}

    async def scopes(arguments: object) -> object:
        return {"scopes": [{"name": "Locals", "variablesReference": 2}]}

    async def evaluate(arguments: dict[str, Any]) -> object:
        return {"result": "7", "type": "int"}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    return adapter


@pytest.mark.parametrize("name", ["gdb", "lldb-dap", "codelldb"])
async def test_a_variable_that_its_line_has_not_made_is_said_to_be_that_and_nothing_in_it_is_asked_for(
    autojump_clock: MockClock, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "shop.cpp"
    file.write_text(SOURCE)
    os.utime(file, (1, 1))  # from before the program
    adapter = stopped_at(file, 3)
    async with launched(name, adapter) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert stop["locals"] == {"first": "1", "later": UNMADE}
        assert (await client.call("variables_get"))["variables"] == {"first": "1", "later": UNMADE}
        assert all(sent["variablesReference"] != 50 for sent in adapter.sent("variables"))
        note = "`later` is not made yet: line 3 declares it"
        assert (await client.call("evaluate", expression="first + later.size()"))["notes"] == [note]
        for expression in ("first", "shop.later", "p->later", "later(1)", '"a later one"'):
            assert "notes" not in await client.call("evaluate", expression=expression)


async def test_the_time_that_a_long_expression_takes_grows_as_it_does(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    file = tmp_path / "shop.cpp"
    file.write_text(SOURCE)
    adapter = stopped_at(file, 3)
    async with launched("codelldb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")

        async def seconds(length: int) -> float:
            began = time.process_time()
            await client.call("evaluate", expression='"\\' * (length // 2))
            return time.process_time() - began

        await seconds(1000)
        assert await seconds(40_000) < 60 * max(await seconds(2500), 0.005)  # of the length 16 times, of its square 256


@pytest.mark.parametrize("case", ["behind its line", "another language", "edited since"])
async def test_what_is_made_or_not_known_is_shown_as_it_is(
    autojump_clock: MockClock, tmp_path: Path, case: str
) -> None:
    file = tmp_path / ("shop.rs" if case == "another language" else "shop.cpp")
    file.write_text(SOURCE)
    os.utime(file, (1, 1))
    adapter = stopped_at(file, 4 if case == "behind its line" else 3)
    async with launched("gdb", adapter) as client:
        if case == "edited since":
            os.utime(file, (1e11, 1e11))
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["locals"]["later"] == "{ ... } (std::vector<int>)"


ITEM = {"name": "item", "value": "{ ... }", "type": "const Item &", "variablesReference": 50}


@pytest.mark.parametrize(
    ("instruction", "advice"),
    [
        (0, "The caller's frame has what it passes, and with adapter='gdb' stops are behind these"),
        (4, "`debug_step(granularity='instruction', count=1)` runs these"),
    ],
)
async def test_the_variables_of_a_function_at_its_first_instructions_are_said_not_to_be_made(
    autojump_clock: MockClock, tmp_path: Path, instruction: int, advice: str
) -> None:
    executable = tmp_path / "look"
    executable.write_bytes(program({"_Z4lookRK4Item": LOOK}))
    adapter = stopped_at(tmp_path / "look.cpp", 5)
    adapter.frames = [("look(Item const&)", str(tmp_path / "look.cpp"), 5)]
    adapter.capabilities["supportsSteppingGranularity"] = bool(instruction)
    adapter.instruction_pointer = hex(LOADED + TEXT + instruction)
    registers = [{"name": "rdi", "value": "7", "variablesReference": 0}]

    async def scopes(arguments: object) -> object:
        return {
            "scopes": [{"name": name, "variablesReference": 2 + at} for at, name in enumerate(("Locals", "Registers"))]
        }

    async def variables(arguments: dict[str, int]) -> object:
        return {"variables": [ITEM] if arguments["variablesReference"] == 2 else registers}

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    async with launched("codelldb", adapter, program=str(executable)) as client:
        await adapter.stop("breakpoint")
        unmade = {"item": "<not made yet: look() is at its first instructions> (const Item &)"}
        assert (await client.call("debug_wait"))["locals"] == unmade
        assert (await client.call("variables_get"))["variables"] == unmade
        assert (await client.call("variables_get", scope="all"))["variables"] == {**unmade, "rdi": "7"}
        said = f"the variables of look() are not made yet: it is at its first instructions. {advice}"
        assert (await client.call("evaluate", expression="item.price"))["notes"] == [said]
        assert "notes" not in await client.call("evaluate", expression="1 + 1")
        with pytest.raises(ToolFailed, match="Nothing is read by a path here: the variables of look"):
            await client.call("variables_get", path="item")

        async def unreadable(arguments: object) -> object:
            raise Refusal("couldn't read from memory")

        adapter.answer("evaluate", unreadable)
        with pytest.raises(ToolFailed, match=r"couldn't read from memory.*; the variables of look.* are not made yet"):
            await client.call("evaluate", expression="item.price")


@pytest.mark.parametrize("case", ["behind them", "another function", "no such file"])
async def test_the_variables_of_a_function_that_is_not_there_are_shown(
    autojump_clock: MockClock, tmp_path: Path, case: str
) -> None:
    executable = tmp_path / "look"
    executable.write_bytes(program({"takes" if case == "another function" else "look": LOOK}))
    adapter = stopped_at(tmp_path / "look.cpp", 5)
    adapter.frames = [("look", str(tmp_path / "look.cpp"), 5)]
    adapter.instruction_pointer = hex(LOADED + TEXT + (8 if case == "behind them" else 0))
    async with launched("codelldb", adapter, program=str(executable)) as client:
        if case == "no such file":
            executable.unlink()
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["locals"]["first"] == "1"
