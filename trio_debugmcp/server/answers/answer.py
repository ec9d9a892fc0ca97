"""`Answer`, the base of the structs that tools answer with."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from mcp_types import CallToolResult, ContentBlock, TextContent
from msgspec import Struct


class Answer(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """An answer: keys in camelCase, without those that have no news, which are the ones that have their defaults."""


def with_notes(result: CallToolResult, notes: Sequence[str]) -> CallToolResult:
    """Return a result, also a failed one, with more `notes`."""
    text = next(each.text for each in result.content if isinstance(each, TextContent))
    body = json.loads(text) if result.structured_content is None else result.structured_content
    body = {**body, "notes": [*body.get("notes", []), *notes]}
    content: list[ContentBlock] = [TextContent(type="text", text=_encoder.encode(body).decode())]
    structured = None if result.structured_content is None else body
    return result.model_copy(update={"content": content, "structured_content": structured})


_encoder = msgspec.json.Encoder()


def encoded(answer: Answer) -> tuple[str, dict[str, Any]]:
    """Return an answer as text and as structured content. Hosts show a model one or the other, so they are the same."""
    return _encoder.encode(answer).decode(), msgspec.to_builtins(answer)
