"""The capabilities that the server declares, in each protocol era and over each transport."""

import pytest
from mcp.server.lowlevel import NotificationOptions
from trio.testing import MockClock

from trio_debugmcp.app import Options, open_app
from trio_debugmcp.server.declared import WEBSITE
from trio_debugmcp.testing import connect
from trio_debugmcp.testing.connect import Era


async def test_list_changes_are_declared_to_transports_that_ask_without_options() -> None:
    """As the HTTP transport of the SDK asks."""
    async with open_app(Options()) as app, app.open_server("control") as server:
        announced = server.create_initialization_options().capabilities
        asked = server.create_initialization_options(NotificationOptions(tools_changed=True)).capabilities
    assert announced.resources is not None
    assert (announced.resources.subscribe, announced.resources.list_changed) == (True, True)
    assert announced.tools is not None
    assert announced.tools.list_changed is False
    assert asked.tools is not None
    assert asked.tools.list_changed is True


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_every_capability_is_declared_in_both_eras(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        declared = client.sdk.server_capabilities
        assert declared.resources is not None
        assert (declared.resources.subscribe, declared.resources.list_changed) == (True, True)
        for each in (declared.tools, declared.prompts, declared.completions, declared.logging):
            assert each is not None


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_what_is_declared_is_what_is_there(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era) as client:
        declared = client.sdk.server_capabilities
        assert set(declared.extensions or {}) == {"io.modelcontextprotocol/skills", "io.modelcontextprotocol/ui"}
        assert declared.tools is not None
        assert declared.prompts is not None
        assert not declared.tools.list_changed, "the list never changes"
        assert not declared.prompts.list_changed
        info = client.sdk.server_info
        assert info is not None
        assert (info.name, info.website_url) == ("trio-debugmcp", WEBSITE)
        assert info.description
