"""Reading resources: what is listed when, and that a read never waits for the debuggee."""

import json
from typing import Any

import pytest
import trio
import trio.testing
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    JSON_URIS,
    SESSION,
    STACK,
    THREADS,
    launch,
    paused,
    running,
)
from trio_debugmcp.testing import DebugClient, FakeAdapter, connect, open_server
from trio_debugmcp.testing.connect import Era

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def refusal(client: DebugClient, uri: str) -> Any:
    """The error of a read that must fail."""
    with pytest.raises(MCPError) as caught:
        await client.read_text(uri)
    assert caught.value.error.code == (-32602 if client.modern else -32002)
    assert caught.value.error.data == {"uri": uri}
    return caught.value.error.message


async def templates(client: DebugClient) -> list[str]:
    return [each.uri_template for each in (await client.sdk.list_resource_templates()).resource_templates]


@both_eras
async def test_without_a_session_nothing_is_listed(era: Era, autojump_clock: MockClock) -> None:
    async with connect(era, options=FakeAdapter().options()) as client:
        assert await client.uris() == []
        assert await templates(client) == []


@both_eras
@pytest.mark.parametrize("uri", [*JSON_URIS, "debugger://source//src/app.py", "debugger://nothing"])
async def test_without_a_session_a_read_is_not_found_and_says_why(
    era: Era, uri: str, autojump_clock: MockClock
) -> None:
    async with connect(era, options=FakeAdapter().options()) as client:
        assert "debug_launch" in await refusal(client, uri)


@both_eras
async def test_with_a_session_everything_is_listed_and_can_be_read(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, _):
        listed = (await client.sdk.list_resources()).resources
        assert set(JSON_URIS) <= {each.uri for each in listed}
        for each in listed:
            assert each.name
            assert each.description
            (content,) = (await client.sdk.read_resource(each.uri)).contents
            assert content.mime_type == each.mime_type == "application/json"
            assert content.uri == each.uri
            assert isinstance(json.loads(content.text)["revision"], int)  # type: ignore[union-attr]
        assert await templates(client) == [
            "debugger://source/{+file}", "debugger://sessions/{session}/{resource}", "debugger://stop/{n}",
            "debugger://call/{n}",
        ]  # fmt: skip


@both_eras
async def test_after_the_session_nothing_can_be_read(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        await adapter.exit(0)
        await trio.sleep(10)
        assert await client.uris() == []
        assert await templates(client) == []
        for uri in JSON_URIS:
            assert "No active debug session" in await refusal(client, uri)


@both_eras
async def test_a_read_right_after_the_end_says_how_the_session_has_ended(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        await adapter.exit(3)
        await trio.sleep(10)
        for uri in (SESSION, "debugger://sessions/s-1/session"):
            said = await refusal(client, uri)
            assert said.startswith("No active debug session: start one with ")
            assert said.endswith(". s-1 has ended: exit code 3. debug_state has its last state.")
        assert (await client.call("debug_state"))["exitCode"] == 3


async def test_a_client_with_the_short_list_learns_what_to_call_for_the_end(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(options=replace(adapter.options(), core_tools_only=True)) as client:
        await launch(client, adapter)
        await adapter.exit(0)
        await trio.sleep(10)
        assert (await refusal(client, SESSION)).endswith(
            's-1 has ended: exit code 0. debug_more(tool="debug_state") has its last state.'
        )


@both_eras
async def test_an_unknown_uri_is_not_found_and_the_known_ones_are_named(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, _):
        for uri in ("debugger://nothing", "debugger://session/", "debugger://SESSION", "file:///etc/passwd"):
            assert SESSION in await refusal(client, uri)


async def test_both_eras_read_the_same_bytes(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.locals = {"x": "1"}
    async with (
        open_server(adapter.options()) as server,
        server.connect("legacy") as legacy,
        server.connect("modern") as modern,
    ):
        await launch(legacy, adapter, stop_at_entry=True, wait=True)
        for uri in JSON_URIS:
            text = await legacy.read_text(uri)
            assert text == await modern.read_text(uri)
            assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


@both_eras
@pytest.mark.parametrize("withheld", ["initialize", "launch", "setExceptionBreakpoints", "configurationDone"])
async def test_a_session_that_is_starting_can_be_read(era: Era, withheld: str, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold(withheld)
    async with connect(era, options=adapter.options()) as client, trio.open_nursery() as nursery:
        nursery.start_soon(launch, client, adapter)
        await trio.sleep(1)
        start = trio.current_time()
        session = await client.read(SESSION)
        assert (session["state"], session["pauseReason"], session["launchMode"]) == ("Starting", None, "Launch")
        assert session["executablePath"] == adapter.program
        threads = await client.read(THREADS)
        assert (threads["threads"], threads["stale"], threads["capturedAt"]) == ([], True, None)
        stack = await client.read(STACK)
        assert (stack["frames"], stack["stale"], stack["capturedAt"]) == ([], True, None)
        assert (await client.read(BREAKPOINTS))["breakpoints"] == []
        assert trio.current_time() == start
        nursery.cancel_scope.cancel(reason="seen enough")


@both_eras
async def test_a_launch_whose_adapter_is_never_initialized_answers_by_its_timeout_and_can_be_ended(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()

    async def never_ready(arguments: object) -> object:
        await trio.sleep(100)
        return {}

    adapter.answer("initialize", never_ready)
    async with connect(era, options=adapter.options()) as client:
        answer = await launch(client, adapter, timeout=5)
        assert (answer["state"], answer["timedOut"], trio.current_time()) == ("Running", True, 5)
        assert (await client.read(SESSION))["state"] == "Starting"
        await client.call("debug_disconnect")
        assert await client.uris() == []


@both_eras
@pytest.mark.parametrize("withheld", ["threads", "stackTrace", "scopes", "variables"])
async def test_a_read_does_not_wait_for_an_adapter_that_never_answers(
    era: Era, withheld: str, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter):
        adapter.withhold(withheld)
        await adapter.stop("pause")
        for _ in range(30):
            start = trio.current_time()
            states = [await client.read(uri) for uri in JSON_URIS]
            assert trio.current_time() == start
            assert states[0]["state"] in ("Running", "Paused")
            await trio.sleep(1)
        assert (await client.read(SESSION))["state"] == "Paused"


@both_eras
async def test_reads_during_a_disconnect_end_gracefully(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        adapter.withhold("disconnect")
        codes = set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.call, "debug_disconnect")
            for _ in range(80):  # from before its first step to after its last
                for uri in JSON_URIS:
                    with trio.fail_after(1):
                        try:
                            await client.read(uri)
                        except MCPError as error:
                            codes.add(error.error.code)
                await trio.sleep(0.1)
        assert codes == {-32602 if client.modern else -32002}
        assert "No active debug session" in await refusal(client, SESSION)


@both_eras
async def test_while_the_program_runs_the_last_capture_is_stale(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, _):
        fresh = {uri: await client.read(uri) for uri in (THREADS, STACK)}
        assert all(payload["stale"] is False for payload in fresh.values())
        await client.call("debug_continue", wait=False)
        for uri, payload in fresh.items():
            now = await client.read(uri)
            assert (now["stale"], now["capturedAt"]) == (True, payload["capturedAt"])
        assert (await client.read(THREADS))["threads"] == fresh[THREADS]["threads"]


@both_eras
async def test_a_source_of_the_program_is_plain_text_and_no_other_file_is_served(
    era: Era, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter):
        (content,) = (await client.sdk.read_resource(f"debugger://source/{adapter.program}")).contents
        assert content.mime_type == "text/plain"
        assert content.text.startswith('"""`FakeAdapter`')  # type: ignore[union-attr]
        for path in ("/etc/passwd", f"{adapter.program}/../__init__.py", f"{adapter.program}%00", "..", ""):
            assert "is not referenced in any loaded debug symbols" in await refusal(client, f"debugger://source/{path}")


@both_eras
async def test_reading_a_known_source_whose_file_is_gone_says_so(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.frames = [("work", "/src/gone.py", 3)]
    async with paused(era, adapter) as (client, _):
        assert await refusal(client, "debugger://source//src/gone.py") == (
            "Source file '/src/gone.py' referenced in debug symbols but not found on disk"
        )


@both_eras
async def test_a_source_that_only_the_adapter_has_is_requested_with_a_timeout(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()

    async def stack(arguments: object) -> object:
        await trio.lowlevel.checkpoint()
        source = {"path": "/virtual/x.py", "sourceReference": 5}
        return {"stackFrames": [{"id": 1, "name": "f", "line": 1, "column": 1, "source": source}], "totalFrames": 1}

    async def source(arguments: dict[str, Any]) -> object:
        await trio.lowlevel.checkpoint()
        return {"content": f"reference {arguments['sourceReference']}"}

    adapter.answer("stackTrace", stack)
    adapter.answer("source", source)
    async with paused(era, adapter) as (client, _):
        assert await client.read_text("debugger://source//virtual/x.py") == "reference 5"
        adapter.withhold("source")
        start = trio.current_time()
        assert "did not answer 'source'" in await refusal(client, "debugger://source//virtual/x.py")
        assert trio.current_time() - start == pytest.approx(2)


async def test_a_resource_that_can_never_exist_cannot_be_subscribed_to(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, _):
        with pytest.raises(MCPError, match="Unknown resource"):
            async with client.subscribed("debugger://nothing"):
                pass
        assert (await client.read(SESSION))["state"] == "Running"
