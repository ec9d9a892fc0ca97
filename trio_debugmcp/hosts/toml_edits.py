"""Edits in the text of a TOML file: one table is set or removed, every other character stays.

    with_table(text, ("mcp_servers", "debugger"), {"command": "trio-debugmcp", "args": ["serve"]})
    without_table(text, ("mcp_servers", "debugger"))

The standard library reads TOML and does not write it. The text is well formed here: the caller has parsed it.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[\[?([^\[\]\r\n]+)\]\]?[ \t]*(#[^\r\n]*)?\r?$", re.MULTILINE)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_table(text: str, path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """Return the text with that table set: where it was, else at the end. Its values are texts and lists of texts."""
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(name)} = {_value(value)}" for name, value in table.items())]
    newline = "\r\n" if "\r\n" in text else "\n"
    written = newline.join([*lines, ""])
    spans = _spans(text, path)
    if spans:
        start, end = spans[0]
        rest = text[end:]
        for later, until in reversed(spans[1:]):
            rest = rest[: later - end] + rest[until - end :]
        gap = newline if rest and not rest.startswith(("\n", "\r\n")) else ""
        return text[:start] + written + gap + rest
    if text and not text.endswith("\n"):
        text += newline
    return text + (newline if text.strip() else "") + written


def without_table(text: str, path: tuple[str, ...]) -> str:
    """Return the text without that table and those below it; as it is if there is none."""
    for start, end in reversed(_spans(text, path)):
        before = text[:start]
        text = (before.rstrip("\r\n") + before[-1:] if before.strip() else before) + text[end:]
    return text


def _spans(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where the table and those below it stand, each with its header, up to the next header or what belongs to it."""
    headers = [match for match in _HEADER.finditer(text) if _in_no_string(text, match.start())]
    spans = []
    for header, following in pairwise([*headers, None]):
        if header is None or _path_of(header[1])[: len(path)] != path:
            continue
        body = text[header.end() : len(text) if following is None else following.start()]
        spans.append((header.start(), header.end() + len(_without_comments_behind(body))))
    return spans


def _without_comments_behind(body: str) -> str:
    """Return a table's lines without blank ones and comments at their end: those belong to what follows."""
    lines = body.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines)


def _in_no_string(text: str, place: int) -> bool:
    """Whether a line is not one of a text of several lines: then what stands before it is TOML by itself."""
    try:
        tomllib.loads(text[:place])
    except tomllib.TOMLDecodeError:
        return False
    return True


def _path_of(header: str) -> tuple[str, ...]:
    try:
        value: Any = tomllib.loads(f"[{header}]")
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        path.append(key)
    return tuple(path)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
