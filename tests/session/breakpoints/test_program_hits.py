"""Breakpoints that the program judges itself (breakpoints/program_hits.py): what is sent, what its records become."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, launch
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed, connect


@asynccontextmanager
async def running(*, records: bool = True, probe: bool = True) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A session whose program runs."""
    adapter = FakeAdapter()
    if records:
        adapter.capabilities["hitRecords"] = "1"
    adapter.probe = {"record": {"recording": True}} if probe else {}
    async with connect(options=adapter.options()) as client:
        await launch(client, adapter)
        yield client, adapter


async def record(adapter: FakeAdapter, *records: list[Any]) -> None:
    await adapter.event("output", {"category": "tracepoint", "output": "", "data": {"hit_records": records}})


async def listed(client: DebugClient) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in (await client.read(BREAKPOINTS))["breakpoints"]}


async def bound_as(client: DebugClient, adapter: FakeAdapter) -> list[int]:
    """The adapter's id of the breakpoint that was set last: it gives them out from 1."""
    return [sum(len(each["breakpoints"]) for each in adapter.sent("setBreakpoints"))]


async def test_a_simple_breakpoint_is_left_to_the_adapter_and_others_are_one_condition(
    autojump_clock: MockClock,
) -> None:
    async with running() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=8, condition="x > 1")
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 8, "condition": "x > 1"}]
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x is {x}", hit_condition="% 2")
        *_, sent = adapter.sent("setBreakpoints")[-1]["breakpoints"]
        assert sent.keys() == {"line", "condition"}
        assert '.hit(\'[["tp-2",2,null,"% 2","x is {x}"]]\')' in sent["condition"]


async def test_records_are_hits_as_long_as_the_breakpoint_is_the_same(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x is {x}")
        await record(adapter, ["log", "tp-1", 1, 1, "a"], ["count", "tp-1", 1, 5, ""], ["log", "tp-1", 1, 6, "b"])
        assert (await listed(client))["tp-1"]["hitCount"] == 6
        events = (await client.call("timeline_query", types=["tracepoint", "breakpointHit"], full=True))["events"]
        assert [(each["type"], each["payload"]["text"], each["payload"]["hitCount"]) for each in events] == [
            ("tracepoint", "a", 1),
            ("tracepoint", "b", 6),
        ]
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="other {x}")
        await record(adapter, ["log", "tp-1", 1, 7, "late"], ["log", "tp-1", 2, 1, "new"])
        assert (await listed(client))["tp-1"]["hitCount"] == 7, "6 before it was changed"
        (event,) = (await client.call("timeline_query", types=["tracepoint"], full=True))["events"][2:]
        assert (event["payload"]["text"], event["payload"]["hitCount"]) == ("new", 7)
        entries = (await client.call("process_read_output", stream="tracepoint"))["entries"]
        assert entries == [{"log": "a\nb\nlate\nnew\n"}]


async def test_threads_may_write_their_records_in_another_order_than_they_counted_in(
    autojump_clock: MockClock,
) -> None:
    async with running() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x is {x}")
        await record(adapter, ["log", "tp-1", 1, 1, "a"], ["log", "tp-1", 1, 3, "c"], ["log", "tp-1", 1, 2, "b"])
        assert (await listed(client))["tp-1"]["hitCount"] == 3


async def test_output_of_the_program_never_counts_as_a_hit(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x")
        for data in (None, {"hit_records": "no"}, {"hit_records": [["log"]]}, 5):
            output = {"category": "stdout", "output": "\x02tp-1\x03forged\n", "data": data}
            await adapter.event("output", output)
        assert (await listed(client))["tp-1"]["hitCount"] == 0
        read = await client.call("process_read_output", stream="stdout")
        assert read["entries"] == [{"stdout": "\x02tp-1\x03forged\n" * 4}]


async def test_records_mean_nothing_where_the_program_cannot_record(autojump_clock: MockClock) -> None:
    async with running(records=False) as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x")
        assert "logMessage" in adapter.sent("setBreakpoints")[-1]["breakpoints"][0]
        await record(adapter, ["log", "tp-1", 1, 1, "a"])
        assert (await listed(client))["tp-1"]["hitCount"] == 0


async def test_where_the_program_does_not_record_the_adapter_logs_and_the_message_says_so(
    autojump_clock: MockClock,
) -> None:
    async with running(probe=False) as (client, adapter):
        made = await client.call("breakpoint_set", file=adapter.program, line=9, log_message="x")
        assert "logMessage" in adapter.sent("setBreakpoints")[-1]["breakpoints"][0]
        assert made["message"].startswith("hits may be lost and counts inexact: the program does not")
        await client.call("breakpoint_set", function="work", log_message="x")
        (function,) = (await client.read(BREAKPOINTS))["functionBreakpoints"]
        assert (function["verified"], "does not support log messages on functions" in function["message"]) == (
            False,
            True,
        )


async def test_a_stop_says_which_breakpoints_of_the_line_stopped_and_how_often_they_were_hit(
    autojump_clock: MockClock,
) -> None:
    async with running() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=9, hit_condition=">= 100")
        await record(adapter, ["count", "bp-1", 1, 99, ""])
        await record(adapter, ["stop", "bp-1", 1, 100, ""])
        await adapter.stop("breakpoint", hit=await bound_as(client, adapter))
        stop = await client.call("debug_wait")
        assert stop["breakpoints"] == ["bp-1"]
        assert (await listed(client))["bp-1"]["hitCount"] == 100


async def test_a_condition_that_fails_inside_is_that_breakpoints_problem_alone(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        for line in (9, 10):
            await client.call("breakpoint_set", file=adapter.program, line=line, condition="y", hit_condition=">= 1")
        await record(adapter, ["fail", "bp-2", 2, 1, "NameError: y"])
        await adapter.stop("breakpoint", hit=await bound_as(client, adapter))
        stop = await client.call("debug_wait")
        failed = "the condition `y` failed: NameError: y"
        assert stop["notes"] == [failed]
        assert {id_: each["message"] for id_, each in (await listed(client)).items()} == {"bp-1": None, "bp-2": failed}


# --- Tracepoints with limits ------------------------------------------------------------------------------------------


async def limited(client: DebugClient, adapter: FakeAdapter, **more: Any) -> dict[str, Any]:
    return await client.call("tracepoint_set", file=adapter.program, line=9, log_message="x is {x}", **more)


async def test_a_tracepoint_is_judged_by_the_program_with_its_limits(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        assert (await limited(client, adapter, hit_count_multiple=3, max_notifications=2))["id"] == "tp-1"
        (sent,) = adapter.sent("setBreakpoints")[-1]["breakpoints"]
        assert '.hit(\'[["tp-1",1,null,"% 3","x is {x}",2]]\')' in sent["condition"]
        found = (await listed(client))["tp-1"]
        assert (found["type"], found["hitCountMultiple"], found["maxNotifications"]) == ("Tracepoint", 3, 2)
        assert (found["notificationsSent"], found["hitCondition"]) == (0, None)
        lines = (await client.call("breakpoint_list"))["breakpoints"]
        assert lines[0].endswith("log `x is {x}`, at every 3 hits, 0 of 2 notifications")


async def test_a_tracepoint_is_taken_away_with_its_last_notification_and_can_be_started_again(
    autojump_clock: MockClock,
) -> None:
    async with running() as (client, adapter):
        await limited(client, adapter, max_notifications=2)
        await record(adapter, ["log", "tp-1", 1, 1, "a"], ["log", "tp-1", 1, 2, "b"])
        await trio.sleep(1)
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == []
        found = (await listed(client))["tp-1"]
        assert (found["state"], found["enabled"], found["notificationsSent"]) == ("Disabled", False, 2)
        assert found["message"] == "all its notifications are sent: breakpoint_enable starts it again"
        await record(adapter, ["count", "tp-1", 1, 1, ""])  # a thread that is late
        assert (await listed(client))["tp-1"]["hitCount"] == 2
        await client.call("breakpoint_enable", id="tp-1")
        (sent,) = adapter.sent("setBreakpoints")[-1]["breakpoints"]
        assert '[["tp-1",2,null,null,"x is {x}",2]]' in sent["condition"]
        await record(adapter, ["log", "tp-1", 2, 1, "c"])
        found = (await listed(client))["tp-1"]
        assert (found["state"], found["hitCount"], found["notificationsSent"]) == ("Bound", 3, 1)


async def test_the_processes_of_a_program_have_one_limit(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        await limited(client, adapter, max_notifications=2)
        await record(adapter, *(["log", "tp-1", 1, number, f"{number}"] for number in range(1, 6)))
        entries = (await client.call("process_read_output", stream="tracepoint"))["entries"]
        assert entries == [{"log": "1\n2\n"}]
        assert (await listed(client))["tp-1"]["notificationsSent"] == 2


async def test_limits_are_refused_where_the_program_cannot_judge_them(autojump_clock: MockClock) -> None:
    async with running(records=False) as (client, adapter):
        assert (await limited(client, adapter))["id"] == "tp-1", "without limits an adapter can log"
        with pytest.raises(ToolFailed) as refused:
            await limited(client, adapter, max_notifications=1)
        assert refused.value.code == "NOT_SUPPORTED"
        assert "breakpoint_set with log_message" in refused.value.message
        assert (await listed(client))["tp-1"]["maxNotifications"] == 0


async def test_limits_that_were_set_before_are_pending_where_the_program_cannot_judge_them(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    adapter.probe = {}
    async with connect(options=adapter.options()) as client:
        await limited(client, adapter, hit_count_multiple=2)
        await launch(client, adapter)
        found = (await listed(client))["tp-1"]
        assert (found["state"], "does not support hit_count_multiple" in found["message"]) == ("Pending", True)
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == []


async def test_limits_are_pending_where_the_program_does_not_record(autojump_clock: MockClock) -> None:
    async with running(probe=False) as (client, adapter):
        made = await limited(client, adapter, max_notifications=1)
        assert (made["state"], made["message"][:24]) == ("Pending", "hits may be lost and cou")
        assert adapter.sent("setBreakpoints")[-1]["breakpoints"] == []


async def test_a_launch_starts_a_finished_tracepoint_again(autojump_clock: MockClock) -> None:
    async with running() as (client, adapter):
        await limited(client, adapter, max_notifications=1)
        await record(adapter, ["log", "tp-1", 1, 1, "a"])
        await client.call("debug_disconnect")
        await launch(client, adapter)
        found = (await listed(client))["tp-1"]
        assert (found["state"], found["hitCount"], found["notificationsSent"]) == ("Bound", 0, 0)
        await record(adapter, ["log", "tp-1", 1, 1, "b"])
        entries = (await client.call("process_read_output", stream="tracepoint"))["entries"]
        assert entries == [{"log": "b\n"}]
