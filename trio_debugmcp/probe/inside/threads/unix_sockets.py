"""Sockets whose two ends are on one machine, as those of `multiprocessing.Pipe()`: which belong together. Linux only.

    is_endless(5, "read")       # whether a thread that reads there is bound to wait until something comes
    peer_of("socket:[57]")      # "socket:[58]", by the kernel, or "" where it does not say that

`man 7 sock_diag` has the questions to the kernel and their answers.
"""

import _socket  # the one in C: `socket` may have been patched, by gevent for example
import _struct  # the one in C: a program need not have imported `struct`
from typing import Any

from trio_debugmcp.probe.inside import imported

_DIAGNOSTICS, _BY_FAMILY, _REQUEST, _SHOW_PEER, _PEER = 4, 20, 1, 4, 2
"""The kernel's protocol for questions about sockets, the type and flag of a question, what it asks for, and of that."""

_ALL_STATES = _ANY_COOKIE = 0xFFFFFFFF

_HEADER, _QUESTION, _ANSWER, _ATTRIBUTE = "=IHHII", "=BBHIIIII", "=BBBBIII", "=HH"

_SECONDS = 0.5
"""For an answer of the kernel, which takes microseconds."""

_MOST_BYTES = 65536
_TIME_BYTES = 16


def is_endless(number: int, call: str) -> bool:
    """Whether a descriptor is of a stream between two ends of this machine, without a timeout for this call."""
    posix: Any = imported.first_seen("posix")
    if _socket.getdefaulttimeout() is not None:  # an object for the socket would set that of the program's own
        return False
    copy = posix.dup(number)  # so that whatever ends this object leaves the program's descriptor as it is
    found = None
    try:
        found = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, copy)
        option = _socket.SO_RCVTIMEO if call == "read" else _socket.SO_SNDTIMEO
        timeout = found.getsockopt(_socket.SOL_SOCKET, option, _TIME_BYTES)
        kinds = [found.getsockopt(_socket.SOL_SOCKET, each) for each in (_socket.SO_DOMAIN, _socket.SO_TYPE)]
        return kinds == [_socket.AF_UNIX, _socket.SOCK_STREAM] and not any(timeout)
    finally:
        if found is None:
            posix.close(copy)
        else:
            found.close()


def peer_of(link: str) -> str:
    """Return the other end of a socket; both as the links of descriptors name them."""
    number = int(link[len("socket:[") : -1])
    asked = _struct.pack(_QUESTION, _socket.AF_UNIX, 0, 0, _ALL_STATES, number, _SHOW_PEER, _ANY_COOKIE, _ANY_COOKIE)
    header = _struct.pack(_HEADER, _struct.calcsize(_HEADER) + len(asked), _BY_FAMILY, _REQUEST, 1, 0)
    kernel = None
    try:
        kernel = _socket.socket(_socket.AF_NETLINK, _socket.SOCK_RAW, _DIAGNOSTICS)
        kernel.settimeout(_SECONDS)
        kernel.send(header + asked)
        peer = _peer_in(kernel.recv(_MOST_BYTES))
    except (OSError, _struct.error):  # type: ignore[attr-defined]  # a kernel or a container without that
        return ""
    finally:
        if kernel is not None:
            kernel.close()
    return f"socket:[{peer}]" if peer else ""


def _peer_in(answer: bytes) -> int:
    """The number of the other end; 0 where it is closed, or the answer is an error."""
    length, kind, *_ = _struct.unpack_from(_HEADER, answer)
    at = _struct.calcsize(_HEADER) + _struct.calcsize(_ANSWER)
    while kind == _BY_FAMILY and at < length:
        size, attribute = _struct.unpack_from(_ATTRIBUTE, answer, at)
        if attribute == _PEER:
            return int(_struct.unpack_from("=I", answer, at + _struct.calcsize(_ATTRIBUTE))[0])
        at += max(4, (size + 3) & ~3)
    return 0
