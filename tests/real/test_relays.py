"""`trio-debugmcp relay`: processes without a line in them, carried to the debugger over one encrypted connection.

A witness stands at 127.0.0.2 between the relay and the server, and keeps all that passes.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import found
from tests.real.conftest import TEST_SECONDS, Connect, needs_gdb
from tests.real.test_encrypted_programs import open_witness
from tests.real.test_lifetimes import assert_gone, descendants, server
from trio_debugmcp.testing import DebugClient, connect_process

pytestmark = pytest.mark.real

WORK = """
import os
import sys
import time

def work(treasure):
    squared = treasure * treasure
    return squared

while not os.path.exists(sys.argv[1]):
    work(3)
    time.sleep(0.01)
print("ran on", flush=True)
"""

LINE = 1 + WORK.splitlines().index("    return squared")


class Job:
    """Two processes that run until they are asked to end, of a new Python and of the one of the tests."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = directory / f"work_{os.getpid()}.py"
        self.processes: list[trio.Process] = []

    @property
    def pids(self) -> list[str]:
        return [str(process.pid) for process in self.processes]

    async def has_run_on(self) -> None:
        """Ask them to end; they do that of themselves, and well."""
        (self.directory / "end").touch()
        for process in self.processes:
            assert process.stdout is not None
            assert b"".join([data async for data in process.stdout]) == b"ran on\n"
            assert await process.wait() == 0


@asynccontextmanager
async def open_job(directory: Path) -> AsyncIterator[Job]:
    job = Job(directory)
    job.file.write_text(WORK)
    try:
        for rank, python in enumerate(dict.fromkeys([found()[-1].path, sys.executable])):
            words = [python, str(job.file), str(directory / "end")]
            environment = {**os.environ, "RANK": str(rank)}
            job.processes.append(
                await trio.lowlevel.open_process(
                    words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
                )
            )
        yield job
    finally:
        for process in job.processes:
            if process.returncode is None:
                process.kill()


@asynccontextmanager
async def open_relay_process(directory: Path, door: dict[str, Any], *words: str) -> AsyncIterator[trio.Process]:
    """The command, as the answer of debug_listen has it, with these words at its end."""
    token = directory / "token"
    token.write_text(door["token"])
    token.chmod(0o600)
    command = [str(token) if word == "FILE" else word for word in door["relay"].removesuffix(" --pid PID").split()[1:]]
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "trio_debugmcp", *command, *words],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(directory)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


async def connected(client: DebugClient, session: str) -> int:
    """How many programs are connected."""
    found = await client.call("debug_state", session_id=session, full=True)
    return int(found["listening"]["connected"])


async def wait_connected(client: DebugClient, session: str, number: int) -> None:
    with trio.fail_after(TEST_SECONDS):
        while await connected(client, session) != number:  # noqa: ASYNC110 (of the server)
            await trio.sleep(0.05)


async def stop_in_each(client: DebugClient, job: Job) -> None:
    """Stop in each of the processes once, and let it run on to its next stop."""
    await client.call("breakpoint_set", file=str(job.file), line=LINE)
    seen = set[str]()
    while len(seen) < len(job.pids):
        stop = await client.call("debug_wait")
        assert (stop["reason"], stop["locals"]["treasure"]) == ("Breakpoint", "3")
        seen.add(stop["session"])
        await client.call("debug_continue", wait=False, session_id=stop["session"])


async def last_words(process: trio.Process) -> str:
    """What a relay has said, once it has ended."""
    assert process.stderr is not None
    return b"".join([data async for data in process.stderr]).decode()


@needs_gdb
@pytest.mark.parametrize("gone", ["relay", "listening"])
async def test_processes_are_debugged_over_a_relay_in_no_clear_word_and_run_on_when_it_is_gone(
    gone: str, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client, open_job(tmp_path) as job:
        door = await client.call("debug_listen", tls=True)
        async with open_witness(door["address"]) as (witness, place):
            door["relay"] = door["relay"].replace(door["address"], place)
            async with open_relay_process(tmp_path, door, "--pid", *job.pids) as relay:
                await wait_connected(client, door["session"], len(job.pids))
                await stop_in_each(client, job)
                fleet = await client.call("fleet_state")
                assert fleet["processes"].startswith((f"{len(job.pids)} ", f"{len(job.pids)}: "))
                said = await client.call("process_read_output", stream="console")
                assert "(by the relay at 127.0.0." in str(said)
                for word in (door["token"], "treasure", "Content-Length", "pydevd", "127.0.0.1"):
                    assert word.encode() not in witness.seen
                if gone == "relay":
                    relay.send_signal(signal.SIGKILL)
                else:
                    await client.call("debug_disconnect", session_id=door["session"])
                await relay.wait()
                if gone == "listening":
                    assert "run on" in await last_words(relay)
                else:
                    await wait_connected(client, door["session"], 0)
                await wait_nothing_left(tmp_path)
        await job.has_run_on()


async def wait_nothing_left(directory: Path, pattern: str = "trio_debugmcp*") -> None:
    """Wait until the relay's directory is gone; if the relay was killed, its watchdog removes it."""
    with trio.fail_after(TEST_SECONDS):
        while list(directory.glob(pattern)):  # noqa: ASYNC110 (of a process that is not our child)
            await trio.sleep(0.05)


@needs_gdb
async def test_a_relay_that_is_asked_to_end_leaves_the_processes_and_nothing_behind(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client, open_job(tmp_path) as job:
        door = await client.call("debug_listen", tls=True)
        async with open_relay_process(tmp_path, door, "--process", job.file.name) as relay:
            await wait_connected(client, door["session"], len(job.pids))
            await stop_in_each(client, job)
            relay.send_signal(signal.SIGTERM)
            assert await relay.wait() == 0
            assert "ended by a signal; the processes run on" in await last_words(relay)
        await wait_connected(client, door["session"], 0)
        assert not list(tmp_path.glob("trio_debugmcp*"))
        await job.has_run_on()


@needs_gdb
async def test_when_the_server_is_killed_the_relay_says_so_and_the_processes_run_on_as_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (of_server := tmp_path / "server").mkdir()
    async with open_job(tmp_path) as job:
        monkeypatch.setenv("TMPDIR", str(of_server))
        async with server(cold=True) as process, connect_process(process) as client:
            client.timeout = TEST_SECONDS
            door = await client.call("debug_listen", tls=True)
            async with open_relay_process(tmp_path, door, "--pid", *job.pids) as relay:
                await wait_connected(client, door["session"], len(job.pids))
                await stop_in_each(client, job)
                await client.call("debug_wait")  # one of them is stopped
                helpers = descendants(process.pid) | descendants(relay.pid)
                process.kill()
                said = await last_words(relay)
                assert "the processes run on" in said.splitlines()[-1]
                await relay.wait()
                await assert_gone(helpers)
                await wait_nothing_left(tmp_path)
                await wait_nothing_left(of_server, "*")
                for pid in job.pids:
                    await wait_no_sockets(int(pid))
        await job.has_run_on()


async def wait_no_sockets(pid: int) -> None:
    """Wait until a process has no connection: the debugger in it notices the end of its own for itself."""

    def sockets() -> list[str]:
        links = list[str]()
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # it has been closed since they were listed
                links.append(os.readlink(descriptor))
        return [link for link in links if link.startswith("socket:")]

    with trio.fail_after(TEST_SECONDS):
        while sockets():  # noqa: ASYNC110 (of a process that is not our child)
            await trio.sleep(0.05)


async def test_a_relay_that_is_not_let_in_says_why_and_touches_no_process(debugging: Connect, tmp_path: Path) -> None:
    pid = str(os.getpid())
    async with debugging() as client, debugging() as other:
        door = await client.call("debug_listen", tls=True)
        plain = await other.call("debug_listen")
        wrong = {
            "a relay that does not know the token": {**door, "token": "yesterday"},
            "another certificate": {**door, "relay": door["relay"].replace(door["pin"], "0" * 64)},
            "does not speak TLS: call debug_listen there with tls: true": {
                **door,
                "relay": door["relay"].replace(door["address"], plain["address"]),
            },
            "cannot connect to 127.0.0.1:1": {**door, "relay": door["relay"].replace(door["address"], "127.0.0.1:1")},
        }
        for why, told in wrong.items():
            async with open_relay_process(tmp_path, told, "--pid", pid) as relay:
                assert why in await last_words(relay)
                assert await relay.wait() == 1
        assert await connected(client, door["session"]) == 0
        said = await client.call("process_read_output", stream="console")
        assert "was not let in: a relay that does not know the token" in str(said)
