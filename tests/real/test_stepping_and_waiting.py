"""The verbs that move a program: step, pause, wait, and their refusals. Against real debugpy."""

import trio

from tests.real.conftest import Connect, at, program


async def test_a_pause_ends_a_wait_that_is_under_way(debugging: Connect) -> None:
    async with debugging() as client, trio.open_nursery() as nursery:
        await client.call("debug_launch", program=program("busy.py"))
        stops = []

        async def run_on() -> None:
            stops.append(await client.call("debug_continue"))

        nursery.start_soon(run_on)
        while (await client.call("debug_state"))["state"] != "Running":
            await trio.sleep(0.01)
        await client.call("debug_pause")
        while not stops:
            await trio.sleep(0.01)
        assert stops[0]["reason"] == "Pause"


async def test_threads_that_reach_a_breakpoint_together_are_named_as_pydevd_reports_only_one_stop(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        stop = await client.call(
            "debug_launch",
            program=program("together.py"),
            breakpoints=[at("together.py", "# together")],
            adapter_options={"engine": "pydevd"},
        )
        (note,) = [each for each in stop["notes"] if each.startswith("threads on lines with breakpoints")]
        others = {f"W{i}" for i in range(3)} - {stop["thread"].split()[1]}
        assert all(name in note for name in others), note
