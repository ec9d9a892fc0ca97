"""`inspect`: one request, its result, and what is not found."""

import json
from typing import Any

import pytest

from tests.cli.shell import SERVER, Shell

pytestmark = pytest.mark.real


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
            ["--page"],
            {
                "resourceTemplates": [{"uriTemplate": "demo://{name}", "name": "any"}],
                "nextCursor": "2",
                "_meta": {"pages": 2},
            },
        ),
        ("resources/templates/list", ["--cursor", "2"], {"resourceTemplates": []}),
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
    ("options", "code"),
    [
        (["--method", "tools/call", "--tool-name", "nope"], "tool_not_found"),
        (["--method", "prompts/get", "--prompt-name", "nope"], "prompt_not_found"),
        (["--method", "resources/read", "--uri", "demo://nope"], "not_found"),
        (["--method", "resources/read", "--uri", "demo://void"], "not_found"),
        (["--method", "resources/read", "--template", "demo://{no}", "--args", "no=1"], "template_not_found"),
        (["--method", "tools/call", "--tool-name", "fail"], "tool_is_error"),
    ],
)
def test_a_tool_error_and_what_is_not_found_end_with_5(options: list[str], code: str, shell: Shell) -> None:
    assert shell("inspect", *options, *SERVER).code == 5
    assert shell.error["code"] == code


def test_a_tool_that_is_not_listed_is_called_and_the_servers_answer_is_printed(shell: Shell) -> None:
    called = ["inspect", "--method", "tools/call", "--format", "json", "--tool-name", "hidden", "--tool-arg", "n=1"]
    assert shell(*called, *SERVER).code == 5
    assert shell.error["code"] == "tool_is_error"
    assert "READ_ONLY" in shell.out


@pytest.mark.parametrize(
    ("tool", "code", "said"),
    [("slow", "timeout", "no answer within 1 s"), ("odd", "protocol", "the answer is not what")],
)
def test_what_is_not_the_tools_fault_ends_with_1(tool: str, code: str, said: str, shell: Shell) -> None:
    assert shell("inspect", "--timeout", "1", "--method", "tools/call", "--tool-name", tool, *SERVER).code == 1
    assert shell.error["code"] == code
    assert said in shell.error["message"]


def test_what_is_left_out_of_a_list_is_named_beside_the_result(shell: Shell) -> None:
    shown = inspected(shell, "prompts/list")
    assert [prompt["name"] for prompt in shown["prompts"]] == ["greet"]
    (line,) = shell.err.splitlines()
    assert json.loads(line)["warning"]["message"].startswith("prompts/list: 1 of 2 items left out")
