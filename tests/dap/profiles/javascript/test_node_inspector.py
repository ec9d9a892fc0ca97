"""The inspector of a process: whose it is, and what is said where there is none."""

import os

import pytest
import trio

from trio_debugmcp.dap.profiles.javascript.node_inspector import inspector_port, listening_ports
from trio_debugmcp.errors import UsageError
from trio_debugmcp.patience import USUAL

pytestmark = pytest.mark.real


async def test_the_ports_of_a_process_are_those_that_it_listens_on() -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    assert port in listening_ports(os.getpid())
    await listener.aclose()
    assert port not in listening_ports(os.getpid())


async def test_a_process_of_another_kind_gets_no_signal() -> None:
    with pytest.raises(UsageError, match="not node"):  # the signal would end this test
        await inspector_port(os.getpid(), USUAL)
    assert listening_ports(2**22 + 1) == []
