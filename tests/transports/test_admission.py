"""Strangers and clients are bounded apart, in number and in time. Memory streams, exact times."""

import resource
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from trio_debugmcp.descriptors import many_open_files, open_files, reachable_open_files
from trio_debugmcp.transports.accept import FULL_SECONDS, accept_connections
from trio_debugmcp.transports.admission import (
    CROWDED_SECONDS,
    MAX_CLIENTS,
    MAX_STRANGERS,
    STRANGER_SECONDS,
    TURN_ROUNDS,
    Admission,
    AdmissionStatistics,
    ConnectionBounds,
    Refused,
    Visitor,
    bounds,
)
from trio_debugmcp.transports.connection_tap import Role

LIMITS = ConnectionBounds(strangers=3, control=2, observe=2)


class Connections(trio.abc.Listener[trio.abc.Stream]):
    """A listener whose connections wait in `queue`, in front of an admission; the handler does what the peer sends."""

    def __init__(self, admission: Admission) -> None:
        self.admission = admission
        self.visitors: list[Visitor] = []
        self.closed: list[tuple[int, float]] = []
        self._send, self.queue = trio.open_memory_channel[trio.abc.Stream](1000)

    def dial(self) -> trio.abc.HalfCloseableStream:
        ours, theirs = memory_stream_pair()
        self._send.send_nowait(theirs)
        return ours

    async def accept(self) -> trio.abc.Stream:
        return await self.queue.receive()

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()

    async def handle(self, stream: trio.abc.Stream, visitor: Visitor) -> None:
        number = len(self.visitors)
        self.visitors.append(visitor)
        try:
            while data := await stream.receive_some():
                match bytes(data):
                    case b"control" | b"observe" as role:
                        await self._admit(stream, visitor, "control" if role == b"control" else "observe")
                    case b"idle":
                        visitor.idle_since = trio.current_time()
                    case b"fail":
                        raise ValueError("on purpose")
        finally:
            self.closed.append((number, trio.current_time()))

    async def _admit(self, stream: trio.abc.Stream, visitor: Visitor, role: Role) -> None:
        try:
            visitor.admit(role)
        except Refused as refusal:
            await stream.send_all(str(refusal.status.value).encode())
        else:
            await stream.send_all(b"ok")

    async def admitted(self, role: bytes) -> tuple[trio.abc.HalfCloseableStream, bytes]:
        """Connect and show a token; return the connection and the answer."""
        stream = self.dial()
        await stream.send_all(role)
        return stream, bytes(await stream.receive_some())


@asynccontextmanager
async def accepting(limits: ConnectionBounds = LIMITS) -> AsyncIterator[Connections]:
    connections = Connections(Admission(limits))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept_connections, [connections], connections.admission, connections.handle)
        yield connections
        nursery.cancel_scope.cancel()


async def test_a_stranger_has_half_a_minute(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        stream = connections.dial()
        assert await stream.receive_some() == b""
        assert trio.current_time() == STRANGER_SECONDS
        await trio.testing.wait_all_tasks_blocked()
        assert connections.admission.statistics() == AdmissionStatistics(0, 0, 0, turned_out=0)


async def test_who_was_admitted_stays(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        stream, answer = await connections.admitted(b"observe")
        assert answer == b"ok"
        await trio.sleep(100 * STRANGER_SECONDS)
        assert connections.admission.statistics() == AdmissionStatistics(0, control=0, observe=1, turned_out=0)
        await stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert connections.admission.statistics() == AdmissionStatistics(0, control=0, observe=0, turned_out=0)


async def test_among_too_many_strangers_the_oldest_makes_room_after_a_moment(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with accepting() as connections:
        for _ in range(10):
            connections.dial()
        await trio.testing.wait_all_tasks_blocked()
        assert connections.admission.statistics().strangers == LIMITS.strangers
        _, answer = await connections.admitted(b"control")
        assert answer == b"ok"
        # Three at a time, behind the ten that were there before.
        assert trio.current_time() == pytest.approx(3 * CROWDED_SECONDS)
        assert [number for number, _ in connections.closed] == list(range(9))
        assert connections.admission.statistics() == AdmissionStatistics(1, control=1, observe=0, turned_out=9)
    assert "others wait for its place" in caplog.text


async def test_strangers_that_leave_at_once_are_served_at_a_bounded_rate(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        for _ in range(12):
            await connections.dial().aclose()
        _, answer = await connections.admitted(b"control")
        assert answer == b"ok"
        assert trio.current_time() == pytest.approx(4 * CROWDED_SECONDS)
        assert connections.admission.statistics().turned_out == 0


async def test_a_place_is_taken_for_a_moment_after_its_stranger_has_left(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        silent = connections.dial()
        for _ in range(2):
            await connections.dial().aclose()
            await trio.testing.wait_all_tasks_blocked()
        assert connections.admission.statistics().strangers == 1
        connections.dial()
        await trio.testing.wait_all_tasks_blocked()
        assert len(connections.visitors) == 3
        await trio.sleep(CROWDED_SECONDS)
        await trio.testing.wait_all_tasks_blocked()
        assert len(connections.visitors) == 4
        # The silent one was there before, and stays as long as there are places.
        await silent.send_all(b"control")
        assert await silent.receive_some() == b"ok"
        assert connections.admission.statistics() == AdmissionStatistics(1, control=1, observe=0, turned_out=0)


async def test_clients_with_a_token_do_not_wait_for_each_other(autojump_clock: MockClock) -> None:
    async with accepting(ConnectionBounds(strangers=1, control=100, observe=1)) as connections:
        for _ in range(100):
            assert (await connections.admitted(b"control"))[1] == b"ok"
        assert trio.current_time() == 0


async def test_observers_take_no_place_of_control(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        kept = [await connections.admitted(b"observe") for _ in range(4)]
        assert [answer for _, answer in kept] == [b"ok", b"ok", b"503", b"503"]
        more = [await connections.admitted(b"control") for _ in range(3)]
        assert [answer for _, answer in more] == [b"ok", b"ok", b"503"]


async def test_the_connection_that_is_idle_for_longest_makes_room_for_one_of_its_role(
    autojump_clock: MockClock,
) -> None:
    async with accepting() as connections:
        first, _ = await connections.admitted(b"observe")
        second, _ = await connections.admitted(b"observe")
        await second.send_all(b"idle")
        await trio.sleep(1)
        await first.send_all(b"idle")
        await trio.sleep(1)
        assert (await connections.admitted(b"control"))[1] == b"ok"
        assert not connections.closed
        assert (await connections.admitted(b"observe"))[1] == b"ok"
        assert await second.receive_some() == b""
        assert connections.closed == [(1, 2.0)]
        assert connections.admission.statistics() == AdmissionStatistics(0, control=1, observe=2, turned_out=0)


async def test_a_connection_that_comes_back_with_another_token_changes_its_role(autojump_clock: MockClock) -> None:
    async with accepting() as connections:
        stream, _ = await connections.admitted(b"observe")
        for role, expected in ((b"control", (1, 0)), (b"control", (1, 0)), (b"observe", (0, 1))):
            await stream.send_all(role)
            assert await stream.receive_some() == b"ok"
            now = connections.admission.statistics()
            assert (now.control, now.observe) == expected


async def test_an_error_ends_its_connection_only(autojump_clock: MockClock, caplog: pytest.LogCaptureFixture) -> None:
    async with accepting() as connections:
        other, _ = await connections.admitted(b"control")
        stream = connections.dial()
        await stream.send_all(b"fail")
        assert await stream.receive_some() == b""
        await other.send_all(b"control")
        assert await other.receive_some() == b"ok"
    assert "a connection failed: ValueError('on purpose')" in caplog.text
    assert "Traceback" in caplog.text


async def test_without_descriptors_it_tries_again_and_the_log_stays_short(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_descriptor(self: Connections) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        raise OSError(24, "Too many open files")

    async with accepting() as connections:
        await trio.testing.wait_all_tasks_blocked()
        with monkeypatch.context() as patched:
            patched.setattr(Connections, "accept", no_descriptor)
            (await connections.admitted(b"control"))[0]  # was waited for already
            await trio.sleep(30)
        connections.dial()
        await trio.sleep(FULL_SECONDS)
        assert (await connections.admitted(b"control"))[1] == b"ok"
    assert caplog.text.count("cannot accept a connection") == 20
    assert caplog.text.count("more lines like the last ones were left out") == 1


@pytest.mark.parametrize("limit", [64, 256, 1024, 4096, 1_000_000])
def test_of_the_descriptors_at_least_three_eighths_are_left_for_debug_sessions(limit: int) -> None:
    shared = bounds(limit)
    assert shared.strangers + shared.control + shared.observe <= limit * 5 // 8
    assert (shared.strangers <= MAX_STRANGERS, shared.control <= MAX_CLIENTS, shared.observe <= MAX_CLIENTS) == (
        True,
    ) * 3
    assert min(shared.strangers, shared.control, shared.observe) >= 4


def test_the_usual_limits_allow_so_many_connections() -> None:
    assert bounds(8) == ConnectionBounds(strangers=4, control=4, observe=4)
    assert bounds(256) == ConnectionBounds(strangers=32, control=32, observe=96)
    assert bounds(1024) == ConnectionBounds(strangers=64, control=128, observe=384)
    assert bounds(100_000) == ConnectionBounds(strangers=64, control=1000, observe=1000)


def test_the_limit_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_files() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert bounds(open_files()) == bounds(100_000)
    monkeypatch.setattr(sys, "platform", "win32")
    assert open_files() == 1024


def test_more_descriptors_are_had_for_the_length_of_a_block_as_far_as_the_hard_limit_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = [(1024, 20_000)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, limit: limits.append(limit))
    with many_open_files():
        assert open_files() == reachable_open_files() == 4096
    assert limits == [(1024, 20_000), (4096, 20_000), (1024, 20_000)]
    limits[:] = [(256, 512)]
    assert reachable_open_files() == 512
    limits[:] = [(8192, resource.RLIM_INFINITY)]
    with many_open_files():
        assert limits == [(8192, resource.RLIM_INFINITY)], "there are enough"
    monkeypatch.setattr(sys, "platform", "win32")
    with many_open_files():
        assert reachable_open_files() == 100_000, "no such limit counts connections there"


# --- Turns ------------------------------------------------------------------------------------------------------------


async def test_messages_of_observers_take_turns_with_rounds_of_the_scheduler_between(autojump_clock: MockClock) -> None:
    admission = Admission(ConnectionBounds(10, 10, 10))
    turns: list[tuple[str, int]] = []
    rounds = 0

    async def handle(name: str, role: Role) -> None:
        visitor = admission.enter()
        visitor.admit(role)
        await visitor.wait_turn()
        turns.append((name, rounds))

    async def count() -> None:
        nonlocal rounds
        while len(turns) < 4:
            rounds += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count)
        await trio.lowlevel.checkpoint()
        for name in ("o1", "o2", "o3"):
            nursery.start_soon(handle, name, "observe")
            await trio.lowlevel.checkpoint()
        nursery.start_soon(handle, "c", "control")
    assert [name for name, _ in turns] == ["c", "o1", "o2", "o3"], "a client in control waits for none of them"
    times = [when for _, when in turns[1:]]
    assert all(later - earlier >= TURN_ROUNDS for earlier, later in pairwise(times))
