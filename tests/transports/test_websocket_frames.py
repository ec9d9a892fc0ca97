"""A WebSocket message has bounds in time and in pieces. Memory streams, exact times."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair
from trio_websocket import WebSocketConnection

from tests.transports.scene import OBSERVE, PING, closing, open_scene, receive
from trio_debugmcp.transports.websocket import CLOSE_SECONDS, MAX_OBSERVER_MESSAGE_SIZE
from trio_debugmcp.transports.websocket_frames import MAX_FRAGMENTS, MESSAGE_SECONDS, BoundedFrames, FrameCounter

TEXT, CONTINUED, PING_FRAME = 1, 0, 9


def frame(opcode: int, payload: bytes, *, last: bool = True) -> bytes:
    """A client's frame, masked with zeros."""
    size = len(payload)
    if size < 126:
        length = bytes([0x80 | size])
    else:
        length = bytes([0xFE]) + size.to_bytes(2) if size <= 0xFFFF else bytes([0xFF]) + size.to_bytes(8)
    return bytes([(0x80 if last else 0) | opcode]) + length + bytes(4) + payload


STREAMS = [
    (frame(TEXT, b"x"), 1, 0),
    (frame(TEXT, b""), 1, 0),
    (frame(TEXT, b"x" * 126), 1, 0),
    (frame(TEXT, b"x" * 70_000), 1, 0),
    (frame(TEXT, b"a", last=False), 0, 1),
    (frame(TEXT, b"a", last=False) + frame(PING_FRAME, b"?") + frame(CONTINUED, b"", last=False), 0, 2),
    (frame(TEXT, b"a", last=False) + frame(CONTINUED, b"b") + frame(TEXT, b"c"), 2, 0),
    (b"\x81\x05hello" + frame(PING_FRAME, b""), 1, 0),
]


@pytest.mark.parametrize(("data", "complete", "fragments"), STREAMS)
@pytest.mark.parametrize("size", [1, 3, 1_000_000])
def test_frames_are_counted_however_they_are_cut(data: bytes, complete: int, fragments: int, size: int) -> None:
    counter = FrameCounter()
    for start in range(0, len(data), size):
        counter.feed(data[start : start + size])
    assert (counter.complete, counter.fragments, counter.incomplete) == (complete, fragments, fragments > 0)


@pytest.mark.parametrize("end", range(1, 133))
def test_within_a_frame_a_message_is_incomplete(end: int) -> None:
    counter = FrameCounter()
    counter.feed(frame(TEXT, b"x" * 126)[:end])
    assert counter.incomplete


async def send_raw(connection: WebSocketConnection, data: bytes) -> None:
    await connection._stream.send_all(data)  # noqa: SLF001


async def test_a_message_that_never_ends_closes_with_1008(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection, trio.open_nursery() as nursery:
        start = trio.current_time()

        @nursery.start_soon
        async def _() -> None:
            await send_raw(connection, frame(TEXT, b"[", last=False))
            while trio.current_time() < start + MESSAGE_SECONDS:
                await trio.sleep(1)
                await send_raw(connection, frame(CONTINUED, b" ", last=False))

        code, reason = await closing(connection)
        assert (code, reason) == (1008, "a message took over 60 s")
        assert trio.current_time() - start <= MESSAGE_SECONDS + CLOSE_SECONDS
        nursery.cancel_scope.cancel()


async def test_of_a_message_in_too_many_pieces_the_rest_is_not_read(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        await send_raw(connection, frame(TEXT, b"[", last=False))
        await send_raw(connection, frame(CONTINUED, b"", last=False) * 200_000)
        assert await closing(connection) == (1008, f"a message came in over {MAX_FRAGMENTS} pieces")


async def test_a_message_in_some_pieces_is_served(autojump_clock: MockClock) -> None:
    async with open_scene() as scene, scene.websocket() as connection:
        first, *more = (PING[at : at + 1].encode() for at in range(len(PING)))
        await send_raw(connection, frame(TEXT, first, last=False))
        for piece in more:
            await trio.sleep(0.5)
            await send_raw(connection, frame(CONTINUED, piece, last=False))
        await send_raw(connection, frame(CONTINUED, b""))
        assert (await receive(connection))["id"] == 7


@asynccontextmanager
async def bounded(received: bytes = b"") -> AsyncIterator[tuple[trio.abc.Stream, list[tuple[str, float]], list[bytes]]]:
    """A peer's end, when and why it was given up, and what was received behind it."""
    ours, theirs = memory_stream_pair()
    given_up: list[tuple[str, float]] = []
    got: list[bytes] = []
    stream = BoundedFrames(theirs, received)
    stream.give_up = lambda reason: given_up.append((reason, trio.current_time()))
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _() -> None:
            while data := await stream.receive_some():
                got.append(bytes(data))

        yield ours, given_up, got
        nursery.cancel_scope.cancel()


TOO_SLOW = [("a message took over 60 s", MESSAGE_SECONDS)]


@pytest.mark.parametrize("begun", [frame(TEXT, b"[", last=False), frame(TEXT, b"[]")[:-1], b"\x81"])
async def test_a_message_that_was_begun_has_a_minute(begun: bytes, autojump_clock: MockClock) -> None:
    async with bounded() as (peer, given_up, got), bounded(begun) as (_, also_given_up, _):
        await peer.send_all(begun)
        await trio.sleep(2 * MESSAGE_SECONDS)
        await peer.send_all(b"more")
        await trio.sleep(1)
        assert given_up == also_given_up == TOO_SLOW
        assert got == [begun]


async def test_a_client_may_send_without_a_pause_for_longer_than_one_message_may_take(
    autojump_clock: MockClock,
) -> None:
    whole = frame(TEXT, PING.encode())
    async with bounded(whole[:5]) as (peer, given_up, _):
        for _ in range(10):
            await trio.sleep(MESSAGE_SECONDS - 1)
            await peer.send_all(whole[5:] + whole[:5])
        await peer.send_all(whole[5:])
        await trio.sleep(10 * MESSAGE_SECONDS)
        assert given_up == []


async def test_an_observer_sends_smaller_messages(autojump_clock: MockClock) -> None:
    text = PING.ljust(MAX_OBSERVER_MESSAGE_SIZE)
    async with open_scene() as scene:
        async with scene.websocket(OBSERVE) as connection:
            await connection.send_message(text)
            assert (await receive(connection))["id"] == 7
            await connection.send_message(text + " ")
            assert (await closing(connection))[0] == 1009
        async with scene.websocket() as connection:
            await connection.send_message(text + " ")
            assert (await receive(connection))["id"] == 7
