"""What this client promises and others of its kind were seen to break: each with a server that provokes it.

All times are virtual and exact. `trio.sleep` here moves the test's clock; nothing waits for real.
"""

from contextlib import suppress
from typing import Any, cast

import pytest
import trio
from mcp import MCPError
from mcp.types import ReadResourceResult
from trio.testing import MockClock, wait_all_tasks_blocked

from trio_debugmcp.client import (
    ConnectionLost,
    ContentCache,
    ErrorEvent,
    InspectorClient,
    InspectorOptions,
    Reconnect,
    ResourceUpdated,
    ToolsChange,
)
from trio_debugmcp.client.bus import EventBus
from trio_debugmcp.client.calls import Calls
from trio_debugmcp.clock import Clock

from .peer import Json, Peer, Refuse, content, text, tool

ONE = "demo://one"


def names(client: InspectorClient) -> list[str]:
    return [each.name for each in client.tools]


async def test_a_steady_drip_of_list_changed_does_not_starve_the_reload(peer: Peer, autojump_clock: MockClock) -> None:
    """A debounce without an upper bound never fires while announcements keep coming."""
    async with InspectorClient(peer) as client:
        before = peer.count("tools/list")
        start = trio.current_time()
        change = client.wait_for("toolsChange")
        for number in range(30):
            peer.tools = [f"t{number}"]
            peer.changed()
            await trio.sleep(0.1 - 1e-6)
        assert (await change).time.timestamp() > 0
        fetches = peer.count("tools/list") - before
        assert 2 <= fetches <= 4, "at least one a second, and no flood"
        await trio.sleep(2)
        assert names(client) == ["t29"]
        assert trio.current_time() - start < 6


async def test_the_first_reload_of_a_drip_comes_at_the_maximum_wait(autojump_clock: MockClock) -> None:
    peer = Peer()
    async with InspectorClient(peer) as client, client.events("toolsListChanged") as signals:
        start = trio.current_time()
        async with trio.open_nursery() as nursery:

            async def drip() -> None:
                while True:
                    peer.changed()
                    await trio.sleep(0.09)

            nursery.start_soon(drip)
            signal = await anext(signals)
            assert trio.current_time() - start == pytest.approx(0.5)
            assert getattr(signal, "count", 0) == 6
            nursery.cancel_scope.cancel()


async def test_the_newest_fetch_wins_though_an_older_one_finishes_later(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_sync_lists=False)) as client:
        delays = iter([(5.0, "older"), (1.0, "newer")])

        async def slow(_: Json) -> Json:
            delay, name = next(delays)
            await trio.sleep(delay)
            return {"tools": [tool(name)]}

        peer.handlers["tools/list"] = slow
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.list_tools)
            await trio.sleep(0.5)
            nursery.start_soon(client.list_tools)
        assert names(client) == ["newer"]


async def test_nothing_is_committed_after_a_disconnect(peer: Peer, autojump_clock: MockClock) -> None:
    """A list, a read, a prompt and a tool call are answered in the breath in which the connection ends."""
    late = {
        "tools/list": {"tools": [tool("zombie")]},
        "resources/read": content(ONE, "zombie"),
        "prompts/get": {"messages": []},
        "tools/call": text("zombie"),
    }
    async with (
        InspectorClient(peer) as client,
        client.events() as events,
        trio.open_nursery() as nursery,
    ):

        async def attempt(call: Any) -> None:
            with suppress(ConnectionLost):
                await call()

        peer.silent_about |= late.keys()
        nursery.start_soon(attempt, client.list_tools)
        nursery.start_soon(attempt, lambda: client.read_resource(ONE))
        nursery.start_soon(attempt, lambda: client.get_prompt("p"))
        nursery.start_soon(attempt, lambda: client.call_tool("t"))
        await wait_all_tasks_blocked()
        for request in peer.requests:
            if request["method"] in late:
                peer._reply({"id": request["id"], "result": peer._complete(late[request["method"]])})
        peer.crash()
        await trio.sleep(60)
        assert client.tools == ()
        assert client.cache.statistics().resources.stale == client.cache.statistics().resources.entries
        assert client.cache.get_prompt("p") is None
        assert client.cache.get_tool_call_result("t") is None
        assert [event.kind for event in events._queue][-1] == "disconnect"


async def test_an_answer_that_comes_through_as_the_connection_ends_is_returned_and_not_kept() -> None:
    """The order of the tasks that wake up then is chance; so the moment itself is made here."""

    class Ending:
        alive, modern, log_level = False, False, None

        async def call(self, method: str, work: Any) -> Any:
            return {"resources/read": ReadResourceResult(contents=[])}.get(method)

    cache, bus = ContentCache(), EventBus(Clock())
    calls, connection = Calls(cache, bus, Clock(), None), cast("Any", Ending())
    async with bus.stream([], 10) as events:
        assert (await calls.read_resource(connection, ONE, None)).uri == ONE
        assert (await calls.read_template(connection, "demo://{x}", ONE, {}, None)).expanded_uri == ONE
        assert (await calls.get_prompt(connection, "p", {}, None)).name == "p"
        assert (await calls.call_tool(connection, "t", {}, None, None)).success
        assert cache.statistics().entries == 0
        assert not events._queue


async def test_an_update_before_the_subscribe_response_counts(autojump_clock: MockClock) -> None:
    peer = Peer()

    async def subscribe(_: Json) -> Json:
        peer.updated(ONE)
        await trio.sleep(1)
        return {}

    peer.handlers["resources/subscribe"] = subscribe
    async with InspectorClient(peer) as client:
        await client.read_resource(ONE)
        updated = client.wait_for("resourceUpdated")
        start = trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.subscribe_to_resource, ONE)
            assert (await updated).uri == ONE
            assert trio.current_time() == start
        assert trio.current_time() == start + 1
        assert client.cache.get_resource(ONE) is None


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


async def test_an_update_in_the_same_breath_as_the_response_is_not_lost(peer: Peer, autojump_clock: MockClock) -> None:
    """Response and notification arrive together, before any task of ours runs: wire order still decides."""
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        reply = peer._reply

        def reply_and_update(message: Json) -> None:
            reply(message)
            peer.updated(ONE)

        peer._reply = reply_and_update  # type: ignore[method-assign]
        await client.read_resource(ONE)
        await wait_all_tasks_blocked()
        assert client.cache.get_resource(ONE) is None


async def test_a_change_announced_right_after_the_first_list_is_not_lost(peer: Peer, autojump_clock: MockClock) -> None:
    def first(_: Json) -> Json:
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("a"), tool("b")]}
        peer._nursery.start_soon(announce)
        return {"tools": [tool("a")]}

    async def announce() -> None:
        await wait_all_tasks_blocked()
        peer.changed()

    peer.handlers["tools/list"] = first
    async with InspectorClient(peer) as client:
        await trio.sleep(2)
        assert names(client) == ["a", "b"]


async def test_a_change_announced_while_the_first_list_is_fetched_is_not_lost(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async def first(_: Json) -> Json:
        answer = {"tools": [tool("a")]}
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("a"), tool("b")]}
        peer.changed()
        await trio.sleep(3)
        return answer

    peer.handlers["tools/list"] = first
    async with InspectorClient(peer) as client:
        await trio.sleep(3)
        assert names(client) == ["a", "b"]


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


@pytest.mark.parametrize("how", ["disconnect", "crash"])
async def test_a_crash_clears_what_a_disconnect_clears_and_says_the_same(
    how: str, peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools, peer.resources, peer.templates, peer.prompts = ["t"], [ONE], ["demo://{x}"], ["p"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        kept = await client.read_resource(ONE)
        async with client.events() as stream:
            ended = client.wait_for("disconnect")
            if how == "crash":
                peer.crash()
                await ended
            else:
                await client.disconnect()
            await wait_all_tasks_blocked()
            said = [event.kind for event in stream._queue]
        assert (client.tools, client.resources, client.resource_templates, client.prompts) == ((), (), (), ())
        assert client.get_subscribed_resources() == ()
        assert client.capabilities is None
        assert client.server_info is None
        assert client.protocol_version is None
        assert client.cache.get_resource(ONE) is None
        assert client.cache.get_resource(ONE, allow_stale=True) is kept
        expected = {
            "statusChange", "cacheChange", "capabilitiesChange", "instructionsChange", "toolsChange",
            "resourcesChange", "resourceTemplatesChange", "promptsChange", "resourceSubscriptionsChange",
            "disconnect",
        }  # fmt: skip
        if not peer.modern:
            expected |= {"serverInfoChange"}
        assert set(said) - {"message", "error"} == expected
        assert said.count("disconnect") == 1
        assert said[-1] == "disconnect"
        assert ("error" in said) == (how == "crash")
        assert client.status == ("error" if how == "crash" else "disconnected")


async def test_a_new_connection_knows_nothing_of_the_old_ones_subscriptions(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        ended = client.wait_for("disconnect")
        peer.crash()
        await ended
        await client.connect()
        await trio.sleep(1)
        assert client.get_subscribed_resources() == ()
        assert peer.count("resources/subscribe") == (0 if peer.modern else 1)


async def test_requests_of_both_sides_with_one_id_are_paired_each_with_its_own_response(
    autojump_clock: MockClock,
) -> None:
    """Client and server count independently: our request 4 and the server's request 4 are two."""
    peer = Peer()

    async def call(_: Json) -> Json:
        peer.send({"id": peer.requests[-1]["id"], "method": "ping"})
        await trio.sleep(1)
        return text("done")

    peer.handlers["tools/call"] = call
    async with InspectorClient(peer) as client:
        await client.call_tool("t")
        ours = next(entry for entry in client.messages if entry.message.get("method") == "tools/call")
        theirs = next(entry for entry in client.messages if entry.message.get("method") == "ping")
        assert ours.message["id"] == theirs.message["id"]
        assert (ours.origin, theirs.origin) == ("client", "server")
        assert ours.response is not None
        assert ours.response["result"]["content"][0]["text"] == "done"
        assert theirs.response is not None
        assert theirs.response["result"] == {}
        assert ours.duration == pytest.approx(1)
        assert not [entry for entry in client.messages if entry.direction == "response"], "no orphans"


async def test_the_message_log_is_bounded_in_bytes_and_forgets_requests_with_their_entries(
    peer: Peer, autojump_clock: MockClock
) -> None:
    options = InspectorOptions(max_messages=10, max_message_bytes=1_000_000)
    async with InspectorClient(peer, options) as client:
        for size in (5_000_000, 200_000):
            body = "x" * size
            peer.handlers["resources/read"] = lambda _, body=body: content(ONE, body)  # type: ignore[misc]
            for _ in range(10):
                read: Any = await client.read_resource(ONE)
                assert len(read.result.contents[0].text) == size, "the log's bound is no one else's"
                assert client._state.messages.bytes <= 1_000_000
        peer.silent_about.add("tools/call")
        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(client.call_tool, "t")
            await wait_all_tasks_blocked()
            assert len(client.messages) == 10
            assert client._state.messages.unanswered == 10
            nursery.cancel_scope.cancel()


async def test_the_cache_has_bounds_lifetimes_statistics_and_events(peer: Peer, autojump_clock: MockClock) -> None:
    options = InspectorOptions(cache_max_entries=2, cache_ttl=60)
    async with InspectorClient(peer, options) as client, client.events("cacheChange") as changes:
        for number in range(3):
            await client.read_resource(f"demo://{number}")
        assert client.cache.statistics().resources.evictions == 1
        evicted: Any = await anext(changes)
        assert (evicted.content, evicted.key, evicted.reason) == ("resource", "demo://0", "evicted")
        await trio.sleep(60)
        assert client.cache.get_resource("demo://2") is None
        assert client.cache.statistics().resources.stale == 2


async def test_a_new_listen_stream_is_acknowledged_before_the_old_one_is_closed(
    autojump_clock: MockClock,
) -> None:
    peer = Peer(modern=True)
    async with InspectorClient(peer) as client, client.events("resourceUpdated") as updates:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()
        assert len(peer.listening) == 1
        listen = peer._listen
        between: list[int] = []

        def slow_to_acknowledge(message: Json) -> None:
            async def acknowledge() -> None:
                await trio.sleep(5)
                between.append(len(peer.listening))
                listen(message)

            peer._nursery.start_soon(acknowledge)

        peer._listen = slow_to_acknowledge  # type: ignore[method-assign]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.subscribe_to_resource, "demo://two")
            await trio.sleep(2)
            peer.updated(ONE)
            update: Any = await anext(updates)
            assert update.uri == ONE, "the old stream still reports"
        assert between == [1]
        await wait_all_tasks_blocked()
        assert len(peer.listening) == 1, "and is closed now"
        assert client.get_subscribed_resources() == (ONE, "demo://two")


async def test_after_a_lost_stream_everything_it_was_to_report_is_taken_as_changed(
    autojump_clock: MockClock,
) -> None:
    peer = Peer(modern=True)
    peer.tools = ["before"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(ONE)
        updated = client.wait_for("resourceUpdated")
        peer.end_listening()
        peer.tools = ["after"]  # and no one is told
        update: Any = await updated
        assert (update.uri, update.cause) == (ONE, "resync")
        assert trio.current_time() == pytest.approx(0.5), "the first pause before listening again"
        assert client.cache.get_resource(ONE) is None
        await trio.sleep(2)
        assert names(client) == ["after"]
        assert client.get_subscribed_resources() == (ONE,)


async def test_after_a_reconnect_subscriptions_are_replayed_and_everything_is_synchronised(
    peer: Peer, autojump_clock: MockClock
) -> None:
    peer.tools, peer.contents = ["before"], {ONE: "v1"}
    options = InspectorOptions(reconnect=Reconnect(first_delay=0.5), auto_reread=True)
    async with InspectorClient(peer, options) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource(ONE)
        kept = await client.read_resource("demo://other")
        back = client.wait_for("connect")
        reread = client.wait_for("resourceContentChange", lambda event: event.seq > 0)
        peer.crash()
        peer.tools, peer.contents = ["after"], {ONE: "v2"}
        await back
        assert trio.current_time() == pytest.approx(0.5)
        assert (await reread).content.result.contents[0].text == "v2"
        assert client.status == "connected"
        assert names(client) == ["after"]
        assert client.get_subscribed_resources() == (ONE,)
        assert client.cache.get_resource("demo://other") is None
        assert client.cache.get_resource("demo://other", allow_stale=True) is kept
        updated = client.wait_for("resourceUpdated")
        peer.updated(ONE)
        assert (await updated).cause == "notification"


async def test_the_end_of_a_connection_is_announced_in_full(peer: Peer, autojump_clock: MockClock) -> None:
    """Lists that shrink to nothing say what went, templates and subscriptions among them."""
    peer.templates = ["demo://{x}"]
    async with InspectorClient(peer) as client:
        await client.subscribe_to_resource(ONE)
        templates = client.wait_for("resourceTemplatesChange")
        subscriptions = client.wait_for("resourceSubscriptionsChange")
        await client.disconnect()
        assert (await templates).removed == ("demo://{x}",)
        assert (await templates).reason == "disconnect"
        assert (await subscriptions).uris == ()


async def test_pages_are_committed_at_once_and_never_torn(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools, peer.page_size = [f"t{n}" for n in range(7)], 2
    async with InspectorClient(peer) as client:
        assert names(client) == peer.tools
        page = peer.handlers["tools/list"]

        async def slow(params: Json) -> Json:
            await trio.sleep(1)
            answer = page(params)
            assert isinstance(answer, dict)
            return answer

        peer.handlers["tools/list"] = slow
        peer.tools = [f"new{n}" for n in range(5)]
        seen: set[int] = set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.list_tools)
            nursery.start_soon(client.list_tools)
            for _ in range(8):
                seen.add(len(client.tools))
                await trio.sleep(0.5)
        assert seen == {7, 5}


async def test_a_cursor_that_comes_twice_ends_the_walk(peer: Peer, autojump_clock: MockClock) -> None:
    peer.tools = ["t"]
    async with InspectorClient(peer) as client:
        peer.handlers["tools/list"] = lambda _: {"tools": [tool("x")], "nextCursor": "again"}
        before = peer.count("tools/list")
        with pytest.raises(Exception, match="the cursor 'again' came twice"):
            await client.list_tools()
        assert peer.count("tools/list") - before == 2
        assert names(client) == ["t"], "half a list is not committed"


async def test_each_call_is_cancelled_by_itself_and_the_server_is_told(peer: Peer, autojump_clock: MockClock) -> None:
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
            told = [n["params"]["requestId"] for n in peer.notifications if n["method"] == "notifications/cancelled"]
            assert told == [asked["id"]], "and only of the one"
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


async def test_events_can_be_pulled_in_order_with_a_backlog_and_awaited_with_a_timeout(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client, client.events() as events:
        coming = client.wait_for("resourceContentChange", lambda event: event.uri == "demo://2")
        for number in range(3):
            await client.read_resource(f"demo://{number}")
        assert (await coming).uri == "demo://2", "armed before the action"
        with pytest.raises(trio.TooSlowError):
            with trio.fail_after(5):
                await client.wait_for("toolsChange")
        numbers = [event.seq for event in events._queue]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def test_a_server_that_announces_a_change_because_it_was_listed_is_asked_ever_more_rarely(
    peer: Peer, autojump_clock: MockClock
) -> None:
    """1742 lists in 164 seconds were seen of a client without a brake."""
    page = peer.handlers["tools/list"]

    def feedback(params: Json) -> Any:
        peer.changed()
        return page(params)

    peer.handlers["tools/list"] = feedback
    async with InspectorClient(peer):
        await trio.sleep(164)
    assert 5 <= peer.count("tools/list") <= 12


async def test_a_server_that_never_stops_announcing_is_listed_once_a_second(
    peer: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(peer) as client:
        before = peer.count("tools/list")
        for number in range(180):
            peer.tools = [f"t{number}"]
            peer.changed()
            await trio.sleep(1 / 3)
        assert 50 <= peer.count("tools/list") - before <= 61
        await trio.sleep(2)
        assert names(client) == ["t179"]


async def test_ten_thousand_notifications_in_a_burst_cost_two_fetches(peer: Peer, autojump_clock: MockClock) -> None:
    async with (
        InspectorClient(peer) as client,
        client.events() as slow,
        client.events("toolsListChanged") as signals,
    ):
        before = peer.count("tools/list")
        for number in range(10_000):
            peer.tools = [f"t{number}"]
            peer.changed()
        await trio.sleep(10)
        assert peer.count("tools/list") - before <= 2
        assert names(client) == ["t9999"]
        assert getattr(await anext(signals), "count", 0) == 10_000
        assert len(slow._queue) <= 1000
        assert len(client.messages) <= 1000
        assert len(client._state.messages._open) < 10


async def test_a_listener_that_never_reads_holds_up_no_one(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer) as client, client.events("resourceUpdated", buffer=10) as events:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()
        for _ in range(1000):
            peer.updated(ONE)
        await client.ping()  # answered: the reader is not stuck
        dropped: Any = await anext(events)
        assert (dropped.kind, dropped.count) == ("eventsDropped", 990)
        rest = [await anext(events) for _ in range(10)]
        assert [event.seq for event in rest] == sorted(event.seq for event in rest)
        assert dropped.seq < rest[0].seq
        assert all(isinstance(event, ResourceUpdated) for event in rest)


async def test_a_reload_that_fails_is_announced_and_tried_again(peer: Peer, autojump_clock: MockClock) -> None:
    async with (
        InspectorClient(peer) as client,
        client.events("toolsListChanged", "error", "toolsChange") as events,
    ):
        page = peer.handlers["tools/list"]

        def refuse(_: Json) -> Json:
            peer.handlers["tools/list"] = page
            raise Refuse(-32603, "busy")

        peer.handlers["tools/list"] = refuse
        peer.tools = ["new"]
        peer.changed()
        signal, error, change = [await anext(events) for _ in range(3)]
        assert signal.kind == "toolsListChanged"
        assert isinstance(error, ErrorEvent)
        assert isinstance(error.error, MCPError)
        assert isinstance(change, ToolsChange)
        assert names(client) == ["new"]
