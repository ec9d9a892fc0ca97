"""The last bound of answers, errors and resources: whatever a program, an adapter or a caller has put into them.

    bounded({"error": {"message": "(" * 100_000}}, 8192)    # {"error": {"message": "((((… (+95,904 characters)"}}

Tools bound their lists and values themselves, and say what they left out. This is for what is short, usually:
the name of a frame that has a megabyte, the condition of a breakpoint that an error repeats.
"""

from typing import Any

import msgspec

from trio_debugmcp.state.payloads import shortened, to_json

MAX_ANSWER_BYTES = 32768
"""JSON bytes of an answer, which an agent can take in; more comes by paging, or is asked for."""

MAX_ERROR_BYTES = 8192
"""JSON bytes of an error: a sentence, and the end of what a program has written."""

MAX_RESOURCE_BYTES = 131072
"""JSON bytes of a resource. Timeline and output show the last 28 KB, but five hundred threads are read at once."""

MAX_DATA_BYTES = 131072
"""JSON bytes of an answer as data, for pages and programs: a page of five hundred events, say."""

_ASKING = ("max_result_bytes", "max_value_length", "max_bytes")
"""Parameters that ask for more."""

_ESCAPED = 6
"""Bytes of a control character in JSON."""

_CUTS = (
    *((4096, None), (1024, None), (256, None)),
    *((256, 400), (256, 100), (64, 400), (64, 100), (64, 25), (64, 5), (64, 1)),
)
"""Characters of the texts, and items of the lists and objects, that are left; tried in this order."""


def bounded(value: Any, most: int) -> Any:
    """Return JSON data of at most so many bytes, as little changed as that takes. A cut says how much it left out."""
    if size_of(value) <= most:
        return value
    for length, count in _CUTS:
        shorter = _cut(value, length, count)
        if size_of(shorter) <= most:
            return shorter
    return {"cut": f"{size_of(value)} bytes, which are too many at every depth"}


def most_bytes(params: object) -> int:
    """Return how many bytes an answer may have: as many as the parameters of the call ask for, if that is more."""
    asked = max(int(getattr(params, name, None) or 0) for name in _ASKING)
    return MAX_ANSWER_BYTES if asked <= MAX_ANSWER_BYTES else _ESCAPED * asked


def bounded_resource(text: str) -> str:
    """Return a resource's JSON, cut to its bound."""
    if len(text) * 4 <= MAX_RESOURCE_BYTES or len(text.encode()) <= MAX_RESOURCE_BYTES:
        return text
    return to_json(bounded(msgspec.json.decode(text), MAX_RESOURCE_BYTES))


def size_of(value: Any) -> int:
    """Return the bytes of JSON data."""
    return len(to_json(value).encode())


def _cut(value: Any, length: int, count: int | None) -> Any:
    match value:
        case str():
            return shortened(value, length)
        case dict():
            members = list(value.items())[:count]
            kept = {shortened(key, length): _cut(member, length, count) for key, member in members}
            left_out = len(value) - len(members)
            return {**kept, "…": f"{left_out} more"} if left_out else kept
        case list() | tuple():
            items = [_cut(item, length, count) for item in value[:count]]
            left_out = len(value) - len(items)
            more = f"… ({left_out} more)" if items and isinstance(items[0], str) else {"more": left_out}
            return [*items, more] if left_out else items
        case _:
            return value
