"""Conditions, hit conditions and log messages that the server does at stops, where the adapter has none of its own."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch
from tests.session import natives
from tests.session.tables import launched
from trio_debugmcp.app import Options
from trio_debugmcp.dap.log_template import Expression, template_parts
from trio_debugmcp.dap.profiles.javascript.javascript import JavaScriptDialect
from trio_debugmcp.session.looking.by_probe.own_questions import holds
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import ALL_CAPABILITIES, DebugClient, FakeAdapter, FakeProfile, Refusal, connect

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


async def test_a_message_whose_condition_cannot_be_judged_stops_instead(autojump_clock: MockClock) -> None:
    adapter = plain()
    async with launched("", adapter, breakpoints=[here(condition="nope", log_message="x")]) as client:
        await adapter.stop("breakpoint")
        stop = await client.call("debug_wait")
        assert stop["notes"] == ["the condition `nope` failed: NameError: name 'nope' is not defined"]
        assert await output(client) == []


async def test_each_condition_is_judged_once_at_a_stop(autojump_clock: MockClock) -> None:
    adapter = plain(supportsFunctionBreakpoints=True)
    adapter.values["i > 2"] = "true"
    wanted = [here(condition="i > 2"), {"function": "add", "condition": "i > 2"}]
    async with launched("", adapter, breakpoints=wanted) as client:
        await adapter.stop("breakpoint")
        assert (await client.call("debug_wait"))["breakpoints"] == ["bp-1", "fn-2"]
        assert len(adapter.sent("evaluate")) == 2


async def test_what_an_adapter_says_of_a_breakpoint_is_shown_before_what_the_server_does(
    autojump_clock: MockClock,
) -> None:
    adapter = plain()

    async def said(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 1, "verified": True, "message": "in a library"}]}

    adapter.answer("setBreakpoints", said)
    async with launched("", adapter) as client:
        made = await client.call("breakpoint_set", **here(condition="i > 2"))
        assert made["message"] == "in a library"


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
        ("{f('\\'}')}", [Expression("f('\\'}')")]),
    ],
)
def test_a_message_is_text_and_what_stands_in_braces(message: str, parts: list[str | Expression]) -> None:
    assert template_parts(message) == parts


# --- Conditions that an adapter refuses, or takes and cannot judge ----------------------------------------------------


def refusing(adapter: FakeAdapter, *, by_error: bool = False, always: bool = False) -> None:
    """Let the adapter refuse a condition that names `nope`, or every breakpoint."""
    plausible = adapter.answer_to("setBreakpoints")

    async def answer(arguments: dict[str, Any]) -> object:
        body: Any = await plausible(arguments)
        for sent, answered in zip(arguments["breakpoints"], body["breakpoints"], strict=True):
            if always or "nope" in sent.get("condition", ""):
                if by_error:
                    raise Refusal("no symbol nope.")
                answered |= {"verified": False, "message": "no symbol nope."}
        return body

    adapter.answer("setBreakpoints", answer)


@pytest.mark.parametrize("by_error", [True, False])
@pytest.mark.parametrize("condition", [None, "i > 2"])
@pytest.mark.parametrize("paused", [True, False])
async def test_a_condition_that_the_adapter_refuses_is_invalid_and_what_was_there_stays(
    autojump_clock: MockClock, by_error: bool, condition: str | None, paused: bool
) -> None:
    adapter = FakeAdapter()
    refusing(adapter, by_error=by_error)
    before = [] if condition is None else [here(condition=condition)]
    async with launched("", adapter, breakpoints=before) as client:
        if paused:
            await adapter.stop("pause")
            await client.call("debug_wait")
        failed = await failure(client, "breakpoint_set", **here(condition="nope > 2"))
        assert failed.code == "INVALID_CONDITION"
        tried = [each["breakpoints"] for each in adapter.sent("setBreakpoints")]
        assert [{"line": 1, "condition": "1 == 2"}] in tried
        assert [{"line": 1}] not in tried  # which would stop the program meanwhile
        assert "The condition `nope > 2` is refused: no symbol nope. Correct it" in failed.message
        sent = [] if condition is None else [{"line": 1, "condition": condition}]
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == sent
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert [each.partition(" ")[0] for each in listed] == ["bp-1"] * len(before)
        assert "nope" not in str(listed)


class Writing(FakeProfile):
    """Its answer only says that a breakpoint is unbound, as js-debug's: why, it writes."""

    dialect = JavaScriptDialect()


async def test_what_an_adapter_writes_of_a_condition_after_it_has_refused_it_is_the_reason(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    refusing(adapter)
    answer = adapter.answer_to("setBreakpoints")

    async def say() -> None:
        if "nope" in str(adapter.sent("setBreakpoints")[-1]):
            said = "Syntax error setting breakpoint with condition \"nope )\" on line 1: Unexpected token ')'\n"
            await adapter.event("output", {"category": "stderr", "output": said})

    adapter.answer("setBreakpoints", answer, then=say)
    options = Options(settings=Settings(directory="/", profiles=(Writing(adapter),)))
    async with connect(options=options) as client:
        await launch(client, adapter)
        failed = await failure(client, "breakpoint_set", **here(condition="nope )"))
        assert "is refused: it does not parse: Unexpected token ')'. Correct it" in failed.message


async def test_a_place_that_is_refused_is_not_tried_again_where_no_condition_is_sent(
    autojump_clock: MockClock,
) -> None:
    adapter = plain()
    refusing(adapter, always=True)
    async with launched("", adapter) as client:
        made = await client.call("breakpoint_set", **here(condition="i > 2"))
        assert (made["state"], made["message"]) == ("Pending", "no symbol nope.")
        assert len(adapter.sent("setBreakpoints")) == 1


async def test_a_tracepoint_that_is_refused_leaves_the_breakpoint_that_was_there(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    refusing(adapter)
    async with launched("", adapter, breakpoints=[here()]) as client:
        await failure(client, "breakpoint_set", **here(condition="nope > 2", log_message="x"))
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1}]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert listed.startswith("bp-1")


async def test_a_place_that_the_adapter_refuses_is_pending_and_keeps_its_condition(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    refusing(adapter, always=True)
    async with launched("", adapter) as client:
        made = await client.call("breakpoint_set", **here(condition="i > 2"))
        assert (made["state"], made["message"]) == ("Pending", "no symbol nope.")
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1, "condition": "i > 2"}]


@pytest.mark.parametrize(
    ("condition", "problem"),
    [("nope > 2", "the condition `nope > 2` failed: NameError: name 'nope > 2' is not defined"), ("f(nope)", None)],
)
async def test_a_condition_that_an_adapter_takes_and_cannot_judge_is_said_at_each_stop(
    autojump_clock: MockClock, condition: str, problem: str | None
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    async with launched("", adapter, breakpoints=[here(condition=condition)]) as client:
        for _ in range(2):
            await adapter.stop("breakpoint", hit=[1])
            stop = await client.call("debug_wait")
            assert stop["breakpoints"] == ["bp-1"]
            assert stop.get("notes") == (problem and [problem])
            await client.call("debug_continue", wait=False)
        asked = [each["expression"] for each in adapter.sent("evaluate")]
        assert asked.count(condition) == (2 if problem else 0)  # a call might change something
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert (problem is not None) is ("failed" in listed)


async def test_a_stop_of_an_adapter_that_stops_in_doubt_counts_only_if_the_condition_holds(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    async with launched('conditions = "doubted"', adapter, breakpoints=[here(condition="i > 2")]) as client:
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1, "condition": "i > 2"}]
        assert await passed(adapter, client, "1", "3", "2", "4") == ["3", "4"]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert listed.endswith(" if i > 2, 2 hits")


async def test_a_condition_of_which_lldb_says_that_it_cannot_judge_it_is_judged_at_each_stop_even_if_it_calls(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    condition, error = 'same(hed, "x")', "error: <user expression 0>:1:6: use of undeclared identifier 'hed'"
    said = f'error: stopped due to an error evaluating condition of breakpoint 1.1: "{condition}"\n'
    said += f"Couldn't parse conditional expression:\n{error}\n    1 | {condition}\n      |      ^\n\n"
    async with natives.launched("lldb-dap", adapter, breakpoints=[here(condition=condition)]) as client:
        for _ in range(2):  # as lldb could not, it is evaluated here once
            await adapter.event("output", {"category": "stderr", "output": said})
            await adapter.stop("breakpoint", hit=[1])
            problem = f"the condition `{condition}` failed: NameError: name '{condition}' is not defined"
            assert (await client.call("debug_wait"))["notes"] == [problem]
            await client.call("debug_continue", wait=False)
        assert [each["expression"] for each in adapter.sent("evaluate")].count(condition) == 2


async def test_a_condition_that_fails_in_gdb_is_why_it_stops_and_what_gdb_writes_of_it_is_not_the_programs(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    condition, error = 'name == "dan"', 'No symbol "operator==" in current context.'

    async def refused(_: dict[str, Any]) -> object:
        raise Refusal(error)

    adapter.answer("evaluate", refused)
    async with natives.launched("gdb", adapter, breakpoints=[here(condition=condition)]) as client:
        for text in ("\u274c\ufe0f Error in testing condition for breakpoint 1:\n", f"{error}\n", f"{error}\n"):
            await adapter.event("output", {"category": "stdout", "output": text})
        await adapter.stop("breakpoint", hit=[1])
        [note] = (await client.call("debug_wait"))["notes"]
        assert note.startswith(f"the condition `{condition}` failed: {error} Texts are compared by `$_streq(")
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert listed.endswith(note)
        assert await output(client, "stdout") == [{"stdout": f"{error}\n"}]  # the second, which the program wrote


async def test_a_condition_that_lldb_cannot_judge_and_that_holds_when_it_is_judged_again_has_not_failed(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("total", __file__, 1)]
    said = 'error: stopped due to an error evaluating condition of breakpoint 1.1: "item.count == 0"\n'
    said += "error: it is a pointer\n"
    async with natives.launched("lldb-dap", adapter, breakpoints=[here(condition="item.count == 0")]) as client:
        states = []
        for value in ("false", "true"):
            adapter.values["item.count == 0"] = value
            await adapter.event("output", {"category": "stderr", "output": said})
            await adapter.stop("breakpoint", hit=[1])
            await trio.sleep(1)
            states.append((await client.call("debug_state"))["state"])
        stop = await client.call("debug_state")
        assert (states, stop["breakpoints"], stop.get("notes")) == (["Running", "Paused"], ["bp-1"], None)
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert listed.endswith(" if item.count == 0, 1 hit")


@pytest.mark.parametrize(
    ("condition", "advice"),
    [
        ("head->value > 1", "have no `->`: write `head.value > 1`, or `/nat head->value > 1`"),
        ("same(head->value)", "have no `->`: write `same(head.value)`, or `/nat same(head->value)`"),
        ("*head > 1", "have members, indices and operators; lldb's own are `/nat *head > 1`"),
    ],
)
async def test_what_codelldb_cannot_parse_is_said_at_each_stop_with_what_to_write_and_not_in_the_programs_output(
    autojump_clock: MockClock, condition: str, advice: str
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    said = f"Syntax error: {condition}"
    told = f"failed: {said}: CodeLLDB's simple expressions {advice}"

    async def refuse(arguments: object) -> object:
        raise Refusal(f"{said}\n    ^")

    adapter.answer("evaluate", refuse)
    async with natives.launched("codelldb", adapter, breakpoints=[here(condition=condition)]) as client:
        output = f"Could not parse breakpoint condition:\n{said}\n    ^\n"
        await adapter.event("output", {"category": "stderr", "output": output})
        for _ in range(2):
            await adapter.stop("breakpoint", hit=[1])
            stop = await client.call("debug_wait")
            assert stop["notes"] == [f"the condition `{condition}` {told}"]
            assert "stderr" not in stop
            await client.call("debug_continue", wait=False)
        await adapter.stop("pause")
        await client.call("debug_wait")
        failed = await failure(client, "evaluate", expression=condition)
        assert failed.message.endswith(told)
        assert (await client.call("process_read_output", stream="stderr"))["entries"] == []


async def test_a_step_that_ends_at_a_breakpoint_names_it_only_if_its_condition_holds(
    autojump_clock: MockClock,
) -> None:
    """gdb names those whose condition does not hold, too."""
    adapter = FakeAdapter()
    adapter.frames = [("add", __file__, 1)]
    wanted = [here(condition="i > 2"), {"function": "add", "hit_condition": "2"}]
    async with launched('hit-conditions = "ours"', adapter, breakpoints=wanted) as client:
        named = []
        for value in ("false", "true"):
            adapter.values["i > 2"] = value
            await adapter.stop("step", hit=[1, 2])
            stop = await client.call("debug_wait")
            named.append((stop["reason"], stop.get("breakpoints")))
            await client.call("debug_continue", wait=False)
        assert named == [("Step", None), ("Step", ["bp-1", "fn-2"])]
        assert len(adapter.sent("continue")) == 2
        line, function = (await client.call("breakpoint_list"))["breakpoints"]
        assert line.endswith(", 1 hit")
        assert ", 2 hits" in function
