"""Tools that the short list lacks are named as calls of `debug_more`, in our sentences and nowhere else."""

import json
from typing import Any

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.call_result import ToolResult
from trio_debugmcp.server.failures import failed_result
from trio_debugmcp.server.naming import BY_NAME, Naming
from trio_debugmcp.server.tools.named_calls import named_call, worded_result

NAMING = Naming(["threads_list", "timeline_query", "debug_run_to"])


@pytest.mark.parametrize(
    ("sentence", "worded"),
    [
        ("See threads_list.", 'See debug_more(tool="threads_list").'),
        ("`threads_list` has them", '`debug_more(tool="threads_list")` has them'),
        ("threads_list() now", 'debug_more(tool="threads_list") now'),
        (
            'timeline_query(types=["a, b=c"], count=3) or why(expression="x")',
            'debug_more(tool="timeline_query", arguments={"types": ["a, b=c"], "count": 3}) or why(expression="x")',
        ),
        (
            'debug_run_to(file="a (b).py", line=…)',
            'debug_more(tool="debug_run_to", arguments={"file": "a (b).py", "line": …})',
        ),
        (
            "debug_run_to(file='a)b(.py', line=3).",
            'debug_more(tool="debug_run_to", arguments={"file": "a)b(.py", "line": 3}).',
        ),
        ("another session (threads_list)", 'another session (debug_more(tool="threads_list"))'),
    ],
)
def test_a_call_becomes_one_that_the_client_can_make(sentence: str, worded: str) -> None:
    assert NAMING.text(sentence) == worded
    assert NAMING.text(worded) == worded, "once is enough"
    assert BY_NAME.text(sentence) == sentence


@pytest.mark.parametrize("text", ["src/threads_list.py", "threads_list.py:3", "my_threads_list", "x.threads_list"])
def test_a_path_or_another_name_stays(text: str) -> None:
    assert NAMING.text(text) == text


def test_the_tool_that_is_called_knows_its_name() -> None:
    assert NAMING.text("threads_list has no parameter 'x'", "threads_list") == "threads_list has no parameter 'x'"


def test_an_error_is_worded_and_stays_an_error() -> None:
    result = worded_result(
        NAMING, "evaluate", failed_result(UsageError("NOT_PAUSED", "Use threads_list.", {"thread": 7}))
    )
    assert result.is_error
    error = json.loads(result.text)["error"]
    assert error == {"code": "NOT_PAUSED", "message": 'Use debug_more(tool="threads_list").', "details": {"thread": 7}}


def answered(**body: Any) -> Any:
    result = worded_result(NAMING, "debug_wait", ToolResult(text=json.dumps(body), structured_content=body))
    assert json.loads(result.text) == result.structured_content
    return result.structured_content


def test_hints_are_worded_and_what_the_program_says_is_not() -> None:
    call = 'debug_more(tool="threads_list")'
    assert answered(
        notes=["see threads_list"],
        threads=["1 main", "12 more: see threads_list"],
        locals={"name": "threads_list", "…": "3 more: threads_list"},
        stdout="3 more: threads_list\n",
        stack=["threads_list app.py:3"],
    ) == {
        "notes": [f"see {call}"],
        "threads": ["1 main", f"12 more: see {call}"],
        "locals": {"name": "threads_list", "…": f"3 more: {call}"},
        "stdout": "3 more: threads_list\n",
        "stack": ["threads_list app.py:3"],
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool": "debug_step", "arguments": {"mode": "in"}},
        {"tool": "debug_step", "arguments": '{"mode": "in"}'},
        {"tool": "debug_step", "mode": "in"},
        {"tool": "debug_more", "arguments": {"tool": "debug_step", "arguments": {"mode": "in"}}},
    ],
)
def test_a_call_of_debug_more_is_one_of_the_tool_that_it_names(arguments: dict[str, Any]) -> None:
    assert named_call("debug_more", arguments) == ("debug_step", {"mode": "in"})
    assert named_call("debug_step", {"mode": "in"}) == ("debug_step", {"mode": "in"})
    assert named_call("debug_more", {}) == ("debug_more", {})


@pytest.mark.parametrize("arguments", [{"tool": 3}, {"tool": "why", "arguments": "x"}, {"tool": "why", "arguments": 3}])
def test_what_names_no_tool_or_no_arguments_is_refused_with_what_is_wanted(arguments: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"is the name of a tool|is an object with the parameters of why"):
        named_call("debug_more", arguments)
