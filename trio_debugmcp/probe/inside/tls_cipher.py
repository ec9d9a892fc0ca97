"""`TlsCipher`: TLS for the connections of our engine, where the debugger's port speaks it.

    cipher = shaken_hands(connected, pin)       # blocks until the port has shown the certificate with that fingerprint
    connected.send(cipher.sealed(b"text"))
    text = cipher.opened(connected.recv(65536))

It turns bytes into bytes, and has a lock: one thread reads while others write. `ssl` would bring `enum` and more of the
program's modules; the module in C is enough. Any certificate is taken whose fingerprint is the pin, and no other.
"""

import _thread
from typing import Any, Callable

_OLDEST = 0x0303
"""TLS 1.2."""

_CHUNK_BYTES = 65536

_RECORD_BYTES = 1 << 14
"""The most that is in one record: such a part is written whole."""


_acquire: Any = _thread.LockType.acquire  # kept: a program may put others into the class of locks
_release: Any = _thread.LockType.release


def _called(kept: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


class CipherError(OSError):
    """The other side does not speak TLS, or has another certificate than it should."""


class TlsCipher:
    """One side of TLS, without a connection."""

    def __init__(self) -> None:
        import _ssl

        context: Any = _ssl._SSLContext(_ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = _ssl.CERT_NONE  # the pin is compared instead
        context.minimum_version = _OLDEST
        self._waits: Any = _ssl.SSLWantReadError
        self._incoming, self._outgoing = _ssl.MemoryBIO(), _ssl.MemoryBIO()
        self._object: Any = context._wrap_bio(self._incoming, self._outgoing, server_side=False)
        self._lock = _thread.allocate_lock()

    def step(self, received: bytes) -> "tuple[bool, bytes]":
        """Take a part of the handshake; return whether it is done, and what to send."""
        self._incoming.write(received)
        try:
            self._object.do_handshake()
        except self._waits:
            return False, self._outgoing.read()
        return True, self._outgoing.read()

    def fingerprint(self) -> str:
        """Return the SHA-256 of the other side's certificate, in hexadecimal digits."""
        from _sha2 import sha256  # type: ignore[import-not-found]

        found: str = sha256(self._object.getpeercert(True) or b"").hexdigest()
        return found

    def sealed(self, data: bytes, call: Callable[..., Any] = _called, kept: Any = None) -> bytes:
        """Return what to send so that the other side reads these bytes.

        `call` calls each function in C, again until it has returned. What it puts into `kept`, instead of raising it,
        leaves nothing half done: a record is written before a signal handler can raise, and then comes the next one.
        """
        records = map(self._object.write, [data[at : at + _RECORD_BYTES] for at in range(0, len(data), _RECORD_BYTES)])
        call(kept, _acquire, self._lock)
        try:
            call(kept, [].extend, records)
            found: bytes = call(kept, self._outgoing.read, -1)
            return found
        finally:
            call(kept, _release, self._lock)

    def opened(self, received: bytes) -> bytes:
        """Return what the other side has written, as far as it has arrived.

        Raises:
            CipherError: it is not what was sent.
        """
        parts = []
        with self._lock:
            self._incoming.write(received)
            try:
                while True:
                    part = self._object.read(_CHUNK_BYTES)
                    if not part:
                        break
                    parts.append(part)
            except self._waits:
                pass
            except OSError as error:  # also the other side's regular end
                if not parts:
                    raise CipherError(str(error)) from None
        return b"".join(parts)


def shaken_hands(connected: Any, pin: str) -> TlsCipher:
    """Begin to speak TLS over a connected socket, whose timeout bounds each wait.

    Raises:
        OSError: the connection broke, the other side speaks otherwise, or its certificate is another one.
    """
    cipher, received = TlsCipher(), b""
    for _ in range(100):
        done, to_send = cipher.step(received)
        if to_send:
            connected.sendall(to_send)
        if done:
            if cipher.fingerprint() != pin:
                raise CipherError("the debugger's port has another certificate than the one that was pinned")
            return cipher
        received = connected.recv(_CHUNK_BYTES)
        if not received:
            break
    raise CipherError("the debugger's port did not begin to speak TLS")
