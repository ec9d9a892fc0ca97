"""Streamable HTTP: servers that are restarted, fall silent or deny access. Real HTTP on loopback: real clock."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import trio

from tests.client.http_peer import open_http_peer
from tests.client.peer import received
from trio_debugmcp.client import (
    AuthorizationLost,
    ConnectFailed,
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    NotAuthorized,
    OAuth,
    Reconnect,
)
from trio_debugmcp.client.connection import http_client

pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning"),
]

ONE = "demo://one"


async def show_page(url: str) -> None:
    raise AssertionError(f"a person was sent to {url}")


SOON = Reconnect(first_delay=0.05, max_delay=0.1, attempts=20)


async def test_a_server_that_was_restarted_is_found_again_without_a_call() -> None:
    """Its stream of notifications ends, and opening it again is refused."""
    with trio.fail_after(120):
        async with (
            open_http_peer() as peer,
            InspectorClient(peer.url, InspectorOptions(reconnect=SOON, heartbeat=None)) as client,
            client.subscribed(ONE) as updates,
        ):
            await peer.wait_streams(1)
            await peer.restart()
            assert (await anext(aiter(updates))).cause == "resync"
            assert peer.initialized == 2
            assert peer.count("resources/subscribe") == 2
            assert client.status == "connected"
            await client.disconnect()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_each_way_to_say_that_the_session_is_forgotten_ends_the_connection(status: int) -> None:
    """Without a stream of notifications, only asking finds out."""
    with trio.fail_after(120):
        async with open_http_peer() as peer:
            peer.has_streams = False
            peer.forgotten = status
            async with InspectorClient(peer.url, InspectorOptions(heartbeat=0.1)) as client:
                ended = client.wait_for("disconnect")
                await peer.restart()
                assert f"HTTP {status}" in (await ended).reason
                assert client.status == "error"


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_a_call_in_a_forgotten_session_is_a_lost_connection_and_not_the_tools_failure(status: int) -> None:
    with trio.fail_after(120):
        async with open_http_peer() as peer:
            peer.has_streams = False
            peer.forgotten = status
            peer.body = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No valid session"}}'
            async with InspectorClient(peer.url, InspectorOptions(heartbeat=None, reconnect=SOON)) as client:
                await peer.restart()
                back = client.wait_for("connect")
                with pytest.raises(ConnectionLost, match=f"HTTP {status}"):
                    await client.call_tool("t")
                await back
                assert (await client.call_tool("t")).success
                await client.disconnect()


async def test_a_stream_that_was_closed_and_opened_again_may_have_missed_something() -> None:
    with trio.fail_after(120):
        async with (
            open_http_peer() as peer,
            InspectorClient(peer.url, InspectorOptions(heartbeat=None)) as client,
            client.subscribed(ONE) as updates,
            client.events("disconnect") as events,
        ):
            await peer.wait_streams(1)
            await peer.close_streams()
            assert (await anext(aiter(updates))).cause == "resync"
            assert peer.count("GET") == 2
            assert peer.initialized == 1
            assert received(events) == []


async def test_a_server_without_a_stream_of_notifications_gives_no_reason_to_doubt() -> None:
    with trio.fail_after(120):
        async with open_http_peer() as peer:
            peer.has_streams = False
            async with InspectorClient(peer.url, InspectorOptions(heartbeat=None)) as client:
                await peer.wait_streams(1)
                for _ in range(3):
                    assert (await client.call_tool("t")).success
                assert peer.count("ping") == 0


async def test_a_silent_connection_that_lives_is_asked_and_continues() -> None:
    with trio.fail_after(120):
        async with (
            open_http_peer() as peer,
            InspectorClient(peer.url, InspectorOptions(heartbeat=0.05)) as client,
        ):
            while peer.count("ping") < 3:
                await trio.sleep(0.02)
            assert client.status == "connected"


@pytest.mark.parametrize(
    ("headers", "said"),
    [(None, "no token was given"), ({"authorization": "Bearer x"}, "the token that was given is not accepted")],
)
@pytest.mark.parametrize("status", [401, 403])
async def test_denied_access_says_who_denied_it_and_what_to_do(status: int, headers: Any, said: str) -> None:
    async with open_http_peer() as peer:
        peer.status, peer.body = status, b"a valid token is needed"
        with pytest.raises(NotAuthorized) as denied:
            async with InspectorClient(peer.url.replace("://", "://me:secret@"), InspectorOptions(headers=headers)):
                pytest.fail("connected")
        message = str(denied.value)
        assert f"{peer.url} answered with HTTP {status}" in message
        assert "(a valid token is needed)" in message
        assert said in message
        assert "Authorization: Bearer" in message
        assert "secret" not in message


@pytest.mark.parametrize("oauth", [None, OAuth()])
@pytest.mark.parametrize("modern", [False, True])
async def test_a_token_that_is_revoked_ends_the_connection_as_lost_authorisation(
    modern: bool, oauth: OAuth | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with open_http_peer() as peer:
        peer.modern = modern
        async with InspectorClient(peer.url, InspectorOptions(oauth=oauth)) as client:
            ended = client.wait_for("disconnect")
            peer.status, peer.body = 401, b"revoked"
            with pytest.raises(AuthorizationLost, match="the server denies access"):
                await client.list_tools()
            assert (await ended).unauthorized
            assert client.status == "error"


@pytest.mark.parametrize("person", [None, show_page])
async def test_a_server_with_tokens_of_its_own_is_not_taken_for_one_with_oauth(person: Any, tmp_path: Path) -> None:
    async with open_http_peer() as peer:
        peer.status, peer.headers = 401, "WWW-Authenticate: Bearer\r\n"
        options = InspectorOptions(oauth=OAuth(open_url=person, store=tmp_path / "tokens.json"))
        with pytest.raises(NotAuthorized, match="wants a token, and names no server that would authorise you"):
            async with InspectorClient(peer.url, options):
                pytest.fail("connected")


@pytest.mark.parametrize(
    ("status", "said"), [(404, "is the path right"), (405, "is the path right"), (502, "HTTP 502")]
)
async def test_a_refused_connection_says_url_and_status(status: int, said: str) -> None:
    async with open_http_peer() as peer:
        peer.status, peer.body = status, b"<html>no</html>"
        with pytest.raises(ConnectFailed, match=said) as failed:
            async with InspectorClient(peer.url):
                pytest.fail("connected")
        assert not isinstance(failed.value, NotAuthorized)
        assert peer.url in str(failed.value)
        assert "html" not in str(failed.value)


@asynccontextmanager
async def raw_server(answer: Callable[[trio.SocketStream], Awaitable[None]]) -> AsyncGenerator[str]:
    """The origin of a server that answers each connection in this way, once a request has come."""

    async def handle(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            await stream.receive_some(65536)
            await answer(stream)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, handle, 0, host="127.0.0.1"))
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.cancel_scope.cancel("the test is over")


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
@pytest.mark.parametrize("status", [302, 307])
async def test_a_token_does_not_follow_a_redirect_to_another_server(status: int, path: str) -> None:
    reached: list[bool] = []

    async def note(stream: trio.SocketStream) -> None:
        reached.append(True)

    async with raw_server(note) as elsewhere:

        async def redirect(stream: trio.SocketStream) -> None:
            head = f"HTTP/1.1 {status} x\r\nLocation: {elsewhere}{path}\r\nContent-Length: 0\r\n\r\n"
            await stream.send_all(head.encode())

        async with raw_server(redirect) as here:
            with pytest.raises(ConnectFailed):
                async with InspectorClient(here + path, InspectorOptions(headers={"x-api-key": "secret"})):
                    pytest.fail("connected")
    assert not reached


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ("Content-Type: application/json\r\n", "a message of more than 300000 bytes"),
        ("Content-Type: text/event-stream\r\n", "ended without a response"),
        ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", "compresses its answers"),
    ],
)
async def test_an_answer_without_an_end_is_cut(headers: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_LINE_BYTES", 300_000)

    async def endless(stream: trio.SocketStream) -> None:
        await stream.send_all(f"HTTP/1.1 200 x\r\n{headers}Connection: close\r\n\r\n".encode())
        while True:
            await stream.send_all(b"x" * 65536)

    with trio.fail_after(120):
        async with raw_server(endless) as url:
            with pytest.raises(ConnectFailed, match=said):
                async with InspectorClient(url + "/mcp"):
                    pytest.fail("connected")


async def test_many_small_events_are_not_too_long_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "MAX_LINE_BYTES", 1000)
    request = httpx2.Request("POST", "http://h/mcp")

    class Events(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for _ in range(100):
                yield b"data: " + b"x" * 500 + b"\n\n"

    assert len([chunk async for chunk in http_client.BoundedStream(Events(), request)]) == 100


async def test_a_long_answer_may_come_as_an_event() -> None:
    async with open_http_peer() as peer:
        peer.as_events = True
        async with InspectorClient(peer.url) as client:
            (block,) = (await client.call_tool("t")).result.content  # type: ignore[union-attr]
            assert len(getattr(block, "text", "")) == 2_000_000
