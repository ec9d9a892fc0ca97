"""Notifications as a client gets them from a real program: how many, when, and what a read shows after one."""

import contextlib
from itertools import pairwise
from pathlib import Path

import trio
from mcp.shared.exceptions import MCPError

from tests.real.conftest import Connect, at, program, promised, where
from trio_debugmcp.testing import connect_stdio

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def test_one_update_reaches_the_subscriber_and_a_read_shows_the_pause(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        await trio.sleep(1)
        client.notices.clear()
        async with client.subscribed(SESSION):
            await client.call("debug_continue")
            await client.wait_notice(SESSION, seconds=promised(1))
            assert (await client.read(SESSION))["state"] == "Paused"
            await trio.sleep(1)
            assert [notice.what for notice in client.notices] == [SESSION]


async def test_twenty_quick_steps_make_few_notifications_and_the_last_read_is_right(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("busy.py"))
        await trio.sleep(1)
        client.notices.clear()
        async with client.subscribed(SESSION, THREADS):
            started = trio.current_time()
            for _ in range(20):
                stop = await client.call("debug_step")
            took = trio.current_time() - started
            await trio.sleep(0.5)
            for uri in (SESSION, THREADS):
                assert 1 <= len(client.times_of(uri)) <= took / 0.3 + 2, "one in each quiet window, however many steps"
            location = (await client.read(SESSION))["currentLocation"]
            assert (location["line"], location["functionName"]) == (where(stop).line, where(stop).function)


async def test_a_tracepoint_in_a_hot_loop_is_notified_every_second_and_never_stops_the_program(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("busy.py", "# in loop"), log_message="turn {turn}")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        async with client.subscribed(BREAKPOINTS):
            await client.wait_notice(BREAKPOINTS)
            first = (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"]
            await trio.sleep(3)
            moments = client.times_of(BREAKPOINTS)
            assert all(later - earlier < promised(1) for earlier, later in pairwise(moments))
            assert len(moments) >= 3
            assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] > first + 50
            session = await client.call("debug_state")
            assert session["state"] == "Running"
        output = await client.call("process_read_output", stream="stdout")
        assert output["entries"] == [], "text of tracepoints is not output of the program"


async def test_a_client_that_disconnects_with_an_update_pending_does_not_disturb_the_server(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with connect_stdio() as client:
            await client.call("debug_launch", program=program("busy.py"))
            with contextlib.suppress(MCPError):
                async with client.subscribed(SESSION):
                    await client.call("debug_step")
        # Leaving the block closes the server's input at once, with the update still pending.
