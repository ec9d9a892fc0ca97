"""A call of a tool, whichever way it comes: what is done before it, by it, and to its answer.

    result = await call_tool(debugger, tools, client, "debug_state", {}, "an agent")

`server.py` serves those that come through the SDK, `shell_requests.py` those of shells. Imports no SDK.
"""

from typing import Any

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.connected_client import Client
from trio_debugmcp.server.failures import failed_result
from trio_debugmcp.server.secrets import check_arguments, masked_result
from trio_debugmcp.server.tools.named_calls import named_call, worded_result
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.session.debugger import Debugger


async def call_tool(
    debugger: Debugger, tools: Toolbox, client: Client, name: str, arguments: dict[str, Any], client_name: str | None
) -> ToolResult:
    """Call a tool for a client, and return its answer without secrets, in words that this client can follow."""
    masks = not debugger.settings.show_secrets
    try:
        name, arguments = named_call(name, arguments)
        if masks:
            check_arguments(arguments)
    except UsageError as error:
        return failed_result(error)
    # Before the call, which may take long: the session must not end meanwhile because its former owner has
    # disconnected.
    if tools.controls(name) and client.role == "control":
        client.take_control(arguments)
    result = await tools.call(debugger, name, arguments, client.role, client_name, client)
    result = masked_result(name, arguments, result) if masks else result
    return result if arguments.get("full") else worded_result(tools.naming, name, result)
