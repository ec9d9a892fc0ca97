"""Truncation of lists to a size in bytes. Pure."""

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
