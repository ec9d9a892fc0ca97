"""The listener on loopback to which an authorisation server sends the person's browser back (RFC 8252).

    listener = RedirectListener()
    await listener.open()
    redirect = await listener.wait(state, open_url=show, seconds=300)
    redirect["code"]

It answers one address, takes only the redirect that carries this request's `state`, and lives only while a client asks
for an authorisation.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from html import escape
from secrets import compare_digest
from urllib.parse import parse_qsl, urlsplit

import trio

from trio_debugmcp.client.client_errors import NotAuthorized

HOST = "127.0.0.1"
PATH = "/callback"

HEAD_SECONDS = 10.0
"""For a browser to send its request; it sends one head at once."""

MAX_HEAD_BYTES = 32 * 1024
"""Codes are short; some servers add signed parameters of a few KiB."""

_PAGE = (
    "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\n"
    "Connection: close\r\n\r\n"
)


def redirect_uri(port: int) -> str:
    """The URI to register for a listener on `port`."""
    return f"http://{HOST}:{port}{PATH}"


class RedirectListener:
    """Listens on one port, which stays the same: the authorisation server may keep its address.

    Between `open` and the end of `wait`, or `close`, the port is ours: one that was only looked up to be free could be
    another program's by the time that the person has answered.

    Attributes:
        port: 0 for any one, which `open` chooses.
    """

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._listeners: list[trio.SocketListener] = []

    async def open(self) -> None:
        """Listen, unless it does already.

        Raises:
            NotAuthorized: the port is in use.
        """
        if self._listeners:
            return
        try:
            self._listeners = await trio.open_tcp_listeners(self.port, host=HOST)
        except OSError as error:
            raise NotAuthorized(
                f"Port {self.port} on {HOST}, to which the authorisation server would send the answer, is in use: "
                "another program may be waiting for an authorisation too. Try again when it has ended, or authorise "
                "anew"
            ) from error
        self.port = self._listeners[0].socket.getsockname()[1]

    def close(self) -> None:
        """Free the port."""
        for listener in self._listeners:
            listener.socket.close()
        self._listeners = []

    async def wait(self, state: str, open_url: Callable[[], Awaitable[None]], seconds: float) -> dict[str, str]:
        """Call `open_url`, return the parameters of the redirect, and close.

        Raises:
            NotAuthorized: no answer came in time, or it was a refusal.
        """
        try:
            return await _redirect(self._listeners, state, open_url, seconds)
        finally:
            self.close()


async def _redirect(
    listeners: list[trio.SocketListener], state: str, open_url: Callable[[], Awaitable[None]], seconds: float
) -> dict[str, str]:
    answers: list[dict[str, str]] = []
    arrived = trio.Event()

    async def answered(parameters: dict[str, str]) -> None:
        answers.append(parameters)
        arrived.set()

    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            # The listener first: `open_url` may follow the redirects by itself before it returns.
            await nursery.start(partial(trio.serve_listeners, partial(_answer, state, answered), listeners))
            await open_url()
            await arrived.wait()
            nursery.cancel_scope.cancel("the redirect has arrived")
    if not answers:
        raise NotAuthorized(f"No answer from the browser within {seconds:g} s")
    answer = answers[0]
    if "error" in answer:
        reason = ": ".join(answer[key] for key in ("error", "error_description") if answer.get(key))
        raise NotAuthorized(f"The authorisation server refused: {reason}")
    return answer


async def _answer(state: str, answered: Callable[[dict[str, str]], Awaitable[None]], stream: trio.SocketStream) -> None:
    """Serve one connection; whatever is not the redirect with the right state gets an answer and changes nothing."""
    parameters: dict[str, str] | None = None
    with trio.move_on_after(HEAD_SECONDS):
        async with stream:
            try:
                parameters = _parse(await _head(stream), state)
                await stream.send_all(_page(parameters))
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # the browser has left; what it has sent counts
    if parameters is not None:
        await answered(parameters)


async def _head(stream: trio.SocketStream) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MAX_HEAD_BYTES:
        data = await stream.receive_some(MAX_HEAD_BYTES)
        if not data:
            break
        head += data
    return head


def _parse(head: bytes, state: str) -> dict[str, str] | None:
    """The parameters of the redirect, None if this is something else: a favicon, a stranger."""
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "GET":
        return None
    target = urlsplit(words[1])
    parameters = dict(parse_qsl(target.query))
    is_ours = compare_digest(parameters.get("state", "").encode(), state.encode())
    if target.path != PATH or not is_ours or not ("code" in parameters or "error" in parameters):
        return None
    return parameters


def _page(parameters: dict[str, str] | None) -> bytes:
    if parameters is None:
        status, text = "404 Not Found", "This is not the answer to the request that is waiting."
    elif "error" in parameters:
        status, text = "200 OK", f"Not authorised: {parameters.get('error_description') or parameters['error']}."
    else:
        status, text = "200 OK", "Authorised. You can close this page and return to the terminal."
    body = f"<!doctype html><title>trio-debugmcp</title><p>{escape(text)}</p>".encode()
    return _PAGE.format(status=status, length=len(body)).encode() + body
