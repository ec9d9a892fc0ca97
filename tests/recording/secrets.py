"""Fifty secrets, and the places in which a debug session shows them. All made up."""

import base64
import json
import random
import re
from collections.abc import Iterator
from typing import Any

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_random = random.Random(11)


def _word(length: int, letters: str = _LETTERS) -> str:
    return "".join(_random.choice(letters) for _ in range(length))


def _encoded(length: int) -> str:
    return base64.b64encode(_random.randbytes(length)).decode()


def _pem(kind: str, size: int, end: str = "\n") -> str:
    text = _encoded(size)
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return end.join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])


SECRETS = [
    # Keys and tokens in the forms of well-known services.
    *(f"{prefix}{_word(36)}" for prefix in ("ghp_", "glpat-", "sk-proj-", "xoxb-12-", "npm_", "hf_", "AKIA", "AIza")),
    *(f"{_word(20)}.{_word(length)}.{_word(43)}" for length in (100, 400, 2000)),
    *(_encoded(size) for size in (6, 20, 33, 64, 400)),
    *(_word(size, "0123456789abcdef") for size in (8, 32, 64)),
    f"{_word(8)}-{_word(4)}-{_word(4)}-{_word(12)}",
    # Private keys.
    *(_pem(kind, size) for kind, size in (("PRIVATE KEY", 1200), ("RSA PRIVATE KEY", 600), ("EC PRIVATE KEY", 120))),
    _pem("OPENSSH PRIVATE KEY", 400).rstrip("\n"),
    _pem("PRIVATE KEY", 90, "\r\n"),
    json.dumps({"type": "service_account", "private_key": _pem("PRIVATE KEY", 300), "id": _word(20)}, indent=2),
    # Passwords that need quoting.
    *("correct horse battery", "Gehe-nicht/über-Los", "пароль-для-базы", "秘密の鍵です本当に", "🔑🗝️key🔒end"),
    *("it's a secret", 'say "friend" now', "both ' and \" in it", "back\\slash\\n", "ends in a \\", "\\starts so"),
    *("line one\nline two is longer than the first", "\ttab\tand\ttab", "nul\0in it", "esc\x1b[31mred", "a\\\"b'c\\'d"),
    *("new\\u00e9w", "u00e9-at-the-start", "n-at-the-start", "percent%20sign%s%", "p@ss:w/rd?x=1&y=2", "$HOME`id`$(x)"),
    "curly{x}{{y}}[z]",
    '"quoted-already"',
]  # fmt: skip


def launch(secret: str) -> Iterator[Any]:
    """A launch that gives the secret in the environment: from here on it is known."""
    yield _request("debug_launch", program="app.py", env={"DEPLOY_PASSWORD": secret, "MODE": "test"})
    yield {"type": "request", "command": "runInTerminal", "arguments": {"env": {"DEPLOY_PASSWORD": secret}}}


def shown(secret: str) -> Iterator[Any]:
    """What a session says of a value: in plain text, as repr, as JSON in JSON, in parts."""
    yield {"event": "output", "body": {"output": f"password: {secret}\n"}}
    yield {"edge": "output", "text": secret}
    yield {"edge": "hangUp", "stderr": f"KeyError: {secret!r}"}
    yield {"edge": "garbage", "text": secret.encode().decode("latin-1")}
    for form in (
        repr(secret),
        ascii(secret),
        repr(secret.encode()),
        json.dumps(secret),
        f"environ({{'X': {secret!r}}}",
    ):
        yield {"type": "response", "body": {"variables": [{"name": "x", "value": form}]}}
        yield _answer({"locals": {"x": form}, "stdout": form})
        yield _answer({"value": json.dumps({"again": form})})
    for cut in (20, 100, 200, 333):
        yield _answer({"value": f"{secret[:cut]}… (+99 characters)"})
        yield _answer({"value": f"{repr(secret)[:cut]}… (+99 characters)"})
        yield _answer({"value": f"{repr(secret)[:cut]}...{repr(secret)[-cut:]}"})
        yield {"type": "event", "body": {"output": secret[-cut:]}}
    for line in secret.splitlines():
        yield {"event": "output", "body": {"output": f"> {line}\n"}}
    yield {"text": f"https://example.org/?key={_percent(secret)}"}


def options(secret: str) -> Iterator[Any]:
    """Options of a command line: as words, in the text of a result, in a repr, in a shell's line."""
    words = ["app.py", "--mode", "x", "--api-key", secret, "--db-password=" + secret]
    yield _request("debug_launch", args=words)
    yield _answer({"commandLineArgs": words})
    yield {"event": "output", "body": {"output": f"argv: {words!r}\n"}}
    yield {"contents": [{"uri": "debugger://session", "text": json.dumps({"commandLineArgs": words})}]}


def places(secret: str) -> Iterator[bytes]:
    """All of it, as lines of a recording."""
    for each in (*launch(secret), *shown(secret), *options(secret)):
        yield json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()
        yield json.dumps(each).encode()


def _request(tool: str, **arguments: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def _answer(payload: Any) -> Any:
    text = json.dumps(payload, ensure_ascii=False)
    return {"id": 1, "result": {"content": [{"type": "text", "text": text}], "structuredContent": payload}}


def _percent(text: str) -> str:
    return "".join(
        chr(each) if chr(each) in _LETTERS + "_.-~" else f"%{each:02X}" for each in text.encode(errors="replace")
    )


# --- Reading as a thief would -----------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def readings(line: bytes) -> Iterator[str]:
    """Yield a line with its escape sequences undone, once, twice, …, and with bytes and percent signs decoded."""
    text = line.decode()
    for _ in range(5):
        yield text
        for decoded in (_from_latin(text), _from_percent(text)):
            if decoded != text:
                yield decoded
        # Two escapes of a surrogate pair make one character.
        text = _ESCAPE.sub(_undone, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _undone(found: re.Match[str]) -> str:
    number = found[1] or found[2]
    return chr(int(number, 16)) if number else _SHORT.get(found[3], found[3])


def _from_latin(text: str) -> str:
    return re.sub(r"[\x80-\xff]{2,}", lambda found: found[0].encode("latin-1").decode(errors="replace"), text)


def _from_percent(text: str) -> str:
    def decoded(found: re.Match[str]) -> str:
        return bytes.fromhex(found[0].replace("%", "")).decode(errors="replace")

    return re.sub(r"(?:%[0-9A-F]{2})+", decoded, text)
