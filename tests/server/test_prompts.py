"""Prompts: they name only what exists, and say what is missing."""

import re
from itertools import chain, combinations

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent
from trio.testing import MockClock

from tests.server.scene import running
from trio_debugmcp.server.prompts import PROMPTS, Prompt, get_prompt
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.state.timeline_events import EVENT_TYPES
from trio_debugmcp.testing.connect import Era

VALUES = {"program": "shop.py", "exception_type": "KeyError", "symptom": "too small", "file": "a.py", "line": "3"}
VALUES |= {"pid": "42", "expression": "total", "variable": "price"}

SCHEMAS = {tool.name: tool.input_schema["properties"] for tool in open_toolbox().listed()}


def text_of(name: str, given: dict[str, str]) -> str:
    (message,) = get_prompt(name, given).messages
    assert message.role == "user"
    assert isinstance(message.content, TextContent)
    return message.content.text


def variants(prompt: Prompt) -> list[dict[str, str]]:
    """All ways to fill in the optional arguments."""
    required = {each.name: VALUES[each.name] for each in prompt.arguments if each.required}
    optional = [each.name for each in prompt.arguments if not each.required]
    chosen = chain.from_iterable(combinations(optional, number) for number in range(len(optional) + 1))
    return [{**required, **{name: VALUES[name] for name in names}} for names in chosen]


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=lambda prompt: prompt.name)
def test_a_prompt_names_only_tools_and_parameters_that_exist(prompt: Prompt) -> None:
    for given in variants(prompt):
        text = text_of(prompt.name, given)
        shown = {name: value for name, value in given.items() if name != "program" or "pid" not in given}
        assert all(value in text for value in shown.values()), text
        calls = re.findall(r"`(\w+)(?:\((.*?)\))?`", text)
        tools = [(tool, parameters) for tool, parameters in calls if parameters or "_" in tool]
        assert len(tools) >= 5
        for tool, parameters in tools:
            assert tool in SCHEMAS, tool
            for parameter in re.findall(r"(\w+)=", re.sub(r'"[^"]*"', '""', parameters)):
                assert parameter in SCHEMAS[tool], f"{tool}: {parameter}"
        for listed in re.findall(r"types=\[(.*?)\]", text):
            assert set(re.findall(r'"(\w+)"', listed)) <= set(EVENT_TYPES)


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("find_bug_source", {}, "find_bug_source needs the argument 'symptom'"),
        ("find_bug_source", {"symptom": "  "}, "needs the argument 'symptom'"),
        ("trace_data_flow", {"variable": "x"}, "needs the argument 'file'"),
        ("diagnose_exception", {"exceptionType": "x"}, "has no argument 'exceptionType'. Arguments: program, exc"),
        ("diagnose", {}, "Unknown prompt 'diagnose'. Prompts: diagnose_exception, "),
    ],
)
def test_missing_and_unknown_arguments_are_named(name: str, given: dict[str, str], sentence: str) -> None:
    with pytest.raises(MCPError, match=re.escape(sentence)):
        get_prompt(name, given)


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_prompts_are_listed_and_returned(era: Era, autojump_clock: MockClock) -> None:
    async with running(era) as (client, _):
        listed = (await client.sdk.list_prompts()).prompts
        assert [each.name for each in listed] == [
            "diagnose_exception",
            "find_bug_source",
            "inspect_runtime_state",
            "trace_data_flow",
        ]
        assert all(each.title and each.description and each.arguments for each in listed)
        required = {each.name: [a.name for a in each.arguments or () if a.required] for each in listed}
        assert required["trace_data_flow"] == ["variable", "file"]
        answer = await client.sdk.get_prompt("diagnose_exception", {"exception_type": "KeyError"})
        text = answer.messages[0].content.text  # type: ignore[union-attr]
        assert 'breakpoints=[{"exception": "KeyError"}]' in text
        assert "Find out why the program raises `KeyError`." in text
        with pytest.raises(MCPError, match="needs the argument 'variable'"):
            await client.sdk.get_prompt("trace_data_flow", {})
