"""Types for annotations, which are quoted: no module imports this one at run time, as it would import `typing`."""

from collections.abc import AsyncIterator, Callable, Iterator
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

__all__ = [
    "Any",
    "AsyncIterator",
    "Callable",
    "Classes",
    "CodeType",
    "Expression",
    "FrameType",
    "FunctionType",
    "Iterator",
    "MethodType",
    "Plan",
    "Settle",
]

Plan = tuple[Any, ...]
"""See `handlers`."""

Expression = tuple[Any, ...]
"""See `operands`."""

Classes = tuple[type, ...]
"""The classes that an exception's class inherits from, itself first."""

Settle = Callable[..., Plan]
