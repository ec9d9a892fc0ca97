"""What a call was and what came of it. The object that a method returns is the object that the cache holds.

`timestamp` is the moment of the call, not of its answer: of two overlapping calls the later one is the newer.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import mcp_types as types
from msgspec import Struct

Metadata = Mapping[str, Any] | None
"""Merged into the `_meta` of a request; None adds nothing."""


class ResourceReadInvocation(Struct, frozen=True, kw_only=True, eq=False, rename="camel"):
    """One `resources/read`.

    Attributes:
        uri: the URI that was read.
        result: the SDK's response object, whole.
        timestamp: when the call was made.
        metadata: the `_meta` that the caller passed, if any.
    """

    uri: str
    result: types.ReadResourceResult
    timestamp: datetime
    metadata: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """What the resource has as text; what is binary is left out."""
        return _read_text(self.result)


class ResourceTemplateReadInvocation(Struct, frozen=True, kw_only=True, eq=False, rename="camel"):
    """One read through a resource template.

    Attributes:
        uri_template: the template, which is its own identity.
        expanded_uri: the URI that was read.
        params: the values that expanded the template.
        result: the SDK's response object, whole; the same object as in the resource's own invocation.
        timestamp: when the call was made.
        metadata: the `_meta` that the caller passed, if any.
    """

    uri_template: str
    expanded_uri: str
    params: Mapping[str, str]
    result: types.ReadResourceResult
    timestamp: datetime
    metadata: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """What the resource has as text; what is binary is left out."""
        return _read_text(self.result)


class PromptGetInvocation(Struct, frozen=True, kw_only=True, eq=False, rename="camel"):
    """One `prompts/get`.

    Attributes:
        name: the prompt's name.
        params: the arguments as they were sent, all of them strings.
        result: the SDK's response object, whole.
        timestamp: when the call was made.
        metadata: the `_meta` that the caller passed, if any.
    """

    name: str
    params: Mapping[str, str]
    result: types.GetPromptResult
    timestamp: datetime
    metadata: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of its messages, a paragraph each."""
        return "\n\n".join(_block_texts([message.content for message in self.result.messages]))


ToolCallFault = Literal["refused", "timeout", "protocol"]


class ToolCallInvocation(Struct, frozen=True, kw_only=True, eq=False, rename="camel"):
    """One `tools/call`.

    Attributes:
        tool_name: the tool that was called.
        params: the arguments as the caller gave them.
        result: the SDK's response object, or None when there is none; also kept when it violates the output schema.
        success: whether the server answered with a result. A result can still have `is_error`: the tool ran and failed.
        error: what went wrong when `success` is False.
        fault: whose it is when `success` is False: `refused` by the server, `timeout` if it did not answer in time,
            `protocol` if its answer is not what the protocol or the output schema says. Except for the first the tool
            may have run: calling it again may do twice what it does.
        error_code: its JSON-RPC code, if it had one.
        error_data: its JSON-RPC data, if it had any.
        timestamp: when the call was made.
        metadata: the `_meta` that the caller passed, if any.
    """

    tool_name: str
    params: Mapping[str, Any]
    result: types.CallToolResult | None
    success: bool
    timestamp: datetime
    error: str | None = None
    error_code: int | None = None
    error_data: Any = None
    fault: ToolCallFault | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of the result, also of one that says that the tool has failed; empty where there is none."""
        return "" if self.result is None else "\n".join(_block_texts(self.result.content))


Invocation = ResourceReadInvocation | ResourceTemplateReadInvocation | PromptGetInvocation | ToolCallInvocation


def _read_text(result: types.ReadResourceResult) -> str:
    return "\n".join(content.text for content in result.contents if isinstance(content, types.TextResourceContents))


def _block_texts(blocks: Sequence[Any]) -> list[str]:
    """Return the texts of blocks, those of embedded resources among them."""
    texts = []
    for block in blocks:
        content = block.resource if isinstance(block, types.EmbeddedResource) else block
        if isinstance(content, types.TextContent | types.TextResourceContents):
            texts.append(content.text)
    return texts
