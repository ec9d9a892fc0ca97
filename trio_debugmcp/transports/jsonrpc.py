"""JSON-RPC messages as text, the same on every transport: parsing, writing, and the response to what is malformed.

    message = parse_message(line)
    if message is None:
        await outgoing.send(complaint_about(line))

Whether the text is a request that MCP knows is for the SDK to decide.
"""

import json
import logging
import re
from functools import partial

from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, jsonrpc_message_adapter

from trio_debugmcp.sparse_log import SparseLog

log = logging.getLogger(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

UNREADABLE = "Failed to parse"
"""How the SDK's HTTP transport begins the error that it makes of a response that it cannot read; so do the others."""

HEAD_CHARACTERS = 200
"""Of a malformed response, shown in the error for who waits for it."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = WriteStream[SessionMessage]


def parse_message(text: bytes | str, sparse: SparseLog | None = None) -> SessionMessage | None:
    """Parse a message; None if it is not valid JSON-RPC, to be answered with `complaint_about(text)`.

    `sparse`: where that is logged, of a peer that may be hostile.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        if isinstance(message, JSONRPCNotification) and has_unusable_id(text):
            raise ValueError("the id is neither a string nor an integer")
        return SessionMessage(message)
    except ValueError as error:
        warn = log.warning if sparse is None else partial(sparse.log, logging.WARNING)
        warn("not a JSON-RPC message: %s: %.200r", type(error).__name__, text)
        return None


def has_unusable_id(text: bytes | str) -> bool:
    """Whether it is a request with an id like NaN or null: the SDK takes it for a notification, and never answers."""
    try:
        loose = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(loose, dict) and "method" in loose and "id" in loose and _usable_id(loose["id"]) is None


def message_text(item: SessionMessage) -> str:
    """The message as it is sent, in one line."""
    return item.message.model_dump_json(by_alias=True, exclude_unset=True)


def complaint(code: int, message: str, request_id: int | str | None = None) -> SessionMessage:
    """An error response to the request with that id, or to no request in particular."""
    error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
    return SessionMessage(JSONRPCError.model_validate(error))


def complaint_about(text: bytes | str) -> SessionMessage:
    """The response to malformed text; with its id, if one can be read: its sender waits for a response to that id."""
    try:
        loose = json.loads(text)
    except (ValueError, RecursionError):
        return complaint(PARSE_ERROR, "not a JSON-RPC message")
    request_id = _usable_id(loose.get("id")) if isinstance(loose, dict) else None
    return complaint(INVALID_REQUEST, "not a valid JSON-RPC request, notification or response", request_id)


def request_id_in(head: bytes) -> int | str | None:
    """The id of a request of which only the beginning is there; None if the id is not in it, or it is a response."""
    text, place, request_id = head.decode(errors="replace"), 0, None
    decoder = json.JSONDecoder()
    while (key := _KEY.match(text, place)) is not None:
        if key[1] in ("result", "error"):
            return None
        try:
            value, place = decoder.raw_decode(text, key.end())
        except (ValueError, RecursionError):  # the part that is too long
            break
        if key[1] == "id" and text[place : place + 1] in {",", "}", " "}:  # a number may continue behind the end
            request_id = _usable_id(value)
    return request_id


_KEY = re.compile(r'\s*[{,]\s*"(\w+)"\s*:\s*')
"""The name of a member of an object."""


def unreadable_response(text: bytes | str) -> SessionMessage | None:
    """An error response in place of a malformed one, with its id; None if `text` is not a response, or has no id."""
    try:
        loose = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loose, dict) or "method" in loose or (request_id := _usable_id(loose.get("id"))) is None:
        return None
    return complaint(PARSE_ERROR, f"{UNREADABLE} the response: {_head(text)}", request_id)


def _head(text: bytes | str) -> str:
    return (text.decode(errors="replace") if isinstance(text, bytes) else text)[:HEAD_CHARACTERS]


def _usable_id(request_id: object) -> int | str | None:
    """The id if it can be sent back. Python's `json` accepts half a surrogate pair, which UTF-8 cannot encode."""
    match request_id:
        case str() if request_id == request_id.encode(errors="replace").decode():
            return request_id
        case int() if not isinstance(request_id, bool):
            return request_id
        case _:
            return None
