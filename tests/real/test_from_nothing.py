"""From a machine with Python and nothing else to the cause of a failing test."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.pythons import found

ROOT = Path(__file__).resolve().parents[2]

SECONDS = 600

pytestmark = pytest.mark.nightly("builds a wheel, and installs it with all that it needs, from PyPI")

TILL = """\
def total(prices, discount=0):
    paid = sum(prices)
    paid = paid - discount * 100
    return paid
"""

TEST = """\
from till import total


def test_a_discount_is_taken_off_once():
    assert total([300, 200], discount=1) == 499
"""


def run(*command: str, cwd: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        command, cwd=cwd, env=kept | environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def wheel_in(folder: Path) -> str:
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT), cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return str(wheel)


def test_uvx_shows_the_demo_of_a_wheel_without_an_installation(tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", str(tmp_path / "uv"), cwd=tmp_path)
    run(str(tmp_path / "uv/bin/python"), "-m", "pip", "install", "--quiet", "uv", cwd=tmp_path)
    uvx = str(tmp_path / "uv/bin/uvx")
    cache = str(tmp_path / "cache")
    shown = run(
        uvx, "--from", wheel_in(tmp_path), "trio-debugmcp", "demo",
        cwd=tmp_path, HOME=str(tmp_path), UV_CACHE_DIR=cache,
    )  # fmt: skip
    assert shown.splitlines()[-1].startswith("Found:")


def test_a_wheel_and_pip_lead_to_the_cause_of_a_failing_test_in_two_calls(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)
    feature = ROOT / "docs" / "deploy" / "devcontainer" / "trio-debugmcp" / "install.sh"
    run(str(feature), cwd=tmp_path, SOURCE=wheel, PREFIX=str(tmp_path / "usr"))
    ours = str(tmp_path / "usr" / "bin" / "trio-debugmcp")
    shown = run(ours, "demo", cwd=tmp_path)
    assert (shown.splitlines()[-1].startswith("Found:"), "(library)" in shown) == (True, False)

    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "till.py").write_text(TILL)
    (project / "test_till.py").write_text(TEST)
    python = next((python for python in found() if python.version in ((3, 12), (3, 13))), None)
    assert python is not None, "install Python 3.13 or 3.12: recordings need it"
    run(python.path, "-m", "venv", str(project / ".venv"), cwd=project)
    run(str(project / ".venv/bin/python"), "-m", "pip", "install", "--quiet", "pytest", cwd=project)
    with TemporaryDirectory() as runtime:  # of a short path, for a socket
        test = "test=test_till.py::test_a_discount_is_taken_off_once"
        stop = json.loads(run(ours, "call", "debug_launch", test, "record=true", cwd=project, XDG_RUNTIME_DIR=runtime))
        assert "AssertionError" in stop["exception"]
        cause = run(ours, "call", "why", cwd=project, XDG_RUNTIME_DIR=runtime)
        assert "till.py:3" in cause
        run(ours, "call", "--end", cwd=project, XDG_RUNTIME_DIR=runtime)
