"""`Answer`, the base of the structs that tools answer with."""

from typing import Any

import msgspec
from msgspec import Struct


class Answer(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """An answer: keys in camelCase, without those that have no news, which are the ones that have their defaults."""


_encoder = msgspec.json.Encoder()


def encoded(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return an answer as text and as structured content. Hosts show a model one or the other, so they are the same."""
    return _encoder.encode(answer).decode(), msgspec.to_builtins(answer)
