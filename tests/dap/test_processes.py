"""Processes by name, and what keeps one from being traced, of a `/proc` that is made up."""

import os
from pathlib import Path

import pytest

from trio_debugmcp.dap.profiles import called, owner_problem, running, trace_problem
from trio_debugmcp.dap.profiles.processes import Process
from trio_debugmcp.dap.profiles.python.injection import injection_problem


def add(proc: Path, pid: int, *command: str, parent: int = 1, comm: str = "", state: str = "S", **status: str) -> Path:
    place = proc / str(pid)
    place.mkdir(parents=True)
    (place / "stat").write_text(f"{pid} ({comm or Path(command[0]).name[:15]}) {state} {parent} 1 1 0")
    (place / "cmdline").write_bytes(b"".join(each.encode() + b"\0" for each in command))
    fields = {"State": f"{state} (sleeping)", "TracerPid": "0", "Uid": f"{os.geteuid()}\t0\t0\t0", **status}
    (place / "status").write_text("".join(f"{name}:\t{value}\n" for name, value in fields.items()))
    return place


def names(proc: Path, name: str, own: int = 99999) -> list[int]:
    return [each.pid for each in called(name, running(proc), own)]


@pytest.mark.parametrize(
    "name", ["worker", "python3", "serve.py", "renamed", "-bash", "a-name-longer-than-linux-keeps", "odd) S 1 (name"]
)
def test_a_process_is_called_by_its_own_name_that_of_its_program_or_that_of_its_script(
    name: str, tmp_path: Path
) -> None:
    add(tmp_path, 10, "/opt/bin/worker", "--fast")
    add(tmp_path, 11, "/usr/bin/python3", "-u", "/srv/serve.py", "worker.txt")
    add(tmp_path, 12, "/bin/x", comm="renamed")
    add(tmp_path, 13, "-bash", comm="-bash")
    add(tmp_path, 14, "x", comm="a-name-longer-than-linux-keeps"[:15])
    add(tmp_path, 15, "y", comm="odd) S 1 (name")
    assert len(names(tmp_path, name)) == 1
    assert names(tmp_path, "bash") == [13]
    assert names(tmp_path, "worker.txt") == names(tmp_path, "serve") == names(tmp_path, "") == []


def test_what_has_ended_the_kernels_and_the_servers_own_processes_are_not_found(tmp_path: Path) -> None:
    add(tmp_path, 20, "app", state="Z")
    add(tmp_path, 21, comm="app")
    add(tmp_path, 22, "app")
    add(tmp_path, 23, "app", parent=22)
    add(tmp_path, 24, "app", parent=23)
    add(tmp_path, 25, "app", parent=26)
    add(tmp_path, 26, "app", parent=25)
    (tmp_path / "27").mkdir()
    (tmp_path / "self").mkdir()
    assert names(tmp_path, "app", own=22) == [25, 26]
    assert names(tmp_path, "app") == [22, 23, 24, 25, 26]


def test_a_process_of_another_user_of_the_kernel_or_that_has_ended_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (tmp_path / "self").mkdir()
    (tmp_path / "self/status").write_text("CapEff:\t0\n")
    add(tmp_path, 30, "theirs", Uid="1001\t1000\t1000\t1000")
    add(tmp_path, 31, "ours", Uid="1000\t0\t0\t0")
    add(tmp_path, 32, comm="kworker", Uid="0\t0\t0\t0")
    add(tmp_path, 33, "ours", state="Z")
    assert "belongs to the user with the id 1001, and this server runs as 1000" in (owner_problem(30, tmp_path) or "")
    assert owner_problem(31, tmp_path) is None
    assert "the kernel's" in (owner_problem(32, tmp_path) or "")
    assert "has ended already" in (owner_problem(33, tmp_path) or "")
    assert owner_problem(34, tmp_path) is None
    (tmp_path / "self/status").write_text("CapEff:\t0000000000080000\n")
    assert owner_problem(30, tmp_path) is None


def test_a_program_without_a_command_line_is_not_taken_for_one_of_the_kernel(tmp_path: Path) -> None:
    # As one has for a moment while it executes another program, and one that has overwritten it for ever.
    add(tmp_path, 35, comm="app", VmSize="9628 kB")
    add(tmp_path, 36, comm="app")
    assert owner_problem(35, tmp_path) is None
    assert names(tmp_path, "app") == [35]
    assert [process.title for process in running(tmp_path)] == ["app"]


def test_what_is_traced_already_and_the_server_itself_are_not_traced(tmp_path: Path) -> None:
    add(tmp_path, 40, "app", TracerPid="41")
    add(tmp_path, 42, "app")
    assert "traced already, by process 41" in (trace_problem(40, tmp_path) or "")
    assert trace_problem(42, tmp_path) is None
    assert "the server itself" in (trace_problem(os.getpid(), tmp_path) or "")


def test_with_yama_only_who_may_trace_all_traces(tmp_path: Path) -> None:
    add(tmp_path, 42, "app")
    for name, text in (("sys/kernel/yama/ptrace_scope", "1\n"), ("self/status", "CapEff:\t0\n")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "ptrace_scope is 1" in (trace_problem(42, tmp_path) or "")


def test_a_process_that_is_not_python_is_not_attached_to_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    for pid, executable, library in (
        (50, "/usr/bin/python3.11", ""),
        (51, "/usr/bin/sleep", "/lib/libc.so.6"),
        (52, "/opt/blender", "/opt/lib/libpython3.11.so.1.0"),
        (53, "/usr/bin/python3.7", ""),
        (54, "/usr/bin/pypy3", ""),
    ):
        place = add(tmp_path, pid, executable)
        (place / "exe").symlink_to(executable)
        (place / "maps").write_text(f"7f00-7f01 r--p 00000000 08:01 1 {library}\n")
    (add(tmp_path, 55, "theirs") / "maps").write_text("")
    assert [pid for pid in range(50, 56) if injection_problem(pid, tmp_path) is not None] == [51, 53]
    says = "process 51 runs /usr/bin/sleep, which is not Python: leave `adapter` out to attach as it fits"
    assert injection_problem(51, tmp_path) == says
    assert injection_problem(53, tmp_path) == "process 53 runs Python 3.7; debugpy debugs 3.8 and newer"
    (tmp_path / "51" / "maps").unlink()  # what cannot be seen may have it
    assert injection_problem(51, tmp_path) is None
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert "needs `" in (injection_problem(50, tmp_path) or "")


def test_python_in_another_container_is_not_attached_to_as_it_cannot_read_the_debugger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    for pid in (60, 61):
        (add(tmp_path, pid, "python3.12") / "exe").symlink_to("/usr/bin/python3.12")
    (tmp_path / "60" / "root").symlink_to("/")
    (tmp_path / "61" / "root").mkdir()
    assert injection_problem(60, tmp_path) is None
    assert "have the program dial in (debug_listen)" in (injection_problem(61, tmp_path) or "")


@pytest.mark.parametrize(
    ("command", "title"),
    [
        (("/usr/bin/python3.11", "-u", "/srv/worker.py", "x"), "worker.py"),
        (("node", "app.js"), "app.js"),
        (("./shop", "crash"), "shop"),
        (("bash",), "bash"),
        ((), "kworker"),
    ],
)
def test_a_process_is_named_by_its_script_or_by_what_it_executes(command: tuple[str, ...], title: str) -> None:
    assert Process(1, 0, "kworker", command).title == title
