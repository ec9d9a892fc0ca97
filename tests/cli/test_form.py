"""Forms that a server asks a person to fill in: questions, and answers that are checked."""

from typing import Any

import pytest

from trio_debugmcp.cli._form import NOTHING, FormField, fields

TITLED = {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "  two words ", "two words"),
        ({"type": "string", "default": "d"}, "", "d"),
        ({"type": "string", "format": "email"}, "a@example.com", "a@example.com"),
        ({"type": "integer"}, "-3", -3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "Y", True),
        ({"type": "boolean"}, "no", False),
        ({"type": "boolean", "default": False}, "", False),
        ({"type": "string", "enum": ["a", "b"]}, "b", "b"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]}, "second", "b"),
        (TITLED, "r", "r"),
        (TITLED, "BLUE", "b"),
        (SEVERAL, "a, c", ["a", "c"]),
        ({"type": "array", "items": {"anyOf": TITLED["oneOf"]}}, "Red,b", ["r", "b"]),
        ({"type": "array", "items": {"enum": ["a"]}, "default": ["a"]}, "", ["a"]),
    ],
)
def test_answers_become_values_of_the_type_of_the_field(schema: dict[str, Any], text: str, value: object) -> None:
    assert FormField("x", schema, required=True).read(text) == value


@pytest.mark.parametrize(
    ("schema", "text", "reason"),
    [
        ({"type": "string"}, "", "a value is required"),
        ({"type": "string", "minLength": 3}, "ab", "too short"),
        ({"type": "string", "maxLength": 3}, "abcd", "too long"),
        ({"type": "string", "format": "email"}, "nonsense", "is not a 'email'"),
        ({"type": "integer"}, "1.5", "not a whole number"),
        ({"type": "integer", "minimum": 1}, "0", "less than the minimum"),
        ({"type": "number", "maximum": 1}, "2", "greater than the maximum"),
        ({"type": "number"}, "x", "'x' is not a number"),
        ({"type": "boolean"}, "maybe", "answer y or n"),
        (TITLED, "green", "'green' is not one of r, b"),
        (SEVERAL, "a, d", "'d' is not one of a, b, c"),
        (SEVERAL, "a,b,c", "too long"),
    ],
)
def test_answers_that_the_server_would_refuse_are_refused_with_the_reason(
    schema: dict[str, Any], text: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        FormField("x", schema, required=True).read(text)


def test_an_optional_field_can_be_left_out() -> None:
    assert FormField("x", {"type": "string"}, required=False).read(" ") is NOTHING


def test_a_question_names_what_is_wanted() -> None:
    schema = {
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 0, "maximum": 150, "default": 30},
            "mail": {"type": "string", "format": "email"},
            "ok": {"type": "boolean", "default": True},
            "colour": TITLED,
            "some": {**SEVERAL, "default": ["a", "b"]},
            "ratio": {"type": "number"},
        },
        "required": ["name"],
    }
    assert [field.question for field in fields(schema)] == [
        "Name: your name (text 2.. characters, required): ",
        "age (whole number 0..150, Enter for 30): ",
        "mail (text, email, optional, Enter to skip): ",
        "ok (y/n, Enter for y): ",
        "colour (one of r = Red, b = Blue, optional, Enter to skip): ",
        "some (some of a, b, c, Enter for a, b): ",
        "ratio (number, optional, Enter to skip): ",
    ]
