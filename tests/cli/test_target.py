"""What `inspect` and `watch` have in common: usage errors, unreachable servers, options of the connection, help."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_args

import pytest
from mcp.types import LoggingLevel

from tests.cli.shell import SERVER, Shell
from trio_debugmcp.cli import inspect, watch
from trio_debugmcp.cli._target import client_options, tool_failure


@pytest.mark.real
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
        (["inspect", "http://[::1"], "is not a URL"),
        (["watch"], "name a server"),
        (["watch", "--count", "many"], "wants a whole number from 1, not 'many'"),
        (["watch", "--count", "0", *SERVER], "wants a whole number from 1, not '0'"),
        (["watch", "--count", "-1", *SERVER], "--count"),
        (["watch", "--timeout", "0", *SERVER], "a number of seconds above 0, not '0'"),
        (["inspect", "--timeout", "nan", *SERVER], "a number of seconds above 0, not 'nan'"),
        (["inspect", "--timeout=-5", *SERVER], "a number of seconds above 0, not '-5'"),
        (["inspect", "--method", "logging/setLevel", "--log-level", "loud", *SERVER], "invalid choice: 'loud'"),
        (["inspect", "--bad-option", *SERVER], "unrecognized: --bad-option"),
        (["inspect", "--tool-arg", "a=1", *SERVER], "initialize takes no --tool-arg: that is for --method tools/call"),
        (
            ["inspect", "--method", "ping", "--args", "a=1", *SERVER],
            "ping takes no --args: that is for --method prompts/",
        ),
        (["inspect", "--method", "tools/list", "--uri", "a:b", *SERVER], "tools/list takes no --uri: that is for"),
        (["inspect", "--method", "ping", "--page", *SERVER], "ping takes no --page: that is for --method"),
        (["inspect", "--env", "A=1", "http://127.0.0.1:1/"], "--env is for a command, and the server is a URL"),
        (["watch", "http://127.0.0.1:1/", "--cwd", "/"], "--cwd is for a command, and the server is a URL"),
        (["watch", "--header", "A: b", *SERVER], "--header is for a URL, and the server is a command"),
        (["inspect", "--auth", "off", *SERVER], "--auth is for a URL, and the server is a command"),
        (["inspect", "--input", "a=b", *SERVER], "--input is for a server of an mcp.json"),
        (["inspect", "my-server", "--foo"], "unrecognized: --foo; the options of a server command stand after --"),
        (["watch", "http://127.0.0.1:1/", "--foo", "demo://a"], "unrecognized: --foo"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_is_wrong(argv: list[str], said: str, shell: Shell) -> None:
    shell(*argv)
    assert shell.code == 2
    assert said in shell.error["message"]
    assert shell.error["code"] == "usage"
    assert shell.out == ""


@pytest.mark.real
@pytest.mark.parametrize("target", [["http://127.0.0.1:1/mcp"], ["--", "no-such-server"], ["--", "false"]])
@pytest.mark.parametrize("command", ["inspect", "watch"])
def test_a_server_that_cannot_be_reached_ends_with_4(command: str, target: list[str], shell: Shell) -> None:
    assert shell(command, *target).code == 4
    assert shell.error["code"] == "unreachable"


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


def _parsed(command: Any, *words: str) -> argparse.Namespace:
    commands = argparse.ArgumentParser(prog="trio-debugmcp").add_subparsers()
    command.add_parser(commands)
    (parser,) = commands.choices.values()
    parsed: argparse.Namespace = parser.get_default("parse")(list(words))
    return parsed


@pytest.mark.parametrize("command", [inspect, watch])
def test_the_examples_of_the_help_can_be_copied(command: Any, shell: Shell) -> None:
    name = command.__name__.rpartition(".")[2]
    assert shell(name, "--help").code == 0
    examples = [line.strip() for line in command.EXAMPLES.splitlines() if line.startswith("  trio-debugmcp ")]
    assert len(examples) >= 5
    for example in examples:
        assert f"\n  {example}\n" in shell.out, "in one line, as it was written"
        _, _, *words = shlex.split(example.partition(" | ")[0])
        parsed = _parsed(command, *words)
        assert parsed.words or parsed.server, "the parser accepts it, and finds a server"


@pytest.mark.parametrize(
    "words",
    [
        ["--tool-arg", "a=2", "b=http://x/", "http://h/mcp"],
        ["--tool-arg", "a=2", "b=http://x/", "--", "http://h/mcp"],
        ["http://h/mcp", "--tool-arg", "a=2", "b=http://x/"],
        ["--tool-arg", "a=2", "--timeout", "3", "http://h/mcp", "--tool-arg", "b=http://x/"],
    ],
)
def test_a_url_is_found_wherever_it_stands(words: list[str]) -> None:
    parsed = _parsed(inspect, "--method", "tools/call", "--tool-name", "t", *words)
    assert (parsed.words, parsed.tool_arg) == (["http://h/mcp"], ["a=2", "b=http://x/"])


@pytest.mark.parametrize("option", ["--tool-arg", "--args", "--prompt-args", "--metadata"])
def test_no_option_with_several_words_takes_the_url(option: str) -> None:
    assert _parsed(inspect, option, "a=2", "ws://h/mcp").words == ["ws://h/mcp"]


def test_options_may_stand_between_the_words_of_watch() -> None:
    parsed = _parsed(watch, "http://h/mcp", "--lists", "demo://a", "--timeout", "5")
    assert (parsed.words, parsed.lists, parsed.timeout) == (["http://h/mcp", "demo://a"], True, 5)
    parsed = _parsed(watch, "demo://a", "--timeout", "5", "--", "server", "--lists", "--", "x")
    assert (parsed.words, parsed.lists) == (["demo://a", "server", "--lists", "--", "x"], False)


def test_the_log_levels_are_those_of_the_protocol() -> None:
    assert set(inspect.LOG_LEVELS) == set(get_args(LoggingLevel))


@pytest.mark.real
def test_ctrl_c_while_the_program_is_imported_leaves_no_traceback() -> None:
    words = [sys.executable, "-X", "importtime", "-m", "trio_debugmcp", "inspect", *SERVER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as starting:
        assert starting.stderr is not None
        for line in starting.stderr:
            if line.rstrip().endswith(" trio_debugmcp.cli._target"):  # `inspect` imports others after it
                starting.send_signal(signal.SIGINT)
                break
        assert "Traceback" not in starting.stderr.read()
        assert starting.wait(20) == 130


@pytest.mark.real
def test_a_terminal_gets_colours(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shell("inspect", *SERVER)
    assert shell.code == 0
    assert "\x1b[" in shell.out
    shell("watch", "--count", "1", "--timeout", "20", *SERVER)
    assert "resourceUpdated" in shell.out
    assert not shell.out.startswith("{"), "text is the default on a terminal"


@pytest.fixture
def guarded() -> Iterator[str]:
    """The address of a server that answers everything with 401."""

    class Guard(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(401)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", "23")
            self.end_headers()
            self.wfile.write(b"a valid token is needed")

        do_GET = do_POST = refuse  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Guard) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.real
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_denied_access_ends_with_3_and_says_who_denied_it_and_what_to_do(
    scheme: str, guarded: str, shell: Shell
) -> None:
    for words in ([], ["--header", "Authorization: Bearer wrong"]):
        assert shell("inspect", f"{scheme}://{guarded}/mcp", *words).code == 3, shell.error
        assert shell.error["code"] == "unauthorized"
        message = shell.error["message"]
        assert f"{scheme}://{guarded}/mcp" in message
        assert "Authorization: Bearer TOKEN" in message
        if words or scheme == "ws":  # else OAuth is tried, and would ask a person
            assert "answered with HTTP 401 Unauthorized (a valid token is needed)" in message
            assert ("not accepted" if words else "no token was given") in message
        assert "content-" not in message


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Unknown tool: x_1", "tool_not_found"),
        ('unknown tool "x_1"', "tool_not_found"),
        ("MCP error -32602: Tool x_1 not found", "tool_not_found"),
        ('{"error": {"message": "There is no tool \'x_1\'. Tools: a"}}', "tool_not_found"),
        ("tool 'x_1' not found: tool not found", "tool_not_found"),
        ("There is no tool 'x_10'", "tool_is_error"),
        ("READ_ONLY: observers do not call x_1", "tool_is_error"),
        ("x_1: file not found", "tool_is_error"),
    ],
)
def test_only_the_servers_words_say_that_it_does_not_know_a_tool(said: str, code: str) -> None:
    assert tool_failure("x_1", said).code == code
