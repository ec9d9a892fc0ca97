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


@pytest.mark.real
@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", sorted({*NAMES} - COMMANDS))
def test_a_script_that_is_asked_for_help_prints_its_head(name: str, option: str) -> None:
    _, first, *_ = (SCRIPTS / name).read_text().splitlines()
    done = run(name, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(first.removeprefix("# "))
    assert "set -" not in done.stdout


@pytest.mark.real
def test_an_old_python_is_refused_before_anything_is_installed(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.10.13" && exit\nexit 1\n')
    old.chmod(0o755)
    environment = {**os.environ, "PYTHON": str(old), "TRIO_DEBUGMCP_VENV": str(tmp_path / "venv")}
    done = subprocess.run([SCRIPTS / "demo"], capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("Python 3.10.13 is too old: install Python 3.11 or newer")
    assert not (tmp_path / "venv").exists()


def test_there_are_scripts() -> None:
    assert {"bench", "check", "demo", "soak", "test"} <= {*NAMES}
