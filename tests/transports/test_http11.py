"""HTTP/1.1 on memory streams: what is refused, what a connection is used for, when it is closed. Exact times."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from tests.transports.scene import HOST, read_answer
from trio_debugmcp.transports.admission import STRANGER_SECONDS, Admission, ConnectionBounds, Refused
from trio_debugmcp.transports.head import DRAIN_SECONDS, HEAD_SECONDS, MAX_HEAD_BYTES, MAX_HEADERS, PIECE_SECONDS
from trio_debugmcp.transports.http11 import (
    BODY_SECONDS,
    KEEP_ALIVE_SECONDS,
    MAX_CHUNKS,
    STALL_SECONDS,
    HttpExchange,
    serve_http11,
)

MAX_BODY = 1000


async def echo(exchange: HttpExchange) -> None:
    """Admit everyone, and answer with the body, or refuse as the path says."""
    if exchange.head.path == "/stranger":
        await exchange.refuse(Refused(HTTPStatus.FORBIDDEN, "stranger"))
        return
    exchange.visitor.admit("control")
    try:
        body = await exchange.read_body(MAX_BODY)
    except Refused as refusal:
        await exchange.refuse(refusal)
        return
    match exchange.head.path:
        case "/fail":
            raise ValueError("on purpose")
        case "/nothing":
            return
        case "/stream":
            await exchange.send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"x")]})
            assert await exchange.receive() == {"type": "http.request", "body": body, "more_body": False}
            await exchange.send({"type": "http.response.body", "body": b"first", "more_body": True})
            assert await exchange.receive() == {"type": "http.disconnect"}
            await exchange.send({"type": "http.response.body", "body": b"dropped"})
        case "/cancelled":
            with trio.CancelScope() as scope:
                await exchange.send({"type": "http.response.start", "status": 200, "headers": []})
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(exchange.send, {"type": "http.response.body", "body": b"whole"})
                    await trio.sleep(0.5)
                    scope.cancel()
        case "/large":
            length = (b"Content-Length", b"200000")
            await exchange.send({"type": "http.response.start", "status": 200, "headers": [length]})
            await exchange.send({"type": "http.response.body", "body": b"x" * 200_000})
        case _:
            await exchange.respond(HTTPStatus.OK, body.decode(), "text/plain")


class Peer:
    """A client's end of a connection, and the server's, for tests that break it."""

    def __init__(
        self,
        stream: trio.abc.HalfCloseableStream,
        end: trio.StapledStream[trio.testing.MemorySendStream, trio.testing.MemoryReceiveStream],
    ) -> None:
        self.stream = stream
        self.end = end

    async def ask(self, path: str = "/", body: bytes = b"", method: str = "POST", **headers: str) -> bytes:
        """Send a request, and read what the server answers at once."""
        await self.stream.send_all(request(path, body, method, **headers))
        return await self.read()

    async def read(self) -> bytes:
        """Read what is there; empty if the server has closed."""
        await trio.testing.wait_all_tasks_blocked()
        return bytes(await self.stream.receive_some())


def request(path: str = "/", body: bytes = b"", method: str = "POST", **headers: str) -> bytes:
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"Host": HOST, "Content-Length": str(len(body)), **more}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


Dial = Callable[[], Peer]


@asynccontextmanager
async def serving(application: Callable[[HttpExchange], Awaitable[None]] = echo) -> AsyncIterator[Dial]:
    admission = Admission(ConnectionBounds(10, 10, 10))
    async with trio.open_nursery() as nursery:

        def dial() -> Peer:
            ours, theirs = memory_stream_pair()
            nursery.start_soon(admission.serve, theirs, partial(serve_http11, application=application))
            return Peer(ours, theirs)

        yield dial
        nursery.cancel_scope.cancel()


async def test_a_connection_serves_one_request_after_another(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        for number in range(3):
            answer = await peer.ask(body=b"body %d" % number)
            assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
            assert answer.endswith(b"\r\n\r\nbody %d" % number)
            assert b"close" not in answer.lower()
        assert trio.current_time() == 0


async def test_requests_that_are_sent_ahead_are_served_in_order(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(
            request(body=b"one") + request(body=b"two") + request(body=b"three", Connection="close")
        )
        answers = (await read_answer(peer.stream))[2]
        assert [answers.find(word) for word in (b"one", b"two", b"three")] == sorted(
            map(answers.find, (b"one", b"two", b"three"))
        )
        assert answers.endswith(b"three")
        assert trio.current_time() == 0


async def test_a_connection_that_the_client_wants_closed_is_closed_behind_the_answer(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(request(body=b"last", Connection="close"))
        status, headers, body = await read_answer(peer.stream)
        assert (status, headers["connection"], body, trio.current_time()) == (200, "close", b"last", 0)
        await trio.sleep(DRAIN_SECONDS / 2)
        await peer.stream.send_all(b"what is on its way is read: else the close would be a reset")
        await trio.sleep(DRAIN_SECONDS)
        with pytest.raises(trio.BrokenResourceError):
            await peer.stream.send_all(b"too late")
    assert caplog.text == ""


async def test_a_connection_without_a_further_request_is_closed_after_a_minute(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.ask()
        await trio.sleep(KEEP_ALIVE_SECONDS - 1)
        assert b" 200 " in await peer.ask()
        assert await peer.stream.receive_some() == b""
        assert trio.current_time() == 2 * KEEP_ALIVE_SECONDS - 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (request().replace(b"1.1", b"1.0"), 505),
        (request().replace(b"1.1", b"2.0"), 505),
        (b"hello\r\n\r\n", 400),
        (request(Transfer_Encoding="chunked"), 400),
        (request(X="y" * MAX_HEAD_BYTES), 431),
        (b"GET /" + b"x" * 2 * MAX_HEAD_BYTES, 431),
    ],
)
@pytest.mark.parametrize("before", [0, 1])
async def test_what_is_not_http_1_1_is_refused_and_the_connection_closed(
    sent: bytes, status: int, before: int, autojump_clock: MockClock
) -> None:
    async with serving() as dial:
        peer = dial()
        for _ in range(before):
            await peer.ask()
        await peer.stream.send_all(sent)
        answer = await read_answer(peer.stream)
        assert (answer[0], answer[1]["connection"]) == (status, "close")


async def test_an_upgrade_to_http_2_is_ignored(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        answer = await dial().ask(Connection="Upgrade, HTTP2-Settings", Upgrade="h2c", HTTP2_Settings="AAMAAABkAAQ")
        assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"POST / HT"])
async def test_the_first_head_has_ten_seconds_from_the_connection(sent: bytes, autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await trio.sleep(5)
        await peer.stream.send_all(sent)
        assert (await read_answer(peer.stream))[0] == 408
        assert trio.current_time() == HEAD_SECONDS


async def test_a_later_head_has_ten_seconds_from_its_first_byte(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.ask()
        await trio.sleep(50)
        for byte in request()[: int(HEAD_SECONDS)]:
            await peer.stream.send_all(bytes([byte]))
            await trio.sleep(1)
        assert (await read_answer(peer.stream))[0] == 408
        assert trio.current_time() == 50 + HEAD_SECONDS


async def test_a_body_has_a_minute(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(request(body=b"x" * 100)[:-50])
        await trio.sleep(BODY_SECONDS - 1)
        await peer.stream.send_all(b"y")
        status, headers, _ = await read_answer(peer.stream)
        assert (status, headers["connection"]) == (408, "close")
        assert trio.current_time() == BODY_SECONDS + 1  # the second is for the rest of the body


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_has_a_bound_in_size(chunked: bool, autojump_clock: MockClock) -> None:
    async with serving() as dial:
        for size, status in ((MAX_BODY, b" 200 "), (MAX_BODY + 1, b" 413 ")):
            body = b"x" * size
            if chunked:
                sent = request(Content_Length="", Transfer_Encoding="chunked") + b"%x\r\n%s\r\n0\r\n\r\n" % (size, body)
            else:
                sent = request(body=body)
            peer = dial()
            await peer.stream.send_all(sent)
            assert status in await peer.read()


async def test_a_declared_size_is_refused_before_it_arrives(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        answer = await peer.ask(Content_Length=str(10**12), Expect="100-continue")
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"Connection: close" in answer
        assert trio.current_time() == 0


async def test_a_client_that_waits_for_100_continue_gets_it(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        assert (await peer.ask(Content_Length="4", Expect="100-continue")).startswith(b"HTTP/1.1 100 ")
        await peer.stream.send_all(b"body")
        assert (await peer.read()).endswith(b"\r\n\r\nbody")


async def test_a_client_that_leaves_in_its_body_leaves_nothing_in_the_log(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(request(body=b"x" * 100)[:-50])
        await peer.stream.aclose()
        await trio.sleep(1)
    assert caplog.text == ""


async def test_a_stranger_may_ask_again_after_a_refusal_but_has_half_a_minute(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        for _ in range(2):
            await trio.sleep(STRANGER_SECONDS / 2 - 6)
            answer = await peer.ask("/stranger", b"body")
            assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert b"close" not in answer
        assert await peer.stream.receive_some() == b""
        assert trio.current_time() == STRANGER_SECONDS


async def test_the_body_of_a_refused_request_is_waited_for_a_second(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(request("/stranger", b"x" * 10)[:-1])
        status, headers, _ = await read_answer(peer.stream)
        assert (status, headers["connection"], trio.current_time()) == (403, "close", 1)


async def test_a_head_has_a_hundred_headers(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        for headers, status in ((MAX_HEADERS, 200), (MAX_HEADERS + 1, 431)):
            more: dict[str, Any] = {
                f"X-{number}": "y" for number in range(headers - 3)
            }  # beside those of every request here
            peer = dial()
            await peer.stream.send_all(request(Connection="close", **more))
            assert (await read_answer(peer.stream))[0] == status


async def test_of_a_refused_request_neither_chunks_nor_a_long_body_are_waited_for(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        bodies: tuple[dict[str, Any], ...] = (
            {"Content_Length": "", "Transfer_Encoding": "chunked"},
            {"Content_Length": "262145"},
        )
        for headers in bodies:
            peer = dial()
            await peer.stream.send_all(request("/stranger", **headers) + b"1\r\nx\r\n")
            status, answered, _ = await read_answer(peer.stream)
            assert (status, answered["connection"]) == (403, "close")
        assert trio.current_time() == 0


async def test_a_stranger_is_refused_four_times_on_a_connection(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        for left in (3, 2, 1, 0):
            answer = await peer.ask("/stranger", b"body")
            assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
            assert (b"\r\nConnection: close\r\n" in answer) is (left == 0)
        assert await peer.stream.receive_some() == b""
        client = dial()
        await client.ask()
        for _ in range(10):
            assert b"Connection: close" not in await client.ask("/stranger"), "it was admitted before"


async def test_a_body_has_a_thousand_chunks(autojump_clock: MockClock) -> None:
    async def application(exchange: HttpExchange) -> None:
        exchange.visitor.admit("control")
        try:
            await exchange.respond(HTTPStatus.OK, str(len(await exchange.read_body(10 * MAX_CHUNKS))), "text/plain")
        except Refused as refusal:
            await exchange.refuse(refusal)

    async with serving(application) as dial:
        for chunks, status in ((MAX_CHUNKS, 200), (MAX_CHUNKS + 1, 413)):
            peer = dial()
            await peer.stream.send_all(request(Content_Length="", Transfer_Encoding="chunked"))
            await peer.stream.send_all(b"3\r\nabc\r\n" * chunks + b"0\r\n\r\n")
            answered, _, body = await read_answer(peer.stream)
            assert (answered, body) == (status, b"3000" if status == 200 else b"a body has at most 1000 chunks\n")


async def test_a_head_that_comes_byte_by_byte_is_read_fifty_times_a_second(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        reads = 0

        async def count() -> None:
            nonlocal reads
            reads += 1

        peer.end.receive_stream.receive_some_hook = count
        for byte in request(X="y" * 200):
            await peer.stream.send_all(bytes([byte]))
            await trio.sleep(0.001)
        assert (await peer.read()).startswith(b"HTTP/1.1 200 OK\r\n")
        assert reads <= trio.current_time() / PIECE_SECONDS + 3


@pytest.mark.parametrize("path", ["/fail", "/nothing"])
async def test_a_request_without_an_answer_gets_500(
    path: str, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving() as dial:
        assert (await dial().ask(path)).startswith(b"HTTP/1.1 500 ")
    assert ("on purpose" in caplog.text) is (path == "/fail")


async def test_a_stream_ends_when_its_client_leaves(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        answer = await peer.ask("/stream", b"body")
        assert b"transfer-encoding: chunked" in answer.lower()
        assert b"\r\nconnection" not in answer.lower()
        assert answer.endswith(b"5\r\nfirst\r\n")
        await peer.stream.send_eof()
        assert await read_answer(peer.stream) == (0, {}, b"")


async def test_to_a_client_that_sends_ahead_a_stream_continues_until_a_write_fails(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        await peer.stream.send_all(request("/stream", b"body") + request())
        await trio.sleep(1000)
        assert (await peer.read()).endswith(b"5\r\nfirst\r\n")


async def test_an_answer_whose_task_is_cancelled_while_it_is_sent_is_whole(autojump_clock: MockClock) -> None:
    """The SDK cancels a response when its last part is sent."""
    async with serving() as dial:
        peer = dial()
        hook = peer.end.send_stream.send_all_hook
        assert hook is not None

        async def slow() -> None:
            await trio.sleep(1)
            await hook()

        peer.end.send_stream.send_all_hook = slow
        await peer.stream.send_all(request("/cancelled"))
        await trio.sleep(3)
        assert (await peer.read()).endswith(b"5\r\nwhole\r\n0\r\n\r\n")
        peer.end.send_stream.send_all_hook = hook
        assert b" 200 " in await peer.ask()


async def test_a_peer_that_does_not_read_is_given_up(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        peer.end.send_stream.send_all_hook = trio.sleep_forever
        await peer.stream.send_all(request("/large"))
        await trio.sleep(STALL_SECONDS + DRAIN_SECONDS + 1)
        with pytest.raises(trio.BrokenResourceError):
            await peer.stream.send_all(b"more")


async def test_a_peer_that_reads_slowly_gets_everything(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        hook = peer.end.send_stream.send_all_hook
        assert hook is not None

        async def slow() -> None:
            await trio.sleep(STALL_SECONDS - 1)
            await hook()

        peer.end.send_stream.send_all_hook = slow
        await peer.stream.send_all(request("/large", Connection="close"))
        assert (await read_answer(peer.stream))[2].count(b"x") == 200_000
        assert trio.current_time() > 3 * (STALL_SECONDS - 1)


async def test_head_has_no_body(autojump_clock: MockClock) -> None:
    async with serving() as dial:
        peer = dial()
        for path in ("/", "/large"):
            answer = await peer.ask(path, b"body", method="HEAD")
            assert answer.startswith(b"HTTP/1.1 200 ")
            assert answer.endswith(b"\r\n\r\n")
            assert b"xxx" not in answer
