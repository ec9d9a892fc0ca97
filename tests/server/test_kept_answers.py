"""What an agent was answered, and why it called, for people who look at its work."""

import json

import pytest
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.server.scene import paused
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.kept_answers import MAX_ANSWER_BYTES, MAX_ANSWERS, MAX_BYTES, KeptAnswers, call_number
from trio_debugmcp.testing import DebugClient, ToolFailed


async def calls(client: DebugClient) -> list[dict[str, object]]:
    found = await client.call("timeline_query", count=50, full=True)
    return [each["payload"] for each in found["events"] if each["type"] == "toolCalled"]


async def test_an_answer_can_be_read_as_the_agent_got_it_also_one_that_failed(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        answer = await client.call("breakpoint_list")
        with pytest.raises(ToolFailed):
            await client.call("breakpoint_remove", id="bp-77")
        listed, removed = (await calls(client))[-2:]
        kept = json.loads(await client.read_text(f"debugger://call/{listed['call']}"))
        assert json.loads(kept["text"]) == answer
        assert (kept["isError"], kept["bytesLeftOut"]) == (False, 0)
        failed = json.loads(await client.read_text(f"debugger://call/{removed['call']}"))
        assert failed["isError"]
        assert "bp-77" in failed["text"]
        with pytest.raises(MCPError, match="answer of call 4711 is not kept"):
            await client.read_text("debugger://call/4711")


async def test_every_tool_takes_a_sentence_on_why_it_is_called(autojump_clock: MockClock) -> None:
    async with paused("legacy") as (client, _):
        await client.call("breakpoint_list", say="I look for the breakpoint that never hits.")
        await client.call("breakpoint_list")
        said, silent = (await calls(client))[-2:]
        assert said["say"] == "I look for the breakpoint that never hits."
        assert said["arguments"] == {}
        assert "say" not in silent
        with pytest.raises(ToolFailed, match="`say` is a sentence"):
            await client.call("breakpoint_list", say=["why"])


def test_answers_are_kept_within_bounds_the_last_ones_longest() -> None:
    answers = KeptAnswers()
    for call in range(1, MAX_ANSWERS + 11):
        answers.keep(call, ToolResult(text="short"))
    assert answers.payload(10) is None
    assert answers.payload(11) is not None
    for call in range(2000, 2000 + MAX_BYTES // MAX_ANSWER_BYTES + 5):
        answers.keep(call, ToolResult(text="ä" * MAX_ANSWER_BYTES))
    assert answers.payload(2000) is None
    last = answers.payload(call)
    assert last is not None
    assert (len(last.text.encode()), last.bytes_left_out) == (MAX_ANSWER_BYTES, MAX_ANSWER_BYTES)


def test_only_numbers_of_calls_have_answers() -> None:
    uris = ["debugger://call/7", "debugger://call/0", "debugger://call/x", "debugger://stop/7"]
    assert [call_number(uri) for uri in uris] == [7, None, None, None]
