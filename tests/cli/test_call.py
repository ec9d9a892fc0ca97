"""`trio-debugmcp call`, with servers that are processes of their own."""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from trio_debugmcp.cli import main
from trio_debugmcp.kept.calling import connect, process_ended
from trio_debugmcp.kept.place import Place
from trio_debugmcp.own_command import own_command

pytestmark = pytest.mark.real

PROGRAM = """\
def double(n):
    total = n * 2
    return total
print(double(4))
"""

BOUND_SECONDS = 120
"""For one call on a busy machine."""


class Shell:
    """A shell in a project: runs `trio-debugmcp call`."""

    def __init__(self, project: Path, runtime: str) -> None:
        self.project = project
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}

    def run(self, *words: str, cwd: Path | None = None, text: str = "") -> "subprocess.CompletedProcess[str]":
        return self.command(own_command("call", *words), cwd=cwd, text=text)

    def command(
        self, command: list[str], *, cwd: Path | None = None, text: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=cwd or self.project,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=BOUND_SECONDS,
            check=False,
        )

    def answer(self, *words: str, cwd: Path | None = None, text: str = "") -> Any:
        done = self.run(*words, cwd=cwd, text=text)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def error(self, *words: str) -> tuple[int, str]:
        done = self.run(*words)
        assert done.stdout == ""
        return done.returncode, json.loads(done.stderr)["error"]["message"]


LOADED = "import sys; from trio_debugmcp.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"


@contextmanager
def shell_in(project: Path) -> Iterator[Shell]:
    (project / "pyproject.toml").touch()
    (project / "app.py").write_text(PROGRAM)
    with TemporaryDirectory() as runtime, pytest.MonkeyPatch.context() as patch:  # of a short path, for a socket
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        shell = Shell(project, runtime)
        yield shell
        shell.run("--end")


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    with shell_in(tmp_path) as shell:
        yield shell


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell whose server runs already: for tests that debug nothing, and leave the server as it is."""
    with shell_in(tmp_path_factory.mktemp("shared")) as shell:
        shell.run("debug_state")
        yield shell


def test_a_call_that_starts_the_server_loads_neither_trio_nor_the_sdk(shell: Shell) -> None:
    done = shell.command([sys.executable, "-c", LOADED, "call", "debug_state"])
    assert (done.returncode, json.loads(done.stdout)) == (0, {"state": "Disconnected"})
    assert not {"trio", "mcp", "mcp_types", "pydantic", "msgspec"} & set(done.stderr.split())


def test_calls_of_a_project_reach_one_server_until_it_is_ended(shell: Shell) -> None:
    stop = shell.answer("debug_launch", "program=app.py", 'breakpoints=[{"file": "app.py", "line": 2}]')
    assert (stop["at"], stop["locals"]) == ("app.py:2 in double", {"n": "4"})
    (shell.project / "sub").mkdir()
    step = shell.answer("debug_step", cwd=shell.project / "sub")
    assert (step["at"], step["locals"]["total"]) == ("app.py:3 in double", "8")
    assert shell.answer("evaluate", "expression=-", text="total + 1") == {"value": "9"}
    status = shell.answer("--status")
    assert (status["kept"], status["now"]["at"], status["pageRole"]) == (True, "app.py:3 in double", "observe")
    assert shell.answer("--end") == {"ended": True, "project": str(shell.project)}
    assert process_ended(status["pid"])
    assert process_ended(stop["pid"])
    assert shell.answer("--status") == {"kept": False, "project": str(shell.project)}
    assert shell.answer("--end") == {"ended": False, "kept": False, "project": str(shell.project)}


def test_calls_at_the_same_moment_start_one_server(shell: Shell) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: shell.run("debug_state"), range(8)))
    assert {done.returncode for done in results} <= {0, 5}
    pid = shell.answer("--status")["pid"]
    assert {shell.answer("--status")["pid"] for _ in range(2)} == {pid}


def test_a_killed_server_is_replaced_by_the_next_call(shell: Shell) -> None:
    shell.answer("debug_launch", "program=app.py")
    place = Place.of(str(shell.project))
    conversation = connect(place)
    assert conversation is not None
    with conversation:
        killed = conversation.server_pid()
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert shell.error("debug_step") == (
        5,
        "No active debug session: start one with the tool debug_launch or debug_attach.",
    )
    assert shell.answer("--status")["pid"] != killed


def test_a_call_to_a_server_that_stands_still_as_on_a_machine_that_sleeps_is_answered_later(
    shell: Shell,
) -> None:
    shell.answer("debug_launch", "program=app.py", 'breakpoints=[{"file": "app.py", "line": 2}]')
    server = shell.answer("--status")["pid"]
    os.kill(server, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor() as pool:
            call = pool.submit(shell.answer, "debug_step")
            wait([call], timeout=0.5)  # it may have been sent by then, or comes later
            os.kill(server, signal.SIGCONT)
            assert call.result()["at"] == "app.py:3 in double"
    finally:
        os.kill(server, signal.SIGCONT)
    assert shell.answer("--status")["pid"] == server


def test_two_projects_have_servers_and_programs_of_their_own(
    shell: Shell, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shell.answer("debug_launch", "program=app.py", 'breakpoints=[{"file": "app.py", "line": 2}]')
    with shell_in(tmp_path_factory.mktemp("other")) as other:
        assert other.answer("debug_state")["state"] == "Disconnected"
        assert other.answer("--end")["ended"]
    assert shell.answer("debug_state")["at"] == "app.py:2 in double"


def test_a_call_from_another_environment_says_on_what_the_server_runs(shell: Shell) -> None:
    shell.answer("debug_launch", "program=app.py")
    place = Place.of(str(shell.project))
    place.write_record({**(place.record() or {}), "python": "/other/bin/python"})
    done = shell.run("debug_step")
    assert done.returncode == 0
    assert "The kept server runs on /other/bin/python, this command on " in done.stderr

    place.write_record({**(place.record() or {}), "python": sys.executable, "environment": "/other"})
    done = shell.run("debug_step")
    assert "The kept server was started with /other active, this call with " in done.stderr


def test_a_call_for_once_says_that_the_server_was_started_otherwise(shell: Shell) -> None:
    shell.answer("debug_state")
    assert (
        "was started without --once, and stays when its last program ends" in shell.run("--once", "debug_state").stderr
    )
    assert shell.answer("--end")["ended"]
    shell.answer("--once", "debug_launch", "program=app.py")
    assert shell.run("--once", "debug_state").stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--status", "--once"), "--once is for a call that starts the server: leave it out."),
        (("--stop", "--json"), "--stop and --stops print lines: leave --json and --text out."),
        (("--stops", "--text"), "--stop and --stops print lines: leave --json and --text out."),
    ],
)
def test_an_option_of_a_call_that_would_have_no_effect_is_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["call", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_path_is_one_that_the_shell_sees(shell: Shell) -> None:
    (shell.project / "src").mkdir()
    (shell.project / "src" / "tool.py").write_text(PROGRAM)
    stop = shell.answer("debug_launch", "program=tool.py", cwd=shell.project / "src")
    assert stop["at"] == "src/tool.py:1 in <module>"


def test_a_server_for_once_ends_with_its_last_program(shell: Shell) -> None:
    shell.answer("--once", "debug_launch", "program=app.py")
    server = os.pidfd_open(shell.answer("--status")["pid"])
    assert shell.answer("debug_continue")["state"] == "Disconnected"
    assert select.select([server], [], [], BOUND_SECONDS)[0] == [server]
    os.close(server)
    assert shell.answer("--status") == {"kept": False, "project": str(shell.project)}


def test_errors_have_a_sentence_and_a_code(shared: Shell) -> None:
    assert shared.error() == (2, "Name a tool; --list shows them, --help how it is done.")
    code, sentence = shared.error("debug_step", "mode")
    assert code == 2
    assert sentence == (
        "'mode' is not an argument: write KEY=VALUE, or all of them as an object in JSON. "
        "`trio-debugmcp call --list TOOL` has the keys."
    )
    assert shared.error("--project", "/nowhere", "debug_state") == (2, "/nowhere is not a directory.")


STEPP = "There is no tool 'debug_stepp'. Do you mean debug_step or debug_state or debug_listen? --list shows them."


@pytest.mark.parametrize("words", [("debug_stepp",), ("debug_stepp", "mode=in"), ("--list", "debug_stepp")])
def test_no_server_is_started_for_a_tool_that_there_is_not(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell.error(*words) == (5, STEPP)
    assert shell.answer("--status") == {"kept": False, "project": str(shell.project)}


@pytest.mark.parametrize("words", [("debug_stepp",), ("debug_stepp", "mode=in"), ("--list", "debug_stepp")])
def test_a_server_that_runs_is_asked_whether_it_has_a_tool_that_this_version_has_not(
    shared: Shell, words: tuple[str, ...]
) -> None:
    assert "state" in shared.answer("debug_state")
    assert shared.error(*words) == (5, STEPP)


def test_a_second_server_for_a_project_is_refused_with_one_sentence(shared: Shell) -> None:
    done = shared.command(own_command("serve", "--kept", str(shared.project)))
    by_hand = f"or with kill {shared.answer('--status')['pid']} if that does not find it"
    sentence = f"a server is kept for {shared.project} already: end it with trio-debugmcp call --end, {by_hand}"
    assert (done.returncode, done.stderr) == (1, f"trio-debugmcp serve: {sentence}\n")


def test_a_server_in_another_pid_namespace_is_not_ended_by_its_number(
    shared: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pid = shared.answer("--status")["pid"]
    monkeypatch.setattr(socket.socket, "getsockopt", lambda *_: struct.pack("3i", 0, 0, 0))  # what Linux says there
    assert main(["call", "--project", str(shared.project), "--end"]) == 1
    assert "runs in another PID namespace" in capsys.readouterr().err
    assert shared.answer("--status")["pid"] == pid


def test_a_server_whose_socket_was_removed_is_still_kept(shared: Shell) -> None:
    pid = shared.answer("--status")["pid"]
    socket_file = Path(Place.of(str(shared.project)).socket)
    away = socket_file.with_name("away")
    socket_file.rename(away)
    status = shared.answer("--status")
    assert (status["kept"], status["reachable"]) == (True, False)
    assert f"kill {pid} ends it" in status["problem"]
    assert shared.error("--end") == (1, status["problem"])
    away.rename(socket_file)
    assert shared.answer("--status")["pid"] == pid


def test_ctrl_c_ends_a_call_and_what_it_waits_for(shell: Shell) -> None:
    shell.answer("debug_launch", "code=import time; time.sleep(600)", "stop_at_entry=false", "wait=false")
    with subprocess.Popen(
        own_command("call", "debug_wait", "timeout=600"),
        cwd=shell.project,
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as waiting:
        while not any("debug_wait" in event for event in shell.answer("timeline_query")["events"]):
            pass
        waiting.send_signal(signal.SIGINT)
        said, errors = waiting.communicate(timeout=BOUND_SECONDS)
    assert (waiting.returncode, said, errors) == (130, "", "")
    while not any(
        "debug_wait" in event and "cancel" in event.lower() for event in shell.answer("timeline_query")["events"]
    ):
        pass
    assert shell.answer("debug_state")["state"] == "Running"


def test_a_terminal_with_few_characters_gets_the_others_as_escapes(shell: Shell) -> None:
    (shell.project / "sign.py").write_text("sign = '\u2192\U0001f600'\nprint(1)\n", encoding="utf-8")
    shell.answer("debug_launch", "program=sign.py", 'breakpoints=["sign.py:2"]')
    shell.environment |= {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    for options in ((), ("--json",)):
        done = shell.run("evaluate", "expression=sign", *options)
        assert (done.returncode, json.loads(done.stdout)) == (0, {"value": "'\u2192\U0001f600'"})
    failed = shell.run("evaluate", "expression=sign + 1")
    assert failed.returncode == 5
    assert "TypeError" in json.loads(failed.stderr)["error"]["message"]


def test_a_removed_directory_and_a_closed_input_have_a_sentence(shared: Shell) -> None:
    assert shared.error("debug_state", "--end") == (
        2,
        "Of the options only --list takes a further word, the name of a tool.",
    )
    (shared.project / "gone").mkdir()
    script = 'rmdir ../gone; exec "$@"'
    done = shared.command(["sh", "-c", script, "sh", *own_command("call", "--status")], cwd=shared.project / "gone")
    assert (done.returncode, "The current directory was removed" in done.stderr) == (2, True)
    done = shared.command(["sh", "-c", 'exec "$@" <&-', "sh", *own_command("call", "evaluate", "expression=-")])
    assert (done.returncode, "standard input cannot be read: it is closed." in done.stderr) == (2, True)


def test_tools_and_their_parameters_are_listed(shared: Shell) -> None:
    assert shared.answer("--list")["debug_launch"].startswith("Run a program under the debugger")
    step = shared.answer("--list", "debug_step")["parameters"]
    assert set(step) >= {"mode", "count", "thread_id", "granularity", "session_id"}
    assert [name for name, schema in step.items() if "description" not in schema] == []
    assert "unlisted" not in step["mode"]
    assert step["granularity"]["unlisted"] is step["session_id"]["unlisted"] is True
    said = shared.run("--list", "--text", "breakpoint_set_exception").stdout
    assert "\n  exception_type = text, required. Short or full name; `*`: all.\n" in said
    assert "\n  break_on_first_chance = true or false, default true. Where it is raised, even if" in said
    assert "\n  include_subtypes = true or false, not listed for agents. " in said


def test_a_person_may_watch_what_a_shell_does(shell: Shell) -> None:
    shell.answer("debug_launch", "program=app.py")
    read = own_command("inspect", "--kept", "--method", "resources/read", "--uri", "debugger://session")
    done = subprocess.run(
        [*read, "--format", "json"],
        cwd=shell.project,
        env=shell.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '\\"state\\":\\"Paused\\"' in done.stdout.replace(" ", "")
    shell.answer("--end")
    done = shell.command(read)
    assert done.returncode == 4
    assert f"no server is kept for {shell.project}: a `trio-debugmcp call` starts one" in done.stderr
