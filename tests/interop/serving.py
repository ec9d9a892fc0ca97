"""Our server as a process on Streamable HTTP, for clients that others wrote."""

import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests import warm

ROOT = Path(__file__).parent.parent.parent
STEPS = str(ROOT / "tests/programs/steps.py")
TOKEN = "interop-" + "0" * 24

START_SECONDS = 300


@asynccontextmanager
async def open_http_server() -> AsyncGenerator[str, None]:
    """Run a server until the end of the block; yields `host:port`. Its standard error is copied to ours."""
    command = warm.server("serve", "--http", "127.0.0.1:0", "--no-stdio", "--token", TOKEN)
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if process.stderr is None:
            raise AssertionError("the process was opened with a pipe")
        try:
            with trio.fail_after(START_SECONDS):
                said = b""
                while (found := re.search(rb"^http: http://([^/]+)/mcp\n", said, re.MULTILINE)) is None:
                    chunk = await process.stderr.receive_some()
                    if not chunk:
                        raise AssertionError(f"the server has not started: {said.decode(errors='replace')}")
                    said += chunk
            nursery.start_soon(_pass_on, process.stderr)
            yield found[1].decode()
        finally:
            process.terminate()
            with trio.CancelScope(shield=True), trio.move_on_after(120) as limit:
                await process.wait()
            if limit.cancelled_caught:
                process.kill()
            nursery.cancel_scope.cancel(reason="the server has ended")


async def _pass_on(stderr: trio.abc.ReceiveStream) -> None:
    async for chunk in stderr:
        sys.stderr.write(chunk.decode(errors="replace"))
