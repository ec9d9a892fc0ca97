"""What persons tell agents, and did (server/people/chat.py, person_actions.py, other_clients.py)."""

import json
from functools import partial

import mcp_types as types
import pytest
import trio
from trio.testing import MockClock

from tests.server.people.scene import PEOPLE, scene
from tests.server.scene import launch
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.people.other_clients import OtherClients
from trio_debugmcp.server.people.person_actions import deed_of, sentence, watching
from trio_debugmcp.server.people.presence import Presence
from trio_debugmcp.server.people.words import with_words
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.session.debugger import READER
from trio_debugmcp.state.people.party import MAX_PENDING
from trio_debugmcp.testing import ToolFailed, open_server


class Connection:
    """A connection, which is not that of any other client."""


FAR = f"/{'a_long_name/' * 20}a"
"""A path that leaves no room for anything else."""

SAID = 'a person (dashboard) says: "it is the discount"'


async def test_a_message_is_in_the_next_answer_of_any_tool_and_in_no_other(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        for tool in ("threads_list", "debug_state", "timeline_query", "breakpoint_list"):
            assert (await page.call("agent_message", text="it is the discount"))["agents"] == 1
            assert (await now.agent.call(tool))["notes"] == [SAID], tool
            assert "notes" not in await now.agent.call(tool), tool
        shown = (await page.read(PEOPLE))["messages"]
        assert all(each["to"][0]["deliveredAt"] for each in shown)
        assert [each["message"] for each in await now.events("messageSent")] == 4 * ["it is the discount"]


async def test_notes_of_deeds_and_words_are_in_the_order_in_which_they_happened(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await now.agent.call("debug_state")
        await page.call("breakpoint_set", file=now.adapter.program, line=3)
        await trio.sleep(1)
        await page.call("agent_message", text="it is the discount")
        await trio.sleep(1)
        await page.call("breakpoint_remove", id="*")
        notes = (await now.agent.call("debug_state"))["notes"]
        assert [each.partition(") ")[2].split()[0] for each in notes] == ["set", "says:", "removed"]


async def test_a_watch_of_a_page_is_not_a_deed_and_what_a_person_types_is(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        now.adapter.values = {"total": "3"}
        await now.agent.call("debug_state")
        await page.call("evaluate", expression="total")
        assert "notes" not in await now.agent.call("debug_state")
        await page.call("evaluate", expression="total", timeout=30)
        assert (await now.agent.call("debug_state"))["notes"] == ["a person (dashboard) evaluated total"]


async def test_a_message_is_in_a_failed_answer_too(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("agent_message", text="it is the discount")
        request = types.CallToolRequest(params=types.CallToolRequestParams(name="debug_nothing", arguments={}))
        result = await now.agent.sdk.session.send_request(request, types.CallToolResult)
        body = json.loads(result.content[0].text)  # type: ignore[union-attr]
        assert (result.is_error, body["error"]["code"], body["notes"]) == (True, "INVALID_PARAMETER", [SAID])


async def test_a_message_that_arrives_during_a_wait_is_in_its_answer(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        answers = []

        async def go() -> None:
            answers.append(await now.agent.call("debug_continue", timeout=9))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(go)
            await trio.sleep(3)
            await page.call("agent_message", text="it is the discount")
        assert SAID in answers[0]["notes"]


async def test_a_message_is_kept_when_the_call_that_could_have_carried_it_is_cancelled(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        with trio.move_on_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(now.agent.call, "debug_continue"))
                await trio.sleep(1)
                await page.call("agent_message", text="it is the discount")
        await trio.sleep(1)
        assert (await now.agent.call("debug_state"))["notes"] == [SAID]


async def test_a_message_goes_to_all_agents_or_to_the_chosen_one_and_never_to_pages(autojump_clock: MockClock) -> None:
    async with (
        scene() as now,
        now.page() as page,
        now.page("tab-number-two") as other,
        now.server.connect(name="second") as second,
    ):
        await second.call("debug_state")
        assert (await page.call("agent_message", text="it is the discount"))["agents"] == 2
        assert (await second.call("debug_state"))["notes"] == [SAID]
        assert (await now.agent.call("debug_state"))["notes"] == [SAID]
        ids = {each.name: each.id for each in now.people.agents}
        await page.call("agent_message", text="it is the discount", to=[ids["second"]])
        assert "notes" not in await now.agent.call("debug_state")
        assert (await second.call("debug_state"))["notes"] == [SAID]
        assert "notes" not in await other.call("debug_state")
        with pytest.raises(ToolFailed, match=r"There is no agent 'c-9'. Agents: c-1 \(agent\), c-4 \(second\)."):
            await page.call("agent_message", text="hello", to=["c-9"])


async def test_a_message_for_an_agent_that_leaves_is_shown_as_such_and_waits_for_its_return(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        async with now.server.connect(name="second") as second:
            await second.call("debug_state")
            to = [each.id for each in now.people.agents if each.name == "second"]
            await page.call("agent_message", text="it is the discount", to=to)
        await trio.sleep(1)
        assert [each["left"] for each in (await page.read(PEOPLE))["messages"][0]["to"]] == [True]
        async with now.server.connect(name="second") as second:
            await second.call("breakpoint_list")
            assert [each["left"] for each in (await page.read(PEOPLE))["messages"][0]["to"]] == [False]


async def test_agents_of_the_modern_era_that_share_a_connection_are_known_by_name(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page, now.server.connect("modern", name="other") as other:
        await other.call("debug_state")
        await page.call("agent_message", text="it is the discount")
        assert (await other.call("debug_state"))["notes"] == [SAID]


async def test_too_many_messages_for_an_agent_that_calls_nothing_are_refused(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        for number in range(MAX_PENDING):
            await page.call("agent_message", text=f"{number}")
        with pytest.raises(ToolFailed, match="20 messages wait for agent already"):
            await page.call("agent_message", text="one more")
        assert len((await now.agent.call("debug_state"))["notes"]) == MAX_PENDING
        await page.call("agent_message", text="one more")
        assert len((await page.read(PEOPLE))["messages"]) == MAX_PENDING


async def test_without_an_agent_a_message_is_refused(autojump_clock: MockClock) -> None:
    async with open_server() as server, server.connect(name="dashboard") as page:
        await page.call("person_join", key="tab-number-one")
        with pytest.raises(ToolFailed, match="No agent is connected"):
            await page.call("agent_message", text="hello")


# --- Deeds ------------------------------------------------------------------------------------------------------------


async def test_what_a_person_did_is_in_the_agents_next_answer_in_one_sentence(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page, now.page("tab-number-two") as other:
        await now.agent.call("debug_state")
        for _ in range(3):
            await page.call("debug_step", wait=False)
            await now.adapter.stop("step")
            await trio.sleep(1)
        await page.call("breakpoint_set", file=now.adapter.program, line=1, condition="qty > 10")
        await page.call("variables_get")
        answer = await now.agent.call("threads_list")
        name = now.adapter.program.rpartition("/")[2]
        assert answer["notes"] == [f"a person (dashboard) stepped over 3 times, set bp-1 at {name}:1 if qty > 10"]
        assert "notes" not in await now.agent.call("threads_list")
        assert "notes" not in await other.call("threads_list")  # a person sees it on the page


async def test_each_agent_on_a_shared_connection_learns_what_a_person_did_and_what_the_others_did(
    autojump_clock: MockClock,
) -> None:
    others, stepped = OtherClients(), "a person (page) stepped over"
    shared, page = Connection(), Connection()
    for name in ("one", "two"):
        others.caller(shared, name)
        assert [text for _, text in others.deeds(shared, name)] == []
        assert others.notes(shared, name, lambda _: True) == []
    others.called(page, "page", "debug_step", "stepped over")
    others.called(shared, "one", "debug_continue")
    assert [text for _, text in others.deeds(shared, "one")] == [stepped]
    assert [text for _, text in others.deeds(shared, "two")] == [stepped]
    assert [text for _, text in others.deeds(shared, "two")] == []
    assert others.notes(shared, "one", lambda _: True) == []
    assert others.notes(shared, "two", lambda _: True) == ["one called debug_continue"]
    # One that comes later has not been here before, and misses nothing from the beginning of its first call on.
    await trio.sleep(1)
    others.caller(shared, "three")
    await trio.sleep(1)
    others.called(page, "page", "debug_continue", "continued")
    assert [text for _, text in others.deeds(shared, "three")] == ["a person (page) continued"]


async def test_what_a_person_did_is_kept_when_the_call_that_could_have_said_it_is_cancelled(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.server.app.clients.connect("control") as client:
        debugger, others, page = now.server.app.debugger, OtherClients(), Connection()
        await Presence(debugger, client).arrived("second")
        READER.set(others.caller(client, "second"))
        others.called(page, "page", "debug_step", "stepped over")
        result = ToolResult(text="{}", structured_content={})
        with trio.CancelScope() as scope:
            scope.cancel()
            assert (await with_words(debugger, others, result)).structured_content == {}
        for notes in ({"notes": ["a person (page) stepped over"]}, {}):
            assert (await with_words(debugger, others, result)).structured_content == notes


async def test_what_a_page_reads_is_in_no_note_and_neither_is_the_hold_itself(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        for _ in range(2):
            await now.agent.call("debug_state")
            await page.call("variables_get")
            await page.call("session_hold")
            assert "notes" not in await now.agent.call("debug_state")


async def test_what_a_person_did_before_an_agent_came_is_not_in_its_answers(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        await page.call("debug_step", wait=False)
        await trio.sleep(1)
        async with now.server.connect(name="second") as second:
            assert "notes" not in await second.call("breakpoint_list")
            await now.adapter.stop("step")
            await trio.sleep(1)
            await page.call("debug_continue", wait=False)
            assert (await second.call("breakpoint_list"))["notes"] == ["a person (dashboard) continued"]


async def test_a_person_who_starts_a_program_is_in_the_answer_to_an_agent_that_has_not_called_anything_yet(
    autojump_clock: MockClock,
) -> None:
    async with scene(session=False) as now, now.page() as page:
        await launch(page, now.adapter)
        name = now.adapter.program.rpartition("/")[2]
        assert (await now.agent.call("breakpoint_list"))["notes"] == [f"a person (dashboard) started {name}"]


async def test_a_watch_that_may_change_the_program_is_named_once_and_what_is_typed_each_time(
    autojump_clock: MockClock,
) -> None:
    async with scene() as now, now.page() as page:
        now.adapter.values["items.pop()"] = "3"
        for _ in range(2):
            await page.call("evaluate", expression="items.pop()")
        watched = "a person (dashboard) watches items.pop() at every stop, which may change the program"
        assert (await now.agent.call("threads_list"))["notes"] == [watched]
        await page.call("evaluate", expression="items.pop()")
        assert "notes" not in await now.agent.call("threads_list")
        for _ in range(2):
            await page.call("evaluate", expression="items.pop()", timeout=30)
            notes = (await now.agent.call("threads_list"))["notes"]
            assert notes == ["a person (dashboard) evaluated items.pop()"]


async def test_a_watch_of_a_variable_is_not_named_and_an_assignment_each_time(autojump_clock: MockClock) -> None:
    async with scene() as now, now.page() as page:
        now.adapter.values.update({"total": "3", "total = 3": ""})
        for _ in range(2):
            await page.call("evaluate", expression="total")
            await page.call("evaluate", expression="total = 3")
            await now.agent.call("threads_list")
        await page.call("evaluate", expression="total")
        assert "notes" not in await now.agent.call("threads_list")
        await page.call("evaluate", expression="total = 3")
        assert (await now.agent.call("threads_list"))["notes"] == ["a person (dashboard) evaluated total = 3"]


@pytest.mark.parametrize(
    ("tool", "arguments", "answer", "words"),
    [
        ("debug_step", {"mode": "in"}, {}, "stepped in"),
        ("debug_step", {}, {}, "stepped over"),
        ("debug_continue", {}, {}, "continued"),
        ("debug_restart", {}, {}, "restarted the program"),
        ("debug_disconnect", {}, {}, "ended the session"),
        ("debug_launch", {"program": "/src/app.py"}, {}, "started app.py"),
        ("debug_run_to", {"file": "/src/shop.py", "line": 9}, {}, "ran to shop.py:9"),
        ("breakpoint_set", {"function": "total"}, {"id": "bp-3"}, "set bp-3 at total"),
        ("breakpoint_set", {"statement": "x = 1"}, {"id": "bp-3", "at": "a.py:4"}, "set bp-3 at a.py:4"),
        (
            "breakpoint_set",
            {"file": "a.py", "line": 4, "log_message": "{x}"},
            {"id": "bp-3"},
            "set bp-3 at a.py:4 logging {x}",
        ),
        ("breakpoint_set_exception", {"exception_type": "KeyError"}, {"id": "ex-1"}, "set ex-1 for KeyError"),
        (
            "breakpoint_edit",
            {"id": "bp-3", "hit_condition": ">= 3"},
            {"at": "a.py:4"},
            "edited bp-3 at a.py:4 at hits >= 3",
        ),
        ("breakpoint_enable", {"id": "bp-3", "enabled": False}, {}, "disabled bp-3"),
        ("breakpoint_remove", {"id": "bp-3"}, {}, "removed bp-3"),
        ("breakpoint_remove", {"id": "*"}, {}, "removed all breakpoints"),
        ("variable_set", {"path": "total", "value": "5"}, {}, "set total = 5"),
        ("process_write_input", {"data": "secret\n"}, {}, "wrote 7 characters to the program's input"),
        (
            "process_write_input",
            {"data": "", "close_after": True},
            {},
            "wrote 0 characters to the program's input and closed it",
        ),
        ("variable_set", {"path": "a", "value": "b"}, {"variable": {"a": "7"}}, "set a = b, which is 7"),
        ("variable_set", {"path": "a", "value": "7"}, {"value": "7"}, "set a = 7"),
        ("debug_step", {"mode": "out"}, {}, "stepped out"),
        (
            "debug_step",
            {"mode": "in", "granularity": "instruction", "count": 3},
            {},
            "stepped in by instruction, 3 steps",
        ),
        ("debug_continue", {"reverse": True}, {}, "ran it backwards"),
        ("debug_goto", {"line": 9}, {"at": "a.py:9 in f"}, "went to a.py:9 in f without running what is between"),
        ("debug_goto", {"line": 9}, {}, "went to line 9 without running what is between"),
        ("debug_goto", {"line": 9}, {"at": f"{FAR}.py:9 in f"}, "went to a.py:9 in f without running what is between"),
        ("breakpoint_set", {"statement": "x = 1"}, {"id": "bp-3", "at": f"{FAR}.py:4"}, "set bp-3 at a.py:4"),
        ("breakpoint_set", {}, {"id": "bp-3", "at": "main.(*shop/till).pay"}, "set bp-3 at main.(*shop/till).pay"),
        (
            "debug_restart",
            {"frame_index": 0},
            {"at": "a.py:3 in f"},
            "began the function of frame 0 again: a.py:3 in f",
        ),
        ("debug_run_until", {"expression": "n > 3", "function": "f"}, {}, "ran until n > 3 at f"),
        ("debug_launch", {"configuration": "Flask"}, {}, "started Flask"),
        ("debug_pause", {}, {"state": "Paused"}, "paused it"),
        ("debug_pause", {}, {"state": "Running", "timedOut": True}, "asked for a pause, which has not come yet"),
        ("debug_pause", {}, {"state": "Disconnected"}, "asked for a pause, and the program ended"),
        ("card_run", {"action": "pause"}, {"state": "Running"}, "asked for a pause, which has not come yet"),
        ("debug_step", {}, {"state": "Running"}, "stepped over, which has not ended yet"),
        ("debug_step", {"wait": False}, {"state": "Running"}, "stepped over"),
        (
            "debug_run_to",
            {"file": "/src/a.py", "line": 7},
            {"state": "Paused", "at": "a.py:3 in f"},
            "ran to a.py:7, and stopped at a.py:3 in f",
        ),
        ("debug_run_to", {"file": "/src/a.py", "line": 7}, {"state": "Paused", "at": "a.py:7 in f"}, "ran to a.py:7"),
        ("debug_run_to", {"line": 7}, {"state": "Disconnected"}, "ran to line 7, and the program ended"),
        ("batch_evaluate", {"experiments": [{}, {}]}, {}, "let it run with 2 experiments"),
        ("trace_function", {"function": "f"}, {}, "traced f"),
        ("trace_function", {"file": "/src/a.py", "line": 2}, {}, "traced a.py:2"),
        ("breakpoint_set", {"address": "0x1004"}, {"id": "bp-4"}, "set bp-4 at 0x1004"),
        ("breakpoint_set_data", {"variable": "n"}, {"id": "dp-2"}, "set dp-2 on write of n"),
        ("breakpoint_set_data", {"expression": "*p", "access": "read"}, {"id": "dp-2"}, "set dp-2 on read of *p"),
        ("memory_write", {"address": "0x10", "offset": 4, "data": "2a"}, {}, "wrote 2a into memory at 0x10+4"),
    ],
)
def test_what_a_call_did_is_said_in_words(
    tool: str, arguments: dict[str, object], answer: dict[str, object], words: str
) -> None:
    assert deed_of(tool, arguments, answer) == words


@pytest.mark.parametrize("tool", [each.name for each in open_toolbox().tools if each.moves])
def test_every_call_that_moves_or_changes_the_program_has_words_of_its_own(tool: str) -> None:
    assert "called" not in deed_of(tool, {}, {})


def test_a_sentence_about_deeds_is_bounded() -> None:
    assert sentence("dashboard", [f"removed bp-{number}" for number in range(9)]).endswith(
        "removed bp-5, and 3 more: see timeline_query"
    )
    assert len(deed_of("evaluate", {"expression": "x" * 500}, {})) < 130


@pytest.mark.parametrize(
    ("expression", "is_named"),
    [
        ("basket.lines[0]", False),
        ("(total + 1) * 2", False),
        ("len(items) > 3", False),
        ("items.pop()", True),
        ("handlers[0]()", True),
        ("len(items.pop())", True),
        ("i++", True),
        ("await queue.get", True),
    ],
)
def test_a_watch_is_named_if_it_calls_what_may_change_the_program(expression: str, is_named: bool) -> None:
    assert watching(expression) == (f"watches {expression} at every stop, which may change the program" * is_named)
