"""The 25 acceptance scenarios for debug-mcp, whose interface this one started from, by their names.

Each with a real MCP client and a real program. Two differ, because answers are another contract here: a failed wait is
not an error (14), and a tracepoint's messages are in `log` (15). What 24 says of many cycles is in tests/faults.
"""

from pathlib import Path
from urllib.parse import quote

import mcp_types as types
import pytest
import trio
from mcp.shared.exceptions import MCPError

from tests.real.conftest import (
    BY_ENGINE,
    PROGRAMS,
    TEST_SECONDS,
    Connect,
    at,
    breakpoints,
    hits,
    line_of,
    program,
    text_of,
    where,
)
from tests.transports.conftest import StartServer
from tests.transports.scene import OBSERVE
from trio_debugmcp.testing import DebugClient, ToolFailed, connect_process, connect_websocket
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.testing.debug_client import LIST_CHANGED

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def subscribe(client: DebugClient, uri: str) -> None:
    await client.request(types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri)))


async def test_01_launch_paused_at_entry(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        result = await client.call("debug_launch", program=program("steps.py"))
        assert (result["state"], result["reason"]) == ("Paused", "Entry")
        session = await client.read(SESSION)
        assert (session["state"], session["launchMode"]) == ("Paused", "Launch")
        assert session["processId"] == result["pid"] > 0
        assert session["sessionId"] == result["session"]
        await client.wait_notice(LIST_CHANGED)
        assert len(client.times_of(LIST_CHANGED)) == 1


async def test_02_empty_without_session(debugging: Connect, each_era: Era) -> None:
    async with debugging(each_era) as client:
        assert (await client.uris(), await client.templates()) == ([], [])
        with pytest.raises(MCPError, match="No active debug session: start one with") as raised:
            await client.read(SESSION)
        assert raised.value.error.code == (-32602 if client.modern else -32002)


async def test_03_lists_fill_and_empty(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("steps.py"))
        assert {SESSION, BREAKPOINTS, THREADS} <= set(await client.uris())
        await client.call("debug_disconnect")
        assert await client.uris() == []
        await client.wait_notice(LIST_CHANGED, after=1)
        assert len(client.times_of(LIST_CHANGED)) == 2


async def test_04_breakpoint_hit(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        stop = await client.call("debug_continue")
        assert stop["reason"] == "Breakpoint"
        assert stop["breakpoints"] == ["bp-1"]
        line = line_of("steps.py", "# call level3")
        assert stop["at"] == f"tests/programs/steps.py:{line} in level2", "below the server's directory"
        assert stop["locals"] == {"value": "7"}
        assert f"\n{line}>     inner = level3(value)  # call level3\n" in stop["source"]
        assert len(stop["source"].splitlines()) == 3, "two on either side, without the empty ones at the ends"
        location = (await client.read("debugger://session"))["currentLocation"]
        assert (location["file"], location["line"], location["functionName"]) == (program("steps.py"), line, "level2")
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] == 1


async def test_05_subscribed_update(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        client.notices.clear()
        async with client.subscribed(SESSION, list_changes=False):
            await client.call("debug_continue")
            await client.wait_notice(SESSION)
            assert (await client.read(SESSION))["state"] == "Paused"
            assert {notice.what for notice in client.notices} == {SESSION}


async def test_06_debounce_coalesces(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("busy.py"))
        client.notices.clear()
        async with client.subscribed(SESSION, THREADS):
            started = trio.current_time()
            for _ in range(20):
                stop = await client.call("debug_step")
            for uri in (SESSION, THREADS):
                await client.wait_notice(uri)
                took = trio.current_time() - started
                assert len(client.times_of(uri)) <= took / 0.3 + 2, "one in each quiet window, however many steps"
            location = (await client.read(SESSION))["currentLocation"]
            assert (location["line"], location["functionName"]) == (where(stop).line, where(stop).function)


async def test_07_no_starvation(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("busy.py", "# in loop"), log_message="turn {turn}")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        async with client.subscribed(BREAKPOINTS):
            await client.wait_notice(BREAKPOINTS)
            first = (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"]
            while (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] <= first + 50:
                await trio.sleep(0.1)
            # It never falls quiet, and is notified all the same; how often tests/server/test_timing.py measures.
            await client.wait_notices(lambda notices: notices[2:])
            session = await client.call("debug_state")
            assert session["state"] == "Running"
        output = await client.call("process_read_output", stream="stdout")
        assert output["entries"] == [], "text of tracepoints is not output of the program"


async def test_08_unsubscribe_and_reconnect_and_09_two_clients_with_their_own_subscriptions(
    serving: StartServer,
) -> None:
    """Over WebSocket, with an agent on stdio; one client leaves with an update pending, and comes again."""
    with trio.fail_after(TEST_SECONDS):
        async with (
            serving("--ws", "0") as server,
            connect_process(server.process) as agent,
            connect_websocket(await server.websocket_url(), OBSERVE, "modern") as second,
        ):
            url = await server.websocket_url()
            await agent.call("debug_launch", program=program("steps.py"))
            async with connect_websocket(url, OBSERVE) as first:
                async with first.subscribed(SESSION), second.subscribed(BREAKPOINTS, list_changes=False):
                    for each in (first, second):
                        each.notices.clear()
                    await agent.call("breakpoint_set", **at("steps.py", "# in loop"))
                    await second.wait_notice(BREAKPOINTS)
                    await agent.call("debug_continue")
                    await first.wait_notice(SESSION)
                    await second.wait_notice(BREAKPOINTS, after=1)
                    assert {notice.what for notice in first.notices} == {SESSION}
                    assert {notice.what for notice in second.notices} == {BREAKPOINTS}
                count = len(first.notices)
                await agent.call("debug_step")
                await trio.sleep(1)
                assert len(first.notices) == count, "it has unsubscribed"
                await subscribe(first, SESSION)
                await agent.call("debug_step")
            # The first client has gone before the update was due, and with its subscription.
            async with connect_websocket(url, OBSERVE) as first, second.subscribed(SESSION, list_changes=False):
                await agent.call("debug_step")
                await second.wait_notice(SESSION)
                assert first.notices == []
                assert (await first.read(SESSION))["state"] == "Paused"


async def test_10_pending_breakpoint_before_session_binds(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        place = f"tests/programs/steps.py:{line_of('steps.py', '# call level3')}"
        assert made == {"id": "bp-1", "at": place, "line": "inner = level3(value)  # call level3"}
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        (bound,) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert (bound["state"], bound["hitCount"]) == ("Bound", 1)
        assert await breakpoints(client) == {"bp-1": f"{place}, 1 hit"}
        restarted = await client.call("debug_restart")
        assert where(restarted).line == line_of("steps.py", "# call level3")
        await client.call("debug_disconnect")
        assert await breakpoints(client) == {"bp-1": f"{place}, 1 hit"}
        again = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert again["breakpoints"] == ["bp-1"]


async def test_11_condition(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i ==")
        assert failed.value.code == "INVALID_CONDITION"
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i == 3")
        launched = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "3"
        assert launched["breakpoints"] == ["bp-1"]
        assert (await client.call("debug_continue"))["state"] == "Disconnected"

        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="nobody == 3")
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        (note,) = stop["notes"]
        assert "nobody" in note
        assert "NameError" in note
        assert (await breakpoints(client))["bp-1"].endswith(note)
        assert "NameError" in (await client.read(BREAKPOINTS))["breakpoints"][0]["message"]


async def test_12_hit_count_condition(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), hit_condition="3")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "2"
        assert await hits(client) == {"bp-1": 3}


async def test_13_disable_enable_remove(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("breakpoint_set", **at("steps.py", "# in loop"))
        off = await client.call("breakpoint_enable", id="bp-1", enabled=False)
        assert off["state"] == "Disabled"
        assert (await breakpoints(client))["bp-1"].endswith(", disabled")
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert stop["breakpoints"] == ["bp-2"]
        on = await client.call("breakpoint_enable", id="bp-1")
        assert "state" not in on
        assert [each["state"] for each in (await client.read(BREAKPOINTS))["breakpoints"]] == ["Bound", "Bound"]
        assert (await client.call("debug_restart"))["breakpoints"] == ["bp-1"]
        assert (await client.call("breakpoint_remove", id="bp-1"))["removed"] == ["bp-1"]
        assert list(await breakpoints(client)) == ["bp-2"]
        exception = await client.call("breakpoint_set_exception", exception_type="ValueError")
        off = await client.call("breakpoint_enable", id=exception["id"], enabled=False)
        assert off["state"] == "Disabled"
        (kept,) = (await client.read(BREAKPOINTS))["exceptionBreakpoints"]
        assert (kept["enabled"], kept["verified"]) == (False, False)
        with pytest.raises(ToolFailed, match="bp-2") as failed:
            await client.call("breakpoint_remove", id="bp-99")
        assert failed.value.code == "BREAKPOINT_NOT_FOUND"
        await client.call("breakpoint_remove", id="*")
        assert (await client.call("debug_continue"))["reason"] == "Exited", "a removed breakpoint does not stop it"


async def test_14_several_breakpoints_in_order_and_the_wait_tool(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        for expected in ("bp-1", "bp-2"):
            await client.call("debug_continue", wait=False)
            assert (await client.call("breakpoint_wait", breakpoint_id=expected))["breakpoints"] == [expected]
        await client.call("debug_disconnect")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        while (await client.call("debug_state"))["state"] != "Running":
            await trio.sleep(0.02)
        waited = await client.call("debug_wait", timeout=0.5)
        assert (waited["timedOut"], waited["state"], waited.get("reason")) == (True, "Running", None)


TEN = """
def work():
    for i in range(10):
        i * 2  # here
work()
print("done")  # end
"""


async def test_15_tracepoint(debugging: Connect, tmp_path: Path) -> None:
    """The counts are of hits: the third is `i == 2`."""
    file = tmp_path / "ten.py"
    file.write_text(TEN)
    app, lines = str(file), TEN.splitlines()
    here, end = (next(n for n, line in enumerate(lines, 1) if mark in line) for mark in ("# here", "# end"))
    async with debugging() as client:
        place = {"file": app, "line": here}
        limits = {"hit_count_multiple": 3, "max_notifications": 2}
        made = await client.call("tracepoint_set", **place, log_message="i={i} {nope} {{x}}", **limits)
        await client.call("breakpoint_set", file=app, line=end)
        stop = await client.call("debug_launch", program=app)
        assert stop["at"].endswith(f":{end} in <module>"), "the one stop there is"
        expected = [f"i={i} <error: NameError: name 'nope' is not defined> {{x}}" for i in (2, 5)]
        assert stop["log"].splitlines() == expected
        found, _ = (await client.read("debugger://breakpoints"))["breakpoints"]
        assert (found["id"], found["type"], found["state"]) == (made["id"], "Tracepoint", "Disabled")
        assert (found["hitCount"], found["notificationsSent"]) == (6, 2)
        assert (found["hitCountMultiple"], found["maxNotifications"]) == (3, 2)
        events = (await client.call("timeline_query", types=["tracepoint", "stopped"], full=True))["events"]
        assert [each["type"] for each in events] == ["tracepoint", "tracepoint", "stopped"]
        assert "stdout" not in stop, "the messages are not output of the program"


async def test_16_exception_breakpoint_and_autopsy(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="ShopError")
        stop = await client.call("debug_launch", program=program("errors.py"), stop_on_uncaught=False)
        assert stop["reason"] == "Exception", "the KeyError that was caught before did not stop"
        assert (stop["exception"], "mode" in stop) == ("SoldOut: nothing left", False)
        exception = (await client.read("debugger://session"))["exception"]
        handler = exception.pop("caughtBy")
        assert exception == {"type": "SoldOut", "message": "nothing left", "breakMode": "always"}
        if BY_ENGINE:  # pydevd does not judge it
            assert handler["function"] == "caught_shop"
            assert stop["caughtBy"] == f"caught_shop tests/programs/errors.py:{handler['line']}"
        else:
            assert handler is None
            assert "caughtBy" not in stop
        assert where(stop).function == "wrapped"
        context = await client.call("exception_get_context")
        assert context["exception"] == "SoldOut: nothing left"
        (cause,) = context["causes"]
        line = line_of("errors.py", "int(price)")
        assert (cause["way"], cause["exception"].partition(":")[0]) == ("cause", "ValueError")
        assert cause["frames"] == [f"wrapped tests/programs/errors.py:{line} (raised here) | int(price)"]
        raised = line_of("errors.py", "raise SoldOut")
        assert context["frames"][0].startswith(f"wrapped tests/programs/errors.py:{raised} (raised here) | raise ")
        assert context["locals"][0]["price"] == "'ten'"
        context = await client.call("exception_get_context", max_inner=0)
        assert ("causes" in context, context["omitted"]) == (False, {"exceptions": 1})
        assert (await client.call("debug_continue"))["reason"] == "Exited"


async def test_17_uncaught_exception(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        stop = await client.call("debug_launch", program=program("errors.py"), stop_at_entry=False)
        assert stop["exception"].startswith("KeyError: ")
        assert stop["mode"] == "unhandled"
        assert where(stop).function == "fatal"
        await client.call("debug_disconnect")


async def test_18_stepping(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        into = await client.call("debug_step", mode="in")
        assert where(into).function == "level2"
        out = await client.call("debug_step", mode="out")
        assert where(out).function == "level1"
        over = await client.call("debug_step")
        assert where(over).line == line_of("steps.py", "# after level2")
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_step", mode="out")
        cut_short = await client.call("debug_step", count=3)
        assert cut_short["reason"] == "Breakpoint"
        assert where(cut_short).line == line_of("steps.py", "# bottom")


async def test_19_errors_when_not_paused(debugging: Connect) -> None:
    needs_pause: list[tuple[str, dict[str, object]]] = [
        ("debug_step", {}),
        ("debug_continue", {}),
        ("variables_get", {}),
        ("evaluate", {"expression": "1"}),
        ("debug_run_to", at("steps.py", "# last")),
        ("exception_get_context", {}),
    ]
    async with debugging() as client:
        for tool, arguments in needs_pause:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert failed.value.code == "NO_SESSION"
        with pytest.raises(ToolFailed) as failed:
            await client.call("stacktrace_get")
        assert failed.value.code == "NO_SESSION"
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        needs_pause.remove(("evaluate", {"expression": "1"}))  # in the globals of the main module
        for tool, arguments in needs_pause:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert (failed.value.code, failed.value.details["currentState"]) == ("NOT_PAUSED", "Running")
        paused = await client.call("debug_pause")
        assert (paused["reason"], where(paused).file) == ("Pause", "tests/programs/busy.py")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ALREADY_PAUSED"


async def test_20_stack_and_frames(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        whole = await client.call("stacktrace_get", count=100)
        frames = whole["frames"]
        assert (len(frames) >= 15, "omitted" in whole) == (True, False)
        bottom = line_of("steps.py", "# bottom")
        assert frames[0].startswith(f"recurse tests/programs/steps.py:{bottom} | ")
        assert {frame.partition(" ")[0] for frame in frames[:13]} == {"recurse"}
        assert frames[1].startswith("recurse :"), "the file is named where it is another one"
        paged = []
        for start in range(0, len(frames), 4):
            page = await client.call("stacktrace_get", start=start, count=4)
            assert page.get("omitted", 0) == max(0, len(frames) - start - 4)
            paged += [each.replace(" tests/programs/steps.py:", " :") for each in page["frames"]]
        assert paged == [each.replace(" tests/programs/steps.py:", " :") for each in frames]
        assert (await client.call("variables_get", frame_index=2, filter="here"))["variables"] == {"here": "2"}
        with pytest.raises(ToolFailed, match="frames go from 0 to") as failed:
            await client.call("variables_get", frame_index=500)
        assert failed.value.code == "INVALID_FRAME"


async def test_21_threads(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("workers.py", "# while they work"))
        await client.call("debug_launch", program=program("workers.py"), stop_at_entry=False)
        await client.call("debug_wait")
        threads: list[str] = []
        while sum(" in work" in thread for thread in threads) < 3:  # one that has just begun comes there yet
            threads = (await client.call("threads_list"))["threads"]
        assert len({thread.removeprefix("*").split()[0] for thread in threads}) == len(threads) >= 4
        assert [thread[0] for thread in threads].count("*") == 1
        workers = [thread for thread in threads if " worker-" in thread]
        assert len(workers) == 3
        assert all(where(thread).line for thread in workers)
        stack = await client.call("stacktrace_get", thread_id=int(workers[0].split()[0]))
        assert "work" in [frame.split()[0] for frame in stack["frames"]]
        with pytest.raises(ToolFailed) as failed:
            await client.call("stacktrace_get", thread_id=987654)
        assert failed.value.code == "INVALID_THREAD"
        paused = await client.read(THREADS)
        assert paused["stale"] is False
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue", wait=False)
        running = await client.read(THREADS)
        assert (running["stale"], running["capturedAt"]) == (True, paused["capturedAt"])
        await client.call("debug_pause")
        again = await client.read(THREADS)
        assert (again["stale"], again["capturedAt"] > paused["capturedAt"]) == (False, True)


async def test_22_source_resource(debugging: Connect, tmp_path: Path) -> None:
    odd = str(PROGRAMS / "odd names" / "pr#ice ä%41 & co.py")
    gone = tmp_path / "gone.py"
    gone.write_text("x = 1\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    link = tmp_path / "link.py"
    link.symlink_to(secret)
    async with debugging() as client:
        await client.call("debug_launch", program=odd)
        text = Path(odd).read_text()
        for spelled in (quote(odd), quote(odd, safe="/ä"), quote(odd, safe="")):
            assert await client.read_text(f"debugger://source/{spelled}") == text
        refused = (
            "/etc/passwd",
            f"{PROGRAMS}/odd%20names/../steps.py",
            f"{quote(odd)}/../../steps.py",
            str(link),
            quote(quote(odd)),
            "%2Fetc%2Fpasswd",
            "",
        )
        for path in refused:
            with pytest.raises(MCPError, match="is not referenced in any loaded debug symbols"):
                await client.read_text(f"debugger://source/{path}")
        await client.call("debug_disconnect")
        await client.call("debug_launch", program=str(gone))
        gone.unlink()
        with pytest.raises(MCPError, match="referenced in debug symbols but not found on disk"):
            await client.read_text(f"debugger://source/{gone}")
        gone.symlink_to(secret)
        with pytest.raises(MCPError, match="is not referenced"):
            await client.read_text(f"debugger://source/{gone}")


async def test_23_process_io(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        written = await client.call("process_write_input", data="Ada\n")
        assert written == {"bytesWritten": 4}
        await client.call("process_write_input", data="again\n", close_after=True)
        end = await client.call("debug_wait")
        assert (end["reason"], end["exitCode"]) == ("Exited", 3)
        output = await client.call("process_read_output")
        text = {stream: text_of(output, stream) for stream in ("stdout", "stderr")}
        assert text == {"stdout": "name? hello Ada\nheard again\n", "stderr": "bye\n"}
        rest = await client.call("process_read_output", since_seq=output["nextSeq"])
        assert rest["entries"] == []


async def test_24_exit(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        async with client.subscribed(SESSION):
            await client.call("process_write_input", data="Ada\n", close_after=True)
            end = await client.call("debug_wait")
            assert end["exitCode"] == 3
            await client.wait_notice(SESSION)
        state = await client.call("debug_state")
        assert (state["state"], state["exitCode"]) == ("Disconnected", 3)
        for _ in range(2):
            ended = await client.call("debug_disconnect")
            assert ended == {"ended": True, "notes": ["there was no session"]}


LIST = """\
def fill(basket):
    basket["lines"][0]["count"] = 2  # here
    total = 5
    return total  # after


fill({"owner": "ben", "lines": [{"name": "tea", "count": 1}]})
"""


async def test_25_snapshot_diff_and_timeline(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "fill.py"
    file.write_text(LIST)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), breakpoints=[{"file": str(file), "line": 2}])
        before = (await client.call("snapshot_create", label="before", depth=3))["id"]
        await client.call("debug_step", count=2)
        after = (await client.call("snapshot_create", label="after", depth=3))["id"]
        diff = await client.call("snapshot_diff", before=before, after=after)
        assert any("count" in path for path in diff["modified"]), diff
        assert "total" in diff["added"]
        assert len((await client.read("debugger://snapshots"))["snapshots"]) == 2
        await client.call("debug_continue")
        whole = (await client.call("timeline_query", full=True))["events"]
        ids = [event["eventId"] for event in whole]
        assert ids == sorted(set(ids))
        paged: list[int] = []
        while page := (await client.call("timeline_query", after_event_id=max(paged, default=0), count=3, full=True))[
            "events"
        ]:
            paged += [event["eventId"] for event in page]
        assert paged[: len(ids)] == ids
        assert all(event["payload"] for event in whole)
        assert {"stopped", "continued", "stepped", "sessionEnded"} <= {event["type"] for event in whole}
