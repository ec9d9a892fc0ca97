"""`Keys`: the keys of one configuration or task, taken from it with their types checked."""

import shlex
from collections.abc import Mapping
from typing import Any

from trio_debugmcp.errors import UsageError


class Keys:
    """What a configuration or task says, until it has been taken.

    Attributes:
        left: what has not been taken yet.
        notes: what was passed over, or done otherwise than in an editor.
    """

    def __init__(self, values: Mapping[str, Any], what: str) -> None:
        self.left = dict(values)
        self.notes: list[str] = []
        self._what = what

    def __repr__(self) -> str:
        return f"<Keys of {self._what}: {', '.join(self.left)}>"

    def __contains__(self, key: str) -> bool:
        return self.left.get(key) is not None

    def take(self, key: str) -> Any:
        """Take the value of a key as it is; None if it is not there."""
        return self.left.pop(key, None)

    def drop(self, *keys: str) -> None:
        """Pass keys over that mean nothing here."""
        for key in keys:
            self.left.pop(key, None)

    def rename(self, key: str, name: str) -> None:
        """Call a key as most configurations do, unless that name is taken."""
        if key in self:
            self.left.setdefault(name, self.left.pop(key))

    def text(self, key: str) -> str | None:
        """Take a text; None if the key is not there."""
        value = self.take(key)
        if value is None or isinstance(value, str):
            return value or None
        raise self.wrong(key, "a string", value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of strings; a string is split as a shell does."""
        value = self.take(key)
        if isinstance(value, str):
            try:
                return tuple(shlex.split(value))
            except ValueError as error:
                raise UsageError(
                    "INVALID_PARAMETER", f"{self._what}: `{key}` is not a command line: {error}."
                ) from None
        if value is None:
            return ()
        if not isinstance(value, list) or not all(_is_scalar(item) for item in value):
            raise self.wrong(key, "a list of strings", value)
        return tuple(as_text(item) for item in value)

    def flag(self, key: str) -> bool | None:
        """Take true or false; None if the key is not there."""
        value = self.take(key)
        if value is None or isinstance(value, bool):
            return value
        if value in ("true", "false"):  # of an input, which always is a string
            return bool(value == "true")
        raise self.wrong(key, "true or false", value)

    def number(self, key: str) -> int | None:
        """Take a whole number, which may be a string of digits; None if the key is not there."""
        value = self.take(key)
        if value is None or value == "":
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.isdecimal():
            return int(value)
        raise self.wrong(key, "a number", value)

    def table(self, key: str) -> dict[str, Any]:
        """Take an object; an empty one if the key is not there."""
        value = self.take(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(key, "an object", value)
        return value

    def environment(self, key: str) -> dict[str, str | None]:
        """Take variables: as an object, as a list of `{name, value}`, or of `NAME=value`; null removes one."""
        value = self.take(key)
        if isinstance(value, list):
            value = dict(self._variable(key, item) for item in value)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(member is None or _is_scalar(member) for member in value.values()):
            raise self.wrong(key, "an object whose values are strings", value)
        return {name: None if member is None else as_text(member) for name, member in value.items()}

    def _variable(self, key: str, item: Any) -> tuple[str, Any]:
        match item:
            case {"name": str(name), "value": value}:
                return name, value
            case str() if "=" in item:
                name, _, value = item.partition("=")
                return name, value
            case _:
                raise self.wrong(key, 'a list of {"name": …, "value": …}', item)

    def refuse(self, key: str, why: str) -> None:
        """Refuse a key that changes what is started, and that cannot be had.

        Raises:
            UsageError: `NOT_SUPPORTED`, if the key is there.
        """
        if self.left.get(key) not in (None, False, "", [], {}):
            raise UsageError("NOT_SUPPORTED", f"{self._what} sets `{key}`: {why}.", {"key": key})
        self.drop(key)

    def wrong(self, key: str, kind: str, value: Any) -> UsageError:
        """Return the error for a value of a wrong type."""
        return UsageError(
            "INVALID_PARAMETER", f"{self._what}: `{key}` must be {kind}, not {_kind(value)}.", {"key": key}
        )


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float)


def as_text(value: object) -> str:
    """Return a value as VS Code writes it into a text."""
    return ("true" if value else "false") if isinstance(value, bool) else "" if value is None else str(value)


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case str():
            return f"the string '{value[:40]}'"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list" if all(isinstance(item, str) for item in value) else "a list of other things"
        case dict():
            return "an object"
        case _:
            return "null"
