"""What `inspect` and `watch` have in common: usage errors, unreachable servers, options of the connection, help."""

import argparse
import os
import sys

import pytest

from tests.cli.shell import SERVER, Shell
from trio_debugmcp.cli import inspect
from trio_debugmcp.cli._target import client_options

pytestmark = pytest.mark.real


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


def test_a_terminal_gets_colours(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    shell("inspect", *SERVER)
    assert shell.code == 0
    assert "\x1b[" in shell.out
    shell("watch", "--count", "1", "--timeout", "20", *SERVER)
    assert "resourceUpdated" in shell.out
    assert not shell.out.startswith("{"), "text is the default on a terminal"
