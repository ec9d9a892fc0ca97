"""What a built file of JavaScript was made from, by its source map (ECMA-426), in a file beside it or inside of it.

    only_source("/x/dist/main.js")      # "/x/src/main.ts"; None for a bundle

A bundle was made from several files, and which of them its first statement is from only the mappings say.
"""

import base64
import binascii
import json
import os
from pathlib import Path
from urllib.parse import unquote

_NAMES_MAP = "//# sourceMappingURL="

_INSIDE = "data:application/json"

_MAX_BYTES = 1024 * 1024
"""Of a built file, and of its map; what is larger is a bundle."""


def only_source(file: str) -> str | None:
    """Return the one file that a built file was made from, as far as it is there."""
    text = _text(file)
    last = text.rstrip().rpartition("\n")[2]
    if not last.startswith(_NAMES_MAP):
        return None
    name = last.removeprefix(_NAMES_MAP)
    directory = os.path.dirname(file)
    try:
        if name.startswith(_INSIDE):
            source_map = json.loads(base64.b64decode(name.partition("base64,")[2]))
        else:
            path = os.path.join(directory, unquote(name))
            source_map, directory = json.loads(_text(path)), os.path.dirname(path)
        (source,) = source_map["sources"]
        place = os.path.join(source_map.get("sourceRoot") or "", unquote(source).removeprefix("file://"))
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return None
    path = os.path.normpath(os.path.join(directory, place))
    return path if os.path.isfile(path) else None


def _text(file: str) -> str:
    try:
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MAX_BYTES + 1)
    except OSError:
        return ""
    return text if len(text) <= _MAX_BYTES else ""
