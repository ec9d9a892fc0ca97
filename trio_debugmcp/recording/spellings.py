r"""The spellings of a secret, and their replacement in JSON text. Pure.

    secrets = Secrets()
    secrets.add("-----BEGIN KEY-----\nMIIE…")
    text = secrets.replace(text, b"[redacted]")

A debugger shows one value in many ways: as JSON, as Python's repr inside JSON, as JSON inside JSON (the text copy of a
tool's result), cut after 200 characters, or only its end. Every spelling of a secret is found, and so is a long enough
beginning, end or line of it. What is left is the same JSON with a mark in the secret's place: a replacement never cuts
an escape sequence in two.
"""

import json
import re
from collections.abc import Callable
from urllib.parse import quote

NESTING = 4
"""How often JSON may be within JSON: an object that a program prints, in a value, in the text of a tool's result, in a
message."""

MAX_SPELLINGS = 200
"""Of one text. Plain ASCII text has one, a text with quotes, line breaks and umlauts about a hundred."""

PART_LENGTH = 16
"""Characters of a secret's beginning, end or line that are taken out alone. A shorter part appears by chance."""

MAX_MIDDLE_BYTES = 4096
"""Of a spelling, in which pieces from its middle are found: as many as a token or a line of a key has."""

_HALF_ESCAPE = re.compile(rb"\\+(u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")

_LONGEST_ESCAPE = 64
"""Bytes before a match in which the escape sequence that it cuts is looked for: `\\u00e9`, quoted `NESTING` times."""

_Around = tuple[dict[bytes, None], dict[bytes, None]]
"""What may precede a sign, and what may follow it."""

_Signs = dict[bytes, _Around]


class Secrets:
    """What has to be replaced, so that neither a secret nor a long part of it stays in any spelling.

    A short spelling is searched for as it is. Of a long one the first and the last characters are searched for, its
    *signs*, and so is every block of the plain one; a match extends from there as far as the text agrees with the rest.
    """

    def __init__(self) -> None:
        # By sign, all that may precede and follow it: beginnings are alike (`-----BEGIN PRIVATE KEY`), and of the
        # spellings that a sign may belong to, only the right one agrees to its end.
        self._signs: _Signs = {}
        self._middles: _Signs = {}

    def __repr__(self) -> str:
        return f"<Secrets, {len(self._signs)} signs>"

    def add(self, secret: str) -> None:
        """Have a text replaced from now on, each of its lines if these are long, and their beginnings and ends."""
        for spelling in spellings(secret):
            if len(spelling) <= PART_LENGTH:
                _add(self._signs, b"", spelling, b"")
            else:
                _add(self._signs, b"", spelling[:PART_LENGTH], spelling[PART_LENGTH:])
                _add(self._signs, spelling[:-PART_LENGTH], spelling[-PART_LENGTH:], b"")
                if b"\\" not in spelling:
                    self._add_middle(spelling[:MAX_MIDDLE_BYTES])
        lines = secret.splitlines()
        for line in lines if len(lines) > 1 else ():
            if len(line) >= PART_LENGTH:
                self.add(line)

    def _add_middle(self, spelling: bytes) -> None:
        """Have each piece replaced that has one of the spelling's blocks: any of twice their length has."""
        for at in range(PART_LENGTH, len(spelling) - 2 * PART_LENGTH + 1, PART_LENGTH):
            _add(self._middles, spelling[:at], spelling[at : at + PART_LENGTH], spelling[at + PART_LENGTH :])

    def replace(self, text: bytes, mark: bytes) -> bytes:
        """Return a JSON text with a mark in the place of each secret; it is valid JSON as before."""
        # Middles last: they would take a piece out of what another sign finds whole.
        for signs in (self._signs, self._middles):
            for sign, around in signs.items():
                if sign in text:
                    text = self._replaced(text, sign, around, mark)
        return text

    def _replaced(self, text: bytes, sign: bytes, around: _Around, mark: bytes) -> bytes:
        kept: list[bytes] = []
        done, at = 0, text.find(sign)
        while at >= 0:
            start, end = self._extent(text, at, done, sign, around)
            kept += (text[done:start], mark)
            done, at = end, text.find(sign, end)
        return b"".join((*kept, text[done:]))

    def _extent(self, text: bytes, at: int, least: int, sign: bytes, around: _Around) -> tuple[int, int]:
        """Where the match at `at` begins and ends, not before `least` and without half an escape sequence."""
        befores, afters = around
        start, end = at, at + len(sign)
        start -= max(_agreeing(before[::-1], text[max(least, at - len(before)) : at][::-1]) for before in befores)
        agreeing, whole = max(
            (agreeing := _agreeing(after, text[end : end + len(after)]), agreeing == len(after)) for after in afters
        )
        end += agreeing
        if not whole:  # cut: the last backslashes may belong to what follows
            end = at + len(text[at:end].rstrip(b"\\"))
        if half := _HALF_ESCAPE.search(text[max(least, start - _LONGEST_ESCAPE) : start]):
            start -= len(half[0])
        elif text[start : start + 1] == b'"':  # the end of a JSON string that happens to be the secret's next character
            start += 1
        return _whole_characters(text, start, end)


def _add(signs: _Signs, before: bytes, sign: bytes, after: bytes) -> None:
    befores, afters = signs.setdefault(sign, ({}, {}))
    befores[before] = afters[after] = None


def _whole_characters(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Move both ends of a match outwards, out of the midst of UTF-8 characters."""
    while text[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(text) and text[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def spellings(text: str) -> list[bytes]:
    """Return how a text may be spelled in a line of JSON, shortest first."""
    plain = {text, _latin(text), quote(text, safe="")}
    quoted = {quoted(spelling) for spelling in plain | {_json(text), _json_ascii(text)} for quoted in _REPRS}
    spelled = newest = dict.fromkeys(sorted(plain | quoted, key=len))
    for _ in range(NESTING):
        newest = dict.fromkeys(
            made for spelling in newest for made in (_json(spelling), _json_ascii(spelling)) if made not in spelled
        )
        spelled |= newest
    encoded = dict.fromkeys(spelling.encode(errors="replace") for spelling in spelled)
    # What JSON would escape is not in a line as it is. Searched for, it could match in the midst of an escape sequence.
    return sorted((spelling for spelling in encoded if _is_json_content(spelling)), key=len)[:MAX_SPELLINGS]


def _is_json_content(text: bytes) -> bool:
    try:
        json.loads(b'"' + text + b'"')
    except ValueError:
        return False
    return True


def _latin(text: str) -> str:
    """As the bytes of the text look to who takes them for Latin-1."""
    return text.encode(errors="replace").decode("latin-1")


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _json_ascii(text: str) -> str:
    return json.dumps(text)[1:-1]


def _repr(text: str) -> str:
    return repr(text)[1:-1]


def _repr_with_both_quotes(text: str) -> str:
    return repr(text + "'\"")[1:-4]


def _ascii(text: str) -> str:
    return ascii(text)[1:-1]


def _bytes(text: str) -> str:
    return repr(text.encode(errors="replace"))[2:-1]


_REPRS: tuple[Callable[[str], str], ...] = (_repr, _repr_with_both_quotes, _ascii, _bytes)


def _agreeing(text: bytes, other_text: bytes) -> int:
    """Return how many bytes of two texts are the same from the start."""
    if other_text.startswith(text):
        return len(text)
    return next(
        (at for at, (one, other) in enumerate(zip(text, other_text, strict=False)) if one != other), len(other_text)
    )
