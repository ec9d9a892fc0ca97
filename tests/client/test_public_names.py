"""Tests of what users of the library see of its names: signatures, types of events, texts of invocations."""

import inspect
from datetime import UTC, datetime
from typing import get_args, get_overloads

import mcp_types as types
import pytest

import trio_debugmcp.client
import trio_debugmcp.testing
from trio_debugmcp.client import (
    InspectorClient,
    PromptGetInvocation,
    ResourceReadInvocation,
    ToolCallInvocation,
)
from trio_debugmcp.client.events import EVENT_KINDS

NOW = datetime.fromtimestamp(0, UTC)

NAMES = [
    f"{module.__name__}.{name}"
    for module in (trio_debugmcp.client, trio_debugmcp.testing)
    for name in module.__all__
    if callable(getattr(module, name))
]


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_has_a_signature(name: str) -> None:
    module, _, own = name.rpartition(".")
    inspect.signature(getattr({"trio_debugmcp.client": trio_debugmcp.client}.get(module, trio_debugmcp.testing), own))


@pytest.mark.parametrize("method", ["events", "wait_for"])
def test_each_kind_of_event_is_declared_with_its_type(method: str) -> None:
    declared = {}
    for overload in get_overloads(getattr(InspectorClient, method)):
        kind = inspect.signature(overload, eval_str=True).parameters.get("kind")
        if kind is not None and len(get_args(kind.annotation)) == 1:
            (event,) = get_args(inspect.signature(overload, eval_str=True).return_annotation)
            declared[get_args(kind.annotation)[0]] = event
    assert declared.keys() == EVENT_KINDS
    assert {kind: event.__struct_config__.tag for kind, event in declared.items()} == {
        kind: kind for kind in EVENT_KINDS
    }


def test_an_invocation_has_its_text() -> None:
    text = types.TextContent(type="text", text="one")
    image = types.ImageContent(type="image", data="", mime_type="image/png")
    inner = types.TextResourceContents(uri="debugger://x", text="two")
    result = types.CallToolResult(content=[text, image, types.EmbeddedResource(type="resource", resource=inner)])
    call = ToolCallInvocation(tool_name="x", params={}, result=result, success=True, timestamp=NOW)
    assert call.text == "one\ntwo"
    assert ToolCallInvocation(tool_name="x", params={}, result=None, success=False, timestamp=NOW).text == ""
    blob = types.BlobResourceContents(uri="debugger://x", blob="")
    read = types.ReadResourceResult(contents=[inner, blob])
    assert ResourceReadInvocation(uri="debugger://x", result=read, timestamp=NOW).text == "two"
    prompt = types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)] * 2)
    assert PromptGetInvocation(name="x", params={}, result=prompt, timestamp=NOW).text == "one\n\none"
