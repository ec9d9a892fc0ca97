"""What the server announces of itself, whoever asks the SDK's server for it."""

from mcp.server.lowlevel import NotificationOptions

from trio_debugmcp.app import Options, open_app


async def test_list_changes_are_announced_to_transports_that_ask_without_options() -> None:
    """The SDK's HTTP transport does."""
    async with open_app(Options()) as app, app.open_server("control") as server:
        announced = server.create_initialization_options().capabilities
        asked = server.create_initialization_options(NotificationOptions(tools_changed=True)).capabilities
    assert announced.resources is not None
    assert (announced.resources.subscribe, announced.resources.list_changed) == (True, True)
    assert announced.tools is not None
    assert announced.tools.list_changed is False
    assert asked.tools is not None
    assert asked.tools.list_changed is True
