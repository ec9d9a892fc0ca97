"""The GitHub action: its step, run with the runner's variables, writes a summary that names the cause."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SHOP = """
class Stock:
    def __init__(self):
        self.levels = {"tea": 5, "pot": 1}

    def ship(self, name, count):
        if self.levels[name] > count:
            self.levels[name] -= count
            return True
        return False
"""

TESTS = """
from shop import Stock


def test_the_last_one_can_be_shipped():
    assert Stock().ship("pot", 1)


def test_some_can_be_shipped():
    assert Stock().ship("tea", 2)
"""

SECONDS = 300


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "test_shop.py").write_text(TESTS)
    return tmp_path


def environment(project: Path, **more: str) -> dict[str, str]:
    """The runner's variables, and this Python as the one of the job."""
    place = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    runner = {
        "RUNNER_TEMP": str(project),
        "GITHUB_STEP_SUMMARY": f"{project}/summary",
        "GITHUB_OUTPUT": f"{project}/out",
    }
    return {**os.environ, "PATH": place, "PYTHONPATH": str(ROOT), **runner, **more}


def ask_why(project: Path, **variables: str) -> tuple[str, str]:
    """Run the step; return the summary and the outputs."""
    subprocess.run(
        ["bash", str(ROOT / "scripts" / "ci-why"), "trio-debugmcp"],
        cwd=project,
        env=environment(project, **variables),
        check=True,
        timeout=SECONDS,
    )
    return (project / "summary").read_text(), (project / "out").read_text()


@pytest.mark.real
@pytest.mark.both_engines
def test_the_summary_names_the_cause_of_what_pytests_cache_knows_as_failed(project: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=project, env=environment(project), check=False, timeout=SECONDS
    )
    summary, outputs = ask_why(project)
    assert summary.startswith("## Why a test failed\n\n### `test_shop.py::test_the_last_one_can_be_shipped`\n")
    assert "test_some_can_be_shipped`" not in summary
    assert "AssertionError" in summary
    if sys.version_info >= (3, 12):
        assert "if self.levels[name] > count: | false" in summary
    recording = Path(outputs.removeprefix("recording=").strip())
    assert "debug_launch" in recording.read_text()
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"--kept {project}" not in left


@pytest.mark.real
@pytest.mark.both_engines
def test_what_is_not_shown_is_counted_and_a_test_that_is_not_there_is_said(project: Path) -> None:
    summary, _ = ask_why(project, TESTS="test_shop.py::test_nothing\ntest_shop.py::test_some_can_be_shipped", MOST="1")
    assert "there is no test 'test_shop.py::test_nothing'" in summary
    assert summary.endswith("1 more are not shown.\n")
    summary, _ = ask_why(project, TESTS="test_shop.py::test_some_can_be_shipped", MOST="many")
    last = summary.rpartition("### ")[2]
    assert ("debug_hunt" if sys.version_info >= (3, 12) else "It was not recorded:") in last


@pytest.mark.real
def test_without_a_failed_test_the_summary_says_what_to_do(project: Path) -> None:
    summary, _ = ask_why(project)
    assert "No test is known as failed: give `tests`, or run pytest before" in summary
