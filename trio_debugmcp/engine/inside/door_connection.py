"""`DoorConnection`: the engine's connection to the debugger, on which both speak the Debug Adapter Protocol.

    connection = connect("127.0.0.1", 40123)
    message = connection.receive()          # None at the end
    connection.send({"type": "event", "event": "initialized"})

Messages may be sent by any thread. The descriptor is a high number, so that those of the program are as without us.
"""

import _socket
import _thread
import posix
import select
from typing import Any, Callable

from trio_debugmcp.engine.inside.interruptions import completed, firm, without_checks
from trio_debugmcp.probe.inside.encoding import decoded, encoded
from trio_debugmcp.probe.inside.tls_cipher import TlsCipher, shaken_hands

CONNECT_SECONDS = 10.0

_CHUNK_BYTES = 65536
_HEAD = b"Content-Length: "
_END_OF_HEAD = b"\r\n\r\n"
_HIGH_DESCRIPTORS = (1000, 900, 800, 500, 250, 200, 120, 60)
"""Tried in this order; how many may be open differs."""

_QUIETLY = _socket.MSG_NOSIGNAL
"""The program may have given SIGPIPE back its default, which would end it."""

_WITH_NEXT = _QUIETLY | _socket.MSG_MORE
"""The system sends it with what is sent next, or by itself after 0.2 s."""

_MOST_HEAD_BYTES = 4096

_MOST_DIGITS = 9
"""Of the size of a message."""

_sealed: Any = without_checks(TlsCipher.sealed)
"""With TLS what is sealed has to be sent, in that order, or the other side ends the connection."""

NO_MESSAGE: Any = ()
"""In place of what is not JSON, or not an object of it."""


class JsonText:
    """A part of a message that is JSON already."""

    def __init__(self, text: str) -> None:
        self.text = text


class _DoorSocket(_socket.socket):
    """Closed without a ResourceWarning when the program ends."""

    def __del__(self) -> None:
        pass


class DoorConnection:
    """A connected stream of DAP messages. Made by `connect`.

    Attributes:
        is_waiting: a thread is in `receive`, and nothing has come.
        pin: the fingerprint of the debugger's certificate, if it speaks TLS here.
    """

    def __init__(self, made: _DoorSocket, pin: str = "", cipher: TlsCipher | None = None) -> None:
        self.pin = pin
        self._cipher = cipher
        self.address = made.getpeername()
        self.family = made.family
        self._socket: _DoorSocket | None = made
        self._lock = _thread.allocate_lock()
        self._turn = _thread.allocate_lock()
        self._sender = self._next = 0
        self._to_send: list[Any] = []  # of each: the thread that says it, the message, flags, and `sent`
        self._received = b""
        self._sent = 0
        self._alarm, self._bell = _pair()
        self.is_waiting = False

    @property
    def is_open(self) -> bool:
        """Whether messages can still be sent."""
        return self._socket is not None

    def receive(self, is_woken: Callable[[], bool] = lambda: False) -> Any:
        """Wait for the next message, which is a dict or `NO_MESSAGE`; None at the end, or when `wake` was called."""
        while True:
            head = self._received.find(_END_OF_HEAD)
            if head >= 0:
                size = _size(self._received[:head])
                if size < 0:  # where the next one begins is not known
                    return None
                start = head + len(_END_OF_HEAD)
                end = start + size
                while len(self._received) < end:
                    if not self._receive_more():
                        return None
                body, self._received = self._received[start:end], self._received[end:]
                return _message(body)
            if len(self._received) > _MOST_HEAD_BYTES or not self._waited(is_woken) or not self._receive_more():
                return None

    def _waited(self, is_woken: Callable[[], bool]) -> bool:
        """Wait until something has come; False if it was woken."""
        made = self._socket
        if made is None:
            return False
        poll = select.poll()
        poll.register(made.fileno(), select.POLLIN)
        poll.register(self._alarm.fileno(), select.POLLIN)
        self.is_waiting = True
        try:
            while True:
                if is_woken():
                    return False
                ready = poll.poll()
                if any(number != self._alarm.fileno() for number, _ in ready):
                    return not is_woken()
        finally:
            self.is_waiting = False

    def wake(self) -> None:
        """Have `receive`, which another thread is in, return."""
        try:
            self._bell.send(b"1")
        except OSError:  # the program has closed it: `receive` has returned, or does with what comes next
            pass

    def rouse(self) -> None:
        """Have it wait again."""
        try:
            while True:
                self._alarm.recv(1, _socket.MSG_DONTWAIT)
        except OSError:
            pass

    def _receive_more(self) -> bool:
        made = self._socket
        if made is None:
            return False
        try:
            data = made.recv(_CHUNK_BYTES)
            self._received += data if self._cipher is None or not data else self._cipher.opened(data)
        except OSError:
            return False
        return bool(data)

    def is_sending(self, ident: int) -> bool:
        """Whether that thread is in `send`, where signal handlers and destructors of the program may run."""
        return ident in (self._sender, self._next)

    def send(
        self, message: dict[str, Any], *, with_next: bool = False, sent: list[bool] | None = None, is_last: bool = False
    ) -> None:
        """Send a message, which gets a number. Without a debugger that reads it, it is dropped.

        Within another `send` of the same thread it is left to that one.

        `with_next`: another one follows nearly at once, so that the debugger is woken for both together.
        `sent`: gets an item when it is sent, before a signal handler can raise anything. What one raises while a
        message is made and sent is raised behind it.
        `is_last`: the message of another thread that waits goes before. That of output, which may never end.
        """
        ident = _thread.get_ident()
        item = (ident, message, _WITH_NEXT if with_next else _QUIETLY, sent)
        if self._sender == ident or self._next == ident:
            self._to_send.append((*item[:-1], None))
            if sent is not None:
                sent += [True]
            return
        try:
            if is_last:
                with self._turn:
                    pass
                self._send(ident, [item])
            else:
                self._send_next(ident, [item])
        finally:
            if self._to_send and any([each[0] == ident for each in self._to_send]):
                self._send(ident, [])  # a handler has left it behind the last look

    def _send_next(self, ident: int, items: list[Any]) -> None:
        """Send before those who let others go first."""
        with self._turn:
            self._next = ident  # no signal is looked for between this and the lock, here and at the end
            try:
                self._send(ident, items)
            finally:
                self._next = 0

    def _send(self, ident: int, items: list[Any]) -> None:
        raised: list[BaseException] = []
        with self._lock:
            self._sender = ident
            self._to_send += items
            try:
                completed(raised, self._send_all, raised)
            except BaseException:
                del self._to_send[:1]  # it cannot be encoded
                raise
            finally:
                self._sender = 0
        if raised:
            raise raised[-1]  # its context are the others

    def _send_all(self, raised: list[BaseException]) -> None:
        """Send what is to be sent. Called again when interrupted, and continues with the rest."""
        while self._to_send:
            _, message, flags, sent = self._to_send[0]
            data = self._encoded(message)
            try:
                if self._socket is not None:
                    send_whole(self._socket, self._cipher, data, flags, raised)
            except OSError:
                self._socket = None
            self._sent += 1  # no signal is looked for from the last byte on
            if sent is not None:
                sent += [True]
            del self._to_send[0]

    def _encoded(self, message: dict[str, Any]) -> bytes:
        head = {**message, "seq": self._sent + 1}
        body = head.pop("body", None)
        text = encoded(head)
        if body is not None:
            text = f'{text[:-1]}, "body": {body.text if type(body) is JsonText else encoded(body)}}}'
        data = text.encode("ascii")
        return b"%b%d%b%b" % (_HEAD, len(data), _END_OF_HEAD, data)

    def close(self) -> None:
        """Close the connection; what has been sent arrives."""
        made, self._socket = self._socket, None
        for each in () if made is None else (made, self._alarm, self._bell):
            try:
                each.close()
            except OSError:  # the program has closed all descriptors that it does not know, as daemons do
                pass


@without_checks
def send_whole(made: Any, cipher: TlsCipher | None, data: bytes, flags: int, raised: list[BaseException]) -> None:
    """Send data to a socket, all or nothing: what signal handlers raise meanwhile is added to a list."""
    if cipher is not None:
        data = _sealed(cipher, data, firm, raised)
    while data:
        data = data[firm(raised, made.send, data, flags) :]


def _size(head: bytes) -> int:
    """Return the number of bytes that the head of a message announces; -1 if it has no such head, or is too large."""
    digits = head.removeprefix(_HEAD)
    return int(digits) if digits.isdigit() and len(digits) <= _MOST_DIGITS and digits is not head else -1


def _message(body: bytes) -> Any:
    try:
        message = decoded(body.decode())
    except (ValueError, StopIteration, RecursionError):
        return NO_MESSAGE
    return message if type(message) is dict else NO_MESSAGE


def _pair() -> tuple[_DoorSocket, _DoorSocket]:
    """Return a pair of sockets, one of which hears what is sent to the other."""
    made, bell = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    return _high(made), _high(bell)


def connect(host: str, port: int, pin: str = "") -> DoorConnection | None:
    """Connect to the debugger; None if it is not there. `pin`: with TLS, to one that has this certificate."""
    cipher: TlsCipher | None = None
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    made = _DoorSocket(family, _socket.SOCK_STREAM)
    try:
        made.settimeout(CONNECT_SECONDS)
        made.connect((host, port))
        if pin:
            cipher = shaken_hands(made, pin)
        made.settimeout(None)
        made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    except OSError:
        made.close()
        return None
    return DoorConnection(_high(made), pin, cipher)


def _high(made: _socket.socket) -> _DoorSocket:
    """Move a socket to a high descriptor, where there is a free one."""
    for number in _HIGH_DESCRIPTORS:
        try:
            posix.fstat(number)
        except OSError:
            try:
                posix.dup2(made.fileno(), number, False)
            except OSError:
                continue
            made.close()
            return _DoorSocket(fileno=number)
    return _DoorSocket(fileno=made.detach())
