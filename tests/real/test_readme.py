"""The README and the pages that users read first are true: commands and code run, tables are complete."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.conftest import TEST_SECONDS, Connect, program
from tests.real.tool_cases import ELSEWHERE, EXPECTED
from trio_debugmcp.server.kept_answers import CALL_TEMPLATE
from trio_debugmcp.server.processor_times import PROCESSOR
from trio_debugmcp.server.prompts import PROMPTS
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.state.people.people_view import PEOPLE
from trio_debugmcp.state.recorded_runs import RUNS
from trio_debugmcp.state.resources import RESOURCES as RESOURCE_URIS
from trio_debugmcp.state.resources import SOURCE_TEMPLATE
from trio_debugmcp.state.session_resources import SESSION_TEMPLATE, SESSIONS
from trio_debugmcp.state.stop_resource import STOP_TEMPLATE
from trio_debugmcp.state.timeline_events import EVENT_TYPES
from trio_debugmcp.testing import ToolFailed

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
CLIENT, COMMAND_LINE, CONFORMANCE, FROM_DEBUG_MCP, HOSTS, RESOURCES, TOOLS = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("client", "command-line", "conformance", "from-debug-mcp", "hosts", "resources", "tools")
)
SHOP = ROOT / "trio_debugmcp" / "samples" / "shop.py"

MOST_LINES = 120
MOST_WORDS = 900


def blocks(language: str, page: str = README) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def section(title: str, page: str = README) -> str:
    """The text under a heading."""
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(page: str) -> list[str]:
    return [line for block in blocks("bash", page) for line in block.splitlines()]


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
            shlex.split(command), env=environment, capture_output=True, text=True, timeout=TEST_SECONDS, check=False
        )
    return _done[command]


@pytest.mark.parametrize(
    "command",
    [line for line in (*commands(README), *commands(COMMAND_LINE)) if line.startswith("trio-debugmcp")],
)
def test_commands_of_the_readme_and_of_the_command_line_page_run(
    command: str, path_with_the_command: dict[str, str]
) -> None:
    done = run_once(command, path_with_the_command)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_scripts_that_contributors_are_shown_exist_and_are_executable() -> None:
    for script in re.findall(r"`(scripts/[a-z-]+|\.ci/run)\b", README + CONTRIBUTING):
        assert os.access(ROOT / script, os.X_OK), script


def test_the_demo_finds_the_bug(path_with_the_command: dict[str, str]) -> None:
    done = run_once("trio-debugmcp demo", path_with_the_command)
    assert "notifications/resources/updated debugger://session" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("Found:")


def test_its_lines_for_hosts_are_those_of_the_page_about_hosts() -> None:
    cells = re.findall(r"^\| (.+?) \| `(.+?)`", section("Install"), re.MULTILINE)
    lines = {host.partition(",")[0]: line for host, line in cells}
    assert set(lines) == {"Claude Code", "Codex", "Gemini CLI", "VS Code", "Cursor"}
    for host, line in lines.items():
        assert f"\n{line}\n" in section(host, HOSTS)


async def test_the_answer_of_its_first_session_is_that_of_the_server(tmp_path: Path, debugging: Connect) -> None:
    call, answer = (json.loads(block) for block in blocks("json"))
    shutil.copy(SHOP, tmp_path)
    async with debugging("legacy", "--root", str(tmp_path)) as client:
        stop = await client.call("debug_launch", **call)
    assert {**stop, "pid": answer["pid"]} == answer


@pytest.mark.parametrize(
    ("title", "shows"),
    [
        ("A first look", ['"state":"Paused"', '"pauseReason":"Step"']),
        ("With the SDK's client", ['"reason":"Breakpoint"', '"answer":"42"']),
    ],
)
def test_the_python_examples_of_both_clients_run(
    title: str, shows: list[str], tmp_path: Path, path_with_the_command: dict[str, str]
) -> None:
    (example,) = blocks("python", section(title, CLIENT))
    (tmp_path / "app.py").write_text("answer = 42\nprint(answer)\n")
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env=path_with_the_command,
        capture_output=True,
        text=True,
        timeout=TEST_SECONDS,
        check=False,
    )
    for text in shows:
        assert text in done.stdout, done.stderr


def test_the_tables_of_tools_and_resources_name_all_of_them_and_no_other() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TOOLS.partition("\n## How answers are written\n")[0], re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    listed = {tool.name for tool in open_toolbox().tools if tool.listing != "none"}
    assert listed <= {*named} <= {*open_toolbox().names}  # what only a person's page calls is further down the page
    assert len(named) == len({*named})
    rows = re.findall(r"^\| (`debugger:.*?) \|", RESOURCES, re.MULTILINE)
    uris = {uri for row in rows for uri in re.findall(r"`(\S+?)`", row)}
    assert uris == {
        *RESOURCE_URIS,
        PEOPLE,
        PROCESSOR,
        RUNS,
        SESSIONS,
        SESSION_TEMPLATE,
        SOURCE_TEMPLATE,
        STOP_TEMPLATE,
        CALL_TEMPLATE,
    }


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
    table = FROM_DEBUG_MCP.partition("| its tools | here |")[2].partition("\n\n")[0]
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


def test_the_page_about_resources_names_every_prompt_argument_and_event_type_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section("Prompts", RESOURCES), re.MULTILINE)
    assert [(name, re.findall(r"(\**)`(\w+)`", arguments)) for name, arguments in rows] == [
        (prompt.name, [("**" if each.required else "", each.name) for each in prompt.arguments])
        for prompt in PROMPTS.values()
    ]
    types = section("Timeline", RESOURCES).partition("These are the types: ")[2]
    assert re.findall(r"`(\w+)`", types) == list(EVENT_TYPES)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert len(README.split()) <= MOST_WORDS


def test_the_tests_that_prove_the_requirements_exist() -> None:
    named = set(re.findall(r"`(test_\w+)`", CONFORMANCE))
    defined = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)\(", file.read_text())
    }
    assert len(named) >= 15
    assert named <= defined, named - defined


def test_the_options_of_serve_that_it_and_its_pages_name_exist(path_with_the_command: dict[str, str]) -> None:
    assert shutil.which("trio-debugmcp", path=path_with_the_command["PATH"])
    help_text = run_once("trio-debugmcp serve --help", path_with_the_command).stdout
    for option in re.findall(r"serve\s+(--[\w-]+)", README + COMMAND_LINE + RESOURCES + HOSTS):
        assert option in help_text
