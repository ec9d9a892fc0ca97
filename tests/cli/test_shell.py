"""`shell`: what a line means, what it shows, and what Tab proposes."""

import json
from functools import partial
from pathlib import Path

import pytest
import trio
from mcp import MCPError
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.cli.shell import SERVER, Shell
from tests.client.peer import Json, Peer, content, text, tool
from trio_debugmcp.cli._target import Failure
from trio_debugmcp.cli.shell.display import Display
from trio_debugmcp.cli.shell.prompt import proposals
from trio_debugmcp.cli.shell.shell_commands import Commands, Quit, arguments, split
from trio_debugmcp.client import InspectorClient

ADD = {
    "a": {"type": "integer", "description": "the first"},
    "b": {"type": "integer", "default": 7},
    "how": {"type": "string", "enum": ["fast", "slow"]},
    "loud": {"type": "boolean"},
}


@pytest.fixture
def talker() -> Peer:
    """A server with a tool, resources, a template and a prompt that completes."""
    peer = Peer()
    items: Json = {
        "tools": [tool("add", properties=ADD), tool("sing")],
        "resources": [{"uri": "demo://one", "name": "one"}, {"uri": "demo://two", "name": "two"}],
        "resourceTemplates": [{"uriTemplate": "demo://{name}/{part}", "name": "any"}],
        "prompts": [{"name": "greet", "arguments": [{"name": "who", "description": "whom"}]}],
    }
    items["tools"][0]["description"] = "Adds\x1b[2J.\nAt length."
    methods = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
    for key, listed in items.items():
        peer.handlers[methods.get(key, "resources/templates/list")] = partial(_listing, key, listed)
    peer.handlers["tools/call"] = lambda params: text(
        "Tool nope not found" if params["name"] == "nope" else json.dumps(params["arguments"]),
        is_error=params["name"] in ("sing", "nope", "hidden"),
    )
    peer.handlers["completion/complete"] = lambda params: {
        "completion": {"values": [params["argument"]["value"] + "x"]}
    }
    return peer


def _listing(key: str, listed: list[Json], _: Json) -> Json:
    return {key: listed}


async def shown(peer: Peer, capsys: pytest.CaptureFixture[str], *lines: str, as_json: bool = False) -> str:
    async with InspectorClient(peer) as client:
        commands = Commands(client, Display(as_json=as_json))
        for line in lines:
            await commands.run(line)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("call add a=1 b='x y'", ["call", "add", "a=1", "b=x y"]),
        ('call add {"a": "b c", "d": {}} ', ["call", "add", '{"a": "b c", "d": {}}']),
        ("read demo://{name}/{part} name=x", ["read", "demo://{name}/{part}", "name=x"]),
        ("call add note=#1", ["call", "add", "note=#1"]),
        ('call set at=[{"file": "a b", "line": 8}] x=1', ["call", "set", 'at=[{"file": "a b", "line": 8}]', "x=1"]),
        ('call set a={"b": [1]} c=["d e"]', ["call", "set", 'a={"b": [1]}', 'c=["d e"]']),
        ("call set 'at=[1, 2]' b='x c=[1] y'", ["call", "set", "at=[1, 2]", "b=x c=[1] y"]),
        ('call set {"a": "b c=[1] d"}', ["call", "set", '{"a": "b c=[1] d"}']),
        ("call set a=[x] b=[1]x", ["call", "set", "a=[x]", "b=[1]x"]),
        ("", []),
    ],
)
def test_a_line_is_split_into_words(line: str, words: list[str]) -> None:
    assert split(line) == words


def test_arguments_are_text_for_the_schema_json_or_one_object() -> None:
    assert arguments(["a=1", "x=[1]", "y=z", "c=a=b"], {"a": {}}) == {"a": "1", "x": [1], "y": "z", "c": "a=b"}
    assert arguments(['{"a": [1]}'], {}) == {"a": [1]}
    assert arguments(["a=1"], None) == {"a": "1"}
    for wrong in (["a"], ["=1"], ["{"]):
        with pytest.raises(Failure, match=r"Not JSON|NAME=VALUE"):
            arguments(wrong, {})


async def test_lists_show_names_descriptions_and_what_was_left_out(
    talker: Peer, capsys: pytest.CaptureFixture[str], autojump_clock: MockClock
) -> None:
    assert await shown(talker, capsys, "tools") == "add   Adds\\x1b[2J.\nsing\n2 listed\n"
    assert await shown(talker, capsys, "tools ADDS") == "add  Adds\\x1b[2J.\n1 listed, 1 left out by 'ADDS'\n"
    assert (await shown(talker, capsys, "resources")).splitlines()[2:] == ["demo://{name}/{part}  any", "3 listed"]
    assert await shown(talker, capsys, "prompts") == "greet\n1 listed\n"
    listed = json.loads(await shown(talker, capsys, "tools sing", as_json=True))
    assert listed == [{"name": "sing", "description": ""}]


async def test_calls_reads_and_prompts_show_their_texts(
    talker: Peer, capsys: pytest.CaptureFixture[str], autojump_clock: MockClock
) -> None:
    assert json.loads(await shown(talker, capsys, "call add a=1 how=fast extra=[2]")) == {
        "a": 1, "how": "fast", "extra": [2],
    }  # fmt: skip
    assert await shown(talker, capsys, 'call add {"a": 1}') == '{"a": 1}\n'
    assert "content" in json.loads(await shown(talker, capsys, "call add a=1", as_json=True))
    talker.handlers["resources/read"] = lambda params: content(params["uri"], "text of " + params["uri"])
    assert await shown(talker, capsys, "read demo://one") == "text of demo://one\n"
    assert await shown(talker, capsys, "read demo://{name}/{part} name=a part=b") == "text of demo://a/b\n"
    talker.handlers["prompts/get"] = lambda params: {
        "messages": [{"role": "user", "content": {"type": "text", "text": f"hello {params['arguments']['who']}"}}]
    }
    assert await shown(talker, capsys, "prompt greet who=1") == "hello 1\n"


async def test_information_ping_messages_and_help(
    talker: Peer, capsys: pytest.CaptureFixture[str], autojump_clock: MockClock
) -> None:
    assert json.loads(await shown(talker, capsys, "info"))["status"] == "connected"
    assert await shown(talker, capsys, "ping") == "the server answers\n"
    assert json.loads(await shown(talker, capsys, "show add"))["inputSchema"]["properties"] == ADD
    last = await shown(talker, capsys, "log debug", "messages 1")
    assert json.loads(last)["message"]["method"] == "logging/setLevel"
    assert len((await shown(talker, capsys, "ping", "ping", "ping", "messages")).splitlines()) == 3 + 10
    help_ = await shown(talker, capsys, "help")
    assert "call TOOL [K=V…|JSON]" in help_
    assert await shown(talker, capsys, "", "   ", "# a comment") == ""


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("dance", "usage", "no command 'dance'; help"),
        ("client", "usage", "no command 'client'"),
        ("call", "usage", "TOOL is missing"),
        ("call nope", "tool_not_found", "Tool 'nope' not found"),
        ("call hidden", "tool_is_error", "'hidden' reported an error"),
        ("call add a", "usage", "NAME=VALUE"),
        ("call sing", "tool_is_error", "'sing' reported an error"),
        ("call 'x", "usage", "closed"),
        ("log loud", "usage", "LEVEL is one of debug"),
        ("show x", "not_found", "neither a tool"),
        ("show a b", "usage", "One NAME"),
        ("messages 0", "usage", "COUNT is a whole number"),
        ("watch demo://one x", "usage", "COUNT is a whole number"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_what_to_do(
    line: str, code: str, message: str, talker: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(talker) as client:
        with pytest.raises(Failure, match=message) as refused:
            await Commands(client, Display(as_json=False)).run(line)
        assert refused.value.code == code
        with pytest.raises(Quit):
            await Commands(client, Display(as_json=False)).run("quit")


async def test_a_subscription_lasts_until_it_is_undone(
    talker: Peer, capsys: pytest.CaptureFixture[str], autojump_clock: MockClock
) -> None:
    assert await shown(
        talker, capsys, "subscribe demo://one demo://two", "subscriptions", "unsubscribe demo://one", "subscriptions",
        "unsubscribe", "subscriptions",
    ) == "demo://one\ndemo://two\n2 listed\ndemo://two\n1 listed\n0 listed\n"  # fmt: skip


async def test_watch_reads_at_once_and_after_each_change(
    talker: Peer, capsys: pytest.CaptureFixture[str], autojump_clock: MockClock
) -> None:
    reads = iter("123")
    talker.handlers["resources/read"] = lambda params: content(params["uri"], next(reads))
    async with InspectorClient(talker) as client, trio.open_nursery() as nursery:
        nursery.start_soon(Commands(client, Display(as_json=False)).run, "watch demo://one 2")
        for _ in range(2):
            await wait_all_tasks_blocked()
            await trio.sleep(1)
            talker.updated("demo://one")
    assert capsys.readouterr().out == "1\n2\n3\n"


# --- Tab --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "proposed"),
    [
        ("ca", ["call"]),
        ("sub", ["subscribe", "subscriptions"]),
        ("call ", ["add", "sing"]),
        ("call A", ["add"]),
        ("call add ", ["a=", "b=", "how=", "loud="]),
        ("call add a=1 ", ["b=", "how=", "loud="]),
        ("call add how=", ["fast", "slow"]),
        ("call add how=s", ["slow"]),
        ("call add loud=t", ["true"]),
        ("call add b=", ["7"]),
        ("call add a=", []),
        ('call add {"', []),
        ("call nope x", []),
        ("read demo://", ["demo://one", "demo://two", "demo://{name}/{part}"]),
        ("read demo://{name}/{part} ", ["name=", "part="]),
        ("read demo://{name}/{part} name=q", ["qx"]),
        ("read demo://{ x", []),
        ("prompt greet ", ["who="]),
        ("prompt greet who=z", ["zx"]),
        ("show s", ["sing"]),
        ("subscribe demo://one demo://t", ["demo://two"]),
        ("watch demo://t", ["demo://two"]),
        ("unsubscribe ", ["demo://one"]),
        ("log w", ["warning"]),
        ("ping ", []),
        ("tools a ", []),
    ],
)
async def test_tab_proposes_what_fits(
    before: str, proposed: list[str], talker: Peer, autojump_clock: MockClock
) -> None:
    async with InspectorClient(talker) as client:
        await client.subscribe_to_resource("demo://one")
        found = await proposals(before, client)
    assert [each.text for each in found] == proposed
    assert all(before[len(before) - each.replaces :].lower() == each.text[: each.replaces].lower() for each in found)


async def test_a_server_that_does_not_complete_delays_a_person_for_two_seconds_only(
    talker: Peer, autojump_clock: MockClock
) -> None:
    def refuse(params: Json) -> Json:
        raise MCPError(-32602, "no")

    async with InspectorClient(talker) as client:
        talker.silent_about.add("completion/complete")
        began = trio.current_time()
        assert await proposals("prompt greet who=z", client) == []
        assert trio.current_time() - began == 2
    assert await proposals("prompt greet who=z", client) == [], "also without a connection"


# --- Without a terminal -----------------------------------------------------------------------------------------------


def given(path: Path, monkeypatch: pytest.MonkeyPatch, shell: Shell, lines: str, *options: str) -> Shell:
    """Run the shell with the lines of a file as its input."""
    path.write_text(lines)
    with path.open() as file:
        monkeypatch.setattr("sys.stdin", file)
        return shell("shell", *options, *SERVER)


@pytest.mark.real
def test_commands_of_a_file_run_until_the_first_that_fails(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given(tmp_path / "lines", monkeypatch, shell, "call add a=2 b=3\nread demo://counter\nping")
    assert (shell.code, shell.err) == (0, "")
    assert shell.out == "5\nread 1\nthe server answers\n"
    given(tmp_path / "lines", monkeypatch, shell, "call add a=2 b=3\ncall fail\nping\n", "--format", "json")
    assert (shell.code, shell.error["code"]) == (5, "tool_is_error")
    assert [line["isError"] for line in shell.lines] == [False, True]


async def test_an_answer_that_cannot_be_used_is_not_called_an_error_of_the_tool(
    talker: Peer, capsys: pytest.CaptureFixture[str]
) -> None:
    talker.handlers["tools/call"] = lambda _: {"content": 42}
    with pytest.RaisesGroup(Failure) as group:
        await shown(talker, capsys, "call add a=1")
    failed = group.value.exceptions[0]
    assert isinstance(failed, Failure)
    assert (failed.code, failed.exit_code) == ("protocol", 1)
