"""Calls of `debug_more`, which are calls of the tool that they name, and the results in words for the client's list.

    named_call("debug_more", {"tool": "threads_list"})    # "threads_list", {}
    worded_result(naming, "threads_list", result)

`server/naming.py` has the words.
"""

import json
from typing import Any

import msgspec
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.naming import MORE, Naming
from trio_debugmcp.state.payloads import shortened


def named_call(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool that a call is for, and its arguments. They may stand in `arguments`, or beside `tool`.

    Raises:
        UsageError: `INVALID_PARAMETER`: `tool` is not a name, or `arguments` are not an object.
    """
    while name == MORE and arguments.get("tool") is not None:
        tool, inner = arguments["tool"], arguments.get("arguments") or {}
        if isinstance(inner, str):  # as models write objects
            try:
                inner = json.loads(inner)
            except (ValueError, RecursionError):
                inner = None
        if not isinstance(tool, str):
            refused = shortened(repr(tool))
            raise _refused("tool", f'`tool` is the name of a tool, such as "threads_list", not {refused}.')
        if not isinstance(inner, dict):
            refused = shortened(repr(arguments["arguments"]))
            raise _refused("arguments", f"`arguments` is an object with the parameters of {tool}, not {refused}.")
        beside = {name: value for name, value in arguments.items() if name not in ("tool", "arguments")}
        name, arguments = tool, {**beside, **inner}
    return name, arguments


def _refused(parameter: str, sentence: str) -> UsageError:
    return UsageError("INVALID_PARAMETER", sentence, {"parameter": parameter})


def worded_result(naming: Naming, called: str, result: ToolResult) -> ToolResult:
    """Return the result of a call of a tool with hints that its client can follow."""
    if not result.text or not naming.is_needed(result.text):
        return result
    body = json.loads(result.text) if result.structured_content is None else result.structured_content
    worded = naming.body(body, called)
    structured = None if result.structured_content is None else worded
    return replace(result, text=_encoder.encode(worded).decode(), structured_content=structured)


_encoder = msgspec.json.Encoder()
