"""Reads, prompts, tool calls and completions: always asked of the server, kept, announced.

Both eras, virtual clock.
"""

from typing import Any

import pytest
import trio
from mcp import MCPError
from mcp.types import LOG_LEVEL_META_KEY, PromptReference, ResourceTemplateReference
from trio.testing import MockClock, wait_all_tasks_blocked

from trio_debugmcp.client import InspectorClient, InspectorOptions, NotConnected
from trio_debugmcp.errors import UsageError

from .peer import Json, Peer, Refuse, content, text, tool

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
        assert client.cache.statistics().entries == 0


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
            await client.read_resource_from_template(TEMPLATE, {"name": 3})  # type: ignore[dict-item]


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
        assert not called.success
        assert "Invalid structured content" in (called.error or "")


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


async def test_the_logging_level_goes_the_way_of_the_era(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(log_level="warning")) as client:
        await client.read_resource(ONE)
        await client.set_logging_level("debug")
        await client.read_resource(ONE)
        levels = [params["level"] for params in peer.params("logging/setLevel")]
        carried = [params.get("_meta", {}).get(LOG_LEVEL_META_KEY) for params in peer.params("resources/read")]
        if peer.modern:
            assert (levels, carried) == ([], ["warning", "debug"])
        else:
            assert (levels, carried) == (["warning", "debug"], [None, None])


async def test_a_server_without_logging_is_not_asked_to_log(autojump_clock: MockClock) -> None:
    peer = Peer(capabilities={})
    async with InspectorClient(peer, InspectorOptions(log_level="debug")) as client:
        with pytest.raises(UsageError, match="does not support logging"):
            await client.set_logging_level("debug")
        assert peer.count("logging/setLevel") == 0


async def test_log_messages_reach_the_callback_and_the_message_log(autojump_clock: MockClock) -> None:
    peer, heard = Peer(), []

    async def on_log(params: Any) -> None:
        heard.append(params.data)

    async with InspectorClient(peer, InspectorOptions(on_log=on_log)) as client:
        peer.notify("notifications/message", level="info", data="hello")
        await trio.sleep(1)
        assert heard == ["hello"]
        assert client.messages[-1].message["params"]["data"] == "hello"


async def test_metadata_of_the_options_goes_with_every_call_and_a_calls_own_wins(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer, InspectorOptions(metadata={"who": "default", "x": 1})) as client:
        await client.read_resource(ONE, {"who": "me"})
        await client.list_tools()
        read, listed = peer.params("resources/read")[-1]["_meta"], peer.params("tools/list")[-1]["_meta"]
        assert (read["who"], read["x"]) == ("me", 1)
        assert listed["who"] == "default"


async def test_a_request_without_an_answer_times_out_and_the_server_is_told(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.silent_about.add("resources/read")
    async with InspectorClient(peer, InspectorOptions(request_timeout=5)) as client:
        start = trio.current_time()
        with pytest.raises(MCPError, match="resources/read: no answer within 5 s") as caught:
            await client.read_resource(ONE)
        assert caught.value.code == -32001
        assert trio.current_time() - start == 5
        await wait_all_tasks_blocked()
        assert [n["method"] for n in peer.notifications][-1] == "notifications/cancelled"


@pytest.mark.parametrize(("steps", "result", "elapsed"), [(4, True, 16), (100, False, 30)])
async def test_progress_extends_the_timeout_up_to_a_limit(
    steps: int, result: bool, elapsed: float, autojump_clock: MockClock
) -> None:
    peer = Peer()

    async def working(params: Json) -> Json:
        for step in range(steps):
            await trio.sleep(4)
            peer.notify("notifications/progress", progressToken=params["_meta"]["progressToken"], progress=step)
        return text("done")

    peer.handlers["tools/call"] = working
    options = InspectorOptions(request_timeout=5, request_max_time=30)
    async with InspectorClient(peer, options) as client, client.events("progress") as events:
        start = trio.current_time()
        called = await client.call_tool("t")
        assert called.success is result
        assert trio.current_time() - start == pytest.approx(elapsed)
        first: Any = await anext(events)
        assert (first.progress, first.total, first.method, first.name) == (0, None, "tools/call", "t")


async def test_sampling_elicitation_and_roots_are_answered_from_the_options(
    autojump_clock: MockClock,
) -> None:
    from mcp.types import CreateMessageResult, ElicitResult, Root, TextContent

    peer = Peer()

    async def sampling(context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="hi"), model="m")

    async def elicitation(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "x"})

    roots = [Root.model_validate({"uri": "file:///src", "name": "src"})]
    options = InspectorOptions(sampling=sampling, elicitation=elicitation, roots=roots)
    async with InspectorClient(peer, options) as client:
        announced = peer.requests[1]["params"]["capabilities"]
        assert {"sampling", "elicitation", "roots"} <= announced.keys()
        peer.send({"id": "r", "method": "roots/list"})
        peer.send({"id": "e", "method": "elicitation/create", "params": {"message": "?", "requestedSchema": {
            "type": "object", "properties": {"name": {"type": "string"}}}}})  # fmt: skip
        peer.send({"id": "s", "method": "sampling/createMessage", "params": {"maxTokens": 1, "messages": []}})
        await trio.sleep(1)
        answers = {response["id"]: response.get("result") for response in peer.responses}
        assert answers["r"] == {"roots": [{"uri": "file:///src", "name": "src"}]}
        assert answers["e"] == {"action": "accept", "content": {"name": "x"}}
        assert (answers["s"] or {})["content"]["text"] == "hi"
        await client.set_roots([])
        await trio.sleep(1)
        assert peer.notifications[-1]["method"] == "notifications/roots/list_changed"


async def test_without_callbacks_nothing_is_announced_and_roots_cannot_be_set(
    autojump_clock: MockClock,
) -> None:
    peer = Peer()
    async with InspectorClient(peer) as client:
        assert not {"sampling", "elicitation", "roots"} & peer.requests[1]["params"]["capabilities"].keys()
        with pytest.raises(UsageError, match="without roots"):
            await client.set_roots([])


async def test_a_server_that_needs_input_is_given_it_round_by_round(autojump_clock: MockClock) -> None:
    from mcp.types import ElicitResult

    peer = Peer(modern=True)

    async def elicitation(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "x"})

    def ask(params: Json) -> Json:
        if "inputResponses" in params:
            return text(f"{params['requestState']} {params['inputResponses']['who']['content']['name']}")
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        wanted = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}
        return {"resultType": "input_required", "inputRequests": {"who": wanted}, "requestState": "s1"}

    peer.handlers["tools/call"] = ask
    async with InspectorClient(peer, InspectorOptions(elicitation=elicitation)) as client:
        called = await client.call_tool("t")
        assert called.success, called.error
        assert "s1 x" in str(called.result)


async def test_nothing_can_be_asked_without_a_connection(autojump_clock: MockClock) -> None:
    client = InspectorClient(Peer())
    for ask in (
        lambda: client.read_resource(ONE),
        lambda: client.call_tool("t"),
        client.list_tools,
        client.ping,
        client.connect,
        lambda: client.subscribe_to_resource(ONE),
        lambda: client.unsubscribe_from_resource(ONE),
    ):
        with pytest.raises(NotConnected):
            await ask()
    assert client.status == "disconnected"
    assert client.tools == ()
