"""Hundreds of processes that dial in at once over real sockets, of which some die and some never read."""

import json

import pytest
import trio

from trio_debugmcp.testing import FakeFleet, connect

pytestmark = pytest.mark.real

NUMBER = 300


async def test_of_hundreds_that_dial_in_at_once_some_die_and_some_never_read_and_the_answer_stays_small() -> None:
    async with connect() as client:
        door = await client.call("debug_listen")
        fleet = FakeFleet(door["address"], door["token"], NUMBER)
        with trio.fail_after(60):
            async with fleet:
                await fleet.connected()
                await client.call("fleet_state")  # one that has answered before is not waited for as long
                for worker in fleet.workers[10:30]:
                    worker.reads = False
                for worker in fleet.workers[200:]:
                    worker.die()
                fleet.workers[7].frames = [("load_batch", "/job/data.py", 31)]
                while "200 connected" not in (await client.call("debug_state", session_id="s-1"))["listening"]:  # noqa: ASYNC110 (nothing tells it)
                    await trio.sleep(0.05)
                answer = await client.call("fleet_state")
                assert answer["processes"] == "200: 200 run; 100 ended"
                assert "1 in load_batch /job/data.py:31 (rank 7: s-" in answer["classes"][0]
                assert answer["classes"][-1].startswith("179 in all_reduce /job/dist.py:88 (rank 0-6, 8-9, 30-199")
                assert answer["notes"][0].startswith("20 (")
                assert len(json.dumps(answer)) <= 4096
                await client.call("debug_disconnect")
    assert all(worker.released for worker in fleet.workers[:10])
