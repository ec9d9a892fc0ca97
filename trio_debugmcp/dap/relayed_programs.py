"""`Relays`: programs that a relay carries, as if each had dialed in by itself.

    relays = Relays(deliver, records, patience)
    await relays.serve(stream, received, place)     # until the connection ends
    relays.end()                                    # take no more programs, and end when there are none

A relay has let its programs in already: it says which process each is. What a channel carries is then what the
program's own connection would: DAP, or records of hits.
"""

import logging
from collections.abc import Callable
from typing import Literal

import msgspec
import trio

from trio_debugmcp.dap.channels import Channel, ChannelLink
from trio_debugmcp.dap.incoming_connection import MAX_PID, RECORDS, IncomingConnection
from trio_debugmcp.dap.records import RecordTakers
from trio_debugmcp.patience import Patience

log = logging.getLogger(__name__)

_LEAVING_SECONDS = 10.0
"""For the programs to be left when the port is closed; it takes some milliseconds."""

_MAX_NAME = 100
"""Characters of a host's name, and of a key."""


class Carried(msgspec.Struct, frozen=True):
    """How a channel is greeted: a program, or its connection for records under a key. `host`: where it runs."""

    kind: Literal["program", "records"]
    pid: int = 0
    parent: int = 0
    engine: bool = False
    host: str = ""
    key: str = ""


_decoder = msgspec.json.Decoder(Carried)


class Relays:
    """The relays that are connected to a port."""

    def __init__(
        self, deliver: Callable[[IncomingConnection], None], records: RecordTakers, token: str, patience: Patience
    ) -> None:
        self._deliver = deliver
        self._records = records
        self._token = token
        self._patience = patience
        self._ended = trio.Event()

    def __repr__(self) -> str:
        return f"<Relays{', ended' if self._ended.is_set() else ''}>"

    def end(self) -> None:
        """Have the connections end when their programs have been left. Bounded."""
        self._ended.set()

    async def serve(self, stream: trio.abc.Stream, received: bytes, place: str) -> None:
        """Carry the programs of a relay until its connection ends. `place`: where that comes from."""
        async with trio.open_nursery() as nursery:

            def opened(channel: Channel, greeting: bytes) -> None:
                self._take(nursery, channel, greeting, place)

            link = ChannelLink(stream, self._patience, opened, received=received)
            nursery.start_soon(self._leave, link, nursery.cancel_scope)
            await link.run()
            log.info("the relay at %s has gone: %s", place, link.why or "it has closed the connection")
            nursery.cancel_scope.cancel(reason="the relay has gone")

    async def _leave(self, link: ChannelLink, scope: trio.CancelScope) -> None:
        await self._ended.wait()
        with trio.move_on_after(self._patience.seconds(_LEAVING_SECONDS)):
            await link.wait_empty()
        scope.cancel(reason="the port is closed")

    def _take(self, nursery: trio.Nursery, channel: Channel, greeting: bytes, place: str) -> None:
        try:
            carried = _decoder.decode(greeting)
        except msgspec.MsgspecError as error:
            log.warning("a relay greets without sense: %s", error)
            channel.close()
            return
        if carried.kind == "records":
            nursery.start_soon(self._take_records, channel, carried.key[:_MAX_NAME])
        elif self._ended.is_set() or not (0 < carried.pid <= MAX_PID and 0 <= carried.parent <= MAX_PID):
            channel.close()
        else:
            where = f"{carried.host[:_MAX_NAME]} (by the relay at {place})"
            self._deliver(
                IncomingConnection(channel, carried.pid, carried.parent, is_engine=carried.engine, place=where)
            )

    async def _take_records(self, channel: Channel, key: str) -> None:
        greeting = RECORDS + f"{self._token} {key}\n".encode()
        if not await self._records.take(channel, greeting, self._token):
            channel.close()
