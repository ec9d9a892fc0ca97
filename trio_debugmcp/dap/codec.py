"""DAP messages to JSON and back. Pure: a message that cannot be read is a `ProtocolViolation`, or an `UnknownEvent`.

    message = decode_message(b'{"seq": 5, "type": "event", "event": "stopped", "body": {"reason": "step"}}')
    assert isinstance(message, Event)
    assert decode_event(message) == Stopped(reason="step")

The body is decoded in a second step, because its type follows from the command or the event in the envelope.
"""

import json
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
