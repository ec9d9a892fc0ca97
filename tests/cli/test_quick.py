"""`inspect` without the SDK: the same results, and the client for everything that is out of the ordinary."""

import argparse
import subprocess
import sys
from typing import Any

import pytest
import trio

from tests.cli.shell import SERVER, Shell
from trio_debugmcp.cli import inspect
from trio_debugmcp.cli._output import plain

pytestmark = pytest.mark.real


def parsed(*words: str) -> argparse.Namespace:
    commands = argparse.ArgumentParser().add_subparsers()
    inspect.add_parser(commands)
    found: argparse.Namespace = commands.choices["inspect"].get_default("parse")(list(words))
    return found


def test_a_tool_has_longer_than_its_own_limit_is() -> None:
    call = ("--method", "tools/call", "--tool-name", "slow")
    limits = [inspect.time_limit(parsed(*words)) for words in (call, (*call, "--timeout", "5"), ("--method", "ping"))]
    assert limits == [60, 5, 30]


def both(*words: str) -> tuple[Any, Any]:
    """What the quick way and the client say."""
    args = parsed(*words)

    async def ask() -> tuple[Any, Any]:
        with trio.fail_after(120):
            return await inspect.ask_quickly(args), plain(await inspect.ask(args))

    return trio.run(ask)


METHODS = [
    ["--method", "initialize"],
    ["--method", "ping"],
    ["--method", "tools/list"],
    ["--method", "resources/list"],
    ["--method", "resources/templates/list"],
    ["--method", "resources/read", "--uri", "demo://counter"],
]


@pytest.mark.parametrize("words", METHODS, ids=lambda words: words[1])
@pytest.mark.parametrize("flag", ["--legacy", "--modern"])
def test_the_quick_way_says_what_the_client_says(words: list[str], flag: str) -> None:
    quick, full = both(*words, *SERVER, flag)
    assert quick == full
    assert quick is not None


@pytest.mark.parametrize("flags", [["--paged"], ["--bare"], ["--curious"], ["--paged", "--curious", "--modern"]])
def test_pages_missing_capabilities_and_requests_of_the_server_change_nothing(flags: list[str]) -> None:
    for method in ("tools/list", "resources/list"):
        quick, full = both("--method", method, *SERVER, *flags)
        assert quick == full
        assert quick is not None


@pytest.mark.parametrize(
    "words",
    [
        ["--method", "prompts/list", *SERVER],  # one is malformed
        ["--method", "tools/list", *SERVER, "--endless"],
        ["--method", "resources/read", "--uri", "demo://void", *SERVER],
        ["--method", "ping", "--era", "modern", *SERVER],
        ["--method", "ping", "--", sys.executable, "-c", "print('no JSON-RPC')"],
        ["--method", "ping", "--", sys.executable, "-c", "raise SystemExit(3)"],
        ["--method", "ping", "--", "no-such-server"],
        ["--method", "ping", "http://127.0.0.1:1/mcp"],
        ["--method", "ping", "--metadata", "k=v", *SERVER],
        ["--method", "tools/call", "--tool-name", "add", "--metadata", "k=v", *SERVER],
        ["--method", "tools/call", "--tool-name", "add", *SERVER, "--endless"],
        ["--method", "tools/call", "--tool-name", "add", "--", "false"],
        ["--method", "tools/call", "--tool-name", "add", "--", "no-such-server"],
    ],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_client(words: list[str]) -> None:
    assert trio.run(inspect.ask_quickly, parsed(*words)) is None


def test_a_server_that_answers_nothing_is_not_asked_a_second_time(shell: Shell) -> None:
    assert shell("inspect", "--timeout", "1", "--method", "ping", *SERVER, "--silent").code == 1
    assert shell.error["message"] == "ping: no answer within 1 s"
    silent = [sys.executable, "-c", "import sys, time; print('why', file=sys.stderr); time.sleep(60)"]
    assert shell("inspect", "--timeout", "1", "--era", "legacy", "--", *silent).code == 4
    assert shell.error["message"].startswith("Cannot connect: no handshake within 1 s\nwhy")
    limits = ("--timeout", "600", "--connect-timeout", "1")
    for method in (
        ("--method", "ping"),
        ("--method", "tools/call", "--tool-name", "x"),
        ("--method", "ping", "--root", "x=/"),
    ):
        assert shell("inspect", *limits, *method, "--era", "legacy", "--", *silent).code == 4
        assert "no handshake within 1 s" in shell.error["message"]


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["tools/list"], '{"result":{"tools":['),
        (["tools/call", "--tool-name", "loose", "--tool-arg", "n=1"], '{"result":{"content":[]'),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_the_quick_way_does_not_load_the_sdk(words: list[str], begins: str) -> None:
    script = "import sys; from trio_debugmcp.cli import main; code = main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", script, "inspect", "--format", "json", "--method", *words, *SERVER]
    out = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    result, loaded = out.splitlines()
    assert result.startswith(begins)
    assert not {"mcp", "mcp_types", "pydantic", "httpx2", "trio_debugmcp.client"} & set(loaded.split())
