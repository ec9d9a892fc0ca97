"""Streamable HTTP: servers that are restarted, fall silent or deny access. Real HTTP on loopback: real clock."""

from pathlib import Path
from typing import Any

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

pytestmark = pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")

ONE = "demo://one"


async def show_page(url: str) -> None:
    raise AssertionError(f"a person was sent to {url}")


SOON = Reconnect(first_delay=0.05, max_delay=0.1, attempts=20)


async def test_a_server_that_was_restarted_is_found_again_without_a_call() -> None:
    """Its stream of notifications ends, and opening it again is refused."""
    with trio.fail_after(20):
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
    with trio.fail_after(20):
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
    with trio.fail_after(20):
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
    with trio.fail_after(20):
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
    with trio.fail_after(20):
        async with open_http_peer() as peer:
            peer.has_streams = False
            async with InspectorClient(peer.url, InspectorOptions(heartbeat=None)) as client:
                await peer.wait_streams(1)
                for _ in range(3):
                    assert (await client.call_tool("t")).success
                assert peer.count("ping") == 0


async def test_a_silent_connection_that_lives_is_asked_and_continues() -> None:
    with trio.fail_after(20):
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
