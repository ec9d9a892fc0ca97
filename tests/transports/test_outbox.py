"""Messages on their way to a peer: all at once, in order, and no sender is left waiting when the peer is gone."""

import anyio
import pytest
import trio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification
from trio.testing import MockClock, memory_stream_pair, memory_stream_pump, wait_all_tasks_blocked

from trio_debugmcp.transports.outbox import MAX_MESSAGES, Outbox, SharedStream


def message(number: int) -> SessionMessage:
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=str(number)))


def numbers(messages: list[SessionMessage]) -> list[int]:
    return [int(each.message.method) for each in messages]  # type: ignore[union-attr]


async def test_messages_that_are_sent_in_a_row_are_taken_together(autojump_clock: MockClock) -> None:
    outbox, taken = Outbox(), list[list[int]]()

    async def take() -> None:
        while True:
            taken.append(numbers(await outbox.take()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        await wait_all_tasks_blocked()
        for start in (0, 3):
            for number in range(start, start + 3):
                await outbox.send(message(number))
            await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert taken == [[0, 1, 2], [3, 4, 5]]


async def test_past_the_bound_senders_wait_in_order(autojump_clock: MockClock) -> None:
    outbox, everything = Outbox(), 5 * MAX_MESSAGES

    async def send(first: int) -> None:
        for number in range(first, everything, 2):
            await outbox.send(message(number))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(send, 0)
        nursery.start_soon(send, 1)
        await wait_all_tasks_blocked()
        assert outbox.waiting == 2
        taken = list[int]()
        while len(taken) < everything:
            batch = numbers(await outbox.take())
            assert len(batch) <= 2 * MAX_MESSAGES
            taken += batch
            await wait_all_tasks_blocked()
    for first in (0, 1):
        assert [number for number in taken if number % 2 == first] == list(range(first, everything, 2))


async def test_a_sender_does_not_overtake_those_who_wait(autojump_clock: MockClock) -> None:
    outbox, everything = Outbox(), 3 * MAX_MESSAGES

    async def send(number: int) -> None:
        await outbox.send(message(number))

    async def take_and_send() -> None:
        taken.append(numbers(await outbox.take()))
        await send(everything)

    taken = list[list[int]]()
    with trio.move_on_after(1):
        async with trio.open_nursery() as nursery:
            for number in range(everything):
                nursery.start_soon(send, number)
                await wait_all_tasks_blocked()
            nursery.start_soon(take_and_send)
            await wait_all_tasks_blocked()
            for _ in range(3):
                taken.append(numbers(await outbox.take()))
                await wait_all_tasks_blocked()
    assert [len(batch) for batch in taken] == [MAX_MESSAGES, MAX_MESSAGES, MAX_MESSAGES, 1]
    assert taken[-1] == [everything]


async def test_a_closed_outbox_can_be_emptied(autojump_clock: MockClock) -> None:
    outbox = Outbox()
    await outbox.send(message(1))
    await outbox.aclose()
    assert repr(outbox) == "<Outbox closed, 1 messages, 0 waiting senders>"
    with pytest.raises(anyio.ClosedResourceError):
        await outbox.send(message(2))
    assert numbers(await outbox.take()) == [1]
    with pytest.raises(trio.EndOfChannel):
        await outbox.take()


@pytest.mark.parametrize("ending", ["close", "abandon"])
async def test_senders_that_wait_are_woken_with_an_error_at_the_end(ending: str, autojump_clock: MockClock) -> None:
    outbox, errors = Outbox(), list[type[Exception]]()

    async def send() -> None:
        try:
            await outbox.send(message(0))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            errors.append(type(error))

    for number in range(MAX_MESSAGES):
        await outbox.send(message(number))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(send)
        nursery.start_soon(send)
        await wait_all_tasks_blocked()
        assert outbox.waiting == 2
        getattr(outbox, ending)()
    assert errors == [anyio.ClosedResourceError if ending == "close" else anyio.BrokenResourceError] * 2


async def test_data_of_several_tasks_on_one_stream_is_not_mixed(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    shared = SharedStream(ours)
    sent = list[bytes]()

    async def dawdle() -> None:
        await trio.sleep(1)
        memory_stream_pump(ours.send_stream, theirs.receive_stream)
        sent.append(bytes(await theirs.receive_some()))

    ours.send_stream.send_all_hook = dawdle
    async with trio.open_nursery() as nursery:
        for letter in (b"a", b"b", b"c"):
            nursery.start_soon(shared.send_all, letter * 3)
    assert (trio.current_time(), sorted(sent)) == (3, [b"aaa", b"bbb", b"ccc"])
