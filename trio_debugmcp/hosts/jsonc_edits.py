"""Edits in the text of a JSON file with comments: one member is set or removed, every other character stays.

    with_member('{"a": 1}', ("servers", "debugger"), {"command": "trio-debugmcp"})
    without_member(text, ("servers", "debugger"))

The caller has parsed the text (`launch_json.jsonc`), so here it is well formed.
"""

import json
import re
from typing import Any

from msgspec import Struct

from trio_debugmcp.hosts.edit_refused import EditRefusedError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\],:]|[^\s{}\[\],:"/]+', re.DOTALL)

_DEFAULT_INDENT = "  "


class _Value(Struct):
    """Where a value stands in the text. Of an object, its members with where their keys stand."""

    start: int
    end: int = 0
    members: "list[tuple[str, int, _Value]] | None" = None

    filled_until: int = 0
    """Where the last thing within the braces ends: a value, a comma, a comment."""

    ends_with_comma: bool = False

    comma: int = -1
    """Where the comma behind it stands, if there is one: a comment between may have others."""


class _Reader:
    """Reads the places of values, token by token, and passes over comments."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.span() for match in _TOKEN.finditer(text)]
        self._text = text
        self._next = 0

    def value(self) -> _Value | None:
        """Return the next value; None if only comments are left."""
        while (token := self._peek()).startswith(("//", "/*")):
            self._next += 1
        if not token:
            return None
        value = _Value(*self._tokens[self._next])
        self._next += 1
        if token == "{":
            self._read_members(value)
        elif token == "[":
            while not self._take("]"):
                self.value()
                self._take(",")
        value.end = self._tokens[self._next - 1][1]
        return value

    def _read_members(self, value: _Value) -> None:
        value.members = []
        while not self._take("}"):
            key = self.value()
            self._take(":")
            member = self.value()
            if key is None or member is None:
                return
            value.members.append((json.loads(self._text[key.start : key.end], strict=False), key.start, member))
            value.ends_with_comma = self._take(",")
            member.comma = self._tokens[self._next - 1][0] if value.ends_with_comma else -1
        value.filled_until = self._tokens[self._next - 2][1]

    def _take(self, text: str) -> bool:
        """Pass over that token, and comments before it, if it comes next."""
        before = self._next
        while (token := self._peek()).startswith(("//", "/*")):
            self._next += 1
        if token == text:
            self._next += 1
            return True
        self._next = before
        return not token  # nothing more comes: as good as any end

    def _peek(self) -> str:
        return self._text[slice(*self._tokens[self._next])] if self._next < len(self._tokens) else ""


def with_member(text: str, path: tuple[str, ...], member: Any) -> str:
    """Return the text with the member at that path set; objects on the way are made.

    Raises:
        EditRefusedError: something on the way is not an object.
    """
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    newline = "\r\n" if "\r\n" in text else "\n"
    value = _Reader(text).value()
    if value is None:
        gap = text if not text or text.endswith("\n") else text + newline
        return mark + gap + _written(_nested(path, member), "", newline) + newline
    for depth, key in enumerate(path):
        if value.members is None:
            raise EditRefusedError(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        inner = _member(value, key)
        if inner is None:
            return mark + _added(text, value, key, _nested(path[depth + 1 :], member), newline)
        value = inner
    is_one_line = "\n" not in text[value.start : value.end]
    indent = _indent_of_line(text, value.start)
    written = json.dumps(member, ensure_ascii=False) if is_one_line else _written(member, indent, newline)
    return mark + text[: value.start] + written + text[value.end :]


def without_member(text: str, path: tuple[str, ...]) -> str:
    """Return the text without the member at that path; as it is if there is none."""
    mark, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    value = _Reader(text).value()
    for key in path[:-1]:
        value = _member(value, key)
    members = [] if value is None or value.members is None else value.members
    numbers = [number for number, (name, _, _) in enumerate(members) if name == path[-1]]
    if not numbers:
        return mark + text
    number = numbers[-1]
    start, end = members[number][1], members[number][2].end
    following = members[number][2].comma
    if following >= 0 and not text[end:following].strip():
        end = following + 1
    elif following >= 0:  # behind a comment, which stays
        text = text[:following] + text[following + 1 :]
    elif number:  # the comma before it goes, and what stands between them stays
        comma = members[number - 1][2].comma
        return mark + text[:comma] + _without_blank_line(text, start, end)[comma + 1 :]
    return mark + _without_blank_line(text, start, end)


def _member(value: _Value | None, key: str) -> _Value | None:
    """Return what an object has under a key: the last one counts."""
    members = [] if value is None or value.members is None else value.members
    return next((member for name, _, member in reversed(members) if name == key), None)


def _added(text: str, value: _Value, key: str, member: Any, newline: str) -> str:
    """Add a member behind all that is within the braces of an object."""
    members, end = value.members or [], value.filled_until
    before, after = text[:end], text[end:]
    if members and not value.ends_with_comma:
        comma = members[-1][2].end
        before = before[:comma] + "," + before[comma:]
    if members and "\n" not in text[value.start : value.end]:
        return f"{before} {json.dumps(key)}: {json.dumps(member, ensure_ascii=False)}{after}"
    outer = _indent_of_line(text, value.start)
    starts_line = bool(members) and not text[text.rfind("\n", 0, members[0][1]) + 1 : members[0][1]].strip()
    indent = _indent_of_line(text, members[0][1]) if starts_line else outer + _unit(text)
    if "\n" not in text[end : value.end]:  # the brace stands behind it on its line
        after = newline + outer + after.lstrip(" \t")
    return f"{before}{newline}{indent}{json.dumps(key)}: {_written(member, indent, newline)}{after}"


def _nested(path: tuple[str, ...], member: Any) -> Any:
    for key in reversed(path):
        member = {key: member}
    return member


def _written(value: Any, indent: str, newline: str) -> str:
    unit = indent[:1] if indent.startswith("\t") else _DEFAULT_INDENT
    return (newline + indent).join(json.dumps(value, indent=unit, ensure_ascii=False).split("\n"))


def _unit(text: str) -> str:
    """What one level is indented by in this file."""
    first = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return first[1] if first else _DEFAULT_INDENT


def _indent_of_line(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _without_blank_line(text: str, start: int, end: int) -> str:
    """Cut a part out, with its line if nothing else is on it."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    if line_end >= 0 and not text[line_start:start].strip() and not text[end:line_end].strip():
        return text[:line_start] + text[line_end + 1 :]
    return text[:start] + text[end:].removeprefix(" ")
