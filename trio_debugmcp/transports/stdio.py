"""MCP on standard input and output, one JSON message a line.

    async with open_stdio() as (incoming, outgoing):
        await server.run(incoming, outgoing, ...)

The descriptors are non-blocking, so that reading can be cancelled, and a client that does not read delays only its own
responses. While serving, descriptor 0 is the null device and descriptor 1 is standard error: what a library or a child
process prints does not get between the messages.
"""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCResponse

from trio_debugmcp.transports.early_stdio import Handover
from trio_debugmcp.transports.jsonrpc import (
    INVALID_REQUEST,
    Incoming,
    Outgoing,
    complaint,
    complaint_about,
    message_text,
    parse_message,
    request_id_in,
)
from trio_debugmcp.transports.line_splitter import MAX_LINE_BYTES, LineSplitter

log = logging.getLogger(__name__)

_CHUNK_BYTES = 64 * 1024
"""Size of one read: as much as a pipe of Linux holds."""


_NOTHING = Handover()


@asynccontextmanager
async def open_stdio(handover: Handover = _NOTHING) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Serve on this process's standard streams until the end of the block; they stay diverted afterwards.

    `handover`: what was read from them before.
    """
    wire_in, wire_out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    async with (
        trio.lowlevel.FdStream(wire_in) as source,
        trio.lowlevel.FdStream(wire_out) as sink,
        open_lines(source, sink, handover) as streams,
    ):
        yield streams


@asynccontextmanager
async def open_lines(
    source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, handover: Handover = _NOTHING
) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """Exchange MCP messages over a pair of byte streams, which the caller closes.

    `handover`: what was received before, which is received now, and answers to it, which are not sent again.
    """
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, source, to_server, outgoing.clone(), handover)
        nursery.start_soon(_write, from_server, sink, handover)
        try:
            yield incoming, outgoing
        finally:
            nursery.cancel_scope.cancel(reason="the connection is closed")
            for stream in (to_server, incoming, outgoing, from_server):
                stream.close()


async def _read(
    source: trio.abc.ReceiveStream,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    complaints: MemoryObjectSendStream[SessionMessage],
    handover: Handover,
) -> None:
    """Read until the client closes its end, which is how a client on stdio disconnects."""
    data, ended = handover.received, handover.ended
    lines = LineSplitter()
    with to_server, complaints, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while data := data or (b"" if ended else await _receive(source)):
            for line in lines.feed(data):
                if line is None:
                    reason = f"a message is over {MAX_LINE_BYTES} bytes"
                    await complaints.send(complaint(INVALID_REQUEST, reason, request_id_in(lines.head)))
                elif (message := parse_message(line)) is None:
                    await complaints.send(complaint_about(line))
                else:
                    await to_server.send(message)
            data = b""


async def _receive(source: trio.abc.ReceiveStream) -> bytes:
    try:
        return bytes(await source.receive_some(_CHUNK_BYTES))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return b""


async def _write(
    from_server: MemoryObjectReceiveStream[SessionMessage], sink: trio.abc.SendStream, handover: Handover
) -> None:
    """Write messages; if the client is gone they are discarded, until the reader notices its end.

    The server's own answers to what was answered before are the same, and are not sent.
    """
    sent = {answer.id: answer.text for answer in handover.answers}
    with from_server:
        if handover.unsent:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await sink.send_all(handover.unsent)
        async for item in from_server:
            text = message_text(item).encode()
            if sent and isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id in sent:
                early = sent.pop(item.message.id)
                if early != text:
                    log.error("a request was answered early with %s, and is now with %s", early, text)
                continue
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await sink.send_all(text + b"\n")
