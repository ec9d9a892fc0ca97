"""The door for editors against strangers and bad editors: each costs its own connection, and no other client."""

import json
import logging

import pytest
import trio
import trio.lowlevel
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock, lockstep_stream_pair

from tests.editors.bench import CONTROL, OBSERVE, EditorClient, open_bench, paused
from tests.fuzz.running import share
from trio_debugmcp.dap.codec import encode_frame
from trio_debugmcp.editors.channel import MAX_WAITING_BYTES, PIECE_BYTES, STALLED_SECONDS
from trio_debugmcp.editors.serving import MAX_WAITING
from trio_debugmcp.sparse_log import MAX_LINES
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.transports.admission import STRANGER_SECONDS

HELLO = encode_frame(json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": {}}).encode())


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"Content-Length: 99999999999\r\n\r\n",
        b"Content-Length: 5\r\n\r\nnodap",
        encode_frame(b"[" * 100_000),
        encode_frame(b'{"seq": 1, "type": "request", "command": "initialize", "arguments": 7}') + b"garbage\r\n\r\n",
        HELLO + encode_frame(b'{"type": "response", "request_seq": 1, "success": true}') + b"\r\n\r\n",
        b"x" * 5000,
    ],
)
async def test_bytes_that_are_not_dap_close_the_connection_and_nothing_else(
    data: bytes, autojump_clock: MockClock
) -> None:
    async with paused() as (bench, _), bench.editor() as editor, bench.editor() as good:
        await good.join()
        await editor.stream.send_all(data)
        await editor.wait_closed()
        assert trio.current_time() <= STRANGER_SECONDS
        if not data.startswith(b"\x16"):  # of these alone it is not known yet that they are not the head of a message
            assert "important" in [each.get("category") for each in editor.bodies("output")], "it is said why"
        assert (await good.top_frame())["name"] == "main"


async def test_half_a_message_is_waited_for_as_long_as_a_stranger_may_be_here(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        start = trio.current_time()
        await editor.stream.send_all(HELLO[:-5])
        await editor.wait_closed()
        assert trio.current_time() - start == pytest.approx(STRANGER_SECONDS)


async def test_a_stranger_may_send_no_large_message_and_an_editor_may(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as stranger, bench.editor() as editor:
        await stranger.initialize()
        await stranger.send("attach", {"token": CONTROL, "padding": "x" * 70_000})
        await stranger.wait_closed()
        assert "attach" not in " ".join(stranger.log)
        await editor.join()
        frame = await editor.top_frame()
        await editor.refused("evaluate", frameId=frame["id"], expression="x" * 100_000, context="hover")


async def test_a_stranger_that_asks_again_and_again_is_closed(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.editor() as editor:
        await editor.initialize()
        start = trio.current_time()
        for _ in range(10):
            await editor.send("threads")
        await editor.wait_closed()
        assert trio.current_time() == start
        assert editor.events == []


async def test_an_editor_that_does_not_read_is_cut_off_and_delays_no_other(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as good, trio.open_nursery() as nursery:
        ours, theirs = lockstep_stream_pair()
        nursery.start_soon(bench.admission.serve, theirs, bench.door.receive)
        editor = EditorClient(ours)
        async with trio.open_nursery() as reading:
            reading.start_soon(editor.receive)
            await editor.join(hello={"clientName": "Deaf"})
            await editor.wait_event("stopped")
            reading.cancel_scope.cancel()
        await good.join()
        start = trio.current_time()
        await adapter.event("output", {"category": "stdout", "output": "x\n"})
        await good.wait_event("output")
        assert trio.current_time() - start < 1
        await trio.sleep(STALLED_SECONDS + 1)
        assert bench.admission.statistics().control == 1
        events = (await bench.agent.read("debugger://timeline"))["events"]
        assert events[-1]["type"] == "clientLeft"


async def test_an_editor_that_reads_slowly_is_not_cut_off(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), trio.open_nursery() as nursery:
        ours, theirs = lockstep_stream_pair()
        nursery.start_soon(bench.admission.serve, theirs, bench.door.receive)
        editor = EditorClient(ours)
        async with trio.open_nursery() as reading:
            reading.start_soon(editor.receive)
            await editor.join()
            await editor.wait_event("stopped")
            reading.cancel_scope.cancel()
        await adapter.event("output", {"category": "stdout", "output": "x" * 8 * PIECE_BYTES})
        received = 0
        while received < 8 * PIECE_BYTES:
            await trio.sleep(STALLED_SECONDS / 2)
            received += len(await ours.receive_some(PIECE_BYTES))
        assert bench.admission.statistics().control == 1
        nursery.cancel_scope.cancel()


async def test_what_waits_for_an_editor_is_bounded(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), trio.open_nursery() as nursery:
        ours, theirs = lockstep_stream_pair()
        nursery.start_soon(bench.admission.serve, theirs, bench.door.receive)
        editor = EditorClient(ours)
        async with trio.open_nursery() as reading:
            reading.start_soon(editor.receive)
            await editor.join()
            await editor.wait_event("stopped")
            reading.cancel_scope.cancel()
        start = trio.current_time()
        written = 0
        while bench.admission.statistics().control:
            await adapter.event("output", {"category": "stdout", "output": "x" * 1_000_000})
            written += 1_000_000
            await trio.sleep(0.1)
            assert written < 2 * MAX_WAITING_BYTES
        assert trio.current_time() - start < STALLED_SECONDS


async def test_an_editor_that_reads_may_get_more_in_all_than_may_wait_for_it(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        received = 0
        while received <= MAX_WAITING_BYTES:
            await adapter.event("output", {"category": "stdout", "output": "x" * 1_000_000})
            await trio.sleep(1)
            received = sum(len(each["output"]) for each in editor.bodies("output"))
        assert (await editor.top_frame())["name"] == "main"
        assert not editor.closed


async def test_a_flood_of_evaluations_waits_for_its_turn_and_the_agent_does_not(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.values = {"1": "1"}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        adapter.withhold("evaluate")
        for _ in range(200):
            await editor.send("evaluate", {"frameId": frame["id"], "expression": "1", "context": "hover"})
        await trio.sleep(1)
        assert len(adapter.sent("evaluate")) == 32
        start = trio.current_time()
        await bench.agent.call("debug_step", wait=False)
        assert trio.current_time() - start < 0.1


@pytest.mark.parametrize(("size", "number"), [(1, MAX_WAITING), (3 * 1024 * 1024, 2)])
async def test_what_an_editor_asks_for_beside_is_bounded(size: int, number: int, autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor, trio.open_nursery() as nursery:
        await editor.join()
        frame = await editor.top_frame()
        adapter.withhold("evaluate")
        wanted = {"frameId": frame["id"], "expression": "1" * size, "context": "hover"}
        for _ in range(number):
            await editor.send("evaluate", wanted)
        refused = await editor.refused("evaluate", **wanted)
        assert "Too many requests" in str(refused)
        assert await editor.ask("disconnect") == {}
        nursery.cancel_scope.cancel()


async def test_many_connections_without_a_token_keep_no_editor_out(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), trio.open_nursery() as nursery:
        for _ in range(1000):
            await bench.admission.wait_for_room()
            ours, theirs = lockstep_stream_pair()
            nursery.start_soon(bench.admission.serve_visitor, theirs, bench.admission.enter(), bench.door.receive)
            await trio.lowlevel.checkpoint()
            del ours
            assert bench.admission.statistics().strangers <= bench.admission.limits.strangers
        start = trio.current_time()
        assert "count" in str(await bench.agent.call("variables_get"))
        assert trio.current_time() == start
        assert bench.admission.statistics().strangers <= bench.admission.limits.strangers
        async with bench.editor() as editor:
            await editor.join()
            await editor.wait_event("stopped")
        nursery.cancel_scope.cancel()


MESSAGES = st.one_of(
    st.binary(max_size=300),
    st.builds(
        lambda command, arguments: encode_frame(
            json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()
        ),
        st.sampled_from(
            ["initialize", "attach", "launch", "disconnect", "threads", "evaluate", "configurationDone", "x"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
            max_leaves=10,
        ),
    ),
)


def test_no_bytes_make_the_door_fail_or_say_anything_about_the_session() -> None:
    @given(st.lists(st.lists(MESSAGES, max_size=5), min_size=5, max_size=20))
    @share(10)
    def check(connections: list[list[bytes]]) -> None:
        async def main() -> None:
            adapter = FakeAdapter()
            async with open_bench(adapter) as bench:
                await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
                for chunks in connections:
                    async with bench.editor() as editor:
                        for each in chunks:
                            await editor.stream.send_all(each)
                    assert not {"stopped", "initialized", "process", "thread"} & {*editor.log}
                assert (await bench.agent.call("debug_state"))["state"] == "Running"

        trio.run(main, clock=MockClock(autojump_threshold=0))

    check()


async def test_what_strangers_send_is_not_in_the_log_and_they_fill_no_disk(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="trio_debugmcp.editors")
    token = b'{"seq": "x", "type": "request", "command": "attach", "arguments": {"token": "my-secret-token"}}'
    async with paused() as (bench, _):
        for _ in range(MAX_LINES + 5):
            async with bench.editor() as editor:
                await editor.stream.send_all(encode_frame(token))
                await editor.wait_closed()
    assert "my-secret-token" not in caplog.text
    assert caplog.text.count("an editor broke the protocol: not a DAP message") == MAX_LINES


async def test_the_name_of_an_editor_is_one_bounded_line_in_what_others_read(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join(hello={"clientName": "Evil\n\x1b[31m" + "x" * 60_000})
        await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 7}])
        [shown] = (await bench.agent.read("debugger://breakpoints"))["breakpoints"]
        [name] = shown["setBy"]
        assert name == "Evil  [31m" + "x" * 90
        assert name in json.dumps(await bench.agent.read("debugger://people"))


async def test_the_name_of_an_agent_is_one_bounded_line_in_what_others_read(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _), bench.server.connect(name="a\n" + "x" * 60_000) as other:
        await other.call("debug_state")
        people = json.dumps(await bench.agent.read("debugger://people"))
        assert f'"a {"x" * 98}"' in people


async def test_editors_that_come_and_go_leave_nothing_behind(autojump_clock: MockClock) -> None:
    async with paused() as (bench, _):
        for token in (OBSERVE, CONTROL):
            async with bench.editor() as editor:
                await editor.join(token)
                assert ("0 editors" in repr(bench.door)) is (token == OBSERVE)
            assert "0 editors" in repr(bench.door)
