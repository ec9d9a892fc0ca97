"""Arguments as a person types them, to arguments as a server wants them: plain values."""

from typing import Any

import pytest

from trio_debugmcp.coercion import coerce_arguments, stringify_arguments


@pytest.mark.parametrize(
    ("schema", "given_value", "sent"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, "3.0", 3.0),
        ({"type": "integer"}, "3.5", "3.5"),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "yes", "yes"),
        ({"type": "boolean"}, "1", "1"),
        ({"type": "array"}, "[1]", [1]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "7", 7),
        ({"type": "string"}, "7", "7"),
        ({"type": ["string", "integer"]}, "7", "7"),
        ({}, "7", "7"),
        ({"type": "integer"}, "seven", "seven"),
        ({"type": "integer"}, 7.5, 7.5),
        ({"type": "number"}, "NaN", "NaN"),
        ({"type": "number"}, "1e999", "1e999"),
        (5, "7", "7"),
        ({"type": 5}, "7", "7"),
        ({"anyOf": {"type": "integer"}}, "7", "7"),
        ({"type": ["integer", 5], "oneOf": [5]}, "7", 7),
    ],
)
def test_strings_are_converted_only_to_what_the_schema_wants(schema: Any, given_value: Any, sent: Any) -> None:
    coerced = coerce_arguments({"x": given_value}, {"properties": {"x": schema}})["x"]
    assert coerced == sent
    assert type(coerced) is type(sent)


@pytest.mark.parametrize("schema", [{"properties": [1]}, {"properties": None}, {}])
def test_without_a_usable_schema_nothing_is_converted(schema: dict[str, Any]) -> None:
    assert coerce_arguments({"x": "7"}, schema) == {"x": "7"}


def test_prompt_arguments_are_strings() -> None:
    assert stringify_arguments({"a": "x", "b": 1, "c": None, "d": [True]}) == {
        "a": "x",
        "b": "1",
        "c": "null",
        "d": "[true]",
    }
