"""Whether anything will catch an exception: the verdict at the raise is compared with what then happens."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.engine.raising_programs import raising_programs

ROOT = Path(__file__).parents[2]

OLDEST = (3, 12)

INSIDE = sorted((ROOT / "trio_debugmcp" / "engine" / "inside" / "catching").rglob("*.py"))

CHECKS = sorted(file.stem for file in (Path(__file__).parent / "checks").glob("[!_]*.py"))


def interpreters() -> dict[str, str]:
    """The interpreters of pyenv that have `sys.monitoring`, and the running one if it has."""
    found = {}
    for python in sorted(Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python")):
        version = python.parents[1].name
        if tuple(map(int, version.split(".")[:2])) >= OLDEST:
            found[version] = str(python)
    if sys.version_info[:2] >= OLDEST:
        found[f"{sys.version.split()[0]} (running)"] = sys.executable
    return found


INTERPRETERS = interpreters()


def test_there_are_interpreters_that_the_engine_runs_on() -> None:
    if not INTERPRETERS and not os.environ.get("REQUIRE_ADAPTERS"):
        pytest.skip("CPython 3.12 or newer is not installed by pyenv")
    assert INTERPRETERS


@pytest.mark.real
@pytest.mark.parametrize("version", INTERPRETERS)
def test_the_checks_pass_on_every_interpreter(version: str) -> None:
    ran = subprocess.run(
        [INTERPRETERS[version], "-m", "tests.engine.checks", *CHECKS],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" checks of ") == len(CHECKS)


def test_only_siblings_and_sys_are_imported() -> None:
    for file in INSIDE:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                assert [alias.name for alias in node.names] == ["sys"]
            elif isinstance(node, ast.ImportFrom) and file.stem != "notation":
                assert (node.module or "").startswith("trio_debugmcp.engine.inside.catching"), node.module


@pytest.fixture(scope="module", params=INTERPRETERS)
def follower(request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[str]"]:
    """A process that runs programs one after the other and answers how their exceptions were judged."""
    with subprocess.Popen(
        [INTERPRETERS[request.param], "-m", "tests.engine.following"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.real
@given(text=raising_programs())
@settings(
    max_examples=int(os.environ.get("RAISING_PROGRAMS", "150")),
    deadline=None,
    database=None,
    derandomize="RAISING_PROGRAMS" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_no_verdict_is_wrong_whatever_a_program_raises(follower: "subprocess.Popen[str]", text: str) -> None:
    assert follower.stdin is not None
    assert follower.stdout is not None
    follower.stdin.write(json.dumps(text) + "\n")
    follower.stdin.flush()
    verdicts = json.loads(follower.stdout.readline())
    assert [description for verdict, description in verdicts if verdict in ("wrong", "misplaced")] == []
