"""Placeholders in the tables of debug adapters: `{program}` in a text is filled in by what was asked for.

    filled({"program": "{program}", "title": "run {program}"}, {"program": "/x/app"})

A text that is one placeholder becomes the thing itself (a list, a table, a number), and its key is left out where there
is none; inside a longer text it becomes text.
"""

import re
from collections.abc import Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def filled(pattern: Any, values: Mapping[str, Any]) -> Any:
    """Return a value of a table with its placeholders filled in; keys whose placeholder stands for None are absent."""
    match pattern:
        case str():
            whole = _PLACEHOLDER.fullmatch(pattern)
            if whole is not None and whole[1] in values:
                return values[whole[1]]
            return _PLACEHOLDER.sub(lambda found: str(values.get(found[1], found[0])), pattern)
        case list() | tuple():
            return [filled(each, values) for each in pattern]
        case dict():
            new = {name: filled(each, values) for name, each in pattern.items()}
            return {name: each for name, each in new.items() if each is not None}
        case _:
            return pattern
