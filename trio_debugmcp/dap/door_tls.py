"""TLS for the port where programs dial in: a certificate, and who speaks TLS at all.

    tls = made_tls()                            # or given_tls("cert.pem", "key.pem")
    stream = await secured(stream, tls, patience)   # raises NotTls for one that speaks without

Programs and relays get the certificate's fingerprint together with the address, so it needs no authority: one is
made for each port where none is given. cryptography makes it, which comes with the SDK; else the command `openssl`.

    rest = await greeted(stream, token, pin)                    # the relay
    rest = await answered(stream, received, token, pin)         # the port, when the caller's first bytes are `RELAYS`

A relay and the port know each other: both know the token, and neither sends it. Each says a number that is used once,
and proves that it knows the token by a keyed hash of both numbers and of the certificate's fingerprint. So what was
overheard proves nothing the next time, and one that stands between them, with a certificate of its own, cannot pass a
proof on.
"""

import datetime
import hashlib
import hmac
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import trio

from trio_debugmcp.errors import AdapterGone, CannotRun
from trio_debugmcp.patience import USUAL, Patience

_NAME = "trio-debugmcp"

_DAYS = 3650
"""A certificate that is made is valid for; it is forgotten with the port."""

_OPENSSL_SECONDS = 20.0
"""For a key and a certificate; it takes some milliseconds."""

FIRST_WORD_SECONDS = 5.0
"""For a caller to begin with TLS, which it does at once; a debugger without TLS waits to be spoken to."""

_HANDSHAKE = b"\x16"
"""The first byte of TLS: a record of the handshake."""

OPENSSL = (
    *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
    *("-days", str(_DAYS), "-subj", f"/CN={_NAME}"),
)
"""The command that makes a certificate; the names of its files follow."""


class DoorTls(NamedTuple):
    """How a port speaks TLS. `pin`: the SHA-256 of its certificate, in hexadecimal digits."""

    context: ssl.SSLContext
    pin: str

    def __repr__(self) -> str:
        return f"<DoorTls {self.pin}>"


class NotTls(trio.BrokenResourceError):
    """A caller that speaks without TLS, and with which bytes it begins; none: it has waited to be spoken to."""

    def __init__(self, begins: bytes) -> None:
        super().__init__("it does not speak TLS, and this port does: use the line that debug_listen answered with")
        self.begins = begins


def given_tls(certificate: str, key: str) -> DoorTls:
    """Return how a port speaks TLS with the certificate and key of these files.

    Raises:
        CannotRun: they cannot be read, or do not belong together.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        for file in (certificate, key):  # OpenSSL would not say which of them it cannot read
            Path(file).open("rb").close()
        context.load_cert_chain(certificate, key, password="")  # without one it would ask at the terminal
        first = ssl.PEM_cert_to_DER_cert(_first(Path(certificate).read_text(encoding="ascii")))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        reason = f"{error.filename}: {reason}" if isinstance(error, OSError) and error.filename else reason
        raise CannotRun(
            f"TLS with {certificate} and {key}", f"{reason}; pass a certificate and its key, as PEM"
        ) from error
    context.num_tickets = 0  # no caller comes back by one; and bytes that are not read break the end of a connection
    return DoorTls(context, hashlib.sha256(first).hexdigest())


def made_tls(patience: Patience = USUAL) -> DoorTls:
    """Return how a port speaks TLS with a certificate of its own, of which nothing is left on any disk.

    Raises:
        CannotRun: there is nothing that makes one.
    """
    with tempfile.TemporaryDirectory(prefix="trio_debugmcp-tls-") as directory:
        certificate, key = Path(directory, "cert.pem"), Path(directory, "key.pem")
        try:
            _make(certificate, key)
        except ImportError:
            _make_by_openssl(certificate, key, patience)
        return given_tls(str(certificate), str(key))


def _first(text: str) -> str:
    """Return the first certificate of a chain, which is the port's own."""
    end = "-----END CERTIFICATE-----"
    return text[text.index("-----BEGIN CERTIFICATE-----") : text.index(end) + len(end)]


def _make(certificate: Path, key: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, _NAME)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1))
    made = builder.not_valid_after(now + datetime.timedelta(days=_DAYS)).sign(private, hashes.SHA256())
    form = serialization.Encoding.PEM
    plain = private.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(plain)
    certificate.write_bytes(made.public_bytes(form))


def _make_by_openssl(certificate: Path, key: Path, patience: Patience) -> None:
    command = [*OPENSSL, "-keyout", str(key), "-out", str(certificate)]
    shown = " ".join([*OPENSSL, "-keyout key.pem -out cert.pem"])
    advice = f"make one with `{shown}`, and start the server with --tls-cert cert.pem --tls-key key.pem"
    if shutil.which("openssl") is None:
        raise CannotRun("a certificate", f"neither the package cryptography nor the command openssl is here; {advice}")
    try:
        seconds = patience.seconds(_OPENSSL_SECONDS)
        subprocess.run(command, check=True, capture_output=True, timeout=seconds)
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRun("a certificate", f"openssl made none ({error}); {advice}") from error


async def secured(stream: trio.abc.Stream, tls: DoorTls, patience: Patience) -> trio.abc.Stream:
    """Return the stream with TLS on it, once its handshake is done. The caller bounds the wait, and closes the stream.

    Raises:
        NotTls: the other side speaks without TLS.
        trio.BrokenResourceError: the handshake failed.
    """
    if isinstance(stream, trio.SocketStream):
        begins = b""
        with trio.move_on_after(patience.seconds(FIRST_WORD_SECONDS)):
            begins = await stream.socket.recv(1024, socket.MSG_PEEK)
        if begins[:1] != _HANDSHAKE:
            if begins:  # with something unread, what is answered would be lost
                await stream.receive_some(len(begins))
            raise NotTls(begins)
    with_tls: trio.SSLStream[trio.abc.Stream] = trio.SSLStream(
        stream, tls.context, server_side=True, https_compatible=True
    )
    await with_tls.do_handshake()
    return with_tls


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
