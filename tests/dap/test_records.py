"""Records of hits: who may write them, and how they get into the program's stream of DAP."""

import json
import socket
import ssl
from contextlib import suppress
from functools import cache
from itertools import count, product
from typing import Any

import pytest
import trio
from trio.testing import (
    MemoryReceiveStream,
    MemorySendStream,
    MockClock,
    memory_stream_pair,
    wait_all_tasks_blocked,
)

from tests.dap.test_dial_in import is_closed, open_street
from tests.dap.test_direct import Program, Session, open_line
from tests.dap.test_door_tls import trusting
from trio_debugmcp.dap.channels import Channel, ChannelLink
from trio_debugmcp.dap.connection import Connection
from trio_debugmcp.dap.dial_in import DialIns
from trio_debugmcp.dap.door_tls import made_tls
from trio_debugmcp.dap.messages import Capabilities, OutputEvent, Stopped, Terminated
from trio_debugmcp.dap.records import HitRecord, HitRecords, records_of
from trio_debugmcp.patience import Patience

LOST = ("log", 0, "<2 records of hits could not be read>")
"""In place of what has no sense: it is said in the output of tracepoints, and counts for no breakpoint."""


def line(kind: str, hits: int, text: str = "", id_: str = "tp-1") -> bytes:
    return json.dumps([kind, id_, 1, hits, text]).encode() + b"\n"


async def connect(
    door: DialIns, nursery: trio.Nursery, key: str = "1", token: str | None = None, *, sockets: bool = False
) -> trio.abc.Stream:
    """A program connects for records; returns once it was accepted or not."""
    ours: trio.abc.Stream
    theirs: trio.abc.Stream
    ours, theirs = map(trio.SocketStream, trio.socket.socketpair()) if sockets else memory_stream_pair()
    nursery.start_soon(door.door.admit, ours)
    greeting = f"trio_debugmcp records {door.token if token is None else token} {key}\n".encode()
    await theirs.send_all(greeting[:5])  # it may arrive in parts
    await wait_all_tasks_blocked()
    await theirs.send_all(greeting[5:])
    await wait_all_tasks_blocked()
    return theirs


async def hits(connection: Connection) -> list[tuple[str, int, str]]:
    """The records of the next event, which must be one that has some."""
    event = await connection.events.receive()
    assert isinstance(event, OutputEvent)
    assert event.category == "tracepoint"
    return [(each.kind, each.hits, each.text) for each in records_of(event)]


async def test_the_capabilities_say_that_the_program_can_record_and_under_which_key(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery) as (connection, program, _):
        capabilities = await connection.request("initialize", None, Capabilities)
        assert capabilities.hit_records == "1"
        records = await connect(door, nursery)
        assert bytes(await records.receive_some()).endswith(b"\0"), "the program reads up to here"
        await records.send_all(line("log", 1, "one") + line("stop", 1, id_="bp-2") + b'["log", "tp-')
        event = await connection.events.receive()
        assert isinstance(event, OutputEvent)
        assert event.output == "one\n"
        assert records_of(event) == [HitRecord("log", "tp-1", 1, 1, "one"), HitRecord("stop", "bp-2", 1, 1, "")]
        await records.send_all(b'1", 1, 2, "two"]\n')
        assert await hits(connection) == [("log", 2, "two")]
        await program.event("output", output='["log", "tp-1", 1, 3, "forged"]\n', category="stdout")
        forged = await connection.events.receive()
        assert isinstance(forged, OutputEvent)
        assert not records_of(forged)


async def test_hits_that_are_only_counted_are_one_record_if_they_arrive_together(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery) as (connection, _, _):
        records = await connect(door, nursery)
        counts = b"".join(line("count", number) for number in range(1, 1000))
        await records.send_all(counts + line("log", 1000, "x") + line("count", 1001) + b"no sense\n" + b"[1]\n")
        assert await hits(connection) == [("count", 999, ""), ("log", 1000, "x"), ("count", 1001, ""), LOST]


async def test_of_a_record_whose_text_cannot_be_read_the_hit_counts(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery) as (connection, _, _):
        records = await connect(door, nursery)
        await records.send_all(
            line("log", 1, "caf\udce9") + line("stop", 2, "\udce9", "bp-1") + line("log", 3, "x") + b'["log", "tp-1"\n'
        )
        unknown = "<the text of this hit could not be read>"
        assert await hits(connection) == [
            *(("log", 1, unknown), ("stop", 2, unknown), ("log", 3, "x")),
            ("log", 0, "<1 record of hits could not be read>"),
        ]


@pytest.mark.parametrize(("key", "token"), [("2", None), ("1", "wrong"), ("1 more", None)])
async def test_a_stranger_writes_no_records(autojump_clock: MockClock, key: str, token: str | None) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery):
        records = await connect(door, nursery, key, token)
        await records.receive_some()  # the question for debuggers
        assert await is_closed(records)


async def test_a_greeting_without_end_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery):
        ours, theirs = memory_stream_pair()
        nursery.start_soon(door.door.admit, ours)
        await theirs.send_all(b"trio_debugmcp records " + b"x" * 2000)
        await wait_all_tasks_blocked()
        await theirs.receive_some()
        assert await is_closed(theirs)


async def test_a_stop_comes_after_the_records_before_it_also_if_the_session_reads_late() -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery) as (connection, program, _):
        records = await connect(door, nursery, sockets=True)
        for number in range(1, 400):  # more than the channels between hold
            await records.send_all(line("log", number, str(number)))
            if number < 350:
                await wait_all_tasks_blocked()
        await stop_soon(nursery, program)
        seen = 0
        while True:
            event = await connection.events.receive()
            if isinstance(event, Stopped):
                break
            assert isinstance(event, OutputEvent)
            for each in records_of(event):
                assert each.hits == seen + 1
                seen += 1
        assert seen == 399
        await records.aclose()


async def test_a_stop_waits_for_records_that_arrive_later_but_not_for_ever(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door), open_line(door, Session(), nursery) as (connection, program, _):
        records = await connect(door, nursery)
        first, second = line("count", 1), line("stop", 2)
        await program.event("stopped", reason="breakpoint", threadId=1, hitRecordBytes=len(first + second))
        await wait_all_tasks_blocked()
        await records.send_all(first)
        await wait_all_tasks_blocked()
        await records.send_all(second)
        assert (await hits(connection), await hits(connection)) == ([("count", 1, "")], [("stop", 2, "")])
        assert isinstance(await connection.events.receive(), Stopped)
        began = trio.current_time()
        await program.event("stopped", reason="breakpoint", threadId=1, hitRecordBytes=1000)
        assert isinstance(await connection.events.receive(), Stopped)
        assert trio.current_time() - began == 10
        await records.aclose()
        await program.event("stopped", reason="breakpoint", threadId=1, hitRecordBytes=1000)
        assert isinstance(await connection.events.receive(), Stopped)
        assert trio.current_time() - began == 10, "of a connection that has ended nothing is to come"


async def stop_soon(nursery: trio.Nursery, program: Program) -> None:
    async def send() -> None:
        await program.event("stopped", reason="breakpoint", threadId=1)

    nursery.start_soon(send)
    await wait_all_tasks_blocked()


@pytest.mark.real
async def test_the_end_comes_after_the_last_record() -> None:
    async with open_street() as (nursery, door):
        process = await trio.lowlevel.open_process(["sleep", "1000"])
        async with open_line(door, Session(process.pid), nursery) as (connection, program, _):
            records = await connect(door, nursery)
            await program.event("terminated")
            await records.send_all(line("log", 1, "last") + b'["log", "torn')
            process.kill()
            await process.wait()
            await program.stream.aclose()
            kinds: list[Any] = []
            while not kinds or kinds[-1] is not Terminated:
                kinds.append(type(await connection.events.receive()))
            assert kinds == [OutputEvent, Terminated], "although a forked child holds the connection open"


@cache
def tls_of_server() -> ssl.SSLContext:
    return made_tls().context


class Plain:
    """A program's connection for records, which the kernel has what is sent over it of at once."""

    def __init__(self, ours: trio.abc.Stream, theirs: socket.socket) -> None:
        self.ours, self.theirs = ours, theirs

    async def connected(self, nursery: trio.Nursery) -> trio.abc.Stream:
        return self.ours

    async def sent(self, data: bytes) -> bytes:
        return data


class Encrypted(Plain):
    """The same with TLS."""

    async def connected(self, nursery: trio.Nursery) -> trio.abc.Stream:
        stream = trio.SSLStream(self.ours, tls_of_server(), server_side=True)
        nursery.start_soon(stream.do_handshake)
        received, self.written = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trusting().wrap_bio(received, self.written)
        while self.tls.version() is None or self.written.pending:
            with suppress(ssl.SSLWantReadError):
                self.tls.do_handshake()
            self.theirs.send(self.written.read())
            await wait_all_tasks_blocked()
            with suppress(BlockingIOError):
                received.write(self.theirs.recv(65536))
        return stream

    async def sent(self, data: bytes) -> bytes:
        self.tls.write(data)
        return self.written.read()


class Relayed(Plain):
    """A channel of a relay."""

    async def connected(self, nursery: trio.Nursery) -> trio.abc.Stream:
        opened = list[Channel]()
        here = ChannelLink(self.ours, opened=lambda channel, _: opened.append(channel))
        self.written = MemorySendStream()
        there = ChannelLink(trio.StapledStream(self.written, MemoryReceiveStream()))
        nursery.start_soon(here.run)
        nursery.start_soon(there.run)
        self.channel = there.open(b"")
        self.theirs.send(await self.sent(b""))
        await wait_all_tasks_blocked()
        return opened[0]

    async def sent(self, data: bytes) -> bytes:
        await self.channel.send_all(data)
        await wait_all_tasks_blocked()
        return bytes(self.written.get_data_nowait())


@pytest.mark.parametrize("way", [Plain, Encrypted, Relayed])
async def test_a_server_that_did_not_run_for_a_while_still_reads_the_last_records(
    way: type[Plain], mock_clock: MockClock
) -> None:
    """The quiet time is over and the records have arrived at the same moment, so that either may be noticed first."""

    async def passed_on_before_the_end() -> int:
        passed_on: list[bytes] = []
        at_the_end: list[int] = []

        async def pass_on(frame: bytes) -> None:
            passed_on.append(frame)

        async def drain() -> None:
            await records.drain()
            at_the_end.append(len(passed_on))

        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        program = way(trio.SocketStream(trio.socket.from_stdlib_socket(ours)), theirs)
        async with trio.open_nursery() as nursery:
            records = HitRecords(pass_on, nursery, count(1))
            records.connect(await program.connected(nursery), b"")
            data = await program.sent(line("log", 1, "the last"))
            nursery.start_soon(drain)
            await wait_all_tasks_blocked()
            theirs.send(data)
            mock_clock.jump(1)
            await wait_all_tasks_blocked()
            mock_clock.jump(1)
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel("done")
        ours.close()
        theirs.close()
        return at_the_end[0]

    assert [await passed_on_before_the_end() for _ in range(10)] == [1] * 10


async def test_the_last_records_of_a_patient_server_may_come_later(autojump_clock: MockClock) -> None:
    """From another machine, or by way of what gets no processor time, they arrive after the program has ended."""
    passed_on: list[bytes] = []

    async def pass_on(frame: bytes) -> None:
        passed_on.append(frame)

    ours, theirs = memory_stream_pair()
    async with trio.open_nursery() as nursery:
        records = HitRecords(pass_on, nursery, count(1), Patience(10))
        records.connect(ours, b"")

        @nursery.start_soon
        async def come_late() -> None:
            await trio.sleep(0.8)
            await theirs.send_all(line("log", 1, "the last"))

        await records.drain()
        assert len(passed_on) == 1
        nursery.cancel_scope.cancel("done")


async def test_what_was_written_before_a_stop_is_passed_on_before_it_also_if_it_is_just_being_read() -> None:
    passed_on: list[bytes] = []

    async def pass_on(frame: bytes) -> None:
        await trio.lowlevel.checkpoint()
        passed_on.append(frame)

    async def let_run(turns: int) -> None:
        for _ in range(turns):
            await trio.lowlevel.checkpoint()

    ours, theirs = socket.socketpair()
    with theirs:
        async with trio.open_nursery() as nursery:
            records = HitRecords(pass_on, nursery, count(1))
            records.connect(trio.SocketStream(trio.socket.from_stdlib_socket(ours)), b"")
            for number, (before, since) in enumerate([*product(range(6), repeat=2)] * 10, 1):
                theirs.send(line("log", number, "one before"))
                await let_run(before)  # until somewhere between its arrival and its being passed on
                theirs.send(line("log", number, f"<{number}>"))
                await let_run(since)
                await records.settle()
                assert f"<{number}>".encode() in passed_on[-1]
            nursery.cancel_scope.cancel("done")


async def test_no_record_is_taken_once_the_session_is_over(autojump_clock: MockClock) -> None:
    async with open_street() as (nursery, door):
        async with open_line(door, Session(), nursery):
            records = await connect(door, nursery)
            await records.receive_some()
        assert await is_closed(records)
        later = await connect(door, nursery)
        await later.receive_some()
        assert await is_closed(later)
