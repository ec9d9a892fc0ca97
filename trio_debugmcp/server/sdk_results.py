"""Answers of tools, and tools in a list, in the types of the SDK."""

import mcp_types as types

from trio_debugmcp.server.call_result import ListedTool, ToolResult


def sdk_result(result: ToolResult) -> types.CallToolResult:
    """Return the result of a call as the SDK sends it."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=result.text)] if result.text else []
    return types.CallToolResult(
        content=content,
        structured_content=result.structured_content,
        is_error=result.is_error,
        _meta=result.meta,
    )


def sdk_tool(tool: ListedTool) -> types.Tool:
    """Return a tool as the SDK lists it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.annotations.read_only_hint,
            destructive_hint=tool.annotations.destructive_hint,
            idempotent_hint=tool.annotations.idempotent_hint,
            open_world_hint=tool.annotations.open_world_hint,
        ),
    )
