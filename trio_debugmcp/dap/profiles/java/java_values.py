"""What values of Java's own classes hold, read from their fields as a user would print them. Pure.

    reading = reading_of(variable)      # yields references, and takes what is behind each: its children
    ...                                 # returns `{"fig": 3, "saw": 1}`, or `2024-03-09`

Nothing of the program is run. A collection shows its items, an object its fields, and what is inside of these only
dates, numbers and other values that are one for their user. The classes are those of OpenJDK 11 to 21.
"""

import re
from collections.abc import Sequence
from contextlib import suppress

from trio_debugmcp.dap.messages import DapVariable
from trio_debugmcp.dap.profiles.adapter_values import Reading
from trio_debugmcp.dap.profiles.java.java_collections import (
    ARRAY,
    COLLECTIONS,
    INSTANCE,
    MAPS,
    MAX_ITEMS,
    UTIL,
    Fields,
    class_of,
    elements,
)
from trio_debugmcp.dap.profiles.java.java_leaves import LEAVES, text_of_bytes, whole_number

_MAX_TEXT = 300
"""Characters after which no further item is read: an answer shows fewer of one value."""

_DEEPEST = 1
"""Collections and objects deeper than that are not opened: a value itself is at 0, an item of it at 1, a field at 2."""

_HOLDERS = {f"{UTIL}Optional", f"{UTIL}concurrent.atomic.AtomicReference"}


def reading_of(variable: DapVariable) -> Reading | None:
    """Return what reads a value, if it is an object or an array."""
    if not variable.variables_reference:
        return None
    is_known = INSTANCE.fullmatch(variable.value) or ARRAY.fullmatch(variable.value)
    return _text(variable, 0) if is_known else None


def _text(variable: DapVariable, level: int) -> Reading:
    array, name = ARRAY.fullmatch(variable.value), class_of(variable.value)
    if not variable.variables_reference or (array is None and name is None):
        return variable.value
    if array is not None:
        return (yield from _array(variable, int(array["length"]), level))
    short = (name or "").rpartition(".")[2]
    inside = yield variable.variables_reference
    if inside is None:
        return f"{short}(…)"
    fields = {child.name: child for child in inside}
    if name in LEAVES:
        return (yield from _leaf(name, fields)) or f"{short}(…)"
    if name in MAPS or name in COLLECTIONS:
        return (yield from _collection(name, fields, level))
    if name in _HOLDERS:
        return (yield from _held(short, fields, level))
    if {"detailMessage", "cause", "stackTrace"} <= fields.keys():
        return (yield from _throwable(variable, short, fields))
    if list(fields)[-2:] == ["name", "ordinal"]:
        return f"{re.sub(r'[$][0-9]+$', '', short).rpartition('$')[2]}.{fields['name'].value.strip(chr(34))}"
    if (name or "").startswith(UTIL) and {"key", "value"} <= fields.keys():  # an entry of a map
        return f"{(yield from _text(fields['key'], level + 1))}={(yield from _text(fields['value'], level + 1))}"
    if level > _DEEPEST and fields:
        return f"{short}(…)"
    shown = []
    for child in inside[:MAX_ITEMS]:
        shown.append(f"{child.name}={(yield from _text(child, level + 2))}")  # noqa: PERF401 - it yields
    return f"{short}({', '.join(shown + ['…'] * (len(inside) > MAX_ITEMS))})"


def _array(variable: DapVariable, length: int, level: int) -> Reading:
    found = None if level > _DEEPEST else (yield from elements(variable))
    return f"[{length} items]" if found is None else (yield from _items(found, length, level))


def _collection(name: str, fields: Fields, level: int) -> Reading:
    is_map = name in MAPS
    size = fields["size"].value if "size" in fields else ""
    if level > _DEEPEST and size:
        return f"{{{size} entries}}" if is_map else f"[{size} items]"
    if level > _DEEPEST + 1:  # what has no size may be within another
        return "{…}" if is_map else "[…]"
    found, count = yield from (MAPS if is_map else COLLECTIONS)[name](fields)
    if not is_map:
        return (yield from _items(found, count, level))
    if count and not found:
        return f"{{{count} entries}}"
    shown = []
    for key, value in list(zip(found[::2], found[1::2], strict=False))[:MAX_ITEMS]:
        shown.append(f"{(yield from _text(key, level + 1))}: {(yield from _text(value, level + 1))}")
        if sum(map(len, shown)) > _MAX_TEXT:
            break
    more = count is None or count > len(shown)
    return f"{{{', '.join(shown + ['…'] * more)}}}"


def _items(found: Sequence[DapVariable], count: int | None, level: int) -> Reading:
    if count and not found:
        return f"[{count} items]"
    shown: list[str] = []
    for item in found[:MAX_ITEMS]:
        shown.append((yield from _text(item, level + 1)))
        if sum(map(len, shown)) > _MAX_TEXT:
            break
    more = count is None or count > len(shown)
    return f"[{', '.join(shown + ['…'] * more)}]"


def _held(short: str, fields: Fields, level: int) -> Reading:
    """Read what holds one value, or none."""
    value = next(iter(fields.values()), None)
    if value is None or value.value == "null":
        return f"{short}.empty" if short == "Optional" else f"{short}[null]"
    return f"{short}[{(yield from _text(value, level + 1))}]"


def _throwable(variable: DapVariable, short: str, fields: Fields) -> Reading:
    """Read an exception with what has caused it; one without a cause is its own."""
    shown, seen = [], {_number(variable)}
    cause: DapVariable | None
    while True:
        message = fields["detailMessage"].value
        shown.append(short if message == "null" else f"{short}: {message[1:-1]}")
        cause = fields.get("cause")
        if cause is None or not cause.variables_reference or _number(cause) in seen or len(shown) > MAX_ITEMS:
            return "; caused by ".join(shown)
        seen.add(_number(cause))
        inside = yield cause.variables_reference
        short = (class_of(cause.value) or "").rpartition(".")[2]
        fields = {child.name: child for child in inside or ()}
        if "detailMessage" not in fields:
            return "; caused by ".join([*shown, short])


def _number(variable: DapVariable) -> str | None:
    found = INSTANCE.fullmatch(variable.value)
    return None if found is None else found["id"] or found["number"]


def _leaf(name: str, fields: Fields) -> Reading:
    """Read what is one value for its user; empty if it is not as it is known, or not to be had."""
    plain: dict[str, str] = {}
    for field, child in fields.items():
        kind = class_of(child.value)
        if kind in LEAVES and child.variables_reference:
            inside = yield child.variables_reference
            text: str | None = (yield from _leaf(kind, {each.name: each for each in inside or ()})) or None
        elif field in ("mag", "value", "path") and child.variables_reference:
            found = yield from elements(child)
            text = None if found is None else _of_elements(field, found, fields)
        else:
            text = child.value
        if text is None:
            return ""
        plain[field] = text
    try:
        return LEAVES[name](plain)
    except (KeyError, ValueError, ArithmeticError):
        return ""


def _of_elements(field: str, found: Sequence[DapVariable], fields: Fields) -> str | None:
    """Return the number or text of an array; None if it is not as it is known, or has too many digits to be written."""
    plain = [each.value for each in found]
    with suppress(ValueError):
        return str(whole_number(plain)) if field == "mag" else text_of_bytes(plain, fields)
    return None
