"""What a client is answered, with a label in the place of each secret.

    masked_json({"name": "api_key", "value": "'9f86d081884c7d65…'"})     # {"name": "api_key", "value": "'<secret, …>'"}

The name of a value is the key beside it, or what stands as `name`, `path`, `expression` or `way` in the same object.
"""

from typing import Any

from trio_debugmcp.masking.mask import masked, masked_value, secret_mask
from trio_debugmcp.masking.secret_names import names_secret
from trio_debugmcp.masking.stream_mask import StreamMasker

_VALUES = (
    *("value", "values", "points", "first", "last", "printed", "old", "new", "before", "after"),
    *("error", "message"),  # of a key that is missing, they have the key
)
"""Keys of what an expression has come to."""

_NAMES = ("name", "path", "expression", "way")
"""Keys of what `value` in the same object is the value of."""


_PIECES = ("first", "last")
"""Keys of pieces of a text that is taken apart, where `kind` says that it is one."""

_TEXTS = ("str", "bytes", "bytearray")


def masked_json(value: Any, name: str = "", *, found: set[str] | None = None) -> Any:
    """Return JSON data without secrets; `name`: what a `value` without a name in it is the value of.

    What is masked because of the name beside it is masked wherever the same text stands. `found` gets these texts.
    """
    seen: set[str] = set() if found is None else found
    clean = _masked(value, name, seen)
    return _without(clean, sorted(seen, key=len, reverse=True)) if seen else clean


def _without(value: Any, secrets: list[str]) -> Any:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, secret_mask(secret))
            return value
        case dict():
            return {_without(key, secrets): _without(member, secrets) for key, member in value.items()}
        case list():
            return [_without(item, secrets) for item in value]
        case _:
            return value


def _masked(value: Any, name: str, seen: set[str]) -> Any:
    match value:
        case str():
            return masked_value(name, value, seen) if name else masked(value)
        case dict():
            return _masked_object(value, name, seen)
        case [str(), *_] if all(isinstance(item, str) for item in value):
            return [masked_value(name, masked_line, seen) for masked_line in masked_lines(value)]
        case [{"text": str()}, *_] if all(
            isinstance(item, dict) and isinstance(item.get("text"), str) for item in value
        ):
            lines = masked_lines([item["text"] for item in value])
            return [_masked({**item, "text": line}, "", seen) for item, line in zip(value, lines, strict=True)]
        case list():
            return [_masked(item, name, seen) for item in value]
        case _:
            return value


def masked_lines(lines: list[str]) -> list[str]:
    """Return lines without secrets, also such as extend over several of them."""
    whole = [line if line.endswith("\n") else line + "\n" for line in lines]
    clean = StreamMasker().feed(whole)
    return [new if line.endswith("\n") else new.removesuffix("\n") for line, new in zip(lines, clean, strict=True)]


def _masked_object(members: dict[str, Any], name: str, seen: set[str]) -> dict[str, Any]:
    own = " ".join(members[key] for key in _NAMES if isinstance(members.get(key), str)) or name
    clean: dict[str, Any] = {}
    in_pieces = members.get("kind") in _TEXTS and names_secret(own)
    for key, value in members.items():
        label = fresh = masked(key)
        number = 1
        while label in clean:  # two keys of one length have one mask
            number += 1
            label = f"{fresh} {number}"
        if in_pieces and key in _PIECES and value:
            clean[label] = [f"<secret, {members.get('count', len(value))} characters>"]
        else:
            clean[label] = _masked(value, own if key in _VALUES else key, seen)
    return clean
