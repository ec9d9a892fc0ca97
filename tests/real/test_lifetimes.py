"""Nothing is left behind, whichever process ends or is killed: no process, and no descriptor.

How long a goodbye may take is asserted on a virtual clock: tests/session/test_timeouts.py.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing

from tests import warm
from tests.real.conftest import TEST_SECONDS, at, needs_gdb, program, where
from trio_debugmcp.testing import DebugClient, connect_process

GONE_SECONDS = 120
"""What has not gone by then stays: the server waits so long for no process that is to end, however patient it is."""


def descendants(pid: int) -> set[int]:
    """The process ids of its children, their children, and so on; for a warm server, of those of the server."""
    pid = warm.behind(pid)
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def living(pids: set[int]) -> set[int]:
    """Those that still run: they exist and are not zombies."""
    alive = set()
    for pid in pids:
        with suppress(OSError):
            if (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z":
                alive.add(pid)
    return alive


async def assert_gone(pids: set[int]) -> None:
    with trio.move_on_after(GONE_SECONDS):
        while living(pids):
            await trio.sleep(0.02)
    assert not living(pids), [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in living(pids)]


@asynccontextmanager
async def server(
    seconds: float = TEST_SECONDS, *, cold: bool = False, interrupts: bool = True
) -> AsyncIterator[trio.Process]:
    """A server process; it is killed at the end of the block if the test has not ended it.

    It is a warm one unless it is to be `cold`, with a process group of its own. Unless that `interrupts`, SIGINT is
    ignored at its start; else it is not, also where it is in the tests.
    """
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "trio_debugmcp"] if cold else warm.server(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL if interrupts else signal.SIG_IGN),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with trio.fail_after(seconds):
        async with process.stdin, process.stdout:
            try:
                yield process
            finally:
                if process.returncode is None:
                    process.kill()
                with trio.CancelScope(shield=True):
                    await process.wait()


def watchdog_of(process: trio.Process) -> set[int]:
    """The process that outlives a session: it lives as long as the server."""

    def is_watchdog(pid: int) -> bool:
        with suppress(OSError):
            return b"watchdog_process.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False

    return {each for each in descendants(process.pid) if is_watchdog(each)}


async def start(client: DebugClient, name: str = "busy.py", *, paused: bool) -> dict[str, object]:
    result = await client.call("debug_launch", program=program(name), stop_at_entry=paused, wait=paused)
    session: dict[str, object] = await client.read("debugger://session")
    while session["state"] == "Starting":
        await trio.sleep(0.02)
        session = await client.read("debugger://session")
    assert (result["session"], result["pid"]) == (session["sessionId"], session["processId"])
    return session


@pytest.mark.parametrize(
    ("ending", "paused"),
    [
        ("client EOF", True),
        ("client EOF", False),
        ("SIGTERM", True),
        ("SIGINT", False),
        ("SIGKILL of the server", True),
        ("SIGKILL of the server", False),
    ],
)
async def test_after_an_ending_no_process_is_left(ending: str, paused: bool) -> None:
    async with server(cold=ending == "SIGINT") as process, connect_process(process) as client:
        session = await start(client, paused=paused)
        children = descendants(process.pid)
        assert children == watchdog_of(process) | {session["processId"]}, "nothing stands beside the program"
        match ending:
            case "client EOF":
                assert process.stdin is not None
                await process.stdin.aclose()
            case "SIGTERM" | "SIGINT":
                process.send_signal(getattr(signal, ending))
            case _:
                process.kill()
        await assert_gone(children | {process.pid})


@pytest.mark.parametrize("interrupts", [True, False])
async def test_a_program_finds_ctrl_c_ignored_if_it_was_when_the_server_started(
    interrupts: bool, tmp_path: Path
) -> None:
    file = tmp_path / "itself.py"
    file.write_text("import signal\nprint(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, flush=True)\n")
    async with server(cold=True, interrupts=interrupts) as process, connect_process(process) as client:
        end = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        assert end["stdout"] == f"{not interrupts}\n"


async def test_a_server_that_was_killed_leaves_the_next_one_its_launch_and_breakpoints(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    async with server() as process, connect_process(process) as client:
        await client.call("breakpoint_set", **at("steps.py", "tripled ="))
        stop = await client.call("debug_launch", program=program("steps.py"), env={"TOKEN": "x"})
        process.kill()
    async with server() as process, connect_process(process) as client:
        again = await client.call("debug_restart")
        assert (again["at"], again["locals"]) == (stop["at"], stop["locals"])
        assert [note for note in again["notes"] if "env TOKEN" in note]


async def test_a_program_that_was_detached_from_ends_with_the_server() -> None:
    async with server() as process:
        async with connect_process(process) as client:
            await start(client, paused=True)
            children = descendants(process.pid)
            await client.call("debug_disconnect", terminate=False)
            await trio.sleep(0.5)
            assert living(children) == children, "the program still runs"
        assert process.stdin is not None
        await process.stdin.aclose()
        await assert_gone(children | {process.pid})


async def test_after_a_disconnect_and_the_programs_own_end_no_process_is_left() -> None:
    async with server() as process, connect_process(process) as client:
        for name, paused in (("busy.py", True), ("busy.py", False), ("steps.py", True)):
            await start(client, name, paused=paused)
            children = descendants(process.pid) - watchdog_of(process)
            if name == "steps.py":
                assert (await client.call("debug_continue"))["reason"] == "Exited"
            else:
                await client.call("debug_disconnect")
            await assert_gone(children)


@pytest.mark.parametrize("paused", [True, False], ids=["paused", "running"])
async def test_when_the_program_is_killed_the_session_ends_and_the_server_launches_again(
    paused: bool,
) -> None:
    async with server() as process, connect_process(process) as client:
        session = await start(client, paused=paused)
        debuggee = session["processId"]
        assert isinstance(debuggee, int)
        ended: list[dict[str, object]] = []

        async def wait_for_a_stop() -> None:
            ended.append(await client.call("debug_continue" if paused else "debug_wait"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_for_a_stop)
            await trio.testing.wait_all_tasks_blocked()  # it is sent, and comes before what is sent now
            while (await client.call("debug_state"))["state"] != "Running":
                await trio.sleep(0.02)
            os.kill(debuggee, signal.SIGKILL)
        assert ended[0]["reason"] == "Exited"
        await assert_gone({debuggee})
        assert await client.uris() == []
        assert (await client.call("debug_launch", program=program("steps.py")))["reason"] == "Entry"


async def test_when_the_client_process_is_killed_everything_goes_with_it(tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(
        "import sys, trio\n"
        "from trio_debugmcp.testing import connect_stdio\n"
        "async def main():\n"
        "    async with connect_stdio() as client:\n"
        f"        await client.call('debug_launch', program={program('busy.py')!r})\n"
        "        print('ready', flush=True)\n"
        "        await trio.sleep_forever()\n"
        "trio.run(main)\n"
    )
    with trio.fail_after(TEST_SECONDS):
        client = await trio.lowlevel.open_process([sys.executable, str(script)], stdout=subprocess.PIPE)
        assert client.stdout is not None
        async with client.stdout:
            printed = b""
            while printed != b"ready\n":
                printed += bytes(await client.stdout.receive_some())
                assert b"ready\n".startswith(printed)
            family = descendants(client.pid)
            client.kill()
            await client.wait()
            await assert_gone(family)


async def test_python_children_run_to_the_end_and_leave_nothing() -> None:
    async with server() as process, connect_process(process) as client:
        result = await client.call("debug_launch", program=program("parent.py"), stop_at_entry=False)
        assert (result["reason"], result["exitCode"]) == ("Exited", 0)
        assert result["stdout"] == "child said xx and returned 3\nsquares [0, 1, 4, 9, 16, 25, 36, 49]\n"
        await assert_gone(descendants(process.pid) - watchdog_of(process))


DAEMON = """
import os, sys, time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open("daemon.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename("daemon.new", "daemon.pid")
        time.sleep(1000)
    os._exit(0)
os.wait()
time.sleep(1000)
"""


async def launch_daemon(client: DebugClient, directory: Path) -> int:
    """Launch a program that leaves a daemon, and return the daemon's process id once it is debugged."""
    (directory / "daemon.py").write_text(DAEMON)
    await client.call(
        "debug_launch", program=str(directory / "daemon.py"), cwd=str(directory), stop_at_entry=False, wait=False
    )
    while not (directory / "daemon.pid").exists():
        await trio.sleep(0.05)
    daemon = int((directory / "daemon.pid").read_text())
    running = ()
    while daemon not in running:
        await trio.sleep(0.05)
        sessions = (await client.read("debugger://session"))["sessions"]
        running = tuple(session["processId"] for session in sessions if session["state"] == "Running")
    return daemon


@pytest.mark.parametrize("ending", ["debug_disconnect", "client EOF", "SIGKILL of the server"])
async def test_a_daemon_of_a_program_that_was_launched_ends_with_it(tmp_path: Path, ending: str) -> None:
    async with server() as process, connect_process(process) as client:
        daemon = await launch_daemon(client, tmp_path)
        children = descendants(process.pid)
        assert daemon not in children, "its parent has ended"
        match ending:
            case "debug_disconnect":
                await client.call("debug_disconnect")
                assert not living({daemon})
            case "client EOF":
                assert process.stdin is not None
                await process.stdin.aclose()
                await assert_gone(children)
            case _:
                process.kill()
                await assert_gone(children)
        await assert_gone({daemon})


async def test_a_daemon_of_a_program_that_was_detached_from_lives_on(tmp_path: Path) -> None:
    async with server() as process, connect_process(process) as client:
        daemon = await launch_daemon(client, tmp_path)
        await client.call("debug_disconnect", terminate=False)
        children = descendants(process.pid)
        process.kill()
        await assert_gone(children)
        assert living({daemon}) == {daemon}
        os.kill(daemon, signal.SIGKILL)


async def test_a_killed_watchdog_is_replaced_before_it_is_needed() -> None:
    async with server() as process, connect_process(process) as client:
        await start(client, paused=False)
        [killed] = watchdog_of(process)
        os.kill(killed, signal.SIGKILL)
        while not watchdog_of(process) - {killed}:
            await trio.sleep(0.02)
        children = descendants(process.pid)
        process.kill()
        await assert_gone(children | {process.pid})


# --- A program that was attached to -----------------------------------------------------------------------------------

BREEDER = """
import os, subprocess, sys, time

def breed(number):
    pid = os.fork()
    if not pid:
        os._exit(7)
    forked = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    started = subprocess.run([sys.executable, "-c", "exit(8)"], check=False).returncode
    print(number, forked, started, flush=True)

number = 0
while True:
    number += 1
    breed(number)
    time.sleep(0.05)
"""
"""Starts children for ever: each of them has to end in its own way, whatever becomes of the debugger."""


@needs_gdb
@pytest.mark.parametrize(
    "ending",
    [
        "detach",
        pytest.param("SIGTERM", marks=pytest.mark.nightly("the server detaches, as it does when it is told to")),
        "SIGKILL",
        "SIGKILL while a child is stopped",
    ],
)
async def test_a_program_that_was_attached_to_runs_on_with_all_its_children(ending: str, tmp_path: Path) -> None:
    script = tmp_path / "breeder.py"
    script.write_text(BREEDER)
    breeder = await trio.lowlevel.open_process(
        [sys.executable, "-X", "frozen_modules=off", str(script)], stdout=subprocess.PIPE
    )
    assert breeder.stdout is not None
    try:
        async with breeder.stdout, server() as process, connect_process(process) as client:
            await client.call("debug_attach", pid=breeder.pid)
            await client.call("breakpoint_set", file=str(script), line=line_with(script, "print(number"))
            stopped = await client.call("debug_wait")
            assert stopped["reason"] == "Breakpoint"
            number = int((await client.call("evaluate", expression="number"))["value"])
            if ending == "SIGKILL while a child is stopped":
                await client.call("breakpoint_set", file=str(script), line=line_with(script, "os._exit"))
                stopped = await client.call("debug_continue")
                assert where(stopped).line == line_with(script, "os._exit")
            match ending:
                case "detach":
                    await client.call("debug_disconnect")
                case "SIGTERM":
                    process.terminate()
                    await process.wait()
                case _:
                    process.kill()
                    await process.wait()
            said = "\n"
            while f"\n{number + 8} " not in said:
                said += bytes(await breeder.stdout.receive_some()).decode()
            if ending == "detach":
                assert await client.uris() == []
        for each in range(number, number + 7):
            assert f"\n{each} 7 8\n" in said
        assert breeder.poll() is None
    finally:
        breeder.kill()
        with trio.move_on_after(5, shield=True):
            await breeder.wait()


def line_with(file: Path, text: str) -> int:
    (number,) = [number for number, line in enumerate(file.read_text().splitlines(), 1) if text in line]
    return number
