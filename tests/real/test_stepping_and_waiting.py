"""The verbs that move a program: step, pause, wait, and their refusals. Against real debugpy."""

from pathlib import Path

import pytest
import trio

from tests.real.conftest import Connect, at, line_of, program, where
from trio_debugmcp.testing import ToolFailed


async def test_stepping_in_out_and_over_carries_the_real_place_and_a_breakpoint_on_the_way_ends_a_step(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        into = await client.call("debug_step", mode="in")
        assert where(into).function == "level2"
        out = await client.call("debug_step", mode="out")
        assert where(out).function == "level1"
        over = await client.call("debug_step")
        assert where(over).line == line_of("steps.py", "# after level2")
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_step", mode="out")
        cut_short = await client.call("debug_step", count=3)
        assert cut_short["reason"] == "Breakpoint"
        assert where(cut_short).line == line_of("steps.py", "# bottom")


async def test_while_running_and_without_a_session_tools_refuse_with_the_state(debugging: Connect) -> None:
    needs_pause: list[tuple[str, dict[str, object]]] = [
        ("debug_step", {}),
        ("debug_continue", {}),
        ("variables_get", {}),
        ("evaluate", {"expression": "1"}),
        ("debug_run_to", at("steps.py", "# last")),
        ("exception_get_context", {}),
    ]
    async with debugging() as client:
        for tool, arguments in needs_pause:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert failed.value.code == "NO_SESSION"
        with pytest.raises(ToolFailed) as failed:
            await client.call("stacktrace_get")
        assert failed.value.code == "NO_SESSION"
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        needs_pause.remove(("evaluate", {"expression": "1"}))  # in the globals of the main module
        for tool, arguments in needs_pause:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert (failed.value.code, failed.value.details["currentState"]) == ("NOT_PAUSED", "Running")
        paused = await client.call("debug_pause")
        assert (paused["reason"], where(paused).file) == ("Pause", "tests/programs/busy.py")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ALREADY_PAUSED"


async def test_a_pause_ends_a_wait_that_is_under_way(debugging: Connect) -> None:
    async with debugging() as client, trio.open_nursery() as nursery:
        await client.call("debug_launch", program=program("busy.py"))
        stops = []

        async def run_on() -> None:
            stops.append(await client.call("debug_continue"))

        nursery.start_soon(run_on)
        await trio.sleep(0.3)
        await client.call("debug_pause")
        nursery.cancel_scope.deadline = trio.current_time() + 5
        while not stops:
            await trio.sleep(0.01)
        assert stops[0]["reason"] == "Pause"


async def test_threads_that_reach_a_breakpoint_together_are_named_as_only_one_stop_is_reported(
    debugging: Connect, tmp_path: Path
) -> None:
    app = tmp_path / "together.py"
    app.write_text(
        "import threading\nmeet = threading.Barrier(3)\ndef work():\n    meet.wait()\n    return 1\n"
        "every = [threading.Thread(target=work, name=f'W{i}') for i in range(3)]\n"
        "[each.start() for each in every]\n[each.join() for each in every]\n"
    )
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(app), breakpoints=[{"file": str(app), "line": 5}])
        (note,) = [each for each in stop["notes"] if each.startswith("threads on lines with breakpoints")]
        others = {f"W{i}" for i in range(3)} - {stop["thread"].split()[1]}
        assert all(name in note for name in others), note
