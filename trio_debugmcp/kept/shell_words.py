"""Arguments of a tool as a shell gives them: `file=shop.py line=3 condition='n > 2'`. Pure, but for files it names.

    words = split_words(["program=shop.py", "stop_at_entry=false"], read_file)
    arguments = typed(words, schema)            # {"program": "shop.py", "stop_at_entry": False}
    absolute_paths(arguments, os.getcwd())      # {"program": "/home/me/app/shop.py", …}

The schema is that of the tool, as its server lists it.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trio_debugmcp.coercion import coerce_arguments, json_or_text, wanted_types
from trio_debugmcp.errors import UsageError

PATHS = frozenset({"program", "file", "cwd", "test"})
"""Parameters that name a file or a directory; of a test, what stands before `::` or the line."""

ReadFile = Callable[[str], str]
"""Returns the text of a file, of standard input for `-`; raises OSError."""


def split_words(words: Sequence[str], read: ReadFile) -> dict[str, Any]:
    """Return the arguments as texts: of `KEY=VALUE`, and of objects in JSON.

    A key that comes again makes a list. `KEY=@FILE` and `KEY=-` take what is in a file or comes on standard input; so
    do the words `@FILE` and `-`, for an object with all arguments.

    Raises:
        UsageError: a word is neither, or cannot be read.
    """
    objects: dict[str, Any] = {}
    arguments: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if word == "-" or word[:1] in ("@", "{"):
            objects.update(_object(_content(word, read)))
        elif not equals or not key:
            sentence = (
                f"{word!r} is not an argument: write KEY=VALUE, or all of them as an object in JSON. "
                "`trio-debugmcp call --list TOOL` has the keys."
            )
            raise UsageError("INVALID_PARAMETER", sentence)
        else:
            value = _content(value, read)
            arguments[key] = [*_listed(arguments[key]), value] if key in arguments else value
    return {**objects, **arguments}


def typed(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the types of a tool's schema: what it takes as text stays text, all else may be JSON.

    A text where only a list is taken is a list with this one item.

    Raises:
        UsageError: a value is nested too deep.
    """
    try:
        return _typed(arguments, schema)
    except RecursionError:
        raise UsageError("INVALID_PARAMETER", "A value is nested too deep to be read.") from None


def _typed(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    result = coerce_arguments(arguments, schema)
    for key, value in result.items():
        wanted = wanted_types(properties.get(key))
        if isinstance(value, list) and isinstance(arguments[key], list):
            result[key] = [json_or_text(item) if isinstance(item, str) else item for item in value]
        elif isinstance(value, str) and not wanted:
            result[key] = json_or_text(value)
        elif isinstance(value, str) and "array" in wanted and "string" not in wanted:
            result[key] = [json_or_text(value)]
    return result


def absolute_paths(arguments: Mapping[str, Any], directory: str) -> dict[str, Any]:
    """Return arguments whose paths are absolute where the file is there, seen from the shell's directory.

    The server works in the project's directory; a person in `src` means the file that they see.
    """

    def path(text: str) -> str:
        name, separator, rest = _split_place(text)
        full = os.path.join(directory, name)
        return f"{full}{separator}{rest}" if name and not os.path.isabs(name) and os.path.exists(full) else text

    def breakpoint(value: Any) -> Any:
        if isinstance(value, str):
            return path(value)
        if isinstance(value, dict) and isinstance(value.get("file"), str):
            return {**value, "file": path(value["file"])}
        return value

    result = {
        key: path(value) if key in PATHS and isinstance(value, str) else value for key, value in arguments.items()
    }
    for key in ("breakpoints", "experiments"):
        if isinstance(result.get(key), list):
            result[key] = [breakpoint(item) for item in result[key]]
    return result


def _split_place(text: str) -> tuple[str, str, str]:
    """Split `test_a.py::test_b` and `shop.py:12` into the file and the rest."""
    separator = "::" if "::" in text else ":"
    name, separator, rest = text.partition(separator)
    return (name, separator, rest) if separator != ":" or rest.isdecimal() else (text, "", "")


def _content(value: str, read: ReadFile) -> str:
    if value != "-" and not value.startswith("@"):
        return value
    name = value if value == "-" else value[1:]
    try:
        return read(name)
    except (OSError, UnicodeDecodeError) as error:
        what = "standard input" if name == "-" else name
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise UsageError("INVALID_PARAMETER", f"{what} cannot be read: {reason}.") from error


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except RecursionError:
        raise UsageError("INVALID_PARAMETER", "The arguments are nested too deep to be read.") from None
    except ValueError as error:
        raise UsageError("INVALID_PARAMETER", f"The arguments cannot be read as JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError("INVALID_PARAMETER", "The arguments must be one object in JSON.")
    return value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
