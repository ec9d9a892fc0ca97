"""Programs that dial in by themselves, at an address that the user has opened with `debug_listen`."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from tests.real.conftest import TEST_SECONDS, Connect, hits, text_of
from tests.recording.make import PATIENT, recorder_for
from tests.recording.scene import same_answer, watch
from tests.server.scene import failure
from trio_debugmcp.app import Options
from trio_debugmcp.recording.format import SessionEntry, read_recording
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, open_server

WORK = """
import os
import sys
import time

def work(number):
    squared = number * number
    return squared

def fail(number):
    raise KeyError(number)

if "fork" in sys.argv and os.fork():
    os.wait()
    sys.exit()
if "fail" in sys.argv:
    fail(3)
if "vanish" in sys.argv:
    for number in range(10):
        work(number)
    os._exit(0)
print(work(int(sys.argv[1])), flush=True)
while "stay" in sys.argv:
    time.sleep(0.01)
"""

LEAVE = """
import os
import socket
import time
from contextlib import suppress

while not os.path.exists(FILE):
    time.sleep(0.01)
for number in map(int, os.listdir("/dev/fd")):
    with suppress(OSError), socket.socket(fileno=os.dup(number)) as connection:
        if connection.getpeername() == ADDRESS:
            connection.shutdown(socket.SHUT_RDWR)
"""

LINE = 1 + WORK.splitlines().index("    return squared")
RAISE = 1 + WORK.splitlines().index("    raise KeyError(number)")


@asynccontextmanager
async def open_worker(line: str, directory: Path, *arguments: str) -> AsyncIterator[trio.Process]:
    """A worker with that line pasted at its head, killed with the block."""
    directory.mkdir(exist_ok=True)
    file = directory / "worker.py"
    file.write_text(line + WORK)
    process = await trio.lowlevel.open_process(
        [sys.executable, "-X", "frozen_modules=off", str(file), *arguments],
        stdout=subprocess.PIPE,
        env={**os.environ, "RANK": arguments[0]},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


async def written(process: trio.Process) -> str:
    """All that a worker has printed, once it has ended well."""
    if process.stdout is None:
        raise AssertionError("started with a pipe")
    text = b"".join([data async for data in process.stdout])
    assert await process.wait() == 0
    return text.decode()


async def listening(client: DebugClient) -> tuple[int, int]:
    """How many programs are connected, and how many have dialed in."""
    found = (await client.call("debug_state", session_id="s-1", full=True))["listening"]
    return found["connected"], found["dialedIn"]


async def test_workers_stop_in_local_files_all_stacks_are_one_view_and_the_results_are_right(
    debugging: Connect, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    file = str(here / "worker.py")
    async with debugging() as client:
        door = await client.call("debug_listen", path_mappings=[{"local": str(here), "remote": str(there)}])
        (here / "worker.py").write_text(door["python"] + WORK)
        await client.call("breakpoint_set", file=file, line=LINE)
        async with (
            open_worker(door["python"], there, "3") as first,
            open_worker(door["python"], there, "4") as second,
        ):
            stop = await client.call("debug_wait")
            assert (stop["reason"], stop["breakpoints"]) == ("Breakpoint", ["bp-1"])
            assert stop["at"] == f"{file}:{LINE} in work"
            assert [each.partition(" :")[0] for each in stop["stack"]] == ["<module>"], "in the same file"
            assert f"\n{LINE}>     return squared" in stop["source"]
            (bound,) = (await client.read("debugger://breakpoints"))["breakpoints"]
            assert (bound["file"], bound["line"], bound["verified"]) == (file, LINE, True)
            while (found := await client.call("stacktrace_get", thread_id="*"))["stacks"][0].get("count", 1) < 2:
                await trio.sleep(0.05)
            assert found["stacks"][0]["frames"][0] == f"work {file}:{LINE}"
            assert "notes" not in found
            fleet = await client.call("fleet_state")
            [there] = fleet["classes"]
            assert there.startswith(f"2 stopped in work {file}:{LINE} (rank 3-4: s-")
            assert there.endswith("): Breakpoint")
            assert "s-2 rank " in (await client.call("debug_state", session_id="s-2"))["sessions"][1]
            door_state = await client.call("debug_state", session_id=door["session"])
            assert door_state["listening"] == f"{door['address']}, 2 connected, 2 have dialed in"
            sessions = (await client.call("debug_state", session_id=door["session"], full=True))["sessions"]
            assert {each["processId"] for each in sessions} - {None} == {first.pid, second.pid}
            seen = {int(stop["locals"]["number"]): stop["session"]}
            stop = await client.call("debug_continue")
            seen[int(stop["locals"]["number"])] = stop["session"]
            assert {number: len({seen[3], seen[4]}) for number in seen} == {3: 2, 4: 2}
            await client.call("debug_continue", wait=False)
            assert (await written(first), await written(second)) == ("9\n", "16\n")
            said = text_of(await client.call("process_read_output"))
            assert {"[rank 3] 9", "[rank 4] 16"} <= set(said.split("\n"))
            while (await listening(client))[0]:
                await trio.sleep(0.05)
            assert await listening(client) == (0, 2)


async def test_a_worker_that_leaves_the_debugger_has_not_ended(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        host, port = door["address"].split(":")
        file = tmp_path / "leave"
        leave = LEAVE.replace("ADDRESS", repr((host, int(port)))).replace("FILE", repr(str(file)))
        async with open_worker(door["python"] + leave, tmp_path, "3", "stay") as worker:
            while "classes" not in await client.call("fleet_state"):
                await trio.sleep(0.05)
            file.touch()
            while not (fleet := await client.call("fleet_state")).get("ended"):
                await trio.sleep(0.05)
            assert fleet["processes"] == "none there; 1 left the debugger, still running"
            assert fleet["ended"] == ["1 left the debugger, still running (rank 3: s-2)"]
            assert worker.poll() is None


async def test_an_exception_of_a_worker_is_shown_in_local_files(debugging: Connect, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    async with debugging() as client:
        door = await client.call("debug_listen", path_mappings=[{"local": str(here), "remote": str(there)}])
        (here / "worker.py").write_text(door["python"] + WORK)
        await client.call("breakpoint_set_exception", exception_type="KeyError")
        async with open_worker(door["python"], there, "3", "fail"):
            stop = await client.call("debug_wait")
            assert stop["exception"] == "KeyError: 3"
            context = await client.call("exception_get_context")
            assert context["frames"][0] == f"fail {here / 'worker.py'}:{RAISE} (raised here) | raise KeyError(number)"
            assert str(there) not in json.dumps([stop, context])


async def test_a_port_that_is_taken_is_refused_with_what_to_do(debugging: Connect) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with debugging() as client:
            failed = await failure(client, "debug_listen", port=port)
            assert failed.code == "ATTACH_FAILED"
            assert failed.message == (
                f"Programs cannot dial in: cannot listen on 127.0.0.1:{port}: Address already in use. "
                "Pass another host or port (0: a free one), and call debug_listen again."
            )
            assert (await client.call("debug_listen"))["session"] == "s-2"


async def test_a_worker_with_another_token_runs_on_and_the_output_shows_it(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        line = door["python"].replace(door["token"], "yesterday")
        async with open_worker(line, tmp_path, "5") as worker:
            assert await written(worker) == "25\n"
        assert await listening(client) == (0, 0)
        assert (
            text_of(await client.call("process_read_output"))
            == "a caller from 127.0.0.1 was not let in: it does not know the token\n"
        )


async def test_a_worker_that_is_killed_ends_its_session_and_the_next_one_dials_in(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        for number in (6, 7):
            async with open_worker(door["python"], tmp_path, str(number)) as worker:
                await client.call("breakpoint_set", file=str(tmp_path / "worker.py"), line=LINE)
                stop = await client.call("debug_wait")
                assert stop["locals"]["number"] == str(number)
                worker.send_signal(signal.SIGKILL)
                while (await listening(client))[0]:
                    await trio.sleep(0.05)
        assert (await client.call("debug_state"))["state"] == "Running", "it still listens"


async def test_a_child_that_a_worker_forked_loses_no_tracepoint_at_a_sudden_end(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        (tmp_path / "worker.py").write_text(door["python"] + WORK)
        await client.call("breakpoint_set", file=str(tmp_path / "worker.py"), line=LINE, log_message="{number}")
        async with open_worker(door["python"], tmp_path, "8", "fork", "vanish") as forked:
            await forked.wait()
        while (await listening(client))[0]:
            await trio.sleep(0.05)
        assert await hits(client) == {"tp-1": 10}
        log = text_of(await client.call("process_read_output", stream="tracepoint"), "log")
        assert log.split() == [str(number) for number in range(10)]


@pytest.mark.parametrize("terminate", [False, True])
async def test_a_disconnect_lets_workers_and_their_children_run_on_unless_it_ends_them(
    terminate: bool, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        door = await client.call("debug_listen")
        async with (
            open_worker(door["python"], tmp_path, "8", "fork") as forked,
            open_worker(door["python"], tmp_path, "9", "stay") as running,
        ):
            await client.call("breakpoint_set", file=str(tmp_path / "worker.py"), line=LINE, condition="number == 8")
            stop = await client.call("debug_wait")
            child = await client.read("debugger://session")
            assert (child["sessionId"], child["state"]) == (stop["session"], "Paused")
            assert child["processId"] != forked.pid
            assert (child["parentSessionId"], child["launchMode"]) == (door["session"], "Attach")
            while (await listening(client))[1] < 3:
                await trio.sleep(0.05)
            arguments = {"terminate": True} if terminate else {}
            ended = {"ended": True} if terminate else {"detached": True}
            assert await client.call("debug_disconnect", **arguments) == ended
            assert (await client.call("debug_state"))["state"] == "Disconnected"
            if terminate:
                await running.wait()
            else:
                assert await written(forked) == "64\n"
                assert running.returncode is None


def test_a_recorded_session_that_listened_replays_and_holds_no_token(tmp_path: Path) -> None:
    recording = tmp_path / "listening.jsonl"
    tokens = []

    async def record() -> None:
        with trio.fail_after(TEST_SECONDS), recorder_for(tmp_path, recording) as recorder:
            options = Options(settings=Settings(directory=str(tmp_path), patience=PATIENT)).recorded(recorder)
            async with open_server(options) as server, server.connect() as client:
                client.timeout = TEST_SECONDS
                door = await client.call("debug_listen")
                tokens.append(door["token"])
                file = tmp_path / "worker.py"
                file.write_text(door["python"] + WORK)
                await client.call("breakpoint_set", file=str(file), line=LINE)
                async with open_worker(door["python"], tmp_path, "3"):
                    assert (await client.call("debug_wait"))["locals"]["number"] == "3"
                    assert (await client.call("evaluate", expression="squared + 1"))["value"] == "10"
                    await client.call("stacktrace_get", thread_id="*")
                    await client.call("debug_disconnect")

    trio.run(record)
    assert tokens[0] not in recording.read_text()
    sessions = [each for each in read_recording(recording).entries if isinstance(each, SessionEntry)]
    assert [(each.start, each.target) for each in sessions] == [("attach", "127.0.0.1:0"), ("child", None)]
    answers = [each for each in watch(read_recording(recording)).answers if each.method == "tools/call"]
    assert len(answers) == 6
    for answer in answers[1:]:
        assert same_answer(answer.method, answer.now, answer.then)
    then, now = (each["result"]["structuredContent"] for each in (answers[0].then, answers[0].now))
    assert (now["address"], now["token"] == tokens[0]) == (then["address"], False)
