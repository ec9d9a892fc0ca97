"""For tests, ours and yours: a scripted debug adapter, and MCP clients connected to a server by any transport.

`trio_debugmcp.testing.faults` makes both of them misbehave.
"""

from trio_debugmcp.testing.connect import (
    connect,
    connect_http,
    connect_process,
    connect_stdio,
    connect_streams,
    connect_websocket,
    open_server,
)
from trio_debugmcp.testing.debug_client import DebugClient, ToolFailed
from trio_debugmcp.testing.fake_adapter import FakeAdapter, FakeProfile

__all__ = [
    "DebugClient",
    "FakeAdapter",
    "FakeProfile",
    "ToolFailed",
    "connect",
    "connect_http",
    "connect_process",
    "connect_stdio",
    "connect_streams",
    "connect_websocket",
    "open_server",
]
