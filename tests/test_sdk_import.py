"""A server does without the part of the SDK that it does not use, and code that wants it has it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.real

SCRIPT = """
import sys
from trio_debugmcp.sdk_import import import_sdk
import_sdk()
import trio_debugmcp.listen, trio_debugmcp.transports.stdio
from trio_debugmcp.server.tools import open_toolbox
assert open_toolbox().listed()
assert "cryptography" not in sys.modules, "the SDK imports it with its high-level server"
assert "mcp.server.mcpserver" not in sys.modules
from mcp.server.mcpserver import MCPServer
assert MCPServer("a").name == "a"
"""


def test_the_sdk_is_imported_without_its_high_level_server_which_can_be_had_afterwards() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)
