"""Each script says what it does when it is asked, and does nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
NAMES = sorted(each.name for each in SCRIPTS.iterdir() if os.access(each, os.X_OK) and each.is_file())
COMMANDS = {"demo", "scenario"}
"""These are commands of the package, whose own help they print."""


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPTS / name, *arguments], capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", sorted({*NAMES} - COMMANDS))
def test_a_script_that_is_asked_for_help_prints_its_head(name: str, option: str) -> None:
    _, first, *_ = (SCRIPTS / name).read_text().splitlines()
    done = run(name, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(first.removeprefix("# "))
    assert "set -" not in done.stdout


def test_there_are_scripts() -> None:
    assert {"bench", "check", "demo", "soak", "test"} <= {*NAMES}
