"""The forms of secrets: patterns, each with what a text must have for it to match.

The forms of vendors' keys come from detect-secrets, as data (`detect_secrets.json`, made by scripts/_secret_rules.py):
that package itself would bring `requests` and its import time. It lacks forms that are newer than its last release,
and it finds where a secret begins, not always where it ends; that is here.

A pattern is compiled when a text first has one of its keywords: most processes compile none.
"""

import json
import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from trio_debugmcp.masking.secret_names import SIGNS, entropy, looks_random, names_secret

MIN_ENTROPY = 2.5
"""Bits a character of a key. Placeholders such as `ghp_xxxxxxxx` have less."""

_TAIL = re.compile(r"[A-Za-z0-9_-]*")

_WORD_START = r"(?<![A-Za-z0-9_-]{6})"
"""Not far inside a word, where no key begins: of a long word only the beginning is tried."""

_ESCAPE = re.compile(r"(?:\\[nrtabfv]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[\d;]*m)$", re.IGNORECASE)
"""Ends in a letter or digit but does not continue a word: escape sequences of strings, of URLs, and of terminals."""

MIN_LENGTH = 11
"""Characters of the shortest text with a secret: a URL with a password of three."""

_LONG = re.compile(r"[A-Za-z0-9_.:+=-]{20,}")
"""A word that may be a key of a vendor's, all of which are as long. Most texts have few: paths are split at slashes."""


class Text:
    """A text to be searched, in the ways in which rules look for their keywords."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()
        self.long = "\n".join(_LONG.findall(text))


class SecretRule:
    """A form of secrets.

    Attributes:
        label: what stands for the secret, together with its length.
        keywords: each match has one of them, in lower case if `any_case`; in a long word unless `anywhere`.
    """

    def __init__(
        self,
        label: str,
        keywords: list[str],
        pattern: str,
        any_case: bool = False,
        *,
        bits: float = MIN_ENTROPY,
        inside: bool = False,
        anywhere: bool = False,
    ) -> None:
        self.label = label
        self.keywords = [keyword.lower() for keyword in keywords] if any_case else keywords
        self._anywhere = anywhere or inside
        self._source = pattern if self._anywhere else f"{_WORD_START}(?:{pattern})"
        self._flags = re.IGNORECASE if any_case else re.NOFLAG
        self._any_case = any_case
        self._bits = bits
        self._inside = inside

    def __repr__(self) -> str:
        return f"<Rule {self.label}>"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    @property
    def in_long_words(self) -> bool:
        """Whether only long words can match."""
        return not self._anywhere and not self._any_case

    def may_match(self, content: Text) -> bool:
        """Return whether a text has one of the keywords."""
        within = content.lower if self._any_case else content.text if self._anywhere else content.long
        return any(keyword in within for keyword in self.keywords)

    def find(self, content: Text) -> Iterator[tuple[int, int]]:
        """Yield where this form is in a text."""
        if not self.may_match(content):
            return
        text = content.text
        for match in self._pattern.finditer(text):
            start, end = match.span("secret" if self._inside else 0)
            if not self._anywhere:
                if not _begins(text, start):
                    continue
                end = _end_of_key(text, end)
            if entropy(text[start:end]) >= self._bits and self.holds(match):
                yield start, end

    def holds(self, match: re.Match[str]) -> bool:
        """Return whether a match of the pattern is a secret after all."""
        return True


_LETTERS = re.compile(r"[A-Za-z]*$")

_MAX_BEFORE = 30
"""Letters that are taken to the name in front of what makes it that of a secret: the `signing` of `signing_key`."""


class _NamedRule(SecretRule):
    """A value beside a name, as in source, in the repr of a dict, in a query and in a header."""

    def holds(self, match: re.Match[str]) -> bool:
        calls = match.string[match.end() : match.end() + 1] in ("(", "[")  # source: `token = base64.b64decode(…)`
        before = _LETTERS.search(match.string, max(0, match.start("name") - _MAX_BEFORE), match.start("name"))
        name = (before[0] if before is not None else "") + match["name"]
        return not calls and names_secret(name) and looks_random(match["secret"])


class _HeaderRule(SecretRule):
    """Credentials in a header. Without a scheme before them they may be a word of a program's source."""

    def holds(self, match: re.Match[str]) -> bool:
        word = match["secret"]
        if match["scheme"] is None:
            return looks_random(word)
        return any(letter.isdigit() or letter.isupper() for letter in word)


class _UrlRule(SecretRule):
    """The password of a URL, unless it is a word that stands for one."""

    def holds(self, match: re.Match[str]) -> bool:
        word = match["secret"].lower().strip("$%*.-_")
        return word not in _PLACEHOLDERS and not word.isdecimal()


_PLACEHOLDERS = frozenset(("", "pass", "passwd", "password", "pwd", "secret", "token", "xxx", "xxxx", "xxxxx"))


def _begins(text: str, start: int) -> bool:
    """Return whether a word begins there."""
    before = text[max(0, start - 12) : start]
    return not before or not before[-1].isalnum() or _ESCAPE.search(before) is not None


def rules_for(content: Text) -> list[SecretRule]:
    """Return the forms that a text may have: without a long word only those that look elsewhere for their keywords."""
    if len(content.text) < MIN_LENGTH:
        return []
    return rules() if content.long else _rules_without_long_words()


@cache
def _rules_without_long_words() -> list[SecretRule]:
    return [rule for rule in rules() if not rule.in_long_words]


def _end_of_key(text: str, end: int) -> int:
    """Return where the word ends: forms give the least length of a key."""
    rest = _TAIL.match(text, end)
    return end if rest is None else rest.end()


_QUOTES = r"(?:\\*[\"'`])?"
"""A quote at any depth of quoting."""

_OPENING = r"(?:[rbfu]{0,2}\\*[\"'`])?"
"""One that begins a string."""

_BODY = r"[A-Za-z0-9+/=\s\\\"'>|:,.-]"
"""What a private key has between its first line and its last, as PEM and in source, with its headers."""

_KEY_BLOCK = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]{0,8000}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    rf"|{_BODY}*)"
)

_ASSIGNMENT = (
    r"(?P<name>(?:token|secret|passw|passphrase|pwd|credential|bearer|[_-]key|api_?key|access_?key|private_?key|auth)[\w-]{0,30})"
    rf"{_QUOTES}\]?\s{{0,3}}(?:=>|:=|[:=,])\s{{0,3}}{_OPENING}"
    r"(?P<secret>(?:[A-Za-z0-9+/=_.~!@#$%^*-]|&(?!\w+=)){16,})"
)

_OPTION = (
    r"(?<![\w-])--?(?P<name>(?:[a-z0-9]+[_-]){0,4}(?:token|secret|passw|passphrase|pwd|credential|key|auth)[\w-]{0,30})"
    rf"\s{{1,3}}{_OPENING}(?P<secret>[A-Za-z0-9+/=_.~!@#$%^*-]{{16,}})"
)
"""An option and the next word of a command line; where they are one word, or two of a list, it is an assignment."""

_NAME_AND_VALUE = (
    r"\bname\\*[\"']\s?:\s?\\*[\"'](?P<name>[\w.\[\]'-]{3,80})\\*[\"'],\s?\\*[\"']value\\*[\"']\s?:\s?"
    rf"(?:\\*[\"']){{1,2}}{_OPENING}(?P<secret>[A-Za-z0-9+/=_.~!@#$%^*-]{{16,}})"
)
"""An object with a name and a value, as JSON in a text."""

_HEADER = (
    rf"authorization{_QUOTES}\s{{0,3}}[:=,]\s{{0,3}}{_OPENING}"
    r"(?:(?P<scheme>bearer|basic|token|negotiate|apikey|bot)\s+)?(?P<secret>[A-Za-z0-9+/=_.~:-]{8,})"
)

_FORMS: list[tuple[str, list[str], str]] = [
    ("Anthropic key", ["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", ["sk-proj-", "sk-svcacct-", "sk-admin-"], r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    ("GitHub token", ["github_pat_"], r"github_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", ["glpat-", "gldt-", "glft-", "glrt-"], r"gl(?:pat|dt|ft|rt)-[A-Za-z0-9_.-]{20,}"),
    ("Google key", ["AIza"], r"AIza[A-Za-z0-9_-]{35}"),
    ("Google token", ["ya29."], r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("Google secret", ["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Hugging Face token", ["hf_"], r"hf_[A-Za-z0-9]{30,}"),
    ("npm token", ["npm_"], r"npm_[A-Za-z0-9]{36}"),
    ("Slack token", ["xapp-", "xoxe"], r"(?:xapp-\d-|xoxe(?:\.xox[bp])?-\d-)[A-Za-z0-9-]{20,}"),
    ("Stripe key", ["k_test_"], r"[rs]k_test_[0-9a-zA-Z]{24}"),
    ("DigitalOcean token", ["do"], r"do[opr]_v1_[a-f0-9]{64}"),
    ("Docker token", ["dckr_"], r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}"),
    ("Databricks token", ["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("Grafana token", ["glsa_", "glc_eyJ"], r"(?:glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|glc_eyJ[A-Za-z0-9+/]{32,}=*)"),
    ("Vault token", ["hvs.", "hvb."], r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    ("Shopify token", ["shp"], r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("RubyGems key", ["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    ("Groq key", ["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    ("Sentry token", ["sntrys_eyJ", "sntryu_"], r"(?:sntrys_eyJ|sntryu_)[A-Za-z0-9+/=_-]{40,}"),
    ("Artifactory token", ["AKCp"], r"AKCp[A-Za-z0-9]{60,}"),
    ("Atlassian token", ["ATATT3"], r"ATATT3[A-Za-z0-9_=-]{50,}"),
    ("Tailscale key", ["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}"),
    ("age key", ["AGE-SECRET-KEY-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
]
"""Forms that their vendors have introduced or published, and that detect-secrets 1.5.0 lacks."""

_CUT = (
    _WORD_START
    + r"(?:gh[pousr]_|github_pat_|sk-ant-|sk-proj-|glpat-|npm_|pypi-AgE|hf_|eyJ|A[KS]IA|AIza|xox[abp]-|hvs\."
    r"|dop_v1_|shpat_|[rs]k_live_|gsk_|SG\.)[A-Za-z0-9_.-]{6,}(?=\\*[\"']?(?:…|\\+u2026))"
)
"""A key at the place where a value was cut, too short for its own form."""

_URL = (
    r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@\"'<>\\\[\]{}]{0,80}:(?P<secret>[^\s/@\"'<>\\{}\[\]]{3,200})"
    r"(?:@[\w\[]|@?\\*[\"']?… \(\+\d)"
)
"""The password of a URL is followed by a host, or by the place where the value was cut."""


@cache
def rules() -> list[SecretRule]:
    """Return all forms; of two that match, the earlier one gives the label."""
    data: dict[str, Any] = json.loads(Path(__file__).with_name("detect_secrets.json").read_text("utf-8"))
    return [
        SecretRule("private key", ["PRIVATE KEY"], _KEY_BLOCK, bits=0, anywhere=True),
        SecretRule(
            "JSON Web Token", ["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}"
        ),
        *(SecretRule(**rule) for rule in data["rules"]),
        *(SecretRule(label, keywords, pattern) for label, keywords, pattern in _FORMS),
        SecretRule("cut key", ["…", "\\u2026"], _CUT, anywhere=True),
        _UrlRule("password", ["://"], _URL, bits=0, inside=True),
        _HeaderRule("credentials", ["authorization"], _HEADER, True, inside=True),
        _NamedRule("secret", SIGNS, _ASSIGNMENT, True, inside=True),
        _NamedRule("secret", SIGNS, _OPTION, True, inside=True),
        _NamedRule("secret", SIGNS, _NAME_AND_VALUE, True, inside=True),
    ]
