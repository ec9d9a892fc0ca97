"""`inspect --method tools/call` without the SDK: as with the client, and never a call too many."""

import argparse
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.cli.shell import SERVER, Shell
from tests.cli.terminal import open_terminal
from tests.cli.test_quick import parsed
from trio_debugmcp.cli import inspect
from trio_debugmcp.cli._output import plain
from trio_debugmcp.cli._target import Failure
from trio_debugmcp.errors import leaf

pytestmark = pytest.mark.real


def outcome(ask: Callable[[argparse.Namespace], Awaitable[Any]], *words: str) -> Any:
    """The result of a call, or how it failed."""
    found: list[Any] = []

    async def run() -> None:
        with trio.fail_after(120):
            found.append(await ask(parsed("--method", "tools/call", *words)))

    try:
        trio.run(run)
    except* Failure as group:
        failed: Any = leaf(group)
        found.append((failed.code, str(failed), failed.exit_code, as_sent(failed.details)))
    return found[0]


def as_sent(details: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(value) for name, value in details.items() if value is not None}


def both(*words: str) -> tuple[Any, Any]:
    """How a call ends the quick way, and with the client."""
    return outcome(inspect.ask_quickly, *words), outcome(inspect.ask, *words)


CALLS = [
    ["add", "--tool-arg", "a=2", "b=3"],
    ["echo", "--tool-args-json", '{"n": "2"}'],
    ["fail"],
    ["hidden", "--tool-arg", "n=1"],
    ["nope"],
    ["loose", "--tool-arg", "n=7"],
    ["loose", "--tool-arg", "n=true"],
    ["broken"],
    ["old"],
    ["ask"],
]


@pytest.mark.parametrize("call", CALLS, ids=lambda words: "-".join(words[0::2]))
@pytest.mark.parametrize("flag", ["--legacy", "--modern"])
def test_a_call_ends_as_with_the_client(call: list[str], flag: str) -> None:
    quick, full = both("--tool-name", *call, *SERVER, flag)
    assert quick is not None
    assert _comparable(quick) == _comparable(full)


def _comparable(ended: Any) -> Any:
    """Without what differs by design: the client's progress token."""
    if isinstance(ended, dict) and ended["content"] and "progressToken" in ended["content"][0]["text"]:
        said = json.loads(ended["content"][0]["text"])
        del said["meta"]
        return said
    return ended


@pytest.mark.parametrize(
    ("tool", "code", "said"),
    [
        ("die", 4, "the server closed the connection (exit code 3)\ncannot go on"),
        ("slow", 1, "tools/call: no answer within 1 s"),
        ("odd", 1, "the answer is not what the protocol says"),
        ("old", 5, "too old"),
        ("loose", 1, "Invalid structured content returned by tool loose"),
        ("ask", 0, ""),
        ("chatty", 0, ""),
    ],
)
@pytest.mark.parametrize("flag", ["--legacy", "--modern"])
def test_whatever_comes_of_a_call_it_is_made_once(
    tool: str, code: int, said: str, flag: str, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    monkeypatch.setenv("CALLS", str(calls))
    shell("inspect", "--timeout", "1", "--method", "tools/call", "--tool-name", tool, *SERVER, flag)
    again = 2 if (tool, flag) == ("ask", "--modern") else 1  # the second call has the answers of the first
    assert (shell.code, calls.read_text().split()) == (code, [tool] * again)
    assert said in (shell.error["message"] if code else shell.err)


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("versions that are a number", 0, ""),
        ("an error that is text", 0, ""),
        ("metadata that is a list", 0, ""),
        ("capabilities that are a list", 4, "Cannot connect"),
        ("properties that are a number", 0, ""),
        ("two questions with one id", 0, ""),
        ("a list as id", 0, "its id is neither a string nor a number"),
        ("a line of brackets", 0, "not a message"),
        ("progress that is none", 0, "was ignored"),
        ("questions that are none", 0, ""),
        ("answers to others", 0, ""),
        ("an error that is null", 0, ""),
        ("half a character", 1, "the answer is not what the protocol says"),
        ("a block of no type", 1, "the answer is not what the protocol says"),
        ("a list as structured content", 1, "the answer is not what the protocol says"),
        ("a regular expression that is none", 1, "Invalid schema for tool t"),
        ("a schema of itself", 1, "Invalid schema for tool t"),
        ("a dialect that is no text", 1, "Invalid schema for tool t"),
    ],
)
def test_no_oddity_of_a_server_ends_in_a_traceback_or_a_second_call(
    how: str, code: int, said: str, shell: Shell
) -> None:
    server = [sys.executable, str(Path(__file__).parent / "odd_server.py"), how]
    call = ["inspect", "--verbose", "--timeout", "5", "--method", "tools/call", "--tool-name", "t", "--tool-arg", "x=1"]
    assert shell(*call, "--", *server).code == code
    assert said in shell.err
    assert shell.err.count("server: called") == (0 if code == 4 else 1)


def test_progress_and_log_messages_are_shown_and_stray_lines_named(shell: Shell) -> None:
    call = ["inspect", "--verbose", "--method", "tools/call", "--tool-name", "chatty", *SERVER]
    assert shell(*call).code == 0
    assert "chatty [########################] 3/3" in shell.err
    assert "[info tiny] busy" in shell.err
    assert "something that is not a message" in shell.err


def test_a_server_that_asks_without_a_terminal_is_declined_and_gets_our_roots(shell: Shell, tmp_path: Path) -> None:
    call = ["inspect", "--verbose", "--method", "tools/call", "--format", "json", "--tool-name", "ask"]
    assert shell(*call, *SERVER).code == 0
    assert json.loads(json.loads(shell.out)["result"]["content"][0]["text"])["answer"] == {"action": "decline"}
    assert "declined elicitation: there is no terminal" in shell.err
    rooted = [sys.executable, "-c", ROOTED]
    assert shell(*call, "--root", str(tmp_path), "--", *rooted).code == 0
    assert (
        json.loads(shell.out)["result"]["content"][0]["text"]
        == f"[{{'uri': '{tmp_path.as_uri()}', 'name': '{tmp_path.name}'}}]"
    )


ROOTED = """
import json
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def read(): return json.loads(input())
def result(**found): send(id=read()["id"], result=found)
send_error = lambda: send(id=read()["id"], error={"code": -32601, "message": "no"})
send_error()
result(protocolVersion="2025-11-25", capabilities={"tools": {}}, serverInfo={"name": "r", "version": "1"})
read()
result(tools=[])
call = read()
send(id="mine", method="roots/list")
roots = read()["result"]["roots"]
send(id=call["id"], result={"content": [{"type": "text", "text": str(roots)}]})
"""


async def test_a_person_at_a_terminal_is_asked_during_the_call() -> None:
    call = ["--method", "tools/call", "--tool-name", "ask", *SERVER]
    async with open_terminal([sys.executable, "-m", "trio_debugmcp", "inspect", *call]) as terminal:
        await terminal.shows(r"The server asks: Who\?")
        await terminal.types("y\r")
        await terminal.shows(r"\\\"action\\\": \\\"accept\\\"")
        assert await terminal.ends() == 0
