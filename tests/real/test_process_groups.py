"""Several processes as one: a call for a group of them, and what came of it as classes, what differs first."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.patience import FACTOR
from tests.real.conftest import TEST_SECONDS, Connect
from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, FakeFleet, connect

pytestmark = pytest.mark.real

TRAIN = """
import math
import os
import time

def all_reduce(value):
    global loss
    loss = value
    while True:
        time.sleep(0.01)

def load_batch(value):
    global loss
    loss = value
    while True:
        time.sleep(0.01)

rank = next((rank for rank in range(1, 8) if not os.fork()), 0)
os.environ["RANK"] = str(rank)
if rank == 3:
    load_batch(0.5)
all_reduce(math.nan if rank == 5 else 0.5)
"""


@asynccontextmanager
async def fleet_of(number: int, hosts: tuple[str, ...] = ("a1",)) -> AsyncIterator[tuple[DebugClient, FakeFleet]]:
    """A server with that many imaginary processes."""
    async with connect(options=Options(settings=Settings(patience=Patience(FACTOR)))) as client:
        client.timeout = TEST_SECONDS
        door = await client.call("debug_listen")
        with trio.fail_after(TEST_SECONDS):
            async with FakeFleet(door["address"], door["token"], number, hosts) as fleet:
                await fleet.connected()
                yield client, fleet
                await client.call("debug_disconnect")


@pytest.mark.both_engines
async def test_of_eight_real_processes_the_one_with_nan_and_the_one_elsewhere_are_named(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAIN)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        found: dict[str, Any] = {}
        while "7 have 0.5 (rank 0-4, 6-7)" not in str(found) or "nan (rank 5" not in str(found):  # noqa: ASYNC110 (nothing tells it)
            await trio.sleep(0.1)
            found = await client.call("evaluate", expression="loss", group="all")
        [nan, rest] = found["values"]
        assert nan.startswith("1 has nan (rank 5: s-")
        assert rest == "7 have 0.5 (rank 0-4, 6-7)"
        assert len(json.dumps(found)) <= 2048
        [elsewhere] = (await client.call("evaluate", expression="rank", group="in:load_batch"))["values"]
        assert elsewhere.startswith("1 has 3 (rank 3: s-")
        paused = await client.call("debug_pause", group="rank=0-3")
        assert sum(int(line.split()[0]) for line in paused["classes"]) == 4
        while "4 stopped" not in (await client.call("fleet_state", group="rank=0-3"))["processes"]:  # noqa: ASYNC110 (one is late)
            await trio.sleep(0.1)
        [line] = (await client.call("evaluate", expression="rank < 4", group="stopped"))["values"]
        assert line == "4 have True (rank 0-3)"
        resumed = await client.call("debug_continue", group="stopped", wait=False)
        assert resumed == {"processes": "4 running", "classes": ["4 running (rank 0-3)"]}


async def test_a_group_is_paused_stepped_and_resumed_as_one_and_answers_in_classes() -> None:
    async with fleet_of(40, ("a1", "a2")) as (client, fleet):
        fleet.workers[7].frames = [("load_batch", "/job/data.py", 31), ("<module>", "/job/train.py", 9)]
        paused = await client.call("debug_pause", group="host=a1")
        [odd, most] = paused["classes"]
        assert odd.startswith("1 stopped in load_batch /job/data.py:31 (rank 7: s-")
        assert most == "19 stopped in all_reduce /job/dist.py:88 (rank 0-6, 8-19): Pause"
        stepped = await client.call("debug_step", group="in:load_batch")
        assert stepped["processes"] == "1 stopped"
        assert stepped["classes"][0].endswith(": Step")
        whole = await client.call("debug_pause", group="all")
        assert whole["processes"] == "40 stopped"
        resumed = await client.call("debug_continue", group="odd", wait=False)
        assert resumed["processes"] == "1 running"
        resumed = await client.call("debug_continue", group="all", wait=False)
        assert resumed["processes"] == "40 running"
        assert resumed["notes"][0].startswith("1 ran already (rank 7")
        assert (await failure(client, "debug_continue", group="host=a1")).code == "NOT_PAUSED"


async def test_the_stacks_of_a_group_are_merged_without_those_of_the_others() -> None:
    async with fleet_of(6) as (client, fleet):
        fleet.workers[2].frames = [("load_batch", "/job/data.py", 31), ("<module>", "/job/train.py", 9)]
        [stack] = (await client.call("stacktrace_get", group="odd"))["stacks"]
        assert stack["frames"][0] == "load_batch /job/data.py:31"
        assert "count" not in stack
        found = await client.call("stacktrace_get", group="rank=0-9", thread_id="*")
        assert sorted(each.get("count", 1) for each in found["stacks"]) == [1, 5]
        assert found["notes"] == ["no process has rank 6-9"]


async def test_values_of_running_and_of_stopped_processes_are_one_answer() -> None:
    async with fleet_of(40) as (client, fleet):
        for worker in fleet.workers:
            worker.values["loss"] = str(1 + worker.rank / 100)
        fleet.workers[3].values["loss"] = "nan"
        fleet.workers[11].values["loss"] = "1e30"
        del fleet.workers[20].values["loss"]
        await client.call("debug_pause", group="rank=0-9")
        answer = await client.call("evaluate", expression="loss", group="all")
        assert answer["values"][0].startswith("1 has nan (rank 3: s-")
        assert answer["values"][1].startswith("1 has 1e30 (rank 11: s-")
        assert answer["values"][2].startswith("37 have 1.0 (rank 0: s-")
        [failed] = answer["failed"]
        assert failed.startswith("1 (rank 20: s-")
        assert failed.endswith("`loss` failed: NameError: name 'loss' is not defined")
        assert answer["processes"] == "40 (rank 0-39); 1 has no value"
        data = await client.call("evaluate", expression="loss", group="rank=19-20", full=True)
        assert {each["labels"]["rank"]: each["value"] for each in data["values"]} == {"19": "1.19", "20": None}


async def test_what_is_about_one_process_is_refused_beside_a_group() -> None:
    async with fleet_of(2) as (client, _):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("evaluate", {"expression": "rank", "session_id": "s-2"}),
            ("debug_pause", {"thread_id": 1}),
            ("debug_step", {"count": 2}),
            ("debug_continue", {"show": ["rank"]}),
        ]
        for tool, arguments in calls:
            failed = await failure(client, tool, group="all", **arguments)
            assert failed.code == "INVALID_PARAMETER"
            assert "is about one process, and `group` about several" in failed.message


async def test_a_group_is_left_while_the_others_are_debugged_on() -> None:
    async with fleet_of(6) as (client, fleet):
        await client.call("debug_pause", group="rank=0-1")
        left = await client.call("debug_disconnect", group="rank=1-3")
        assert left == {
            "detached": True,
            "processes": "3 (rank 1-3)",
            "notes": ["3 processes are still debugged"],
        }
        assert [worker.released for worker in fleet.workers] == [False, True, True, True, False, False]
        assert (await client.call("evaluate", expression="rank", group="all"))["processes"] == "3 (rank 0, 4-5)"
        assert "3 connected" in (await client.call("debug_state", session_id="s-1"))["listening"]
        assert (await failure(client, "debug_disconnect", group="rank=0", session_id="s-2")).code == "INVALID_PARAMETER"
        assert "No process has rank 2" in (await failure(client, "debug_disconnect", group="rank=2")).message


async def test_a_breakpoint_of_a_group_is_in_its_processes_alone(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text("x = 1\ny = 2\n")
    async with fleet_of(6) as (client, fleet):
        answer = await client.call("breakpoint_set", file=str(file), line=1, group="rank=1-2")
        [note] = answer["notes"]
        assert note.startswith("only in 2 (rank 1-2: s-")
        assert note.endswith("): processes that come later do not have it")
        assert "state" not in answer
        traced = await client.call("tracepoint_set", file=str(file), line=2, log_message="y", group="rank=2")
        assert traced["notes"][0].startswith("only in 1 (rank 2: s-")
        assert [[*worker.breakpoints.get(str(file), ())] for worker in fleet.workers] == [[], [1], [1, 2], [], [], []]
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert "job.py:1, group rank=1-2" in listed[0]
        await client.call("breakpoint_set", file=str(file), line=1, group="rank=4")
        assert [1 in worker.breakpoints.get(str(file), ()) for worker in fleet.workers] == [*[False] * 4, True, False]
        await client.call("breakpoint_set", file=str(file), line=1)
        assert all(1 in worker.breakpoints[str(file)] for worker in fleet.workers)
        failed = await failure(client, "breakpoint_set", address="0x1", group="all")
        assert (failed.code, "`group`" in failed.message) == ("INVALID_PARAMETER", True)


async def test_what_several_write_at_a_time_stays_in_lines_that_say_whose_they_are() -> None:
    async with fleet_of(2) as (client, fleet):
        one, other = fleet.workers
        for text in ("loss ", "0.5", "\n"):
            await one.write(text)
            await other.write(f"<{text}")
        written = {"rank 0": "", "rank 1": ""}
        while written != {"rank 0": "loss 0.5", "rank 1": "<loss <0.5<"}:
            read = await client.call("process_read_output", stream="stdout", full=True)
            shown = [line for entry in read["entries"] for line in entry["text"].splitlines()]
            written = {
                name: "".join(line.removeprefix(f"[{name}] ") for line in shown if line.startswith(f"[{name}] "))
                for name in written
            }
