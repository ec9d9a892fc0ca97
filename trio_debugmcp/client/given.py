"""Checks of what a caller passes, to options and to requests: a mistake is named where it is made.

What is not checked here fails later, and then as if it were a fault of the server.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trio_debugmcp.errors import UsageError

# --- Options ----------------------------------------------------------------------------------------------------------


class OptionRule(Struct, frozen=True):
    """What an option may be: in words, and as a predicate."""

    allowed: str
    holds: Callable[[Any], bool]


def check_fields(options: Struct, rules: Mapping[str, OptionRule]) -> None:
    """Check each field of `options` that has a rule.

    Raises:
        UsageError: naming the field, what it may be, and what it is.
    """
    for name, rule in rules.items():
        value = getattr(options, name)
        if not rule.holds(value):
            option = f"{type(options).__name__}.{name}"
            raise UsageError("INVALID_PARAMETER", f"{option} must be {rule.allowed}, not {value!r}")


def one_of(*values: object) -> OptionRule:
    """The option is one of `values`."""
    return OptionRule(f"one of {', '.join(map(repr, values))}", lambda value: value in values)


def instance(kind: type) -> OptionRule:
    """The option is a `kind`."""
    return OptionRule(f"of type {kind.__name__}", lambda value: isinstance(value, kind))


def optional(rule: OptionRule) -> OptionRule:
    """The option is None, or what `rule` says."""
    return OptionRule(f"None or {rule.allowed}", lambda value: value is None or rule.holds(value))


def at_least(least: int) -> OptionRule:
    """The option is a whole number, and not less than `least`."""
    return OptionRule(f"a whole number from {least}", lambda value: type(value) is int and value >= least)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _is_text_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(word, str) for pair in value.items() for word in pair)


SECONDS = OptionRule("a number of seconds above 0", _is_time)
FLAG = OptionRule("True or False", lambda value: isinstance(value, bool))
TEXT = OptionRule("a string", lambda value: isinstance(value, str) and bool(value))
TEXTS = OptionRule("a mapping of strings to strings", _is_text_mapping)
OBJECT = OptionRule("a mapping", lambda value: isinstance(value, Mapping))
PATH = OptionRule("a path", lambda value: isinstance(value, str | os.PathLike))
FUNCTION = OptionRule("a function", callable)
ITEMS = OptionRule("a sequence", lambda value: isinstance(value, Sequence) and not isinstance(value, str))


# --- Requests ---------------------------------------------------------------------------------------------------------


def need_text(value: object, name: str) -> None:
    """Check that an argument is a string, and not an empty one.

    Raises:
        UsageError: it is not.
    """
    if not isinstance(value, str) or not value:
        raise UsageError("INVALID_PARAMETER", f"`{name}` must be a string, not {value!r}")


def need_json(value: object, name: str) -> None:
    """Check that an argument can be sent as JSON, and is an object or nothing.

    Raises:
        UsageError: it is not.
    """
    from pydantic_core import PydanticSerializationError, to_jsonable_python  # as the SDK: it costs start-up time

    try:
        sent = to_jsonable_python(value)
        json.dumps(sent, allow_nan=False)  # the SDK would send null in place of a number that JSON does not have
    except (PydanticSerializationError, ValueError, RecursionError) as error:
        raise UsageError("INVALID_PARAMETER", f"`{name}` cannot be sent as JSON: {error}") from error
    if not isinstance(sent, dict | None):
        raise UsageError("INVALID_PARAMETER", f"`{name}` must be a mapping with string keys, not {value!r}")
