"""Channels over one connection: what comes out, that none stops the others, and how it ends. On a virtual clock."""

import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, lockstep_stream_pair, memory_stream_pair, wait_all_tasks_blocked

from trio_debugmcp.dap.channels import MAX_CHANNELS, PING_SECONDS, SILENT_SECONDS, WINDOW_BYTES, Channel, ChannelLink


class Scene:
    """Two ends of a connection; what the first one opens is in `opened` at the second."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        here, there = memory_stream_pair()
        self.wire, self.opened = here, dict[bytes, Channel]()
        self.first = ChannelLink(here)
        self.second = ChannelLink(there, opened=self.take)
        nursery.start_soon(self.first.run)
        nursery.start_soon(self.second.run)

    def take(self, channel: Channel, greeting: bytes) -> None:
        self.opened[greeting] = channel

    async def pair(self, greeting: bytes = b"a") -> tuple[Channel, Channel]:
        channel = self.first.open(greeting)
        await wait_all_tasks_blocked()
        return channel, self.opened[greeting]


@asynccontextmanager
async def open_scene() -> AsyncIterator[Scene]:
    with trio.fail_after(1000):
        async with trio.open_nursery() as nursery:
            yield Scene(nursery)
            nursery.cancel_scope.cancel()


async def received(channel: Channel, size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += await channel.receive_some()
    return data


async def test_what_is_sent_comes_out_in_order_whatever_its_size(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        here, there = await scene.pair()
        text = bytes(range(256)) * 8000
        for source, target in ((here, there), (there, here)):
            scene.nursery.start_soon(source.send_all, text)
            assert await received(target, len(text)) == text
        assert (repr(here), repr(scene.first)) == ("<Channel 1>", "<ChannelLink with 1 channels>")


async def test_a_channel_that_is_not_read_holds_a_bounded_part_and_stops_no_other(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        slow, unread = await scene.pair(b"slow")
        quick, read = await scene.pair(b"quick")
        scene.nursery.start_soon(slow.send_all, b"x" * 2_000_000)
        await wait_all_tasks_blocked()
        assert unread.unread == WINDOW_BYTES
        scene.nursery.start_soon(quick.send_all, b"y" * 2_000_000)
        assert await received(read, 2_000_000) == b"y" * 2_000_000
        assert unread.unread == WINDOW_BYTES
        assert len(await received(unread, 2_000_000)) == 2_000_000


async def test_a_side_that_has_said_all_still_hears_the_other(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        here, there = await scene.pair()
        await here.send_all(b"last words")
        await here.send_eof()
        assert (await received(there, 10), await there.receive_some()) == (b"last words", b"")
        await there.send_all(b"heard")
        assert await here.receive_some() == b"heard"
        await there.aclose()
        with pytest.raises(trio.BrokenResourceError):
            await here.receive_some()
        with pytest.raises(trio.ClosedResourceError):
            await there.send_all(b"more")


async def test_a_channel_that_is_closed_ends_its_senders_and_leaves_the_others(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        here, there = await scene.pair()
        other, its_peer = await scene.pair(b"other")

        async def send() -> None:
            with pytest.raises(trio.BrokenResourceError):
                await here.send_all(b"x" * 1_000_000)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(send)
            await wait_all_tasks_blocked()
            there.close()
        await other.send_all(b"z")
        assert await its_peer.receive_some() == b"z"
        other.close()
        await scene.first.wait_empty()


async def test_a_sender_that_is_cancelled_breaks_nothing(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        here, there = await scene.pair()
        with trio.move_on_after(1):
            await here.send_all(b"x" * 1_000_000)
        other, its_peer = await scene.pair(b"other")
        await other.send_all(b"whole")
        assert await its_peer.receive_some() == b"whole"
        assert await received(there, WINDOW_BYTES) == b"x" * WINDOW_BYTES


async def test_when_the_connection_ends_what_has_arrived_is_received_and_then_it_is_broken(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        here, there = await scene.pair()
        await here.send_all(b"before")
        await wait_all_tasks_blocked()
        await trio.aclose_forcefully(scene.wire)
        with trio.fail_after(1):
            await scene.first.over.wait()
            await scene.second.over.wait()
        assert await there.receive_some() == b"before"
        for channel in (here, there):
            with pytest.raises(trio.BrokenResourceError):
                await channel.receive_some()
        with pytest.raises(trio.BrokenResourceError):
            scene.first.open(b"late")


async def test_a_connection_that_was_cut_without_a_word_is_noticed_and_a_quiet_one_lives(
    autojump_clock: MockClock,
) -> None:
    async with open_scene() as scene:
        await trio.sleep(10 * SILENT_SECONDS)
        assert not scene.first.over.is_set()
        ours, theirs = memory_stream_pair()
        alone = ChannelLink(ours)
        scene.nursery.start_soon(alone.run)
        channel = alone.open(b"a")
        with trio.fail_after(SILENT_SECONDS + PING_SECONDS):
            await alone.over.wait()
        assert alone.why == "no sign of life from the other side"
        with pytest.raises(trio.BrokenResourceError):
            await channel.receive_some()
        assert theirs is not None


def frame(kind: int, number: int, payload: bytes, size: int | None = None) -> bytes:
    return struct.pack(">BII", kind, number, len(payload) if size is None else size) + payload


OPENING, DATA, CREDIT = 0, 1, 4


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x63" * 20,
        frame(DATA, 1, b"", 1 << 30),
        frame(OPENING, 1, b"a"),
        frame(CREDIT, 1, b"\xff\xff\xff\xff"),
        frame(DATA, 1, b"x" * 16384) * 17,
    ],
)
async def test_a_peer_that_breaks_the_rules_ends_the_connection(nonsense: bytes, autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    link = ChannelLink(ours, opened=lambda *_: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await theirs.send_all(frame(OPENING, 1, b"a") + nonsense)
        with trio.fail_after(1):
            await link.over.wait()
        assert link.why != ""


async def test_a_peer_that_takes_no_byte_is_left_in_time(autojump_clock: MockClock) -> None:
    ours, theirs = lockstep_stream_pair()
    link = ChannelLink(ours)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        link.open(b"a")
        with trio.fail_after(SILENT_SECONDS + 1):
            await link.over.wait()
    await theirs.aclose()


async def test_more_channels_than_there_may_be_are_closed_at_once(autojump_clock: MockClock) -> None:
    async with open_scene() as scene:
        made = [scene.first.open(str(number).encode()) for number in range(MAX_CHANNELS + 1)]
        with pytest.raises(trio.BrokenResourceError):
            await made[-1].receive_some()
        assert len(scene.opened) == MAX_CHANNELS
