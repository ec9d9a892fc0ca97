"""Adapters behind a socket: where they are reached, and what is reported if nothing answers there."""

from functools import partial
from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from tests.ports import free_port
from trio_debugmcp.dap.adapter import open_socket_adapter
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles import Attach, Debugpy, Runtime
from trio_debugmcp.dap.sockets import TcpAddress
from trio_debugmcp.errors import AdapterGone
from trio_debugmcp.patience import USUAL


@pytest.mark.real
async def test_an_attach_to_a_port_connects_to_the_adapter_that_listens_there() -> None:
    async with trio.open_nursery() as nursery:

        async def serve(stream: trio.SocketStream) -> None:
            await stream.send_all(b"hello")

        (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        for attach in (Attach(port=port), Attach(host="localhost", port=port)):
            with trio.fail_after(120):
                async with Debugpy().open_attached(attach, Runtime(Watchdog(), cast("Any", None))) as adapter:
                    assert await adapter.stream.receive_some() == b"hello"
                    assert (adapter.pid, adapter.stderr_tail) == (None, "")
                    assert repr(adapter).startswith("<dap.Adapter pid=None on <SocketConnection <trio.SocketStream")
                with pytest.raises(trio.ClosedResourceError):
                    await adapter.stream.receive_some()
        nursery.cancel_scope.cancel()


@pytest.mark.real
async def test_a_port_without_an_adapter_is_reported_with_its_address() -> None:
    port = free_port()
    with pytest.raises(AdapterGone, match=f"^nothing listens at 127.0.0.1:{port}: the connection is refused$"):
        async with open_socket_adapter(TcpAddress("127.0.0.1", port), USUAL):
            pass


async def test_an_address_that_does_not_respond_is_given_up_after_ten_seconds(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(host: str, port: int) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(trio, "open_tcp_stream", connect)
    with pytest.raises(AdapterGone, match=r"^nothing answers at 192\.0\.2\.1:5678: timed out$"):
        async with open_socket_adapter(TcpAddress("192.0.2.1", 5678), USUAL):
            pass
    assert trio.current_time() == 10
