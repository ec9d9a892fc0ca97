"""Converts arguments as a person types them to arguments as a server wants them. Pure."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

_CONVERTED = frozenset({"integer", "number", "boolean", "object", "array", "null"})


def coerce_arguments(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the strings among `arguments` where `schema`, a tool's input schema, wants another type.

    A string is converted only if its property does not admit strings and its text is JSON of a wanted type. Everything
    else is passed unchanged, for the server to judge.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    return {name: _coerce(value, known.get(name)) for name, value in arguments.items()}


def stringify_arguments(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Make prompt arguments strings, as the protocol wants them: strings stay, everything else becomes JSON."""
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}


def json_or_text(text: str) -> Any:
    """Read an argument that the schema does not mention: as JSON if it is JSON, else as a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def wanted_types(schema: object) -> frozenset[str]:
    """Collect the JSON types that `schema` names, also through `anyOf` and `oneOf`; empty if it names none.

    It comes from a server, which may send anything in its place: what cannot be a schema names no type.
    """
    if not isinstance(schema, Mapping):
        return frozenset()
    named = schema.get("type")
    found = {each for each in _list(named) or [named] if isinstance(each, str)}
    for branch in (*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))):
        found |= wanted_types(branch)
    return frozenset(found)


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _coerce(value: Any, schema: object) -> Any:
    wanted = wanted_types(schema)
    if not isinstance(value, str) or "string" in wanted or not wanted & _CONVERTED:
        return value
    try:
        parsed = json.loads(value)
    except ValueError:
        return value
    return parsed if _json_types(parsed) & wanted else value


def _json_types(value: Any) -> frozenset[str]:
    match value:
        case None:
            return frozenset({"null"})
        case bool():  # before int, of which bool is a subclass
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float() if not isfinite(value):  # JSON has none: it would be sent as null
            return frozenset()
        case float():  # JSON Schema counts 1.0 as an integer
            return frozenset({"number", "integer"} if value.is_integer() else {"number"})
        case dict():
            return frozenset({"object"})
        case list():
            return frozenset({"array"})
        case _:
            return frozenset({"string"})
