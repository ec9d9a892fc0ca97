"""`Redactor`: takes out what a recording must not hold: tokens, passwords, and the values of environment variables.

    redactor = Redactor(["control-token-77"])
    redactor.message(b'{"env": {"API_TOKEN": "abcdef"}}')       # {"env": {"API_TOKEN": "[redacted]"}}

Names are kept, values are replaced by a mark. Two rules find them. By place: an environment, a header, what follows an
option such as `--token`. By value: what was found so, if its name is that of a secret, is searched for in every later
line, in all the spellings of `recording/spellings.py`. And by what answers mask: forms of keys, and what looks random
beside the name of a secret (`masking/`).
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from trio_debugmcp.masking.mask import may_hold_secret, with_mark
from trio_debugmcp.masking.masked_answers import masked_json
from trio_debugmcp.recording.spellings import Secrets

MARK = "[redacted]"
_MARK = MARK.encode()

MIN_SECRET_LENGTH = 6
"""Characters of a text that is taken out wherever it appears. Shorter texts appear by chance, and are not secrets."""

MIN_INHERITED_LENGTH = 8
"""The same for variables that the server was started with: more of them are not secrets, such as `AUTH=basic`."""

_SECRET_WORDS = r"token|secret|passw|passphrase|credential|api[-_]?key|private[-_]?key|access[-_]?key"

_SECRET_NAME = re.compile(rf"{_SECRET_WORDS}|auth(?!or)", re.IGNORECASE)

_OPTION = rf"--?(?:[a-z0-9]+[-_])*(?:(?:{_SECRET_WORDS})[a-z]*(?:[-_][a-z0-9]+)*|auth)"
"""An option of a command line whose value is a secret. Not `--author`."""

_SECRET_OPTION = re.compile(_OPTION, re.IGNORECASE)

_BEARER = re.compile(r"\b(bearer[ .])[A-Za-z0-9._~+/=-]+", re.IGNORECASE)

_STRUCTURED = (b"trio_debugmcp engine ", b'"env', b'"authorization', b'"-', b"access_token=")
"""In lower case. Most messages contain none of these and need not be decoded."""

_WORD = r"(?:[^\s\"'\\,]|\\+u[0-9a-f]{4}|\\+x[0-9a-f]{2})+"
"""A word in a text, at any depth of quoting."""

_NEXT = r"(?:=(?:\\*[\"'])?|[ \t]+|\\*[\"'],\s*\\*[\"'])"
"""Between an option and its value: as one word, as two words, or as two of a quoted list, be it JSON or a repr."""

_IN_TEXT = [
    (signs, re.compile(pattern.encode(), re.IGNORECASE))
    for signs, pattern in (
        (
            (b"token", b"secret", b"pass", b"credential", b"key", b"auth"),
            rf"(?<![\w-])({_OPTION}{_NEXT})(?![-\[]){_WORD}",
        ),
        ((b"bearer",), _BEARER.pattern),
        ((b"basic",), r"\b(authorization\\*[\"']?[:=,]\s*\\*[\"']?basic )[A-Za-z0-9._~+/=-]+"),
        ((b"access_token=",), r"(access_token=\\*[\"'])[\w-]+"),  # of a program that dials in
        ((b"trio_debugmcp engine ",), r"(trio_debugmcp engine )[\w-]+"),  # of one that fetches the engine
        ((b'"qr',), r"(\\*\"qr\\*\":\s*\\*\")[01/]+"),  # of `observe_link`, whose picture holds the token
        ((b"://",), r"(://[^/\s:@\"'\\\[]+:)[^@/\s\"'\\\[]+(?=@)"),  # the password of a URL
    )
]
"""Patterns for any text, at any depth of quoting, each with what, in lower case, it cannot match without: a search for
that costs a hundredth of the pattern's."""

_SCHEMA_MEMBERS = frozenset({"type", "anyOf", "$ref"})
"""One of these is in every JSON Schema of a parameter named `env`, as tool lists have it."""

_ENVIRONMENTS = frozenset({"env", "environment"})


class Redactor:
    """Takes secrets out of texts. `secrets` are known from the start; more are learned as they pass.

    `keep_recognized`: leave what only looks like a secret of the program, by its form or by the name beside it.
    """

    def __init__(self, secrets: Iterable[str] = (), *, keep_recognized: bool = False) -> None:
        self._secrets = Secrets()
        self._keep_recognized = keep_recognized
        for secret in secrets:
            self._learn(secret)

    def learn_environment(self, environment: Mapping[str, str]) -> None:
        """Learn the variables with a secret's name that the debugged programs inherit. A path is not a secret."""
        for name, value in environment.items():
            if _SECRET_NAME.search(name) and len(value) >= MIN_INHERITED_LENGTH and not value.startswith("/"):
                self._learn(value)

    def message(self, text: bytes) -> bytes:
        """Take all secrets out of a JSON text in one line."""
        if _has_one(text.lower(), _STRUCTURED):
            message = json.loads(text)
            clean = self._clean(message)
            if clean != message:
                text = json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
        return self.line(text)

    def line(self, text: bytes) -> bytes:
        """Take out of any JSON text the secrets that are known, and what its text shows to be one."""
        if not self._keep_recognized and may_hold_secret(text.decode(errors="replace")):
            text = self._without_recognized(text)
        small = text.lower()
        for signs, pattern in _IN_TEXT:
            if _has_one(small, signs):
                text = pattern.sub(rb"\g<1>" + _MARK, text)
        return self._secrets.replace(text, _MARK)

    def _without_recognized(self, text: bytes) -> bytes:
        message, found = json.loads(text), set[str]()
        clean = _marked(message, masked_json(message, found=found))
        for secret in found:
            self._learn(secret)
        return text if clean == message else json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode()

    def arguments(self, argv: Iterable[str]) -> list[str]:
        """Take out of a command line what follows an option with a secret's name, and learn it."""
        clean: list[str] = []
        hide = False
        for word in argv:
            option, equals, value = word.partition("=")
            if hide and not word.startswith("--"):
                self._learn(word)
                clean.append(MARK)
            elif equals and _SECRET_OPTION.fullmatch(option):
                self._learn(value)
                clean.append(f"{option}={MARK}")
            else:
                clean.append(_BEARER.sub(rf"\g<1>{MARK}", word))
            hide = _SECRET_OPTION.fullmatch(word) is not None
        return clean

    def _learn(self, secret: str) -> None:
        if len(secret) >= MIN_SECRET_LENGTH and secret != MARK:
            self._secrets.add(secret)

    def _clean(self, value: Any) -> Any:
        match value:
            case {"address": str(), "token": str(token), "python": str()}:  # of `debug_listen`; the line repeats it
                self._learn(token)
                return value
            case dict():
                return {key: self._clean_member(key, member) for key, member in value.items()}
            case list() if value and all(isinstance(item, str) for item in value):
                return self.arguments(value)
            case list():
                return [self._clean(item) for item in value]
            case str():
                return _BEARER.sub(rf"\g<1>{MARK}", value)
            case _:
                return value

    def _clean_member(self, key: str, value: Any) -> Any:
        if key.lower() in _ENVIRONMENTS:
            return self._clean_environment(value)
        if key.lower() == "authorization" and isinstance(value, str):
            return MARK
        return self._clean(value)

    def _clean_environment(self, value: Any) -> Any:
        """Clean an object by name, a list of `NAME=value`, or a list of objects with a name and a value."""
        match value:
            case Mapping() if not _is_schema(value):
                return {name: self._hidden(name, member) for name, member in value.items()}
            case list():
                return [self._clean_variable(variable) for variable in value]
            case _:
                return self._clean(value)

    def _clean_variable(self, variable: Any) -> Any:
        match variable:
            case str():
                name, _, value = variable.partition("=")
                return f"{name}={self._hidden(name, value)}"
            case {"name": str(name), "value": value}:
                return {**variable, "value": self._hidden(name, value)}
            case _:
                return MARK

    def _hidden(self, name: str, value: Any) -> Any:
        if value is None:  # the variable is removed from the environment, which is not a secret
            return None
        if _SECRET_NAME.search(name):
            for secret in _strings(value):
                self._learn(secret)
        return MARK


def _marked(value: Any, clean: Any) -> Any:
    """Return clean JSON data with our mark where it differs from `value`: a mask in a request would be refused."""
    match value, clean:
        case str(), str():
            return value if value == clean else with_mark(clean, MARK)
        case dict(), dict():
            return {key: _marked(value.get(key, ""), member) for key, member in clean.items()}
        case list(), list() if len(value) == len(clean):
            return [_marked(*pair) for pair in zip(value, clean, strict=True)]
        case _:
            return clean


def _has_one(text: bytes, words: Iterable[bytes]) -> bool:
    for word in words:  # noqa: SIM110 (`any` takes four times as long, and this is done for every line)
        if word in text:
            return True
    return False


def _is_schema(value: Mapping[str, Any]) -> bool:
    return bool(_SCHEMA_MEMBERS & value.keys()) and any(isinstance(member, dict | list) for member in value.values())


def _strings(value: Any) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            for member in value.values():
                yield from _strings(member)
        case list():
            for member in value:
                yield from _strings(member)
