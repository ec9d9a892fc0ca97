"""What psutil says of processes where there is no `/proc`, beside what `/proc` says of the same ones."""

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import psutil
import pytest

from trio_debugmcp.dap import pids, without_proc
from trio_debugmcp.dap.profiles import running
from trio_debugmcp.session.looking.from_outside.process_sample import processor_seconds

NOBODY = 2**22 + 1  # more than Linux gives


@pytest.fixture
def child() -> Iterator[int]:
    """A process that waits, with arguments."""
    with Popen([sys.executable, "-c", "print(flush=True); input()", "an argument"], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


@pytest.mark.real
def test_it_says_what_proc_says_and_knows_a_zombie(child: int, tmp_path: Path) -> None:
    assert without_proc.parent_of(child) == pids.parent_of(child) == os.getpid()
    assert without_proc.directory_of(child) == pids.directory_of(child) == os.getcwd()
    (by_proc,) = [process for process in running(Path("/proc")) if process.pid == child]
    (by_psutil,) = [process for process in running(tmp_path / "no proc") if process.pid == child]
    assert by_psutil == by_proc
    assert without_proc.executable_of(child) == pids.executable_of(child)
    assert without_proc.command_line_of(child) == pids.command_line_of(child)
    assert not without_proc.has_ended(child)
    os.kill(child, 9)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert without_proc.has_ended(child)
    assert all(process.pid != child for process in running(tmp_path / "no proc"))


@pytest.mark.real
def test_a_port_that_listens_is_found() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert listener.getsockname()[1] in without_proc.listening_ports(os.getpid())


def test_without_proc_the_others_ask_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(without_proc, "has_proc", lambda: False)
    for name in ("has_ended", "parent_of", "executable_of", "directory_of", "command_line_of", "processor_seconds"):
        monkeypatch.setattr(without_proc, name, lambda pid, name=name: f"{name} {pid}")
    for ask in (pids.parent_of, pids.executable_of, pids.directory_of, pids.command_line_of, processor_seconds):
        assert str(ask(NOBODY)) == f"{ask.__name__} {NOBODY}"
    monkeypatch.setattr(pids, "stat_fields", lambda _: None)
    assert not pids.is_alive(os.getpid())  # it exists, and that says that it has ended


def test_of_a_process_that_is_not_there_nothing_is_known() -> None:
    assert without_proc.has_ended(NOBODY)
    assert without_proc.parent_of(NOBODY) is None
    assert without_proc.executable_of(NOBODY) is None
    assert without_proc.directory_of(NOBODY) is None
    assert without_proc.command_line_of(NOBODY) == ""
    assert without_proc.processor_seconds(NOBODY) is None
    assert without_proc.listening_ports(NOBODY) == []
    assert pids.executable_of(NOBODY) is None
    assert pids.directory_of(NOBODY) is None


def test_of_a_process_of_another_user_it_is_not_said_that_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: psutil.Process) -> str:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "status", refuse)
    assert not without_proc.has_ended(os.getpid())
