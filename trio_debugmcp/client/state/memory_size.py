"""How much memory a decoded JSON value holds, to within a small factor: every bound in bytes is counted with this."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

OBJECT_OVERHEAD_BYTES = 64
"""About what CPython spends on a small object beside its contents."""


def memory_size(value: Any) -> int:
    """Count the bytes that `value` keeps alive: exact for strings, an estimate for the rest."""
    match value:
        case str() | bytes() | bytearray():
            return sys.getsizeof(value)
        case Mapping():
            return OBJECT_OVERHEAD_BYTES + sum(memory_size(key) + memory_size(item) for key, item in value.items())
        case Sequence():
            return OBJECT_OVERHEAD_BYTES + sum(map(memory_size, value))
        case Struct():
            fields = (getattr(value, name) for name in value.__struct_fields__)
            return OBJECT_OVERHEAD_BYTES + sum(map(memory_size, fields))
        case None | bool() | int() | float():
            return OBJECT_OVERHEAD_BYTES // 2
        case _:  # a pydantic model of the SDK keeps its fields in its __dict__
            return OBJECT_OVERHEAD_BYTES + sum(map(memory_size, getattr(value, "__dict__", {}).values()))
