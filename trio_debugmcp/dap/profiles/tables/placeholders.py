"""Placeholders in the tables of debug adapters: `{program}` in a text is filled in by what was asked for.

    filled({"program": "{program}", "title": "run {program}"}, {"program": "/x/app"})

A text that is one placeholder becomes the thing itself (a list, a table, a number), and its key is left out where there
is none; inside a longer text it becomes text.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def placeholders(pattern: Any) -> Iterator[str]:
    """Yield the names of all placeholders in a value of a table."""
    match pattern:
        case str():
            yield from _PLACEHOLDER.findall(pattern)
        case list() | tuple():
            for item in pattern:
                yield from placeholders(item)
        case dict():
            for member in pattern.values():
                yield from placeholders(member)


def mentions(pattern: Any, name: str) -> bool:
    """Whether a value of a table has this placeholder in it."""
    return name in placeholders(pattern)


def filled(pattern: Any, values: Mapping[str, Any]) -> Any:
    """Return a value of a table with its placeholders filled in; keys whose placeholder stands for None are absent."""
    match pattern:
        case str():
            whole = _PLACEHOLDER.fullmatch(pattern)
            if whole is not None and whole[1] in values:
                return values[whole[1]]
            return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), pattern)
        case list() | tuple():
            return [item for part in pattern for item in _items(part, values)]
        case dict():
            new = {name: filled(member, values) for name, member in pattern.items()}
            return {name: member for name, member in new.items() if member is not None}
        case _:
            return pattern


def _items(pattern: Any, values: Mapping[str, Any]) -> list[Any]:
    """Return the items that stand for one of a list: those of a list for its placeholder, none where there is none."""
    new = filled(pattern, values)
    if isinstance(pattern, str) and isinstance(new, list):
        return new
    # A text that is a placeholder for nothing is left out; an item of another kind stands for itself.
    return [] if new is None and pattern is not None else [new]
