"""A variable that gdb has found in another file than the frame's is said to be from there."""

from typing import Any

import pytest
from trio.testing import MockClock

from tests.session.natives import SOURCE, launched
from trio_debugmcp.testing import FakeAdapter, Refusal


@pytest.mark.parametrize(
    ("answer", "notes"),
    [
        ("calls\t/work/store.cpp\t3\t1\n", ["`calls` is a variable of store.cpp:3, not of this file"]),
        (
            "calls\t/work/store.cpp\t3\t3\n",
            ["`calls` is a variable of store.cpp:3, not of this file; 2 other files have one of that name, too"],
        ),
        (f"calls\t{SOURCE}\t3\t1\n", None),
        ("", None),
        (None, None),
    ],
)
async def test_a_variable_of_another_file_is_noted(
    autojump_clock: MockClock, answer: str | None, notes: list[str] | None
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", SOURCE, 33)]

    async def evaluate(arguments: dict[str, Any]) -> object:
        if not arguments["expression"].startswith("python "):
            return {"result": "2", "variablesReference": 0}
        if answer is None:
            raise Refusal("No Python here")
        return {"result": answer, "variablesReference": 0}

    adapter.answer("evaluate", evaluate)
    async with launched("gdb", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        found = await client.call("evaluate", expression="calls + 1")
        assert (found["value"], found.get("notes")) == ("2", notes)
    async with launched("lldb-dap", adapter) as client:
        await adapter.stop("breakpoint")
        await client.call("debug_wait")
        assert "notes" not in await client.call("evaluate", expression="calls + 1")
