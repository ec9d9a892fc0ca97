"""The fault kit: streams, debug adapters, MCP clients and editors that misbehave, each in one way.

`FAULTS` lists what an adapter can do wrong, `CLIENT_FAULTS` what a client can, `EDITOR_FAULTS` what an editor can.
"""

from trio_debugmcp.testing.faults.editors import EDITOR_FAULTS, EditorFault, RawEditor, connect_raw_editor
from trio_debugmcp.testing.faults.faulty_clients import CLIENT_FAULTS, ClientFault, RawClient, connect_raw
from trio_debugmcp.testing.faults.listing import FAULTS, Fault

__all__ = [
    "CLIENT_FAULTS",
    "EDITOR_FAULTS",
    "FAULTS",
    "ClientFault",
    "EditorFault",
    "Fault",
    "RawClient",
    "RawEditor",
    "connect_raw",
    "connect_raw_editor",
]
