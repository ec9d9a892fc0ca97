"""A recording knows editors as clients, and a replay makes their calls again."""

from pathlib import Path
from typing import Any

import trio
from trio.testing import MockClock

from tests.editors.bench import open_bench
from trio_debugmcp.recording.format import ClientEntry, McpEntry, read_recording
from trio_debugmcp.recording.recorder import open_recorder
from trio_debugmcp.replay.replaying import Replay
from trio_debugmcp.testing import FakeAdapter, open_server


async def test_a_session_with_an_editor_replays_with_what_the_editor_did(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    file, adapter = tmp_path / "editor.jsonl", FakeAdapter()
    with open_recorder(file, directory="/", debounce=0.3, max_wait=0.9, linger=120) as recorder:
        async with open_bench(adapter, adapter.options().recorded(recorder)) as bench, bench.editor() as editor:
            await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
            await adapter.stop("entry")
            await editor.join()
            await editor.wait_event("stopped")
            await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=[{"line": 5}])
            await trio.sleep(1)
            await editor.ask("next", threadId=1)
            adapter.frames = [("main", "/src/app.py", 2)]
            await adapter.stop("step")
            await editor.wait_event("stopped", 2)
            await editor.top_frame()
            await trio.sleep(1)
            recorded = (await bench.agent.read("debugger://breakpoints"))["breakpoints"]
    recording = read_recording(file)
    clients = {each.client: each.transport for each in recording.entries if isinstance(each, ClientEntry)}
    [name] = [client for client, transport in clients.items() if transport == "dap"]
    received = [
        bytes(each.msg).decode() for each in recording.entries if isinstance(each, McpEntry) and each.client == name
    ]
    assert [tool for text in received for tool in ("breakpoint_set", "debug_step") if f'"{tool}"' in text] == [
        "breakpoint_set",
        "debug_step",
    ]
    assert "control-token" not in file.read_text()
    replay = Replay(recording)
    async with open_server(adapter.options().replayed(replay)) as server, server.connect() as watcher:
        with trio.fail_after(120):
            while not replay.over:  # noqa: ASYNC110 - a replay has no event for its end
                await trio.sleep(0.1)
        assert (await watcher.read("debugger://stack"))["frames"][0]["location"]["line"] == 2
        assert (await watcher.read("debugger://breakpoints"))["breakpoints"] == recorded
        events = (await watcher.read("debugger://timeline"))["events"]
        calls = [
            (each["payload"]["tool"], each["payload"]["client"]) for each in events if each["type"] == "toolCalled"
        ]
        assert ("debug_step", "Test Editor") in calls


async def test_breakpoints_that_an_editor_sets_at_once_are_replayed_as_the_adapter_answered_them(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    file, adapter = tmp_path / "batch.jsonl", FakeAdapter()

    async def set_them(arguments: dict[str, Any]) -> Any:
        """As adapters do: each is moved by a line, and one that is beyond the file is refused."""
        lines = [each["line"] for each in arguments["breakpoints"]]
        return {
            "breakpoints": [
                {"id": 10 * len(lines) + index, "verified": line < 50, "line": line + 1, "message": "no code there"}
                for index, line in enumerate(lines)
            ]
        }

    adapter.answer("setBreakpoints", set_them)
    lines: list[list[dict[str, Any]]] = [
        [{"line": 5}, {"line": 7, "condition": "count > 1"}, {"line": 9, "logMessage": "x"}, {"line": 90}],
        [{"line": 7, "condition": "count > 2"}, {"line": 20}],
        [],
        [{"line": 30}, {"line": 31}, {"line": 32}],
    ]
    recorded: list[list[dict[str, Any]]] = []
    with open_recorder(file, directory="/", debounce=0.3, max_wait=0.9, linger=120) as recorder:
        async with open_bench(adapter, adapter.options().recorded(recorder)) as bench, bench.editor() as editor:
            await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
            await adapter.stop("entry")
            await editor.join()
            before = len(adapter.sent("setBreakpoints"))
            for each in lines:
                await trio.sleep(10)
                await editor.ask("setBreakpoints", source={"path": adapter.program}, breakpoints=each)
                recorded.append((await bench.agent.read("debugger://breakpoints"))["breakpoints"])
            assert len(adapter.sent("setBreakpoints")) - before == len(lines)
            await trio.sleep(10)
    assert [len(each) for each in recorded] == [4, 2, 0, 3]
    replay = Replay(read_recording(file))
    async with open_server(adapter.options().replayed(replay)) as server, server.connect() as watcher:
        replayed: list[list[dict[str, Any]]] = []
        with trio.fail_after(120):
            await trio.sleep(15)  # amid two of them
            for _ in lines:
                replayed.append((await watcher.read("debugger://breakpoints"))["breakpoints"])
                await trio.sleep(10)
        assert replayed == recorded
        assert replay.over
