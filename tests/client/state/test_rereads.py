"""Reading changed resources again: the option `auto_reread`. Both eras, virtual clock."""

from typing import Any

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.client.peer import Json, Peer, Refuse, content, received
from trio_debugmcp.client import (
    InspectorClient,
    InspectorOptions,
)

ONE, TWO = "demo://one", "demo://two"


def refuse(_: Json) -> Json:
    raise Refuse(-32602, "not subscribable")


async def test_changed_resources_are_read_again_at_once_and_coalesced(peer: Peer, autojump_clock: MockClock) -> None:
    reading: set[str] = set()
    most = 0

    async def slow(params: Json) -> Json:
        nonlocal most
        uri = params["uri"]
        body = peer.contents[uri]
        if uri in reading:
            raise Refuse(-32603, "read twice at once")
        reading.add(uri)
        most = max(most, len(reading))
        await trio.sleep(1)
        reading.discard(uri)
        return content(uri, body)

    peer.handlers["resources/read"] = slow
    uris = [f"demo://{n}" for n in range(10)]
    peer.contents = dict.fromkeys(uris, "v0")
    options = InspectorOptions(auto_reread=True)
    async with InspectorClient(peer, options) as client, client.events("error") as errors:
        for uri in uris:
            await client.subscribe_to_resource(uri)
        await wait_all_tasks_blocked()
        for version in range(50):
            peer.contents = dict.fromkeys(uris, f"v{version}")
            for uri in uris:
                peer.updated(uri)
            await trio.sleep(0.02)
        await trio.sleep(60)
        assert most == 4, "a few at once"
        assert received(errors) == [], "and each by one task"
        assert peer.count("resources/read") <= 30
        for uri in uris:
            kept: Any = client.cache.get_resource(uri)
            assert kept.result.contents[0].text == "v49"


async def test_a_template_read_is_renewed_together_with_its_resource(peer: Peer, autojump_clock: MockClock) -> None:
    peer.templates, peer.contents = ["demo://{x}"], {ONE: "v1"}
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        await client.subscribe_to_resource(ONE)
        await client.read_resource_from_template("demo://{x}", {"x": "one"})
        peer.contents = {ONE: "v2"}
        renewed = client.wait_for("resourceTemplateContentChange")
        peer.updated(ONE)
        await renewed
        kept: Any = client.cache.get_resource_template("demo://{x}")
        assert kept.result.contents[0].text == "v2"
        assert peer.count("resources/read") == 2


async def test_a_reread_that_fails_is_an_error_event(peer: Peer, autojump_clock: MockClock) -> None:
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        await client.subscribe_to_resource(ONE)
        failed = client.wait_for("error")
        peer.handlers["resources/read"] = refuse
        peer.updated(ONE)
        assert "reading demo://one again failed" in (await failed).message


async def test_a_resource_that_changes_while_it_is_read_is_read_again_after_that(
    peer: Peer, autojump_clock: MockClock
) -> None:
    times: list[tuple[str, float]] = []

    async def slow(_: Json) -> Json:
        times.append(("begin", trio.current_time()))
        await trio.sleep(1)
        times.append(("end", trio.current_time()))
        return content(ONE, "")

    peer.handlers["resources/read"] = slow
    async with InspectorClient(peer, InspectorOptions(auto_reread=True)) as client:
        await client.subscribe_to_resource(ONE)
        await wait_all_tasks_blocked()
        peer.updated(ONE)
        await trio.sleep(0.5)
        peer.updated(ONE)
        await trio.sleep(60)
    assert times == [("begin", 0), ("end", 1), ("begin", 1), ("end", 2)]
