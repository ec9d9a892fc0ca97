"""Log messages of languages that the server does not know: text, and expressions in braces. Pure."""

from msgspec import Struct

_PAIRS = {"{": "}", "(": ")", "[": "]"}


class Expression(Struct, frozen=True):
    """A part in braces."""

    text: str


def template_parts(message: str) -> list[str | Expression]:
    """Return a message as texts and expressions; braces that do not match are text."""
    parts: list[str | Expression] = []
    text, at = "", 0
    while at < len(message):
        if message.startswith(("{{", "}}"), at):
            text, at = text + message[at], at + 2
            continue
        end = _end(message, at) if message[at] == "{" else None
        if end is None:
            text, at = text + message[at], at + 1
            continue
        expression = message[at + 1 : end].strip()
        parts += [text, Expression(expression)] if text else [Expression(expression)]
        text, at = "", end + 1
    return [*parts, text] if text else parts


def _end(message: str, start: int) -> int | None:
    """Return where the brace at `start` is closed, not by one in a string."""
    open_, quote = [], ""
    for at in range(start, len(message)):
        character = message[at]
        if quote:
            quote = "" if character == quote and message[at - 1] != "\\" else quote
        elif character in "'\"`":
            quote = character
        elif character in _PAIRS:
            open_.append(_PAIRS[character])
        elif character in _PAIRS.values():
            if open_.pop() != character:
                return None
            if not open_:
                return at if message[start + 1 : at].strip() else None
    return None
