"""What holds for every request: time limits, cancellation, errors, metadata, logging, callbacks. Virtual clock."""

from typing import Any

import pytest
import trio
from mcp import MCPError
from mcp.types import LOG_LEVEL_META_KEY, ElicitResult
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, Refuse, text
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
    NotConnected,
)
from trio_debugmcp.errors import UsageError

ONE = "demo://one"


async def test_a_ping_is_answered_in_either_era(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client:
        await client.ping()
        assert peer.requests[-1]["method"] == ("server/discover" if peer.modern else "ping")


async def test_the_logging_level_is_sent_in_the_way_of_the_era(peer: Peer, autojump_clock: MockClock) -> None:
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
        await client.read_resource(ONE, {LOG_LEVEL_META_KEY: "error"})
        assert peer.params("resources/read")[-1]["_meta"][LOG_LEVEL_META_KEY] == "error", "a call's own is sent"


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


async def test_metadata_of_the_options_is_sent_with_every_call_and_a_calls_own_takes_precedence(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer, InspectorOptions(metadata={"who": "default", "x": 1})) as client:
        await client.read_resource(ONE, {"who": "me"})
        await client.list_tools()
        read, listed = peer.params("resources/read")[-1]["_meta"], peer.params("tools/list")[-1]["_meta"]
        assert (read["who"], read["x"]) == ("me", 1)
        assert listed["who"] == "default"


async def test_a_request_without_an_answer_times_out_and_the_server_is_notified(
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


async def test_input_that_a_server_requests_is_sent_round_by_round(autojump_clock: MockClock) -> None:
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


async def test_every_request_needs_a_connection(autojump_clock: MockClock) -> None:
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


async def test_each_call_is_cancelled_by_itself_and_the_server_is_notified(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        peer.silent_about |= {"tools/call", "resources/read"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.read_resource, ONE)
            await wait_all_tasks_blocked()
            with trio.move_on_after(1) as scope:
                await client.call_tool("t")
            assert scope.cancelled_caught
            await wait_all_tasks_blocked()
            asked = next(request for request in peer.requests if request["method"] == "tools/call")
            gone = [n["params"]["requestId"] for n in peer.notifications if n["method"] == "notifications/cancelled"]
            assert gone == [asked["id"]], "and only of the one"
            assert client.cache.get_tool_call_result("t") is None
            nursery.cancel_scope.cancel()


async def test_errors_keep_their_code_and_data(peer: Peer, autojump_clock: MockClock) -> None:
    def refuse(_: Json) -> Json:
        raise Refuse(-32002, "Resource not found", {"uri": ONE})

    peer.handlers |= {"resources/read": refuse, "tools/call": refuse}
    async with InspectorClient(peer) as client:
        with pytest.raises(MCPError, match="Resource not found") as caught:
            await client.read_resource(ONE)
        assert (caught.value.code, caught.value.data) == (-32002, {"uri": ONE})
        failed = await client.call_tool("t")
        assert (failed.success, failed.result) == (False, None)
        assert (failed.error, failed.error_code, failed.error_data) == (
            "Resource not found",
            -32002,
            {"uri": ONE},
        )


async def test_the_time_in_which_a_person_answers_the_server_does_not_count_as_the_servers(
    autojump_clock: MockClock,
) -> None:
    peer = Peer()

    async def person(context: Any, params: Any) -> ElicitResult:
        await trio.sleep(500)
        return ElicitResult(action="decline")

    async def ask(params: Json) -> Json:
        form = {"type": "object", "properties": {}}
        peer.send({"id": "e", "method": "elicitation/create", "params": {"message": "?", "requestedSchema": form}})
        await trio.sleep(509)
        return text("done")

    peer.handlers["tools/call"] = ask
    options = InspectorOptions(elicitation=person, request_timeout=10)
    async with InspectorClient(peer, options) as client:
        assert (await client.call_tool("t")).success


async def test_a_call_can_have_its_own_time_and_be_notified_of_its_own_progress(autojump_clock: MockClock) -> None:
    peer, heard = Peer(), list[tuple[float, float | None, str | None]]()

    async def work(params: Json) -> Json:
        for step in (1, 2):
            await trio.sleep(4)
            token = params["_meta"]["progressToken"]
            peer.notify("notifications/progress", progressToken=token, progress=step, total=2, message="m")
        await trio.sleep(4)
        return text("done")

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    peer.handlers["tools/call"] = work
    peer.silent_about |= {"resources/read", "prompts/get"}
    async with InspectorClient(peer, InspectorOptions(request_timeout=1, request_max_time=5)) as client:
        began = trio.current_time()
        assert not (await client.call_tool("t")).success
        assert trio.current_time() == began + 1
        assert (await client.call_tool("t", timeout=20, progress=on_progress)).success
        assert heard == [(1, 2, "m"), (2, 2, "m")]
        for call in (client.read_resource(ONE, timeout=3), client.get_prompt("p", timeout=3)):
            began = trio.current_time()
            with pytest.raises(MCPError, match="no answer within 3 s"):
                await call
            assert trio.current_time() == began + 3


async def test_roots_can_be_a_function_that_is_asked_each_time(autojump_clock: MockClock) -> None:
    from mcp.types import Root

    peer, asked = Peer(), list[int]()

    async def roots() -> list[Root]:
        asked.append(1)
        await trio.sleep(100)
        return [Root.model_validate({"uri": f"file:///{len(asked)}"})]

    async def slow(_: Json) -> Json:
        peer.send({"id": 1, "method": "roots/list"})
        await trio.sleep(109)
        return text("done")

    peer.handlers["tools/call"] = slow
    async with InspectorClient(peer, InspectorOptions(roots=roots, request_timeout=10)) as client:
        assert (await client.call_tool("t")).success, "the person's time is not the server's"
        peer.send({"id": 2, "method": "roots/list"})
        await trio.sleep(101)
        assert [response["result"]["roots"][0]["uri"] for response in peer.responses] == ["file:///1", "file:///2"]
