"""Debugging as people do it, start to end, against real debugpy: sessions, breakpoints, stepping, threads, streams."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
import trio
from mcp.shared.exceptions import MCPError

from tests.real.conftest import PROGRAMS, Connect, at, line_of, program, promised
from trio_debugmcp.testing import ToolFailed, connect_stdio
from trio_debugmcp.testing.debug_client import LIST_CHANGED

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def test_launch_paused_at_entry_makes_the_session_readable_and_is_announced_once(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        result = await client.call("debug_launch", program=program("steps.py"))
        assert (result["stop"]["state"], result["stop"]["reason"]) == ("Paused", "Entry")
        session = await client.read(SESSION)
        assert (session["state"], session["launchMode"]) == ("Paused", "Launch")
        assert session["processId"] > 0
        await trio.sleep(0.2)
        assert len(client.heard(LIST_CHANGED)) == 1


async def test_without_a_session_lists_are_empty_and_reads_say_why(debugging: Connect) -> None:
    async with debugging() as client:
        assert await client.uris() == []
        with pytest.raises(MCPError, match="No active debug session: start one with") as raised:
            await client.read(SESSION)
        assert raised.value.error.code == -32002


async def test_lists_fill_and_empty_with_one_announcement_at_each_edge(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("steps.py"))
        assert {SESSION, BREAKPOINTS, THREADS} <= set(await client.uris())
        await client.call("debug_disconnect")
        assert await client.uris() == []
        await trio.sleep(0.2)
        assert len(client.heard(LIST_CHANGED)) == 2


async def test_a_breakpoint_hit_has_its_real_place_and_is_counted(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"))
        stop = await client.call("debug_continue")
        assert stop["reason"] == "Breakpoint"
        assert stop["breakpointIds"] == ["bp-1"]
        assert stop["location"]["file"] == program("steps.py")
        assert stop["location"]["line"] == line_of("steps.py", "# call level3")
        assert stop["location"]["functionName"] == "level2"
        assert [(v["name"], v["value"]) for v in stop["locals"]] == [("value", "7")]
        assert [line["text"] for line in stop["sourceExcerpt"] if line["current"]] == [
            "    inner = level3(value)  # call level3"
        ]
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] == 1


async def test_one_update_reaches_the_subscriber_and_a_read_shows_the_pause(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# last"))
        await client.call("debug_launch", program=program("steps.py"))
        await trio.sleep(1)
        client.notices.clear()
        async with client.subscribed(SESSION):
            await client.call("debug_continue")
            await client.wait_notice(SESSION, seconds=promised(1))
            assert (await client.read(SESSION))["state"] == "Paused"
            await trio.sleep(1)
            assert [notice.what for notice in client.notices] == [SESSION]


async def test_twenty_quick_steps_make_few_notifications_and_the_last_read_is_right(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("busy.py"))
        await trio.sleep(1)
        client.notices.clear()
        async with client.subscribed(SESSION, THREADS):
            started = trio.current_time()
            for _ in range(20):
                stop = await client.call("debug_step")
            took = trio.current_time() - started
            await trio.sleep(0.5)
            for uri in (SESSION, THREADS):
                assert 1 <= len(client.heard(uri)) <= took / 0.3 + 2, "one in each quiet window, however many steps"
            assert (await client.read(SESSION))["currentLocation"] == stop["location"]


async def test_a_tracepoint_in_a_hot_loop_is_notified_every_second_and_never_stops_the_program(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("busy.py", "# in loop"), log_message="turn {turn}")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        async with client.subscribed(BREAKPOINTS):
            await client.wait_notice(BREAKPOINTS)
            first = (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"]
            await trio.sleep(3)
            moments = client.heard(BREAKPOINTS)
            assert all(later - earlier < promised(1) for earlier, later in pairwise(moments))
            assert len(moments) >= 3
            assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] > first + 50
            session = await client.call("debug_state")
            assert session["state"] == "Running"
        output = await client.call("process_read_output", stream="stdout")
        assert output["entries"] == [], "a tracepoint's words are not the program's"


async def test_a_client_that_vanishes_with_an_update_pending_leaves_the_server_well(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with connect_stdio() as client:
            await client.call("debug_launch", program=program("busy.py"))
            with contextlib.suppress(MCPError):
                async with client.subscribed(SESSION):
                    await client.call("debug_step")
        # leaving the block closes the server's input at once, with the update still pending


async def test_a_breakpoint_set_before_any_session_is_pending_then_bound_then_survives_restart_and_relaunch(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        assert (made["breakpoint"]["state"], made["breakpoint"]["verified"]) == ("Pending", False)
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        (bound,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert (bound["state"], bound["hitCount"]) == ("Bound", 1)
        restarted = await client.call("debug_restart")
        assert restarted["stop"]["location"]["line"] == line_of("steps.py", "# call level3")
        await client.call("debug_disconnect")
        (kept,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert (kept["id"], kept["state"]) == ("bp-1", "Pending")
        again = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert again["stop"]["breakpointIds"] == ["bp-1"]


async def test_a_condition_stops_once_and_a_bad_one_is_refused_and_a_failing_one_is_reported(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i ==")
        assert failed.value.code == "INVALID_CONDITION"
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i == 3")
        launched = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "3"
        assert launched["stop"]["breakpointIds"] == ["bp-1"]
        assert (await client.call("debug_continue"))["state"] == "Disconnected"

        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="nobody == 3")
        stop = (await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False))["stop"]
        assert "nobody" in stop["description"]
        assert "NameError" in stop["description"]
        assert "NameError" in (await client.call("breakpoint_list"))["breakpoints"][0]["message"]


async def test_a_hit_condition_pauses_at_that_hit_with_that_count(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), hit_condition="3")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "2"
        assert (await client.call("breakpoint_list"))["breakpoints"][0]["hitCount"] == 3


async def test_breakpoints_are_disabled_enabled_and_removed_and_unknown_ids_are_named(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("breakpoint_set", **at("steps.py", "# in loop"))
        off = await client.call("breakpoint_enable", id="bp-1", enabled=False)
        assert off["breakpoint"]["state"] == "Disabled"
        stop = (await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False))["stop"]
        assert stop["breakpointIds"] == ["bp-2"]
        on = await client.call("breakpoint_enable", id="bp-1")
        assert on["breakpoint"]["state"] == "Bound"
        assert (await client.call("debug_restart"))["stop"]["breakpointIds"] == ["bp-1"]
        assert (await client.call("breakpoint_remove", id="bp-1"))["removed"] == ["bp-1"]
        assert [each["id"] for each in (await client.call("breakpoint_list"))["breakpoints"]] == ["bp-2"]
        exception = await client.call("breakpoint_set_exception", exception_type="ValueError")
        off = await client.call("breakpoint_enable", id=exception["breakpoint"]["id"], enabled=False)
        assert (off["breakpoint"]["enabled"], off["breakpoint"]["verified"]) == (False, False)
        with pytest.raises(ToolFailed, match="bp-2") as failed:
            await client.call("breakpoint_remove", id="bp-99")
        assert failed.value.code == "BREAKPOINT_NOT_FOUND"
        await client.call("breakpoint_remove", id="*")
        assert (await client.call("debug_continue"))["reason"] == "Exited", "removed breakpoints stop nobody"


async def test_breakpoints_are_hit_in_order_and_a_wait_without_a_stop_times_out_without_error(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"))
        for expected in ("bp-1", "bp-2"):
            await client.call("debug_continue", wait=False)
            assert (await client.call("breakpoint_wait", breakpoint_id=expected))["breakpointIds"] == [expected]
        await client.call("debug_disconnect")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        waited = await client.call("debug_wait", timeout=0.5)
        assert (waited["timedOut"], waited["state"], waited["reason"]) == (True, "Running", None)


async def test_an_exception_breakpoint_stops_for_the_type_and_its_subtypes_and_shows_the_causes(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="ShopError")
        stop = (await client.call("debug_launch", program=program("errors.py"), stop_at_entry=False))["stop"]
        assert stop["reason"] == "Exception", "the KeyError that was caught before did not stop"
        assert stop["exception"] == {"type": "SoldOut", "message": "nothing left", "breakMode": "always"}
        assert stop["location"]["functionName"] == "wrapped"
        context = await client.call("exception_get_context")
        assert context["exception"]["type"] == "SoldOut"
        assert [cause["type"] for cause in context["causes"]] == ["ValueError"]
        assert ("price", "'ten'") in [(v["name"], v["value"]) for v in context["frames"][0]["locals"]]
        assert (await client.call("debug_continue"))["reason"] == "Exited"


async def test_second_chance_only_lets_caught_ones_pass_and_a_disconnect_there_is_quick(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        stop = (await client.call("debug_launch", program=program("errors.py"), stop_at_entry=False))["stop"]
        assert stop["exception"]["type"] == "KeyError"
        assert stop["exception"]["breakMode"] == "unhandled"
        assert stop["location"]["functionName"] == "fatal"
        before = trio.current_time()
        await client.call("debug_disconnect")
        assert trio.current_time() - before < promised(2)


async def test_stepping_in_out_and_over_carries_the_real_place_and_a_breakpoint_on_the_way_ends_a_step(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        into = await client.call("debug_step", mode="in")
        assert into["location"]["functionName"] == "level2"
        out = await client.call("debug_step", mode="out")
        assert out["location"]["functionName"] == "level1"
        over = await client.call("debug_step")
        assert over["location"]["line"] == line_of("steps.py", "# after level2")
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_step", mode="out")
        cut_short = await client.call("debug_step", count=3)
        assert cut_short["reason"] == "Breakpoint"
        assert cut_short["location"]["line"] == line_of("steps.py", "# bottom")


async def test_while_running_and_without_a_session_tools_refuse_with_the_state(debugging: Connect) -> None:
    needs_pause: list[tuple[str, dict[str, object]]] = [
        ("debug_step", {}),
        ("debug_continue", {}),
        ("stacktrace_get", {}),
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
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        for tool, arguments in needs_pause:
            with pytest.raises(ToolFailed) as failed:
                await client.call(tool, **arguments)
            assert (failed.value.code, failed.value.details["currentState"]) == ("NOT_PAUSED", "Running")
        paused = await client.call("debug_pause")
        assert (paused["reason"], Path(paused["location"]["file"]).name) == ("Pause", "busy.py")
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_pause")
        assert failed.value.code == "ALREADY_PAUSED"


async def test_a_pause_ends_a_wait_that_is_under_way(debugging: Connect) -> None:
    async with debugging() as client, trio.open_nursery() as nursery:
        await client.call("debug_launch", program=program("busy.py"))
        stops = []

        async def run_on() -> None:
            stops.append(await client.call("debug_continue"))

        nursery.start_soon(run_on)
        await trio.sleep(0.3)
        await client.call("debug_pause")
        nursery.cancel_scope.deadline = trio.current_time() + 5
        while not stops:
            await trio.sleep(0.01)
        assert stops[0]["reason"] == "Pause"


async def test_deep_recursion_pages_and_each_frame_has_its_own_locals(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        whole = await client.call("stacktrace_get", count=100)
        assert whole["total"] >= 12
        assert [frame["name"] for frame in whole["frames"][:13]] == ["recurse"] * 13
        paged = [
            frame
            for start in range(0, whole["total"], 4)
            for frame in (await client.call("stacktrace_get", start=start, count=4))["frames"]
        ]
        assert paged == whole["frames"]
        (here,) = (await client.call("variables_get", frame_index=2, filter="here"))["variables"]
        assert (here["name"], here["value"]) == ("here", "2")
        with pytest.raises(ToolFailed, match="frames go from 0 to") as failed:
            await client.call("variables_get", frame_index=500)
        assert failed.value.code == "INVALID_FRAME"


async def test_threads_have_unique_ids_one_is_current_and_the_others_have_places(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("workers.py", "# while they work"))
        await client.call("debug_launch", program=program("workers.py"), stop_at_entry=False)
        await client.call("debug_wait")
        await trio.sleep(0.5)
        threads = (await client.call("threads_list"))["threads"]
        assert len({thread["id"] for thread in threads}) == len(threads) >= 4
        assert [thread["isCurrent"] for thread in threads].count(True) == 1
        workers = [thread for thread in threads if (thread["name"] or "").startswith("worker-")]
        assert len(workers) == 3
        assert all(thread["location"] is not None for thread in workers)
        stack = await client.call("stacktrace_get", thread_id=workers[0]["id"])
        assert "work" in [frame["name"] for frame in stack["frames"]]
        with pytest.raises(ToolFailed) as failed:
            await client.call("stacktrace_get", thread_id=987654)
        assert failed.value.code == "INVALID_THREAD"


async def test_sources_with_odd_names_are_served_and_nothing_else_is(debugging: Connect, tmp_path: Path) -> None:
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


async def test_source_that_only_the_adapter_has_is_served_too(debugging: Connect, tmp_path: Path) -> None:
    maker = tmp_path / "maker.py"
    maker.write_text(
        "import linecache\ntext = 'def made():\\n    answer = 42\\n    return answer\\n'\n"
        "linecache.cache['<made>'] = (len(text), None, text.splitlines(True), '<made>')\n"
        "exec(compile(text, '<made>', 'exec'))\nmade()  # step in\n"
    )
    async with debugging() as client:
        await client.call("debug_launch", program=str(maker), just_my_code=False)
        await client.call("debug_run_to", file=str(maker), line=5)
        stop = await client.call("debug_step", mode="in")
        assert stop["location"]["file"] == "<made>"
        assert "answer = 42" in await client.read_text(f"debugger://source/{quote('<made>')}")


async def test_a_program_that_asks_gets_its_answers_and_its_output_outlives_it(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        written = await client.call("process_write_input", data="Ada\n")
        assert written == {"bytesWritten": 4, "stdinClosed": False}
        await client.call("process_write_input", data="again\n", close_after=True)
        end = await client.call("debug_wait")
        assert (end["reason"], end["exitCode"]) == ("Exited", 3)
        output = await client.call("process_read_output")
        text = {
            stream: "".join(e["text"] for e in output["entries"] if e["stream"] == stream)
            for stream in ("stdout", "stderr")
        }
        assert text == {"stdout": "name? hello Ada\nheard again\n", "stderr": "bye\n"}
        rest = await client.call("process_read_output", since_seq=output["nextSeq"])
        assert rest["entries"] == []


async def test_an_exit_is_reported_with_its_code_and_disconnecting_twice_is_fine(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("debug_launch", program=program("talk.py"), stop_at_entry=False, wait=False)
        async with client.subscribed(SESSION):
            await client.call("process_write_input", data="Ada\n", close_after=True)
            end = await client.call("debug_wait")
            assert end["exitCode"] == 3
            await client.wait_notice(SESSION)
        state = await client.call("debug_state")
        assert (state["state"], state["lastSession"]["exitCode"]) == ("Disconnected", 3)
        for _ in range(2):
            ended = await client.call("debug_disconnect")
            assert ended["wasTerminated"] is False


async def test_run_to_leaves_the_users_breakpoints_as_they_are(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"))
        before = await client.call("breakpoint_list")
        stop = await client.call("debug_run_to", **at("steps.py", "# after level2"))
        assert stop["location"]["line"] == line_of("steps.py", "# after level2")
        assert stop["breakpointIds"] == []
        after = await client.call("breakpoint_list")
        assert after["breakpoints"] == before["breakpoints"]
        assert (await client.call("debug_continue"))["breakpointIds"] == ["bp-1"]


async def test_function_breakpoints_stop_where_the_function_begins(debugging: Connect) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", function="level3")
        assert made["breakpoint"]["id"] == "fn-1"
        stop = (await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False))["stop"]
        assert stop["location"]["functionName"] == "level3"
        assert (await client.call("breakpoint_list"))["functionBreakpoints"][0]["hitCount"] == 1


async def test_evaluation_can_change_the_program_and_its_errors_are_the_programs(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# after level2"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="outer * 2"))["value"] == "44"
        await client.call("evaluate", expression="outer = 100")
        assert (await client.call("evaluate", expression="outer"))["value"] == "100"
        with pytest.raises(ToolFailed, match="ZeroDivisionError") as failed:
            await client.call("evaluate", expression="1/0")
        assert failed.value.code == "EVAL_FAILED"
        with pytest.raises(ToolFailed, match="did not finish") as failed:
            await client.call("evaluate", expression="__import__('time').sleep(2)", timeout=0.3)
        assert failed.value.code == "EVAL_TIMEOUT"


async def test_big_values_and_many_variables_are_cut_and_say_so(debugging: Connect, tmp_path: Path) -> None:
    big = tmp_path / "big.py"
    big.write_text(
        "def f():\n"
        + "".join(f"    v{n} = {n}\n" for n in range(600))
        + "    text = 'x' * 1_000_000\n    items = list(range(100_000))\n    return text\nf()\n"
    )
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(big), line=604)
        stop = (await client.call("debug_launch", program=str(big), stop_at_entry=False))["stop"]
        assert len(str(stop)) < 32768
        page = await client.call("variables_get", count=1000)
        assert len(str(page)) < 60_000
        assert page["total"] == 602
        assert page["omitted"] == 602 - len(page["variables"]) > 0
        text = (await client.call("variables_get", filter="text"))["variables"][0]
        assert text["value"].endswith("characters)")
        inside = await client.call("variables_get", path="items", start=10, count=5)
        assert [v["value"] for v in inside["variables"]] == ["10", "11", "12", "13", "14"]


async def test_attaching_by_port_and_leaving_lets_the_program_live(debugging: Connect) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    target = subprocess.Popen(
        [sys.executable, "-m", "debugpy", "--listen", f"127.0.0.1:{port}", program("busy.py")],
        env={**os.environ, "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
    )
    try:
        async with debugging() as client:
            for _ in range(50):
                try:
                    attached = await client.call("debug_attach", port=port)
                    break
                except ToolFailed:
                    await trio.sleep(0.1)
            assert attached["session"]["launchMode"] == "Attach"
            assert attached["session"]["state"] == "Running"
            await client.call("breakpoint_set", **at("busy.py", "# in loop"))
            assert (await client.call("debug_wait"))["reason"] == "Breakpoint"
            ended = await client.call("debug_disconnect")
            assert ended["wasTerminated"] is False
        assert target.poll() is None
    finally:
        target.kill()
        target.wait()


async def test_attaching_by_pid_works_where_tracing_is_allowed_and_says_what_is_missing_elsewhere(
    debugging: Connect,
) -> None:
    target = subprocess.Popen([sys.executable, program("busy.py")])
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    traceable = os.geteuid() == 0 or not yama.exists() or yama.read_text().strip() == "0"
    try:
        async with debugging() as client:
            if shutil.which("gdb") and traceable:
                attached = await client.call("debug_attach", pid=target.pid)
                assert attached["session"]["processId"] == target.pid
                assert (await client.call("debug_pause"))["reason"] == "Pause"
                await client.call("debug_disconnect")
            else:
                with pytest.raises(ToolFailed, match=r"gdb|trace") as failed:
                    await client.call("debug_attach", pid=target.pid, timeout=5)
                assert failed.value.code in {"ATTACH_FAILED", "TIMEOUT"}
            assert target.poll() is None
    finally:
        target.kill()
        target.wait()


async def test_a_launched_program_can_be_let_go(debugging: Connect, tmp_path: Path) -> None:
    witness = tmp_path / "lived.txt"
    short = tmp_path / "short.py"
    short.write_text(f"import time\ntime.sleep(0.5)\nopen({str(witness)!r}, 'w').write('yes')\n")
    async with debugging() as client:
        await client.call("debug_launch", program=str(short))
        ended = await client.call("debug_disconnect", terminate=False)
        assert ended["wasTerminated"] is False
        assert (await client.call("debug_state"))["state"] == "Disconnected"
        await trio.sleep(2)
        assert witness.read_text() == "yes"
