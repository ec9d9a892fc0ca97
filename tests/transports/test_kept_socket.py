import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from trio_debugmcp.kept.place import Place, hold
from trio_debugmcp.transports.in_memory import ByteStream, byte_stream_pair
from trio_debugmcp.transports.kept_socket import AlreadyKept, KeptCalls, bound

IDLE = 1800.0


class MemoryListener(trio.abc.Listener[trio.abc.Stream]):
    """Accepts connections that are made in memory."""

    def __init__(self) -> None:
        self._to, self._from = trio.open_memory_channel[ByteStream](8)

    async def connect(self) -> ByteStream:
        ours, theirs = byte_stream_pair()
        await self._to.send(theirs)
        return ours

    async def accept(self) -> ByteStream:
        return await self._from.receive()

    async def aclose(self) -> None:
        self._from.close()
        await trio.lowlevel.checkpoint()


async def until_closed(stream: trio.abc.Stream) -> None:
    while await stream.receive_some():
        pass


@pytest.fixture
def listener() -> MemoryListener:
    return MemoryListener()


@pytest.fixture
async def serving(listener: MemoryListener) -> AsyncIterator[tuple[KeptCalls, trio.Event]]:
    calls, ended = KeptCalls(until_closed, IDLE), trio.Event()

    async def serve() -> None:
        await calls.serve(listener)
        ended.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        yield calls, ended
        nursery.cancel_scope.cancel()


async def test_it_ends_without_a_call(serving: tuple[KeptCalls, trio.Event], autojump_clock: MockClock) -> None:
    await serving[1].wait()
    assert trio.current_time() == pytest.approx(IDLE)


async def test_the_time_counts_from_the_end_of_the_last_call(
    serving: tuple[KeptCalls, trio.Event], listener: MemoryListener, autojump_clock: MockClock
) -> None:
    first, second = await listener.connect(), await listener.connect()
    await trio.sleep(5 * IDLE)
    await first.aclose()
    await trio.sleep(2 * IDLE)
    assert not serving[1].is_set()
    await second.aclose()
    await serving[1].wait()
    assert trio.current_time() == pytest.approx(8 * IDLE)


async def test_it_is_quiet_when_the_last_call_has_ended(
    serving: tuple[KeptCalls, trio.Event], listener: MemoryListener, autojump_clock: MockClock
) -> None:
    stream = await listener.connect()
    await trio.sleep(1)
    with trio.move_on_after(10) as waiting:
        await serving[0].wait_quiet()
    assert waiting.cancelled_caught
    await stream.aclose()
    await serving[0].wait_quiet()


async def test_a_call_that_fails_ends_no_other(listener: MemoryListener, autojump_clock: MockClock) -> None:
    served: list[int] = []

    async def fail_first(stream: trio.abc.Stream) -> None:
        served.append(len(served))
        if len(served) == 1:
            raise RuntimeError("a bug")

    calls = KeptCalls(fail_first, IDLE)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(calls.serve, listener)
        await listener.connect()
        await listener.connect()
    assert served == [0, 1]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with TemporaryDirectory() as directory:  # of a short path, for a socket
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        yield Place.of(directory)


@pytest.mark.real
async def test_one_server_is_bound_at_a_place(place: Place) -> None:
    with bound(place, {"pid": 7}) as listener:
        with (
            pytest.raises(AlreadyKept, match="call --end, or with kill 7 if that does not find it"),
            bound(place, {}),
        ):
            pass
        assert place.record() == {"pid": 7}
        async with await trio.open_unix_socket(place.socket), await listener.accept():
            pass
    assert not Path(place.socket).exists()
    assert place.record() is None


@pytest.mark.real
async def test_the_end_of_a_server_whose_directory_was_removed_leaves_the_next_one_reachable(place: Place) -> None:
    with bound(place, {"pid": 1}):
        shutil.rmtree(place.directory)
        next_one = bound(place, {"pid": 2})
        listener = next_one.__enter__()
    async with await trio.open_unix_socket(place.socket), await listener.accept():
        assert place.record() == {"pid": 2}
    next_one.__exit__(None, None, None)
    assert not Path(place.socket).exists()


@pytest.mark.real
async def test_an_orderly_end_leaves_nothing_also_one_that_is_asked_for(place: Place) -> None:
    with trio.CancelScope() as scope, bound(place, {"pid": 1}):
        Path(place.log).touch()
        Path(place.starting_lock).touch()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert not Path(place.directory).exists()


@pytest.mark.real
async def test_the_log_of_a_server_that_has_failed_stays(place: Place) -> None:
    with pytest.raises(OSError, match="broken"), bound(place, {"pid": 1}):
        Path(place.log).touch()
        raise OSError("broken")
    assert (Path(place.log).exists(), Path(place.socket).exists()) == (True, False)


@pytest.mark.real
async def test_the_end_of_a_server_takes_no_lock_from_one_that_is_being_started(place: Place) -> None:
    with bound(place, {"pid": 1}):
        starting = hold(place, place.starting_lock)
        assert hold(place, place.starting_lock) is None
    assert hold(place, place.starting_lock) is None
    assert starting is not None
    starting.close()
    # A lock on what was removed does not count: it is taken anew.
    removed = hold(place, place.starting_lock)
    shutil.rmtree(place.directory)
    again = hold(place, place.starting_lock)
    assert (removed is None, again is None) == (False, False)
    for file in (removed, again):
        if file is not None:
            file.close()


@pytest.mark.real
async def test_what_a_killed_server_has_left_is_replaced(place: Place) -> None:
    place.make()
    Path(place.socket).touch()
    place.write_record({"pid": 1})
    with bound(place, {"pid": 2}) as listener:
        async with await trio.open_unix_socket(place.socket), await listener.accept():
            assert place.record() == {"pid": 2}


async def test_a_server_with_other_clients_is_not_idle(autojump_clock: MockClock, listener: MemoryListener) -> None:
    used = [True]
    calls = KeptCalls(until_closed, IDLE, lambda: used[0])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(calls.serve, listener)
        await trio.sleep(2.5 * IDLE)
        assert nursery.child_tasks
        async with await listener.connect():  # it still takes calls
            await trio.sleep(2 * IDLE)
        used[0] = False
        await trio.testing.wait_all_tasks_blocked()
        start = trio.current_time()
    assert trio.current_time() - start == IDLE
