"""Hundreds of processes that dial in at once over real sockets, of which some die and some never read."""

import json
import re
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.patience import FACTOR
from tests.real.conftest import TEST_SECONDS
from tests.real.test_lifetimes import server
from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.handshake_turns import TURN_SECONDS
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeFleet, connect, connect_process, open_server

pytestmark = pytest.mark.real

THE_FIRST_FOUR = r"\d+ \(rank 0-[3-7](, [\d, -]+)?\)"
"""And any of the others, which on a busy machine may be too late as well."""


async def test_of_hundreds_that_dial_in_at_once_some_die_and_the_answer_stays_small() -> None:
    async with connect(options=Options(settings=Settings(patience=Patience(FACTOR)))) as client:
        client.timeout = TEST_SECONDS
        door = await client.call("debug_listen")
        with trio.fail_after(TEST_SECONDS):
            async with FakeFleet(door["address"], door["token"], 300) as fleet:
                await fleet.connected()
                for worker in fleet.workers[200:]:
                    worker.die()
                fleet.workers[7].frames = [("load_batch", "/job/data.py", 31)]
                while "200 connected" not in (await client.call("debug_state", session_id="s-1"))["listening"]:  # noqa: ASYNC110 (nothing tells it)
                    await trio.sleep(0.05)
                answer = await client.call("fleet_state")
                assert answer["processes"] == "200 running; 100 ended"
                assert "1 in load_batch /job/data.py:31 (rank 7: s-" in answer["classes"][0]
                assert answer["classes"][-1].startswith("199 in all_reduce /job/dist.py:88 (rank 0-6, 8-199")
                assert len(json.dumps(answer)) <= 4096
                await client.call("debug_disconnect")
    assert all(worker.released for worker in fleet.workers[:200])


async def test_processes_that_never_read_are_named_and_hold_up_no_answer() -> None:
    async with connect() as client:  # whose time for an answer is the usual one
        door = await client.call("debug_listen")
        with trio.fail_after(TEST_SECONDS):
            async with FakeFleet(door["address"], door["token"], 8) as fleet:
                await fleet.connected()
                for worker in fleet.workers[:4]:
                    worker.reads = False
                answer = await client.call("fleet_state")
                assert answer["processes"] == "8 running"
                assert any(re.match(rf"{THE_FIRST_FOUR}: stacks not known", note) for note in answer["notes"])
                assert " new" not in (await client.call("fleet_state")).get("since", "")
                paused = await client.call("debug_pause", group="all", timeout=60)
                assert re.match(rf"{THE_FIRST_FOUR}: the program does not answer", paused["failed"][-1])
                values = await client.call("evaluate", expression="rank", group="all")
                assert re.match(r"8 \(rank 0-7\); [4-8] have no value", values["processes"])


async def test_those_that_never_read_do_not_keep_others_from_dialing_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trio_debugmcp.session.session.TURN_SECONDS", TURN_SECONDS / FACTOR)  # the usual time for one
    async with connect(options=Options(settings=Settings(patience=Patience(FACTOR)))) as client:
        client.timeout = TEST_SECONDS
        door = await client.call("debug_listen")
        with trio.fail_after(TEST_SECONDS):
            async with FakeFleet(door["address"], door["token"], 70) as silent:
                for worker in silent.workers:
                    worker.reads = False
                while "70 connected" not in (await client.call("debug_state", session_id="s-1"))["listening"]:  # noqa: ASYNC110 (nothing tells it)
                    await trio.sleep(0.05)
                async with FakeFleet(door["address"], door["token"], 20) as fleet:
                    await fleet.connected()
                    values = await client.call("evaluate", expression="rank", group="running")
                    assert values["processes"] == "20 (rank 0-19)"
                    assert values["notes"][0].startswith("70 whose debugger is not ready are not among them")
                    assert len(json.dumps(await client.call("fleet_state"))) <= 4096
                    for worker in silent.workers:
                        worker.die()
                    await client.call("debug_disconnect")


@pytest.fixture
def descriptors() -> Iterator[None]:
    """As many as a thousand connections need."""
    before = soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        wanted = max(soft, 4096)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def memory_kb(pid: int) -> int:
    """What a process has of the machine's memory for itself."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)[0])


async def small(client: DebugClient, tool: str, **arguments: Any) -> dict[str, Any]:
    """An answer that is not too long for an agent."""
    answer: dict[str, Any] = await client.call(tool, **arguments)
    assert len(json.dumps(answer)) <= 4096, tool
    return answer


LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fleet_state", {}),
    ("debug_state", {}),
    ("stacktrace_get", {"thread_id": "*"}),
)

READ, EACH_KB, KEPT_KB = "rank=100-499", 100, 8 * 1024


@pytest.mark.nightly("a thousand processes and the waits for a hundred silent ones take 50 s; fewer are tried above")
async def test_of_a_thousand_half_die_a_hundred_never_read_and_the_others_are_paused_and_continued(
    descriptors: None,
) -> None:
    async with server(cold=True) as process, connect_process(process) as client:
        client.timeout = TEST_SECONDS
        door = await client.call("debug_listen")
        before = memory_kb(process.pid)
        async with FakeFleet(door["address"], door["token"], 1000) as fleet:
            await fleet.connected()
            for worker in fleet.workers[500:]:
                worker.die()
            for worker in fleet.workers[:100]:
                worker.reads = False
            while "500 connected" not in (await client.call("debug_state", session_id="s-1"))["listening"]:  # noqa: ASYNC110 (nothing tells it)
                await trio.sleep(0.05)
            kept = 0
            for _ in range(2):
                looks = [await small(client, tool, **arguments) for tool, arguments in LOOKS]
                assert looks[0]["processes"] == "500 running; 500 ended"
                assert looks[0]["ended"][0].endswith("(rank 500-999)")
                assert " new" not in looks[0].get("since", "")
                assert sum(stack["count"] for stack in looks[2]["stacks"]) == 400
                paused = await small(client, "debug_pause", group=READ)
                assert paused["processes"] == "400 stopped"
                assert (await small(client, "debug_continue", group=READ, wait=False))["processes"] == "400 running"
                kept = kept or memory_kb(process.pid)
            assert kept - before <= EACH_KB * 1000
            assert memory_kb(process.pid) - kept <= KEPT_KB
            for worker in fleet.workers[:100]:
                worker.die()
            await client.call("debug_disconnect")
    assert all(worker.released for worker in fleet.workers[100:500])


async def test_what_has_changed_is_said_to_each_client_since_its_own_last_look() -> None:
    async with open_server() as server, server.connect(name="one") as one, server.connect(name="other") as other:
        door = await one.call("debug_listen")
        with trio.fail_after(TEST_SECONDS):
            async with FakeFleet(door["address"], door["token"], 2) as fleet:
                await fleet.connected()
                assert "since" not in await one.call("fleet_state")
                fleet.workers[1].frames = [("load_batch", "/job/data.py", 31)]
                assert "since" not in await other.call("fleet_state")
                assert "1 moved" in (await one.call("fleet_state"))["since"]
                assert "moved" not in (await other.call("fleet_state"))["since"]
                for number in range(6):
                    async with server.connect(name=f"more {number}") as more:
                        assert "since" not in await more.call("fleet_state")
                assert "2 in the same place" in (await one.call("fleet_state"))["since"]
                await one.call("debug_disconnect")
