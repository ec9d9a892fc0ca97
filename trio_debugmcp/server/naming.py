"""How a client calls the tools that its list lacks: `debug_more(tool="threads_list")`.

    naming = Naming(["threads_list", "timeline_query"])
    naming.text('See threads_list and timeline_query(types=["stopped"]).')
    # 'See debug_more(tool="threads_list") and debug_more(tool="timeline_query", arguments={"types": ["stopped"]}).'

Sentences all over the package name a tool by its name. Where they leave the server, and the client's list is the short
one, this module words them: instructions, prompts, descriptions, errors, and the hints in answers. Pure, without the
SDK.
"""

import json
import re
from collections.abc import Collection
from typing import Any

MORE = "debug_more"

_HINTS = frozenset({"notes", "gaps", "message", "hint"})
"""Keys of answers that have sentences of ours. All others may hold what the program has written."""

_COUNTED = re.compile(r"(?:… )?\d+ (?:more|other calls): (?:see )?\w+")
"""What else has the name of a tool: how much is left out of a list, as its last entry, and where it is."""


class Naming:
    """Names tools as a client can call them.

    Args:
        others: the tools that the client's list lacks.
    """

    def __init__(self, others: Collection[str]) -> None:
        names = "|".join(sorted(others, key=len, reverse=True))
        # Not as a part of a path, another name or a keyword, and not where a call of debug_more has it.
        call = rf"""(?<![\w./"'=-])({names})(?![\w/="']|\.\w)(\((?>"[^"]*"|'[^']*'|[^()]|\([^()]*\))*\))?"""
        self._calls = re.compile(call) if others else None

    def __repr__(self) -> str:
        return f"<Naming {'' if self._calls is None else self._calls.pattern}>"

    def text(self, text: str, called: str = "") -> str:
        """Return a text with the calls as the client can make them; the name of the tool `called` stays a name."""
        if self._calls is None:
            return text
        return self._calls.sub(lambda found: found[0] if found[1] == called else _call(found[1], found[2]), text)

    def schema(self, schema: Any) -> Any:
        """Return a JSON schema with such descriptions."""
        if isinstance(schema, dict):
            return {
                key: self.text(value) if key == "description" and isinstance(value, str) else self.schema(value)
                for key, value in schema.items()
            }
        return [self.schema(each) for each in schema] if isinstance(schema, list) else schema

    def is_needed(self, text: str) -> bool:
        """Return whether a text has the name of such a tool."""
        return self._calls is not None and self._calls.search(text) is not None

    def body(self, value: Any, called: str, *, hint: bool = False) -> Any:
        """Return the JSON of an answer with such hints. What the program has written stays as it is."""
        if isinstance(value, dict):
            return {key: self.body(each, called, hint=key in _HINTS) for key, each in value.items()}
        if isinstance(value, list):
            return [self.body(each, called, hint=hint) for each in value]
        if isinstance(value, str) and (hint or _COUNTED.fullmatch(value)):
            return self.text(value, called)
        return value


BY_NAME = Naming(())
"""For clients whose list has all tools."""

_KEYWORD = re.compile(r""""[^"]*"|'(?P<text>[^']*)'|(^|, )(\w+)=""")
"""A keyword, or a text, in which there is none."""


def _call(tool: str, arguments: str | None) -> str:
    """Return `debug_more(tool=…, arguments={…})`; `arguments`: in brackets, as keywords."""

    def written(found: re.Match[str]) -> str:
        if found["text"] is not None:
            return json.dumps(found["text"], ensure_ascii=False)
        return f'{found[2]}"{found[3]}": ' if found[3] else found[0]

    keywords = _KEYWORD.sub(written, (arguments or "")[1:-1])
    return f'{MORE}(tool="{tool}"{f", arguments={{{keywords}}}" if keywords else ""})'
