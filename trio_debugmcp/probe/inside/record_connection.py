r"""`RecordConnection`: our own connection to the debugger, over which the program records hits of its breakpoints.

    line = open_line("7")               # "7": the session that expects it
    line.write(b'["log", 1]\n')         # in the kernel when this returns: nothing is lost, however the program ends

Every write waits until the kernel has taken the bytes. The connection is not inherited, survives fork as the parent's
only, and is never written to once the program has closed its descriptor and uses the number for a file of its own.
"""

import _socket  # the one in C: `socket` may have been patched, by gevent for example
import _thread
import posix
from typing import Any, Dict, List, Optional, Tuple

from trio_debugmcp.probe.inside import bounds
from trio_debugmcp.probe.inside.debugger import attached
from trio_debugmcp.probe.inside.debugger.seam import RefusedError
from trio_debugmcp.probe.inside.tls_cipher import TlsCipher, shaken_hands

GREETING = "trio_debugmcp records"
"""How a connection for records begins; then the token and the session's key, with blanks between, and a line break. The
same stands in dap/records.py: this file runs in the program, where that one is not."""

ACCEPTED = b"\0"
"""The last byte that the debugger writes to it; the same as there. What comes before is meant for other callers."""

_CONNECT_SECONDS = 5.0
_MOST_WORDS = 65536

_getpid, _fstat, _close = posix.getpid, posix.fstat, posix.close
_QUIETLY = getattr(_socket, "MSG_NOSIGNAL", 0)
"""The program may have given SIGPIPE back its default, which would end it."""


class _QuietSocket(_socket.socket):
    """Closed without a ResourceWarning when the program ends."""

    identity: Any = None
    cipher: Optional[TlsCipher] = None

    def is_ours(self, fstat: Any = _fstat) -> bool:
        """Whether the descriptor is still that of this socket: the program may have closed and reused it."""
        try:
            found = fstat(self.fileno())
        except OSError:
            return False
        return bool((found.st_dev, found.st_ino) == self.identity)

    def __del__(self) -> None:
        if self.is_ours():
            self.close()
        else:
            self.detach()


class RecordConnection:
    """The connection of one process, and what is counted for it. Another process must make its own.

    Attributes:
        lock: held for moments, and never while code of the program runs. A count is taken and its record written under
            it, one after the other: threads may write in another order than they counted in.
        counts: the hits of each breakpoint.
        sent: the messages of each that has a limit of these.
        written: bytes of records that the kernel has taken; 0 once the connection is given up.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.pid = _getpid()
        self.counts: Dict[Tuple[str, int], int] = {}
        self.sent: Dict[Tuple[str, int], int] = {}
        self.lock = _thread.allocate_lock()
        self.written = 0
        self._socket: Optional[_QuietSocket] = _connect(key)

    @property
    def is_of_this_process(self) -> bool:
        return self.pid == _getpid()

    @property
    def is_open(self) -> bool:
        return self._socket is not None and self.is_of_this_process

    def write(self, data: bytes) -> None:
        """Write whole records. Without a debugger that reads them nothing is written, now and later.

        What a signal handler raises while they are sent is raised behind them.
        """
        size = len(data)
        raised: List[BaseException] = []
        with self.lock:
            if self._socket is None:
                return
            if not self._socket.is_ours():
                self._reconnect()
            made: Any = self._socket  # another one by now, or none
            if made is None:
                return
            try:
                attached.debugger().send_whole(made, made.cipher, data, _QUIETLY, raised)
                self.written += size
            except OSError:
                self._give_up()
        if raised:
            try:
                raise raised[-1]  # its context are the others
            finally:
                del raised[:]  # which have frames that hold the list, and the connection

    def _reconnect(self) -> None:
        """The program has closed or replaced the descriptor; if it has closed the debugger's as well, this fails."""
        self._give_up()
        try:
            self._socket = _connect(self.key)
        except RefusedError:
            return

    def _give_up(self) -> None:
        self._socket, self.written = None, 0

    def close(self) -> None:
        with self.lock:
            self._give_up()


_line: Optional[RecordConnection] = None


def open_line(key: str) -> RecordConnection:
    """Open this process's line, or return it if it is open.

    Raises:
        RefusedError: the debugger takes no records.
    """
    global _line  # noqa: PLW0603 (one for each process)
    if _line is None or _line.key != key or not _line.is_open:
        _line = RecordConnection(key)
        attached.debugger().tell_at_stops(_written)
    return _line


def line() -> Optional[RecordConnection]:
    """Return this process's line, if it has one.

    In a fork that C code has made without the interpreter it is the parent's.
    """
    return _line


def _written() -> int:
    """Return how much this process has written over its line, if it has one."""
    return 0 if _line is None or not _line.is_of_this_process else _line.written


def _leave_to_parent() -> None:
    """Take the line for the parent's, in a fork; what was called before may have opened one for this process."""
    global _line  # noqa: PLW0603 (one for each process)
    if _line is not None and _line.pid != _getpid():
        _line = None


posix.register_at_fork(after_in_child=_leave_to_parent)  # asking the system at each hit takes longer than the hit


def _connect(key: str) -> _QuietSocket:
    """Connect to where the debugger is connected to, and wait until the connection is accepted."""
    peer = attached.debugger().record_peer()
    try:
        made = _high(_QuietSocket(peer.family))
        made.settimeout(bounds.patient(_CONNECT_SECONDS))
        made.connect(peer.address)
        if peer.family in (_socket.AF_INET, _socket.AF_INET6):
            made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        made.cipher = cipher = shaken_hands(made, peer.pin) if peer.pin else None
        greeting = (f"{GREETING} {peer.token} {key}\n").encode()
        made.sendall(greeting if cipher is None else cipher.sealed(greeting), _QUIETLY)
        words = 0
        while words < _MOST_WORDS:
            data = made.recv(4096)
            words += len(data)
            if not data:
                break
            data = data if cipher is None else cipher.opened(data)
            if data.endswith(ACCEPTED):
                made.settimeout(None)
                return made
    except OSError as error:
        raise RefusedError(str(error)) from None
    raise RefusedError("the debugger does not take records")


def _high(made: _QuietSocket) -> _QuietSocket:
    """Leave the descriptors of the standard streams alone: the program may have closed them."""
    low: List[int] = []
    while made.fileno() < 3:
        low.append(made.detach())
        made = _QuietSocket(fileno=posix.dup(low[-1]))
    for each in low:
        _close(each)
    found = _fstat(made.fileno())
    identity: Tuple[int, int] = (found.st_dev, found.st_ino)
    made.identity = identity
    return made
