"""Which client owns the session, and when a session without an owner ends (server/clients.py)."""

from math import inf

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import SESSION, launch
from trio_debugmcp.server.clients import ClientsStatistics
from trio_debugmcp.testing import FakeAdapter, ToolFailed, open_server

LINGER = 100.0


async def test_the_owner_is_the_client_that_last_called_a_controlling_tool(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options(linger=LINGER)) as server, server.connect() as staying:
        clients = server.app.clients
        async with server.connect(role="observe") as observer, server.connect() as leaving:
            assert clients.statistics() == ClientsStatistics(in_control=2, observing=1, owned=False, ends_at=inf)
            await launch(leaving, adapter)
            owner = clients.owner
            assert owner is not None
            await observer.call("debug_state")
            with pytest.raises(ToolFailed, match="may only observe"):
                await observer.call("debug_pause")
            assert clients.owner is owner
            await staying.call("breakpoint_list")
            start = trio.current_time()
        now = clients.statistics()
        assert (now.in_control, now.observing, now.owned) == (1, 0, False)
        assert now.ends_at == pytest.approx(start + LINGER)
        await staying.call("breakpoint_set", file=adapter.program, line=1)
        assert clients.statistics() == ClientsStatistics(in_control=1, observing=0, owned=True, ends_at=inf)
        await trio.sleep(2 * LINGER)
        assert (await staying.read(SESSION))["state"] == "Running"
    assert len(clients) == 0


async def test_a_client_that_is_not_the_owner_disconnects_without_consequences(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options(linger=LINGER)) as server, server.connect() as owner:
        async with server.connect() as former:
            await launch(former, adapter)
            await owner.call("breakpoint_set", file=adapter.program, line=1)
        assert server.app.clients.statistics().owned
        await trio.sleep(2 * LINGER)
        assert (await owner.read(SESSION))["state"] == "Running"


async def test_a_session_without_an_owner_ends_after_the_linger_time_with_the_reason(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options(linger=LINGER)) as server, server.connect(role="observe") as observer:
        async with server.connect() as owner:
            await launch(owner, adapter)
        await trio.sleep(LINGER - 1)
        assert (await observer.read(SESSION))["state"] == "Running"
        await trio.sleep(10)
        last = await observer.call("debug_state")
        assert last["notes"] == ["the client that used it has disconnected"]
        # The next session has an owner again, whatever became of the last one.
        async with server.connect() as next_owner:
            await launch(next_owner, adapter)
            assert server.app.clients.statistics() == ClientsStatistics(
                in_control=1, observing=1, owned=True, ends_at=inf
            )


async def test_the_representation_names_roles_and_owner(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        assert repr(server.app.clients) == "<Clients: 1 in control, 0 observing, owner=None>"
        await launch(client, adapter)
        assert repr(server.app.clients) == ("<Clients: 1 in control, 0 observing, owner=<Client 1 role='control'>>")
