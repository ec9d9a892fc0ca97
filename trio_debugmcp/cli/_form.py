"""The form that a server asks a person to fill in (elicitation): its fields as questions, and answers checked.

    for field in fields(schema):
        value = field.read(input(field.question))       # raises ValueError with what is wrong

Pure: asking is in `_person.py`.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

NOTHING = object()
"""The answer that leaves an optional field out."""

_TRUE, _FALSE = ("y", "yes", "true"), ("n", "no", "false")


class FormField(Struct, frozen=True):
    """One property of the form; only the flat schemas that the protocol permits."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @property
    def question(self) -> str:
        """One line: title, what it may be, the default."""
        title = self.schema.get("title") or self.name
        description = self.schema.get("description")
        lead = f"{title}: {description}" if description else title
        hints = [self._kind(), "required" if self.required else "optional, Enter to skip"]
        if "default" in self.schema:
            hints[1] = f"Enter for {_shown(self.schema['default'])}"
        return f"{lead} ({', '.join(hints)}): "

    def read(self, text: str) -> Any:
        """The value that `text` means, or `NOTHING`.

        Raises:
            ValueError: it is not a value for this field; the message is for the person.
        """
        text = text.strip()
        if not text:
            if "default" in self.schema:
                return self.schema["default"]
            if self.required:
                raise ValueError("a value is required")
            return NOTHING
        value = self._converted(text)
        self._check(value)
        return value

    def _converted(self, text: str) -> Any:
        match self.schema.get("type"):
            case "boolean":
                if text.lower() not in _TRUE + _FALSE:
                    raise ValueError("answer y or n")
                return text.lower() in _TRUE
            case "integer" | "number" as kind:
                try:
                    return int(text) if kind == "integer" else float(text)
                except ValueError:
                    raise ValueError(f"{text!r} is not {'a whole' if kind == 'integer' else 'a'} number") from None
            case "array":
                choices = _choices(self.schema.get("items") or {})
                return [_chosen(word.strip(), choices) for word in text.split(",") if word.strip()]
            case _:
                return _chosen(text, _choices(self.schema))

    def _check(self, value: Any) -> None:
        import jsonschema  # type: ignore[import-untyped]

        validator = jsonschema.Draft202012Validator(dict(self.schema), format_checker=jsonschema.FormatChecker())
        if (error := next(validator.iter_errors(value), None)) is not None:
            raise ValueError(error.message)

    def _kind(self) -> str:
        schema = self.schema
        several = schema.get("type") == "array"
        if choices := _choices(schema.get("items") or {} if several else schema):
            words = [name if name == title else f"{name} = {title}" for name, title in choices.items()]
            return f"{'some of' if several else 'one of'} {', '.join(words)}"
        kind = {"boolean": "y/n", "integer": "whole number", "string": "text"}.get(schema.get("type", ""), "number")
        low = schema.get("minimum", schema.get("minLength"))
        high = schema.get("maximum", schema.get("maxLength"))
        unit = " characters" if schema.get("type") == "string" else ""
        if low is not None or high is not None:
            kind += f" {low if low is not None else ''}..{high if high is not None else ''}{unit}"
        return f"{kind}, {schema['format']}" if "format" in schema else kind


def fields(schema: Mapping[str, Any]) -> list[FormField]:
    """The fields of a form, in its order."""
    required = schema.get("required") or ()
    return [FormField(name, field, name in required) for name, field in (schema.get("properties") or {}).items()]


def _choices(schema: Mapping[str, Any]) -> dict[str, str]:
    """Value → title, in each of the protocol's spellings."""
    if listed := schema.get("oneOf") or schema.get("anyOf"):
        return {
            str(choice["const"]): str(choice.get("title") or choice["const"]) for choice in listed if "const" in choice
        }
    values = [str(value) for value in schema.get("enum") or ()]
    titles = schema.get("enumNames") or values
    return (
        dict(zip(values, map(str, titles), strict=False)) if len(titles) >= len(values) else dict.fromkeys(values, "")
    )


def _chosen(word: str, choices: Mapping[str, str]) -> str:
    """`word`, or the value that it is the title of."""
    if not choices or word in choices:
        return word
    value = next((value for value, title in choices.items() if title.lower() == word.lower()), None)
    if value is None:
        raise ValueError(f"{word!r} is not one of {', '.join(choices)}")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "y" if value else "n"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
