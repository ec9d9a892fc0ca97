"""`serve --record` and `replay` as commands: with real debugpy, then without it."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests import warm
from tests.ports import free_port
from tests.real.conftest import TEST_SECONDS, at, line_of, program, where
from tests.recording.make import PATIENT, record_the_till, recorder_for
from tests.recording.scene import URIS, same_answer, watch, without_times
from trio_debugmcp.app import Options
from trio_debugmcp.engine.carrier import kept_code
from trio_debugmcp.recording.format import ClientEntry, ExitEntry, ProgramOutputEntry, read_recording
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import (
    DebugClient,
    ToolFailed,
    connect_http,
    connect_process,
    connect_websocket,
    open_server,
    play_all,
    retime,
)
from trio_debugmcp.testing.connect import Era
from trio_debugmcp.testing.debug_client import LIST_CHANGED
from trio_debugmcp.testing.scenario.from_recording import scenario_of

WITHOUT_DEBUGPY = """
import sys
class No:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "debugpy":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, No())
from trio_debugmcp.cli import main
sys.exit(main())
"""


@asynccontextmanager
async def running(*arguments: str, debugpy: bool = True) -> AsyncIterator[trio.Process]:
    """The command as a process, ended with the block; without debugpy its start is a cold one."""
    start = warm.server() if debugpy else [sys.executable, "-c", WITHOUT_DEBUGPY]
    pipe = subprocess.PIPE
    process = await trio.lowlevel.open_process([*start, *arguments], stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


async def ended(process: trio.Process, once: bytes = b"") -> str:
    """Close its input and wait until it has ended well; returns what it wrote to its standard error.

    `once`: not before it has written that.
    """
    if process.stderr is None or process.stdin is None:
        raise AssertionError("started with pipes")
    said = b""
    with trio.fail_after(TEST_SECONDS):
        while once not in said:
            said += await process.stderr.receive_some()
        await process.stdin.aclose()
        async for data in process.stderr:
            said += data
        assert await process.wait() == 0, said.decode()
    return said.decode()


async def debug(client: DebugClient) -> dict[str, Any]:
    """To a stop in the middle of a program that writes."""
    await client.call("breakpoint_set", **at("till.py", "amount += price"))
    await client.call(
        "debug_launch", program=program("till.py"), env={"API_TOKEN": "open-sesame-5521"}, stop_at_entry=True
    )
    return await client.call("debug_continue")


async def finish(client: DebugClient) -> dict[str, Any]:
    await client.call("breakpoint_remove", id="bp-1")
    return await client.call("debug_continue")


async def until(condition: Any) -> Any:
    with trio.fail_after(TEST_SECONDS):
        while True:
            try:
                return await condition()
            except (OSError, ToolFailed, AssertionError):
                await trio.sleep(0.1)


async def test_what_was_recorded_on_stdio_is_replayed_without_debugpy(era: Era, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    with trio.fail_after(TEST_SECONDS):
        async with running("serve", "--record", str(file)) as server:
            async with connect_process(server, era) as client:
                await debug(client)
                assert (await finish(client))["exitCode"] == 3
            await ended(server)
        async with running("replay", str(file), "--speed", "0", debugpy=False) as server:
            async with connect_process(server, era) as client:

                async def over() -> Any:
                    state = await client.call("debug_state")
                    assert (state["state"], state.get("reason")) == ("Disconnected", "Exited")
                    return state

                assert (await until(over))["exitCode"] == 3
                output = await client.call("process_read_output")
            said = await ended(server, once=b"the recording is over")
    assert "torn" not in said
    assert "open-sesame" not in file.read_text()
    entries = read_recording(file).entries
    assert [each.exit_code for each in entries if isinstance(each, ExitEntry)] == [3]
    written = [(each.stream, each.text) for each in entries if isinstance(each, ProgramOutputEntry) and each.text]
    replayed = [piece for each in output["entries"] for piece in each.items()]
    for stream, text in (("stdout", "Ada pays 4\n"), ("stderr", "Bob: 2 missing\n")):
        for pieces in (written, replayed):
            assert "".join(piece for name, piece in pieces if name == stream) == text


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads command lines in /proc")
async def test_the_token_of_programs_that_dial_in_is_neither_recorded_nor_logged(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    with trio.fail_after(TEST_SECONDS):
        async with running("serve", "--record", str(file), "--log-level", "debug") as server:
            async with connect_process(server) as client:
                await client.call("breakpoint_set", **at("child.py", "doubled ="))
                launched = await client.call(  # by pydevd, whose command lines have the token
                    "debug_launch",
                    program=program("parent.py"),
                    stop_at_entry=False,
                    adapter_options={"engine": "pydevd"},
                )
                assert launched["reason"] == "Breakpoint"  # in a child, which has got the token from its parent
                child = await client.read("debugger://session")
                assert (child["sessionId"], child["processId"]) == (launched["session"], launched["pid"])
                sessions = (await client.call("debug_state", full=True))["sessions"]
                pids = {each["sessionId"]: each["processId"] for each in sessions}
                words = Path(f"/proc/{pids[child['parentSessionId']]}/cmdline").read_text().split("\0")
                token = words[words.index("--adapter-access-token") + 1]
                assert token in Path(f"/proc/{child['processId']}/cmdline").read_text()
                await client.call("debug_continue")
            logged = await ended(server)
    assert "DEBUG" in logged
    assert token not in logged
    recorded = file.read_text()
    assert "--adapter-access-token" in recorded
    assert token not in recorded


async def test_a_killed_server_leaves_a_recording_that_plays_to_the_stop_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    with trio.fail_after(TEST_SECONDS):
        async with running("serve", "--record", str(file)) as server:
            with trio.CancelScope() as scope:
                async with connect_process(server) as client:
                    stop = await debug(client)
                    while '\\"reason\\":\\"Breakpoint\\"' not in file.read_text():
                        await trio.sleep(0.05)
                    server.send_signal(signal.SIGKILL)
                    scope.cancel()
        async with running("replay", str(file), "--speed", "0", debugpy=False) as server:
            async with connect_process(server) as client:

                async def paused() -> Any:
                    state = await client.call("debug_state")
                    assert state.get("reason") == "Breakpoint"
                    return state

                state = await until(paused)
                for key in ("at", "stack", "locals", "source", "breakpoints"):
                    assert state[key] == stop[key]
                assert (await client.call("variables_get"))["variables"] == stop["locals"]
            await ended(server, once=b"It was torn off there.")  # at speed 0 that is some moments behind the stop


async def test_the_program_is_driven_by_the_client_of_a_replay(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    with trio.fail_after(TEST_SECONDS):
        async with running("serve", "--record", str(file)) as server, connect_process(server) as client:
            then = await debug(client), await finish(client)
        async with (
            running("replay", str(file), "--drive", "--speed", "0", debugpy=False) as server,
            connect_process(server) as client,
        ):
            now = await debug(client), await finish(client)
    assert without_times(now) == without_times(then)


@pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")  # of the SDK's HTTP client
@pytest.mark.parametrize("transport", ["http", "ws"])
async def test_clients_on_the_network_are_recorded_and_a_replay_serves_there(
    transport: str, era: Era, tmp_path: Path
) -> None:
    file, port = tmp_path / "session.jsonl", free_port()
    network = ["--no-stdio", f"--{transport}", str(port), "--token", "control-me-please"]

    def connected() -> Any:
        url = f"{'http' if transport == 'http' else 'ws'}://127.0.0.1:{port}/mcp"
        return (connect_http if transport == "http" else connect_websocket)(url, "control-me-please", era)

    async def listening() -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", port)
        await stream.aclose()

    with trio.fail_after(TEST_SECONDS):
        async with running("serve", "--record", str(file), *network) as server:
            await until(listening)
            async with connected() as client:
                stop = await debug(client)
            server.send_signal(signal.SIGTERM)
            await ended(server)
        recording = read_recording(file)
        assert {each.transport for each in recording.entries if isinstance(each, ClientEntry)} == {
            "http" if transport == "http" else "websocket"
        }
        assert "control-me-please" not in file.read_text()
        async with running("replay", str(file), "--speed", "0", *network, debugpy=False) as server:
            await until(listening)
            async with connected() as client:

                async def hit() -> Any:
                    timeline = await client.call("timeline_query", types=["stopped"], full=True)
                    assert len(timeline["events"]) == 2
                    return timeline["events"][-1]

                location = (await until(hit))["payload"]["location"]
                assert (location["line"], location["functionName"]) == (where(stop).line, where(stop).function)
            server.send_signal(signal.SIGTERM)
            await ended(server)


def test_a_session_recorded_now_replays_twice_to_identical_payloads_and_times(tmp_path: Path) -> None:
    file = tmp_path / "till.jsonl"
    trio.run(record_the_till, tmp_path.resolve(), file)
    recording = read_recording(file)
    first, second = watch(recording), watch(recording)
    assert first.seen == second.seen
    assert {what for _, what, _ in first.seen} >= set(URIS)
    tools = [answer for answer in first.answers if answer.method == "tools/call"]
    assert len(tools) == 11
    for answer in tools:
        assert same_answer(answer.method, answer.now, answer.then)


def test_a_recorded_session_that_is_disconnected_plays_as_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"

    async def record() -> None:
        with trio.fail_after(TEST_SECONDS), recorder_for(Path.cwd(), file) as recorder:
            async with (
                open_server(
                    Options(settings=Settings(directory=str(Path.cwd()), patience=PATIENT)).recorded(recorder)
                ) as server,
                server.connect() as client,
                # Of something that does not change: whether a change falls into a quiet window depends on the machine.
                client.subscribed("debugger://breakpoints"),
            ):
                client.timeout = TEST_SECONDS
                await client.call("debug_launch", program=program("till.py"))
                await client.call("debug_disconnect")
                await client.wait_notices(lambda notices: [each for each in notices if each.what == LIST_CHANGED])

    trio.run(record)
    for report in play_all(retime(scenario_of(file.read_bytes(), "left"))):
        assert report.ok, str(report)


def test_a_disk_that_takes_no_more_ends_the_recording_and_not_the_session(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    kept_code(tmp_path)  # the engine's code is in the cache: it is larger
    command = [sys.executable, "-m", "trio_debugmcp", "serve", "--record", str(file)]
    limited = f"ulimit -f 8; exec {shlex.join(command)}"  # 8 KiB, to whatever file

    async def run() -> str:
        pipe = subprocess.PIPE
        with trio.fail_after(TEST_SECONDS):
            process = await trio.lowlevel.open_process(
                ["bash", "-c", limited],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            async with connect_process(process) as client:
                stop = await debug(client)
                assert where(stop).line == line_of("till.py", "amount += price")
            return await ended(process)

    assert "has ended: File too large" in trio.run(run)
    assert read_recording(file).entries  # wherever in a line it ends


def test_a_file_that_is_not_a_recording_is_wrong_usage(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for text, reason in (("", "it is empty"), ("{}\n", "not the header"), (None, "No such file")):
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text)
        ran = subprocess.run(warm.server("replay", str(file)), capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert reason in ran.stderr


def test_a_file_that_exists_is_not_recorded_to(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"precious": True}))
    ran = subprocess.run(
        warm.server("serve", "--record", str(file)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert "exists already" in ran.stderr
    assert file.read_text() == '{"precious": true}'
