"""What a call of a tool is answered, and what a list says of a tool: plain data, the same for every transport.

    result = ToolResult(text='{"state":"Paused"}', structured_content={"state": "Paused"})
    result.wire    # {"content": [{"type": "text", "text": …}], "structuredContent": {…}, "isError": False}

`server.py` makes the SDK's types of it, `shell_requests.py` sends it as it is. Imports no SDK.
"""

from typing import Any

import msgspec
from msgspec import Struct


class ToolResult(Struct, frozen=True, kw_only=True):
    """The result of a call.

    Attributes:
        text: the one block of text that a model sees; empty if there is none.
        structured_content: the same as data; None of a failed call.
        meta: what belongs to the answer and no model sees.
    """

    text: str = ""
    structured_content: dict[str, Any] | None = None
    is_error: bool = False
    meta: dict[str, Any] | None = None

    @property
    def content(self) -> list[dict[str, str]]:
        """The content as MCP has it."""
        return [{"type": "text", "text": self.text}] if self.text else []

    @property
    def wire(self) -> dict[str, Any]:
        """The result as MCP has it, in the order of the SDK."""
        structured = {} if self.structured_content is None else {"structuredContent": self.structured_content}
        meta = {} if self.meta is None else {"_meta": self.meta}
        return {**meta, "content": self.content, **structured, "isError": self.is_error}


class ToolHints(Struct, frozen=True, kw_only=True, rename="camel"):
    """MCP's `ToolAnnotations`, in the order of the alphabet."""

    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool
    read_only_hint: bool


class ListedTool(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tool as `tools/list` shows it, its fields in the order of the alphabet as the SDK sends them."""

    annotations: ToolHints
    description: str
    input_schema: dict[str, Any]
    name: str
    title: str

    @property
    def wire(self) -> dict[str, Any]:
        """The tool as MCP has it."""
        described: dict[str, Any] = msgspec.to_builtins(self)
        return described
