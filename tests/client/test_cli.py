"""`inspect` and `watch` as a shell sees them: arguments, output, exit codes.

The server is a process, hence the real clock.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from trio_debugmcp.cli import inspect, watch
from trio_debugmcp.cli._target import client_options
from trio_debugmcp.cli.watch import divide

pytestmark = pytest.mark.real

ROOT = Path(__file__).parent.parent.parent
SERVER = ["--", sys.executable, str(Path(__file__).parent / "tiny_server.py")]


def main(*argv: str) -> int:
    parser = argparse.ArgumentParser(prog="trio-debugmcp")
    commands = parser.add_subparsers()
    inspect.add_parser(commands)
    watch.add_parser(commands)
    try:
        args = parser.parse_args(argv)
    except SystemExit as exit_:
        return int(exit_.code or 0)
    return int(args.run(args))


class Shell:
    """Runs a command and keeps what it wrote."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code = 0
        self.out = ""
        self.err = ""

    def __call__(self, *argv: str) -> Shell:
        self.code = main(*argv)
        self.out, self.err = self._capsys.readouterr()
        return self

    @property
    def result(self) -> Any:
        assert self.code == 0, self.err
        (line,) = self.out.splitlines()
        return json.loads(line)["result"]

    @property
    def error(self) -> dict[str, Any]:
        (line,) = self.err.splitlines()
        error: dict[str, Any] = json.loads(line)["error"]
        return error

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


def inspected(shell: Shell, method: str, *options: str) -> Any:
    return shell("inspect", "--method", method, "--format", "json", *options, *SERVER).result


def test_without_a_method_it_shows_the_server(shell: Shell) -> None:
    shell("inspect", *SERVER)
    assert shell.code == 0
    shown = json.loads(shell.out)
    assert shown["serverInfo"] == {"name": "tiny", "version": "1"}
    assert shown["protocolVersion"] == "2025-11-25"
    assert shown["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert shown["instructions"] is None
    assert "\n  " in shell.out, "indented, for people"
    assert "\x1b" not in shell.out, "no colours in a pipe"


@pytest.mark.parametrize(
    ("method", "options", "result"),
    [
        ("ping", [], {}),
        ("logging/setLevel", ["--log-level", "debug"], {}),
        ("resources/subscribe", ["--uri", "demo://counter"], {}),
        ("resources/list", [], {"resources": [{"uri": "demo://counter", "name": "demo://counter"}]}),
        (
            "resources/templates/list",
            [],
            {"resourceTemplates": [{"uriTemplate": "demo://{name}", "name": "any"}]},
        ),
        (
            "resources/read",
            ["--uri", "demo://counter"],
            {"contents": [{"uri": "demo://counter", "text": "read 1"}]},
        ),
        (
            "resources/read",
            ["--template", "demo://{name}", "--args", "name=counter"],
            {"contents": [{"uri": "demo://counter", "text": "read 1"}]},
        ),
        (
            "completion/complete",
            ["--prompt-name", "greet", "--args", "lang=en", "who=w"],
            {"completion": {"values": ["{'arguments': {'lang': 'en'}}", "w"]}},
        ),
    ],
)
def test_each_method_prints_its_result_as_one_line(method: str, options: list[str], result: Any, shell: Shell) -> None:
    assert inspected(shell, method, *options) == result


def test_a_prompt_gets_its_arguments(shell: Shell) -> None:
    got = inspected(shell, "prompts/get", "--prompt-name", "greet", "--prompt-args", "who=a=b")
    assert got["messages"][0]["content"]["text"] == "{'who': 'a=b'}"


def test_tool_arguments_are_typed_by_the_schema_or_read_as_json(shell: Shell) -> None:
    added = inspected(shell, "tools/call", "--tool-name", "add", "--tool-arg", "a=2", "b=3")
    assert added["content"][0]["text"] == "5"
    echoed = inspected(
        shell,
        "tools/call",
        "--tool-name",
        "echo",
        "--tool-arg",
        "n=null",
        "s=ä=b",
        "l=[1]",
        "--metadata",
        "k=v",
    )
    said = json.loads(echoed["content"][0]["text"])
    assert said["arguments"] == {"n": None, "s": "ä=b", "l": [1]}
    assert said["meta"]["k"] == "v"
    literal = inspected(shell, "tools/call", "--tool-name", "echo", "--tool-args-json", '{"n": "2"}')
    assert json.loads(literal["content"][0]["text"])["arguments"] == {"n": "2"}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["inspect"], "name a server"),
        (["inspect", "--method", "nonsense", *SERVER], "invalid choice: 'nonsense'"),
        (["inspect", "--method", "tools/call", *SERVER], "needs --tool-name"),
        (["inspect", "--method", "resources/read", *SERVER], "either --uri or --template"),
        (["inspect", "--method", "logging/setLevel", *SERVER], "needs --log-level"),
        (["inspect", "--method", "prompts/get", *SERVER], "needs --prompt-name"),
        (["inspect", "--method", "completion/complete", *SERVER], "either --prompt-name or --template"),
        (["inspect", "--tool-arg", "novalue", *SERVER], "--tool-arg wants NAME=VALUE"),
        (["inspect", "--header", "nocolon", "http://127.0.0.1:1/"], "--header wants NAME:VALUE"),
        (["inspect", "http://127.0.0.1:1/", "more"], "unexpected after the URL"),
        (
            ["inspect", "--method", "tools/call", "--tool-name", "add", "--tool-args-json", "[1]", *SERVER],
            "must be an object",
        ),
        (["watch"], "name a server"),
        (["watch", "--count", "many"], "invalid int value"),
    ],
)
def test_wrong_use_ends_with_1_and_says_what_is_wrong(argv: list[str], said: str, shell: Shell) -> None:
    shell(*argv)
    assert shell.code == 1
    assert said in shell.error["message"]
    assert shell.error["code"] == "usage"
    assert shell.out == ""


@pytest.mark.parametrize("target", [["http://127.0.0.1:1/mcp"], ["--", "no-such-server"], ["--", "false"]])
@pytest.mark.parametrize("command", ["inspect", "watch"])
def test_a_server_that_cannot_be_reached_ends_with_4(command: str, target: list[str], shell: Shell) -> None:
    assert shell(command, *target).code == 4
    assert shell.error["code"] == "unreachable"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--method", "tools/call", "--tool-name", "nope"], "tool_not_found"),
        (["--method", "prompts/get", "--prompt-name", "nope"], "prompt_not_found"),
        (["--method", "resources/read", "--uri", "demo://nope"], "not_found"),
        (["--method", "tools/call", "--tool-name", "fail"], "tool_is_error"),
    ],
)
def test_a_tool_error_and_what_is_not_found_end_with_5(options: list[str], code: str, shell: Shell) -> None:
    assert shell("inspect", *options, *SERVER).code == 5
    assert shell.error["code"] == code


def test_the_options_of_the_connection_reach_the_client() -> None:
    parser = argparse.ArgumentParser()
    inspect.add_parser(parser.add_subparsers())
    words = [
        "--header",
        "Authorization: Bearer a:b",
        "--env",
        "K=V=W",
        "--cwd",
        "/x",
        "--era",
        "legacy",
        "http://h/",
    ]
    options = client_options(parser.parse_args(["inspect", *words]))
    assert options.headers == {"Authorization": "Bearer a:b"}
    assert options.env == {**os.environ, "K": "V=W"}
    assert (options.cwd, options.mode) == ("/x", "legacy")


@pytest.mark.parametrize("command", ["inspect", "watch"])
def test_help_has_examples(command: str, shell: Shell) -> None:
    assert shell(command, "--help").code == 0
    assert "examples:" in shell.out
    assert f"trio-debugmcp {command} " in shell.out


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


def test_watch_in_text_is_a_line_for_people(shell: Shell) -> None:
    shell("watch", "--format", "text", "--count", "1", "--timeout", "20", *SERVER)
    words = shell.out.split()
    assert words[1:] == ["resourceUpdated", "demo://counter"]


def test_watch_ends_in_time_and_a_count_that_was_not_reached_is_a_failure(shell: Shell) -> None:
    assert shell("watch", "--lists", "--timeout", "1", *SERVER).code == 0
    assert shell.out == ""
    assert shell("watch", "--lists", "--timeout", "1", "--count", "1", *SERVER).code == 1
    assert shell.error["code"] == "timeout"


def test_watching_a_server_that_goes_away_ends_with_4(shell: Shell) -> None:
    dying = "import os, runpy, sys, threading\nthreading.Timer(1, os._exit, [3]).start()\nrunpy.run_path(sys.argv[1])"
    shell("watch", "--lists", "--", sys.executable, "-c", dying, SERVER[-1])
    assert shell.code == 4
    assert "exit code 3" in shell.error["message"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_watch_well(number: signal.Signals, shell: Shell) -> None:
    threading.Timer(0.5, os.kill, [os.getpid(), number]).start()
    assert shell("watch", "--lists", *SERVER).code == 0
    assert shell.err == ""


def test_a_reader_that_has_seen_enough_ends_watch_well() -> None:
    program = "import sys; from tests.client.test_cli import main; sys.exit(main(*sys.argv[1:]))"
    words = [sys.executable, "-c", program, "watch", "--read", "--timeout", "20", *SERVER]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert b"resourceUpdated" in watching.stdout.readline()
        watching.stdout.close()
        assert watching.stderr.read() == b""
        assert watching.wait(20) == 0


def test_a_terminal_gets_colours(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shell("inspect", *SERVER)
    assert shell.code == 0
    assert "\x1b[" in shell.out
    shell("watch", "--count", "1", "--timeout", "20", *SERVER)
    assert "resourceUpdated" in shell.out
    assert not shell.out.startswith("{"), "text is the default on a terminal"
