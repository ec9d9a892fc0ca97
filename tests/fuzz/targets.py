"""What is fuzzed: functions of bytes that raise when a promise is broken. Hypothesis and atheris both call them."""

import json
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import msgspec
import trio
from msgspec import Raw
from trio.testing import MockClock, memory_stream_one_way_pair, memory_stream_pair

from trio_debugmcp.app import Options, open_app
from trio_debugmcp.dap import messages
from trio_debugmcp.dap.framing import FrameDecoder, encode_frame
from trio_debugmcp.dap.messages import Capabilities, Event, Response
from trio_debugmcp.errors import ProtocolViolation, UsageError
from trio_debugmcp.session.sources import Sources, read_source
from trio_debugmcp.state.resources import canonical, source_path, source_uri
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.head import Refused, read_head
from trio_debugmcp.transports.port import Port
from trio_debugmcp.transports.static import Page
from trio_debugmcp.transports.stdio import open_lines

PATIENCE = 10_000.0
"""Virtual seconds. The longest wait that a tool accepts is 3600; what takes longer hangs."""

BODIES = [kind for kind in vars(messages).values() if isinstance(kind, type) and issubclass(kind, messages.Message)]


def run(main: Callable[[], Any]) -> None:
    """On a clock that jumps, in bounded virtual time; an error in the log is an error."""

    async def bounded() -> None:
        with trio.fail_after(PATIENCE):
            await main()

    with no_error_logged():
        trio.run(bounded, clock=MockClock(autojump_threshold=0))


class _Complaints(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def no_error_logged() -> Iterator[None]:
    """What we catch and log because it is a bug of ours is a bug of ours."""
    complaints = _Complaints()
    logging.getLogger().addHandler(complaints)
    logging.disable(logging.WARNING)  # of which there are many, for good reasons
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        logging.getLogger().removeHandler(complaints)
    for record in complaints.records:
        raise AssertionError(f"{record.name}: {record.getMessage()}") from (record.exc_info or (None, None))[1]


# --- Debug adapters ----------------------------------------------------------------------------------------------


def framing(data: bytes) -> None:
    """However a stream is cut, the same messages come out of it and it is refused at the same place, or not at all."""
    cuts, stream = data[:4], data[4:]
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    whole = _framed([stream])
    assert _framed([stream[start:end] for start, end in pairwise(edges)]) == whole
    assert _framed([bytes([byte]) for byte in stream]) == whole


def _framed(chunks: list[bytes]) -> tuple[list[bytes], bool]:
    decoder, bodies = FrameDecoder(), []
    try:
        for chunk in chunks:
            bodies += decoder.feed(chunk)
        decoder.feed(b"")
    except ProtocolViolation:
        return bodies, False
    return bodies, True


def dap(data: bytes) -> None:
    """A message is decoded, or it is a `ProtocolViolation`; what is in it as well."""
    try:
        message = messages.decode_message(data)
    except ProtocolViolation:
        return
    match message:
        case Event():
            messages.decode_event(message)
            if event_type := messages.EVENT_TYPES.get(message.event):
                _decode(message.body, event_type)
        case Response():
            assert isinstance(messages.failure_text(message), str)
            for kind in BODIES:
                _decode(message.body, kind)
            try:
                messages.merge_capabilities(Capabilities(), message.body)
            except ProtocolViolation:
                pass
        case _:
            messages.encode_response(1, message, {})
            for kind in (messages.StartDebugging, messages.RunInTerminal):
                _decode(message.arguments, kind)


def _decode(body: Raw, kind: type[Any]) -> None:
    try:
        decoded = messages.decode_body(body, kind)
    except ProtocolViolation:
        return
    msgspec.json.encode(decoded)


def adapter(data: bytes) -> None:
    """A debug adapter that says this in the middle of a session: calls end, reads are JSON, the server serves on."""
    if b"InTerminal" in data:
        return  # what it asks for would be run

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


# --- MCP clients -------------------------------------------------------------------------------------------------


class Wire:
    """A client on standard input and output, line by line."""

    def __init__(self, sink: trio.abc.SendStream, source: trio.abc.ReceiveStream) -> None:
        self._sink = sink
        self._source = source
        self._buffer = b""
        self._id = 10**12  # above what is fuzzed with
        self.other: list[dict[str, Any]] = []

    async def send(self, line: bytes) -> None:
        await self._sink.send_all(line + b"\n")

    async def line(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            data = bytes(await self._source.receive_some())
            assert data, "the server has left"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def request(self, method: str, **params: Any) -> dict[str, Any]:
        """The whole answer. What comes meanwhile is kept in `other`."""
        self._id += 1
        await self.send(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode())
        while (message := await self.line()).get("id") != self._id:
            self.other.append(message)
        return message

    async def initialize(self) -> None:
        info = {"name": "fuzz", "version": "0"}
        answer = await self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        assert "result" in answer
        await self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    async def call(self, tool: str, arguments: object) -> dict[str, Any]:
        """Call a tool; a failure must be one that is meant to happen."""
        answer = await self.request("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer.get("result", {})
        if result.get("isError"):
            error = json.loads(result["content"][0]["text"])["error"]
            assert error["code"] != "INTERNAL", error
            assert error["message"]
        else:
            assert "result" in answer or answer["error"]["code"] == -32602, answer
        return result

    async def read_all(self) -> None:
        """Every resource that is listed can be read, and is JSON."""
        listed = (await self.request("resources/list"))["result"]["resources"]
        for resource in listed:
            answer = await self.request("resources/read", uri=resource["uri"])
            payload = json.loads(answer["result"]["contents"][0]["text"])
            assert payload["revision"] >= 0


@asynccontextmanager
async def wire(fake: FakeAdapter | None = None) -> AsyncIterator[Wire]:
    """A server with that adapter, and a client that has shaken hands."""
    options: Options = (fake or FakeAdapter()).options()
    sink, to_server = memory_stream_one_way_pair()
    from_server, source = memory_stream_one_way_pair()
    async with (
        open_app(options) as app,
        open_lines(to_server, from_server) as (incoming, outgoing),
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(app.serve_connection, incoming, outgoing)
        client = Wire(sink, source)
        await client.initialize()
        yield client
        nursery.cancel_scope.cancel()


def mcp(data: bytes) -> None:
    """Lines of a client: requests are answered once, nonsense is complained about, and the connection goes on."""

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
    """The id of a request that has to be answered; one that might have been cancelled, or waits by design, need not."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(message, dict) or not isinstance(message.get("method"), str) or "id" not in message:
        return []
    if "result" in message or "error" in message:  # it may be taken for an answer
        return []
    request_id = message["id"]
    if type(request_id) not in (int, str) or message["method"] == "subscriptions/listen":
        return []
    if isinstance(request_id, str) and not request_id.isascii():  # it might be half a character
        return []
    return [request_id]


# --- Sources -----------------------------------------------------------------------------------------------------

SECRET = "the secret outside"


@cache
def _yard() -> Path:
    """A program's directory with a secret beside it, and ways that lead there."""
    keep = tempfile.TemporaryDirectory(prefix="fuzz-")
    _kept.append(keep)
    yard = Path(os.path.realpath(keep.name))
    (yard / "app").mkdir()
    (yard / "secret.txt").write_text(SECRET)
    (yard / "app" / "main.py").write_text("print('main')\n")
    (yard / "app" / "a b%20#?é.py").write_text("print('odd')\n")
    (yard / "app" / "link.py").symlink_to(yard / "app" / "main.py")
    (yard / "app" / "out").symlink_to(yard)
    return yard


_kept: list[tempfile.TemporaryDirectory[str]] = []


@contextmanager
def opened_files() -> Iterator[list[str]]:
    """The paths that are opened meanwhile."""
    import io

    opened: list[str] = []
    real = io.open

    def watched(file: Any, *args: Any, **more: Any) -> Any:
        opened.append(os.fspath(file) if isinstance(file, (str, os.PathLike)) else str(file))
        return real(file, *args, **more)

    with mock.patch("io.open", watched), mock.patch("builtins.open", watched):
        yield opened


def source_ways() -> list[str]:
    """Paths that lead to the files of the yard, honestly or not; material for the fuzzers."""
    yard = str(_yard())
    ways = [f"{yard}/app/main.py", f"{yard}/app/a b%20#?é.py", f"{yard}/app/link.py"]
    ways += [f"{yard}/secret.txt", f"{yard}/app/../secret.txt", f"{yard}/app/out/secret.txt", f"{yard}//secret.txt"]
    return ways


def uri(data: bytes) -> None:
    """A source URI opens a file that the debugger has named, spelled as it was named, or nothing."""
    yard = _yard()
    known = source_ways()[:3]
    sources = Sources()
    for path in known:
        sources.learn(path, "s-1")
    text = "debugger://source/" + data.decode(errors="replace").replace("YARD", str(yard))
    path = source_path(text)
    assert path is not None
    assert canonical(canonical(text)) == canonical(text)
    assert source_path(source_uri(path)) == path
    with opened_files() as opened:
        try:
            shown = read_source(sources.find(path))
        except UsageError as error:
            assert error.code in ("INVALID_PATH", "PERMISSION_DENIED")
            assert opened == []
            return
    assert path in known
    assert opened == [path]
    assert SECRET not in shown


def named(data: bytes) -> None:
    """A path that a debug adapter names, however odd, is one more that is known; it is read, or refused in words."""
    text = data.decode(errors="replace").replace("YARD", str(_yard()))
    sources = Sources((str(_yard() / "app"),))
    sources.learn(text, "s-1")
    for path in (text, quote(text)):
        try:
            shown = read_source(sources.find(path))
        except UsageError as error:
            assert error.code in ("INVALID_PATH", "PERMISSION_DENIED")
        else:
            assert SECRET not in shown


# --- Heads -------------------------------------------------------------------------------------------------------

TOKEN = "the-control-token"
PAGES = {"/": Page("text/html", b"<p>hello</p>", '"1"')}


def head(data: bytes) -> None:
    """A request's head is read or refused; the port answers or hangs up, and lets nobody in without the token."""

    async def main() -> None:
        ours, theirs = memory_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, ours, data)
            try:
                await read_head(theirs)
            except Refused as refusal:
                assert 400 <= refusal.status < 600
        served = []

        async def serve(incoming: Any, outgoing: Any, role: str) -> None:
            served.append(role)
            async for _ in incoming:
                pass

        gate = Gate("127.0.0.1", 8000, lambda token: "control" if token == TOKEN else None)
        ours, theirs = memory_stream_pair()
        said = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Port(gate, serve, PAGES).receive, theirs)
            nursery.start_soon(_send, ours, data)
            while more := await _receive(ours):
                said += more
        assert said == b"" or said.startswith(b"HTTP/1.1 "), said
        assert not served or TOKEN.encode() in data

    run(main)


async def _send(stream: Any, data: bytes) -> None:
    try:
        await stream.send_all(data)
        await stream.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        pass


async def _receive(stream: trio.abc.Stream) -> bytes:
    try:
        return bytes(await stream.receive_some())
    except trio.BrokenResourceError:
        return b""


TARGETS: dict[str, Callable[[bytes], None]] = {
    each.__name__: each for each in (framing, dap, adapter, mcp, uri, named, head)
}


def seeds(target: str) -> list[bytes]:
    """Inputs to begin with: what real peers send."""
    match target:
        case "dap" | "framing" | "adapter":
            lines = (Path(__file__).parent.parent / "data/traces/debugpy-stdio.jsonl").read_text().splitlines()
            said = [json.loads(line) for line in lines]
            bodies = [json.dumps(each["msg"]).encode() for each in said if each["dir"] == "a2c"][:60]
            return bodies if target == "dap" else [encode_frame(body) for body in bodies]
        case "mcp":
            return [
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"uri": "debugger://session"}}).encode()
                for method in ("ping", "tools/list", "tools/call", "resources/read", "prompts/get", "completion/complete")
            ]
        case "uri" | "named":
            return [quote(way).replace(str(_yard()), "YARD").encode() for way in source_ways()]
        case _:
            return [
                b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
                b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Protocol: mcp\r\nAuthorization: Bearer the-control-token\r\n\r\n\x81\x85\0\0\0\0hello",
            ]
