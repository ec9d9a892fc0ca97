"""Truncation of lists and texts to a size in bytes. Pure."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


def json_size(item: object) -> int:
    """Return the bytes that an item takes in a JSON list."""
    return len(_encoder.encode(item)) + 1


def truncated(items: Iterable[T], max_bytes: int) -> list[T]:
    """Return the first items that fit into `max_bytes` of JSON, and at least one, so that a reader can page on."""
    kept: list[T] = []
    room = max_bytes
    for item in items:
        room -= json_size(item)
        if kept and room < 0:
            break
        kept.append(item)
    return kept


def end_of(text: str, max_bytes: int) -> str:
    """Return the end of a text that fits into `max_bytes` of JSON."""
    kept = text[-max_bytes:]
    while kept and (size := json_size(kept)) > max_bytes:
        kept = kept[len(kept) - len(kept) * max_bytes // size :]
    return kept
