"""Conditions, hit conditions and log messages that the server does at stops, where the adapter has none of its own."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.session.exceptions import holds
from trio_debugmcp.session.log_template import Expression, template_parts
from trio_debugmcp.testing import ALL_CAPABILITIES, DebugClient, FakeAdapter

NOTHING = {"supportsConfigurationDoneRequest": True}
"""What an adapter declares that has only plain breakpoints."""

OURS = """
conditions = "ours"
hit-conditions = "ours"
log-messages = "ours"
"""


def here(**more: Any) -> dict[str, Any]:
    return {"file": __file__, "line": 1, **more}


def plain(**capabilities: bool) -> FakeAdapter:
    adapter = FakeAdapter({**NOTHING, **capabilities})
    adapter.frames = [("add", __file__, 1)]
    return adapter


async def passed(adapter: FakeAdapter, client: DebugClient, *values: str) -> list[str]:
    """Let the program pass the breakpoint with these values of `i`; return those at which it stayed stopped."""
    stopped = []
    for value in values:
        adapter.values["i"] = value
        adapter.values["i > 2"] = "true" if int(value) > 2 else "false"
        await adapter.stop("breakpoint")  # without ids: the place decides
        await trio.sleep(1)
        if (await client.call("debug_state"))["state"] == "Paused":
            stopped.append(value)
            await client.call("debug_continue", wait=False)
    return stopped


async def output(client: DebugClient, stream: str = "tracepoint") -> Any:
    return (await client.call("process_read_output", stream=stream))["entries"]


@pytest.mark.parametrize(
    ("wanted", "stops"),
    [
        ({"condition": "i > 2"}, ["3", "4"]),
        ({"hit_condition": "2"}, ["2"]),
        ({"condition": "i > 2", "hit_condition": "2"}, ["4"]),
        ({"log_message": "i is {i}"}, []),
    ],
)
@pytest.mark.parametrize("lines", ["", OURS])
async def test_what_an_adapter_lacks_or_does_otherwise_is_done_at_its_stops(
    autojump_clock: MockClock, wanted: dict[str, str], stops: list[str], lines: str
) -> None:
    adapter = plain() if not lines else FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    async with launched(lines, adapter, breakpoints=[here(**wanted)]) as client:
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "fake stops here at every pass, and the server decides" in listed
        assert await passed(adapter, client, "1", "2", "3", "4") == stops
        assert len(adapter.sent("continue")) == 4
        read = await client.read("debugger://session")
        assert read["state"] == "Running"


async def test_what_an_adapter_can_do_is_left_to_it(autojump_clock: MockClock) -> None:
    wanted = here(condition="i > 2", hit_condition="2")
    async with launched("", adapter := FakeAdapter(), breakpoints=[wanted]) as client:
        sent = {"line": 1, "condition": "i > 2", "hitCondition": "2"}
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [sent]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "every pass" not in listed


async def test_what_follows_a_condition_that_is_judged_here_is_judged_here_too(autojump_clock: MockClock) -> None:
    """Or the adapter would count, and write, at passes where the condition does not hold."""
    adapter = plain(supportsHitConditionalBreakpoints=True, supportsLogPoints=True)
    wanted = here(condition="i > 2", hit_condition="% 2", log_message="<{i}>")
    async with launched("", adapter, breakpoints=[wanted]) as client:
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]
        assert await passed(adapter, client, "1", "3", "4", "5", "6") == []
        assert await output(client) == [{"log": "<4>\n<6>\n"}]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert ", 4 hits" in listed


async def test_messages_that_are_written_here_are_output_and_hits_of_their_tracepoint(
    autojump_clock: MockClock,
) -> None:
    adapter = plain()
    async with launched("", adapter, breakpoints=[here(log_message="i={i} {{no}} {nope}")]) as client:
        assert await passed(adapter, client, "1", "2") == []
        error = "<error: NameError: name 'nope' is not defined>"
        assert await output(client) == [{"log": f"i=1 {{no}} {error}\ni=2 {{no}} {error}\n"}]
        assert await output(client, "stdout") == []
        events = (await client.read("debugger://timeline"))["events"]
        assert [each["payload"]["hitCount"] for each in events if each["type"] == "tracepoint"] == [1, 2]


async def test_a_condition_that_is_found_bad_at_its_first_pass_stops_there_and_says_so(
    autojump_clock: MockClock,
) -> None:
    adapter = plain()
    async with launched("", adapter, breakpoints=[here(condition="nope > 2")]) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        problem = "the condition `nope > 2` failed: NameError: name 'nope > 2' is not defined"
        assert (stop["breakpoints"], stop["notes"]) == (["bp-1"], [problem])
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert problem in listed


async def test_on_one_line_each_breakpoint_is_judged_and_the_adapter_gets_one(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsHitConditionalBreakpoints": False})
    adapter.frames = [("add", __file__, 1)]
    line = here(condition="i > 2")
    counted = {**here(hit_condition="2"), "column": 1}
    async with launched("", adapter, breakpoints=[line, counted]) as client:
        assert len(adapter.sent("setBreakpoints")[-1]["breakpoints"]) == 1
        named = []
        for value in ("1", "2", "3"):
            adapter.values["i > 2"] = "True" if value == "3" else "False"
            await adapter.stop("breakpoint", hit=[1])
            await trio.sleep(1)
            state = await client.call("debug_state")
            named.append(state.get("breakpoints"))
            if state["state"] == "Paused":
                await client.call("debug_continue", wait=False)
        assert named == [None, ["bp-2"], ["bp-1"]]


async def test_a_breakpoint_without_conditions_stops_beside_one_that_is_passed(autojump_clock: MockClock) -> None:
    adapter = plain(supportsFunctionBreakpoints=True)
    wanted = [here(condition="i > 2"), {"function": "add"}]
    async with launched("", adapter, breakpoints=wanted) as client:
        adapter.values["i > 2"] = "0"
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["breakpoints"] == ["fn-2"]


async def test_functions_may_have_messages_although_dap_has_none_for_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    adapter.values["i"] = "7"
    async with launched("", adapter, breakpoints=[{"function": "add", "log_message": "add({i})"}]) as client:
        assert adapter.sent("setFunctionBreakpoints")[-1]["breakpoints"] == [{"name": "add"}]
        await adapter.stop("function breakpoint", hit=[1])
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
        assert await output(client) == [{"log": "add(7)\n"}]


async def test_a_pause_that_is_asked_for_meanwhile_keeps_the_program_where_it_is(autojump_clock: MockClock) -> None:
    adapter = plain()
    async with launched("", adapter, breakpoints=[here(hit_condition="2")]) as client:
        adapter.withhold("pause")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: client.call("debug_pause"))
            await trio.sleep(1)
            await adapter.stop("breakpoint")
        assert (await client.call("debug_state"))["reason"] == "Pause"
        assert adapter.sent("continue") == []


@pytest.mark.parametrize(
    ("value", "truth"),
    [
        *[(each, True) for each in ("true", "True", "1", "-1", "0.5", "'a'", "[]", "<Item 1>")],
        *[(each, False) for each in ("false", "False", "0", "0.0", "nil", "null", "undefined", "NaN", "", "''", " 0 ")],
    ],
)
def test_a_value_holds_as_it_would_in_most_languages(value: str, truth: bool) -> None:
    assert holds(value) is truth


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("plain", ["plain"]),
        ("", []),
        ("{i}", [Expression("i")]),
        ("a {i + f({1})} b", ["a ", Expression("i + f({1})"), " b"]),
        ("{{i}} {s['}']}", ["{i} ", Expression("s['}']")]),
        ("{} {i", ["{} {i"]),
        ("{f(}", ["{f(}"]),
    ],
)
def test_a_message_is_text_and_what_stands_in_braces(message: str, parts: list[str | Expression]) -> None:
    assert template_parts(message) == parts
