"""Crowds of strangers against a real server with few descriptors: the agent launches, clients are served.

A crowd floods both ports at the same time in several ways, for as long as it takes the agent to launch a program and to
end it, and clients with a token to be served on both ports in both eras.
"""

import os
import resource
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trio

from tests.transports.conftest import ServerProcess
from tests.transports.scene import CONTROL, OBSERVE
from trio_debugmcp.testing import DebugClient, connect_http, connect_process, connect_websocket
from trio_debugmcp.testing.connect import Era

pytestmark = pytest.mark.real

PROGRAM = str(Path(__file__).parent.parent / "programs" / "steps.py")
ATTACK_SECONDS = 300
AGAIN_SECONDS = 5
LOG_BYTES = 10_000
MANY = pytest.mark.nightly("hundreds of strangers and their descriptors take 8 s")

ERAS: tuple[Era, ...] = ("legacy", "modern")

Attack = Callable[[trio.SocketStream], Awaitable[None]]


async def be_silent(stream: trio.SocketStream) -> None:
    await stream.receive_some()


async def send_half_a_head(stream: trio.SocketStream) -> None:
    await stream.send_all(b"POST /mcp HTTP/1.1\r\nHost: 127.")
    await stream.receive_some()


async def begin_http_2(stream: trio.SocketStream) -> None:
    await stream.send_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))
    await stream.receive_some()


async def leave_at_once(stream: trio.SocketStream) -> None:
    await trio.lowlevel.checkpoint()


ATTACKS: tuple[Attack, ...] = (be_silent, send_half_a_head, begin_http_2, leave_at_once)


@asynccontextmanager
async def serving_with(descriptors: int) -> AsyncIterator[tuple[ServerProcess, DebugClient]]:
    """Start a server with that limit and both ports, and its agent on standard input and output."""
    options = f"serve --ws 0 --http 0 --log-level info --token {CONTROL} --observe-token {OBSERVE}"
    command = f"ulimit -n {descriptors} && exec {shlex.quote(sys.executable)} -m trio_debugmcp {options}"
    pipe = subprocess.PIPE
    process = await trio.lowlevel.open_process(["sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        async with trio.open_nursery() as nursery:
            server = ServerProcess(process)
            nursery.start_soon(server.listen)
            async with connect_process(process) as agent:
                yield server, agent
            nursery.cancel_scope.cancel()
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


@asynccontextmanager
async def crowd(ports: list[int], size: int) -> AsyncIterator[None]:
    """So many strangers that attack again and again, for the length of the block; all have begun at its start."""
    begun, all_have_begun = 0, trio.Event()

    async def stranger(port: int, attack: Attack) -> None:
        nonlocal begun
        async with await trio.open_tcp_stream("127.0.0.1", port) as first:
            begun += 1
            if begun == size:
                all_have_begun.set()
            with suppress(OSError, trio.BrokenResourceError):
                await attack(first)
        while True:
            await trio.sleep(AGAIN_SECONDS)
            with suppress(OSError, trio.BrokenResourceError):
                async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
                    await attack(stream)

    async with trio.open_nursery() as nursery:
        for number in range(size):
            attack = ATTACKS[number // len(ports) % len(ATTACKS)]
            nursery.start_soon(stranger, ports[number % len(ports)], attack)
        await all_have_begun.wait()
        yield
        nursery.cancel_scope.cancel()


@pytest.fixture
def plenty() -> Iterator[None]:
    """As many descriptors for this process, which holds the crowd, as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")  # of the SDK's HTTP client
@pytest.mark.parametrize("descriptors", [160, pytest.param(512, marks=MANY)])
async def test_strangers_keep_neither_the_agent_from_launching_nor_clients_with_a_token_out(
    descriptors: int, plenty: None
) -> None:
    with trio.fail_after(ATTACK_SECONDS):
        async with serving_with(descriptors) as (server, agent):
            websocket, http = await server.websocket_url(), await server.http_url()
            ports = [urlsplit(url).port or 0 for url in (websocket, http)]
            async with crowd(ports, descriptors * 3 // 2):
                assert (await agent.call("debug_launch", program=PROGRAM))["state"] == "Paused"
                for era in ERAS:
                    async with connect_websocket(websocket, OBSERVE, era) as client:
                        assert "debugger://session" in await client.uris()
                    async with connect_http(http, OBSERVE, era) as client:
                        assert "debugger://session" in await client.uris()
                assert len(os.listdir(f"/proc/{server.process.pid}/fd")) < descriptors // 2
                await agent.call("debug_disconnect")
            assert len(server.stderr) < LOG_BYTES
            assert "Traceback" not in server.stderr
