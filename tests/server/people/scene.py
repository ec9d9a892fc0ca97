"""An agent and a person at a page, with a program that is paused."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import trio
from msgspec import Struct

from tests.server.scene import launch
from trio_debugmcp.state.people.party import People
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server
from trio_debugmcp.testing.connect import Server

PEOPLE = "debugger://people"


class Scene(Struct):
    """Who is there."""

    server: Server
    adapter: FakeAdapter
    agent: DebugClient

    @property
    def people(self) -> People:
        """Who is at the server, and what was said."""
        return self.server.app.debugger.state.people

    @asynccontextmanager
    async def page(self, key: str = "tab-number-one") -> AsyncIterator[DebugClient]:
        """Open a page in control, at which a person sits."""
        async with self.server.connect(name="dashboard") as page:
            await page.call("person_join", key=key)
            yield page

    async def events(self, *types: str) -> list[dict[str, Any]]:
        """Return what happened, of these types, without what is empty."""
        found = await self.agent.call("timeline_query", types=list(types), full=True)
        return [{"type": each["type"], **each["payload"]} for each in found["events"]]


@asynccontextmanager
async def scene(*, session: bool = True, **options: Any) -> AsyncIterator[Scene]:
    """Serve an agent, whose program is paused at its entry, with nothing pending."""
    adapter = FakeAdapter()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(open_server(adapter.options(**options)))
        agent = await stack.enter_async_context(server.connect(name="agent"))
        if session:
            await launch(agent, adapter)
            await adapter.stop("entry")
        await trio.sleep(10)
        yield Scene(server, adapter, agent)
