"""Bytes to JSON bodies and back: the `Content-Length` framing of the Debug Adapter Protocol. Sans-io.

Owns the bytes of a message that is not complete yet.

    decoder = FrameDecoder()
    while data := await stream.receive_some():
        for body in decoder.feed(data):
            ...
    decoder.finish()

    await stream.send_all(encode_frame(b'{"seq": 1, "type": "request", "command": "threads"}'))

Specification: https://microsoft.github.io/debug-adapter-protocol/overview#base-protocol
"""

import re

from trio_debugmcp.errors import ProtocolViolation

MAX_HEAD_BYTES = 4096
"""Length of a head, which is two short lines; anything longer is not DAP."""

MAX_BODY_BYTES = 64 * 1024 * 1024
"""Length of one message. The largest seen from a real adapter is about 0.6 MB (a list of 6,205 sources)."""

_RAW_HEAD_BYTES = 200
"""Bytes that an error quotes: enough to recognise a traceback or an error message of the shell."""

_END_OF_HEAD = b"\r\n\r\n"

_PLAIN_HEAD = re.compile(rb"Content-Length: ([0-9]{1,9})\r\n\r\n")
"""The head that nearly every message has, which is then read in one look."""

_HEADER = re.compile(rb"[A-Za-z0-9-]+[ \t]*:|\r?$")
"""A header line, or the blank one. `Traceback (most recent call last):` has a colon too, but not after a name."""


def encode_frame(body: bytes) -> bytes:
    """Frame one message whose JSON text is `body`."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class FrameDecoder:
    """Splits a byte stream, which arrives in chunks of any size, into JSON bodies.

    After a `ProtocolViolation` no message boundary is known, so every later `feed` and `finish` raises the first one
    again. The bodies, and the violation, do not depend on how the stream was cut into chunks.
    """

    def __init__(self, *, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._buffer = bytearray()
        self._max_body_bytes = max_body_bytes
        self._body_length: int | None = None
        self._broken: ProtocolViolation | None = None

    def feed(self, data: bytes) -> list[bytes]:
        """Add `data` and return the bodies that are complete now, in order.

        Raises:
            ProtocolViolation: the bytes are not framed messages, or a message is larger than the bound.
        """
        if self._broken is not None:
            raise self._broken
        self._buffer += data
        bodies: list[bytes] = []
        try:
            while (body := self._next_body()) is not None:
                bodies.append(body)
        except ProtocolViolation as violation:
            # Bodies that came in the same chunk before the garbage are delivered first; the next call raises.
            self._broken = violation
            if not bodies:
                raise
        return bodies

    def allow(self, max_body_bytes: int) -> None:
        """Change the bound: for the messages whose heads are yet to be read."""
        self._max_body_bytes = max_body_bytes

    @property
    def pending(self) -> bytes:
        """The bytes of the frame that is not complete yet, its head included."""
        if self._body_length is None:
            return bytes(self._buffer)
        return b"Content-Length: %d\r\n\r\n" % self._body_length + bytes(self._buffer)

    def finish(self) -> None:
        """Check that the stream could end here.

        Raises:
            ProtocolViolation: it ended inside a message, or was broken before.
        """
        if self._broken is not None:
            raise self._broken
        if self._buffer or self._body_length is not None:
            raise ProtocolViolation("the stream ended in the middle of a message", self._head())

    def _next_body(self) -> bytes | None:
        if self._body_length is None:
            self._body_length = self._take_head()
        if self._body_length is None or len(self._buffer) < self._body_length:
            return None
        body = bytes(self._buffer[: self._body_length])
        del self._buffer[: self._body_length]
        self._body_length = None
        return body

    def _take_head(self) -> int | None:
        plain = _PLAIN_HEAD.match(self._buffer)
        if plain is not None and (length := int(plain[1])) <= self._max_body_bytes:
            del self._buffer[: plain.end()]
            return length
        end = self._buffer.find(_END_OF_HEAD, 0, MAX_HEAD_BYTES)
        if end < 0:
            self._check_header_lines(self._buffer[:MAX_HEAD_BYTES])
            if len(self._buffer) >= MAX_HEAD_BYTES:
                raise ProtocolViolation("no end of header found", self._head())
            return None
        self._check_header_lines(self._buffer[: end + len(b"\r\n")])
        length = self._content_length(bytes(self._buffer[:end]))
        del self._buffer[: end + len(_END_OF_HEAD)]
        return length

    def _check_header_lines(self, received: bytearray) -> None:
        """Recognise a program that prints a traceback instead of speaking DAP by its first complete line."""
        for line in received.split(b"\n")[:-1]:
            if not _HEADER.match(line):
                raise ProtocolViolation("expected a DAP header", self._head())

    def _content_length(self, head: bytes) -> int:
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                break
        else:
            raise ProtocolViolation("header without Content-Length", self._head())
        digits = value.strip()
        if not digits.isdigit():
            raise ProtocolViolation("Content-Length is not a number", self._head())
        length = int(digits[:20])
        if length > self._max_body_bytes:
            raise ProtocolViolation(
                f"a message of {length} bytes is over the bound of {self._max_body_bytes}", self._head()
            )
        return length

    def _head(self) -> bytes:
        return bytes(self._buffer[:_RAW_HEAD_BYTES])
