"""The last bound of answers and errors: whatever a program, an adapter or a caller has put into them.

    bounded({"error": {"message": "(" * 100_000}}, 8192)    # {"error": {"message": "((((… (+95,904 characters)"}}

Tools bound their lists and values themselves, and say what they left out. This is for what is short, usually:
the name of a frame that has a megabyte, the condition of a breakpoint that an error repeats.
"""

from typing import Any

from trio_debugmcp.state.payloads import shortened, to_json

MAX_ANSWER_BYTES = 32768
"""JSON bytes of an answer, which an agent can take in; more comes by paging, or is asked for."""

MAX_ERROR_BYTES = 8192
"""JSON bytes of an error: a sentence, and the end of what a program has written."""

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


_LEAST_MEMBERS = 40
"""Members that an object keeps: one that stands for a struct has no more, and decodes with all of them only."""


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


def shorter_texts(value: Any) -> Any:
    """Return JSON data with all of its items, whose texts have a bound that none has reached that is one line."""
    return _cut(value, *_CUTS[0])


def size_of(value: Any) -> int:
    """Return the bytes of JSON data."""
    return len(to_json(value).encode())


def _cut(value: Any, length: int, count: int | None) -> Any:
    match value:
        case str():
            return shortened(value, length)
        case dict():
            return _cut_object(value, length, count)
        case list() | tuple():
            kept, left_out = _cut_list(value, length, count)
            return [*kept, {"more": left_out}] if left_out else kept
        case _:
            return value


def _cut_object(value: dict[str, Any], length: int, count: int | None) -> dict[str, Any]:
    """Return an object with less in it. What is left out of a list of objects stands beside it: it stays decodable."""
    members = list(value.items())[: None if count is None else max(count, _LEAST_MEMBERS)]
    kept: dict[str, Any] = {}
    for name, member in members:
        key = shortened(name, length)
        if isinstance(member, list | tuple):
            kept[key], left_out = _cut_list(member, length, count)
            if left_out:
                kept[f"{key}LeftOut"] = left_out
        else:
            kept[key] = _cut(member, length, count)
    left_out = len(value) - len(members)
    return {**kept, "…": f"{left_out} more"} if left_out else kept


def _cut_list(items: Any, length: int, count: int | None) -> tuple[list[Any], int]:
    """Return the items that are left, and how many are left out here and in lists that are items; of texts one says."""
    kept: list[Any] = []
    left_out = len(items) - len(items[:count])
    for item in items[:count]:
        if isinstance(item, list | tuple):
            shorter, inside = _cut_list(item, length, count)
            kept.append(shorter)
            left_out += inside
        else:
            kept.append(_cut(item, length, count))
    if left_out and kept and isinstance(kept[0], str):
        return [*kept, f"… ({left_out} more)"], 0
    return kept, left_out
