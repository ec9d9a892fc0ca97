"""One DAP connection over a byte stream: owns the stream, the sequence numbers and the requests in flight.

`open_connection` runs a reader and a writer task, each in a shielded scope of its own, so that a goodbye can still
be sent and answered while the session around it is being cancelled. Both end when the context manager exits.

What the adapter says arrives in one ordered channel, `Connection.events`; the last item is always an `EndOfStream`.
The reader waits when nobody takes from that channel, so whoever takes must never wait for a response.
Reverse requests (`runInTerminal`, `startDebugging`) get a task each and are always answered.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import TypeVar

import msgspec
import trio

from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import (
    Event,
    EventBody,
    Nothing,
    Request,
    Response,
    decode_body,
    decode_event,
    decode_message,
    encode_request,
    encode_response,
    failure_text,
)
from trio_debugmcp.errors import AdapterGone, AdapterRefused, DebugError, ProtocolViolation

log = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024
"""One read: a stack trace fits, a large `variables` answer takes a few."""

_INBOX_EVENTS = 256
"""Events that may wait for the consumer before the reader stops reading, and with it the adapter."""

T = TypeVar("T")

ReverseRequest = Callable[[Request], Awaitable[object]]
"""Serves a reverse request and returns the body of the answer; a `DebugError` becomes a failed answer."""


class EndOfStream(msgspec.Struct, frozen=True):
    """The connection has ended. `violation` is set when the peer's bytes were the reason."""

    reason: str
    violation: ProtocolViolation | None = None


class Connection:
    """Requests out, events in. Made by `open_connection`."""

    def __init__(self, stream: trio.abc.Stream, on_reverse_request: ReverseRequest) -> None:
        self._stream = stream
        self._on_reverse_request = on_reverse_request
        self._seq = count(1)
        self._waiting: dict[int, trio.MemorySendChannel[Response]] = {}
        self._ended: EndOfStream | None = None
        self._outbox, self._frames_to_write = trio.open_memory_channel[bytes](0)
        self._inbox, self.events = trio.open_memory_channel[EventBody | EndOfStream](_INBOX_EVENTS)

    @property
    def ended(self) -> EndOfStream | None:
        """How the connection ended, or None while it is open."""
        return self._ended

    async def request(self, command: str, arguments: object = None, kind: type[T] = Nothing) -> T:  # type: ignore[assignment]
        """Send a request and wait for its answer, decoded as `kind`.

        The caller bounds the wait with a cancel scope; a late answer to a cancelled request is dropped.

        Raises:
            AdapterRefused: the answer was `success: false`.
            AdapterGone: the connection ended first.
            ProtocolViolation: the body of the answer does not fit `kind`.
        """
        if self._ended is not None:
            raise AdapterGone(self._ended.reason)
        seq = next(self._seq)
        answer, wait_answer = trio.open_memory_channel[Response](1)
        self._waiting[seq] = answer
        try:
            await self._outbox.send(encode_frame(encode_request(seq, command, arguments)))
            response = await wait_answer.receive()
        except (trio.BrokenResourceError, trio.ClosedResourceError, trio.EndOfChannel):
            raise AdapterGone(self._ended.reason if self._ended else "the connection was closed") from None
        finally:
            self._waiting.pop(seq, None)
        if not response.success:
            raise AdapterRefused(command, failure_text(response))
        return decode_body(response.body, kind)

    async def _read(self, nursery: trio.Nursery, *, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        decoder = FrameDecoder()
        end = EndOfStream("the debug adapter closed the connection")
        with trio.CancelScope(shield=True) as scope, self._inbox:
            task_status.started(scope)
            try:
                while data := await self._stream.receive_some(_CHUNK_BYTES):
                    for body in decoder.feed(bytes(data)):
                        await self._dispatch(decode_message(body), nursery)
                decoder.finish()
            except ProtocolViolation as violation:
                log.warning("debug adapter broke the protocol: %s", violation)
                end = EndOfStream(f"the debug adapter broke the protocol: {violation}", violation)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            self._end(end)
            await self._inbox.send(end)

    async def _dispatch(self, message: Request | Response | Event, nursery: trio.Nursery) -> None:
        match message:
            case Response():
                self._complete(message)
            case Event():
                await self._inbox.send(decode_event(message))
            case Request():
                nursery.start_soon(self._serve_reverse_request, message)

    def _complete(self, response: Response) -> None:
        waiter = self._waiting.get(response.request_seq)
        if waiter is None:
            log.debug("answer to nobody: %s", response)
            return
        with suppress(trio.WouldBlock):  # an adapter that answers twice
            waiter.send_nowait(response)

    def end_now(self) -> None:
        """From our side: whoever still waits for an answer will not get one."""
        if self._ended is None:
            self._end(EndOfStream("it was ended from this side"))

    def _end(self, end: EndOfStream) -> None:
        """Wake every waiter. Synchronous, so nothing can start to wait in between."""
        self._ended = end
        self._frames_to_write.close()
        for waiter in self._waiting.values():
            waiter.close()

    async def _serve_reverse_request(self, request: Request) -> None:
        try:
            body = await self._on_reverse_request(request)
            answer = encode_response(next(self._seq), request, body)
        except DebugError as error:
            log.info("refused %s: %s", request.command, error)
            answer = encode_response(next(self._seq), request, failure=str(error))
        except Exception as error:  # an adapter that is not answered would wait for ever
            log.exception("serving %s", request.command)
            answer = encode_response(next(self._seq), request, failure=f"{type(error).__name__}: {error}")
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self._outbox.send(encode_frame(answer))

    async def _write(self, *, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        """Alone in calling `send_all`: a request cancelled while it is queued leaves no half frame behind."""
        with trio.CancelScope(shield=True) as scope:
            task_status.started(scope)
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                async for frame in self._frames_to_write:
                    await self._stream.send_all(frame)
            # The reader sees the end as well, and is the one to say so.
            self._frames_to_write.close()


@asynccontextmanager
async def open_connection(stream: trio.abc.Stream, on_reverse_request: ReverseRequest) -> AsyncIterator[Connection]:
    """Speak DAP over `stream` for the length of the block; the stream is closed at its end.

    A goodbye sent in the block's own `finally`, under a bounded shield, is still written and answered.
    """
    connection = Connection(stream, on_reverse_request)
    async with trio.open_nursery() as nursery:
        reading = await nursery.start(connection._read, nursery)  # noqa: SLF001
        writing = await nursery.start(connection._write)  # noqa: SLF001
        try:
            yield connection
        finally:
            reading.cancel(reason="the session is closed")
            writing.cancel(reason="the session is closed")
            nursery.cancel_scope.cancel(reason="the session is closed")
            connection.end_now()
            connection.events.close()
            with trio.CancelScope(shield=True):  # a `Cancelled` from here would take the place of the block's error
                await trio.aclose_forcefully(stream)
