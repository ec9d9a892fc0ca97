"""The first import of the MCP SDK, without the part that no server of ours needs.

    import_sdk()    # then as usual: from mcp.server.lowlevel import Server

`mcp.server` imports its high-level server, and with it cryptography: a tenth of what a server of ours has in memory.
Code that wants that part imports `mcp.server.mcpserver`, as without this.
"""

import sys
from contextlib import suppress
from types import ModuleType

_UNUSED = "mcp.server.mcpserver"


def import_sdk() -> None:
    """Import `mcp.server`, unless it is imported already, with a placeholder for its name `MCPServer`."""
    if "mcp" in sys.modules:
        return
    placeholder = ModuleType(_UNUSED)
    placeholder.MCPServer = type("MCPServer", (), {})  # type: ignore[attr-defined]
    sys.modules[_UNUSED] = placeholder
    # A later version may import more of it: then all of it is imported, by the first import of the SDK.
    with suppress(ImportError):
        import mcp.server  # noqa: F401
    if sys.modules.get(_UNUSED) is placeholder:
        del sys.modules[_UNUSED]
