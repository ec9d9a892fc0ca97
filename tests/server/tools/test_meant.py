"""Arguments of another type than a tool declares, which can mean one thing only."""

from typing import Any

import pytest

from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.server.tools.meant import meant


def taken(tool: str, **arguments: Any) -> dict[str, Any]:
    """The arguments as the tool takes them."""
    (params,) = [each.params for each in open_toolbox().tools if each.name == tool]
    return meant(params, arguments)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a.py:37", {"file": "a.py", "line": 37}),
        ("/src/a b.py:37 in Shop.total", {"file": "/src/a b.py", "line": 37}),
        ("module.function", {"function": "module.function"}),
        ("cart::total", {"function": "cart::total"}),
        ("C:\\src\\a.py:3", {"file": "C:\\src\\a.py", "line": 3}),
    ],
)
def test_a_breakpoint_may_be_written_as_answers_write_places(text: str, place: dict[str, Any]) -> None:
    assert taken("debug_launch", breakpoints=[text]) == {"breakpoints": [place]}
    assert taken("debug_launch", breakpoints=text) == {"breakpoints": [place]}
    assert taken("debug_launch", breakpoints=place) == {"breakpoints": [place]}


def test_a_file_may_have_its_line_behind_it_where_a_tool_wants_both() -> None:
    assert taken("breakpoint_set", file="a.py:37") == {"file": "a.py", "line": 37}
    assert taken("debug_run_to", file="a.py:37 in total") == {"file": "a.py", "line": 37}
    assert taken("breakpoint_set", file="a.py:37", line=4) == {"file": "a.py:37", "line": 4}
    assert taken("debug_launch", breakpoints=[{"file": "a.py:3"}]) == {"breakpoints": [{"file": "a.py", "line": 3}]}


def test_numbers_truths_and_structures_may_be_written_as_texts() -> None:
    assert taken("breakpoint_set", file="a.py", line="37") == {"file": "a.py", "line": 37}
    assert taken("debug_launch", timeout="2.5", wait="False") == {"timeout": 2.5, "wait": False}
    assert taken("debug_launch", breakpoints='[{"file": "a.py", "line": "3"}]') == {
        "breakpoints": [{"file": "a.py", "line": 3}]
    }
    assert taken("debug_launch", env='{"PORT": 80}') == {"env": {"PORT": "80"}}
    assert taken("stacktrace_get", thread_id="2") == {"thread_id": 2}


def test_a_number_may_stand_for_a_text() -> None:
    assert taken("breakpoint_set", function="f", hit_condition=3) == {"function": "f", "hit_condition": "3"}


def test_a_text_may_stand_for_a_list_and_a_command_line_is_split_as_a_shell_does() -> None:
    assert taken("debug_launch", args="-k 'a b' -x") == {"args": ["-k", "a b", "-x"]}
    assert taken("debug_launch", args=8080) == {"args": 8080}
    assert taken("debug_launch", show="len(queue), 3") == {"show": ["len(queue), 3"]}
    assert taken("debug_launch", show="[a, b]") == {"show": ["[a, b]"]}
    assert taken("debug_launch", show='["a", "b"]') == {"show": ["a", "b"]}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("debug_launch", {"args": "-k 'a"}),
        ("debug_launch", {"timeout": "soon", "wait": "maybe"}),
        ("stacktrace_get", {"thread_id": "*"}),
        ("debug_step", {"count": "1.5"}),
        ("breakpoint_set", {"line": "037"}),
        ("evaluate", {"expression": "a.py:37", "frame_index": True}),
        ("debug_launch", {"no such": "3"}),
    ],
)
def test_what_may_mean_several_things_is_left_as_it_is(tool: str, arguments: dict[str, Any]) -> None:
    assert taken(tool, **arguments) == arguments


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "breakpoints",
            '[{"file": "a.py", "line": 3',
            '`breakpoints` is JSON that is broken at line 1, column 28, after `": "a.py", "line": 3`: Expecting',
        ),
        ("breakpoints", '{"file": "a.py",, "line": 3}', "`breakpoints` is JSON that is broken at line 1, column 17"),
        ("breakpoints", '["a.py:3",\n "b.py:7', "`breakpoints` is JSON that is broken at line 2, column 2"),
        ("breakpoints", "{file: 'a.py'}", "`breakpoints` is JSON that is broken at line 1, column 2, after `{`"),
        ("env", '{"PORT": }', "`env` is JSON that is broken at line 1, column 10"),
    ],
)
def test_of_broken_json_it_is_said_where_it_is_broken(name: str, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        taken("debug_launch", **{name: text})
    assert (refused.value.code, refused.value.message[: len(sentence)]) == ("INVALID_PARAMETER", sentence)
    with pytest.raises(UsageError, match="is JSON that is broken"):  # as a shell has it, where a text is the one item
        taken("debug_launch", **{name: [text] if name == "breakpoints" else text})


@pytest.mark.parametrize("file", ["[id].tsx", "[[...slug]].tsx", "{{name}}.py", "{name}.py"])
def test_names_of_files_may_have_brackets(file: str) -> None:
    assert taken("debug_launch", breakpoints=f"{file}:3") == {"breakpoints": [{"file": file, "line": 3}]}
