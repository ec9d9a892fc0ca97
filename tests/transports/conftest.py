"""Server processes with network transports, for the tests marked `real`."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
import trio

from tests import warm
from tests.transports.scene import CONTROL, OBSERVE

START_SECONDS = 300
TEST_SECONDS = 600


class ServerProcess:
    """A running `trio-debugmcp serve`, and its standard error so far."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.stderr = ""
        self._more = trio.lowlevel.ParkingLot()

    async def listen(self) -> None:
        assert self.process.stderr is not None
        async with self.process.stderr:
            async for data in self.process.stderr:
                self.stderr += data.decode()
                self._more.unpark_all()

    async def said(self, pattern: str) -> str:
        """Wait until the pattern matches on standard error; return its group, or else the whole match."""
        with trio.fail_after(START_SECONDS):
            while not (found := re.search(pattern, self.stderr)):
                await self._more.park()
        return found[found.lastindex or 0]

    async def websocket_url(self) -> str:
        return f"{(await self.said(r'dashboard(?: to observe)?: (https?://[^/]+)/')).replace('http', 'ws', 1)}/mcp"

    async def http_url(self) -> str:
        return await self.said(r"http: (https?://\S+)")


StartServer = Callable[..., AbstractAsyncContextManager[ServerProcess]]


@pytest.fixture
def serving() -> StartServer:
    """Start a server process with known tokens: `async with serving("--ws", "0") as server`. SIGTERM ends it.

    The process is a warm one (see tests/warm), unless it has to be `cold`: with no descriptors but a server's.
    """

    @asynccontextmanager
    async def started(*arguments: str, tokens: bool = True, cold: bool = False) -> AsyncIterator[ServerProcess]:
        given = ("--token", CONTROL, "--observe-token", OBSERVE) if tokens else ()
        start = [sys.executable, "-m", "trio_debugmcp"] if cold else warm.server()
        command = [*start, "serve", *arguments, *given]
        with trio.fail_after(TEST_SECONDS):
            process = await trio.lowlevel.open_process(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            assert process.stdin is not None
            assert process.stdout is not None
            async with trio.open_nursery() as nursery, process.stdin, process.stdout:
                server = ServerProcess(process)
                nursery.start_soon(server.listen)
                try:
                    yield server
                    process.terminate()
                    await process.wait()
                finally:
                    process.kill()
                    with trio.CancelScope(shield=True):
                        await process.wait()

    return started
