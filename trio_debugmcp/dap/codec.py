"""DAP messages to bytes and back. Pure: a message that cannot be read is a `ProtocolViolation`, or an `UnknownEvent`.

    message = decode_message(b'{"seq": 5, "type": "event", "event": "stopped", "body": {"reason": "step"}}')
    assert isinstance(message, Event)
    assert decode_event(message) == Stopped(reason="step")

The body is decoded in a second step, because its type follows from the command or the event in the envelope.

On the way each has a `Content-Length` before it. `FrameDecoder` owns the bytes of a message that is not complete yet:

    decoder = FrameDecoder()
    while data := await stream.receive_some():
        for body in decoder.feed(data):
            ...
    decoder.finish()

    await stream.send_all(encode_frame(b'{"seq": 1, "type": "request", "command": "threads"}'))

Specification: https://microsoft.github.io/debug-adapter-protocol/overview#base-protocol
"""

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct

from trio_debugmcp.dap.messages import EVENT_TYPES, Capabilities, DapEvent, EventBody, Request, Response, UnknownEvent
from trio_debugmcp.errors import ProtocolViolation

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_envelopes = msgspec.json.Decoder(Request | Response | DapEvent)
_events = {name: msgspec.json.Decoder(kind) for name, kind in EVENT_TYPES.items()}
_anything = msgspec.json.Decoder()

_Seq = Annotated[int, Meta(ge=1)]
"""The specification numbers messages from 1."""


class _OutgoingRequest(Struct, tag_field="type", tag="request", omit_defaults=True):
    seq: _Seq
    command: str
    arguments: object = None


class _OutgoingResponse(Struct, tag_field="type", tag="response", omit_defaults=True):
    seq: _Seq
    request_seq: int
    success: bool
    command: str
    message: str | None = None
    body: object = None


NO_REASON = "the adapter gave no reason"
"""The reason of a refusal that has none."""

_UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""Errors of decoding: msgspec's, Python's on bytes that are not UTF-8, and nesting that is too deep."""


def encode_request(seq: int, command: str, arguments: object = None) -> bytes:
    """Encode a request to the adapter as JSON text."""
    return _encoder.encode(_OutgoingRequest(seq, command, arguments))


def encode_response(seq: int, request: Request, body: object = None, *, failure: str | None = None) -> bytes:
    """Encode the response to a reverse request; `failure` is the reason why it was refused."""
    return _encoder.encode(
        _OutgoingResponse(seq, request.seq, failure is None, request.command, message=failure, body=body)
    )


def decode_message(body: bytes) -> Request | Response | DapEvent:
    """Decode the envelope of one message.

    Raises:
        ProtocolViolation: it is not a DAP message.
    """
    try:
        message: Request | Response | DapEvent = _read(_envelopes.decode, body)
    except _UNREADABLE as error:
        raise ProtocolViolation(f"not a DAP message: {_why(error)}", body[:200]) from error
    return message


def decode_event(event: DapEvent) -> EventBody:
    """Decode the body of an event; one that is unknown or does not fit becomes an `UnknownEvent`."""
    decoder = _events.get(event.event)
    if decoder is not None:
        try:
            return _read(decoder.decode, _object(event.body))  # type: ignore[return-value]
        except _UNREADABLE:  # an adapter that gets one event wrong is still worth talking to
            pass
    return UnknownEvent(event.event, _loose(event.body))


def decode_body(body: Raw, kind: type[T]) -> T:
    """Decode the body of a response or a request; a missing one, or one that is not an object, counts as `{}`.

    Raises:
        ProtocolViolation: the body does not fit.
    """
    try:
        return _read(lambda text: msgspec.json.decode(text, type=kind), _object(body))
    except _UNREADABLE as error:
        if isinstance(error, msgspec.ValidationError) and "got `null`" in str(error):
            # Perl's and Ansible's adapters send null for what they have none of; then the member is absent.
            return decode_body(Raw(msgspec.json.encode(_without_nulls(_loose(body)))), kind)
        raise ProtocolViolation(f"unexpected body: {_why(error)}", bytes(body)[:200]) from error


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_nulls(member) for name, member in value.items() if member is not None}
        case list():
            return [_without_nulls(item) for item in value if item is not None]
        case _:
            return value


def merge_capabilities(old: Capabilities, raw: Raw) -> Capabilities:
    """Return `old` with those members replaced that a `capabilities` event names."""
    new = decode_body(raw, Capabilities)
    named = {name: value for name in new.__struct_fields__ if (value := getattr(new, name)) is not None}
    return msgspec.structs.replace(old, **named)


def failure_text(response: Response) -> str:
    """Return the reason of a refusal: `body.error.format` with its variables filled in, or `message`."""
    error = _loose(Raw(_object(response.body))).get("error")
    if isinstance(error, dict) and isinstance(text := error.get("format"), str):
        variables = error.get("variables")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            text = text.replace("{" + str(name) + "}", str(value))
        return text
    return response.message or NO_REASON


def _read(decode: Callable[[bytes], T], text: bytes) -> T:
    """Decode; if the text is not valid UTF-8, retry with replacement characters.

    Native adapters pass on bytes of the program that are not UTF-8, JavaScript ones halves of surrogate pairs.
    """
    try:
        return decode(text)
    except msgspec.ValidationError:
        raise  # the text is valid JSON, and decoding it differently would not make it fit
    except (msgspec.DecodeError, UnicodeDecodeError):
        loose = json.loads(text.decode(errors="replace"))
        return decode(json.dumps(loose, ensure_ascii=False).encode(errors="replace"))


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _object(raw: Raw) -> bytes:
    text = bytes(raw)
    # Some adapters send `null` or `""` where the specification has an object without required members.
    return text if text[:1] == b"{" else b"{}"


def _loose(raw: Raw) -> Any:
    try:
        return _read(_anything.decode, bytes(raw)) if bytes(raw) else None
    except _UNREADABLE:
        return None


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
