"""Output and timeline as resources and by their tools, exact to the tick, in both protocol eras."""

from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import trio
import trio.testing
from mcp.shared.exceptions import MCPError
from trio.testing import MockClock

from tests.server.scene import (
    BREAKPOINTS,
    LIST_CHANGED,
    OUTPUT,
    SESSION,
    STACK,
    THREADS,
    TIMELINE,
    launch,
    paused,
    running,
)
from trio_debugmcp.clock import Clock
from trio_debugmcp.session.event_ring import MAX_BYTES, MAX_EVENTS, SHOWN_EVENTS, Timeline
from trio_debugmcp.session.output.console import MAX_ENTRY_LENGTH, SHOWN_BYTES
from trio_debugmcp.state.changes import Happened, Happening
from trio_debugmcp.state.payloads import json_size
from trio_debugmcp.state.timeline_events import EVENT_TYPES
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect, open_server
from trio_debugmcp.testing.connect import Era

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])


async def write(adapter: FakeAdapter, text: str, stream: str = "stdout") -> None:
    await adapter.event("output", {"category": stream, "output": text})


def since(client: DebugClient, start: float, first: int) -> list[tuple[str, float]]:
    return [(notice.what, round(notice.at - start, 6)) for notice in client.notices[first:]]


async def events(client: DebugClient, *types: str, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.call("timeline_query", types=list(types), **more, full=True))["events"]
    return found


async def test_output_that_is_cut_says_how_much_of_all_of_it_was_left_out(autojump_clock: MockClock) -> None:
    async with running("modern") as (client, adapter):
        for length in (199, 200, 201, 1164):
            await write(adapter, "announced at once\n")
            await write(adapter, "x" * (length - 60))
            await write(adapter, "y" * 59 + "\n")
            await trio.sleep(1)
            payload = (await events(client, "output"))[-1]["payload"]
            whole = "x" * (length - 60) + "y" * 59 + "\n"
            shown = whole if length <= 200 else f"{whole[:200]}… (+{length - 200} characters)"
            assert payload == {"stream": "stdout", "text": shown, "length": length}


# --- Notifications ----------------------------------------------------------------------------------------------------


@both_eras
async def test_output_is_notified_with_the_timeline_and_with_nothing_else(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(OUTPUT, TIMELINE, SESSION, THREADS, BREAKPOINTS):
        start, first = trio.current_time(), len(client.notices)
        await write(adapter, "hello\n")
        await trio.sleep(10)
        assert sorted(since(client, start, first)) == [(OUTPUT, 0.3), (TIMELINE, 0.3)]
        (entry,) = (await client.read(OUTPUT))["entries"]
        assert {key: entry[key] for key in ("seq", "stream", "text")} == {
            "seq": 1,
            "stream": "stdout",
            "text": "hello\n",
        }


@both_eras
async def test_a_burst_of_output_is_one_notification_and_all_of_it_can_be_read(
    era: Era, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter), client.subscribed(OUTPUT):
        before = (await client.read(OUTPUT))["revision"]
        start, first = trio.current_time(), len(client.notices)
        for number in range(300):
            await write(adapter, f"{number}\n")
        await trio.sleep(10)
        assert since(client, start, first) == [(OUTPUT, 0.35)]
        payload = await client.read(OUTPUT)
        assert [entry["text"] for entry in payload["entries"]] == [f"{number}\n" for number in range(300)]
        assert payload["nextSeq"] == 301
        assert payload["revision"] <= before + 2  # not one for every fragment


@both_eras
async def test_a_flood_of_output_is_notified_every_second_and_costs_twenty_changes_a_second(
    era: Era, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter), client.subscribed(OUTPUT):
        before = (await client.read(OUTPUT))["revision"]
        start, first = trio.current_time(), len(client.notices)
        for number in range(1000):
            await trio.sleep_until(start + number * 0.005)
            await write(adapter, "x" * 100 + "\n")
        await trio.sleep(10)
        told = [at for _, at in since(client, start, first)]
        assert told[0] == 0.9
        assert max(later - earlier for earlier, later in pairwise(told)) <= 1.0
        assert told[-1] <= 5 + 0.36
        payload = await client.read(OUTPUT)
        assert payload["revision"] - before <= 5 * 20 + 2
        assert SHOWN_BYTES * 0.9 < len((await client.read_text(OUTPUT)).encode()) < 32_768
        assert payload["entries"][0]["text"].startswith("…")


@both_eras
async def test_a_tracepoint_updates_breakpoints_and_timeline_and_nothing_else(
    era: Era, autojump_clock: MockClock
) -> None:
    async with running(era) as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=3, log_message="x")
        mark = adapter.sent("setBreakpoints")[-1]["breakpoints"][-1]["logMessage"].removesuffix("x")
        await trio.sleep(10)
        async with client.subscribed(SESSION, THREADS, STACK, OUTPUT, BREAKPOINTS, TIMELINE):
            start, first = trio.current_time(), len(client.notices)
            await write(adapter, mark + "x = 1\n")
            await trio.sleep(10)
            assert sorted(since(client, start, first)) == [(BREAKPOINTS, 0.3), (TIMELINE, 0.3)]
        (traced,) = await events(client, "tracepoint")
        assert (traced["payload"]["text"], traced["payload"]["hitCount"]) == ("x = 1", 1)
        assert (await client.read(OUTPUT))["entries"] == []
        assert (await client.call("process_read_output"))["entries"] == [{"log": "x = 1\n"}]


@both_eras
async def test_the_last_output_is_notified_before_the_session_is_gone(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, adapter), client.subscribed(OUTPUT):
        first = len(client.notices)
        await write(adapter, "first\n")
        await trio.sleep(0.02)
        await write(adapter, "last words\n")
        await adapter.exit(1)
        await trio.sleep(10)
        assert [notice.what for notice in client.notices[first:]] == [OUTPUT, LIST_CHANGED]
        told = [each["payload"]["text"] for each in await events(client, "output")]
        assert told == ["first\n", "last words\n"]
        assert [each["type"] for each in await events(client)][-2:] == ["output", "sessionEnded"]


# --- The timeline -----------------------------------------------------------------------------------------------------


@both_eras
async def test_the_timeline_survives_resumes_the_end_and_the_next_session(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        await client.call("debug_continue", wait=False)
        await adapter.stop("pause")
        await trio.sleep(1)
        await adapter.exit(3)
        await trio.sleep(1)
        kinds = ("sessionStarted", "stopped", "continued", "sessionEnded")
        told = await events(client, *kinds)
        assert [each["type"] for each in told] == ["sessionStarted", "stopped", "continued", "stopped", "sessionEnded"]
        assert [each["payload"].get("reason") for each in told][1:4:2] == ["Entry", "Pause"]
        assert told[-1]["payload"]["exitCode"] == 3
        with pytest.raises(MCPError, match="No active debug session"):
            await client.read(TIMELINE)
        await launch(client, adapter)
        again = await events(client)
        assert [each for each in again if each["eventId"] <= told[-1]["eventId"] and each["type"] in kinds] == told
        assert [each["eventId"] for each in again] == list(range(1, len(again) + 1))
        payload = await client.read(TIMELINE)
        assert [each["eventId"] for each in payload["events"]] == [each["eventId"] for each in again]
        assert (payload["totalEvents"], payload["eventsDropped"]) == (len(again), 0)


@both_eras
async def test_a_cursor_continues_without_a_gap_or_a_repetition(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        everything = await events(client)
        seen: list[dict[str, Any]] = []
        cursor = 0
        while True:
            lines = await client.call("timeline_query", after_event_id=cursor, count=2)
            left = len(everything) - len(seen)
            assert lines.get("total", left) == left
            page = await client.call("timeline_query", after_event_id=cursor, count=2, full=True)
            assert (page["total"], page["nextEventId"]) == (left, lines["nextEventId"])
            for line in lines["events"]:
                assert int(line.split()[0]) in {each["eventId"] for each in page["events"]}
            if not page["events"]:
                break
            seen += page["events"]
            cursor = page["nextEventId"]
        assert seen == everything
        assert cursor == everything[-1]["eventId"]
        await adapter.event("thread", {"reason": "started", "threadId": 8})
        await trio.sleep(1)
        (new,) = await events(client, after_event_id=cursor)
        assert (new["type"], new["threadId"], new["eventId"]) == ("threadStarted", 8, cursor + 1)
        assert [each["threadId"] for each in await events(client, thread_id=8)] == [8]
        page = await client.call("timeline_query", max_result_bytes=256)
        assert 1 <= len(page["events"]) < page["total"]
        assert page["events"][-1].startswith(f"{cursor + 1} threadStarted"), "the last ones, unless there is a cursor"
        (last,) = await events(client, count=1)
        assert last["eventId"] == cursor + 1


@both_eras
async def test_an_unknown_event_type_is_refused_by_name(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, _):
        with pytest.raises(ToolFailed, match="no event type 'stop'") as refused:
            await client.call("timeline_query", types=["stopped", "stop"])
        assert refused.value.code == "INVALID_PARAMETER"
        assert refused.value.details["known"] == list(EVENT_TYPES)


@both_eras
async def test_the_timeline_records_tool_calls_except_those_that_read_it(era: Era, autojump_clock: MockClock) -> None:
    async with paused(era) as (client, adapter):
        cursor = (await client.call("timeline_query"))["nextEventId"]
        adapter.values = {"x": "1"}

        async def slowly(arguments: Any) -> Any:
            await trio.sleep(0.5)
            return {"result": "1"}

        adapter.answer("evaluate", slowly)
        await client.call("evaluate", expression="x")
        with pytest.raises(ToolFailed):
            await client.call("breakpoint_remove", id="bp-99")
        for _ in range(3):
            await client.call("timeline_query")
        called = [each["payload"] for each in await events(client, "toolCalled", after_event_id=cursor)]
        assert [(each["tool"], each.get("error")) for each in called] == [
            ("evaluate", None),
            ("breakpoint_remove", "BREAKPOINT_NOT_FOUND"),
        ]
        assert called[0]["arguments"] == {"expression": "x"}
        assert called[0]["milliseconds"] == 500
        assert called[0]["client"]
        assert called[0]["result"] == "1"
        assert called[1]["result"].startswith("There is no breakpoint 'bp-99'")


@both_eras
async def test_the_timeline_records_a_call_that_is_cancelled(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, _):
        with trio.move_on_after(1):
            await client.call("debug_wait", timeout=30)
        await trio.sleep(1)
        (called,) = [each for each in await events(client, "toolCalled") if each["payload"]["tool"] == "debug_wait"]
        assert called["payload"]["error"] == "CANCELLED"
        assert called["payload"]["result"] == "cancelled: the client no longer waits for it"


@both_eras
async def test_a_call_in_flight_is_in_the_timeline_with_its_client_and_its_end_names_it(
    era: Era, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter()
    async with (
        open_server(adapter.options()) as server,
        server.connect("legacy") as watching,
        server.connect(era) as agent,
        trio.open_nursery() as nursery,
    ):
        await launch(agent, adapter)
        await trio.sleep(1)
        (launched,) = [each["payload"] for each in await events(watching, "toolStarted")]
        assert launched["tool"] == "debug_launch"
        nursery.start_soon(partial(agent.call, "debug_wait", timeout=30))
        await trio.sleep(5)
        began = (await events(watching, "toolStarted"))[-1]["payload"]
        assert (began["tool"], began["arguments"]) == ("debug_wait", {"timeout": 30})
        assert began["client"] == launched["client"]
        ended = {each["payload"]["call"] for each in await events(watching, "toolCalled")}
        assert launched["call"] in ended
        assert began["call"] not in ended
        await adapter.stop("pause")
        await trio.sleep(1)
        (over,) = [
            each["payload"] for each in await events(watching, "toolCalled") if each["payload"]["call"] == began["call"]
        ]
        assert over["result"].startswith("Paused Pause ")
        assert over.items() >= began.items()
        await agent.call("debug_disconnect", terminate=True)
        await launch(agent, adapter)
        await trio.sleep(1)
        begun = [each["payload"]["tool"] for each in await events(watching, "toolStarted")]
        assert begun == ["debug_launch", "debug_wait", "debug_disconnect", "debug_launch"]


@both_eras
async def test_a_call_whose_client_vanishes_ends_in_the_timeline(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect("legacy") as watching:
        await launch(watching, adapter)
        await trio.sleep(1)
        with trio.move_on_after(1):
            async with server.connect(era) as agent:
                await agent.call("debug_wait", timeout=30)
        await trio.sleep(1)
        (began,) = [each for each in await events(watching, "toolStarted") if each["payload"]["tool"] == "debug_wait"]
        (over,) = [each for each in await events(watching, "toolCalled") if each["payload"]["tool"] == "debug_wait"]
        assert over["payload"]["call"] == began["payload"]["call"]
        assert over["payload"]["error"] == "CANCELLED"


@both_eras
async def test_the_timeline_records_clients_that_connect_and_disconnect(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect("legacy") as watching:
        await launch(watching, adapter)
        await trio.sleep(1)
        cursor = (await watching.call("timeline_query"))["nextEventId"]
        async with watching.subscribed(TIMELINE, SESSION):
            first = len(watching.notices)
            async with server.connect(era) as other:
                await other.uris()
                await trio.sleep(1)
            await trio.sleep(10)
            assert {notice.what for notice in watching.notices[first:]} == {TIMELINE}
        came, went = await events(watching, after_event_id=cursor)
        assert (came["type"], went["type"]) == ("clientJoined", "clientLeft")
        assert came["payload"] == went["payload"]
        assert came["payload"]["role"] == "control"
        assert came["payload"]["name"]


async def test_the_timeline_is_bounded_and_reports_what_it_dropped(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await launch(client, adapter)
        before = (await client.read(TIMELINE))["totalEvents"]
        for number in range(MAX_EVENTS):
            await server.app.debugger.merger.merge(Happened(Happening("output", {"text": str(number)})))
        payload = await client.read(TIMELINE)
        assert 150 < len(payload["events"]) <= SHOWN_EVENTS
        assert len((await client.read_text(TIMELINE)).encode()) < 32_768
        assert payload["events"][-1]["payload"] == {"text": str(MAX_EVENTS - 1)}
        assert payload["eventsDropped"] == before
        assert payload["totalEvents"] == MAX_EVENTS + before
        query = await client.call("timeline_query", count=1, after_event_id=0, full=True)
        assert (query["events"][0]["payload"], query["total"], query["dropped"]) == ({"text": "0"}, MAX_EVENTS, before)


async def test_the_timeline_is_bounded_by_the_size_of_what_it_says(autojump_clock: MockClock) -> None:
    timeline = Timeline(Clock())
    timeline.record([Happening("output", {"text": "x" * 100_000}) for _ in range(200)])
    kept = list(timeline.after(0))
    assert [each.event_id for each in kept] == list(range(201 - len(kept), 201))
    assert 0.9 * MAX_BYTES < sum(map(json_size, kept)) <= MAX_BYTES
    assert timeline.dropped == 200 - len(kept)


async def test_what_a_program_wrote_at_its_end_is_there_when_the_next_one_runs(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await launch(client, adapter)
        await adapter.event("output", {"category": "stdout", "output": "the last words\n"})
        await adapter.exit(1)
        assert (await client.call("debug_wait"))["state"] == "Disconnected"
        await launch(client, adapter)  # at once
        lines = (await client.call("timeline_query"))["events"]
        kinds = [line.split()[1] for line in lines]
        assert kinds.count("sessionStarted") == 2
        assert any("the last words" in line for line in lines)
        assert any("sessionEnded exit code 1" in line for line in lines)
        assert kinds.index("sessionEnded") < len(kinds) - kinds[::-1].index("sessionStarted")
        late = await client.read(TIMELINE)
        assert {"sessionEnded", "output"} <= {each["type"] for each in late["events"]}


# --- Reading output ---------------------------------------------------------------------------------------------------


async def test_output_is_paged_by_cursor_in_bytes_and_survives_the_end(autojump_clock: MockClock) -> None:
    async with running("legacy") as (client, adapter):
        for number in range(4):
            await write(adapter, "é" * 50 + "\n", "stderr" if number % 2 else "stdout")
        await write(adapter, "x" * (MAX_ENTRY_LENGTH + 1))
        await adapter.exit()
        await trio.sleep(1)
        page = await client.call("process_read_output", max_bytes=400)
        line = "é" * 50 + "\n"
        assert page == {"entries": [{"stdout": line}, {"stderr": line}], "nextSeq": 3}
        page = await client.call("process_read_output", since_seq=3, stream="stdout")
        assert page == {"entries": [{"stdout": line}], "nextSeq": 5}
        page = await client.call("process_read_output", since_seq=5)
        assert page["entries"] == [{"stdout": "x" * MAX_ENTRY_LENGTH}]
        page = await client.call("process_read_output", since_seq=page["nextSeq"])
        assert page == {"entries": [{"stdout": "x"}], "nextSeq": 7}


@pytest.mark.parametrize("max_bytes", [1, 7, 100, 5000])
async def test_no_text_is_skipped_by_answers_that_are_shorter_than_an_entry(
    max_bytes: int, autojump_clock: MockClock
) -> None:
    async with running("legacy") as (client, adapter):
        lines = ["é" * 30 + "\n", "x" * 40, "y" * 3 + "\n", "\U0001f600\n", "z" * 90 + "\n"]
        for line in lines:
            await write(adapter, line)
        await trio.sleep(1)
        text, seq = "", 0
        while (page := await client.call("process_read_output", since_seq=seq, max_bytes=max_bytes))["entries"]:
            text += "".join(each["stdout"] for each in page["entries"])
            assert page["nextSeq"] != seq
            seq = page["nextSeq"]
        assert text == "".join(lines)


async def test_the_output_in_a_report_is_what_this_client_has_not_been_given(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.withhold("variables")

    def said(stop: dict[str, Any]) -> str:
        return str(stop.get("stdout", ""))

    async with (
        open_server(adapter.options()) as server,
        server.connect() as agent,
        server.connect(role="observe") as observer,
        server.connect() as other,
    ):
        await launch(agent, adapter)
        await write(adapter, "one\n")
        await adapter.stop("breakpoint")
        with trio.move_on_after(1):
            await agent.call("debug_wait")
        assert said(await observer.call("debug_wait")) == "one\n"
        assert said(await observer.call("debug_wait")) == ""
        assert said(await other.call("debug_wait")) == "one\n"
        await write(adapter, "two\n")
        await trio.sleep(1)
        assert said(await agent.call("debug_wait")) == "one\ntwo\n"
        assert said(await agent.call("debug_wait")) == ""
        assert said(await other.call("debug_wait")) == "two\n"


@both_eras
async def test_a_server_without_a_session_has_a_timeline_too(era: Era, autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with connect(era, options=adapter.options()) as client:
        await client.call("breakpoint_set", file=adapter.program, line=1)
        assert [each["type"] for each in await events(client)] == [
            "clientJoined",
            "toolStarted",
            "breakpointSet",
            "toolCalled",
        ]
