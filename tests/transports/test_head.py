"""Heads of HTTP requests, and the response that ends a connection. On memory streams; the clock is exact."""

from collections.abc import Callable
from http import HTTPStatus

import pytest
import trio
from trio.testing import MockClock, memory_stream_pair

from trio_debugmcp.transports.admission import Refused
from trio_debugmcp.transports.head import MAX_HEADERS, PIECE_SECONDS, Head, ReplayedStream, answer, drain, read_head


async def test_a_head_is_read_however_it_is_cut_and_what_follows_it_is_kept(autojump_clock: MockClock) -> None:
    raw = b"GET /mcp?x=1 HTTP/1.1\r\nHost: x\r\nUpgrade: h2c, WebSocket\r\nX-Empty:\r\n\r\n"
    for size in (1, 7, 1000):
        ours, theirs = memory_stream_pair()
        for start in range(0, len(raw), size):
            await theirs.send_all(raw[start : start + size])
        await theirs.send_all(b"more")
        head = await read_head(ours)
        assert head is not None
        assert (head.method, head.path, head.raw) == ("GET", "/mcp", raw)
        assert b"more".startswith(head.rest)
        assert head.wants_websocket
        assert (head.value("host"), head.value("x-empty"), head.value("cookie")) == ("x", "", None)


async def test_a_head_has_a_hundred_lines_and_what_follows_it_any_number(autojump_clock: MockClock) -> None:
    for headers in (MAX_HEADERS, MAX_HEADERS + 1):
        ours, theirs = memory_stream_pair()
        await theirs.send_all(
            b"GET / HTTP/1.1\r\n" + b"Host: x\r\n" + b"a: b\r\n" * (headers - 1) + b"\r\n" + b"\n" * 200
        )
        if headers == MAX_HEADERS:
            assert await read_head(ours) is not None
        else:
            with pytest.raises(Refused, match="at most 100 headers"):
                await read_head(ours)


async def test_a_head_that_comes_byte_by_byte_is_read_at_a_slow_pace(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(read_head, ours)
        await theirs.send_all(b"GET / HTTP/1.1\r\n")
        await trio.testing.wait_all_tasks_blocked()
        await theirs.send_all(b"Host: x\r\n\r\n")
    assert trio.current_time() == PIECE_SECONDS


async def test_a_peer_that_closes_before_the_end_of_its_head_gets_no_response(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    await theirs.send_all(b"GET / HTTP/1.1\r\nHost:")
    await theirs.send_eof()
    assert await read_head(ours) is None


def test_a_list_in_several_header_lines_is_one_list() -> None:
    head = Head("GET", "/", (("connection", "keep-alive, \tUpgrade"), ("host", "x"), ("connection", ", close")))
    assert head.tokens("connection") == ["keep-alive", "Upgrade", "close"]
    assert head.values("connection") == ["keep-alive, \tUpgrade", ", close"]
    assert Head("GET", "/", (("upgrade", "\xa0websocket"),)).tokens("upgrade") == ["\xa0websocket"]


async def test_a_replayed_stream_delivers_the_head_and_then_holds_back_the_rest(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    stream = ReplayedStream(ours, Head("GET", "/", (), raw=b"head", rest=b"rest"))
    await theirs.send_all(b"new")
    assert [await stream.receive_some(3), await stream.receive_some()] == [b"hea", b"d"]
    with trio.move_on_after(1) as waited:
        await stream.receive_some()
    assert waited.cancelled_caught
    stream.release()
    assert [bytes(await stream.receive_some(2)) for _ in range(2)] == [b"re", b"st"]
    assert await stream.receive_some() == b"new"
    await stream.aclose()
    await stream.send_all(b"still open")
    assert await theirs.receive_some() == b"still open"


async def test_a_response_may_be_sent_to_a_peer_that_is_gone(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    await theirs.aclose()
    await answer(ours, HTTPStatus.OK, {"Content-Length": "2"}, b"hi")
    assert trio.current_time() == 0


@pytest.mark.parametrize("error", [trio.BrokenResourceError, trio.ClosedResourceError])
async def test_a_peer_that_resets_the_connection_after_the_response_does_no_harm(
    error: Callable[[], Exception], autojump_clock: MockClock
) -> None:
    def fail() -> None:
        raise error()

    ours, _theirs = memory_stream_pair()
    ours.send_stream.close_hook = fail
    await drain(ours)


async def test_a_peer_has_a_second_to_close_after_the_response(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    await answer(ours, HTTPStatus.OK, {"Content-Length": "2"}, b"hi")
    assert trio.current_time() == 1
    received = bytes(await theirs.receive_some())
    assert received == b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
    assert await theirs.receive_some() == b""


async def test_a_peer_that_still_sends_after_the_response_is_not_read_for_ever(autojump_clock: MockClock) -> None:
    ours, theirs = memory_stream_pair()
    await theirs.send_all(bytes(1024 * 1024))
    await drain(ours)
    assert trio.current_time() == 0
    assert len(await ours.receive_some(1024 * 1024)) == 1024 * 1024 - 256 * 1024
