"""The skill keeps to the Agent Skills format, names only what exists, and is installed without harm."""

import ast
import re
from pathlib import Path

import pytest

from trio_debugmcp import skill
from trio_debugmcp.errors import UsageError
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.skill import OtherSkill, Skill, places, read_skill
from trio_debugmcp.state.timeline_events import EVENT_TYPES

SKILL = read_skill()
TEXTS = {path: text.decode() for path, text in SKILL.files.items()}

TOOLBOX = open_toolbox()

MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_LINES = 500
"""Limits of the format; the last one is its advice for `SKILL.md`."""


def calls(text: str) -> list[ast.Call]:
    """The tool calls in code spans: a name and keyword arguments, as in `debug_pause(timeout=3)`."""
    spans = re.findall(r"`((?:\w+)\([^`]*\))`", text)
    parsed = [ast.parse(re.sub(r"\b(true|false)\b", lambda m: m[0].title(), span), mode="eval").body for span in spans]
    return [each for each in parsed if isinstance(each, ast.Call)]


def properties(tool: str) -> set[str]:
    return set(TOOLBOX.parameters(tool))


def test_its_head_keeps_the_limits_of_the_format() -> None:
    head = SKILL.frontmatter
    assert set(head) == {"name", "description", "license", "compatibility"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert len(head["name"]) <= 64
    assert 100 < len(head["description"]) <= MAX_DESCRIPTION
    assert "Use it when" in head["description"]
    assert len(head["compatibility"]) <= MAX_COMPATIBILITY
    assert len(TEXTS["SKILL.md"].splitlines()) < MAX_LINES


def test_it_names_its_files_by_relative_paths_and_leaves_none_out() -> None:
    named = re.findall(r"\]\(([^)]+)\)", TEXTS["SKILL.md"])
    assert {"SKILL.md", *named} == set(TEXTS)


@pytest.mark.parametrize("path", TEXTS)
def test_it_names_only_tools_and_parameters_that_exist(path: str) -> None:
    found = calls(TEXTS[path])
    assert len(found) >= 8
    for call in found:
        assert isinstance(call.func, ast.Name)
        tool = call.func.id
        assert tool in TOOLBOX.names, ast.unparse(call)
        assert not call.args, ast.unparse(call)
        assert {each.arg for each in call.keywords} <= properties(tool), ast.unparse(call)
        for each in call.keywords:
            if tool == "debug_launch" and each.arg == "breakpoints":
                for wanted in ast.literal_eval(each.value):
                    assert set(wanted) <= properties("breakpoint_set") | {"exception"}, wanted
            if tool == "timeline_query" and each.arg == "types":
                assert set(ast.literal_eval(each.value)) <= set(EVENT_TYPES)
    every = {parameter for tool in TOOLBOX.names for parameter in properties(tool)}
    for span in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", TEXTS[path]):
        assert span in TOOLBOX.names or span in every, span


def test_every_tool_that_answers_a_question_of_its_own_is_in_it() -> None:
    named = {call.func.id for text in TEXTS.values() for call in calls(text) if isinstance(call.func, ast.Name)}
    asked = {"debug_launch", "debug_attach", "debug_pause", "debug_step", "debug_run_to", "debug_wait", "debug_state"}
    asked |= {"breakpoint_set", "breakpoint_set_exception", "breakpoint_list", "evaluate", "variables_get"}
    asked |= {"stacktrace_get", "threads_list", "tasks_list", "exception_get_context", "timeline_query"}
    asked |= {"process_read_output", "process_write_input", "debug_restart", "debug_disconnect", "debug_listen"}
    assert asked <= named, asked - named


def test_the_errors_that_it_names_are_errors_of_the_server() -> None:
    named = set(re.findall(r"`([A-Z]+_[A-Z]+)`", "".join(TEXTS.values())))
    source = "".join(file.read_text() for file in Path(skill.__file__).parent.parent.rglob("*.py"))
    assert named
    assert all(f'{UsageError.__name__}("{code}"' in source or f'"{code}"' in source for code in named)


@pytest.mark.parametrize(
    "head",
    ["name: a", "---\nname: a: b\n---\n", "---\nname: true\n---\n", "---\n- name\n---\n", "---\nname: x # y\n---\n"],
)
def test_a_head_that_only_a_yaml_parser_could_read_is_refused(head: str) -> None:
    with pytest.raises(ValueError, match=r"SKILL\.md"):
        skill.read_frontmatter(head)


# --- Installation -----------------------------------------------------------------------------------------------------


def test_it_is_installed_under_its_name_and_recognised_there(tmp_path: Path) -> None:
    assert SKILL.state(tmp_path) == "missing"
    assert SKILL.install(tmp_path / "skills") == tmp_path / "skills" / SKILL.name
    assert SKILL.state(tmp_path / "skills") == "installed"
    files = {str(file.relative_to(tmp_path / "skills" / SKILL.name)) for file in tmp_path.rglob("*.md")}
    assert files == set(SKILL.files)


def test_another_version_is_replaced_and_the_users_own_files_are_kept(tmp_path: Path) -> None:
    home = Skill(SKILL.frontmatter, {"SKILL.md": SKILL.files["SKILL.md"] + b"\nold"}).install(tmp_path)
    (home / "notes.md").write_text("mine")
    assert SKILL.state(tmp_path) == "outdated"
    SKILL.install(tmp_path)
    assert SKILL.state(tmp_path) == "installed"
    assert (home / "notes.md").read_text() == "mine"


@pytest.mark.parametrize("file", ["SKILL.md", "important.txt"])
def test_something_else_of_that_name_is_not_touched(file: str, tmp_path: Path) -> None:
    other = tmp_path / SKILL.name / file
    other.parent.mkdir()
    other.write_text("---\nname: other\n---\n")
    assert SKILL.state(tmp_path) == "another"
    with pytest.raises(OtherSkill, match="move it away"):
        SKILL.install(tmp_path)
    assert [each.name for each in other.parent.iterdir()] == [file]
    assert other.read_text() == "---\nname: other\n---\n"


def test_claude_code_has_a_place_only_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert [(each.directory, each.used) for each in places()] == [
        (tmp_path / ".agents" / "skills", True),
        (tmp_path / ".claude" / "skills", False),
    ]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert (places()[1].directory, places()[1].used) == (tmp_path / "elsewhere" / "skills", True)
