"""Where breakpoints may be: on a function of one file, and on exceptions below a directory; which names are near."""

from pathlib import Path

import pytest
from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.testing import ToolFailed, connect

SHOP = '''\
class StockError(Exception):
    pass


class Shop:
    def take(self, count):
        """Take some."""
        if count > 2:
            raise StockError(count)

    def one(self): return 1


def take(count):
    return count


class Till:
    def pay(self): ...
    def close(self):
        return 0
'''


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    return file


async def test_a_function_beside_a_file_is_that_function_in_this_file(autojump_clock: MockClock, shop: Path) -> None:
    async with connect("legacy") as client:
        for name, line, text in [
            ("Shop.take", 8, "if count > 2:"),
            ("shop.Till.close", 21, "return 0"),
            ("close", 21, "return 0"),
        ]:
            made = await client.call("breakpoint_set", function=name, file=str(shop))
            assert (made["at"].rpartition(":")[2], made["line"]) == (str(line), text)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("take", r"`take` may be one of 2 functions .* `file` and line=8 \(Shop.take\) or line=15 \(take\)\.$"),
        ("Shop.tak", r"There is no function `Shop.tak` in '.*'. It has `Shop.take`, `take` and 3 more\.$"),
        ("one", r"stands on one line, where .* breakpoint_set\(function='Shop.one'\)\.$"),
    ],
)
async def test_a_function_that_is_not_plain_in_a_file_is_refused_with_the_call_that_is_meant(
    name: str, said: str, autojump_clock: MockClock, shop: Path
) -> None:
    async with connect("legacy") as client:
        with pytest.raises(ToolFailed, match=said):
            await client.call("breakpoint_set", function=name, file=str(shop))


async def test_of_a_language_that_is_not_read_the_line_is_named_that_names_the_function(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    (tmp_path / "till.c").write_text("#include <stdio.h>\n\nint total(int n)\n{\n    return n;\n}\n")
    async with connect("legacy") as client:
        failed = await failure(client, "breakpoint_set", function="total", file=f"{tmp_path}/till.c")
        assert f"breakpoint_set(file='{tmp_path}/till.c', line=3)" in str(failed)


async def test_an_exception_breakpoint_has_a_file_or_a_directory(autojump_clock: MockClock, shop: Path) -> None:
    async with connect("legacy") as client:
        await client.call("breakpoint_set_exception", exception_type="KeyError", file=str(shop.parent))
        (line,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert line == f"ex-1 KeyError raised in {shop.parent}/"
        failed = await failure(client, "breakpoint_set_exception", exception_type="*", file=f"{shop.parent}/shops")
        assert f"There is no file or directory '{shop.parent}/shops'" in str(failed)


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("ValeError", "Is it ValueError"),
        ("StokError", "Is it StockError"),
        ("StockError", None),
        ("ValueError", None),
        ("requests.HTTPError", None),
        ("*", None),
    ],
)
async def test_an_exception_that_is_not_known_is_answered_with_those_that_are_like_it(
    name: str, question: str | None, autojump_clock: MockClock, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.parent)
    async with connect("legacy") as client:
        made = await client.call("breakpoint_set_exception", exception_type=name)
        notes = made.get("notes", [])
        assert (question in notes[0]) if question is not None else (notes == [])


@pytest.mark.parametrize("named", ["shop.py", "src/shop.py"])
async def test_a_file_without_a_line_is_answered_with_the_form_of_a_place(
    named: str, autojump_clock: MockClock, shop: Path
) -> None:
    async with connect("legacy") as client:
        refused = await failure(client, "debug_launch", program=str(shop), breakpoints=[named])
    assert refused.code == "INVALID_PARAMETER"
    assert f"'{named}' is a file: say its line, too, FILE:LINE, or name a function" in refused.message
