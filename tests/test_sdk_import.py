"""A server imports a part of it when it is used. Of the SDK it does without one part, which others can still have."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.real

SCRIPT = """
import sys
import trio_debugmcp.listen
from trio_debugmcp.server.tools import open_toolbox
tools = open_toolbox()
assert tools.described("debug_launch", "control") and tools.described("debug_step", "control")
dear = ("mcp", "h11", "http.client", "email", "trio_debugmcp.runs.files", "trio_debugmcp.server.tools.runs")
early = [name for name in dear if name in sys.modules]
assert not early, f"a shell's first call waits for {early}"
from trio_debugmcp.sdk_import import import_sdk
import_sdk()
import trio_debugmcp.transports.stdio
assert tools.listed()
assert "cryptography" not in sys.modules, "the SDK imports it with its high-level server"
assert "mcp.server.mcpserver" not in sys.modules
from mcp.server.mcpserver import MCPServer
assert MCPServer("a").name == "a"
"""


def test_a_server_imports_what_it_uses_and_the_sdk_without_its_high_level_server() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)
