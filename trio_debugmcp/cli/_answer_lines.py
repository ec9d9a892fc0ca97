"""An answer of a tool as lines for people: texts of several lines, lists and objects stand below their name. Pure.

    answer_lines({"state": "Paused", "locals": {"amount": "13"}})       # state: Paused; locals:; amount = 13

Values are written as in the answer.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def answer_lines(answer: Mapping[str, Any]) -> list[str]:
    """Return the lines of an object: texts of several lines, lists and objects stand below their name."""
    return [line for name, value in answer.items() for line in _lines(name, value)]


def parameter_line(schema: Mapping[str, Any], required: bool) -> str:
    """Return what a parameter takes, as its JSON schema has it, and what it is for."""
    parts = [_taken(schema)]
    parts += ["required"] if required else []
    parts += [f"default {_text(schema['default'])}"] if "default" in schema else []
    parts += ["not listed for agents"] if schema.get("unlisted") else []
    description = schema.get("description", "")
    return f"{', '.join(parts)}{'. ' if description else ''}{description}"


def _taken(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(str(each) for each in schema["enum"] if each is not None)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_taken(each) for each in schema["anyOf"]))
    kind = str(schema.get("type", "anything"))
    return {"string": "text", "integer": "whole number", "array": "list", "boolean": "true or false"}.get(kind, kind)


def _lines(name: str, value: Any) -> Iterator[str]:
    match value:
        case str() if "\n" in value.rstrip("\n"):
            yield f"{name}:"
            yield from (f"  {line}" for line in value.splitlines())
        case list() if value:
            yield f"{name}:"
            for item in value:
                yield from _item_lines(item)
        case dict() if value and all(isinstance(item, str | int | float | bool | None) for item in value.values()):
            yield f"{name}:"
            yield from (f"  {key} = {_indented(_text(item))}" for key, item in value.items())
        case dict() if value:
            yield f"{name}:"
            yield from (f"  {line}" for line in answer_lines(value))
        case _:
            yield f"{name}: {_text(value)}"


def _item_lines(item: Any) -> Iterator[str]:
    """Return the lines of one entry of a list; those of an object stand together behind a dash."""
    if not isinstance(item, dict) or not item:
        yield f"  {_indented(_text(item))}"
        return
    for number, line in enumerate(answer_lines(item)):
        yield f"  {'  ' if number else '- '}{line}"


def _indented(text: str) -> str:
    """Return a text whose further lines cannot be taken for the next entry."""
    return "\n      ".join(text.splitlines()) if "\n" in text else text


def _text(value: Any) -> str:
    return value.rstrip("\n") if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
