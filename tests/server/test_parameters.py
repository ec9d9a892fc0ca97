"""Parameters of tools that accept only some strings: an error names them."""

import re
from typing import Any

import pytest
from trio.testing import MockClock

from tests.server.scene import failure
from trio_debugmcp.server.call_result import ListedTool
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.testing import connect


def choices(tool: ListedTool) -> dict[str, list[str]]:
    """The parameters of a tool that accept only some strings, and these."""
    properties = tool.input_schema["properties"]
    found: dict[str, list[str]] = {}
    for name, schema in properties.items():
        for each in schema.get("anyOf", [schema]):
            found.setdefault(name, []).extend(value for value in each.get("enum", ()) if value is not None)
    return {name: values for name, values in found.items() if values}


CHOICES = [(tool, name, values) for tool in open_toolbox().listed() for name, values in choices(tool).items()]


def test_some_parameters_accept_only_some_strings() -> None:
    assert {("debug_step", "mode"), ("variables_get", "scope"), ("process_read_output", "stream")} <= {
        (tool.name, name) for tool, name, _ in CHOICES
    }


@pytest.mark.parametrize(("tool", "name", "values"), CHOICES)
async def test_a_string_that_is_not_accepted_is_answered_with_those_that_are(
    tool: ListedTool, name: str, values: list[str], autojump_clock: MockClock
) -> None:
    async with connect() as client:
        failed = await failure(client, tool.name, **{**needed(tool), name: "no such"})
    assert failed.code == "INVALID_PARAMETER"
    assert failed.message.startswith(f"{name} is one of ")
    assert failed.message.endswith("; not 'no such'.")
    assert all(f'"{value}"' in failed.message for value in values)


async def test_a_number_that_is_accepted_beside_a_string_is_named(autojump_clock: MockClock) -> None:
    async with connect() as client:
        failed = await failure(client, "stacktrace_get", thread_id="all")
        unlisted = await failure(client, "debug_step", granularity="no such")
        assert unlisted.message.startswith('granularity is one of "instruction", "line", "statement"')
        assert failed.message == "thread_id is one of an integer, \"*\"; not 'all'."
        counted = await failure(client, "debug_step", count="two")
        assert "`count` takes a whole number, and this is a text" in counted.message


@pytest.mark.parametrize("tool", ["breakpoint_set", "tracepoint_set", "debug_run_to", "debug_run_until", "debug_goto"])
async def test_a_line_that_no_file_can_have_is_refused(tool: str, autojump_clock: MockClock) -> None:
    needed = {"tracepoint_set": {"log_message": "x"}, "debug_run_until": {"expression": "x"}}
    async with connect() as client:
        failed = await failure(client, tool, file="a.py", line=10**12, **needed.get(tool, {}))
    assert failed.code == "INVALID_PARAMETER"
    assert "line" in failed.message


def needed(tool: ListedTool) -> dict[str, Any]:
    """Arguments for the parameters that have no default."""
    return dict.fromkeys(tool.input_schema.get("required", ()), "x")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("step", "debug_step?"), ("breakpoint_sett", "breakpoint_set?"), ("debug_lanch", "debug_launch?"), ("xyzzy", "")],
)
async def test_a_tool_that_is_not_there_is_answered_with_the_one_that_is_meant(
    name: str, meant: str, autojump_clock: MockClock
) -> None:
    async with connect() as client:
        message = (await failure(client, name)).message
    question = "Do you mean " if meant else ""
    assert re.fullmatch(rf"There is no tool '{name}'\. {question}.*tools/list has the \d+ there are\.", message)
    assert meant.removesuffix("?") in message
    assert len(message) < 200
