"""The operands of an assertion that can be read without running code of the program."""

import types
from typing import Any, Callable, Dict, List, Tuple

from trio_debugmcp.probe.inside.bounds import TooSlowError
from trio_debugmcp.probe.inside.safe import readable, walk
from trio_debugmcp.probe.inside.visible_frames import Json

_NOT_DATA = frozenset(
    {
        *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
        *(types.MethodWrapperType, types.MethodDescriptorType),
    }
)
"""Types of values that say nothing about why an assertion does not hold."""


UNREAD = "<not read: that would run code of the program>"


def values(
    wanted: List[Any], names: Tuple[Dict[str, Any], ...], most: int, show: Callable[[str, Any], Json]
) -> List[Json]:
    """Return as many operands as that, each with its value; of one that cannot be read its parts are shown.

    Of an attribute that would run code (a property) this is said: its parts do not tell that it was left out.

    `wanted`: pairs of an expression and its parts, which are such pairs.
    """
    found: List[Json] = []
    for source, inner in wanted:
        if len(found) >= most:
            break
        try:
            value = walk.value(source, names)
        except (Exception, TooSlowError) as error:  # it would run code of the program, or raises what it raised there
            if type(error) is readable.RejectedError and _is_attribute(source):
                found.append({"name": source, "value": UNREAD})
            found += values(inner, names, most - len(found), show)
            continue
        if type(value) not in _NOT_DATA:
            found.append(show(source, value))
    return found


def _is_attribute(source: str) -> bool:
    owner, _, name = source.rpartition(".")
    return bool(owner) and name.isidentifier()
