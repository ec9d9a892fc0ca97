"""Files with tables of debug adapters: ours, and those of users, which are laid over ours.

    known = raw_tables(ours.read_text(), "adapters.toml")
    users = lay_over(known, text, "/home/ann/.config/trio-debugmcp/adapters.toml")

A table of a new name adds an adapter. One of a known name is laid over it key by key: tables in it likewise; lists,
`install` and `transport` are replaced. Whatever is wrong is an error with the file, the table, the key and what is
allowed there.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trio_debugmcp.dap.profiles.opening import attach_values, launch_values
from trio_debugmcp.dap.profiles.starts import Attach, Launch
from trio_debugmcp.dap.profiles.tables.placeholders import placeholders
from trio_debugmcp.dap.profiles.tables.table_format import Table
from trio_debugmcp.errors import UsageError

RawTables = Mapping[str, Mapping[str, Any]]
"""Adapter's name → its table, as TOML has it."""

_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*", re.ASCII)
"""A name of a table: it is also that of a directory."""

_CODED = ("debugpy",)
"""Adapters that are described by code, which no table can change."""

_WHOLE = ("install", "transport")
"""Keys whose value is one thing, so that a user's is not laid over ours."""

_KINDS = {
    "array": "a list",
    "str": "a text",
    "object": "a table",
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "null": "nothing",
}
"""What msgspec calls the kinds of values, in the words of docs/adapters.md."""

_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*)`")
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`")
_OTHER_KIND = re.compile(r"Expected .*, got `?(?P<got>.*?)`?")
_NO_CHOICE = re.compile(r"Invalid enum value (?P<got>.*)")
_AT = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)


class _Wrong(Exception):
    """What is wrong with a table: a sentence that begins with its key."""


def raw_tables(text: str, file: str) -> dict[str, Mapping[str, Any]]:
    """Return the tables of a file as they stand there.

    Raises:
        UsageError: `INVALID_PARAMETER`: the file is not TOML, or has anything else than tables of adapters.
    """
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError("INVALID_PARAMETER", f"{file} is not TOML: {error}.") from error
    for key, value in parsed.items():
        if key != "adapters":
            raise UsageError("INVALID_PARAMETER", f"{file}: `{key}` is not known; tables are called [adapters.NAME].")
        if not isinstance(value, dict):
            raise UsageError("INVALID_PARAMETER", f"{file}: `adapters` is to hold tables: [adapters.NAME].")
    found = parsed.get("adapters", {})
    for name, table in found.items():
        if not isinstance(table, dict):
            raise UsageError("INVALID_PARAMETER", f"{file}: `adapters.{name}` is to be a table: [adapters.{name}].")
        if not _NAME.fullmatch(name):
            raise _error(file, name, "needs a name of letters, digits, '.', '_', '+' and '-'")
    return dict(found)


def table_of(raw: Mapping[str, Any], name: str, file: str) -> Table:
    """Return a table whose keys, values and placeholders have been checked.

    Raises:
        UsageError: `INVALID_PARAMETER`: something in it is wrong.
    """
    try:
        table = msgspec.convert(raw, Table)
        _check_placeholders(raw)
    except msgspec.ValidationError as error:
        raise _error(file, name, _explained(str(error))) from error
    except _Wrong as error:
        raise _error(file, name, str(error)) from error
    return table


def lay_over(known: RawTables, text: str, file: str) -> dict[str, Mapping[str, Any]]:
    """Return the tables of a user's file, in its order, each laid over the known one of its name.

    `table_of` checks what comes of it.

    Raises:
        UsageError: `INVALID_PARAMETER`: it is not a file of tables, or one of them may not be the user's.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for name, raw in raw_tables(text, file).items():
        if name in _CODED:
            raise _error(file, name, "is described by code and cannot be changed; give your table another name")
        if "hooks" in raw:
            raise _error(file, name, "`hooks` may only be named by the tables of this package")
        below = {key: value for key, value in known.get(name, {}).items() if key not in _WHOLE or key not in raw}
        found[name] = merged(below, raw)
    return found


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a table over another, key by key; lists are replaced."""
    new = dict(under)
    for key, value in over.items():
        below = new.get(key)
        new[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return new


# --- What is wrong ----------------------------------------------------------------------------------------------------


def _error(file: str, table: str, what: str) -> UsageError:
    return UsageError("INVALID_PARAMETER", f"{file}: [adapters.{table}] {what}.", {"file": file, "table": table})


def _explained(said: str) -> str:
    """Return what msgspec says, in the words of these files, with what is allowed in this place."""
    at = _AT.fullmatch(said)
    what, path = (at["what"], at["path"]) if at is not None else (said, "")
    here = f"`{path.removesuffix('[...]')}` " if path else ""
    if (found := _UNKNOWN.fullmatch(what)) is not None:
        keys = _keys(_type_at(path))
        close = difflib.get_close_matches(found["key"], keys, 1)
        guess = f"; did you mean `{close[0]}`?" if close else "."
        return f"{here}has no key `{found['key']}`{guess} Known there are: {', '.join(keys)}"
    if (found := _MISSING.fullmatch(what)) is not None:
        return f"{here}needs the key `{found['key']}`"
    if (found := _NO_CHOICE.fullmatch(what) or _OTHER_KIND.fullmatch(what)) is not None:
        return f"{here}is to be {_in_words(_type_at(path))}, not {_KINDS.get(found['got'], found['got'])}"
    return f"{here.rstrip()}: {what}" if here else what


def _type_at(path: str) -> Any:
    """Return what msgspec knows of the type of a value in a table, which is named as in `install[0].then`."""
    from msgspec import inspect  # only where a table is wrong

    found: Any = inspect.type_info(Table)
    for step in re.findall(r"\[.*?\]|[^.\[]+", path):
        choices = found.types if isinstance(found, inspect.UnionType) else (found,)
        for choice in choices:
            if isinstance(choice, inspect.StructType) and step[0] != "[":
                found = next(field.type for field in choice.fields if field.encode_name == step)
            elif isinstance(choice, inspect.VarTupleType) and step[0] == "[":
                found = choice.item_type
            elif isinstance(choice, inspect.TupleType) and step[0] == "[":
                found = choice.item_types[0]
            elif isinstance(choice, inspect.DictType):
                found = choice.value_type
    return found


def _keys(kind: Any) -> list[str]:
    """Return the keys of the table that may stand in this place."""
    choices = getattr(kind, "types", (kind,))
    return sorted(field.encode_name for choice in choices for field in getattr(choice, "fields", ()))


def _in_words(kind: Any) -> str:
    """Return a type in words: `a list of texts`."""
    from msgspec import inspect

    match kind:
        case inspect.UnionType():
            return " or ".join(_in_words(member) for member in kind.types if not isinstance(member, inspect.NoneType))
        case inspect.LiteralType():
            values = [f'"{value}"' for value in kind.values]
            return values[0] if len(values) == 1 else f"one of {', '.join(values)}"
        case inspect.VarTupleType():
            return f"a list of {_many(_in_words(kind.item_type))}"
        case inspect.TupleType():
            return f"a list of {len(kind.item_types)} {_many(_in_words(kind.item_types[0]))}"
        case inspect.BoolType():
            return "true or false"
        case inspect.StructType() | inspect.DictType():
            return "a table"
    return "a text"


def _many(words: str) -> str:
    first, *rest = words.removeprefix("a ").split(" ")
    return " ".join([f"{first}s", *rest])


# --- Placeholders -----------------------------------------------------------------------------------------------------

_START = (*{**launch_values(Launch("")), **attach_values(Attach())}, "adapter", "adapter_directory")
_COMMAND = ("socket", *_START)
_EXPRESSION = ("expression",)
_KNOWN: Mapping[str, Sequence[str]] = {
    "find": ("scripts", "installed"),
    "version.command": ("adapter", "directory"),
    "version.file": ("adapter", "directory"),
    "install.then": ("installed",),
    "build.command": ("program", "package", "sources", "output", "output_directory"),
    "command": _COMMAND,
    "command-cwd": _COMMAND,
    "transport.given": ("port",),
    "transport.socket": ("socket",),
    "launch": _START,
    "attach": _START,
    "core": _START,
    "attach-remote": _START,
    "evaluate-safe.command": _EXPRESSION,
    "evaluate-safe.path": _EXPRESSION,
    "evaluate-safe.types": _EXPRESSION,
    "symbols.functions": ("pattern", "limit"),
    "symbols.types": ("pattern", "limit"),
    "symbols.count": ("pattern", "limit"),
}
"""Key → the placeholders that are filled in there; elsewhere braces are what they are."""


def _check_placeholders(raw: Mapping[str, Any]) -> None:
    for path, known in _KNOWN.items():
        key, _, below = path.partition(".")
        outer = raw.get(key)
        for table in outer if isinstance(outer, list) else [outer]:
            value = table.get(below) if below and isinstance(table, Mapping) else table
            wrong = next((name for name in placeholders(value) if name not in known), None)
            if wrong is not None:
                there = ", ".join(f"{{{name}}}" for name in known)
                raise _Wrong(f"`{path}` has {{{wrong}}}, for which there is nothing; known there are: {there}")
