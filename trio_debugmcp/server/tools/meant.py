"""Arguments that are not of the type that a tool declares, but can mean one thing only: what they mean.

    meant(DebugLaunch, {"breakpoints": ["shop.py:37"], "args": "-k total", "timeout": "60"})
    # {"breakpoints": [{"file": "shop.py", "line": 37}], "args": ["-k", "total"], "timeout": 60}

Models write numbers as texts, lists of one as the item, and places as our own answers do. Schemas show one form only.
What may mean several things is left as it is, for the schema to refuse; of JSON that is broken it is said where. Pure.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, inspect

from trio_debugmcp.errors import UsageError
from trio_debugmcp.state.payloads import shortened

_COMMAND_LINES = frozenset({"args"})
"""Lists of texts that a text stands for as a shell splits it; of any other list it is the one item."""

_PLACE = re.compile(r"(?P<file>.*[^\s:]):(?P<line>[1-9]\d{0,8})(?: in \S+)?")
"""`shop.py:37` and `shop.py:37 in total`, as in answers."""

_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?P<fraction>\.\d{1,18})?")

_JSON_BEGUN = re.compile(r"""\s*(?:\[\s*["']|(?:\[\s*)?\{\s*(?:["']|\w+\s*:))""")
"""How JSON begins, and no place: files may be called `[id].tsx`, `[[...slug]].tsx` or `{{name}}.py`."""

_AROUND = 20
"""Characters before the place where JSON is broken that are shown."""

_TRUTHS = {"true": True, "false": False}


def meant(params: type[Struct], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as the parameters of the tool have them.

    Raises:
        UsageError: `INVALID_PARAMETER`: one is a text of JSON that is broken.
    """
    types = _types(params)
    found = {name: _named(types[name], value, name) if name in types else value for name, value in arguments.items()}
    return with_place(found) if {"file", "line"} <= types.keys() else found


def with_place(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with the line that stands behind the name of the file, if no other place is named."""
    file = arguments.get("file")
    beside = [name for name in ("line", "statement", "function") if arguments.get(name) is not None]
    place = _PLACE.fullmatch(file) if isinstance(file, str) and not beside else None
    return arguments if place is None else {**arguments, "file": place["file"], "line": int(place["line"])}


def place_or_function(text: str) -> dict[str, Any]:
    """Return the breakpoint that a text stands for: on a line, or else on a function."""
    place = _PLACE.fullmatch(text.strip())
    return {"function": text.strip()} if place is None else {"file": place["file"], "line": int(place["line"])}


def fields_at(params: type[Struct], path: str) -> Sequence[str]:
    """Return the names of what an object in the arguments may have, such as one at `breakpoints[0]`."""
    fields = _types(params)
    for name in re.findall(r"[A-Za-z_]\w*", path):
        inside = [each for type_ in _accepted(fields[name]) for each in _inner(type_)] if name in fields else []
        structs = [each for each in inside if isinstance(each, inspect.StructType)]
        fields = _types(structs[0].cls) if structs else {}
    return tuple(fields)


def _inner(type_: inspect.Type) -> list[inspect.Type]:
    return _accepted(type_.item_type) if isinstance(type_, inspect.ListType) else [type_]


def _named(type_: inspect.Type, value: Any, name: str) -> Any:
    try:
        return _as(type_, value, name)
    except json.JSONDecodeError as error:
        before = " ".join(error.doc[max(0, error.pos - _AROUND) : error.pos].split())
        where = f"line {error.lineno}, column {error.colno}" + (f", after `{before}`" if before else "")
        sentence = f"`{name}` is JSON that is broken at {where}: {error.msg}. It is {shortened(error.doc)}"
        raise UsageError("INVALID_PARAMETER", sentence, {"parameter": name}) from None


def _as(type_: inspect.Type, value: Any, name: str) -> Any:
    """Return a value as one of the types that are accepted, if it can only mean that; else as it is."""
    accepted = _accepted(type_)
    if isinstance(value, str):
        return _from_text(accepted, value, name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_text = any(isinstance(each, inspect.StrType) for each in accepted)
        is_number = any(isinstance(each, inspect.IntType | inspect.FloatType) for each in accepted)
        return str(value) if is_text and not is_number else value
    lists = [each for each in accepted if isinstance(each, inspect.ListType)]
    if isinstance(value, list) and lists:
        return [_as(lists[0].item_type, item, "") for item in value]
    if isinstance(value, Mapping):
        return _from_object(accepted, dict(value))
    return value


def _from_text(accepted: list[inspect.Type], text: str, name: str) -> Any:
    for accepted_type in accepted:
        match accepted_type:
            case inspect.StrType():
                return text
            case inspect.LiteralType(values=values) if text in values:
                return text
            case inspect.IntType() | inspect.FloatType():
                number = _NUMBER.fullmatch(text.strip())
                if number is not None and (number["fraction"] is None or isinstance(accepted_type, inspect.FloatType)):
                    return json.loads(text)
            case inspect.BoolType() if text.strip().lower() in _TRUTHS:
                return _TRUTHS[text.strip().lower()]
            case inspect.ListType() | inspect.DictType() | inspect.StructType():
                return _from_structure(accepted_type, text, name)
    return text


def _from_structure(type_: inspect.Type, text: str, name: str) -> Any:
    """Return a list or an object that was written as a text: as JSON, as a command line, or as its only item."""
    opening = "[" if isinstance(type_, inspect.ListType) else "{"
    if _has_objects(type_) and _JSON_BEGUN.match(text):
        return _as(type_, json.loads(text), name)
    if text.lstrip().startswith(opening):
        try:
            return _as(type_, json.loads(text), name)
        except ValueError:  # an expression for `show`, perhaps
            pass
    if isinstance(type_, inspect.StructType) and {"file", "line", "function"} <= _types(type_.cls).keys():
        return place_or_function(text)
    if not isinstance(type_, inspect.ListType):
        return text
    if name not in _COMMAND_LINES:
        return [_as(type_.item_type, text, "")]
    try:
        return shlex.split(text)
    except ValueError:
        return text


def _has_objects(type_: inspect.Type) -> bool:
    """Whether a value of this type is an object, or a list of such: one of texts may be an expression for `show`."""
    item = type_.item_type if isinstance(type_, inspect.ListType) else type_
    return any(isinstance(each, inspect.DictType | inspect.StructType) for each in _accepted(item))


def _from_object(accepted: list[inspect.Type], value: dict[str, Any]) -> Any:
    for accepted_type in accepted:
        match accepted_type:
            case inspect.StructType(cls=struct):
                return meant(struct, value)
            case inspect.DictType(value_type=of):
                return {key: _as(of, item, "") for key, item in value.items()}
            case inspect.ListType(item_type=inspect.StructType(cls=struct)):
                return [meant(struct, value)]
    return value


def _accepted(type_: inspect.Type) -> list[inspect.Type]:
    while isinstance(type_, inspect.Metadata):
        type_ = type_.type
    if isinstance(type_, inspect.UnionType):
        return [each for one in type_.types for each in _accepted(one)]
    return [type_]


@cache
def _types(params: type[Struct]) -> dict[str, inspect.Type]:
    info = msgspec.inspect.type_info(params)
    return {field.encode_name: field.type for field in info.fields} if isinstance(info, inspect.StructType) else {}
