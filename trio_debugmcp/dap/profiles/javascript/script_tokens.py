"""The words and signs of JavaScript and TypeScript, and which of them belong together. Pure.

    tokens = ScriptTokens("f({ a: 1 });")
    tokens.closing[1]       # 7: the bracket that closes the first one

Comments, texts and regular expressions are blanked before: they hold brackets and words that are none of the code.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

_QUIET = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)
    |"(?:[^"\\\n]|\\(?:.|\Z))*(?:"|(?P<double>$))
    |'(?:[^'\\\n]|\\(?:.|\Z))*(?:'|(?P<single>$))
    |`(?:[^`\\]|\\(?:.|\Z))*(?:`|(?P<template>\Z))
    |(?:(?<=[=(,:;!&|?{}\[\n>])|(?<=return))[ \t]*/(?![*/])
     (?:[^/\\\n\[]|\\(?:.|\Z)|\[(?:[^\]\\\n]|\\(?:.|\Z))*(?:\]|$))+(?:/[a-z]*|(?P<pattern>$))""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
"""What holds brackets and words that are none of the code. One that nothing closes has a name: it ends with its line,
or its file, so that what follows is not looked through from each of its quotes.
"""

_MOST_UNQUOTED = 200
"""Characters behind a quote that nothing closes, as an apostrophe in JSX, which are looked through for others."""

MOST_TOKENS = 200
"""In which the end of something is looked for: more are of no type and no expression that people write."""

_TOKEN = re.compile(r"""[A-Za-z_$#][\w$]*|=>|[=!<>]=+|"[ ]*"|'[ ]*'|`[^`]*`|\S""")

_TYPE_GOES_ON = frozenset((":", "|", "&", "<", ",", "=>", "is", "extends", "keyof", "typeof", "readonly", "infer"))
"""Before a brace that is of a type, and begins no body."""

_CLOSED_BY = {")": "(", "]": "[", "}": "{"}


def _blanked(found: re.Match[str]) -> str:
    """As many characters in as many lines; of a text its quotes stay, as a statement may begin with one."""
    text = found[0]
    if found.lastgroup is not None:
        return text[0] + _QUIET.sub(_blanked, text[1:]) if len(text) < _MOST_UNQUOTED else text
    if text.startswith(("//", "/*")):
        return re.sub(r"[^\n]", " ", text)
    quote = text[0] if text[0] in "\"'`" else "`"
    space = len(text) - len(text.lstrip())
    inside = re.sub(r"[^\n]", " ", text[space + 1 : -1])
    return f"{text[:space]}{quote}{inside}{quote}" if len(text) > space + 1 else text


class ScriptTokens:
    """Those of a text, by their numbers.

    Attributes:
        words: each of them.
        closing: the token that closes each bracket; one that nothing closes has none.
    """

    def __init__(self, text: str) -> None:
        bare = _QUIET.sub(_blanked, text)
        found = list(_TOKEN.finditer(bare))
        self.words = [each[0] for each in found]
        self.closing = _closing(self.words)
        self._opening = {closes: opens for opens, closes in self.closing.items()}
        self._starts = [each.start() for each in found]
        self._ends = [each.end() for each in found]
        self._lines = [0, *(each.end() for each in re.finditer(r"\r\n|[\n\r\u2028\u2029]", bare))]

    def __repr__(self) -> str:
        return f"<ScriptTokens: {len(self.words)}>"

    def word(self, token: int) -> str:
        """Return a token, empty where there is none."""
        return self.words[token] if 0 <= token < len(self.words) else ""

    def around(self) -> list[int | None]:
        """Return the bracket that each token is directly in."""
        inside: list[int | None] = []
        opened: list[int] = []
        for token in range(len(self.words)):
            if token in self._opening:
                opened.pop()
            inside.append(opened[-1] if opened else None)
            if token in self.closing:
                opened.append(token)
        return inside

    def is_alternative(self, token: int) -> bool:
        """Whether a `?` stands before a token, with no comma in between: what it chooses between."""
        before, end = token - 1, max(0, token - MOST_TOKENS)
        while before >= end and self.words[before] not in (",", ";", "{", "(", "?"):
            before = self._opening.get(before, before) - 1
        return before >= end and self.words[before] == "?"

    def line(self, token: int) -> int:
        """Return the line of a token."""
        return bisect_right(self._lines, self._starts[token]) if token < len(self._starts) else len(self._lines) + 1

    def place(self, token: int) -> tuple[int, int | None]:
        """Return the line of a token, and its column if others stand before it in that line."""
        line = self.line(token)
        start, begins = self._starts[token], self._lines[line - 1]
        return line, start - begins + 1 if token and self._ends[token - 1] > begins else None

    def behind_generics(self, token: int) -> int:
        """Return the token behind the parameters of types that begin here."""
        depth, end = 0, min(len(self.words), token + MOST_TOKENS)
        while token < end:
            depth += {"<": 1, ">": -1}.get(self.words[token], 0)
            token = self.closing.get(token, token) + 1
            if depth <= 0:
                break
        return token

    def behind_type(self, token: int, *, arrow: bool) -> int | None:
        """Return where the body of a function is, by what stands behind its parameters; None if it has none."""
        opening = "=>" if arrow else "{"
        before = ":" if self.word(token) == ":" else ""
        token += bool(before)
        end = token + MOST_TOKENS
        while token < end and (word := self.word(token)) and word not in (";", ")", "]", "}", "="):
            if word == opening and before not in (_TYPE_GOES_ON if not arrow else ()):
                return token + arrow
            if not before:
                return None
            before = word
            token = self.closing.get(token, token) + 1
        return None

    def end_of_expression(self, token: int) -> int:
        """Return the last token of an expression: before a comma, an end, or a line that begins with a name."""
        end = min(len(self.words), token + MOST_TOKENS)
        while (following := self.closing.get(token, token) + 1) < end:
            word = self.words[following]
            ends = word in (",", ";", ")", "]", "}")
            if ends or (is_name(word) and self.line(following) > self.line(following - 1)):
                break
            token = following
        return self.closing.get(token, token)

    def behind_declaration(self, token: int) -> int | None:
        """Return the token behind what runs nothing where it stands; None if this is a statement that does."""
        word, following = self.word(token), self.word(token + 1)
        if word == ";":
            return token + 1
        if word[0] in "\"'" and (following in (";", "}") or self.line(token + 1) > self.line(token)):
            return token + 1
        if word in ("async", "abstract") and following in ("function", "class"):
            token, word = token + 1, following
        if word in ("function", "class", "interface") and (opens := self.block(token)) is not None:
            return self.closing.get(opens, opens) + 1
        return self.end_of_expression(token) + 1 if word == "type" and is_name(following) else None

    def block(self, token: int) -> int | None:
        """Return the next block, outside of types."""
        end = min(len(self.words), token + MOST_TOKENS)
        while token < end and (self.words[token] != "{" or self.words[token - 1] in _TYPE_GOES_ON):
            token = self.closing.get(token, token) + 1
        return token if token < end else None


def _closing(words: Sequence[str]) -> dict[int, int]:
    """Return the token that closes each bracket; one that nothing closes has none."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    for token, word in enumerate(words):
        if word in ("(", "[", "{"):
            opened.append(token)
        elif word in _CLOSED_BY and any(words[each] == _CLOSED_BY[word] for each in opened[-_MOST_UNCLOSED:]):
            while words[opened[-1]] != _CLOSED_BY[word]:
                opened.pop()
            closing[opened.pop()] = token
    return closing


_MOST_UNCLOSED = 50
"""Brackets that are looked through for the one that a bracket closes, where others in between are not closed."""


def is_name(word: str) -> bool:
    """Whether a token is a name or a word of the language."""
    return word[:1].isalpha() or word[:1] in ("_", "$", "#")
