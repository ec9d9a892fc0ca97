"""Compares a value with what a scenario expects of it: differences as sentences. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

ANYTHING = "*"
"""An expected value that matches every value, as long as there is one."""

MAX_SHOWN = 160
"""Characters of a value in a sentence."""


def differences(has: Mapping[str, Any], actual: Any) -> list[str]:
    """Return where `actual` lacks the expected values at the dotted paths.

    A part of a path is a key, or an index into a list (-1 is the last); `#` is the length.
    """
    return [sentence for path, expected in has.items() for sentence in _at_path(path, expected, actual)]


def difference_of_whole(expected: Any, actual: Any) -> list[str]:
    """Return where `actual` differs from the expected value; `ANYTHING` differs from nothing."""
    return list(_compare("", expected, actual))


def shown(value: Any) -> str:
    """Show a value in a sentence: as compact JSON, cut off if it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _at_path(path: str, expected: Any, actual: Any) -> Iterator[str]:
    value, passed = actual, ""
    for part in path.split("."):
        is_there, value = _step(value, part)
        if not is_there:
            yield f"there is no `{part}` in {passed or 'it'}: {shown(value)}"
            return
        passed = f"{passed}.{part}" if passed else part
    yield from _compare(path, expected, value)


def _step(value: Any, part: str) -> tuple[bool, Any]:
    match value:
        case dict() if part in value:
            return True, value[part]
        case list() | dict() if part == "#":
            return True, len(value)
        case list() if part.lstrip("-").isdecimal() and -len(value) <= int(part) < len(value):
            return True, value[int(part)]
        case _:
            return False, value


def _compare(path: str, expected: Any, actual: Any) -> Iterator[str]:
    match expected, actual:
        case (str(), _) if expected == ANYTHING:
            return
        case dict(), dict():
            for key in sorted({*expected, *actual}):
                inner = f"{path}.{key}" if path else key
                if key not in actual:
                    yield f"{inner} is missing"
                elif key not in expected:
                    yield f"{inner} is {shown(actual[key])}, and not expected at all"
                else:
                    yield from _compare(inner, expected[key], actual[key])
        case list(), list() if len(expected) == len(actual):
            for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
                yield from _compare(f"{path}.{index}" if path else str(index), one, other)
        case _:
            if type(expected) is not type(actual) or expected != actual:
                yield f"{path or 'it'} is {shown(actual)}, not {shown(expected)}"
