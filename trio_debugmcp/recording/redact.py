"""`Redactor`: takes out what a recording must not hold: tokens, and the values of environment variables.

    redactor = Redactor(["control-token-77"])
    redactor.message(b'{"env": {"API_TOKEN": "abcdef"}}')       # {"env": {"API_TOKEN": "[redacted]"}}

Names are kept, values are replaced by a mark. The value of a variable with a name like a secret's is remembered, and
taken out wherever it appears from then on.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

MARK = "[redacted]"

MIN_SECRET_LENGTH = 6
"""Characters of a text that is taken out wherever it appears. Shorter texts appear by chance, and are not secrets."""

_SUSPECT = (b'"env"', b'"environment"', b"token", b"bearer", b"authorization")
"""In lower case. Most messages contain none of these and need not be decoded."""

_ENVIRONMENTS = frozenset({"env", "environment"})

_SECRET_NAME = re.compile(r"token|secret|passw|credential|api_?key|private_?key|access_?key|auth", re.IGNORECASE)

_TOKEN_OPTION = re.compile(r"--?[\w-]*token[\w-]*", re.IGNORECASE)

_BEARER = re.compile(r"\b(bearer[ .])[A-Za-z0-9._~+/=-]+", re.IGNORECASE)


class Redactor:
    """Takes secrets out of texts. `secrets` are known from the start; more are learned from environments."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[bytes, None] = {}
        for secret in secrets:
            self._learn(secret)

    def message(self, text: bytes) -> bytes:
        """Take all secrets out of a JSON text in one line."""
        small = text.lower()
        if any(word in small for word in _SUSPECT):
            clean = self._clean(json.loads(text))
            text = json.dumps(clean, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
        return self.line(text)

    def line(self, text: bytes) -> bytes:
        """Take the known secrets out of any JSON text."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MARK.encode())
        return text

    def arguments(self, argv: Iterable[str]) -> list[str]:
        """Take tokens out of a command line: what follows an option with `token` in its name."""
        clean: list[str] = []
        hide = False
        for word in argv:
            option, equals, _ = word.partition("=")
            if hide and not word.startswith("--"):
                clean.append(MARK)
            elif equals and _TOKEN_OPTION.fullmatch(option):
                clean.append(f"{option}={MARK}")
            else:
                clean.append(_BEARER.sub(rf"\g<1>{MARK}", word))
            hide = _TOKEN_OPTION.fullmatch(word) is not None
        return clean

    def _learn(self, secret: str) -> None:
        if len(secret) >= MIN_SECRET_LENGTH:
            # As it appears in JSON, in both forms: adapters and the SDK escape other than this package does.
            escaped = json.dumps(secret, ensure_ascii=False)[1:-1].encode(errors="replace")
            self._secrets[escaped] = None
            self._secrets[json.dumps(secret)[1:-1].encode()] = None

    def _clean(self, value: Any) -> Any:
        match value:
            case dict():
                return {key: self._clean_member(key, each) for key, each in value.items()}
            case list() if value and all(isinstance(each, str) for each in value):
                return self.arguments(value)
            case list():
                return [self._clean(each) for each in value]
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
            case Mapping() if not any(
                isinstance(each, dict | list) for each in value.values()
            ):  # else it is a JSON Schema
                return {name: self._hidden(name, each) for name, each in value.items()}
            case list():
                return [self._clean_variable(each) for each in value]
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
        if isinstance(value, str) and _SECRET_NAME.search(name):
            self._learn(value)
        return MARK
