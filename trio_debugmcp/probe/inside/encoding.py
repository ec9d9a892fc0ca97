r"""JSON that every reader takes: ASCII, in which lone surrogates are text.

    encoded(["caf\udce9"])      # '["caf\\udce9"]': six visible characters in place of half a character

Python's strings may have such halves (of file names that are not UTF-8, for example); JSON for strict readers may not.
"""

import json
import re
from typing import Any

_SURROGATES = re.compile(r"(\\\\|\\ud[89ab]..\\ud[c-f]..)|(\\ud[89a-f]..)")
"""In JSON of ASCII: what stays as it is (an escaped backslash, a pair), or a half."""


def encoded(value: Any) -> str:
    """Return a value as JSON."""
    text = json.dumps(value)
    if "\\ud" not in text:
        return text
    return _SURROGATES.sub(lambda found: found.group(1) or "\\" + found.group(2), text)
