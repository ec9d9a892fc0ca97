"""A parameter under the name that another debugger or another tool has for it is answered with ours."""

import pytest

from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.parameters_meant import parameters_meant

TOOLS = {tool.name: list(tool.input_schema["properties"]) for tool in open_toolbox().listed()}


@pytest.mark.parametrize(
    ("tool", "name", "meant"),
    [
        ("breakpoint_set_exception", "type", "exception_type"),
        ("process_write_input", "text", "data"),
        ("process_write_input", "input", "data"),
        ("variable_set", "name", "path"),
        ("variables_get", "name", "names or path"),
        ("object_inspect", "path", "expression"),
        ("breakpoint_set", "path", "file"),
        ("breakpoint_set", "lineNumber", "line"),
        ("debug_launch", "stopOnEntry", "stop_at_entry"),
        ("debug_launch", "script", "program"),
        ("debug_launch", "programm", "program"),
        ("debug_attach", "process_id", "pid"),
        ("debug_step", "thread", "thread_id"),
        ("debug_wait", "seconds", "timeout"),
        ("source_get", "line", "start_line or end_line"),
    ],
)
def test_a_name_that_others_have_is_answered_with_ours(tool: str, name: str, meant: str) -> None:
    assert parameters_meant(name, TOOLS[tool]) == f" Do you mean {meant}?"


@pytest.mark.parametrize("name", ["xyz", "_", "", "ünï", "__class__"])
def test_a_name_that_nothing_is_like_is_answered_with_no_question(name: str) -> None:
    assert parameters_meant(name, TOOLS["debug_wait"]) == ""
