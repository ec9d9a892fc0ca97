"""For tests, ours and yours: a scripted debug adapter, scenarios on a virtual clock, and MCP clients on any transport.

docs/testing.md shows how to use it; `trio_debugmcp.testing.faults` makes adapters and clients misbehave. Nothing here
needs pytest, except `scenarios`.
"""

from trio_debugmcp.testing.connect import (
    Server,
    connect,
    connect_http,
    connect_process,
    connect_stdio,
    connect_streams,
    connect_websocket,
    open_server,
)
from trio_debugmcp.testing.debug_client import DebugClient, Notice, ToolFailed
from trio_debugmcp.testing.fake_adapter import FakeAdapter, FakeProfile
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Refusal
from trio_debugmcp.testing.fake_fleet import FakeFleet, FakeWorker
from trio_debugmcp.testing.scenario.parametrize import scenarios
from trio_debugmcp.testing.scenario.player import play, play_all, play_in, read_scenario
from trio_debugmcp.testing.scenario.report import Entry, Report
from trio_debugmcp.testing.scenario.retime import retime
from trio_debugmcp.testing.scenario.script_lines import BadScenario, Scenario
from trio_debugmcp.testing.scenario.script_text import decode_scenario, encode_scenario

__all__ = [
    "ALL_CAPABILITIES",
    "BadScenario",
    "DebugClient",
    "Entry",
    "FakeAdapter",
    "FakeFleet",
    "FakeProfile",
    "FakeWorker",
    "Notice",
    "Refusal",
    "Report",
    "Scenario",
    "Server",
    "ToolFailed",
    "connect",
    "connect_http",
    "connect_process",
    "connect_stdio",
    "connect_streams",
    "connect_websocket",
    "decode_scenario",
    "encode_scenario",
    "open_server",
    "play",
    "play_all",
    "play_in",
    "read_scenario",
    "retime",
    "scenarios",
]
