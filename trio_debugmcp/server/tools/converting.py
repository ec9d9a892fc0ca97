"""From the arguments of a call to the parameters of its tool.

    params = converted("debug_step", DebugStep, {"mode": "in", "count": "2"})
    params.count    # 2

What is wrong with them is said with what there is instead.
"""

import json
import re
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools.meant import meant
from trio_debugmcp.server.tools.schema import listed_schema, parameter_names
from trio_debugmcp.state.payloads import shortened

P = TypeVar("P", bound=Struct)


def converted(name: str, params: type[P], arguments: dict[str, Any]) -> P:
    """Return the parameters of the tool `name`.

    Raises:
        UsageError: `INVALID_PARAMETER`: one is not known, or is a word that is none of those that it accepts.
        msgspec.ValidationError: one is missing, or has another type.
    """
    known = parameter_names(params)
    unknown = [parameter for parameter in arguments if parameter not in known]
    if unknown:
        raise UsageError(
            "INVALID_PARAMETER",
            f"{name} has no parameter '{unknown[0]}'. Parameters: {', '.join(known) or 'none'}.",
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
            raise
        value, path = refused.groups()
        allowed = ", ".join(_allowed(params, path))
        raise UsageError(
            "INVALID_PARAMETER", f"{path} is one of {allowed}; not {shortened(value)}.", {"parameter": path}
        ) from None


_MISSING = re.compile(r"Object missing required field `(\w+)`")
"""What msgspec says of a parameter that is not there; it does not name those there are."""

_NO_SUCH_VALUE = re.compile(r"Invalid enum value (.*) - at `\$\.(\w+)`", re.DOTALL)
"""What msgspec says of a string that is not one of those that a parameter accepts; it does not name these."""


def _allowed(params: type[Struct], name: str) -> list[str]:
    """Return what a parameter accepts, as its schema has it."""
    (schema,) = [each for field, each in listed_schema(params)["properties"].items() if field == name]
    found: list[str] = []
    for each in schema.get("anyOf", [schema]):
        found += [json.dumps(value) for value in each.get("enum", ()) if value is not None]
        found += ["an integer"] if each.get("type") == "integer" else []
    return found
