"""From the arguments of a call to the parameters of its tool.

    params = converted("debug_step", DebugStep, {"mode": "in", "count": "2"})
    params.count    # 2

What is wrong with them is said with what there is instead.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.meant import fields_at, meant
from trio_debugmcp.server.tools.parameters_meant import parameters_meant
from trio_debugmcp.server.tools.schema import listed_schema, parameter_names
from trio_debugmcp.state.payloads import shortened

P = TypeVar("P", bound=Struct)

_CORES = frozenset({"core", "corefile", "coredump", "minidump"})
"""Names of a parameter that other debuggers launch with."""


def _with_own_id(name: str, arguments: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Return arguments with the `id` of what a tool is about: `breakpoint_id` of `breakpoint_remove` is that."""
    own = f"{name.partition('_')[0]}_id"
    if "id" not in known or own in known or "id" in arguments or own not in arguments:
        return arguments
    return {"id" if key == own else key: value for key, value in arguments.items()}


def converted(name: str, params: type[P], arguments: dict[str, Any]) -> P:
    """Return the parameters of the tool `name`.

    Raises:
        UsageError: `INVALID_PARAMETER`: one is missing, not known, of another type, or a word that is not accepted.
    """
    known = parameter_names(params)
    arguments = _with_own_id(name, arguments, known)
    unknown = [parameter for parameter in arguments if parameter not in known]
    if unknown:
        meant_one = parameters_meant(unknown[0], known)
        if unknown[0].lower().replace("_", "") in _CORES:
            meant_one = " What a crash has left is opened by debug_attach, as its `core_file`."
        raise UsageError(
            "INVALID_PARAMETER",
            f"{name} has no parameter '{unknown[0]}'.{meant_one} Parameters: {', '.join(known) or 'none'}.",
            {"parameter": unknown[0]},
        )
    try:
        return msgspec.convert(meant(params, arguments), params)
    except msgspec.ValidationError as error:
        missing = _MISSING.fullmatch(str(error))
        if missing is not None:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{name} needs `{missing[1]}`. Parameters: {', '.join(known)}.",
                {"parameter": missing[1]},
            ) from None
        refused = _NO_SUCH_VALUE.fullmatch(str(error))
        if refused is None:
            raise _of_another_type(name, params, str(error)) from None
        value, path = refused.groups()
        allowed = ", ".join(_allowed(params, path))
        raise UsageError(
            "INVALID_PARAMETER", f"{path} is one of {allowed}; not {shortened(value)}.", {"parameter": path}
        ) from None


def _of_another_type(name: str, params: type[Struct], said: str) -> UsageError:
    """Return the error of an argument that is not what the tool takes, by what msgspec says of it."""
    found, schema = _OTHER_TYPE.fullmatch(said), f"the schema of {name} has all, in a shell `call --list {name}`"
    unknown = _UNKNOWN_FIELD.fullmatch(said)
    if unknown is not None:
        fields = fields_at(params, unknown["path"])
        near = parameters_meant(unknown["field"], fields)
        said = f"`{unknown['path']}` has no `{unknown['field']}`.{near} It has {', '.join(fields)}"
    if found is None:
        return UsageError("INVALID_PARAMETER", f"{said}: {schema}.", {})
    path = found["path"]
    taken = [_IN_WORDS.get(word, word) for word in found["taken"].split(" | ") if word != "null"]
    if "breakpoints[" in path and "object" in found["taken"]:
        taken = ['a place such as "app.py:12"', 'an object, {"file": "app.py", "line": 12}']
    sentence = (
        f"`{path}` takes {' or '.join(dict.fromkeys(taken))}, and this is {_IN_WORDS.get(found['got'], found['got'])}"
    )
    return UsageError("INVALID_PARAMETER", f"{sentence}: {schema}.", {"parameter": re.split(r"[.\[]", path)[0]})


_OTHER_TYPE = re.compile(r"Expected `(?P<taken>[^`]+)`, got `(?P<got>[^`]+)` - at `\$\.(?P<path>.+)`")
"""What msgspec says of a value of another type."""

_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<field>[^`]+)` - at `\$\.(?P<path>.+)`")

_IN_WORDS = {
    "object": "an object",
    "array": "a list",
    "bool": "true or false",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
}
"""The types of JSON, as msgspec names them."""

_MISSING = re.compile(r"Object missing required field `(\w+)`")
"""What msgspec says of a parameter that is not there; it does not name those there are."""

_NO_SUCH_VALUE = re.compile(r"Invalid enum value (.*) - at `\$\.(\w+)`", re.DOTALL)
"""What msgspec says of a string that is not one of those that a parameter accepts; it does not name these."""


def _allowed(params: type[Struct], name: str) -> list[str]:
    """Return what a parameter accepts, as its schema has it."""
    (schema,) = [each for field, each in listed_schema(params)["properties"].items() if field == name]
    found: list[str] = []
    for alternative in schema.get("anyOf", [schema]):
        found += [json.dumps(value) for value in alternative.get("enum", ()) if value is not None]
        found += ["an integer"] if alternative.get("type") == "integer" else []
    return found
