"""A server that has launched hundreds of programs holds what it held after the first ones."""

import gc
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.faults.leftovers import descriptors, tasks
from tests.faults.phases import healthy
from tests.faults.real_cycles import REAL_CYCLES_IN_THE_SUITE, cycle_for_real
from tests.server.scene import JSON_URIS
from trio_debugmcp.app import App, Options
from trio_debugmcp.session.event_ring import MAX_EVENTS
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.state.timeline_events import client_left
from trio_debugmcp.testing import FakeAdapter, FakeProfile, open_server
from trio_debugmcp.testing.faults import RawClient, connect_raw

CYCLES = 900

WARM_AFTER = 700
"""Cycles after which the caches of calls (server/people/other_clients.py) and stops (state/kept_stops.py) are full."""

MAX_GROWTH_BLOCKS = 200
"""Blocks of Python's memory over the other cycles: less than one in each, so nothing is kept of a session."""

ENDS = ("exit", "crash", "disconnect", "cancelled", "never ready", "client leaves")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hundreds of sessions are worth no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


async def call(client: RawClient, tool: str, **arguments: Any) -> dict[str, Any]:
    """The tool's result, errors included."""
    answer = await client.response_to(await client.call(tool, arguments))
    client.received.clear()
    result: dict[str, Any] = answer["result"]
    return result


async def use(client: RawClient, adapter: FakeAdapter, number: int) -> None:
    """A short session: a breakpoint, a stop, output, and a module, a thread and sources of its own."""
    adapter.frames = [("work", f"/src/{number}.py", 1), ("main", FakeAdapter.program, 2)]
    await call(client, "breakpoint_set", file=FakeAdapter.program, line=number + 1)
    launched = await call(client, "debug_launch", program=adapter.program, stop_at_entry=True)
    assert launched["structuredContent"]["reason"] == "Entry"
    await adapter.event("module", {"reason": "new", "module": {"id": number, "name": f"m{number}"}})
    await adapter.event("thread", {"reason": "started", "threadId": number + 2})
    await adapter.event("output", {"category": "stdout", "output": f"hello {number}\n" * 10})
    await call(client, "breakpoint_remove", id="*")


async def cycle(app: App, client: RawClient, adapter: FakeAdapter, number: int) -> None:
    """From a launch to an end, each time another one."""
    match ENDS[number % len(ENDS)]:
        case "exit":
            await use(client, adapter, number)
            await adapter.exit(number)
        case "crash":
            await use(client, adapter, number)
            await adapter.crash()
        case "disconnect":
            await use(client, adapter, number)
            await call(client, "debug_disconnect")
        case "cancelled":
            adapter.withhold("launch")
            request = await client.call("debug_launch", {"program": adapter.program})
            await trio.sleep(1)
            await client.send("notifications/cancelled", {"requestId": request}, notify=True)
        case "never ready":
            adapter.withhold("initialize")
            launched = await call(client, "debug_launch", program=adapter.program, timeout=1)
            assert launched["structuredContent"]["timedOut"]
            await call(client, "debug_disconnect")
        case _:
            async with connect_raw(app) as other:
                await subscribe(other)
                await use(other, adapter, number)
                await other.abort()
    await app.debugger.merger.wait_until(lambda state: not state.snapshots)
    await trio.sleep(5)


async def subscribe(client: RawClient) -> None:
    await client.initialize()
    for uri in JSON_URIS:
        await client.request("resources/subscribe", {"uri": uri})


async def held(app: App, client: RawClient) -> tuple[Any, int, int]:
    """Tasks, descriptors and blocks of memory when all is quiet."""
    await trio.sleep(1000)
    client.received.clear()
    app.debugger.timeline.record([client_left(None, None, "observe")] * MAX_EVENTS)  # else it keeps what differs
    gc.collect()
    return tasks(), descriptors(), sys.getallocatedblocks()


@pytest.mark.nightly("hundreds of launches take 15 s; that one leaves nothing is in test_matrix.py")
async def test_hundreds_of_launches_with_ends_of_every_kind_leave_nothing_behind(autojump_clock: MockClock) -> None:
    profile = FakeProfile(FakeAdapter())
    options = Options(settings=Settings(directory="/", profiles=(profile,)), linger=10)
    async with open_server(options) as server, connect_raw(server.app) as client:
        await subscribe(client)
        for number in range(CYCLES):
            if number == WARM_AFTER:
                before = await held(server.app, client)
            profile.adapter = healthy()
            await cycle(server.app, client, profile.adapter, number)
        profile.adapter = healthy()
        after = await held(server.app, client)
    assert after[:2] == before[:2]
    assert after[2] - before[2] < MAX_GROWTH_BLOCKS


@pytest.mark.real
async def test_some_launches_of_real_programs_leave_nothing_behind() -> None:
    figures = await cycle_for_real(REAL_CYCLES_IN_THE_SUITE)
    assert figures[-1].descriptors == figures[0].descriptors
    assert figures[-1].processes == figures[0].processes
    assert figures[-1].tasks == figures[0].tasks
