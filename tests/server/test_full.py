"""`full`: every tool answers with data that decodes into its struct, and no list shows the parameter."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from tests.server.answers.scenes import SCENES, Scene, played
from tests.server.people.scene import scene
from tests.server.tools_page import answers_of, data_type
from trio_debugmcp.server.answers.answer import Answer, encoded
from trio_debugmcp.server.answers.places import Places
from trio_debugmcp.server.answers.stop_answer import StopData
from trio_debugmcp.server.answers.text import joined, numbered_excerpt
from trio_debugmcp.server.answers.values import named, shown_value
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect

TOOLS = {tool.name: tool for tool in open_toolbox().tools}

RUNS = {"run_list", "debug_record", "why", "history_get", "calls_get", "run_goto", "run_compare", "debug_hunt"}
"""Those about recorded runs, whose answers are in tests/real/test_recorded_programs.py and test_hunts.py."""

ELSEWHERE = {
    *(
        "fleet_state",
        "debug_configurations",
        "debug_listen",
        "trace_function",
        "breakpoint_wait",
        "debug_run_to",
        "breakpoint_edit",
    ),
    *("ask_person", "person_join", "session_hold", "session_hand_back", "agent_message", "person_answer"),
    *("observe_link", "card_state", "card_run", "process_write_input", "debug_more"),
    *RUNS,
}
"""Tools that no scene calls."""

ALONE = {"fleet_state", "debug_listen", "observe_link", "process_write_input", "trace_function", "debug_more", *RUNS}
"""Those with tests of their own; trace_function is in tests/server/tools/moving/test_tracing.py."""


def decoded(tool: str, body: Any) -> msgspec.Struct:
    """Return the struct of an answer as data, which has all keys of that struct and no other."""
    assert "full" not in body, tool
    kinds = [data_type(each) for each in answers_of(TOOLS[tool])]
    if not any("notes" in kind.__struct_fields__ for kind in kinds):
        body = {key: value for key, value in body.items() if key != "notes"}  # what persons say is added to any answer
    fitting = [kind for kind in kinds if has_its_keys(kind, body)]
    assert len(fitting) == 1, (tool, sorted(body), kinds)
    found: msgspec.Struct = msgspec.convert(body, fitting[0], strict=True)
    again = encoded(found, full=True)[1] if isinstance(found, Answer) else msgspec.to_builtins(found)
    assert again == body, tool
    return found


def has_its_keys(kind: type[msgspec.Struct], body: dict[str, Any]) -> bool:
    """Whether these are the keys of a struct, without those that may be absent."""
    fields = [each for each in msgspec.structs.fields(kind) if each.name != "full"]
    may_be_absent = {each.encode_name for each in fields if each.default is msgspec.UNSET}
    return {each.encode_name for each in fields} - may_be_absent == set(body) - may_be_absent


def test_no_list_shows_the_parameter_and_every_tool_has_it() -> None:
    for tool in open_toolbox().listed():
        assert "full" not in tool.input_schema["properties"]
    assert not [name for name in TOOLS if "full" in open_toolbox().parameters(name)]


@pytest.mark.parametrize("play", SCENES, ids=lambda play: play.__name__)
async def test_each_answer_as_data_decodes_into_its_struct(
    play: Any, tmp_path: Path, autojump_clock: MockClock
) -> None:
    scene = Scene(tmp_path, full=True)
    await played(play, scene)
    assert scene.calls
    for tool, result in scene.calls:
        if not result.is_error:
            assert json.loads(result.text) == result.structured_content
            decoded(tool, result.structured_content)


async def test_the_scenes_have_every_tool_but_some(tmp_path: Path, autojump_clock: MockClock) -> None:
    called = set()
    for number, play in enumerate(SCENES):
        directory = tmp_path / str(number)
        directory.mkdir()
        scene = Scene(directory, full=True)
        await played(play, scene)
        called |= {tool for tool, result in scene.calls if not result.is_error}
    assert called | ELSEWHERE == set(TOOLS)
    assert not called & ELSEWHERE


async def test_the_tools_that_no_scene_calls_answer_with_data_too(autojump_clock: MockClock) -> None:
    """Those that need a directory, a network or a program that prints are in ALONE; their answers are data already."""
    async with scene() as at, at.page() as page:
        called = set()

        async def call(client: DebugClient, tool: str, **arguments: Any) -> Any:
            called.add(tool)
            return decoded(tool, await client.call(tool, full=True, **arguments))

        program = at.adapter.program
        made = await call(at.agent, "breakpoint_set", file=program, line=1)
        edited = await call(at.agent, "breakpoint_edit", id=made.breakpoint.id, condition="x > 1")
        assert edited.breakpoint.condition == "x > 1"
        assert (await call(at.agent, "breakpoint_wait")).state == "Paused"
        running = await call(at.agent, "debug_run_to", file=program, line=2, timeout=1)
        assert (running.state, running.timed_out) == ("Running", True)
        assert (await call(page, "person_join", key="tab-number-one")).client
        await call(page, "session_hold")
        await call(page, "session_hand_back", message="done")
        await call(page, "agent_message", text="look here")
        assert any("look here" in note for note in (await call(at.agent, "debug_state")).notes)
        now = await call(at.agent, "card_state")
        assert (now.current, now.now.state) == (False, "Running")
        assert (await call(at.agent, "card_run", action="pause")).state in ("Paused", "Running")
        asked: list[Any] = []

        async def ask() -> None:
            asked.append(await call(at.agent, "ask_person", question="why?"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ask)
            await trio.sleep(1)
            (question,) = at.people.questions
            await call(page, "person_answer", id=question.id, answer="because")
        assert (asked[0].answer, asked[0].unanswered) == ("because", None)
        await call(at.agent, "debug_configurations")
        assert called - {"breakpoint_set", "debug_state"} == ELSEWHERE - ALONE


LISTS = (
    "frames",
    "threads",
    "tasks",
    "modules",
    "sources",
    "snapshots",
    "instructions",
    "lines",
    "inbound",
    "outbound",
)
"""Keys of lists that have a line for each item of the data."""

KINDS = ("fields", "properties", "methods", "classMethods", "staticMethods", "attributes", "types", "functions")


async def both_forms(play: Any, directory: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Play a scene twice, and return the tool of each call that succeeds with both forms of its answer."""
    bodies = []
    for full in (False, True):
        below = directory / str(full)
        below.mkdir()
        at = Scene(below, full=full)
        await played(play, at)
        bodies.append([(tool, json.loads(json.dumps(result.structured_content))) for tool, result in at.calls])
    return [(tool, words, data) for (tool, words), (_, data) in zip(*bodies, strict=True) if words is not None]


@pytest.mark.parametrize("play", SCENES, ids=lambda play: play.__name__)
async def test_the_data_has_an_item_for_each_line(play: Any, tmp_path: Path, autojump_clock: MockClock) -> None:
    for tool, words, data in await both_forms(play, tmp_path):
        for key in LISTS:
            if key in data and isinstance(words.get(key), list):
                assert len(words[key]) == len(data[key]), (tool, key)
        named = [name for kind in KINDS for name in words.get(kind, ())]
        if tool == "type_get":
            assert sorted(named) == sorted(each["name"] for each in data["members"])
        if tool == "symbols_search":
            assert len(named) == len(data["symbols"])


async def test_both_forms_say_the_same_of_a_stop(tmp_path: Path, autojump_clock: MockClock) -> None:
    stops = [
        (words, data)
        for tool, words, data in await both_forms(SCENES[1], tmp_path)
        if StopData in map(data_type, answers_of(TOOLS[tool]))
    ]
    assert len(stops) >= 5
    for words, body in stops:
        places, data = Places(str(tmp_path / "True")), msgspec.convert(body, StopData)
        frames = places.frames(data.frames[1:], before=data.frames[0].location.file if data.frames else None)
        told = {
            "state": data.state,
            "reason": data.reason,
            "breakpoints": data.breakpoint_ids,
            "at": places.at_location(data.location),
            "stack": frames,
            "locals": named(data.locals or ()),
            "source": numbered_excerpt(data.source),
            "show": {each.expression: shown_value(each) for each in data.show},
            "exitCode": data.exit_code,
            "timedOut": data.timed_out,
            "notes": data.notes,
            **dict.fromkeys(("stdout", "stderr", "log"), ""),
            **joined(data.output),
        }
        assert {key: value for key, value in told.items() if value} == {
            key: value for key, value in words.items() if key in told
        }


async def test_what_is_recorded_of_a_call_and_said_of_a_failure_is_the_same_in_both_forms(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    async with connect(options=adapter.options()) as client:
        failures = []
        for more in ({}, {"full": True}):
            with pytest.raises(ToolFailed) as failed:
                await client.call("variables_get", path="x", **more)
            failures.append((failed.value.code, failed.value.message, failed.value.details))
        assert failures[0] == failures[1]
        wrongs: list[Any] = [1, "yes", None, {}]
        for wrong in wrongs:
            with pytest.raises(ToolFailed, match="`full` is true or false, not"):
                await client.call("debug_state", full=wrong)
        await client.call("debug_launch", program=adapter.program, stop_at_entry=True, wait=False, full=True)
        await adapter.stop("entry")
        await client.call("debug_wait", full=True)
        await client.call("debug_wait")
        found = (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        one, other = [each["payload"] for each in found if each["payload"]["tool"] == "debug_wait"]
        assert "full" not in one.get("arguments", {})
        assert one["result"] == other["result"] == "Paused Entry app.py:1 in main"
