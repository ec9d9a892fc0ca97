"""`shell` as a person at a terminal has it, with servers that this project did not write."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import SERVER
from tests.cli.terminal import open_terminal
from tests.client import node, pypi

pytestmark = pytest.mark.real

SHELL = [sys.executable, "-m", "trio_debugmcp", "shell"]


@pytest.fixture
def everything() -> list[str]:
    """The command of the reference server."""
    return node.server_everything()


async def test_a_person_explores_the_reference_server(everything: list[str]) -> None:
    async with open_terminal([*SHELL, "--", *everything]) as terminal:
        # Over as many lines as the path of the directory takes.
        await terminal.shows(r"(?s)directories of the project\. Name .*\?\s*\[\s*y\s*/\s*n\s*\]")
        await terminal.talks(
            ("n\r", r"Roots updated: 0 root"),
            ("call get-su\t", r"mcp> call get-sum$"),
            (" a=2 b=3\r", r"The sum of 2 and 3 is 5\."),
            ("prompt completable-prompt department=En\t", r"department=Engineering$"),
            (" name=A\t", r"name=Alice$"),
            ("\r", r"Please promote Alice"),
        )
        await terminal.types("subscribe demo://resource/dynamic/text/1\r")
        await terminal.talks(
            ("call toggle-subscriber-updates\r", r"changed: demo://resource/dynamic/text/1"),
            ("unsubscribe\rcall trigger-elicitation-request\r", r"Answer\? \[y/n\]"),
            ("y\r", r"legal name \(text, required\)"),
            ("\r", r"a value is required"),
            ("Ada\r", r"terms and conditions"),
            ("\x04", r"\"action\": \"cancel\""),
            ("call trigger-long-running-operation duration=60 steps=60\r", r"1/60"),
        )
        await terminal.types("\x03")
        await terminal.types("ping\r")
        await terminal.shows(r"the server answers")
        assert not terminal.echoes, "the prompt draws what is typed"
        await terminal.types("\x04")
        assert await terminal.ends() == 0
        assert terminal.echoes, "the terminal is as it was"


@pytest.fixture
def time_server() -> list[str]:
    """The command of a server from PyPI."""
    return pypi.server("mcp_server_time", "--local-timezone", "UTC")


@pytest.fixture
def git_server(tmp_path: Path) -> list[str]:
    """The command of a server from PyPI, for a repository with one commit."""
    for words in (["init", "-q"], ["config", "user.email", "a@example.com"], ["config", "user.name", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "the first one"], cwd=tmp_path, check=True)
    return pypi.server("mcp_server_git", "--repository", str(tmp_path))


async def test_a_person_asks_a_server_for_the_time(time_server: list[str]) -> None:
    async with open_terminal([*SHELL, "--", *time_server]) as terminal:
        await terminal.shows(r"mcp>")
        await terminal.talks(
            (
                "call convert_time source_timezone=UTC time=12:00 target_timezone=Asia/Tokyo\r",
                r'"time_difference": "\+9\.0h"',
            ),
            ("call convert_time source_timezone=Mars\r", r"reported an error|Error"),
        )
        await terminal.types("quit\r")
        assert await terminal.ends() == 0


async def test_a_person_looks_at_a_repository(git_server: list[str], tmp_path: Path) -> None:
    async with open_terminal([*SHELL, "--root", str(tmp_path), "--", *git_server]) as terminal:
        await terminal.shows(r"mcp>")
        await terminal.talks(
            ("tools status\r", r"git_status +Shows the working tree status\n.*listed, \d+ left out"),
            (f"call git_log repo_path={tmp_path}\r", r"the first one"),
        )
        await terminal.types("\x04")
        assert await terminal.ends() == 0


async def test_a_killed_server_is_reported_and_the_prompt_stays(tmp_path: Path) -> None:
    script, number = tmp_path / "server.py", tmp_path / "pid"
    lines = (
        "import os",
        f"open({str(number)!r}, 'w').write(str(os.getpid()))",
        f"os.execv({SERVER[1]!r}, {SERVER[1:]!r})",
    )
    script.write_text("\n".join(lines))
    async with open_terminal([*SHELL, "--", sys.executable, str(script)]) as terminal:
        await terminal.shows(r"mcp>")
        os.kill(int(number.read_text()), signal.SIGKILL)
        await terminal.shows(r"disconnected: ")
        await terminal.shows(r"connected again")
        await terminal.types("ping\r")
        await terminal.shows(r"the server answers")
        os.kill(terminal.pid, signal.SIGTERM)
        await terminal.ends()
        assert terminal.echoes


async def test_a_person_who_starts_the_server_by_hand_learns_what_it_is() -> None:
    async with open_terminal([sys.executable, "-m", "trio_debugmcp"]) as terminal:
        await terminal.shows(r"This is an MCP server.*Ctrl-C ends it")
        await terminal.types("\x04")  # the end of its input
        assert await terminal.ends() == 0
