"""A stopped program from inside: frames, threads, variables and evaluation. Against real debugpy."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import Connect, at, program
from trio_debugmcp.testing import DebugClient, ToolFailed


async def test_an_evaluation_can_change_the_program_and_reports_its_exceptions(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# after level2"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="outer * 2"))["value"] == "44"
        await client.call("evaluate", expression="outer = 100")
        assert (await client.call("evaluate", expression="outer"))["value"] == "100"
        with pytest.raises(ToolFailed, match="ZeroDivisionError") as failed:
            await client.call("evaluate", expression="1/0")
        assert failed.value.code == "EVAL_FAILED"
        with pytest.raises(ToolFailed, match="did not finish") as failed:
            await client.call("evaluate", expression="__import__('time').sleep(2)", timeout=0.3)
        assert failed.value.code == "EVAL_TIMEOUT"


async def test_big_values_and_many_variables_are_cut_and_marked(debugging: Connect, tmp_path: Path) -> None:
    big = tmp_path / "big.py"
    big.write_text(
        "def f():\n"
        + "".join(f"    v{n} = {n}\n" for n in range(600))
        + "    text = 'x' * 1_000_000\n    items = list(range(100_000))\n    return text\nf()\n"
    )
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(big), line=604)
        stop = await client.call("debug_launch", program=str(big), stop_at_entry=False)
        assert len(str(stop)) < 32768
        page = await client.call("variables_get", count=1000)
        assert len(str(page)) < 60_000
        assert (len(page["variables"]), "total" in page) == (602, False)
        first = await client.call("variables_get", count=100)
        assert (len(first["variables"]), first["total"]) == (100, 602)
        small = await client.call("variables_get", count=1000, max_result_bytes=2000)
        assert (len(small["variables"]) < 100, small["total"]) == (True, 602)
        assert stop["omitted"]["locals"] == 602 - len(stop["locals"]) > 0
        text = (await client.call("variables_get", filter="text"))["variables"]["text"]
        assert text.endswith("characters)")
        inside = await client.call("variables_get", path="items", start=10, count=5)
        assert inside == {"variables": {f"[{n}]": str(n) for n in range(10, 15)}, "total": 100_000}


HIDDEN = """\
import asyncio
import threading


def work():
    return 1


loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, name="loop", daemon=True).start()
asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
work()
"""


async def test_frames_of_libraries_that_are_not_shown_are_counted(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(HIDDEN)
    (tmp_path / "test_shop.py").write_text("def test_price():\n    price = 6\n    assert price == 7\n")
    async with debugging() as client:
        stop = await client.call(
            "debug_launch", program=f"{tmp_path}/loop.py", breakpoints=[f"{tmp_path}/loop.py:6"]
        )  # fmt: skip
        assert "omitted" not in stop
        assert "hidden" not in await client.call("stacktrace_get")
        stacks = {each["threads"][0].split(" ", 1)[1]: each for each in await all_stacks(client)}
        assert stacks["loop"]["frames"] == []
        assert re.match(r"\d+ frames of libraries are not shown: asyncio \(\d+\), ", stacks["loop"]["hidden"])
        stop = await client.call("debug_launch", test=f"{tmp_path}/test_shop.py::test_price", replace=True)
        hidden = stop["omitted"]["libraryFrames"]
        assert hidden > 10
        found = (await client.call("stacktrace_get"))["hidden"]
        assert found.startswith(f"{hidden} frames of libraries are not shown: pluggy ("), found


@pytest.mark.parametrize("start", [{"code": "x = 1\nprint(x)"}, {"module": "app"}])
async def test_what_starts_a_program_is_not_among_the_frames_that_are_not_shown(
    debugging: Connect, tmp_path: Path, start: dict[str, str]
) -> None:
    (tmp_path / "app.py").write_text("x = 1\nprint(x)\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", **start, cwd=str(tmp_path), stop_at_entry=True)
        assert stop["at"].endswith(":1 in <module>")
        assert "omitted" not in stop


async def all_stacks(client: DebugClient) -> list[dict[str, Any]]:
    """The stacks of all threads."""
    stacks: list[dict[str, Any]] = (await client.call("stacktrace_get", thread_id="*"))["stacks"]
    return stacks


SAME = """\
class Net:
    def __init__(self):
        self.nodes = {"a": [1, 2, 3], "b": [4, 5]}
        self.name = "the net of all nets"


def grow(net, n):
    same = net
    equal = Net()
    short = other = [n]
    return n


net = Net()
for n in range(3):
    grow(net, n)
"""


async def test_an_object_is_shown_once_and_then_by_its_name(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(SAME)
    async with debugging() as client:
        place = f"{tmp_path}/nets.py:11"
        stop = await client.call("debug_launch", program=f"{tmp_path}/nets.py", breakpoints=[place])
        net = stop["locals"]["net"]
        assert net.startswith("Net(nodes={")
        names = {"net": net, "n": "0", "same": "net", "equal": net, "short": "[0]", "other": "[0]"}
        assert stop["locals"] == names
        assert (await client.call("variables_get", scope="locals"))["variables"] == names
        assert (await client.call("stacktrace_get", locals=True))["locals"][0] == names
        (same,) = (await client.call("variables_get", names=["same"]))["variables"].values()
        assert same == net
        experiment = {"file": f"{tmp_path}/nets.py", "line": 11, "capture": ["net", "n"], "max_hits": 2}
        found = await client.call("batch_evaluate", experiments=[experiment])
        assert found["experiments"][0]["hits"] == [{"net": net, "n": "1"}, {"net": "…as before", "n": "2"}]
        assert (found["locals"]["net"], found["locals"]["n"]) == ("…as before", "2")
        assert (await client.call("debug_state"))["locals"]["net"] == net
