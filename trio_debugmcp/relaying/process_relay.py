"""`Relay`: processes of this machine come in at a port of its own, on loopback, and are carried on over one connection.

    async with open_relay(stream, received, report, patience) as relay:
        await relay.bring_in([4711, 4712])
        await relay.wait_over()

The port has a token of its own, which only the processes that are brought in, and their children, know; the one of the
server stays with the relay. What is left when the connection ends: nothing. Processes that were let run by the debugger
are only disconnected, which lets one that is stopped run on, and others are released.
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec
import trio

from trio_debugmcp.dap.channels import Channel, ChannelLink
from trio_debugmcp.dap.incoming_connection import IncomingConnection, release
from trio_debugmcp.dap.listener import Door, ListenerAddress
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.records import RecordTakers, read_greeting
from trio_debugmcp.dap.relayed_programs import Carried
from trio_debugmcp.engine.carrier import Carrier, made_carrier
from trio_debugmcp.patience import Patience
from trio_debugmcp.relaying.bringing_in import brought_in, problem_of

_ARRIVE_SECONDS = 30.0
"""From the debugger's being in a process to its call; it takes some milliseconds."""

_AT_ONCE = 4
"""Processes that the debugger is put into at the same time: each has a native debugger that reads its symbols."""

_CHUNK_BYTES = 64 * 1024

_MAY_RUN = b'"configurationDone"'
"""In what the debugger has sent, once the process may run: then nothing has to be said to it at the end."""

Report = Callable[[str], None]
"""Called with a line for the person who has started the relay."""


class Relay:
    """The port on this machine, and what is carried. Made by `open_relay`.

    Attributes:
        link: the connection to the server.
        carried: processes that are carried now.
    """

    def __init__(self, nursery: trio.Nursery, link: ChannelLink, report: Report, patience: Patience) -> None:
        self.link = link
        self.carried = 0
        self._nursery = nursery
        self._door = Door(nursery, self._deliver, records=_CarriedRecords(self._take_records), patience=patience)
        self._report = report
        self._patience = patience
        self._arrived: dict[int, trio.Event] = {}
        self._left = trio.lowlevel.ParkingLot()

    def __repr__(self) -> str:
        return f"<Relay of {self.carried} processes by {self.link!r}>"

    async def bring_in(self, pids: Sequence[int]) -> int:
        """Bring processes in, and return how many could not be; what is in the way is reported."""
        address = await self._door.listen()
        limit, failed = trio.CapacityLimiter(_AT_ONCE), list[int]()

        async def bring(pid: int, carrier: Carrier) -> None:
            async with limit:
                problem = problem_of(pid) or await self._brought_in(pid, carrier, address)
            if problem is not None:
                failed.append(pid)
                self._report(f"process {pid}: {problem}")

        carrier = await self._nursery.start(self._keep_carrier, address)
        async with trio.open_nursery() as nursery:
            for pid in pids:
                nursery.start_soon(bring, pid, carrier)
        return len(failed)

    async def _keep_carrier(self, address: ListenerAddress, *, task_status: trio.TaskStatus[Carrier]) -> None:
        watchdog = Watchdog(self._patience)
        try:
            with (
                made_carrier(address.host, address.port, address.token) as carrier,
                watchdog.watching_directory(carrier.directory),
            ):
                task_status.started(carrier)
                await watchdog.keep()
        finally:
            watchdog.close()

    async def _brought_in(self, pid: int, carrier: Carrier, address: ListenerAddress) -> str | None:
        arrived = self._arrived[pid] = trio.Event()
        problem = await brought_in(pid, carrier, address, self._patience)
        if problem is not None:
            return problem
        with trio.move_on_after(self._patience.seconds(_ARRIVE_SECONDS)):
            await arrived.wait()
            return None
        return "the debugger is in it and does not call; it may wait in code that is not Python's"

    async def wait_over(self) -> None:
        """Wait until the connection has ended, or no process is carried any more."""
        async with trio.open_nursery() as nursery:

            async def wait_left() -> None:
                while self.carried:
                    await self._left.park()
                nursery.cancel_scope.cancel(reason="the last process has ended")

            nursery.start_soon(wait_left)
            await self.link.over.wait()
            nursery.cancel_scope.cancel(reason="the connection has ended")

    # --- What is carried ----------------------------------------------------------------------------------------------

    def _deliver(self, caller: IncomingConnection) -> None:
        """Carry a process that has come in."""
        self.carried += 1
        if caller.pid in self._arrived:
            self._arrived[caller.pid].set()
        self._report(f"process {caller.pid} is brought in")
        self._nursery.start_soon(self._carry, caller)

    async def _carry(self, caller: IncomingConnection) -> None:
        may_run = False
        channel: Channel | None = None

        async def to_program(channel: Channel) -> None:
            nonlocal may_run
            before = b""
            while data := await channel.receive_some():
                may_run = may_run or _MAY_RUN in before + data
                before = data[-len(_MAY_RUN) :]
                await caller.stream.send_all(data)
            if isinstance(caller.stream, trio.abc.HalfCloseableStream):
                await caller.stream.send_eof()

        try:
            host = os.uname().nodename
            channel = self._opened(Carried("program", caller.pid, caller.parent_pid, caller.is_engine, host))
            await _carried(caller.stream, channel, caller.received, to_program)
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # one of the two is gone
        finally:
            self.carried -= 1
            self._left.unpark_all()
            if channel is not None:
                channel.close()
            with trio.CancelScope(shield=True):  # bounded: it is
                if may_run:
                    await trio.aclose_forcefully(caller.stream)
                else:
                    await release(caller.stream, self._patience)

    def _take_records(self, stream: trio.abc.Stream, key: str, received: bytes) -> None:
        """Carry the connection over which a process records hits."""
        self._nursery.start_soon(self._carry_records, stream, key, received)

    async def _carry_records(self, stream: trio.abc.Stream, key: str, received: bytes) -> None:
        async def to_program(channel: Channel) -> None:
            while data := await channel.receive_some():
                await stream.send_all(data)

        try:
            channel = self._opened(Carried("records", key=key))
            try:
                await _carried(stream, channel, received, to_program)
            finally:
                channel.close()
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)

    def _opened(self, carried: Carried) -> Channel:
        return self.link.open(msgspec.json.encode(carried))


async def _carried(
    stream: trio.abc.Stream, channel: Channel, received: bytes, to_program: Callable[[Channel], Awaitable[None]]
) -> None:
    """Carry bytes both ways until the process's side has ended; what it has sent arrives."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(to_program, channel)
        data = received
        while True:
            await channel.send_all(data)
            data = bytes(await stream.receive_some(_CHUNK_BYTES))
            if not data:
                break
        await channel.send_eof()
        nursery.cancel_scope.cancel(reason="the process has closed its connection")


class _CarriedRecords(RecordTakers):
    """Connections for records go to the server; which session waits for one is known there."""

    def __init__(self, carry: Callable[[trio.abc.Stream, str, bytes], None]) -> None:
        super().__init__()
        self._carry = carry

    async def take(self, stream: trio.abc.Stream, received: bytes, token: str) -> bool:
        greeting = await read_greeting(stream, received, token)
        if greeting is None:
            return False
        key, rest = greeting
        self._carry(stream, key, rest)
        return True


@asynccontextmanager
async def open_relay(
    stream: trio.abc.Stream, received: bytes, report: Report, patience: Patience
) -> AsyncIterator[Relay]:
    """Carry processes over this connection for the length of the block. At the end all are let run on."""
    async with trio.open_nursery() as linking:
        link = ChannelLink(stream, patience, received=received)
        linking.start_soon(link.run)
        async with trio.open_nursery() as nursery:
            try:
                yield Relay(nursery, link, report, patience)
            finally:
                nursery.cancel_scope.cancel(reason="the relay ends")
        with trio.move_on_after(patience.seconds(1), shield=True):
            await link.wait_empty()
        linking.cancel_scope.cancel(reason="the relay ends")
