"""A stop in a file that the adapter of Java names by its package shows that file."""

from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.testing import FakeAdapter, ToolFailed

LIBRARY = "java/util/ArrayList.java"


def stopping_in(*files: str) -> FakeAdapter:
    adapter = FakeAdapter()

    async def answer(arguments: dict[str, Any]) -> object:
        named: list[dict[str, Any]] = [{"source": {"path": file}} for file in files]
        return {"stackFrames": [{"id": at, "name": "f", "line": 2, "column": 1, **one} for at, one in enumerate(named)]}

    adapter.answer("stackTrace", answer)
    return adapter


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of two files in a package; what is below `java` is not of Java itself."""
    for name in ("shop/Till.java", "shop/Item.java", LIBRARY):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("package shop;\nclass Item { int price = 3; }\n")
    return tmp_path / "shop" / "Till.java"


async def test_it_has_its_path_and_its_text_which_can_be_read(
    autojump_clock: MockClock, program: Path, tmp_path: Path
) -> None:
    adapter = stopping_in("shop/Item.java", "shop/Gone.java", LIBRARY)
    item = program.with_name("Item.java")
    async with launched('hooks = "java"\n', adapter, program=str(program), cwd=str(tmp_path)) as client:
        await adapter.stop("step")
        stop = await client.call("debug_wait")
        assert (stop["at"], "int price = 3" in stop["source"]) == (f"{item}:2 in f", True)
        stack = await client.read("debugger://stack")
        assert [each["location"]["file"] for each in stack["frames"]] == [str(item), "shop/Gone.java", LIBRARY]
        assert [each["isUserCode"] for each in stack["frames"]] == [True, True, False]
        assert "int price = 3" in str(await client.call("source_get", file=str(item)))


async def test_of_other_adapters_a_path_is_what_they_say(
    autojump_clock: MockClock, program: Path, tmp_path: Path
) -> None:
    adapter = stopping_in("shop/Item.java")
    async with launched("", adapter, program=str(program), cwd=str(tmp_path)) as client:
        await adapter.stop("step")
        assert (await client.call("debug_wait"))["at"] == "shop/Item.java:2 in f"
        with pytest.raises(ToolFailed, match="not referenced"):
            await client.call("source_get", file=str(program.with_name("Item.java")))
