r"""JSON that every reader takes: ASCII, in which lone surrogates are text.

    encoded(["caf\udce9"])      # '["caf\\udce9"]': six visible characters in place of half a character
    decoded('{"thread": 1}')

Python's strings may have such halves (of file names that are not UTF-8, for example); JSON for strict readers may not.
The work is done by the C code behind `json`, whose functions in Python the program may have patched.
"""

import _json
from typing import Any


def _refuse(value: Any) -> Any:
    raise TypeError(f"a {type(value).__name__} is not JSON")


class _Reading:
    """What the scanner of C asks for: the defaults of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


_iterencode = _json.make_encoder(None, _refuse, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True)
_defaults: Any = _Reading()
_scan = _json.make_scanner(_defaults)


def decoded(text: str) -> Any:
    """Return the value of a JSON text that begins with it. Only what this package has written is read."""
    return _scan(text, 0)[0]


def encoded(value: Any) -> str:
    """Return a value as JSON."""
    text = "".join(_iterencode(value, 0))
    return _with_visible_halves(text) if "\\ud" in text else text


def _with_visible_halves(text: str) -> str:
    parts = []
    begin = position = 0
    while True:
        position = text.find("\\", position)
        if position < 0:
            parts.append(text[begin:])
            return "".join(parts)
        if not text.startswith("\\ud", position) or text[position + 3] not in "89abcdef":
            position += 2
        elif (
            text[position + 3] in "89ab"
            and text[position + 6 : position + 9] == "\\ud"
            and (text[position + 9] in "cdef")
        ):  # a pair
            position += 12
        else:
            parts.append(text[begin:position] + "\\")
            begin, position = position, position + 6
