"""A DAP connection over memory streams; the test is the adapter, byte for byte."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.dap.connection import MOST_UNREAD_BYTES, Connection, EndOfStream, ReverseRequest, open_connection
from trio_debugmcp.dap.messages import (
    Capabilities,
    Continued,
    Initialized,
    OutputEvent,
    Request,
    Stopped,
    Terminated,
    ThreadsBody,
    UnknownEvent,
)
from trio_debugmcp.errors import AdapterGone, AdapterRefused, CannotRun, DebugError, ProtocolViolation


class Peer:
    """The adapter's end."""

    def __init__(self, stream: trio.StapledStream) -> None:  # type: ignore[type-arg]
        self.stream = stream
        self._decoder = FrameDecoder()
        self._received: list[Any] = []

    async def take(self) -> Any:
        """The next whole message from the client."""
        while not self._received:
            data = await self.stream.receive_some()
            assert data, "the client has closed"
            self._received += [json.loads(body) for body in self._decoder.feed(bytes(data))]
        return self._received.pop(0)

    async def send(self, *messages: Any) -> None:
        await self.stream.send_all(b"".join(encode_frame(json.dumps(each).encode()) for each in messages))

    async def answer(self, request: Any, body: Any = None, **more: Any) -> None:
        answer = {
            "type": "response",
            "request_seq": request["seq"],
            "success": True,
            "command": request["command"],
        }
        await self.send({**answer, "body": body, **more})

    async def event(self, name: str, body: Any = None) -> None:
        await self.send({"type": "event", "event": name, "body": body})


async def refuse_all(request: Request) -> object:
    await trio.lowlevel.checkpoint()
    raise AdapterRefused(request.command, "not served")


@asynccontextmanager
async def connected(
    on_reverse_request: ReverseRequest = refuse_all,
) -> AsyncIterator[tuple[Connection, Peer]]:
    ours, theirs = trio.testing.memory_stream_pair()
    async with open_connection(ours, on_reverse_request) as connection:
        yield connection, Peer(theirs)


async def drain(connection: Connection) -> list[Any]:
    return [event async for event in connection.events]


async def test_a_request_returns_its_response_decoded(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            request = await peer.take()
            assert request == {"type": "request", "seq": 1, "command": "threads"}
            await peer.answer(request, {"threads": [{"id": 0, "name": "main"}]})

        body = await connection.request("threads", kind=ThreadsBody)
        assert [(each.id, each.name) for each in body.threads or []] == [(0, "main")]


async def test_responses_in_any_order_reach_their_requests(autojump_clock: trio.testing.MockClock) -> None:
    results: dict[str, Capabilities] = {}
    async with connected() as (connection, peer):

        async def ask(command: str) -> None:
            results[command] = await connection.request(command, kind=Capabilities)

        async with trio.open_nursery() as nursery:
            for command in ("one", "two", "three"):
                nursery.start_soon(ask, command)
            requests = [await peer.take() for _ in range(3)]
            assert sorted(each["seq"] for each in requests) == [1, 2, 3]
            for request in reversed(requests):
                wanted = {"exceptionBreakpointFilters": [{"filter": request["command"]}]}
                await peer.answer(request, wanted)
    filters = {name: result.exception_breakpoint_filters for name, result in results.items()}
    assert {name: found[0].filter for name, found in filters.items() if found} == {
        "one": "one",
        "two": "two",
        "three": "three",
    }


async def test_a_refusal_is_raised_with_the_adapters_reason(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await peer.answer(await peer.take(), success=False, message="no such frame")

        with pytest.raises(AdapterRefused, match="scopes: no such frame"):
            await connection.request("scopes", {"frameId": 1})


async def test_a_response_that_does_not_fit_fails_its_request_only(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await peer.answer(await peer.take(), {"threads": 7})
            await peer.answer(await peer.take(), {"threads": []})

        with pytest.raises(ProtocolViolation, match="unexpected body"):
            await connection.request("threads", kind=ThreadsBody)
        assert (await connection.request("threads", kind=ThreadsBody)).threads == []
        assert connection.ended is None


async def test_responses_that_come_twice_or_without_a_request_are_dropped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            request = await peer.take()
            await peer.answer({"seq": 99, "command": "unheardOf"})
            await peer.answer(request)
            await peer.answer(request, success=False, message="again")
            await peer.answer(await peer.take(), {"threads": []})

        await connection.request("one")
        assert (await connection.request("threads", kind=ThreadsBody)).threads == []


async def test_a_second_response_in_the_same_chunk_as_the_first_is_dropped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            request = await peer.take()
            first = {"type": "response", "request_seq": request["seq"], "success": True, "command": "one"}
            await peer.send(first, {**first, "success": False, "message": "again"})

        await connection.request("one")


async def test_the_late_response_to_a_cancelled_request_is_dropped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            slow = await peer.take()
            await trio.sleep(5)
            await peer.answer(slow, {"threads": [{"id": 1}]})
            await peer.answer(await peer.take(), {"threads": [{"id": 2}]})

        with trio.move_on_after(1) as waited:
            await connection.request("threads", kind=ThreadsBody)
        assert waited.cancelled_caught
        assert connection.statistics().requests_waiting == 0
        assert trio.current_time() == 1
        second = await connection.request("threads", kind=ThreadsBody)
        assert [each.id for each in second.threads or []] == [2]
        assert trio.current_time() == 5


async def test_requests_cancelled_while_they_are_being_written_leave_whole_frames(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()  # send_all waits until the peer reads
    async with open_connection(ours, refuse_all) as connection:
        for text in ("first", "second", "third"):
            with trio.move_on_after(1):
                await connection.request("evaluate", {"expression": text * 1000})
        assert connection.statistics().requests_waiting == 0
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "threads")
            peer = Peer(theirs)
            first = await peer.take()
            assert first["arguments"]["expression"] == "first" * 1000
            last = await peer.take()  # the second and the third never reached the writer
            assert last["command"] == "threads"
            await peer.answer(last)


async def test_events_arrive_in_order_with_their_types(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer):
        await peer.event("initialized")
        await peer.event("stopped", {"reason": "entry", "threadId": 0})
        await peer.event("vendorThing", [1])
        await peer.event("output", {"output": "x"})
        await peer.stream.aclose()
        assert await drain(connection) == [
            Initialized(),
            Stopped("entry", thread_id=0),
            UnknownEvent("vendorThing", [1]),
            OutputEvent("x"),
            EndOfStream("the debug adapter closed the connection"),
        ]


async def test_an_event_before_the_response_is_delivered_while_the_request_waits(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            request = await peer.take()
            await peer.event("stopped", {"reason": "step"})
            assert await connection.events.receive() == Stopped("step")
            await peer.answer(request)

        await connection.request("next", {"threadId": 1})


@pytest.mark.parametrize("ending", ["eof", "reset"])
async def test_the_end_is_the_last_event_and_wakes_every_request(
    ending: str, autojump_clock: trio.testing.MockClock
) -> None:
    woken: list[str] = []
    async with connected() as (connection, peer):

        async def ask() -> None:
            with pytest.raises(AdapterGone) as caught:
                await connection.request("threads")
            woken.append(caught.value.reason)

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(ask)
                await peer.take()
            await peer.event("terminated")
            if ending == "eof":
                await peer.stream.aclose()
            else:
                await trio.aclose_forcefully(peer.stream)
        assert woken == ["the debug adapter closed the connection"] * 3
        assert connection.ended == EndOfStream("the debug adapter closed the connection")
        assert await drain(connection) == [Terminated(), connection.ended]
        with pytest.raises(AdapterGone, match="closed the connection"):
            await connection.request("threads")
        assert trio.current_time() == 0


async def test_a_request_that_waits_to_be_written_is_woken_by_the_end(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    async with open_connection(ours, refuse_all) as connection, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(AdapterGone):
                await connection.request("threads")

        for _ in range(3):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        await theirs.aclose()


async def test_a_request_after_the_end_does_not_wait_for_what_is_still_being_written(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    async with open_connection(ours, refuse_all) as connection:
        with trio.move_on_after(1):
            await connection.request("threads")
        await theirs.send_stream.aclose()  # it reads nothing, and says no more
        with trio.fail_after(1):
            assert isinstance((await drain(connection))[-1], EndOfStream)
            with pytest.raises(AdapterGone, match="closed the connection"):
                await connection.request("threads")


async def test_requests_are_written_in_the_order_in_which_they_were_made(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    async with open_connection(ours, refuse_all) as connection, trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(connection.request, "evaluate", {"expression": str(number)})
            await trio.testing.wait_all_tasks_blocked()
        peer = Peer(theirs)
        for number in range(5, 10):  # each is made while the turn passes from one that waits to the next
            request = await peer.take()
            assert request["arguments"]["expression"] == str(number - 5)
            nursery.start_soon(connection.request, "evaluate", {"expression": str(number)})
        nursery.cancel_scope.cancel()


async def test_a_request_that_is_cancelled_already_writes_nothing(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer):
        with trio.CancelScope() as scope:
            scope.cancel()
            await connection.request("threads")
        with trio.move_on_after(1) as waited:
            await peer.take()
        assert waited.cancelled_caught


async def test_an_idle_connection_has_no_task_but_its_reader(autojump_clock: trio.testing.MockClock) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with connected() as (connection, peer):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "threads")
            await peer.answer(await peer.take())
        assert trio.lowlevel.current_statistics().tasks_living == before + 1


async def test_a_connection_that_breaks_has_ended(autojump_clock: trio.testing.MockClock) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with open_connection(ours, refuse_all) as connection:
        await Peer(theirs).event("initialized")
        assert await connection.events.receive() == Initialized()
        await trio.testing.wait_all_tasks_blocked()
        ours.receive_stream.receive_some_hook = raising(trio.BrokenResourceError)
        await Peer(theirs).event("terminated")
        assert await drain(connection) == [
            Terminated(),
            EndOfStream("the debug adapter closed the connection"),
        ]


async def test_a_request_does_not_wait_for_a_writer_that_has_ended(autojump_clock: trio.testing.MockClock) -> None:
    ours, _theirs = trio.testing.memory_stream_pair()
    ours.send_stream.send_all_hook = raising(trio.BrokenResourceError)
    async with open_connection(ours, refuse_all) as connection:
        with trio.move_on_after(1):
            await connection.request("threads")  # the writer takes this one, and breaks
        with trio.fail_after(1), pytest.raises(AdapterGone):
            await connection.request("threads")


def raising(error: type[Exception]) -> Callable[[], Awaitable[None]]:
    async def fail() -> None:
        await trio.lowlevel.checkpoint()
        raise error

    return fail


async def test_garbage_ends_the_connection_and_is_quoted(
    autojump_clock: trio.testing.MockClock,
) -> None:
    garbage = b"Traceback (most recent call last):\n  File ..."
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            with pytest.raises(AdapterGone, match=r"broke the protocol.*Traceback"):
                await connection.request("initialize")

        await peer.take()
        await peer.stream.send_all(garbage)
        (end,) = await drain(connection)
        assert isinstance(end, EndOfStream)
        assert end.violation is not None
        assert end.violation.head == garbage
        assert connection.ended is end


@pytest.mark.parametrize("body", [b"{", b'{"type":"letter"}', b"[1]", b'{"type":"event","event":"x","body":'])
async def test_a_frame_that_is_not_a_message_ends_the_connection(
    body: bytes, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected() as (connection, peer):
        await peer.stream.send_all(encode_frame(body))
        (end,) = await drain(connection)
        assert isinstance(end, EndOfStream)
        assert end.violation is not None
        assert end.violation.head == body[:200]


async def test_events_before_the_garbage_are_delivered(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer):
        await peer.stream.send_all(encode_frame(b'{"type":"event","event":"initialized"}') + b"Segmentation fault\n")
        await peer.stream.aclose()
        first, end = await drain(connection)
        assert first == Initialized()
        assert isinstance(end, EndOfStream)
        assert end.violation is not None
        assert end.violation.head == b"Segmentation fault\n"


async def test_a_stream_that_ends_inside_a_message_is_reported_as_such(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer):
        await peer.stream.send_all(b"Content-Length: 10\r\n\r\n{")
        await peer.stream.aclose()
        (end,) = await drain(connection)
        assert "in the middle of a message" in end.reason


async def test_messages_may_arrive_byte_by_byte(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            await peer.take()
            event = encode_frame(b'{"seq":1,"type":"event","event":"continued","body":{"threadId":1}}')
            answer = encode_frame(b'{"seq":2,"type":"response","request_seq":1,"success":true,"command":"threads"}')
            for byte in event + answer:
                await peer.stream.send_all(bytes([byte]))
                await trio.sleep(0.001)

        await connection.request("threads", kind=ThreadsBody)
        assert connection.events.receive_nowait() == Continued(1)


# --- Reverse requests -------------------------------------------------------------------------------------


async def reverse(serve: ReverseRequest, command: str = "startDebugging") -> Any:
    """Send a reverse request and return the response."""
    async with connected(serve) as (_, peer):
        await peer.send({"seq": 7, "type": "request", "command": command, "arguments": {"request": "launch"}})
        return await peer.take()


async def test_a_reverse_request_is_answered_with_the_result_of_its_function(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def serve(request: Request) -> object:
        await trio.lowlevel.checkpoint()
        assert (request.command, bytes(request.arguments)) == ("startDebugging", b'{"request": "launch"}')
        return {"processId": 4}

    assert await reverse(serve) == {
        "type": "response",
        "seq": 1,
        "request_seq": 7,
        "success": True,
        "command": "startDebugging",
        "body": {"processId": 4},
    }


@pytest.mark.parametrize(
    "error",
    [
        AdapterRefused("x", "no"),
        AdapterGone("no"),
        ProtocolViolation("no"),
        CannotRun("x", "no"),
        DebugError("no"),
        KeyError("no"),
    ],
)
async def test_a_reverse_request_that_fails_is_answered_with_the_reason(
    error: Exception, autojump_clock: trio.testing.MockClock
) -> None:
    async def serve(request: Request) -> object:
        await trio.lowlevel.checkpoint()
        raise error

    answer = await reverse(serve)
    assert (answer["success"], answer["request_seq"], answer["command"]) == (False, 7, "startDebugging")
    assert "no" in answer["message"]


async def test_a_slow_reverse_request_does_not_delay_other_requests(autojump_clock: trio.testing.MockClock) -> None:
    async def serve(request: Request) -> object:
        await trio.sleep(3)
        return {}

    async with connected(serve) as (connection, peer):
        await peer.send({"seq": 7, "type": "request", "command": "runInTerminal"})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "threads")
            request = await peer.take()
            assert request["command"] == "threads"
            await peer.answer(request)
        assert trio.current_time() == 0
        answer = await peer.take()
        assert (answer["request_seq"], answer["success"]) == (7, True)
        assert answer["seq"] > request["seq"]
        assert trio.current_time() == 3


async def test_a_reverse_request_without_seq_is_answered_to_seq_0(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (_, peer):
        await peer.send({"type": "request", "command": "runInTerminal"})
        assert (await peer.take())["request_seq"] == 0


async def test_a_reverse_request_that_outlives_the_connection_is_not_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    served: list[str] = []

    async def serve(request: Request) -> object:
        await trio.sleep(3)
        served.append(request.command)
        return {}

    async with connected(serve) as (connection, peer):
        await peer.send({"seq": 7, "type": "request", "command": "runInTerminal"})
        await peer.stream.aclose()
        assert await drain(connection) == [EndOfStream("the debug adapter closed the connection")]
        await trio.sleep(5)
    assert served == ["runInTerminal"]


# --- The end ----------------------------------------------------------------------------------------------


async def test_a_goodbye_under_cancellation_is_still_sent_and_answered(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    said: list[str] = []

    async def adapter() -> None:
        peer = Peer(theirs)
        request = await peer.take()
        said.append(request["command"])
        await trio.sleep(2)
        await peer.answer(request)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(adapter)
        with trio.move_on_after(1):
            async with open_connection(ours, refuse_all) as connection:
                try:
                    await trio.sleep_forever()
                finally:
                    with trio.move_on_after(5, shield=True) as patience:
                        await connection.request("disconnect")
    assert said == ["disconnect"]
    assert not patience.cancelled_caught
    assert trio.current_time() == 3


async def test_a_goodbye_without_a_response_takes_as_long_as_its_shield(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with trio.move_on_after(1):
        async with connected() as (connection, _):
            try:
                await trio.sleep_forever()
            finally:
                with trio.move_on_after(5, shield=True):
                    await connection.request("disconnect")
    assert trio.current_time() == 6


async def test_the_end_of_the_block_closes_the_stream_and_does_not_wait_for_the_peer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (_, peer):
        await peer.send(*({"type": "event", "event": "output"} for _ in range(1000)))  # more than the channel holds
        await trio.testing.wait_all_tasks_blocked()
    with pytest.raises(trio.BrokenResourceError):
        await peer.stream.send_all(b"x")
    assert trio.current_time() == 0


async def test_after_the_end_of_the_block_there_are_no_events(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer):
        await peer.event("initialized")
        await trio.testing.wait_all_tasks_blocked()
    with pytest.raises(trio.ClosedResourceError):
        connection.events.receive_nowait()


async def test_the_end_of_the_block_wakes_every_request(autojump_clock: trio.testing.MockClock) -> None:
    failures: list[AdapterGone] = []

    async def ask(connection: Connection) -> None:
        with pytest.raises(AdapterGone) as gone:
            await connection.request("threads")
        failures.append(gone.value)

    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            async with connected() as (connection, peer):
                nursery.start_soon(ask, connection)
                await peer.take()
                nursery.start_soon(ask, connection)
            with pytest.raises(AdapterGone):
                await connection.request("threads")
    assert [failure.reason for failure in failures] == ["the connection was closed from this side"] * 2


async def test_the_end_of_the_block_does_not_wait_for_a_peer_that_does_not_read(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, _theirs = trio.testing.lockstep_stream_pair()
    async with open_connection(ours, refuse_all) as connection:
        with trio.move_on_after(1):
            await connection.request("threads")
    assert trio.current_time() == 1


async def test_events_that_are_not_received_hold_up_the_adapter_and_none_is_lost(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            for number in range(1000):
                await peer.event("output", {"output": str(number)})
            await peer.stream.aclose()

        await trio.testing.wait_all_tasks_blocked()
        assert connection.statistics().events_waiting == 256
        *outputs, end = await drain(connection)
        assert [event.output for event in outputs] == [str(number) for number in range(1000)]
        assert isinstance(end, EndOfStream)


async def test_an_error_in_the_block_is_raised_out_of_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(LookupError, match="ours")):
        async with connected():
            raise LookupError("ours")


async def test_a_connection_shows_what_is_waiting_and_how_it_ended(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (connection, peer), trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(AdapterGone):
                await connection.request("threads")

        nursery.start_soon(ask)
        await peer.take()
        await peer.event("initialized")
        await trio.testing.wait_all_tasks_blocked()
        assert repr(connection) == "<dap.Connection open, waiting: 1 requests, 1 events>"
        await peer.stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert repr(connection) == (
            "<dap.Connection ended (the debug adapter closed the connection), waiting: 0 requests, 2 events>"
        )


async def test_a_peer_that_never_reads_ends_the_connection_before_what_waits_for_it_fills_the_memory(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, _ = trio.testing.lockstep_stream_pair()
    gone: list[str] = []
    async with open_connection(ours, refuse_all) as connection:

        async def ask() -> None:
            try:
                await connection.request("evaluate", {"expression": "x" * 1_000_000})
            except AdapterGone as error:
                gone.append(str(error))

        async with trio.open_nursery() as nursery:
            for _ in range(2 * MOST_UNREAD_BYTES // 1_000_000):
                nursery.start_soon(ask)
        [end] = await drain(connection)
    assert isinstance(end, EndOfStream)
    assert end.reason == "the debug adapter does not read: more than 8 MB wait to be written to it"
    assert len(gone) == 2 * MOST_UNREAD_BYTES // 1_000_000
    assert all(end.reason in each for each in gone)


async def test_a_request_larger_than_what_may_wait_is_written_behind_another_one() -> None:
    ours, theirs = trio.testing.lockstep_stream_pair()
    peer = Peer(theirs)
    async with open_connection(ours, refuse_all) as connection, trio.open_nursery() as nursery:
        for size in (1, MOST_UNREAD_BYTES):
            nursery.start_soon(connection.request, "evaluate", {"expression": "x" * size})
            await trio.testing.wait_all_tasks_blocked()
        assert connection.ended is None
        for size in (1, MOST_UNREAD_BYTES):
            request = await peer.take()
            assert len(request["arguments"]["expression"]) == size
            await peer.answer(request, {})


async def test_requests_that_were_given_up_do_not_count_as_unread(autojump_clock: trio.testing.MockClock) -> None:
    ours, _ = trio.testing.lockstep_stream_pair()
    async with open_connection(ours, refuse_all) as connection:
        for _ in range(2 * MOST_UNREAD_BYTES // 1_000_000):
            with trio.move_on_after(1):
                await connection.request("evaluate", {"expression": "x" * 1_000_000})
        assert connection.ended is None
