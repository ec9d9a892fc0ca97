"""Habits of real debug adapters that a naive client fails on, each with a recorded session that shows it."""

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import SESSION
from tests.traces.play import SETTLED_SECONDS, check_end, play_all, play_stops, playing
from tests.traces.trace import PARENT, Move, Stop, Trace, story
from trio_debugmcp.testing import ToolFailed


async def stops_of(name: str, home: Path) -> list[dict[str, Any]]:
    """Play a recording and return the session at every stop."""
    async with playing(name, home) as played:
        return await play_stops(played)


async def end_of(name: str, home: Path) -> dict[str, Any]:
    """Play a recording to its end and return the last state of its session."""
    async with playing(name, home) as played:
        await play_all(played)
        return await check_end(played)


@pytest.mark.parametrize("name", ["perl-ls", "delve", "lldb-vscode-14", "lldb-dap-19"])
async def test_messages_may_have_no_seq_or_seq_zero(name: str, tmp_path: Path, autojump_clock: MockClock) -> None:
    async with playing(name, tmp_path) as played:
        numbers = {said.message.get("seq") for _, said in played.trace.lines if said.by == "adapter"}
        assert numbers & {None, 0}
        assert len(await play_stops(played)) == 5


@pytest.mark.parametrize("name", ["js-debug", "js-debug-typescript", "js-debug-attach-port"])
async def test_the_thread_with_id_0_is_a_thread_like_any_other(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    sessions = await stops_of(name, tmp_path)
    assert sessions
    assert {session["activeThreadId"] for session in sessions} == {0}


async def test_fields_that_are_null_count_as_absent(tmp_path: Path, autojump_clock: MockClock) -> None:
    async with playing("ansibug", tmp_path) as played:
        answers = [said.message for _, said in played.trace.lines if said.message.get("command") == "setBreakpoints"]
        assert any(
            None in each.values() for answer in answers for each in (answer.get("body") or {}).get("breakpoints", [])
        )
        sessions = await play_stops(played)
        assert [session["pauseReason"] for session in sessions] == ["Breakpoint", "Step"]


@pytest.mark.parametrize("name", ["cmake", "cdt-gdb-adapter", "lldb-dap-22"])
async def test_events_may_come_before_the_response_to_their_request(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    sessions = await stops_of(name, tmp_path)
    assert [session["pauseReason"] for session in sessions][:3] == ["Breakpoint", "Step", "Step"]


@pytest.mark.parametrize("name", ["gdb-dap", "lldb-vscode-16", "bash-dap", "java-jdi", "cmake"])
async def test_a_program_runs_after_continue_though_its_adapter_sends_no_continued(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with playing(name, tmp_path) as played:
        assert played.trace.heard("continued") == []
        await play_stops(played, most=1)
        stop = await played.client.call("debug_step", wait=False)
        assert stop["state"] == "Running"
        assert (await played.client.read(SESSION))["state"] == "Running"


@pytest.mark.parametrize("name", ["perl-ls", "robotcode"])
async def test_an_exit_code_that_comes_after_the_end_is_reported(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with playing(name, tmp_path) as played:
        await play_all(played)
        assert (await check_end(played))["exitCode"] == played.trace.heard("exited")[-1]["exitCode"]


@pytest.mark.parametrize("name", ["delve", "js-debug", "cdt-gdb-adapter"])
async def test_a_program_that_ends_without_an_exit_code_has_ended(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    last = await end_of(name, tmp_path)
    assert "exitCode" not in last
    assert last["notes"] == ["the program ended"]


async def test_an_adapter_that_only_closes_the_connection_has_ended(tmp_path: Path, autojump_clock: MockClock) -> None:
    last = await end_of("rdbg", tmp_path)
    assert "exitCode" not in last
    assert last["notes"] == ["the debug adapter closed the connection"]


@pytest.mark.parametrize("name", ["gdb-dap", "bash-dap", "js-debug-runInTerminal", "delve"])
async def test_output_is_kept_at_whatever_time_it_comes(name: str, tmp_path: Path, autojump_clock: MockClock) -> None:
    async with playing(name, tmp_path) as played:
        await play_all(played)
        shown = ("stdout", "stderr", "console")
        said = [body for body in played.trace.heard("output") if body.get("category", "console") in shown]
        read = await played.client.call("process_read_output", max_bytes=1_000_000)
        text = "".join(text for entry in read["entries"] for text in entry.values())
        for body in said:
            assert body["output"].strip() in text


@pytest.mark.parametrize("name", ["js-debug", "js-debug-fork"])
async def test_a_second_initialized_changes_nothing(name: str, tmp_path: Path, autojump_clock: MockClock) -> None:
    async with playing(name, tmp_path) as played:
        assert len(played.trace.heard("initialized")) > len({connection for connection, _ in played.trace.lines})
        assert {session["state"] for session in await play_stops(played)} == {"Paused"}


async def test_initialized_before_launch_is_remembered(tmp_path: Path, autojump_clock: MockClock) -> None:
    sessions = await stops_of("java-jdi", tmp_path)
    assert sessions[0]["pauseReason"] == "Breakpoint"


async def test_threads_whose_ids_change_at_every_stop_are_followed(tmp_path: Path, autojump_clock: MockClock) -> None:
    sessions = await stops_of("perl-ls", tmp_path)
    assert [session["activeThreadId"] for session in sessions] == [1, 8, 11, 13, 16]


async def test_steps_whose_stops_are_reported_as_breakpoints_end_at_the_right_lines(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    sessions = await stops_of("perl-ls", tmp_path)
    assert [session["currentLocation"]["line"] for session in sessions[:4]] == [8, 9, 16, 6]


async def test_an_exception_stop_has_exception_as_its_reason(tmp_path: Path, autojump_clock: MockClock) -> None:
    sessions = await stops_of("debugpy-stdio", tmp_path)
    assert sessions[-1]["pauseReason"] == "Exception"


@pytest.mark.parametrize("name", ["gdb-dap-core", "lldb-dap-19-core", "lldb-dap-23-core"])
async def test_a_core_dump_can_be_inspected_and_its_resume_is_refused_with_the_adapters_reason(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with playing(name, tmp_path) as played:
        sessions = await play_stops(played)
        assert [session["state"] for session in sessions] == ["Paused"]
        for failure in played.failures:
            assert failure.code == "ADAPTER_FAILED"
            assert "refused 'continue'" in failure.message
        await check_end(played)


async def test_a_child_of_a_child_is_a_session_of_its_own(tmp_path: Path, autojump_clock: MockClock) -> None:
    sessions = await stops_of("js-debug-fork", tmp_path)
    assert [(each["sessionId"], each["parentSessionId"]) for each in sessions] == [("s-3", "s-2"), ("s-2", "s-1")]


async def test_an_attach_to_a_program_whose_stop_was_not_reported_is_running_and_can_be_detached(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with playing("java-jdi-attach", tmp_path) as played:
        await played.act(Move(PARENT, "attach"))
        with pytest.raises(ToolFailed, match="Use debug_pause"):
            await played.client.call("debug_continue")
        assert await played.client.call("debug_disconnect") == {"detached": True}
        await check_end(played)


@pytest.mark.parametrize(
    "name",
    ["NEGATIVE-debugpy-attach-connect", "NEGATIVE-js-debug-attach-pid", "NEGATIVE-lldb-dap-19-runInTerminal-argv0"],
)
async def test_a_start_without_a_response_ends_by_its_timeout_and_leaves_nothing(
    name: str, tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with playing(name, tmp_path) as played:
        start = next(seen for seen in story(played.trace) if isinstance(seen, Move))
        with pytest.raises(ToolFailed) as failed:
            await played.move(start)
        assert failed.value.code == "TIMEOUT"
        await trio.sleep(SETTLED_SECONDS)
        await check_end(played)


def test_the_story_of_a_recording_lists_its_moves_and_stops(tmp_path: Path) -> None:
    seen = story(Trace("debugpy-port", tmp_path))
    assert [each.command if isinstance(each, Move) else "stop" for each in seen] == ["launch", "stop", "disconnect"]
    assert [each.thread for each in seen if isinstance(each, Stop)] == [1]
