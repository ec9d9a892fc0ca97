"""The program that the conformance suite runs: makes the calls of a scenario at the URL of its last argument."""

import json
import logging
import os
import sys
from typing import Any

import trio
from mcp import types
from mcp.client.session import ClientRequestContext

from trio_debugmcp.client import InspectorClient, InspectorOptions

SAMPLES = {"integer": 1, "number": 2, "boolean": True}


async def accept_defaults(
    context: ClientRequestContext,
    params: types.ElicitRequestParams,
) -> types.ElicitResult:
    schema: dict[str, Any] = getattr(params, "requested_schema", None) or {}
    properties = schema.get("properties") or {}
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return types.ElicitResult(action="accept", content=defaults)


def planned_calls(tools: tuple[types.Tool, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the scenario dictates, else one of each tool with arguments that its schema admits."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    return [(tool.name, _arguments(tool, tools)) for tool in tools]


def _arguments(tool: types.Tool, tools: tuple[types.Tool, ...]) -> dict[str, Any]:
    if tool.name == "json_schema_echo":
        return {"schema": tools[0].input_schema}
    properties = tool.input_schema.get("properties") or {}
    return {name: SAMPLES.get(each.get("type"), "x") for name, each in properties.items()}


class _Listening(logging.Handler):
    """Sets an event when the stream for server notifications is open, which only the SDK's log shows."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.open = trio.Event()
        logger = logging.getLogger("mcp.client.streamable_http")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "GET SSE connection established":
            self.open.set()


async def main() -> None:
    options = InspectorOptions(elicitation=accept_defaults, request_timeout=20)
    listening = _Listening()
    async with InspectorClient(sys.argv[-1], options) as client:
        if os.environ.get("MCP_CONFORMANCE_SCENARIO") == "sse-retry":
            # The scenario takes the first GET during the call for the one that resumes the call's stream.
            with trio.fail_after(20):
                await listening.open.wait()
        for name, arguments in planned_calls(client.tools):
            await client.call_tool(name, arguments)


if __name__ == "__main__":
    trio.run(main)
