"""JSON with comments and trailing commas, as editors write it, read with the places of its mistakes.

Comments and trailing commas are replaced by spaces, so that the standard library's reader finds everything else at its
line and column.
"""

import json
import re
from typing import Any, NoReturn

from trio_debugmcp.errors import UsageError

_STRING = r'"(?:[^"\\\n]|\\[^\n])*"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])")


def parse(text: str, name: str) -> Any:
    """Return the value of a file's text; one that is empty but for comments is an empty object.

    Raises:
        UsageError: `INVALID_PARAMETER` with line and column: the text is not JSON with comments.
    """
    plain = _TRAILING_COMMA.sub(_blank, _COMMENT.sub(_blank, text.removeprefix("\ufeff")))
    if not plain.strip():
        return {}
    try:
        return json.loads(plain, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:].removesuffix(" at")
        raise UsageError(
            "INVALID_PARAMETER",
            f"{name}, line {error.lineno}, column {error.colno}: {reason}. Correct the file there.",
            {"file": name, "line": error.lineno, "column": error.colno},
        ) from None
    except (ValueError, RecursionError) as error:  # NaN, a number of thousands of digits, or thousands of brackets
        raise UsageError("INVALID_PARAMETER", f"{name} cannot be read: {error}.", {"file": name}) from None


def _blank(match: re.Match[str]) -> str:
    """Keep a string; of anything else keep only the ends of its lines."""
    return match[1] if match[1] is not None else re.sub(r"[^\r\n]", " ", match[0])


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
