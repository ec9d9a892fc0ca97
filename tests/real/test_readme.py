"""The README is true: its commands run, its code runs, its configuration parses, its tables are complete."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.real.conftest import Connect, program
from tests.real.tool_cases import ELSEWHERE, EXPECTED
from trio_debugmcp.server.prompts import PROMPTS
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.state.people.people_view import PEOPLE
from trio_debugmcp.state.resources import RESOURCES, SOURCE_TEMPLATE
from trio_debugmcp.state.timeline_events import EVENT_TYPES
from trio_debugmcp.testing import ToolFailed

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CLIENT = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
CONFORMANCE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")

MOST_LINES = 280


def blocks(language: str, page: str = README) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def section(title: str) -> str:
    """The text under a heading."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands() -> list[str]:
    return [line for block in blocks("bash") for line in block.splitlines()]


@pytest.fixture
def path_with_the_command(tmp_path: Path) -> dict[str, str]:
    """An environment in which `trio-debugmcp` is this checkout's, installed or not."""
    command = tmp_path / "bin" / "trio-debugmcp"
    command.parent.mkdir()
    start = f"PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)}"
    command.write_text(f'#!/bin/sh\n{start} -m trio_debugmcp "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


_done: dict[str, subprocess.CompletedProcess[str]] = {}


def run_once(command: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """The outcome of a command that several tests look at."""
    if command not in _done:
        _done[command] = subprocess.run(
            shlex.split(command), env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    return _done[command]


@pytest.mark.parametrize("command", [line for line in commands() if line.startswith("trio-debugmcp")])
def test_its_commands_run(command: str, path_with_the_command: dict[str, str]) -> None:
    done = run_once(command, path_with_the_command)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_its_scripts_exist_and_are_executable() -> None:
    scripts = {line for line in commands() if line.startswith("scripts/")}
    assert scripts == {"scripts/demo", "scripts/test"}
    contributing = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for script in {*scripts, *re.findall(r"`(scripts/[a-z]+|\.ci/run)\b", README + contributing)}:
        assert os.access(ROOT / script, os.X_OK), script


def test_the_demo_finds_the_bug(path_with_the_command: dict[str, str]) -> None:
    done = run_once("trio-debugmcp demo", path_with_the_command)
    assert "notifications/resources/updated debugger://session" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Found:")


def test_its_configurations_start_the_server_from_nothing() -> None:
    (vscode, cursor) = [json.loads(block) for block in blocks("json")]
    (codex,) = [tomllib.loads(block) for block in blocks("toml")]
    server = {"command": "uvx", "args": ["trio-debugmcp"]}
    assert vscode["servers"]["debugger"] == {"type": "stdio", **server}
    assert cursor["mcpServers"]["debugger"] == server
    assert codex["mcp_servers"]["debugger"] == server
    assert "claude mcp add debugger -- uvx trio-debugmcp" in commands()


@pytest.mark.parametrize(
    ("page", "shows"),
    [(README, ['"reason":"Breakpoint"', '"answer":"42"']), (CLIENT, ['"state":"Paused"', '"pauseReason":"Step"'])],
    ids=["README", "client"],
)
def test_its_python_example_and_that_of_the_client_run(
    page: str, shows: list[str], tmp_path: Path, path_with_the_command: dict[str, str]
) -> None:
    example = blocks("python", page)[0]
    (tmp_path / "app.py").write_text("answer = 42\nprint(answer)\n")
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env=path_with_the_command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    for text in shows:
        assert text in done.stdout, done.stderr


def test_its_tables_name_every_tool_and_resource_and_no_other() -> None:
    ours = section("Tools").partition("| its tools |")[0]
    rows = re.findall(r"^\| (`.*?) \|", ours, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    listed = {tool.name for tool in open_toolbox().tools if tool.listing != "none"}
    assert listed <= named <= {*open_toolbox().names}  # what only a person's page calls is in docs/tools.md
    uris = re.findall(r"^\| `(\S+?)` \|", section("Resources"), re.MULTILINE)
    assert uris == [*RESOURCES, PEOPLE, SOURCE_TEMPLATE]


FORMER = {
    *("debug_launch", "debug_attach", "debug_disconnect", "debug_continue", "debug_step", "debug_pause"),
    *("breakpoint_set", "breakpoint_remove", "breakpoint_enable", "breakpoint_set_exception", "tracepoint_set"),
    *("stacktrace_get", "variables_get", "evaluate", "evaluate_safe", "exception_get_context", "object_inspect"),
    *(
        "batch_evaluate",
        "references_get",
    ),
    *("object_summarize", "collection_analyze", "memory_read", "layout_get", "members_get", "types_get"),
    *(
        "snapshot_create",
        "snapshot_diff",
        "snapshot_delete",
        "modules_search",
        "timeline_query",
        "process_read_output",
        "process_write_input",
    ),
    *("code_load", "code_goto_definition", "code_find_usages", "code_find_assignments", "code_get_diagnostics"),
}
"""The tools of debug-mcp."""


async def test_what_the_tools_of_debug_mcp_are_here_can_be_called(debugging: Connect) -> None:
    table = section("Tools").partition("| its tools | here |")[2].partition("\n\n")[0]
    here: dict[str, str | None] = {}
    for theirs, ours in re.findall(r"^\| (`.*?`) \| (.*?) \|$", table, re.MULTILINE):
        groups = [re.findall(r"`(\w+)`", group) for group in theirs.split(";")]
        if ours == "the same":
            here.update({name: name for name in groups[0]})
            continue
        names = re.findall(r"`(\w+)`", ours) or [None]
        for group, name in zip(groups, names, strict=True):
            here.update(dict.fromkeys(group, name))
    assert set(here) == FORMER
    assert {name for name, ours in here.items() if ours is None} == {
        name for name in FORMER if name.startswith("code_")
    }
    assert {ours for name, ours in here.items() if ours == name} == FORMER & set(open_toolbox().names)
    async with debugging() as client:
        for name in sorted({ours for ours in here.values() if ours is not None} - {"debug_launch"}):
            expected = EXPECTED[name]
            arguments = {
                **expected.arguments,
                **({"file": program("steps.py")} if "file" in expected.arguments else {}),
            }
            try:
                await client.call(name, **arguments)
                code = None
            except ToolFailed as failed:
                code = failed.code
            assert code in {expected.without, "BREAKPOINT_NOT_FOUND"} or expected.without == ELSEWHERE, name
        assert (await client.call("debug_launch", program=program("steps.py")))["pid"] > 0


def test_it_names_every_prompt_argument_and_event_type_and_no_other() -> None:
    text = section("Prompts, completions, log messages")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE)
    assert [(name, re.findall(r"(\**)`(\w+)`", arguments)) for name, arguments in rows] == [
        (prompt.name, [("**" if each.required else "", each.name) for each in prompt.arguments])
        for prompt in PROMPTS.values()
    ]
    types = section("Resources").partition("The types are\n")[2].partition(" Of environment")[0]
    assert re.findall(r"`(\w+)`", types) == list(EVENT_TYPES)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_its_links_and_those_of_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / ".github").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_index_of_the_documentation_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| \[([\w-]+\.md)\]", index, re.MULTILINE)
    assert sorted([*named, "index.md"]) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))


def test_the_tests_that_prove_the_requirements_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", CONFORMANCE))
    defined = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    assert len(named) >= 15
    assert named <= defined, named - defined


def test_the_options_that_it_names_exist(path_with_the_command: dict[str, str]) -> None:
    assert shutil.which("trio-debugmcp", path=path_with_the_command["PATH"])
    help_text = run_once("trio-debugmcp serve --help", path_with_the_command).stdout
    for option in re.findall(r"serve\s+(--[\w-]+)", README):
        assert option in help_text
