"""Messages as they fit into a recording: in one line, and not too large. Pure."""

import json
from typing import Any

import msgspec

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""Of one message; of a larger one only the envelope is kept. The largest seen from a real adapter has 0.6 MB."""

_PAYLOADS = frozenset({"body", "arguments", "params", "result", "error"})
"""The members in which messages are large."""


class NotJson(Exception):
    """The text is no JSON."""


def one_line(text: bytes) -> bytes:
    """A JSON text without line breaks, valid for any reader.

    Raises:
        NotJson: it is none.
    """
    try:
        text.decode()
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _written_again(text)
    return msgspec.json.format(text, indent=-1) if b"\n" in text or b"\r" in text else text


def _written_again(text: bytes) -> bytes:
    """Adapters pass on a program's bytes that are no UTF-8; each is shown as unknown, as everywhere else."""
    try:
        loose = json.loads(text.decode(errors="replace"))
        return json.dumps(loose, ensure_ascii=False, allow_nan=False).encode(errors="replace")
    except (ValueError, RecursionError):
        raise NotJson from None


def envelope(text: bytes) -> bytes:
    """A message without what makes it large.

    Raises:
        NotJson: it is none.
    """
    try:
        members: dict[str, Any] = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise NotJson from None
    return one_line(msgspec.json.encode({name: each for name, each in members.items() if name not in _PAYLOADS}))
