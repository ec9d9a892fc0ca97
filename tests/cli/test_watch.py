"""`watch`: a line per change, and the ways to end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.shell import SERVER, Shell
from trio_debugmcp.cli.watch import divide

pytestmark = pytest.mark.real

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("words", "target", "uris"),
    [
        (["http://x/mcp", "demo://a"], ["http://x/mcp"], ["demo://a"]),
        (["demo://a", "node", "x.js", "--y"], ["node", "x.js", "--y"], ["demo://a"]),
        (["node", "x.js", "demo://a", "demo://b"], ["node", "x.js"], ["demo://a", "demo://b"]),
        (["node", "x.js"], ["node", "x.js"], []),
        (["demo://a"], [], ["demo://a"]),
        ([], [], []),
    ],
)
def test_the_words_of_watch_are_a_target_and_uris(words: list[str], target: list[str], uris: list[str]) -> None:
    assert divide(words) == (target, uris)


def test_watch_prints_a_line_per_update_with_what_was_read_and_ends_at_the_count(shell: Shell) -> None:
    shell("watch", "--read", "--count", "3", "--timeout", "20", "demo://counter", *SERVER)
    assert shell.code == 0, shell.err
    assert [(line["kind"], line["uri"]) for line in shell.lines] == [("resourceUpdated", "demo://counter")] * 3
    assert [line["contents"][0]["text"] for line in shell.lines] == ["read 1", "read 2", "read 3"]
    assert all({"seq", "time", "cause"} <= line.keys() for line in shell.lines)


def test_watch_without_uris_watches_what_is_listed(shell: Shell) -> None:
    shell("watch", "--count", "1", "--timeout", "20", *SERVER)
    assert [line["uri"] for line in shell.lines] == ["demo://counter"]
    assert "contents" not in shell.lines[0]


def test_text_is_a_line_with_time_kind_and_uri(shell: Shell) -> None:
    shell("watch", "--format", "text", "--count", "1", "--timeout", "20", *SERVER)
    words = shell.out.split()
    assert words[1:] == ["resourceUpdated", "demo://counter"]


def test_watch_ends_in_time_and_a_count_that_was_not_reached_is_a_failure(shell: Shell) -> None:
    assert shell("watch", "--timeout", "1", "demo://still", *SERVER).code == 0
    assert shell.out == ""
    assert shell("watch", "--timeout", "1", "--count", "1", "demo://still", *SERVER).code == 1
    assert shell.error["code"] == "timeout"


def test_a_uri_that_is_not_listed_is_named_once_and_waited_for(shell: Shell) -> None:
    assert shell("watch", "--count", "1", "--timeout", "20", "other://still", "demo://counter", *SERVER).code == 0
    warnings = [line for line in shell.err.splitlines() if "warning" in line]
    assert warnings == ['{"warning":{"message":"other://still is not listed now; waiting for it"}}']


def test_lists_are_watched_beside_the_resources_not_instead(shell: Shell) -> None:
    shell("watch", "--lists", "--count", "1", "--timeout", "20", *SERVER)
    assert [line["uri"] for line in shell.lines] == ["demo://counter"]


@pytest.mark.parametrize(
    ("options", "code"), [([], "not_supported"), (["--lists"], "not_supported"), (["--lists", "--grows"], "timeout")]
)
def test_a_server_that_reports_nothing_is_not_watched_in_silence(options: list[str], code: str, shell: Shell) -> None:
    """`--grows` is the server's: it declares that its list of tools may change."""
    grows = [option for option in options if option == "--grows"]
    lists = [option for option in options if option == "--lists"]
    shell("watch", *lists, "--timeout", "1", "--count", "1", *SERVER, "--bare", *grows)
    assert shell.code == 1
    assert shell.error["code"] == code


def test_a_server_that_ends_while_it_is_watched_ends_with_4(shell: Shell) -> None:
    dying = "import os, runpy, sys, threading\nthreading.Timer(1, os._exit, [3]).start()\nrunpy.run_path(sys.argv[1])"
    shell("watch", "--lists", "--", sys.executable, "-c", dying, SERVER[-1])
    assert shell.code == 4
    assert "exit code 3" in shell.error["message"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_watch_with_exit_code_0(number: signal.Signals, shell: Shell) -> None:
    threading.Timer(0.5, os.kill, [os.getpid(), number]).start()
    assert shell("watch", "--lists", *SERVER).code == 0
    assert shell.err == ""


def test_a_closed_output_pipe_ends_watch_with_exit_code_0() -> None:
    program = "import sys; from tests.cli.shell import main; sys.exit(main(*sys.argv[1:]))"
    words = [sys.executable, "-c", program, "watch", "--read", "--timeout", "100", *SERVER]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert b"resourceUpdated" in watching.stdout.readline()
        watching.stdout.close()
        assert watching.stderr.read() == b""
        assert watching.wait(90) == 0


def test_watch_reconnects_and_reports_both_ends_of_the_gap(shell: Shell, tmp_path: Path) -> None:
    """The first process dies while it is read; what it has is then reported as changed."""
    started = tmp_path / "started"
    script = tmp_path / "server.py"
    lines = (
        "import os, pathlib",
        f"started, text = pathlib.Path({str(started)!r}), pathlib.Path({SERVER[-1]!r}).read_text()",
        "fatal = '' if started.exists() else 'import os; os._exit(3)'",
        "started.touch()",
        "exec(text.replace('READS[uri] += 1', fatal or 'READS[uri] += 1'))",
    )
    script.write_text("\n".join(lines))
    server = ["--", sys.executable, str(script)]
    shell("watch", "--reconnect", "--read", "--count", "2", "--timeout", "100", "demo://counter", *server)
    assert shell.code == 0, shell.err
    assert [line["kind"] for line in shell.lines] == ["resourceUpdated", "disconnect", "connect", "resourceUpdated"]
    lost, gone, _, again = shell.lines
    assert "exit code 3" in lost["error"]["message"]
    assert gone["reason"] == "the server closed the connection"
    assert again["cause"] == "resync"
    assert again["contents"][0]["text"] == "read 1"
