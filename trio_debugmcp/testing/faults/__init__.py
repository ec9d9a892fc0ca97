"""The fault kit: streams, debug adapters and MCP clients that misbehave, each in one way.

`FAULTS` lists what an adapter can do wrong, `CLIENT_FAULTS` what a client can.
"""

from trio_debugmcp.testing.faults.clients import CLIENT_FAULTS, ClientFault, RawClient, connect_raw
from trio_debugmcp.testing.faults.listing import FAULTS, Fault

__all__ = ["CLIENT_FAULTS", "FAULTS", "ClientFault", "Fault", "RawClient", "connect_raw"]
