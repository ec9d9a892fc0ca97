"""Streamable HTTP on raw connections to a server process: what is refused, bounded, and cut off."""

import json
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio

from tests.transports.conftest import ServerProcess, StartServer
from tests.transports.scene import CONTROL, INITIALIZE, PING
from trio_debugmcp.publish.hub import MAX_SUBSCRIPTIONS

pytestmark = pytest.mark.real

HTTP = ("--http", "0", "--no-stdio")


async def dial(server: ServerProcess) -> trio.SocketStream:
    port = urlsplit(await server.http_url()).port
    assert port is not None
    return await trio.open_tcp_stream("127.0.0.1", port)


def request(stream: trio.SocketStream, first_line: str, body: bytes = b"", **headers: str) -> bytes:
    fields = {
        "Host": f"127.0.0.1:{stream.socket.getpeername()[1]}",
        "Authorization": f"Bearer {CONTROL}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = [f"{first_line} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + body


async def read_until(stream: trio.SocketStream, end: bytes) -> bytes:
    answer = b""
    while end not in answer and (data := await stream.receive_some()):
        answer += data
    return answer


async def ask(server: ServerProcess, first_line: str, body: bytes = b"", **headers: str) -> int:
    """Send a request and return the status of the response, 0 if there is none."""
    async with await dial(server) as stream:
        await stream.send_all(request(stream, first_line, body, **headers))
        answer = await read_until(stream, b"\r\n\r\n")
        return int(answer.split()[1]) if answer else 0


async def open_session(stream: trio.SocketStream) -> str:
    """Initialize, and return the session's id. The connection can be used again."""
    await stream.send_all(request(stream, "POST /mcp", json.dumps(INITIALIZE).encode()))
    answer = await read_until(stream, b"0\r\n\r\n")
    head = answer.partition(b"\r\n\r\n")[0].decode().lower()
    return next(line.partition(": ")[2] for line in head.split("\r\n") if line.startswith("mcp-session-id"))


NONSENSE = [b"hello", b"{", b"", b"\xff\xfe", b'{"jsonrpc": "\xc3"}', b"[" * 100_000, b'{"id": 1}']


@pytest.mark.parametrize("body", NONSENSE, ids=[repr(each[:10]) for each in NONSENSE])
async def test_over_http_a_body_that_is_not_a_message_is_refused_and_the_next_is_served(
    body: bytes, serving: StartServer
) -> None:
    async with serving(*HTTP) as server:
        assert await ask(server, "POST /mcp", body) == 400
        assert await ask(server, "POST /mcp", json.dumps(INITIALIZE).encode()) == 200


@pytest.mark.parametrize(
    "path", ["/../mcp/../etc/passwd", "/..%2f..%2fetc/passwd", "/mcp/../../etc/passwd", "//mcp", "/mcp/", "/index.html"]
)
async def test_over_http_there_is_no_path_but_one(path: str, serving: StartServer) -> None:
    async with serving(*HTTP) as server:
        assert await ask(server, f"GET {path}") == 404


async def test_over_http_a_connection_can_be_used_again_after_a_refusal(serving: StartServer) -> None:
    """The response is sent before the request's body has arrived: clients send it in another packet."""
    async with serving(*HTTP) as server, await dial(server) as stream:
        body = json.dumps(INITIALIZE).encode()
        for number in range(3):
            head = request(stream, "POST /mcp", body, Origin="http://evil.example").removesuffix(body)
            await stream.send_all(head)
            await trio.sleep(0.1 * number)
            await stream.send_all(body)
            assert b" 403 " in await read_until(stream, b"ours\n")
        assert await open_session(stream)


async def test_over_http_an_upgrade_is_refused(serving: StartServer) -> None:
    async with serving(*HTTP) as server:
        upgrade: dict[str, Any] = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Sec_WebSocket_Version": "13",
        }
        assert await ask(server, "GET /mcp", **upgrade) in (400, 403, 404, 426)
        assert await ask(server, "POST /mcp", json.dumps(INITIALIZE).encode()) == 200


async def test_over_http_a_slow_head_is_cut_off_and_others_are_served_meanwhile(serving: StartServer) -> None:
    async with serving(*HTTP) as server, await dial(server) as slow, await dial(server) as silent:
        gone = trio.Event()

        async def trickle() -> None:
            try:
                for byte in request(slow, "GET /mcp"):
                    await slow.send_all(bytes([byte]))
                    await trio.sleep(0.5)
            except trio.BrokenResourceError:
                gone.set()

        with trio.fail_after(120):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trickle)
                assert await ask(server, "POST /mcp", json.dumps(INITIALIZE).encode()) == 200
                assert (await read_until(silent, b"\r\n\r\n")).startswith(b"HTTP/1.1 408")
                await gone.wait()


async def test_over_http_subscriptions_are_bounded_per_client(serving: StartServer) -> None:
    async with serving(*HTTP) as server, await dial(server) as first, await dial(server) as second:
        session = await open_session(first)
        refused = 0
        for number in range(MAX_SUBSCRIPTIONS + 3):
            stream = (first, second)[number % 2]  # a connection serves a thousand requests
            params = {"uri": f"debugger://source//src/{number}.py"}
            message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "resources/subscribe", "params": params}
            await stream.send_all(request(stream, "POST /mcp", json.dumps(message).encode(), Mcp_Session_Id=session))
            refused += b"Too many subscriptions" in await read_until(stream, b"0\r\n\r\n")
        assert refused == 3


async def test_over_http_a_session_may_be_deleted_during_its_requests(
    serving: StartServer,
) -> None:
    lists = json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}).encode()

    async def vanish(server: ServerProcess, first_line: str, body: bytes, session: str, after: float) -> None:
        with suppress(trio.BrokenResourceError):
            async with await dial(server) as stream:
                await stream.send_all(request(stream, first_line, body, Mcp_Session_Id=session))
                await trio.sleep(after)

    async with serving(*HTTP) as server:
        for _ in range(8):
            async with await dial(server) as stream:
                session = await open_session(stream)
            async with trio.open_nursery() as nursery:
                for number in range(12):
                    method, body = ("GET /mcp", b"") if number % 3 == 0 else ("POST /mcp", lists)
                    nursery.start_soon(vanish, server, method, body, session, number / 200)
                nursery.start_soon(vanish, server, "DELETE /mcp", b"", session, 0.3)
        assert await ask(server, "POST /mcp", json.dumps(INITIALIZE).encode()) == 200
        assert "Traceback" not in server.stderr


async def test_over_http_a_client_that_does_not_read_does_not_hold_up_the_end(
    serving: StartServer,
) -> None:
    async with serving(*HTTP, "--patience", "1") as server, await dial(server) as stalled:
        stalled.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        session = await open_session(stalled)
        lists = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        with trio.move_on_after(2):
            while True:
                await stalled.send_all(request(stalled, "POST /mcp", lists, Mcp_Session_Id=session))
        assert await ask(server, "POST /mcp", PING.encode(), Mcp_Session_Id=session) == 200
        server.process.terminate()
        assert await server.process.wait() == 0
