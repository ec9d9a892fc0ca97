"""One DAP connection over a byte stream: owns the stream, the sequence numbers and the requests in flight.

    async with open_connection(stream, serve_reverse_request) as connection:
        capabilities = await connection.request("initialize", {"adapterID": "gdb"}, Capabilities)
        async for event in connection.events:  # in a task of its own
            ...

Tasks: `open_connection` runs a reader, and a writer for each frame, one at a time, each in its own shielded scope, so
that a goodbye can still be sent and answered while the session around it is being cancelled. Each reverse request
(`runInTerminal`, `startDebugging`) gets a task, and is always answered.

Events arrive in one ordered channel, `Connection.events`; the last item is always an `EndOfStream`. When the channel
is full the reader stops reading, responses included: the task that receives events must never wait for a response.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TypeVar

import msgspec
import trio

from trio_debugmcp.dap.codec import (
    FrameDecoder,
    decode_body,
    decode_event,
    decode_message,
    encode_frame,
    encode_request,
    encode_response,
    failure_text,
)
from trio_debugmcp.dap.messages import DapEvent, EventBody, Nothing, Request, Response
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProtocolViolation

log = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024
"""Size of one read: a stack trace fits, a large `variables` response takes a few."""

_INBOX_EVENTS = 256
"""Events in the channel before the reader stops reading, and the adapter has to wait."""

MOST_UNREAD_BYTES = 8_000_000
"""What waits to be written to a peer that does not read, before the connection ends: a hundred times what is usual."""

_UNREAD = f"the debug adapter does not read: more than {MOST_UNREAD_BYTES // 1_000_000} MB wait to be written to it"

_FRAME_BYTES = 2000
"""What a frame that waits takes besides, with the task that waits with it."""

T = TypeVar("T")

ReverseRequest = Callable[[Request], Awaitable[object]]
"""Serves a reverse request and returns the body of the response; an exception becomes a failed response."""


class EndOfStream(msgspec.Struct, frozen=True):
    """The end of a connection; `violation` is set if the adapter broke the protocol."""

    reason: str
    violation: ProtocolViolation | None = None


class DapConnectionStatistics(msgspec.Struct, frozen=True):
    """What is waiting at one moment; returned by `Connection.statistics`."""

    requests_waiting: int
    """Requests that wait to be written, or for their response."""

    events_waiting: int
    """Events that were read, but not received from the channel."""


class Connection:
    """Requests out, events in. Made by `open_connection`."""

    def __init__(self, stream: trio.abc.Stream, on_reverse_request: ReverseRequest, nursery: trio.Nursery) -> None:
        self._stream = stream
        self._nursery = nursery
        self._on_reverse_request = on_reverse_request
        self._seq = count(1)
        self._waiting: dict[int, trio.MemorySendChannel[Response]] = {}
        self._late: dict[int, Callable[[], None]] = {}
        self._ended: EndOfStream | None = None
        self._writing: trio.CancelScope | None = None
        self._is_broken = False
        self._unread = 0
        self._written = trio.lowlevel.ParkingLot()
        self._inbox, self.events = trio.open_memory_channel[EventBody | EndOfStream](_INBOX_EVENTS)

    def __repr__(self) -> str:
        waiting = self.statistics()
        state = "open" if self._ended is None else f"ended ({self._ended.reason})"
        return (
            f"<dap.Connection {state}, waiting: {waiting.requests_waiting} requests, {waiting.events_waiting} events>"
        )

    @property
    def ended(self) -> EndOfStream | None:
        """The reason why the connection ended, or None while it is open."""
        return self._ended

    @property
    def _can_write(self) -> bool:
        return self._ended is None and not self._is_broken

    def statistics(self) -> DapConnectionStatistics:
        """Count what is waiting, as Trio's channels do."""
        return DapConnectionStatistics(len(self._waiting), self.events.statistics().current_buffer_used)

    async def request(
        self,
        command: str,
        arguments: object = None,
        kind: type[T] = Nothing,  # type: ignore[assignment]
        late: Callable[[], None] | None = None,
        sent: Callable[[], None] | None = None,
    ) -> T:
        """Send a request and wait for its response, decoded as `kind`.

        The caller bounds the wait with a cancel scope; a late response to a cancelled request is dropped, and `late`
        is called when it comes. `sent` is called when what is sent next will be written after it.

        Raises:
            AdapterRefused: the response was `success: false`.
            AdapterGone: the connection ended first.
            ProtocolViolation: the body of the response does not fit `kind`.
        """
        seq = next(self._seq)
        answer, wait_answer = trio.open_memory_channel[Response](1)
        self._waiting[seq] = answer
        try:
            await self._write_soon(encode_frame(encode_request(seq, command, arguments)))
            if sent is not None:
                sent()
            response = await wait_answer.receive()
        except trio.Cancelled:
            if late is not None:
                self._late[seq] = late
            raise
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.EndOfChannel):
            raise AdapterGone(self._ended.reason if self._ended else "the connection was closed") from None
        finally:
            self._waiting.pop(seq, None)
        if not response.success:
            raise AdapterRefused(command, failure_text(response))
        return decode_body(response.body, kind)

    async def _read(self, reading: trio.CancelScope) -> None:
        decoder = FrameDecoder()
        end = EndOfStream("the debug adapter closed the connection")
        with reading, self._inbox:
            try:
                while data := await self._stream.receive_some(_CHUNK_BYTES):
                    for body in decoder.feed(bytes(data)):
                        await self._dispatch(decode_message(body))
                decoder.finish()
            except ProtocolViolation as violation:
                log.warning("debug adapter broke the protocol: %s", violation)
                end = EndOfStream(f"the debug adapter broke the protocol: {violation}", violation)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                end = self._ended or end
            # The end goes through the same channel as the events, so that none of them can come after it; requests
            # are woken before, because they need not wait until the events have been received.
            self._end(end)
            await self._inbox.send(end)

    async def _dispatch(self, message: Request | Response | DapEvent) -> None:
        match message:
            case Response():
                self._complete(message)
            case DapEvent():
                event = decode_event(message)
                try:
                    # What was read together is received together, so that many events can be taken as one.
                    self._inbox.send_nowait(event)
                except trio.WouldBlock:
                    await self._inbox.send(event)
            case Request():
                self._nursery.start_soon(self._serve_reverse_request, message)

    def _complete(self, response: Response) -> None:
        waiter = self._waiting.get(response.request_seq)
        if waiter is None:  # the request was cancelled, or never made
            log.debug("response without a request: %s", response)
            late = self._late.pop(response.request_seq, None)
            if late is not None:
                late()
            return
        with suppress(trio.WouldBlock):  # the adapter responds twice, before the first response was taken
            waiter.send_nowait(response)

    def end_now(self) -> None:
        """End the connection from our side: every request that still waits raises `AdapterGone`."""
        if self._writing is not None:
            self._writing.cancel(reason="the connection is closed")
        if self._ended is None:
            self._end(EndOfStream("the connection was closed from this side"))

    def _end(self, end: EndOfStream) -> None:
        """Wake every waiter. Synchronous, so that no request can start to wait in between."""
        self._ended = end
        self._written.unpark_all()
        for waiter in self._waiting.values():
            waiter.close()

    async def _serve_reverse_request(self, request: Request) -> None:
        try:
            body = await self._on_reverse_request(request)
            answer = encode_response(next(self._seq), request, body)
        except DebugError as error:
            log.info("refused %s: %s", request.command, error)
            answer = encode_response(next(self._seq), request, failure=str(error))
        except Exception as error:  # without a response the adapter would wait for ever
            log.exception("serving %s", request.command)
            answer = encode_response(next(self._seq), request, failure=f"{type(error).__name__}: {error}")
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):  # the connection ended meanwhile
            await self._write_soon(encode_frame(answer))

    async def _write_soon(self, frame: bytes) -> None:
        """Have a frame written by a task of its own, and return when that has begun, after all that were sent before.

        So a request that is cancelled leaves no half frame. A writer that waits for frames would be there all the time,
        and each of a thousand connections has nothing to write nearly always.

        Raises:
            trio.ClosedResourceError: nothing can be written any more, also as the peer has not read for too long.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._writing is not None and self._can_write:
            if self._unread > MOST_UNREAD_BYTES:  # without this frame: one alone may be as large
                self._end(EndOfStream(_UNREAD))
                await trio.aclose_forcefully(self._stream)  # which wakes the reader
                raise trio.ClosedResourceError
            self._unread += len(frame) + _FRAME_BYTES
            try:
                await self._written.park()  # who is woken has the turn, so that none overtakes
            finally:
                self._unread -= len(frame) + _FRAME_BYTES
        if not self._can_write:
            raise trio.ClosedResourceError
        self._writing = trio.CancelScope(shield=True)
        self._nursery.start_soon(self._write, frame, self._writing)

    async def _write(self, frame: bytes, writing: trio.CancelScope) -> None:
        try:
            with writing:
                await self._stream.send_all(frame)
        except (trio.BrokenResourceError, trio.ClosedResourceError):  # the reader notices it, and reports the end
            self._is_broken = True
            self._written.unpark_all()
        if self._written:
            self._written.unpark()
        else:
            self._writing = None


@asynccontextmanager
async def open_connection(stream: trio.abc.Stream, on_reverse_request: ReverseRequest) -> AsyncIterator[Connection]:
    """Speak DAP over `stream` until the end of the block.

    Resource handling: the stream is closed at the end of the block, forcefully, because a peer that does not read
    would keep a graceful close waiting. A request in the block's `finally`, under a bounded shield, is still written
    and answered.

    Error handling: what breaks the stream or the protocol is an `EndOfStream` in `events` and an `AdapterGone` in
    every request; it does not raise out of the block.
    """
    async with trio.open_nursery() as nursery:
        connection, reading = Connection(stream, on_reverse_request, nursery), trio.CancelScope(shield=True)
        nursery.start_soon(connection._read, reading)  # noqa: SLF001
        try:
            yield connection
        finally:
            reading.cancel(reason="the session is closed")
            nursery.cancel_scope.cancel(reason="the session is closed")
            connection.end_now()
            connection.events.close()
            # The nursery is cancelled: without a shield this would raise `Cancelled` in place of the block's error.
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)
