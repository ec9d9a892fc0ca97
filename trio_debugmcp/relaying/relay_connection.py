"""A relay's connection to the port that `debug_listen` has opened: TLS, a pinned certificate, and the token's proof.

    connection = await connected("debugger", 5678, token, pin, patience)

What it raises says what to do, for the person who has started the relay.
"""

import hashlib
import ssl

import trio

from trio_debugmcp.dap.door_tls import greeted
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.patience import Patience

CONNECT_SECONDS = 20.0
"""For the connection, TLS and the greeting; a network takes some round trips for them."""


async def connected(
    host: str, port: int, token: str, pin: str | None, patience: Patience
) -> tuple[trio.abc.Stream, bytes]:
    """Connect, and return the connection and what the port has sent beyond its greeting.

    Raises:
        AdapterGone: it is not the port that is meant, and what to do.
    """
    place = f"{host}:{port}"
    stream: trio.abc.Stream | None = None
    try:
        with trio.fail_after(patience.seconds(CONNECT_SECONDS)):
            plain = stream = await trio.open_tcp_stream(host, port)
            stream, shown = await _secured(plain, place)
            if pin is not None and shown != pin:
                raise AdapterGone(f"{place} has another certificate ({shown}) than the pin: nothing was sent to it")
            received = await greeted(stream, token, shown)
            connection, stream = stream, None
            return connection, received
    except trio.TooSlowError:
        raise AdapterGone(f"{place} does not answer within {patience.seconds(CONNECT_SECONDS):g} s") from None
    except trio.BrokenResourceError as error:
        raise AdapterGone(f"{place} has closed the connection; is it the port of debug_listen?") from error
    except OSError as error:
        raise AdapterGone(f"cannot connect to {place}: {error.strerror or error}; call debug_listen there") from error
    finally:
        if stream is not None:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)


async def _secured(plain: trio.SocketStream, place: str) -> tuple[trio.SSLStream[trio.SocketStream], str]:
    """Return the connection with TLS, and the fingerprint of the other side's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the token's proof is bound to the fingerprint
    stream = trio.SSLStream(plain, context, https_compatible=True)
    try:
        await stream.do_handshake()
    except trio.BrokenResourceError as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise AdapterGone(f"{place} does not speak TLS: call debug_listen there with tls: true") from error
        raise
    return stream, hashlib.sha256(stream.getpeercert(binary_form=True) or b"").hexdigest()
