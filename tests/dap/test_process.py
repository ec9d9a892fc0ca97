"""Processes cannot be orphaned: real ones, on a real clock, with a bound for each test."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio

from trio_debugmcp.dap import watchdog_process
from trio_debugmcp.dap.adapter import open_stdio_adapter
from trio_debugmcp.dap.process import Watchdog, environment, open_process
from trio_debugmcp.dap.watchdog_process import session_members, signal_session
from trio_debugmcp.errors import CannotRun

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at processes through /proc"),
]

STUBBORN = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); {more}; "
    "print(os.getpid(), flush=True); time.sleep(60)"
)

FAMILY = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-S", "-c", {STUBBORN.format(more="os.setpgid(0, 0)")!r}])
child.wait()
"""

ORPHANER = f"""
import sys, trio
from trio_debugmcp.dap.process import open_process
from trio_debugmcp.dap.process import Watchdog

async def main():
    async with open_process([sys.executable, "-S", "-c", {FAMILY!r}], Watchdog()) as process:
        print((await process.stdout.receive_some()).decode(), flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


def python(script: str) -> list[str]:
    return [sys.executable, "-S", "-c", script]


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(condition: Callable[[], bool]) -> None:
    """Poll, because the system has no event for the condition."""
    while True:
        if condition():
            return
        await trio.sleep(0.01)


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    watchdog = Watchdog()
    yield watchdog
    watchdog.close()


async def first_number(process: trio.Process) -> int:
    assert process.stdout is not None
    return int(await process.stdout.receive_some())


async def test_a_process_that_exits_when_its_input_ends_gets_no_signal(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        async with open_process(["cat"], watchdog) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            await process.stdin.send_all(b"hello")
            assert await process.stdout.receive_some() == b"hello"
            assert session_members(process.pid) == [process.pid]
            assert "watching 1 process" in repr(watchdog)
        assert process.returncode == 0
        assert "watching 0 process" in repr(watchdog)
        with pytest.raises(trio.ClosedResourceError):
            await process.stdout.receive_some()


async def test_all_processes_of_a_session_are_ended_even_if_they_ignore_sigterm(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        async with open_process(python(FAMILY), watchdog) as process:
            grandchild = await first_number(process)
            assert os.getsid(grandchild) == process.pid
            assert os.getpgid(grandchild) == grandchild
        assert not lives(grandchild)
        assert not lives(process.pid)
        assert process.returncode == -signal.SIGTERM


async def test_a_grandchild_that_outlives_its_parent_is_ended_too(watchdog: Watchdog) -> None:
    leaver = FAMILY.replace("child.wait()", "sys.exit(3)")
    with trio.fail_after(120):
        async with open_process(python(leaver), watchdog) as process:
            grandchild = await first_number(process)
            assert await process.wait() == 3
            assert lives(grandchild)
        assert not lives(grandchild)


async def test_a_cancelled_block_still_ends_its_processes(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        with trio.CancelScope() as scope:
            async with open_process(python(FAMILY), watchdog) as process:
                grandchild = await first_number(process)
                scope.cancel()
                await trio.sleep_forever()
        assert not lives(grandchild)


async def test_processes_of_other_sessions_get_no_signal(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        async with open_process(["cat"], watchdog) as bystander:
            async with open_process(python(STUBBORN.format(more="pass")), watchdog) as process:
                await first_number(process)
            assert lives(bystander.pid)


async def test_a_program_that_does_not_exist_cannot_be_run(watchdog: Watchdog) -> None:
    with pytest.raises(CannotRun, match="No such file"):
        async with open_process(["/nowhere/adapter"], watchdog):
            pass
    with pytest.raises(CannotRun, match="No such file"):
        async with open_stdio_adapter(["/nowhere/adapter", "--x"], watchdog):
            pass


async def test_a_program_in_a_directory_that_cannot_be_entered_blames_the_directory(
    watchdog: Watchdog, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(CannotRun, match="Not a directory for the working directory"):
        async with open_process([sys.executable], watchdog, cwd=file):
            pass


async def test_an_empty_command_line_cannot_be_run(watchdog: Watchdog) -> None:
    with pytest.raises(CannotRun, match="it names no program"):
        async with open_process([], watchdog):
            pass


async def test_an_adapter_keeps_the_end_of_its_standard_error(watchdog: Watchdog) -> None:
    script = "import sys; print('x' * 9000, 'the reason', file=sys.stderr)"
    with trio.fail_after(120):
        async with open_stdio_adapter(python(script), watchdog) as adapter:
            assert await adapter.stream.receive_some() == b""
            await until(lambda: adapter.stderr_tail.endswith("the reason"))
        assert len(adapter.stderr_tail) <= 4000


async def test_opening_and_closing_many_times_leaves_no_descriptor_behind(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        async with open_process(["cat"], watchdog):
            pass
        before = descriptors()
        for _ in range(20):
            async with open_process(["cat"], watchdog):
                pass
        assert descriptors() <= before


# --- The watchdog ---------------------------------------------------------------------------------------------


async def test_the_watchdog_ends_the_processes_of_a_server_that_was_killed() -> None:
    with trio.fail_after(120):
        server = await trio.lowlevel.open_process(
            [sys.executable, "-c", ORPHANER],
            stdout=-1,
            env=environment({"PYTHONPATH": str(Path.cwd())}),
            start_new_session=True,
        )
        assert server.stdout is not None
        async with server.stdout:
            grandchild = await first_number(server)
            assert lives(grandchild)
            os.killpg(server.pid, signal.SIGKILL)  # with everything that belongs to it
            assert await server.wait() == -signal.SIGKILL
        await until(lambda: not lives(grandchild))


async def test_a_watchdog_that_is_closed_kills_what_it_still_watches_and_nothing_else(
    watchdog: Watchdog,
) -> None:
    with trio.fail_after(120):
        async with (
            open_process(python(STUBBORN.format(more="pass")), watchdog) as watched,
            open_process(["cat"], watchdog) as forgotten,
        ):
            await first_number(watched)
            own = Watchdog()
            own.watch(watched.pid)
            own.watch(forgotten.pid)
            own.forget(forgotten.pid)
            own.close()
            assert await watched.wait() == -signal.SIGKILL
            assert lives(forgotten.pid)


async def test_a_watchdog_that_was_killed_is_replaced_by_one_that_watches_the_same_sessions(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        own = Watchdog()
        async with (
            open_process(python(STUBBORN.format(more="pass")), watchdog) as first,
            open_process(python(STUBBORN.format(more="pass")), watchdog) as second,
        ):
            await first_number(first)
            await first_number(second)
            own.watch(first.pid)
            killed = own.pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            await until(lambda: not lives(killed))
            own.watch(second.pid)
            own.close()
            assert await first.wait() == -signal.SIGKILL
            assert await second.wait() == -signal.SIGKILL


async def test_a_watchdog_that_was_killed_is_replaced_without_another_process_to_watch(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        own = Watchdog()
        async with (
            open_process(python(STUBBORN.format(more="pass")), watchdog) as process,
            trio.open_nursery() as nursery,
        ):
            await first_number(process)
            nursery.start_soon(own.keep)
            own.watch(process.pid)
            pids = {own.pid}
            for number in range(2, 5):  # what kills one may kill the next
                assert own.pid is not None
                os.kill(own.pid, signal.SIGKILL)
                await until(lambda: own.pid not in pids)
                pids.add(own.pid)
                assert len(pids) == number
            nursery.cancel_scope.cancel()
            own.close()
            assert await process.wait() == -signal.SIGKILL


async def test_a_watchdog_with_nothing_to_watch_is_not_replaced_until_there_is(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        own = Watchdog()
        async with open_process(["cat"], watchdog) as process, trio.open_nursery() as nursery:
            nursery.start_soon(own.keep)
            own.watch(process.pid)
            own.forget(process.pid)
            assert own.pid is not None
            os.kill(own.pid, signal.SIGKILL)
            await until(lambda: own.pid is None)
            own.watch(process.pid)
            killed = own.pid
            assert killed is not None
            os.kill(killed, signal.SIGKILL)
            await until(lambda: own.pid not in (None, killed))
            own.forget(process.pid)
            nursery.cancel_scope.cancel()
            own.close()


async def test_a_watchdog_that_has_not_begun_is_ended_if_there_is_nothing_to_watch(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        own = Watchdog()
        async with open_process(["cat"], watchdog) as process:
            own.watch(process.pid)
            pid = own.pid
            assert pid is not None
            os.kill(pid, signal.SIGSTOP)
            own.forget(process.pid)
            own.close()
            assert not lives(pid)


async def test_a_watchdog_ignores_the_signals_that_end_a_service(watchdog: Watchdog) -> None:
    with trio.fail_after(120):
        async with open_process(["cat"], watchdog):
            status = Path(f"/proc/{watchdog.pid}/status")
            ignored = sum(1 << (number - 1) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

            def ignores_them() -> bool:
                mask = int(status.read_text().partition("SigIgn:")[2].split()[0], 16)
                return mask & ignored == ignored

            await until(ignores_them)


def test_a_watchdog_process_stays_small() -> None:
    argv = [sys.executable, "-I", "-S", "-X", "importtime", watchdog_process.__file__]
    listing = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True)
    imported = {line.rpartition("|")[2].strip() for line in listing.stderr.splitlines()}
    assert "signal" in imported
    assert imported.isdisjoint({"subprocess", "typing", "re", "threading"})


async def test_a_zombie_is_not_a_member_of_its_session() -> None:
    with trio.fail_after(120):
        process = subprocess.Popen(["true"], start_new_session=True)
        await until(lambda: not lives(process.pid))
        assert session_members(process.pid) == []
        assert process.wait() == 0


def test_a_watchdog_without_anything_to_watch_does_not_start() -> None:
    watchdog = Watchdog()
    watchdog.forget(1)
    watchdog.close()
    watchdog.close()
    assert watchdog.pid is None
    assert repr(watchdog) == "<dap.Watchdog pid=None, watching 0 process sessions>"


async def test_a_directory_that_is_watched_is_gone_if_the_process_is_killed_and_stays_if_the_block_ends(
    tmp_path: Path,
) -> None:
    (tmp_path / "left" / "in").mkdir(parents=True)
    (tmp_path / "kept").mkdir()
    script = f"""
import time
from trio_debugmcp.dap.process import Watchdog
watchdog = Watchdog()
with watchdog.watching_directory({str(tmp_path / "kept")!r}):
    pass
with watchdog.watching_directory({str(tmp_path / "left")!r}):
    print("watched", flush=True)
    time.sleep(1000)
"""
    with trio.fail_after(120):
        owner = await trio.lowlevel.open_process([sys.executable, "-c", script], stdout=subprocess.PIPE)
        assert owner.stdout is not None
        said = b""
        while said != b"watched\n":  # its parts may come one by one
            said += await owner.stdout.receive_some()
        owner.kill()
        await owner.wait()
        await until(lambda: not (tmp_path / "left").exists())
    assert (tmp_path / "kept").is_dir()


def test_signalling_an_empty_session_returns_false() -> None:
    assert signal_session(2**22 + 1, signal.SIGTERM) is False


def test_what_is_started_while_a_session_is_signalled_is_signalled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = iter([[11, 12], [12, 13], [12, 13]])
    signalled: list[tuple[int, int]] = []
    monkeypatch.setattr(watchdog_process, "session_members", lambda _: next(lists))
    monkeypatch.setattr(os, "kill", lambda pid, number: signalled.append((pid, number)))
    assert signal_session(11, signal.SIGTERM) is True
    assert signalled == [(pid, signal.SIGTERM) for pid in (11, 12, 13)]


def test_an_environment_adds_to_ours_and_removes_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("TAKEN", "1")
    merged = environment({"TAKEN": None, "ADDED": "2"})
    assert (merged["KEPT"], merged["ADDED"], merged.get("TAKEN")) == ("1", "2", None)
