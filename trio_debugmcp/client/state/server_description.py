"""What the server said of itself in the handshake, and the announcement of what differs from before."""

from mcp import types
from msgspec import Struct

from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.events import CapabilitiesChange, InstructionsChange, ServerInfoChange


class ServerDescription(Struct, frozen=True):
    """What the server reported in the handshake; everything is None when disconnected."""

    capabilities: types.ServerCapabilities | None = None
    info: types.Implementation | None = None
    instructions: str | None = None
    protocol_version: str | None = None


def announce_server(bus: EventBus, before: ServerDescription, server: ServerDescription) -> None:
    """Publish what has changed."""
    if server.capabilities != before.capabilities:
        bus.publish(CapabilitiesChange(capabilities=server.capabilities))
    if server.info != before.info:
        bus.publish(ServerInfoChange(server_info=server.info))
    if server.instructions != before.instructions:
        bus.publish(InstructionsChange(instructions=server.instructions))
