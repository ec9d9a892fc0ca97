"""Texts and values with a label in the place of each secret.

    masked("export GH=ghp_" + 36 * "…")                 # "export GH=<GitHub token, 40 characters>"
    masked_value("api_key", "'9f86d081884c7d65…'")      # "'<secret, 32 characters>'"

What is masked once stays as it is. A text of 16 KB without secrets costs a quarter of a millisecond.
"""

import re
from functools import cache, lru_cache

from msgspec import Struct

from trio_debugmcp.masking.rules import Text, rules, rules_for
from trio_debugmcp.masking.secret_names import looks_random, names_secret

CUT = "…"
"""Where a text was cut; before it a key may be too short for its own form."""

MAX_ROUNDS = 5
"""Of looking again at what has been masked: a secret right behind another one is found only then."""

_RENDERED = re.compile(
    r"(?P<before>(?:[rbfuRBFU]{0,2}(?P<quote>['\"]))?)(?P<content>.*?)"
    r"(?P<after>(?(quote)(?P=quote))(?:….*)?(?: \([\w.]+\))?)",
    re.DOTALL,
)
"""A value as languages render it: perhaps in quotes, perhaps cut, perhaps with its type behind."""


_WORD = re.compile(r"[A-Za-z0-9+/=_.~!@#$%^&*-]{16,}")
"""A word that may be random, among others: of a message, or of a list."""


class Finding(Struct, frozen=True):
    """Where a secret is, and of which kind."""

    start: int
    end: int
    label: str

    @property
    def mask(self) -> str:
        """The label and the length, as shown instead of the secret."""
        return f"<{self.label}, {self.end - self.start} characters>"


def findings(text: str) -> list[Finding]:
    """Return the secrets in a text, in order; none overlaps another."""
    content = Text(text)
    spans = [Finding(start, end, rule.label) for rule in rules_for(content) for start, end in rule.find(content)]
    spans.sort(key=lambda span: span.start)
    apart: list[Finding] = []
    for span in spans:
        if apart and span.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Finding(last.start, max(last.end, span.end), last.label)
        else:
            apart.append(span)
    return apart


def masked(text: str) -> str:
    """Return a text without its secrets. Line breaks within them stay, so that lines keep their numbers."""
    for _ in range(MAX_ROUNDS):
        secrets = findings(text)
        if not secrets:
            break
        for secret in reversed(secrets):
            start, end = secret.start, secret.end
            text = text[:start] + secret.mask + "\n" * text.count("\n", start, end) + text[end:]
    return text


def masked_beginning(text: str, most: int) -> str:
    """Return at most so many characters of a text. It is masked first: a part of a secret is not known as one."""
    if len(text) <= most:
        return text
    text = masked(text)
    return text if len(text) <= most else f"{text[: most - 1].rstrip(CUT)}{CUT}"


def masked_value(name: str, rendered: str, seen: set[str] | None = None) -> str:
    """Return a rendered value without secrets; beside the name of a secret without anything that looks random.

    `name`: a name, an expression, or a message with expressions in it. `seen` gets what was masked for its name.
    """
    text = masked(rendered)
    if not names_secret(name):
        return text

    def mask(secret: str) -> str:
        if seen is not None:
            seen.add(secret)
        return secret_mask(secret)

    match = _RENDERED.fullmatch(text)
    # Without quotes around it, what begins with a bracket is a list or the like: its items are masked each by itself.
    is_one = match is not None and (match["quote"] or match["content"][:1] not in ("[", "(", "{"))
    if match is not None and is_one and looks_random(match["content"]):
        return match["before"] + mask(match["content"]) + match["after"]
    return _WORD.sub(lambda word: mask(word[0]) if looks_random(word[0]) else word[0], text)


def secret_mask(secret: str) -> str:
    """Return what is shown in the place of something that is a secret by its name."""
    return Finding(0, len(secret), "secret").mask


@lru_cache(maxsize=2)  # of one answer it is asked for the client, for the timeline, and for people who look on
def may_hold_secret(text: str) -> bool:
    """Return whether a JSON text may hold a secret: a quick look, as JSON escapes no part of a keyword."""
    content = Text(text)
    return any(rule.may_match(content) for rule in rules_for(content))


@cache
def _mask_pattern() -> re.Pattern[str]:
    labels = "|".join(sorted({re.escape(rule.label) for rule in rules()}))
    return re.compile(rf"<(?:{labels}), \d+ characters>")


def with_mark(text: str, mark: str) -> str:
    """Return a text with this mark in the place of each mask."""
    return _mask_pattern().sub(mark, text)


def mask_in(text: str) -> str | None:
    """Return the first mask that a text has in it."""
    match = _mask_pattern().search(text)
    return None if match is None else match[0]
