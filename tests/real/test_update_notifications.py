"""Notifications as a client gets them from a real program: how many, when, and what a read shows after one."""

import contextlib
from pathlib import Path

import trio
from mcp.shared.exceptions import MCPError

from tests.real.conftest import TEST_SECONDS, program
from trio_debugmcp.testing import connect_stdio

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def test_a_client_that_disconnects_with_an_update_pending_does_not_disturb_the_server(tmp_path: Path) -> None:
    with trio.fail_after(TEST_SECONDS):
        async with connect_stdio() as client:
            await client.call("debug_launch", program=program("busy.py"))
            with contextlib.suppress(MCPError):
                async with client.subscribed(SESSION):
                    await client.call("debug_step")
        # Leaving the block closes the server's input at once, with the update still pending.
