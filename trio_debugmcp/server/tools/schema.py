"""The input schema of a tool as a model sees it: what it needs to make a call, and nothing that costs it more reading.

    listed_schema(DebugContinue)
    # {"type": "object", "properties": {"thread_id": {"type": "integer"}, "wait": {"type": "boolean", …}, …}}

Bounds are left out, because the server checks them and explains what is wrong; so are parameters that are rarely
needed, which are accepted all the same. docs/tools.md has everything.
"""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

_BOUNDS = frozenset(
    {
        "additionalProperties",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "title",
    }
)

_KNOWN = frozenset(
    {
        *(
            "args",
            "count",
            "direction",
            "expression",
            "file",
            "format",
            "frame_index",
            "host",
            "id",
            "kind",
            "line",
            "locals",
            "pid",
            "port",
            "show",
            "since_seq",
        ),
        *("start", "stream", "task", "thread_id", "timeout", "tool", "wait"),
    }
)
"""Parameters of many tools that mean the same everywhere, or say it by their names: no description is repeated."""

_NO_NEWS: tuple[object, ...] = (None, [], {}, "", False, 0)
"""Defaults that say no more than that a parameter may be left out."""


@cache
def parameter_names(params: type[Struct]) -> tuple[str, ...]:
    """Return what parameters a tool has. Kept, as msgspec evaluates the annotations of the struct each time."""
    return tuple(field.encode_name for field in msgspec.structs.fields(params))


def listed_schema(params: type[Struct], unlisted: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON schema of a parameter struct without the parameters in `unlisted`."""
    whole = _whole_schema(params)
    properties = {
        name: _lean({**found, **({"description": None} if name in _KNOWN else {})})
        for name, found in whole["properties"].items()
        if name not in unlisted
    }
    required = [name for name in whole.get("required", ()) if name not in unlisted]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def described_schema(params: type[Struct], unlisted: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the JSON schema with all parameters and their descriptions; those in `unlisted` are marked as such."""
    whole = _whole_schema(params)
    properties = {
        name: {**_lean(found), **({"unlisted": True} if name in unlisted else {})}
        for name, found in whole["properties"].items()
    }
    required = whole.get("required", [])
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _whole_schema(params: type[Struct]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components((params,), ref_template="#/$defs/{name}")
    whole: dict[str, Any] = components[params.__name__]
    return whole


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without bounds, nulls, and defaults that have no news."""
    if "$ref" in schema:  # the description of the parameter says what it is
        described = schema.get("description")
        return {"type": "object", **({"description": described} if described else {})}
    found = {name: value for name, value in schema.items() if name not in _BOUNDS}
    if found.get("default", ...) in _NO_NEWS:
        del found["default"]
    if found.get("description", ...) is None:
        del found["description"]
    if "items" in found:
        found["items"] = _lean(found["items"])
    options = [_lean(each) for each in found.pop("anyOf", ()) if each.get("type") != "null"]
    if len(options) == 1:
        return {**options[0], **found}
    return {"anyOf": options, **found} if options else found
