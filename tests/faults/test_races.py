"""Two faults at once, and floods of events and output."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import trio
import trio.testing
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.faults.leftovers import descriptors, tasks
from tests.faults.phases import healthy
from tests.server.scene import JSON_URIS, LIST_CHANGED, SESSION, failure, launch, paused, running, still_works
from tests.session.test_children import adopt
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.session import merger
from trio_debugmcp.state.changes import Change
from trio_debugmcp.state.model import State
from trio_debugmcp.state.reduce import reduce
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect, open_server
from trio_debugmcp.testing.faults import garbage
from trio_debugmcp.testing.faults.faulty_streams import Trickling

FLOOD_EVENTS = 2000

MEGABYTES = 10


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def events(name: str, bodies: Iterator[dict[str, Any]]) -> bytes:
    return b"".join(garbage.event(name, body) for body in bodies)


async def over(client: DebugClient) -> None:
    """The session is over, and the server is not."""
    await trio.sleep(100)
    assert await client.uris() == []
    await still_works(client)


# --- Floods -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["output", "thread", "module", "loadedSource", "continued", "breakpoint", "unheardOf"])
async def test_thousands_of_events_at_once_are_processed_and_the_session_continues(
    name: str, autojump_clock: MockClock
) -> None:
    def body(number: int) -> dict[str, Any]:
        bodies: dict[str, dict[str, Any]] = {
            "output": {"category": "stdout", "output": f"line {number}\n"},
            "thread": {"reason": "started" if number % 2 else "exited", "threadId": number // 2 + 100},
            "module": {"reason": "new", "module": {"id": number, "name": f"module {number}"}},
            "loadedSource": {"reason": "new", "source": {"path": f"/src/{number}.py"}},
            "breakpoint": {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": number + 1}},
            "continued": {"threadId": 1},
        }
        return bodies.get(name, {"number": number})

    async with running("legacy") as (client, adapter), client.subscribed(*JSON_URIS):
        await adapter.stop("pause")
        await trio.sleep(1)
        await client.call("debug_continue", wait=False)
        data = events(name, (body(number) for number in range(FLOOD_EVENTS)))
        await adapter.send_raw(data)
        await adapter.stop("pause")
        stop = await client.call("debug_wait", timeout=300)
        assert stop["state"] == "Paused"
        for uri in JSON_URIS:
            assert len(await client.read_text(uri)) < 2_000_000, uri


@pytest.mark.parametrize("name", ["breakpoint", "thread", "module", "loadedSource"])
async def test_events_that_come_together_are_a_few_changes_of_the_state(
    name: str, autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body(number: int) -> dict[str, Any]:
        bodies: dict[str, dict[str, Any]] = {
            "breakpoint": {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": number + 1}},
            "thread": {"reason": "started", "threadId": number + 100},
            "module": {"reason": "new", "module": {"id": number, "name": f"module {number}"}},
            "loadedSource": {"reason": "new", "source": {"path": f"/src/{number}.py"}},
        }
        return bodies[name]

    async with running("legacy") as (client, adapter):
        await adapter.stop("pause")
        await trio.sleep(1)
        await client.call("debug_continue", wait=False)
        merged: list[Change] = []

        def counted(change: Change, state: State) -> State:
            merged.append(change)
            return reduce(change, state)

        monkeypatch.setattr(merger, "reduce", counted)
        await adapter.send_raw(events(name, (body(number) for number in range(FLOOD_EVENTS))))
        await adapter.stop("pause")
        await client.call("debug_wait", timeout=300)
        assert len(merged) < FLOOD_EVENTS / 20
        if name == "module":
            assert (await client.read("debugger://modules"))["count"] == FLOOD_EVENTS


@pytest.mark.parametrize("pieces", [1, 1000])
async def test_ten_megabytes_of_output_stay_within_bounds_and_delay_nothing(
    pieces: int, autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter), client.subscribed(*JSON_URIS):
        text = ("x" * 99 + "\n") * (MEGABYTES * 10_000 // pieces)
        await adapter.send_raw(garbage.event("output", {"category": "stdout", "output": text}) * pieces)
        await adapter.stop("pause")
        start = trio.current_time()
        stop = await client.call("debug_wait")
        assert (stop["state"], trio.current_time()) == ("Paused", start)
        assert len(stop["stdout"]) < 10_000
        assert stop["omitted"]["stdoutCharacters"] > 1_000_000
        assert len(await client.read_text("debugger://output")) < 100_000
        told = await client.call("process_read_output", max_bytes=1000)
        assert told["dropped"] > 0


async def test_after_a_flood_of_stops_the_last_one_is_shown(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        for line in range(500):
            adapter.frames = [("main", "/src/app.py", line)]
            await adapter.stop("step")
        await trio.sleep(10)
        assert (await client.call("debug_wait"))["at"] == "/src/app.py:499 in main"
        await client.call("debug_continue", wait=False)


async def test_numbers_too_large_for_a_machine_word_are_passed_on(autojump_clock: MockClock) -> None:
    huge = 2**80
    adapter = healthy()
    adapter.threads = [(huge, "main")]
    async with running("legacy", adapter) as (client, _):
        await adapter.stop("pause", thread=huge, hit=[huge])
        assert (await client.call("debug_wait"))["state"] == "Paused"
        assert (await client.read(SESSION))["activeThreadId"] == huge
        assert (await client.call("threads_list"))["threads"] == [f"*{huge} main /src/app.py:1 in main"]
        for uri in JSON_URIS:
            await client.read(uri)
        await client.call("debug_step", wait=False)
        assert adapter.sent("next")[-1]["threadId"] == huge


# --- Two faults at once -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [0, 0.5, 2, 5.5])
@pytest.mark.parametrize("tool", ["debug_disconnect", "debug_restart"])
async def test_an_adapter_that_crashes_during_the_disconnect_does_no_harm(
    tool: str, after: float, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client, trio.open_nursery() as nursery:
        await launch(client, adapter, stop_at_entry=True, wait=True)
        adapter.withhold("disconnect")

        @nursery.start_soon
        async def _() -> None:
            await trio.sleep(after)
            await adapter.crash()

        start = trio.current_time()
        await client.call(tool)
        assert trio.current_time() - start <= after + 1e-6
        if tool == "debug_restart":
            assert (await client.read(SESSION))["state"] == "Paused"
            await client.call("debug_disconnect")
        adapter.restore()
        await over(client)


@pytest.mark.parametrize("ends", ["disconnects", "crashes", "exits", "garbage"])
async def test_when_the_session_ends_both_waiting_clients_are_answered(ends: str, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect("modern") as two:
        await launch(one, adapter, stop_at_entry=True, wait=True)
        told: list[str] = []

        async def wait(client: DebugClient, tool: str) -> None:
            try:
                stop = await client.call(tool, timeout=100)
                told.append(stop["state"])
            except ToolFailed as failed:
                told.append(failed.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, one, "debug_continue")
            await trio.sleep(1)
            nursery.start_soon(wait, two, "debug_wait")
            await trio.sleep(1)
            start = trio.current_time()
            match ends:
                case "disconnects":
                    await two.call("debug_disconnect")
                case "crashes":
                    await adapter.crash()
                case "exits":
                    await adapter.exit(0)
                case _:
                    await adapter.send_raw(b"Oops\n")
        assert trio.current_time() == start
        expected = "ADAPTER_GONE" if ends in {"crashes", "garbage"} else "Disconnected"
        assert told == [expected, expected]


@pytest.mark.parametrize("tool", ["debug_step", "evaluate", "variables_get", "breakpoint_set", "debug_disconnect"])
@pytest.mark.parametrize("crashes", [False, True])
async def test_a_call_that_is_cancelled_while_the_adapter_stalls_leaves_nothing_behind(
    tool: str, crashes: bool, autojump_clock: MockClock
) -> None:
    commands = ("next", "evaluate", "scopes", "setBreakpoints", "disconnect")
    needed: dict[str, dict[str, Any]] = {
        "evaluate": {"expression": "x"},
        "breakpoint_set": {"file": FakeAdapter.program, "line": 7},
    }
    async with connect(options=(adapter := healthy()).options()) as client:
        await launch(client, adapter)
        await client.call("debug_disconnect")
        await trio.sleep(100)
        before = tasks(), descriptors()
        await launch(client, adapter, stop_at_entry=True, wait=True)
        await trio.sleep(10)
        for command in commands:
            adapter.withhold(command)
        with trio.move_on_after(1):
            await client.call(tool, **needed.get(tool, {}))
        if crashes:
            await adapter.crash()
        await trio.sleep(20)
        if await client.uris():
            adapter.restore()
            await client.call("debug_disconnect")
        await trio.sleep(100)
        assert (tasks(), descriptors()) == before
        adapter.restore()
        await still_works(client)


@pytest.mark.parametrize("both", ["at once", "parent first", "child first"])
async def test_a_child_and_its_parent_that_crash_together_end_the_session_once(
    both: str, autojump_clock: MockClock
) -> None:
    child, grandchild = FakeAdapter(), FakeAdapter()
    async with running("legacy") as (client, parent), client.subscribed(SESSION):
        await adopt(parent, child)
        await adopt(parent, grandchild, child)
        await child.stop("pause")
        await trio.sleep(10)
        first = len(client.notices)
        adapters = [parent, child, grandchild] if both == "parent first" else [grandchild, child, parent]
        async with trio.open_nursery() as nursery:
            for number, adapter in enumerate(adapters):
                await trio.sleep(0 if both == "at once" else number * 0.1)
                nursery.start_soon(adapter.crash)
        await trio.sleep(100)
        assert [notice.what for notice in client.notices[first:]].count(LIST_CHANGED) == 1
        assert await client.uris() == []
        parent.children.clear()
        await still_works(client)


async def test_a_child_that_is_announced_while_its_parent_disconnects_ends_with_it(autojump_clock: MockClock) -> None:
    child = FakeAdapter()
    async with running("legacy") as (client, parent):
        parent.children[0] = child

        async def announce(arguments: object) -> object:
            wanted = {"request": "launch", "configuration": {"child": 0}}
            answer = await parent.reverse_request("startDebugging", wanted)
            assert answer["success"] is False
            return {}

        parent.answer("disconnect", announce)
        await client.call("debug_disconnect")
        assert child.commands() == []
        await trio.sleep(10)
        assert await client.uris() == []


async def test_a_stop_a_crash_and_a_disconnect_in_the_same_moment_end_the_session(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter), client.subscribed(*JSON_URIS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(adapter.stop)
            nursery.start_soon(client.call, "debug_disconnect")
            nursery.start_soon(adapter.exit, 3)
            nursery.start_soon(adapter.crash)
        await over(client)


async def test_a_frame_that_trickles_while_the_session_ends_is_not_a_protocol_violation(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):
        adapter.connection.wrap(lambda stream: Trickling(stream, 0.1))
        await client.call("debug_disconnect")
        assert (await client.call("debug_state"))["notes"] == ["disconnected"]
        await trio.sleep(1000)
        adapter.connection.unwrap()
        await over(client)


async def test_a_launch_during_a_disconnect_is_refused_and_works_after_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as one, server.connect() as two:
        await launch(one, adapter)
        adapter.withhold("disconnect")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(one.call, "debug_disconnect")
            await trio.sleep(1)
            failed = await failure(two, "debug_launch", program=adapter.program)
            assert failed.code == "SESSION_ACTIVE"
            with pytest.raises(ToolFailed):
                await two.call("debug_step")
        adapter.restore()
        await launch(two, adapter)
        assert (await one.read(SESSION))["state"] == "Running"


async def test_a_frame_of_the_largest_size_that_stays_incomplete_ends_with_the_session(
    autojump_clock: MockClock,
) -> None:
    async with paused("legacy") as (client, adapter):
        whole = encode_frame(b" " * 64 * 1024 * 1024)
        await adapter.send_raw(whole[: len(whole) // 2])
        assert (await failure(client, "evaluate", expression="x")).code == "EVAL_TIMEOUT"
        await client.call("debug_disconnect")
        await over(client)


async def test_reads_during_every_moment_of_a_crash_are_answered(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, adapter):
        payloads, refusals = 0, 0

        async def keep_reading(uri: str) -> None:
            nonlocal payloads, refusals
            for _ in range(50):
                try:
                    await client.read(uri)
                    payloads += 1
                except MCPError:
                    refusals += 1

        async with trio.open_nursery() as nursery:
            for uri in JSON_URIS:
                nursery.start_soon(keep_reading, uri)
            for _ in range(50):
                await trio.lowlevel.checkpoint()
            nursery.start_soon(adapter.crash)
        assert payloads + refusals == 50 * len(JSON_URIS)
        assert payloads > 0
        assert refusals > 0
