"""A process that dials in is ended with its program only if the connection is its own: what it says is not enough.

Real processes and a real socket: what the system says of them is the subject.
"""

import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from trio_debugmcp.dap.daemons import OwnProcess, end_process, own_process
from trio_debugmcp.dap.incoming_connection import IncomingConnection
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.watchdog_process import started_at
from trio_debugmcp.patience import USUAL

pytestmark = pytest.mark.real

NOTHING = Watchdog()
"""It watches no process session."""

CALLER = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
{more}
sys.stdin.read()
"""


@asynccontextmanager
async def calling(more: str = "") -> AsyncIterator[tuple[subprocess.Popen[bytes], trio.SocketStream]]:
    """A process that has dialed in, and our end of its connection."""
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    with trio.fail_after(120):
        async with listener:
            port = listener.socket.getsockname()[1]
            argv = [sys.executable, "-c", CALLER.format(more=more), str(port)]
            with subprocess.Popen(argv, stdin=subprocess.PIPE) as process:
                try:
                    async with await listener.accept() as stream:
                        yield process, stream
                finally:
                    process.kill()


async def test_a_process_is_its_own_if_it_holds_the_connection() -> None:
    async with calling() as (process, stream):
        own = own_process(IncomingConnection(stream, process.pid, 1), NOTHING)
        assert own == OwnProcess(process.pid, started_at(process.pid) or "")


async def test_a_process_that_only_was_named_is_not_taken_for_the_caller() -> None:
    async with calling() as (_, stream):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as stranger:
            assert own_process(IncomingConnection(stream, stranger.pid, 1), NOTHING) is None
            assert own_process(IncomingConnection(stream, 1, 1), NOTHING) is None
            stranger.kill()
            stranger.wait()
            assert own_process(IncomingConnection(stream, stranger.pid, 1), NOTHING) is None, "it has ended"


async def test_a_process_in_a_process_session_of_ours_need_not_be_looked_for_among_the_connections() -> None:
    watchdog = Watchdog()
    try:
        async with calling() as (_, stream):
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, start_new_session=True) as ours:
                watchdog.watch(ours.pid)
                own = own_process(IncomingConnection(stream, ours.pid, 1), watchdog)
                assert own == OwnProcess(ours.pid, started_at(ours.pid) or "")
                watchdog.forget(ours.pid)
                assert own_process(IncomingConnection(stream, ours.pid, 1), watchdog) is None
                ours.kill()
    finally:
        watchdog.close()


async def test_a_connection_in_memory_is_held_by_no_process() -> None:
    stream, _ = trio.testing.memory_stream_pair()
    assert own_process(IncomingConnection(stream, 1, 1), NOTHING) is None


@pytest.mark.parametrize("more", ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
async def test_a_daemon_ends_also_if_it_ignores_sigterm(more: str) -> None:
    async with calling(more + "; connection.send(b'!')" if more else "connection.send(b'!')") as (process, stream):
        assert await stream.receive_some(1) == b"!"
        own = own_process(IncomingConnection(stream, process.pid, 1), NOTHING)
        assert own is not None
        await end_process(own, USUAL)
        assert started_at(process.pid) is None


async def test_a_later_process_with_the_same_id_is_left_alone() -> None:
    async with calling() as (process, _):
        await end_process(OwnProcess(process.pid, "long ago"), USUAL)
        assert started_at(process.pid) is not None


def test_a_socket_that_is_gone_holds_nothing() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        assert (
            own_process(IncomingConnection(trio.SocketStream(trio.socket.from_stdlib_socket(other)), 1, 1), NOTHING)
            is None
        )
