"""The listener for the answer of an authorisation server: what it takes, and from whom."""

import pytest
import trio

from trio_debugmcp.client import NotAuthorized
from trio_debugmcp.client.connection.redirect import RedirectListener, redirect_uri

pytestmark = pytest.mark.real


async def get(port: int, target: str, method: str = "GET") -> str:
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        await stream.send_all(f"{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return b"".join([part async for part in stream]).decode()


async def listening() -> RedirectListener:
    listener = RedirectListener()
    await listener.open()
    return listener


async def test_only_the_redirect_with_the_state_of_the_request_counts() -> None:
    listener, answers = await listening(), list[str]()
    port = listener.port

    async def browser() -> None:
        answers.append(await get(port, "/favicon.ico"))
        answers.append(await get(port, "/callback?code=stolen&state=guessed"))
        answers.append(await get(port, "/callback?state=right"))
        answers.append(await get(port, "/callback?code=x&state=right", "POST"))
        answers.append(await get(port, "/other?code=x&state=right"))
        answers.append(await get(port, "/callback?code=c%26d&state=right&iss=https%3A%2F%2Fas.example"))

    found = await listener.wait("right", browser, 10)
    assert found == {"code": "c&d", "state": "right", "iss": "https://as.example"}
    assert [answer.split(" ")[1] for answer in answers] == ["404"] * 5 + ["200"]
    assert redirect_uri(port) == f"http://127.0.0.1:{port}/callback"
    with pytest.raises(OSError, match="connect"):
        await get(port, "/")


async def test_a_refusal_is_shown_in_the_browser_without_its_markup() -> None:
    listener, answers = await listening(), list[str]()
    port = listener.port

    async def browser() -> None:
        answers.append(await get(port, "/callback?error=denied&error_description=%3Cb%3Eno&state=s"))

    with pytest.raises(NotAuthorized, match="denied: <b>no"):
        await listener.wait("s", browser, 10)
    assert "&lt;b&gt;no" in answers[0]


async def test_a_connection_that_sends_nothing_or_too_much_delays_no_answer() -> None:
    listener = await listening()
    port = listener.port

    async def browser() -> None:
        silent = await trio.open_tcp_stream("127.0.0.1", port)
        endless = await trio.open_tcp_stream("127.0.0.1", port)
        async with silent, endless:
            await endless.send_all(b"x" * 40_000)
            assert b"404" in await endless.receive_some()
            await get(port, "/callback?code=c&state=s")

    assert (await listener.wait("s", browser, 10))["code"] == "c"


async def test_a_port_in_use_is_reported() -> None:
    (theirs,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with theirs:
        port = theirs.socket.getsockname()[1]
        with pytest.raises(NotAuthorized, match=f"Port {port} .* is in use"):
            await RedirectListener(port).open()


async def test_the_port_is_held_from_the_moment_that_the_server_may_know_it_and_can_be_had_again() -> None:
    listener = await listening()
    port = listener.port
    await listener.open()
    with pytest.raises(OSError, match="in use"):
        await trio.open_tcp_listeners(port, host="127.0.0.1")
    listener.close()
    await listener.open()
    assert listener.port == port
    listener.close()
