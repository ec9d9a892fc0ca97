"""What an editor is offered: what its session's adapter can do in truth, and nothing that each use would be refused."""

from typing import Any

import pytest
from trio.testing import MockClock

from tests.editors.bench import open_bench, paused
from trio_debugmcp.dap.messages import Capabilities, ExceptionBreakpointFilter
from trio_debugmcp.dap.profiles.habits import Habits
from trio_debugmcp.editors.capabilities import ALWAYS, capabilities
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

SETS = ("supportsSetVariable", "supportsSetExpression")


def test_variables_are_set_by_an_adapter_that_can_or_by_the_probe() -> None:
    for able, probe, sets in (
        (Capabilities(supports_log_points=True), False, False),
        (Capabilities(supports_log_points=True), True, True),
        (Capabilities(supports_set_variable=True), False, True),
        (Capabilities(supports_set_expression=True), False, True),
    ):
        offered = capabilities("control", able, probe=probe)
        assert [offered[each] for each in SETS] == [sets, sets]


def test_breakpoints_on_functions_and_exceptions_are_offered_where_there_are_some() -> None:
    without = capabilities("control", Capabilities(supports_log_points=True))
    assert without["supportsFunctionBreakpoints"] is False
    assert (without["exceptionBreakpointFilters"], without["supportsExceptionFilterOptions"]) == ([], False)
    filters = [ExceptionBreakpointFilter("raised")]
    able = Capabilities(supports_function_breakpoints=True, exception_breakpoint_filters=filters)
    offered = capabilities("control", able)
    assert offered["supportsFunctionBreakpoints"] is True
    assert [each["supportsCondition"] for each in offered["exceptionBreakpointFilters"]] == [True] * 3


@pytest.mark.parametrize("adapter", [None, Capabilities()])
def test_before_an_adapter_is_known_an_editor_is_asked_for_all_breakpoints_that_it_has(
    adapter: Capabilities | None,
) -> None:
    offered = capabilities("control", adapter)
    for each in (*SETS, "supportsFunctionBreakpoints", "exceptionBreakpointFilters"):
        assert offered[each] == ALWAYS[each]


async def test_what_an_adapter_only_declares_is_not_offered(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True})
    async with open_bench(adapter) as bench, bench.editor() as editor:
        lacks = ("supportsFunctionBreakpoints", "supportsSetVariable")
        bench.server.app.debugger.settings.profiles[0].habits = Habits(lacks=lacks)
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("entry")
        await editor.join()
        offered: dict[str, Any] = editor.bodies("capabilities")[-1]["capabilities"]
        assert not any(offered[each] for each in lacks)


async def test_a_program_with_the_probe_has_its_variables_set_by_that(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.probe = {}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        offered: dict[str, Any] = editor.bodies("capabilities")[-1]["capabilities"]
        assert [offered[each] for each in SETS] == [True, True]


async def test_a_condition_of_exceptions_that_is_offered_is_taken(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        offered = editor.bodies("capabilities")[-1]["capabilities"]["exceptionBreakpointFilters"]
        assert offered[0]["supportsCondition"] is True
        options = [{"filterId": offered[0]["filter"], "condition": "count > 2"}]
        [made] = (await editor.ask("setExceptionBreakpoints", filters=[], filterOptions=options))["breakpoints"]
        assert made["verified"] is True
        assert [each.condition for each in bench.server.app.debugger.state.exceptions] == ["count > 2"]
