"""The short list, and `debug_more`, which calls what it lacks."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import failure, launch
from trio_debugmcp.server.instructions import INSTRUCTIONS
from trio_debugmcp.server.prompts import PROMPTS
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.more import DebugMore, more_tool
from trio_debugmcp.server.tools.toolbox import Toolbox
from trio_debugmcp.skill import read_agent, read_skill
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server

CORE, ALL = open_toolbox(core_only=True), open_toolbox()

OTHERS = {tool.name for tool in ALL.tools if tool.listing == "full"}
"""Tools that are not in the short list."""


def names(toolbox: Toolbox, role: Any = "control") -> list[str]:
    return [tool.name for tool in toolbox.listed(role)]


@asynccontextmanager
async def short(adapter: FakeAdapter) -> AsyncIterator[DebugClient]:
    """A client whose list is the short one, with a program that is paused."""
    async with connect(options=replace(adapter.options(), core_tools_only=True)) as client:
        await launch(client, adapter)
        await adapter.stop("entry")
        await client.call("debug_wait")
        yield client


# --- The list ---------------------------------------------------------------------------------------------------------


def test_the_short_list_is_chosen_by_question_and_names_all_others() -> None:
    assert len(names(CORE)) <= 16
    assert names(CORE)[-1] == "debug_more"
    assert "debug_more" not in names(ALL)
    assert {
        *("debug_launch", "why", "debug_wait", "debug_continue", "debug_step", "debug_pause", "debug_disconnect"),
        *("breakpoint_set", "breakpoint_remove", "evaluate", "exception_get_context", "tasks_list", "stacktrace_get"),
        *("trace_function", "batch_evaluate"),
    } == {*names(CORE)} - {"debug_more"}
    description = CORE.listed()[-1].description or ""
    assert all(re.search(rf"\b{name}\b", description) for name in OTHERS)


def test_an_observer_sees_what_it_may_call_and_that_it_only_reads() -> None:
    more = CORE.listed("observe")[-1]
    assert more.name == "debug_more"
    assert more.annotations is not None
    assert more.annotations.read_only_hint
    assert "threads_list" in (more.description or "")
    _, _, others = (more.description or "").partition("parameters. ")
    assert not {name for name in OTHERS - set(names(ALL, "observe")) if re.search(rf"\b{name}\b", others)}
    assert set(names(CORE, "observe")) < set(names(CORE))


def test_each_of_the_others_is_described_in_one_clause() -> None:
    more = more_tool([tool for tool in ALL.tools if tool.listing == "full"], [])
    answer: Any = trio.run(partial(more.run, cast("Any", None), DebugMore()))
    said = {name.partition("(")[0]: clause for name, clause in answer.tools.items()}
    assert said["debug_run_to"] == "Run on to a line"
    assert said["history_get"] == "How something changed over a recorded run"
    for name, clause in said.items():
        assert re.fullmatch(r"[A-Z].{6,140}[\w`]", clause), (name, clause)
        assert clause.count("(") == clause.count(")"), (name, clause)


# --- Calls ------------------------------------------------------------------------------------------------------------


async def test_debug_more_lists_the_others_with_their_parameters_and_calls_them(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with short(adapter) as client:
        answer = await client.call("debug_more")
        listed = answer["tools"]
        assert {each.partition("(")[0] for each in listed} == OTHERS
        assert "debug_run_to(file, line, show, timeout)" in listed
        (hunt,) = [tool for tool in listed if tool.startswith("debug_hunt(")]
        assert {"parallel", "engine", "try_timeout", "record"} <= set(re.findall(r"\w+", hunt)), "what no list shows"
        assert answer["further"]["why"] == "limit, process, repeat, run"
        through = await client.call("debug_more", tool="threads_list", arguments={})
        assert through == await client.call("threads_list")
        events = (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        assert [event["payload"]["tool"] for event in events][-2:] == ["threads_list", "threads_list"]


async def test_errors_are_those_of_the_tool_that_is_called(autojump_clock: MockClock) -> None:
    async with short(FakeAdapter()) as client:
        wrong = await failure(client, "debug_more", tool="debug_run_to", arguments={"row": 3})
        assert wrong.code == "INVALID_PARAMETER"
        assert wrong.message.startswith("debug_run_to has no parameter 'row'. Do you mean line? Parameters: file, line")
        missing = await failure(client, "debug_more", tool="debug_run_to", arguments={"line": 3})
        assert missing.message.startswith("debug_run_to needs `file`. Parameters: ")
        unknown = await failure(client, "debug_more", tool="thread_list")
        assert "There is no tool 'thread_list'. Do you mean debug_more(tool=\"threads_list\")" in unknown.message
        assert unknown.message.endswith("debug_more without arguments names the others.")


async def test_an_observer_cannot_move_the_program_through_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    options = replace(adapter.options(), core_tools_only=True)
    async with open_server(options) as server, server.connect() as agent, server.connect(role="observe") as observer:
        await launch(agent, adapter)
        await adapter.stop("entry")
        await agent.call("debug_wait")
        assert await observer.call("debug_more", tool="threads_list") == await agent.call("threads_list")
        for tool in ("debug_restart", "debug_continue", "variable_set", "ask_person"):
            assert (await failure(observer, "debug_more", tool=tool)).code == "READ_ONLY"
        assert (await agent.call("debug_state"))["state"] == "Paused"


async def test_answers_tell_to_call_what_the_list_has(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=replace(adapter.options(), core_tools_only=True)) as client:
        none = await failure(client, "debug_continue")
        assert none.message.startswith(
            'No active debug session: start one with the tool debug_launch or debug_more(tool="debug_attach")'
        )
        as_data = await failure(client, "debug_continue", full=True)
        assert as_data.message.startswith("No active debug session: start one with the tool debug_launch or debug_att")
    async with connect(options=adapter.options()) as client:
        assert (await failure(client, "debug_continue")).message == as_data.message


# --- Texts ------------------------------------------------------------------------------------------------------------


def named(text: str) -> set[str]:
    """The tools that a text names beside those of the list, unless it says how they are called."""
    spoken = re.sub(r'debug_more\(tool="\w+"', "", text)
    return {name for name in OTHERS if re.search(rf"(?<![\w./]){name}\b", spoken)}


def test_the_instructions_and_the_list_tell_to_call_what_is_listed() -> None:
    assert named(INSTRUCTIONS), "the whole list has more"
    assert not named(CORE.instructions)
    for tool in CORE.listed()[:-1]:
        assert not named(f"{tool.description} {tool.input_schema}"), tool.name


@pytest.mark.parametrize("name", PROMPTS)
async def test_the_prompts_tell_to_call_what_is_listed(autojump_clock: MockClock, name: str) -> None:
    given = {each.name: "7" for each in PROMPTS[name].arguments if each.required}
    async with connect(options=replace(FakeAdapter().options(), core_tools_only=True)) as client:
        (message,) = (await client.sdk.get_prompt(name, given)).messages
        assert not named(message.content.text)  # type: ignore[union-attr]


RULE = re.compile(r"not on your\s+list.*?`debug_more\(tool=\"history_get\", arguments=", re.DOTALL)


@pytest.mark.parametrize("path", read_skill().files)
def test_the_skill_says_how_the_others_are_called_before_it_names_them(path: str) -> None:
    text = read_skill().files[path].decode()
    rule = RULE.search(text)
    assert rule is not None
    assert not named(text[: rule.start()].partition("\n---\n")[2])


def test_the_agent_has_the_tools_of_the_short_list_and_the_skill() -> None:
    head, _, text = read_agent().decode().removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert [each for each in fields["tools"].split(", ") if each.startswith("mcp__")] == [
        f"mcp__debugger__{name}" for name in names(CORE)
    ]
    assert fields["skills"] == read_skill().name
    assert not named(text)
