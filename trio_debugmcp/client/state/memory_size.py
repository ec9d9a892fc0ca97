"""How much memory a decoded JSON value holds, to within a small factor.

Every bound in bytes is counted with this.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

OBJECT_OVERHEAD = 64
"""Bytes, about what CPython spends on a small object beside its contents."""


def memory_size(value: Any) -> int:
    """Count the bytes that `value` keeps alive: exact for strings, an estimate for the rest."""
    match value:
        case str() | bytes() | bytearray():
            return sys.getsizeof(value)
        case Mapping():
            return OBJECT_OVERHEAD + sum(memory_size(key) + memory_size(item) for key, item in value.items())
        case Sequence():
            return OBJECT_OVERHEAD + sum(map(memory_size, value))
        case Struct():
            return OBJECT_OVERHEAD + sum(memory_size(getattr(value, name)) for name in value.__struct_fields__)
        case None | bool() | int() | float():
            return OBJECT_OVERHEAD // 2
        case _:  # a pydantic model of the SDK keeps its fields in its __dict__
            return OBJECT_OVERHEAD + sum(map(memory_size, getattr(value, "__dict__", {}).values()))
