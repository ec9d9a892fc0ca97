"""Whether a tool's result is what the protocol and the tool's schema permit. What the SDK alone knows it is asked."""

from trio_debugmcp.light_client.protocol import Json, RequestFailed, malformed

ODD_SCHEMA = (RecursionError, TypeError, AttributeError, ValueError, ArithmeticError)
"""What a schema that refers to itself, or whose keywords have values of other types, makes the validator raise."""

_FIELDS = {"content", "structuredContent", "isError", "_meta", "resultType", "ttlMs", "cacheScope"}

_STRINGS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}
"""What the usual blocks of content must have. A result with others is shown to the SDK before it counts."""


def checked(name: str, version: str, tool: Json, result: Json) -> Json:
    """Return the result of the tool `name`, which has run.

    Raises:
        RequestFailed: the protocol or the tool's schema does not permit it.
    """
    content = result.get("content")
    structured = result.get("structuredContent", {})
    typed = isinstance(result.get("isError", False), bool) and isinstance(structured, dict)
    if not (set(result) <= _FIELDS and typed and isinstance(content, list) and all(map(_is_usual, content))):
        from mcp.types import methods

        try:
            methods.parse_server_result("tools/call", version, result)
        except ValueError as error:
            raise malformed("tools/call", error) from error
    schema = tool.get("outputSchema")
    if isinstance(schema, dict) and not result.get("isError"):
        problem = _output_problem(name, schema, result)
        if problem is not None:
            raise RequestFailed("protocol", problem, "tools/call", result=result)
    return result


def _is_usual(block: object) -> bool:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str) or block["type"] not in _STRINGS:
        return False
    return set(block) == {"type", *_STRINGS[block["type"]]} and all(
        isinstance(block[name], str) for name in _STRINGS[block["type"]]
    )


def _output_problem(name: str, schema: Json, result: Json) -> str | None:
    """What is wrong with the structured content, in the words that the full client has for it."""
    if "structuredContent" not in result:
        return f"Tool {name} has an output schema but did not return structured content"
    from jsonschema import SchemaError  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        kind = validator_for(schema)
        kind.check_schema(schema)
        # An empty registry: what the schema refers to must be in it, and is never fetched.
        error = best_match(kind(schema, registry=Registry()).iter_errors(result["structuredContent"]))
    except (SchemaError, Unresolvable, *ODD_SCHEMA) as wrong:
        return f"Invalid schema for tool {name}: {wrong}"
    return None if error is None else f"Invalid structured content returned by tool {name}: {error}"
