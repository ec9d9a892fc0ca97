"""How few calls an agent needs, and that none of them waits for another: with real debugpy."""

from functools import partial
from pathlib import Path
from typing import Any

import trio

from tests.real.conftest import TEST_SECONDS, Connect, program

SHOP = """\
def pay(prices, purse):
    due = sum(prices)
    print("due", due)
    return purse - due  # here


def shop():
    for purse in (9, 5, 2):
        if pay([2, 3], purse) < 0:
            raise ValueError(f"{purse} is not enough")


shop()
"""


async def test_what_an_agent_wants_to_see_takes_one_call_and_why_a_program_crashed_two(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), breakpoints=[{"file": str(file), "line": 4}])
        for _ in range(2):  # the launch, and a step
            assert stop["stack"][-1] == "<module> :13"
            assert {"stack", "locals", "source"} <= stop.keys()
            assert "5\n" in stop.get("stdout", "5\n")
            stop = await client.call("debug_step")
        await client.call("debug_disconnect")
        await client.call("breakpoint_remove", id="*")
        crash = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert (crash["exception"], crash["at"].endswith(":10 in shop")) == ("ValueError: 2 is not enough", True)
        why = await client.call("exception_get_context")
        assert why["locals"][0]["purse"] == "2"


async def test_a_program_that_never_ends_is_looked_at_by_many_calls_at_once(debugging: Connect) -> None:
    async with debugging() as client:
        stop = await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        assert stop["state"] in {"Starting", "Running"}
        while (await client.call("debug_state"))["state"] != "Running":
            await trio.sleep(0.05)
        answers: dict[str, Any] = {}

        async def ask(name: str, tool: str, **arguments: Any) -> None:
            answers[name] = await client.call(tool, **arguments)

        async def read(uri: str) -> None:
            answers[uri] = await client.read(uri)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(ask, "waited", "debug_wait", timeout=TEST_SECONDS))
            nursery.start_soon(partial(ask, "value", "evaluate", expression="1 < 2"))
            nursery.start_soon(partial(ask, "safe", "evaluate_safe", expression="1 < 2"))
            nursery.start_soon(partial(ask, "threads", "threads_list"))
            nursery.start_soon(partial(ask, "stack", "stacktrace_get"))
            nursery.start_soon(partial(ask, "type", "type_get", expression="int"))
            for uri in await client.uris():
                nursery.start_soon(read, uri)
            while len(answers) < 12:
                await trio.sleep(0.05)
            assert "waited" not in answers
            await ask("paused", "debug_pause")
        assert answers["value"]["value"] == answers["safe"]["value"] == "True"
        assert answers["debugger://session"]["state"] == "Running"
        assert answers["waited"]["reason"] == answers["paused"]["reason"] == "Pause"
        assert answers["paused"]["at"].startswith("tests/programs/busy.py:")
