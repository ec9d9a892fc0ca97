"""Reads, prompts, tool calls and completions: always requested, cached, announced. Both eras, virtual clock."""

from typing import Any, cast

import pytest
import trio
from mcp import MCPError
from mcp.types import PromptReference, ReadResourceResult, ResourceTemplateReference
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, Refuse, content, received, text, tool
from trio_debugmcp.client import (
    ContentCache,
    InspectorClient,
    InspectorOptions,
)
from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.calls import Calls
from trio_debugmcp.clock import Clock
from trio_debugmcp.errors import UsageError

ONE = "demo://one"

TEMPLATE = "demo://{name}/{+rest}"


def refuse(_: Json) -> Json:
    raise Refuse(-32603, "out of order")


async def test_the_cache_is_there_and_empty_at_first(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        assert client.cache.get_resource(ONE) is None
        assert client.cache.get_resource_template(TEMPLATE) is None
        assert client.cache.get_prompt("p") is None
        assert client.cache.get_tool_call_result("t") is None
        assert client.cache.stats().entries == 0


async def test_a_read_is_cached_and_announced_and_the_next_one_fetches_again(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.contents = {ONE: "v1"}
    async with InspectorClient(peer) as client:
        announced = client.wait_for("resourceContentChange")
        await trio.sleep(10)
        first = await client.read_resource(ONE, {"trace": "x"})
        assert client.cache.get_resource(ONE) is first
        event = await announced
        assert (event.uri, event.content, event.timestamp) == (ONE, first, first.timestamp)
        assert first.metadata == {"trace": "x"}
        assert peer.params("resources/read")[0]["_meta"]["trace"] == "x"
        second = await client.read_resource(ONE)
        assert client.cache.get_resource(ONE) is second
        assert peer.count("resources/read") == 2
        assert second.metadata is None


async def test_the_timestamp_is_that_of_the_call_not_of_the_answer(peer: Peer, autojump_clock: MockClock) -> None:
    async def slow(_: Json) -> Json:
        await trio.sleep(7)
        return content(ONE, "")

    peer.handlers["resources/read"] = slow
    async with InspectorClient(peer) as client:
        announced = client.wait_for("resourceContentChange")
        read = await client.read_resource(ONE)
        assert ((await announced).time - read.timestamp).total_seconds() == pytest.approx(7)


async def test_a_read_through_a_template_is_kept_as_both_and_announced_as_both(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.templates = [TEMPLATE]
    async with (
        InspectorClient(peer) as client,
        client.events("resourceContentChange", "resourceTemplateContentChange") as events,
    ):
        params = {"name": "a b", "rest": "c/d"}
        read = await client.read_resource_from_template(TEMPLATE, params)
        assert read.expanded_uri == "demo://a%20b/c/d"
        assert client.cache.get_resource_template(TEMPLATE) is read
        as_resource = client.cache.get_resource(read.expanded_uri)
        assert as_resource is not None
        assert as_resource.result is read.result
        assert as_resource.timestamp == read.timestamp
        plain, through = [await anext(events) for _ in range(2)]
        assert plain.kind == "resourceContentChange"
        assert through.kind == "resourceTemplateContentChange"
        assert getattr(through, "params", None) == params
        assert getattr(through, "expanded_uri", None) == read.expanded_uri


async def test_a_template_that_the_server_does_not_have_is_an_error_after_one_look(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=False)) as client:
        with pytest.raises(UsageError, match="no resource template"):
            await client.read_resource_from_template(TEMPLATE, {})
        assert peer.count("resources/templates/list") == 1
        peer.templates = [TEMPLATE]
        await client.read_resource_from_template(TEMPLATE, {"name": "x", "rest": "y"})
        with pytest.raises(UsageError, match="Cannot expand"):
            await client.read_resource_from_template(TEMPLATE, {"name": 3, "rest": "y"})  # type: ignore[dict-item]


async def test_a_prompt_is_cached_and_announced_with_arguments_as_they_were_sent(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        announced = client.wait_for("promptContentChange")
        got = await client.get_prompt("p", {"count": 3, "who": "you", "deep": {"a": [1]}})
        assert got.params == {"count": "3", "who": "you", "deep": '{"a": [1]}'}
        assert peer.params("prompts/get")[0]["arguments"] == got.params
        assert client.cache.get_prompt("p") is got
        assert (await announced).content is got
        other = await client.get_prompt("p")
        assert client.cache.get_prompt("p") is other


async def test_a_tool_call_is_cached_and_announced(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        announced = client.wait_for("toolCallResultChange")
        called = await client.call_tool("t", {"a": 1}, {"x": "general", "y": "kept"}, {"x": "specific"})
        assert called.success
        assert client.cache.get_tool_call_result("t") is called
        event = await announced
        assert (event.tool_name, event.params, event.result, event.success) == (
            "t",
            {"a": 1},
            called.result,
            True,
        )
        meta = peer.params("tools/call")[0]["_meta"]
        assert (meta["x"], meta["y"]) == ("specific", "kept")
        assert called.metadata == {"x": "specific", "y": "kept"}


async def test_a_refused_tool_call_is_an_invocation_too(peer: Peer, autojump_clock: MockClock) -> None:
    peer.handlers["tools/call"] = refuse
    async with InspectorClient(peer) as client:
        announced = client.wait_for("toolCallResultChange")
        failed = await client.call_tool("t")
        assert (failed.success, failed.result, failed.error) == (False, None, "out of order")
        assert failed.fault == "refused"
        assert client.cache.get_tool_call_result("t") is failed
        assert (await announced).error == "out of order"


async def test_a_tool_that_ran_and_failed_was_called_with_success(peer: Peer, autojump_clock: MockClock) -> None:
    peer.handlers["tools/call"] = lambda _: text("no such file", is_error=True)
    async with InspectorClient(peer) as client:
        called = await client.call_tool("t")
        assert called.success
        assert called.result is not None
        assert called.result.is_error


async def test_an_answer_that_breaks_the_tools_output_schema_is_a_failed_call(
    peer: Peer, autojump_clock: MockClock
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    peer.handlers["tools/list"] = lambda _: {"tools": [{**tool("t"), "outputSchema": schema}]}
    peer.handlers["tools/call"] = lambda _: {"content": [], "structuredContent": {"n": "three"}}
    async with InspectorClient(peer) as client:
        called = await client.call_tool("t")
        assert (called.success, called.fault) == (False, "protocol")
        assert "Invalid structured content" in (called.error or "")
        assert called.result is not None, "the tool has run; what it says is not lost"


async def test_string_arguments_are_converted_where_the_tools_schema_wants_it(
    peer: Peer, autojump_clock: MockClock
) -> None:
    properties = {"n": {"type": "integer"}, "ok": {"type": "boolean"}, "s": {"type": "string"}}
    peer.handlers["tools/list"] = lambda _: {"tools": [tool("t", properties=properties)]}
    async with InspectorClient(peer) as client:
        given = {"n": "3", "ok": "true", "s": "3", "other": "3"}
        called = await client.call_tool("t", given)
        assert peer.params("tools/call")[0]["arguments"] == {"n": 3, "ok": True, "s": "3", "other": "3"}
        assert called.params == given, "the invocation says what the caller gave"


async def test_entries_of_different_keys_live_side_by_side(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        reads = [await client.read_resource(f"demo://{n}") for n in range(3)]
        assert [client.cache.get_resource(f"demo://{n}") for n in range(3)] == reads


async def test_completions_are_passed_on_and_empty_where_there_are_none(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        found = await client.get_completions(PromptReference(name="p"), "who", "y", {"lang": "en"})
        assert found.values == ["y!"]
        assert peer.params("completion/complete")[0]["context"] == {"arguments": {"lang": "en"}}
        found = await client.get_completions(ResourceTemplateReference(uri=TEMPLATE), "name", "z")
        assert found.values == ["z!"]
        del peer.handlers["completion/complete"]
        assert (await client.get_completions(PromptReference(name="p"), "who", "y")).values == []
        peer.handlers["completion/complete"] = refuse
        with pytest.raises(MCPError, match="out of order"):
            await client.get_completions(PromptReference(name="p"), "who", "y")


async def test_an_answer_that_arrives_as_the_connection_ends_is_returned_and_not_cached() -> None:
    """The order of the tasks that wake up then is chance; so the moment itself is made here."""

    class Ending:
        alive, modern, log_level = False, False, None

        async def call(self, method: str, work: Any, **_: Any) -> Any:
            return {"resources/read": ReadResourceResult(contents=[])}.get(method)

        async def output_problem(self, name: str, result: Any) -> None:
            pass

    cache, bus = ContentCache(), EventBus(Clock())
    calls, connection = Calls(cache, bus, Clock(), None), cast("Any", Ending())
    async with bus.stream([], 10) as events:
        assert (await calls.read_resource(connection, ONE, None)).uri == ONE
        assert (await calls.read_template(connection, "demo://{x}", ONE, {}, None)).expanded_uri == ONE
        assert (await calls.get_prompt(connection, "p", {}, None)).name == "p"
        assert (await calls.call_tool(connection, "t", {}, None, None)).success
        assert cache.stats().entries == 0
        assert received(events) == []


async def test_an_update_that_overtakes_a_read_leaves_nothing_current_in_the_cache(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)

        async def overtaken(_: Json) -> Json:
            peer.updated(ONE)
            await trio.sleep(1)
            return content(ONE, "v1")

        peer.handlers["resources/read"] = overtaken
        old = await client.read_resource(ONE)
        assert client.cache.get_resource(ONE) is None, "the server has v2 already"
        assert client.cache.get_resource(ONE, allow_stale=True) is old
        peer.handlers["resources/read"] = lambda _: content(ONE, "v2")
        new = await client.read_resource(ONE)
        assert client.cache.get_resource(ONE) is new


async def test_an_update_right_behind_the_response_of_a_read_is_not_lost(peer: Peer, autojump_clock: MockClock) -> None:
    """Response and notification arrive together, before any task of ours runs: wire order still decides."""
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        peer.on_reply = lambda: peer.updated(ONE)
        await client.read_resource(ONE)
        await wait_all_tasks_blocked()
        assert client.cache.get_resource(ONE) is None


async def test_the_cache_holds_the_last_call_made_not_the_last_one_answered(
    peer: Peer, autojump_clock: MockClock
) -> None:
    delays = iter([5.0, 1.0])

    async def slow(params: Json) -> Json:
        await trio.sleep(next(delays))
        return text(str(params["arguments"]["which"]))

    async with InspectorClient(peer) as client:
        peer.handlers["tools/call"] = slow
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call_tool, "t", {"which": "first"})
            await trio.sleep(0.5)
            nursery.start_soon(client.call_tool, "t", {"which": "second"})
        kept = client.cache.get_tool_call_result("t")
        assert kept is not None
        assert kept.params == {"which": "second"}
