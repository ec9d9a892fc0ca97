"""The log of a scenario: its times, and what it does not show."""

import trio
from trio.testing import MockClock

from trio_debugmcp.testing.scenario.report import Entry
from trio_debugmcp.testing.scenario.scenario_log import ScenarioLog
from trio_debugmcp.testing.scenario.script_lines import DIRECTORY


async def test_the_directory_of_a_run_which_has_another_name_each_time_is_not_shown(
    autojump_clock: MockClock,
) -> None:
    log = ScenarioLog("/tmp/scenario-x1")
    entry = log.add("agent", "reads /tmp/scenario-x1/app.py", 3, "no /tmp/scenario-x1")
    log.object_to(entry, "but /tmp/scenario-x1")
    shown = Entry(0.0, "agent", f"reads {DIRECTORY}/app.py", 3, (f"no {DIRECTORY}", f"but {DIRECTORY}"))
    assert log.entries == [shown]


async def test_requests_of_one_instant_share_an_entry(autojump_clock: MockClock) -> None:
    log = ScenarioLog("/tmp/scenario-x1")
    log.add_request("root", "threads", {})
    log.add_request("root", "stackTrace", {})
    await trio.sleep(1)
    log.add_request("root", "scopes", {})
    assert [(entry.at, entry.text) for entry in log.entries] == [(0.0, "← threads, stackTrace"), (1.0, "← scopes")]
