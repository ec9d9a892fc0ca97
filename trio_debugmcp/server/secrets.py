"""The one place where secrets are masked in what a connection is answered, whichever tool or resource it is of.

What the program writes is masked before, in `session/output/console.py`, as a secret in it may arrive in pieces. In
the state are the true values: conditions, comparisons and the search for a source line need them.
"""

import json
from typing import Any

import msgspec
from msgspec.structs import replace

from trio_debugmcp.errors import UsageError
from trio_debugmcp.masking.mask import mask_in, masked, may_hold_secret
from trio_debugmcp.masking.masked_answers import masked_json
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.state.payloads import to_json

_MADE_HERE = frozenset(("debug_listen", "observe_link"))
"""Tools whose token is there to be passed on."""

_VALUE_OF = ("expression", "path", "variable")
"""Parameters that name what the answer's `value` is the value of."""


def check_arguments(arguments: dict[str, Any]) -> None:
    """Refuse a mask in the place of what it stands for: comparisons with it would be wrong without a word.

    Raises:
        UsageError: `INVALID_PARAMETER`.
    """
    for name, value in arguments.items():
        mask = mask_in(value if isinstance(value, str) else to_json(value))
        if mask is not None:
            raise UsageError(
                "INVALID_PARAMETER",
                f"{mask} stands for a secret that is masked in answers; the program has its true value. Refer to it by "
                "a variable, or by the line's number. A person can start the server with --show-secrets.",
                {"parameter": name},
            )


def masked_result(name: str, arguments: dict[str, Any], result: ToolResult) -> ToolResult:
    """Return a tool's answer without secrets, also in what it has for a card."""
    named = " ".join(arguments[each] for each in _VALUE_OF if isinstance(arguments.get(each), str))
    texts = [result.text, *([] if result.meta is None else [to_json(result.meta)])]
    if name in _MADE_HERE or not any(may_hold_secret(f"{text}\n{named}") for text in texts):
        return result
    structured = None if result.structured_content is None else masked_json(result.structured_content, named)
    meta = None if result.meta is None else masked_json(result.meta, named)
    return replace(result, text=masked_text(result.text, named), structured_content=structured, meta=meta)


def masked_text(text: str, named: str = "") -> str:
    """Return a text without secrets. JSON stays JSON; `named`: what its `value` is the value of."""
    if not may_hold_secret(f"{text}\n{named}"):
        return text
    try:
        given = json.loads(text)
    except ValueError:
        return masked(text)
    clean = masked_json(given, named)
    return text if clean == given else msgspec.json.encode(clean).decode()
