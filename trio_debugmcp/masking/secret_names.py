"""Which names are those of secrets, and which values look as if drawn at random.

    names_secret("config['apiKey']")                    # True
    names_secret("api_key_file")                        # False
    looks_random("9f86d081884c7d659a2feaa0c55ad015")    # True
    looks_random("tests/test_tokens.py")                # False

Neither says much alone: a hash is as random as a key, and most tokens are those of a parser. Together they do.
"""

import math
import re
from collections import Counter
from itertools import pairwise

MIN_LENGTH = 16
"""Characters of a value that counts as random. Shorter ones are words, numbers and names too often."""

MIN_ENTROPY = 2.7
"""Bits a character. Of sixteen random hexadecimal digits almost all have more; repeated patterns have less."""

MAX_RUN = 4.0
"""Characters of letters of one case, or of digits, on average between two changes. Random text has about two,
words have five and more; and 1 of 100 random texts of 24 characters would be missed at three."""

MAX_RUN_WITHOUT_DIGITS = 2.5
"""The same where almost all are letters, as in the names of classes."""

MIN_DIGITS = 2
"""From here on a value is not taken for a name."""

MIN_LETTERS = 3
"""Below, it is a number."""

_WORDS = frozenset(
    [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "credential",
        "credentials",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "authkey",
        "auth",
        "authorization",
        "authtoken",
        "accesstoken",
        "secrets",
        "bearer",
    ]
)

_BEFORE_KEY = frozenset(
    [
        "api",
        "access",
        "secret",
        "private",
        "auth",
        "account",
        "signing",
        "encryption",
        "master",
        "shared",
        "storage",
        "subscription",
        "license",
        "service",
    ]
)
"""What makes `key`, which alone is any key of a dict, that of a secret."""

_HARMLESS = frozenset(
    [
        "id",
        "ids",
        "file",
        "filename",
        "path",
        "dir",
        "directory",
        "url",
        "uri",
        "endpoint",
        "type",
        "kind",
        "name",
        "names",
        "field",
        "header",
        "prefix",
        "suffix",
        "len",
        "length",
        "count",
        "size",
        "limit",
        "index",
        "pos",
        "position",
        "time",
        "expires",
        "expiry",
        "expiration",
        "at",
        "ttl",
        "age",
        "pattern",
        "regex",
        "re",
        "class",
        "cls",
        "format",
        "scheme",
        "method",
        "provider",
        "fingerprint",
    ]
)
"""Last words of the names of things that belong to a secret and are not its value."""

_NAME = re.compile(r"[A-Za-z_][\w-]*")

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

SIGNS = ["token", "secret", "passw", "passphrase", "pwd", "credential", "key", "auth", "bearer"]
"""One of these, in lower case, is in each name of a secret: a quick look before a long one."""


def names_secret(name: str) -> bool:
    """Return whether a name, or one of the names in an expression, is that of a secret."""
    return any(sign in name.lower() for sign in SIGNS) and any(_names_secret(part) for part in _NAME.findall(name))


def _names_secret(name: str) -> bool:
    parts = [part.lower() for part in _PART.findall(name)]
    if not parts or parts[-1] in _HARMLESS:
        return False
    pairs = pairwise(parts)
    return not _WORDS.isdisjoint(parts) or any(key == "key" and word in _BEFORE_KEY for word, key in pairs)


_HEX_KEY = re.compile(r"[0-9a-fA-F]{32,}")
"""As keys and tokens are most often written, of 128 bits and more. Words and names of these letters are shorter."""

MIN_HEX_ENTROPY = 2.5
"""Bits a digit. Zeros, and `0123` again and again, have less; of random keys of 32 digits one in a million has."""


def looks_random(value: str) -> bool:
    """Return whether a value is long, in one word, and without words and numbers as people write them."""
    if len(value) < MIN_LENGTH or value.startswith(("/", "./", "~")) or "://" in value or re.search(r"\s", value):
        return False
    if _HEX_KEY.fullmatch(value):  # by chance it may have few letters, long runs, or some digits too often
        return entropy(value) >= MIN_HEX_ENTROPY
    runs = _RUN.findall(value)
    letters, digits = sum(character.isalpha() for character in value), sum(character.isdigit() for character in value)
    longest = MAX_RUN if digits >= MIN_DIGITS else MAX_RUN_WITHOUT_DIGITS
    if letters < MIN_LETTERS or sum(map(len, runs)) > longest * len(runs):
        return False
    if digits < MIN_DIGITS and not value.isalnum():  # names of code, with dots and underscores
        return False
    return entropy(value) >= MIN_ENTROPY


def entropy(value: str) -> float:
    """Return the bits of information in each character, judged by how often each one occurs."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values())
