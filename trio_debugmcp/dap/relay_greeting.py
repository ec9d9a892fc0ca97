"""How a relay and the port for programs know each other: both know the token, and neither sends it.

    rest = await greeted(stream, token, pin)                    # the relay
    rest = await answered(stream, received, token, pin)         # the port, when the caller's first bytes are `RELAYS`

Each side says a number that is used once, and proves that it knows the token by a keyed hash of both numbers and of
the certificate's fingerprint. So what was overheard proves nothing the next time, and one that stands between
them, with a certificate of its own, cannot pass a proof on.
"""

import hmac
import secrets

import trio

from trio_debugmcp.errors import AdapterGone

RELAYS = b"trio_debugmcp relay 1 "
"""How a connection of a relay begins; its number follows, then a line break."""

_BEGINS = b"#trio_debugmcp relay#\n"
"""What comes before is not for this caller: the port speaks first, and to debuggers."""

_REFUSED = b"refused: "

_MAX_BYTES = 64 * 1024
"""Of a greeting; the port's words for debuggers are in it."""

_NUMBER_BYTES = 24


class RelayRefused(AdapterGone):
    """One side does not know the token, or is not what the other one takes it for."""


class _Lines:
    """Lines from a stream; what comes after them is kept."""

    def __init__(self, stream: trio.abc.Stream, received: bytes = b"") -> None:
        self.rest = received
        self._stream = stream

    async def after(self, end: bytes) -> bytes:
        """Return what comes before these bytes, and go behind them."""
        while end not in self.rest:
            data = bytes(await self._stream.receive_some())
            if not data or len(self.rest) + len(data) > _MAX_BYTES:
                raise RelayRefused(
                    "the other side does not know what a relay is: pass the port that debug_listen has opened"
                )
            self.rest += data
        found, _, self.rest = self.rest.partition(end)
        return found


def proof(token: str, who: bytes, pin: str, first: bytes, second: bytes) -> bytes:
    """Return what only one that knows the token can say, about this connection."""
    text = b"\n".join((who, pin.encode(), first, second))
    return hmac.new(token.encode("utf-8", "surrogatepass"), text, "sha256").hexdigest().encode()


async def greeted(stream: trio.abc.Stream, token: str, pin: str) -> bytes:
    """Greet the port, and return what it has sent beyond that. The caller bounds the wait.

    Raises:
        RelayRefused: one side does not know the token.
        trio.BrokenResourceError: the connection broke.
    """
    own, lines = _number(), _Lines(stream)
    await stream.send_all(RELAYS + own + b"\n")
    await lines.after(_BEGINS)
    other = await lines.after(b"\n")
    await stream.send_all(proof(token, b"relay", pin, own, other) + b"\n")
    answer = await lines.after(b"\n")
    if answer.startswith(_REFUSED):
        raise RelayRefused(answer.removeprefix(_REFUSED).decode(errors="replace"))
    if not hmac.compare_digest(answer, proof(token, b"port", pin, own, other)):
        raise RelayRefused("the port does not know the token: another server stands in its place")
    return lines.rest


async def answered(stream: trio.abc.Stream, received: bytes, token: str, pin: str) -> bytes:
    """Answer a relay whose first bytes these are, and return what it has sent beyond. The caller bounds the wait.

    Raises:
        RelayRefused: it does not know the token.
        trio.BrokenResourceError: the connection broke.
    """
    lines = _Lines(stream, received.removeprefix(RELAYS))
    other, own = await lines.after(b"\n"), _number()
    await stream.send_all(_BEGINS + own + b"\n")
    shown = await lines.after(b"\n")
    if not pin or not hmac.compare_digest(shown, proof(token, b"relay", pin, other, own)):
        why = "a relay that does not know the token" if pin else "a relay, and this port does not speak TLS"
        await stream.send_all(_REFUSED + why.encode() + b"\n")
        raise RelayRefused(why)
    await stream.send_all(proof(token, b"port", pin, other, own) + b"\n")
    return lines.rest


def _number() -> bytes:
    return secrets.token_hex(_NUMBER_BYTES).encode()
