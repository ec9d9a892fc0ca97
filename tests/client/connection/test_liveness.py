"""When a server over HTTP is asked whether it still has the session, and what its answers mean. Virtual clock."""

import httpx2
import trio
from mcp import MCPError
from trio.testing import MockClock

from trio_debugmcp.client.connection.connection_end import refusal
from trio_debugmcp.client.connection.http_client import HttpWatch
from trio_debugmcp.client.connection.liveness import ANSWER_SECONDS, SECOND_LOOK_SECONDS, Liveness

POST = httpx2.Request("POST", "http://h/mcp", headers={"mcp-session-id": "1"})
GET = httpx2.Request("GET", "http://h/mcp", headers={"mcp-session-id": "1"})


class Server:
    """Answers pings as scripted, and notes when they came and why the connection was ended."""

    def __init__(self, *answers: int | None, heartbeat: float | None = None) -> None:
        self.watch = HttpWatch()
        self.answers = list(answers)
        self.pings: list[float] = []
        self.ends: list[tuple[float, str, bool]] = []
        self.heard = 0.0
        self.liveness = Liveness(
            self.watch,
            ping=self.ping,
            heard=lambda: self.heard,
            end=lambda reason, denied: self.ends.append((trio.current_time() - self.start, reason, denied)),
            heartbeat=heartbeat,
        )
        self.start = trio.current_time()
        self.heard = self.start

    async def ping(self) -> None:
        self.pings.append(trio.current_time() - self.start)
        status = self.answers.pop(0) if self.answers else None
        match status:
            case None:
                await trio.sleep_forever()
            case 200:
                self.watch.answered(POST)
                self.heard = trio.current_time()
            case 0:
                self.watch.answered(POST)
                raise MCPError(-32601, "no ping here")
            case _:
                self.watch.refuse(POST, refusal("http://h/mcp", status))
                raise MCPError(-32603, "Server returned an error response")


async def test_a_server_that_does_not_answer_has_a_bounded_time(autojump_clock: MockClock) -> None:
    server = Server()
    assert not await server.liveness.check()
    assert server.ends == [(ANSWER_SECONDS, "the server did not answer a ping within 20 s", False)]


async def test_an_answer_is_a_sign_of_life_even_if_it_is_an_error(autojump_clock: MockClock) -> None:
    for status in (200, 0):
        server = Server(status)
        assert await server.liveness.check()
        assert server.ends == []


async def test_a_gateway_whose_server_is_starting_is_asked_a_second_time(autojump_clock: MockClock) -> None:
    server = Server(502, 200)
    assert await server.liveness.check()
    assert server.pings == [0, SECOND_LOOK_SECONDS]
    server = Server(502, 503)
    assert not await server.liveness.check()
    ((_, reason, denied),) = server.ends
    assert not denied
    assert "HTTP 503" in reason


async def test_denied_access_is_not_called_a_forgotten_session(autojump_clock: MockClock) -> None:
    for status, said in ((401, "denies access"), (403, "denies access"), (404, "does not know the session")):
        server = Server(status)
        assert not await server.liveness.check()
        ((when, reason, denied),) = server.ends
        assert denied == (status != 404)
        assert when == 0
        assert said in reason


async def test_it_is_asked_after_a_silence_and_only_then(autojump_clock: MockClock) -> None:
    server = Server(200, 200, heartbeat=15)
    with trio.move_on_after(100):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.liveness.run)
            await trio.sleep(10)
            server.heard = trio.current_time()  # something arrived: the silence begins anew
    assert server.pings == [25, 40, 55], "the third is not answered"
    assert server.ends[0][0] == 75


async def test_without_a_heartbeat_it_is_asked_only_when_something_broke(autojump_clock: MockClock) -> None:
    server = Server(200)
    with trio.move_on_after(1000):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.liveness.run)
            await trio.sleep(700)
            server.watch.fail(GET, OSError("reset"))
    assert server.pings == [700]


async def test_a_stream_that_cannot_be_opened_again_ends_the_connection_if_there_was_one(
    autojump_clock: MockClock,
) -> None:
    never = Server(200)
    for _ in range(2):
        never.watch.fail(GET, OSError("refused"))
    assert await never.liveness.check()
    lost = Server(200)
    lost.watch.answered(GET)
    for _ in range(2):
        lost.watch.fail(GET, OSError("refused"))
    assert not await lost.liveness.check()
    assert lost.pings == []
    assert "the stream of notifications broke" in lost.ends[0][1]


async def test_only_failures_in_a_row_count_and_an_answer_clears_what_was_refused(autojump_clock: MockClock) -> None:
    server = Server(200)
    for _ in range(3):
        server.watch.answered(GET)
        server.watch.fail(GET, OSError("refused"))
        server.watch.refuse(POST, refusal("http://h/mcp", 500))
    assert await server.liveness.check()
    assert (server.watch.last_refusal, server.watch.last_failure) == (None, None)
    assert server.ends == []


async def test_only_a_stream_without_a_memory_of_what_was_sent_leaves_a_gap(autojump_clock: MockClock) -> None:
    watch, gaps = HttpWatch(), []
    watch.on_gap = lambda: gaps.append("gap")
    watch.answered(GET)
    watch.answered(POST)
    watch.answered(httpx2.Request("GET", "http://h/mcp", headers={"last-event-id": "7"}))
    assert gaps == []
    watch.answered(GET)
    assert gaps == ["gap"]
