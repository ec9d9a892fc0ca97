"""As much of a list as fits into a bound. Pure."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder()


def json_size(item: object) -> int:
    """The bytes that an item takes in a JSON list."""
    return len(_encoder.encode(item)) + 1


def fitting(items: Iterable[T], max_bytes: int) -> list[T]:
    """The first items that fit into `max_bytes` of JSON, and at least one."""
    kept: list[T] = []
    room = max_bytes
    for item in items:
        room -= json_size(item)
        if kept and room < 0:
            break
        kept.append(item)
    return kept
