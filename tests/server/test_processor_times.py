"""The processor time of each process, as it is read by who looks on."""

import json

import pytest
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.server.scene import running
from trio_debugmcp.server import processor_times
from trio_debugmcp.testing import FakeAdapter, connect

PROCESSOR = processor_times.PROCESSOR


async def test_each_process_has_its_processor_time_and_what_is_left_out_is_counted(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect("modern", options=FakeAdapter().options()) as client:
        assert json.loads(await client.read_text(PROCESSOR))["processes"] == []
    async with running("legacy") as (client, _):
        found = json.loads(await client.read_text(PROCESSOR))
        assert found["at"] > 0
        assert found["processesLeftOut"] == 0
        (process,) = found["processes"]
        assert process["sessionId"] == "s-1"
        assert process["seconds"] is None or process["seconds"] >= 0  # the process of that id may be anyone's
        monkeypatch.setattr(processor_times, "MOST_PROCESSES", 0)
        found = json.loads(await client.read_text(PROCESSOR))
        assert (found["processes"], found["processesLeftOut"]) == ([], 1)
        with pytest.raises(MCPError, match=f"Unknown resource.*{PROCESSOR}"):
            async with client.subscribed(PROCESSOR):
                pass
