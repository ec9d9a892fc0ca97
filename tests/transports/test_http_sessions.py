"""Streamable HTTP without a network: which session serves a request, and when a session ends. Exact times."""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import pytest
import trio
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from trio.testing import MockClock, memory_stream_pair

from tests.transports.scene import CONTROL, HOST, INITIALIZE, OBSERVE, PING, read_answer
from trio_debugmcp.app import open_app
from trio_debugmcp.server.auth import Role, Tokens
from trio_debugmcp.server.clients import Clients
from trio_debugmcp.server.subscription_requests import MAX_STREAMS
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.transports import http
from trio_debugmcp.transports.admission import Admission, ConnectionBounds
from trio_debugmcp.transports.gate import Gate
from trio_debugmcp.transports.http import IDLE_SECONDS, HttpApp, HttpStatistics, is_relevant
from trio_debugmcp.transports.http11 import serve_http11

ROOMY = ConnectionBounds(strangers=100, control=100, observe=100)
HELLO = json.dumps(INITIALIZE).encode()


class Browser:
    """Sends requests to an `HttpApp` over memory streams; `ends` are the server's ends of its connections."""

    def __init__(self, app: HttpApp, clients: Clients, admission: Admission, nursery: trio.Nursery) -> None:
        self.app = app
        self.clients = clients
        self.admission = admission
        self.ends: list[trio.StapledStream[Any, Any]] = []
        self._nursery = nursery

    def dial(self) -> trio.abc.HalfCloseableStream:
        """Open a connection and return the client's end."""
        ours, theirs = memory_stream_pair()
        self.ends.append(theirs)
        handler = partial(serve_http11, application=self.app.serve)
        self._nursery.start_soon(self.admission.serve, theirs, handler)
        return ours

    async def ask(
        self,
        method: str = "POST",
        body: bytes = b"",
        *,
        path: str = "/mcp",
        token: str = CONTROL,
        before_response: Callable[[], Awaitable[None]] | None = None,
        **more: str,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request on a connection for it alone; return status, headers and body of the response."""
        async with self.dial() as stream:
            if before_response is not None:
                self.ends[-1].send_stream.send_all_hook = both(before_response, self.ends[-1].send_stream.send_all_hook)
            sent = request(method, body, path=path, token=token, connection="close", **more)
            await stream.send_all(sent)
            return await read_answer(stream)

    async def status(self, method: str = "POST", body: bytes = b"", **more: Any) -> int:
        return (await self.ask(method, body, **more))[0]

    async def open_session(self, token: str = CONTROL) -> str:
        status, headers, _ = await self.ask(body=HELLO, token=token)
        assert status == 200
        return headers["mcp-session-id"]


def both(first: Callable[[], Awaitable[None]], second: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def hook() -> None:
        await first()
        await second()

    return hook


def request(method: str = "POST", body: bytes = b"", *, path: str = "/mcp", token: str = CONTROL, **more: str) -> bytes:
    """The bytes of a request with its body."""
    fields = {
        "host": HOST,
        "authorization": f"Bearer {token}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": str(len(body)),
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value), "", ""]
    return "\r\n".join(lines).encode() + body


@asynccontextmanager
async def browsing(limits: ConnectionBounds = ROOMY) -> AsyncIterator[Browser]:
    tokens = Tokens(CONTROL, OBSERVE)
    async with open_app(FakeAdapter().options()) as app, trio.open_nursery() as nursery:
        gate: Gate[Role] = Gate("127.0.0.1", tokens.role_of)
        yield Browser(HttpApp(gate, app.open_server, nursery), app.clients, Admission(limits), nursery)
        nursery.cancel_scope.cancel()


async def test_a_session_ends_when_it_is_idle_for_too_long(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        session = await browser.open_session()
        for _ in range(3):
            await trio.sleep(IDLE_SECONDS - 1)
            assert await browser.status(body=PING.encode(), mcp_session_id=session) == 200
        assert browser.app.statistics() == HttpStatistics(sessions=1, requests=0)
        await trio.sleep(IDLE_SECONDS + 1)
        assert browser.app.statistics() == HttpStatistics(sessions=0, requests=0)
        assert await browser.status(body=PING.encode(), mcp_session_id=session) == 404


async def test_a_session_with_an_open_stream_is_not_idle(autojump_clock: MockClock) -> None:
    async with browsing() as browser, trio.open_nursery() as nursery:
        session = await browser.open_session()

        @nursery.start_soon
        async def _() -> None:
            await browser.ask("GET", mcp_session_id=session)

        await trio.sleep(1)
        assert await browser.status(body=PING.encode(), mcp_session_id=session) == 200
        await trio.sleep(10 * IDLE_SECONDS)
        assert browser.app.statistics() == HttpStatistics(sessions=1, requests=1)
        assert repr(browser.app) == "<HttpApp with 1 MCP sessions, 1 requests>"
        nursery.cancel_scope.cancel()


async def test_a_deleted_session_is_gone_at_once(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        session = await browser.open_session()

        async def next_request() -> None:
            assert await browser.status(body=PING.encode(), mcp_session_id=session) == 404

        assert await browser.status("DELETE", mcp_session_id=session, before_response=next_request) == 200
        assert await browser.status("DELETE", mcp_session_id=session) == 404
        await trio.testing.wait_all_tasks_blocked()
        assert browser.app.statistics().sessions == 0
        assert trio.current_time() == 0


async def test_a_client_in_another_role_cannot_delete_a_session(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        session = await browser.open_session()
        assert await browser.status("DELETE", mcp_session_id=session, token=OBSERVE) == 404
        assert await browser.status(body=PING.encode(), mcp_session_id=session) == 200


async def test_a_first_request_that_is_refused_leaves_no_session(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        assert await browser.status(body=PING.encode()) == 400
        assert await browser.status(body=b"hello") == 400
        await trio.testing.wait_all_tasks_blocked()
        assert browser.app.statistics().sessions == 0


async def test_requests_of_the_modern_era_share_one_server_for_each_role(autojump_clock: MockClock) -> None:
    version = MODERN_PROTOCOL_VERSIONS[-1]
    async with browsing() as browser:
        async with trio.open_nursery() as nursery:
            for token in (CONTROL, OBSERVE, CONTROL, OBSERVE):

                @nursery.start_soon
                async def _(token: str = token) -> None:
                    await browser.ask(body=PING.encode(), token=token, mcp_protocol_version=version)

        assert browser.app.statistics() == HttpStatistics(sessions=2, requests=0)
        await trio.sleep(IDLE_SECONDS + 1)
        assert browser.app.statistics().sessions == 0
        await browser.ask(body=PING.encode(), mcp_protocol_version=version)
        assert browser.app.statistics().sessions == 1


async def test_past_the_bound_no_further_session_in_control_is_opened_until_one_ends(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 2)
    async with browsing() as browser:
        # What all clients of the modern era share takes no place.
        await browser.ask(body=PING.encode(), mcp_protocol_version=MODERN_PROTOCOL_VERSIONS[-1])
        assert browser.app.statistics().sessions == 1
        sessions = [await browser.open_session() for _ in range(2)]
        status, headers, _ = await browser.ask(body=HELLO)
        assert (status, headers["retry-after"]) == (503, "10")
        assert await browser.status("DELETE", mcp_session_id=sessions[0]) == 200
        await trio.testing.wait_all_tasks_blocked()
        assert await browser.open_session()


async def test_observers_take_no_session_from_control_and_the_idle_one_makes_room(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 3)
    async with browsing() as browser, trio.open_nursery() as nursery:
        watching, first, second = [await browser.open_session(OBSERVE) for _ in range(3)]

        @nursery.start_soon
        async def _() -> None:
            await browser.ask("GET", token=OBSERVE, mcp_session_id=watching)

        await trio.sleep(1)
        assert await browser.status(body=PING.encode(), token=OBSERVE, mcp_session_id=first) == 200
        await trio.sleep(1)
        assert [await browser.open_session() for _ in range(3)]
        third = await browser.open_session(OBSERVE)
        statuses = {
            each: await browser.status(body=PING.encode(), token=OBSERVE, mcp_session_id=each)
            for each in (watching, first, second, third)
        }
        assert statuses == {watching: 200, first: 200, second: 404, third: 200}
        assert browser.app.statistics().sessions == 6
        assert (browser.clients.statistics().in_control, browser.clients.statistics().observing) == (3, 3)
        nursery.cancel_scope.cancel()


async def test_if_no_observer_is_idle_a_further_one_is_refused(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_SESSIONS", 1)
    async with browsing() as browser, trio.open_nursery() as nursery:
        watching = await browser.open_session(OBSERVE)

        @nursery.start_soon
        async def _() -> None:
            await browser.ask("GET", token=OBSERVE, mcp_session_id=watching)

        await trio.sleep(1)
        assert await browser.status(body=HELLO, token=OBSERVE) == 503
        assert await browser.status(body=HELLO) == 200
        nursery.cancel_scope.cancel()


def modern(method: str, **params: Any) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN_PROTOCOL_VERSIONS[-1],
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}).encode()


async def test_in_the_modern_era_more_observers_listen_than_one_client_may_have_streams(
    autojump_clock: MockClock,
) -> None:
    listen = modern("subscriptions/listen", notifications={"resourceSubscriptions": ["debugger://session"]})
    version = MODERN_PROTOCOL_VERSIONS[-1]
    headers: dict[str, Any] = {"mcp_protocol_version": version, "mcp_method": "subscriptions/listen"}
    async with browsing(ConnectionBounds(strangers=20, control=20, observe=MAX_STREAMS + 10)) as browser:
        streams = [browser.dial() for _ in range(MAX_STREAMS + 10)]
        for stream in streams:
            await stream.send_all(request(body=listen, token=OBSERVE, **headers))
        await trio.sleep(1)
        answers = [bytes(await stream.receive_some()) for stream in streams]
        assert {answer.split()[1] for answer in answers} == {b"200"}
        assert not [answer for answer in answers if b"Too many" in answer]
        assert browser.app.statistics() == HttpStatistics(sessions=1, requests=MAX_STREAMS + 10)
        # Further ones are refused by the bound of connections, and control is served.
        status, refusal, _ = await browser.ask(body=listen, token=OBSERVE, **headers)
        assert (status, refusal["retry-after"]) == (503, "10")
        assert await browser.status(body=HELLO) == 200


@pytest.mark.parametrize("bad_id", ["NaN", "null", "1.5", "true", "{}", "[1]"])
async def test_a_request_whose_id_cannot_be_answered_is_not_taken_for_a_notification(
    bad_id: str, autojump_clock: MockClock
) -> None:
    text = f'{{"jsonrpc": "2.0", "id": {bad_id}, "method": "ping"}}'.encode()
    async with browsing() as browser:
        session = await browser.open_session()
        status, headers, body = await browser.ask(body=text, mcp_session_id=session)
        assert (status, headers["content-type"]) == (400, "application/json")
        assert (json.loads(body)["error"]["code"], json.loads(body)["id"]) == (-32600, None)


async def test_an_observer_sends_smaller_bodies(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        assert await browser.status(body=HELLO.ljust(256 * 1024), token=OBSERVE) == 200
        assert await browser.status(body=HELLO.ljust(256 * 1024 + 1), token=OBSERVE) == 413
        async with browser.dial() as stream:
            await stream.send_all(request(body=HELLO.ljust(256 * 1024 + 1), token=OBSERVE)[:-1])
            assert (await read_answer(stream))[0] == 413  # for its size, before the rest arrives


async def test_a_body_of_4_mib_is_accepted_and_a_longer_one_is_not(autojump_clock: MockClock) -> None:
    most = 4 * 1024 * 1024
    async with browsing() as browser:
        assert await browser.status(body=HELLO.ljust(most)) == 200
        assert await browser.status(body=HELLO.ljust(most + 1)) == 413


async def test_a_head_that_is_too_large_is_refused_even_in_one_piece(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        assert await browser.status(body=HELLO, x_long="x" * 15_000) == 200
        assert await browser.status(body=HELLO, x_long="x" * 16 * 1024) == 431


async def test_there_is_no_other_path_and_no_other_source(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        assert await browser.status(body=HELLO, path="/other") == 404
        assert await browser.status(body=HELLO, origin="http://evil.example") == 403
        assert await browser.status(body=HELLO, host="evil.example", token="wrong") == 403
        assert await browser.status(body=HELLO, host="evil.example", origin="http://evil.example") == 403
        status, headers, body = await browser.ask(body=HELLO, token="wrong")
        assert (status, headers["www-authenticate"], body) == (401, "Bearer", b"a valid token is needed\n")
        assert browser.app.statistics().sessions == 0


async def test_a_probe_needs_no_token_and_no_name_of_ours(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        status, _, body = await browser.ask("GET", path="/healthz", token="", host="10.1.2.3:8766")
        assert (status, body) == (200, b"ok\n")
        assert await browser.status("POST", path="/healthz", body=HELLO) == 404
        assert browser.app.statistics().sessions == 0


async def test_a_client_that_shows_its_token_reaches_the_server_by_any_name(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        assert await browser.status(body=HELLO, host="debugger.tools.svc:8766") == 200


async def test_a_websocket_is_refused(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        status, _, body = await browser.ask("GET", upgrade="websocket")
        assert (status, b"--ws" in body) == (400, True)


@pytest.mark.parametrize(
    ("error", "relevant"),
    [
        (None, True),
        (ValueError(), True),
        (anyio.ClosedResourceError(), False),
        (anyio.BrokenResourceError(), False),
        (ExceptionGroup("", [anyio.ClosedResourceError(), ExceptionGroup("", [anyio.BrokenResourceError()])]), False),
        (ExceptionGroup("", [anyio.ClosedResourceError(), ValueError()]), True),
    ],
)
def test_the_log_of_the_sdk_has_no_errors_about_clients_that_left(error: Exception | None, relevant: bool) -> None:
    exc_info = None if error is None else (type(error), error, None)
    record = logging.LogRecord("mcp", logging.ERROR, "file.py", 1, "message", None, exc_info)
    assert is_relevant(record) is relevant


async def test_over_http_requests_of_an_observer_wait_for_their_turn(autojump_clock: MockClock) -> None:
    async with browsing() as browser:
        async with browser.admission.turns:
            assert await browser.status(body=HELLO) == 200
            with trio.move_on_after(1) as waited:
                await browser.status(body=HELLO, token=OBSERVE)
            assert waited.cancelled_caught
        assert await browser.status(body=HELLO, token=OBSERVE) == 200


def test_what_the_sdk_says_of_every_session_is_not_logged() -> None:
    record = logging.LogRecord("mcp", logging.INFO, "", 0, "Created new transport", None, None)
    assert not is_relevant(record)
