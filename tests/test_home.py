"""A home directory that is not there, or may not be searched, decides nothing."""

import os
import subprocess
from pathlib import Path

import pytest

from trio_debugmcp.home import NOWHERE, expanded, home_directory
from trio_debugmcp.own_command import own_command

UNSEARCHABLE = "/" + 300 * "x"
"""A path whose `stat` raises, for the superuser as well: no name may be that long."""


def test_a_tilde_is_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert home_directory() == Path("/home/ada")
    assert expanded("~/.config") == Path("/home/ada/.config")
    assert expanded("/etc/~/x") == Path("/etc/~/x")


def test_without_a_home_a_path_is_never_one_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "relative")
    assert home_directory() == Path(NOWHERE)
    monkeypatch.setenv("HOME", "~")  # what a user without an entry in the list of users has
    assert expanded("~/.config") == Path(NOWHERE, ".config")


@pytest.mark.real
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["serve"], ""),
        (["doctor"], "which stopped at a breakpoint"),
        (["adapters"], "debugpy"),
        (["skill"], "Claude Code"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_home_that_may_not_be_searched_keeps_no_command_from_its_work(arguments: list[str], expected: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    env |= {"HOME": UNSEARCHABLE, "CLAUDE_CONFIG_DIR": f"{UNSEARCHABLE}/.claude"}
    ran = subprocess.run(
        own_command(*arguments), env=env, input="", capture_output=True, text=True, timeout=300, check=False
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    assert expected in ran.stdout
