"""A stopped program from inside: frames, threads, variables and evaluation. Against real debugpy."""

from pathlib import Path

import pytest
import trio

from tests.real.conftest import Connect, at, line_of, program, where
from trio_debugmcp.testing import ToolFailed


async def test_deep_recursion_pages_and_each_frame_has_its_own_locals(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        whole = await client.call("stacktrace_get", count=100)
        frames = whole["frames"]
        assert (len(frames) >= 15, "omitted" in whole) == (True, False)
        bottom = line_of("steps.py", "# bottom")
        assert frames[0].startswith(f"recurse tests/programs/steps.py:{bottom} | ")
        assert {frame.partition(" ")[0] for frame in frames[:13]} == {"recurse"}
        assert frames[1].startswith("recurse :"), "the file is named where it is another one"
        paged = []
        for start in range(0, len(frames), 4):
            page = await client.call("stacktrace_get", start=start, count=4)
            assert page.get("omitted", 0) == max(0, len(frames) - start - 4)
            paged += [each.replace(" tests/programs/steps.py:", " :") for each in page["frames"]]
        assert paged == [each.replace(" tests/programs/steps.py:", " :") for each in frames]
        assert (await client.call("variables_get", frame_index=2, filter="here"))["variables"] == {"here": "2"}
        with pytest.raises(ToolFailed, match="frames go from 0 to") as failed:
            await client.call("variables_get", frame_index=500)
        assert failed.value.code == "INVALID_FRAME"


async def test_threads_have_unique_ids_one_is_current_and_the_others_have_places(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("workers.py", "# while they work"))
        await client.call("debug_launch", program=program("workers.py"), stop_at_entry=False)
        await client.call("debug_wait")
        await trio.sleep(0.5)
        threads = (await client.call("threads_list"))["threads"]
        assert len({thread.removeprefix("*").split()[0] for thread in threads}) == len(threads) >= 4
        assert [thread[0] for thread in threads].count("*") == 1
        workers = [thread for thread in threads if " worker-" in thread]
        assert len(workers) == 3
        assert all(where(thread).line for thread in workers)
        stack = await client.call("stacktrace_get", thread_id=int(workers[0].split()[0]))
        assert "work" in [frame.split()[0] for frame in stack["frames"]]
        with pytest.raises(ToolFailed) as failed:
            await client.call("stacktrace_get", thread_id=987654)
        assert failed.value.code == "INVALID_THREAD"


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
