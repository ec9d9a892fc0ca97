"""The requirements FR-001 to FR-011 and SC-001 to SC-006 of the resources, in both protocol eras where these differ."""

import json
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import trio
from mcp.shared.exceptions import MCPError

from tests.patience import FACTOR
from tests.real.conftest import TEST_SECONDS, Connect, at, line_of, program, where
from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, ToolFailed, connect
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.testing.debug_client import LIST_CHANGED

SESSION, BREAKPOINTS, THREADS = "debugger://session", "debugger://breakpoints", "debugger://threads"


async def test_fr_001_the_session_resource_holds_the_state_at_every_kind_of_stop_and_while_running(
    debugging: Connect, era: Era
) -> None:
    async with debugging(era) as client:
        await client.call("debug_launch", program=program("steps.py"), args=["--verbose"], cwd="/")
        entry = await client.read(SESSION)
        assert entry["state"] == "Paused"
        assert entry["pauseReason"] == "Entry"
        assert entry["processId"] > 0
        assert entry["processName"] == "steps.py"
        assert entry["executablePath"] == program("steps.py")
        assert entry["runtimeVersion"].startswith("CPython 3.")
        assert entry["launchMode"] == "Launch"
        assert entry["attachedAt"].endswith("+00:00")
        assert entry["commandLineArgs"] == ["--verbose"]
        assert entry["workingDirectory"] == "/"
        assert entry["currentLocation"]["line"] == 1

        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("debug_continue")
        hit = await client.read(SESSION)
        assert hit["pauseReason"] == "Breakpoint"
        assert hit["currentLocation"] == {
            "file": program("steps.py"),
            "line": line_of("steps.py", "# call level2"),
            "column": 1,
            "functionName": "level1",
            "moduleName": "steps",
        }
        await client.call("debug_step")
        step = await client.read(SESSION)
        assert (step["pauseReason"], step["currentLocation"]["line"]) == (
            "Step",
            line_of("steps.py", "# after level2"),
        )
        assert step["revision"] > hit["revision"] > entry["revision"]

        await client.call("debug_disconnect")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        running = await client.read(SESSION)
        assert running["state"] == "Running"
        assert running["pauseReason"] is running["currentLocation"] is running["activeThreadId"] is None


async def test_fr_002_the_breakpoints_resource_lists_breakpoints_tracepoints_and_exception_breakpoints(
    debugging: Connect, era: Era
) -> None:
    async with debugging(era) as client:
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i == 3")
        await client.call("breakpoint_set", **at("steps.py", "# bottom"), log_message="at {depth}")
        await client.call("breakpoint_set_exception", exception_type="ValueError", break_on_second_chance=False)
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        await client.call("debug_continue")
        payload = await client.read(BREAKPOINTS)
        line, trace = payload["breakpoints"]
        assert line == {
            "id": "bp-1",
            "type": "Breakpoint",
            "file": program("steps.py"),
            "line": line_of("steps.py", "# in loop"),
            "column": None,
            "enabled": True,
            "verified": True,
            "state": "Bound",
            "hitCount": 1,
            "condition": "i == 3",
            "logMessage": None,
            "hitCountMultiple": 0,
            "maxNotifications": 0,
            "notificationsSent": 0,
            "hitCondition": None,
            "requestedLine": line_of("steps.py", "# in loop"),
            "functionName": None,
            "statement": None,
            "message": None,
            "setBy": ["mcp"],
        }
        assert (trace["id"], trace["type"], trace["logMessage"], trace["hitCount"]) == (
            "tp-2",
            "Tracepoint",
            "at {depth}",
            1,
        )
        (exception,) = payload["exceptionBreakpoints"]
        assert exception["id"] == "ex-3"
        assert exception["exceptionType"] == "ValueError"
        assert (exception["breakOnFirstChance"], exception["breakOnSecondChance"]) == (True, False)
        assert exception["includeSubtypes"] is exception["enabled"] is exception["verified"] is True


async def test_fr_003_the_threads_resource_is_empty_then_fresh_then_stale_then_fresh_again(
    debugging: Connect, era: Era
) -> None:
    async with debugging(era) as client:
        await client.call("debug_launch", program=program("workers.py"), stop_at_entry=False, wait=False)
        never_paused = await client.read(THREADS)
        assert (never_paused["threads"], never_paused["stale"], never_paused["capturedAt"]) == (
            [],
            True,
            None,
        )
        await client.call("breakpoint_set", **at("workers.py", "# while they work"))
        await client.call("debug_wait")
        paused = await client.read(THREADS)
        assert paused["stale"] is False
        assert {thread["state"] for thread in paused["threads"]} == {"Suspended"}
        (current,) = [thread for thread in paused["threads"] if thread["isCurrent"]]
        assert current["location"]["line"] == line_of("workers.py", "# while they work")
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue", wait=False)
        running = await client.read(THREADS)
        assert running["stale"] is True
        assert running["capturedAt"] == paused["capturedAt"]
        assert [thread["id"] for thread in running["threads"]] == [thread["id"] for thread in paused["threads"]]
        await client.call("debug_pause")
        again = await client.read(THREADS)
        assert again["stale"] is False
        assert again["capturedAt"] > paused["capturedAt"]


async def test_fr_004_and_009_source_is_plain_text_of_files_of_the_program_only_and_the_rest_is_json(
    debugging: Connect, era: Era
) -> None:
    async with debugging(era) as client:
        await client.call("debug_launch", program=program("steps.py"))
        assert "debugger://source/{+file}" in await client.templates()
        (content,) = (await client.sdk.read_resource(f"debugger://source/{program('steps.py')}")).contents
        assert content.mime_type == "text/plain"
        assert content.text == Path(program("steps.py")).read_text()  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="not referenced in any loaded debug symbols"):
            await client.read_text("debugger://source//etc/passwd")
        for uri in await client.uris():
            (content,) = (await client.sdk.read_resource(uri)).contents
            assert content.mime_type == "application/json"
            text = content.text  # type: ignore[union-attr]
            assert text == json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("ending", ["disconnect", "exit"])
async def test_fr_005_006_010_011_sc_001_and_002_resources_are_there_during_a_session_only_and_its_edges_announced(
    debugging: Connect, each_era: Era, ending: str
) -> None:
    """To a client that never subscribed to one."""
    async with debugging(each_era) as client, client.subscribed():
        assert (await client.uris(), await client.templates()) == ([], [])
        await client.call("debug_launch", program=program("steps.py"))
        await client.wait_notice(LIST_CHANGED)
        assert {SESSION, BREAKPOINTS, THREADS} <= set(await client.uris())
        assert "debugger://source/{+file}" in await client.templates()
        await client.call("debug_disconnect" if ending == "disconnect" else "debug_continue")
        await client.wait_notice(LIST_CHANGED, after=1)
        assert [notice.what for notice in client.notices] == [LIST_CHANGED, LIST_CHANGED]
        assert (await client.uris(), await client.templates()) == ([], [])
        for uri in (SESSION, f"debugger://source/{program('steps.py')}"):
            with pytest.raises(MCPError, match="No active debug session") as raised:
                await client.read_text(uri)
            assert raised.value.error.code == (-32602 if client.modern else -32002)
            assert raised.value.error.data == {"uri": uri}


async def test_fr_007_subscribed_resources_are_notified_and_others_are_not(debugging: Connect, each_era: Era) -> None:
    async with debugging(each_era) as client:
        await client.call("debug_launch", program=program("steps.py"))
        async with client.subscribed(BREAKPOINTS, list_changes=False):
            client.notices.clear()
            await client.call("breakpoint_set", **at("steps.py", "# in loop"))
            await client.wait_notice(BREAKPOINTS)
            await client.call("debug_continue")
            await client.wait_notice(BREAKPOINTS, after=1)
            assert {notice.what for notice in client.notices} == {BREAKPOINTS}
        async with client.subscribed(THREADS, list_changes=False):
            client.notices.clear()
            await client.call("debug_step")
            await client.wait_notice(THREADS)
        count = len(client.notices)
        await client.call("debug_step")
        await trio.sleep(1)
        assert len(client.notices) == count, "nothing comes after unsubscribing"


async def test_fr_008_the_capabilities_are_declared(debugging: Connect, each_era: Era) -> None:
    async with debugging(each_era) as client:
        declared = client.sdk.server_capabilities
        assert declared.resources is not None
        assert declared.resources.subscribe is True
        assert declared.resources.list_changed is True
        assert None not in (declared.tools, declared.prompts, declared.completions, declared.logging)


async def test_sc_003_a_change_is_notified(debugging: Connect, era: Era) -> None:
    async with debugging(era) as client:
        await client.call("debug_launch", program=program("steps.py"))
        async with client.subscribed(SESSION, THREADS, list_changes=False):
            client.notices.clear()
            await client.call("debug_step")
            for uri in (SESSION, THREADS):
                await client.wait_notice(uri)  # within which time tests/server/test_timing.py measures
            assert (await client.read(SESSION))["pauseReason"] == "Step"


@pytest.mark.parametrize("subscribed", [False, True])
async def test_sc_004_and_005_tools_work_the_same_with_and_without_subscribers(
    debugging: Connect, era: Era, subscribed: bool
) -> None:
    async with (
        debugging(era) as client,
        client.subscribed(*([SESSION, BREAKPOINTS, THREADS] if subscribed else [])),
    ):
        await client.call("breakpoint_set", **at("steps.py", "# in loop"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        places = [where(await client.call("debug_continue")).line for _ in range(5)]
        assert places == [line_of("steps.py", "# in loop")] * 5
        assert (await client.call("evaluate", expression="total"))["value"] == "6"
        end = await client.call("debug_continue")
        assert (end["state"], end["exitCode"]) == ("Disconnected", 0)
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_step")
        assert failed.value.code == "NO_SESSION"


async def test_sc_006_a_read_with_many_breakpoints_and_threads_takes_less_than_half_a_second_of_a_processor(
    era: Era, tmp_path: Path
) -> None:
    crowd = tmp_path / "crowd.py"
    crowd.write_text(
        "import threading\nstop = threading.Event()\n"
        "for n in range(199):\n    threading.Thread(target=stop.wait, daemon=True).start()\n"
        + "".join(f"value{n} = {n}\n" for n in range(100))
        + "print('all there')\nstop.set()\n"
    )
    options = Options(settings=Settings(patience=Patience(FACTOR)))
    with trio.fail_after(TEST_SECONDS):
        async with connect(era, options=options) as client:  # in this process, whose processor time is known
            client.timeout = TEST_SECONDS
            await _read_a_crowd(client, crowd)


async def _read_a_crowd(client: DebugClient, crowd: Path) -> None:
    for line in range(5, 104):
        await client.call("breakpoint_set", file=str(crowd), line=line, condition="False")
    await client.call("breakpoint_set", file=str(crowd), line=105)
    await client.call("debug_launch", program=str(crowd), stop_at_entry=False)
    for uri, key, many in ((BREAKPOINTS, "breakpoints", 100), (THREADS, "threads", 200)):
        before = time.process_time()
        items: list[object] = []
        page: str | None = uri
        while page is not None:  # of 32 KB each
            payload = await client.read(page)
            items += payload[key]
            page = payload.get("next")
        assert time.process_time() - before < 0.5
        assert len(items) >= many


async def test_edge_while_launching_the_session_reads_starting(debugging: Connect, era: Era, tmp_path: Path) -> None:
    gate = tmp_path / "gate"  # Python begins when it is there
    waits = ["sh", "-c", 'while [ ! -e "$0" ]; do sleep 0.05; done; exec "$@"', str(gate), sys.executable]
    start = {"program": program("steps.py"), "adapter_options": {"python": waits}}
    async with debugging(era) as client, client.subscribed(), trio.open_nursery() as nursery:
        nursery.start_soon(partial(client.call, "debug_launch", **start))
        await client.wait_notice(LIST_CHANGED)
        payload = await client.read(SESSION)
        assert (payload["state"], payload["pauseReason"], payload["currentLocation"]) == ("Starting", None, None)
        assert (await client.read(THREADS))["threads"] == []
        gate.touch()


async def test_edge_a_read_during_a_disconnect_ends_gracefully(debugging: Connect, era: Era) -> None:
    async with debugging(era) as client:
        outcomes: list[str] = []

        async def read_on() -> None:
            while not outcomes or "session" not in outcomes[-1]:
                try:
                    outcomes.append((await client.read(SESSION))["state"])
                except MCPError as error:
                    outcomes.append(str(error))

        await client.call("debug_launch", program=program("busy.py"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_on)
            await client.call("debug_disconnect")
        assert outcomes[-1].startswith("No active debug session")
