"""Properties of the server: functions of bytes that raise if one is violated. Hypothesis and atheris both call them."""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import trio
from msgspec import Raw
from trio.testing import memory_stream_pair

from tests.fuzz.running import run
from tests.fuzz.sources import named, source_ways, uri, yard
from tests.fuzz.wire import wire
from trio_debugmcp.dap import codec, messages
from trio_debugmcp.dap.codec import FrameDecoder, encode_frame
from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.listener import ADMISSION_SECONDS
from trio_debugmcp.dap.messages import Capabilities, DapEvent, Response
from trio_debugmcp.errors import ProtocolViolation
from trio_debugmcp.probe.inside.questions import QUESTIONS, call
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.transports.admission import Admission, ConnectionBounds, Refused
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import read_head
from trio_debugmcp.transports.port import MAX_REQUESTS, Port
from trio_debugmcp.transports.static import StaticFile

BOUNDS = ConnectionBounds(strangers=2, control=2, observe=2)
BODIES = [kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, messages.DapStruct)]


# --- Debug adapters ----------------------------------------------------------------------------------------------


def framing(data: bytes) -> None:
    """However a stream is cut, it is decoded to the same messages and refused for the same reason, or accepted."""
    cuts, stream = data[:4], data[4:]
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    whole = _framed([stream])
    assert _framed([stream[start:end] for start, end in pairwise(edges)]) == whole
    assert _framed([bytes([byte]) for byte in stream]) == whole


def _framed(chunks: list[bytes]) -> tuple[list[bytes], str | None]:
    """The bodies, and why the stream was refused, if it was."""
    decoder, bodies = FrameDecoder(), []
    try:
        for chunk in chunks:
            bodies += decoder.feed(chunk)
        decoder.finish()
    except ProtocolViolation as violation:
        return bodies, violation.reason
    return bodies, None


def dap(data: bytes) -> None:
    """A message, and its body, is decoded or raises `ProtocolViolation`."""
    try:
        message = codec.decode_message(data)
    except ProtocolViolation:
        return
    match message:
        case DapEvent():
            codec.decode_event(message)
            if event_type := messages.EVENT_TYPES.get(message.event):
                _decode(message.body, event_type)
        case Response():
            assert isinstance(codec.failure_text(message), str)
            for kind in BODIES:
                _decode(message.body, kind)
            with suppress(ProtocolViolation):
                codec.merge_capabilities(Capabilities(), message.body)
        case _:
            codec.encode_response(1, message, {})
            for kind in (messages.StartDebugging, messages.RunInTerminal):
                _decode(message.arguments, kind)


def _decode(body: Raw, kind: type[Any]) -> None:
    try:
        decoded = codec.decode_body(body, kind)
    except ProtocolViolation:
        return
    msgspec.json.encode(decoded)


def adapter(data: bytes) -> None:
    """After an adapter has sent this in a session, calls end, reads are JSON, and the next session can be launched."""
    if b"InTerminal" in data:
        return  # its command would be run

    async def main() -> None:
        fake = FakeAdapter()
        async with wire(fake) as client:
            launch = {"program": fake.program, "stop_at_entry": True, "timeout": 5}
            await client.call("debug_launch", launch)
            await fake.send_raw(data)
            await trio.sleep(5)
            await client.read_all()
            for tool in ("debug_state", "stacktrace_get", "variables_get", "debug_step"):
                await client.call(tool, {"timeout": 5} if tool == "debug_step" else {})
            await client.call("debug_disconnect", {})
            fake_again = await client.call("debug_launch", {**launch, "stop_at_entry": False, "wait": False})
            assert "isError" not in fake_again or not fake_again["isError"], fake_again

    run(main)


def caller(data: bytes) -> None:
    """After anything has dialed in and said this, the door is as before: a stranger is gone, a program is admitted.

    What is said begins after the first byte; if that is over 127, the token has been shown before.
    """
    knows, said = data[:1] > b"\x7f", data[1:]

    async def main() -> None:
        async with open_dial_ins() as door, trio.open_nursery() as nursery:
            ours, theirs = memory_stream_pair()
            nursery.start_soon(door.door.admit, ours)
            if knows:
                shown = {"clientAccessToken": door.token}
                await _send_frames(theirs, {"type": "response", "request_seq": 1, "success": True, "body": shown})
            nursery.start_soon(_send, theirs, said)
            nursery.start_soon(_receive_all, theirs)
            await trio.sleep(ADMISSION_SECONDS + 1)
            assert door.statistics().at_the_door == 0
            ours, theirs = memory_stream_pair()
            for number, body in enumerate(
                ({"clientAccessToken": door.token}, {"process": {"pid": 7, "ppid": 1}}, {}), 1
            ):
                answer = {"type": "response", "request_seq": number, "success": True, "body": body}
                await _send_frames(theirs, answer)
            nursery.start_soon(door.door.admit, ours)
            assert (await door.take(7)).pid == 7
            nursery.cancel_scope.cancel()

    run(main)


async def _send_frames(stream: trio.abc.SendStream, *messages: object) -> None:
    await stream.send_all(b"".join(encode_frame(json.dumps(each).encode()) for each in messages))


async def _receive_all(stream: trio.abc.ReceiveStream) -> None:
    while await _receive(stream):
        pass


def probe(data: bytes) -> None:
    """When the probe answers every question with this, calls end, reads are JSON, and the session can be ended."""
    said = data.decode(errors="replace")

    async def main() -> None:
        fake = FakeAdapter()
        fake.probe = dict.fromkeys(QUESTIONS, said)
        async with wire(fake) as client:
            await client.call("debug_launch", {"program": fake.program, "stop_at_entry": True, "timeout": 5})
            for _ in ("Paused", "Running"):
                await client.read_all()
                for tool, arguments in ASKS_THE_PROBE:
                    await client.call(tool, {**arguments})
                await client.call("debug_continue", {"wait": False})
            await client.call("debug_pause", {"timeout": 2})
            ended = await client.call("debug_disconnect", {})
            assert not ended.get("isError"), ended

    run(main)


ASKS_THE_PROBE: tuple[tuple[str, dict[str, object]], ...] = (
    ("threads_list", {}),
    ("fleet_state", {}),
    ("stacktrace_get", {}),
    ("stacktrace_get", {"locals": True}),
    ("stacktrace_get", {"thread_id": "*", "locals": True}),
    ("stacktrace_get", {"thread_id": "*"}),
    ("tasks_list", {}),
    ("variables_get", {}),
    ("evaluate", {"expression": "x"}),
)


# --- MCP clients -------------------------------------------------------------------------------------------------


def mcp(data: bytes) -> None:
    """After a client has sent these lines, every request has a response and the connection still works."""

    async def main() -> None:
        async with wire() as client:
            for line in data.split(b"\n"):
                await client.send(line)
            await trio.sleep(5000)  # longer than any tool waits
            assert "result" in await client.request("ping")
            answered = [message.get("id") for message in client.other if "method" not in message]
            asked = [request_id for line in data.split(b"\n") for request_id in _asked(line)]
            for request_id in asked:
                assert answered.count(request_id) >= 1, (request_id, client.other)

    run(main)


def _asked(line: bytes) -> list[int | str]:
    """The id of a request that has to be answered; not that of one that may be cancelled, or waits by design."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(message, dict) or not isinstance(message.get("method"), str) or "id" not in message:
        return []
    if "result" in message or "error" in message:  # it may count as a response
        return []
    request_id = message["id"]
    if type(request_id) not in (int, str) or message["method"] == "subscriptions/listen":
        return []
    if isinstance(request_id, str) and not request_id.isascii():  # it might be half a character
        return []
    return [request_id]


# --- Heads -------------------------------------------------------------------------------------------------------

TOKEN = "the-control-token"
PAGES = {"/": StaticFile("text/html", b"<p>hello</p>")}


def head(data: bytes) -> None:
    """A head is read or refused; the port answers up to its bound, or closes, and admits no client without a token."""

    async def main() -> None:
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, ours, data)
            with suppress(Refused):
                await read_head(theirs)
        served = []

        async def serve(incoming: Any, outgoing: Any, role: str) -> None:
            served.append(role)
            async for _ in incoming:
                pass

        gate: Gate[Any] = Gate("127.0.0.1", lambda token: "control" if token == TOKEN else None)
        ours, theirs = memory_stream_pair()
        said = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Admission(BOUNDS).serve, theirs, Port(gate, serve, PAGES.get).receive)
            nursery.start_soon(_send, ours, data)
            while more := await _receive(ours):
                said += more
        assert said == b"" or said.startswith(b"HTTP/1.1 "), said
        assert said.count(b"HTTP/1.1 ") <= MAX_REQUESTS, said
        assert b"HTTP/1.1 " not in said.partition(b"\r\nConnection: close\r\n")[2], said
        assert not served or TOKEN.encode() in data

    run(main)


async def _send(stream: Any, data: bytes) -> None:
    try:
        await stream.send_all(data)
        await stream.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass


async def _receive(stream: trio.abc.ReceiveStream) -> bytes:
    try:
        return bytes(await stream.receive_some())
    except trio.BrokenResourceError:
        return b""


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (framing, dap, adapter, caller, probe, mcp, uri, named, head)
}


def seeds(target: str) -> list[bytes]:
    """Initial inputs: what real peers send."""
    match target:
        case "dap" | "framing" | "adapter":
            lines = (Path(__file__).parent.parent / "data/traces/debugpy-stdio.jsonl").read_text().splitlines()
            said = [json.loads(line) for line in lines]
            bodies = [json.dumps(each["msg"]).encode() for each in said if each["dir"] == "a2c"][:60]
            return bodies if target == "dap" else [encode_frame(body) for body in bodies]
        case "caller":
            answers: tuple[dict[str, Any], ...] = ({}, {"body": {"process": {"pid": 7, "ppid": 1}}}, {"success": False})
            frames = [
                encode_frame(json.dumps({"type": "response", "request_seq": number, "success": True, **each}).encode())
                for number, each in enumerate(answers, 1)
            ]
            return [b"\0" + frames[0], b"\xff" + frames[1] + frames[2], b"\xff" + frames[1]]
        case "probe":
            return [call(question, '{"locals": true}').encode() for question in QUESTIONS]
        case "mcp":
            methods = ("ping", "tools/list", "tools/call", "resources/read", "prompts/get", "completion/complete")
            request = {"jsonrpc": "2.0", "id": 1, "params": {"uri": "debugger://session"}}
            return [json.dumps({**request, "method": method}).encode() for method in methods]
        case "uri" | "named":
            return [quote(way).replace(yard(), "YARD").encode() for way in source_ways()]
        case _:
            upgrade = (
                b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Protocol: mcp\r\nAuthorization: Bearer the-control-token\r\n\r\n\x81\x85\0\0\0\0hello"
            )
            page = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept-Encoding: gzip\r\n\r\n"
            return [page, upgrade, page * 5, page + b"HEAD" + page[3:] + upgrade]
