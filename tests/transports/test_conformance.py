"""The protocol's own conformance suite against our server over Streamable HTTP, as far as it is about such a server.

What is left out wants tools, prompts and resources of a test server: images and audio, sampling and elicitation,
tasks, `x-mcp-header`. Three scenarios that are about us name such things too, and are told our names instead.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client import node

HERE = Path(__file__).parent
ROOT = HERE.parent.parent

SCENARIO_SECONDS = 60

OUR_NAMES = {
    "test://watched-resource": "debugger://session",
    "name:`test_prompt_with_arguments`},argument:{name:`arg1`": "name:`diagnose_exception`},argument:{name:`program`",
}

SCENARIOS = [
    "server-initialize", "server-session-lifecycle", "ping", "logging-set-level", "completion-complete",
    "tools-list", "tools-call-error", "resources-list", "resources-subscribe", "resources-unsubscribe", "prompts-list",
    "sep-2164-resource-not-found", "server-sse-multiple-streams", "dns-rebinding-protection", "caching",
    "http-header-validation",
]  # fmt: skip

WANTS_A_TEST_TOOL = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
"""Checks of `server-stateless` that call a tool which needs sampling; none of ours does."""

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def suite() -> Iterator[list[str]]:
    """The command of the suite, with our names in it."""
    command, original = node.conformance()
    text = Path(original).read_text()
    for theirs, ours in OUR_NAMES.items():
        assert theirs in text
        text = text.replace(theirs, ours)
    ours_path = Path(original).with_name(f"with-our-names-{os.getpid()}.js")
    ours_path.write_text(text)
    yield [command, str(ours_path)]
    ours_path.unlink()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server that is open to the suite."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / "open_server.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process.stdout:
        yield process.stdout.readline().strip()
        process.terminate()
        process.wait(20)


def failures(suite: list[str], url: str, scenario: str, directory: Path) -> dict[str, str]:
    """The checks that failed, with their reasons; there must have been some that did not."""
    command = [*suite, "server", "--url", url, "--scenario", scenario, "-o", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SCENARIO_SECONDS, check=False, cwd=directory)
    reports = list(directory.glob("*/checks.json"))
    assert reports, done.stdout + done.stderr
    checks = [check for report in reports for check in json.loads(report.read_text())]
    assert any(check["status"] == "SUCCESS" for check in checks)
    return {check["id"]: str(check.get("errorMessage")) for check in checks if check["status"] == "FAILURE"}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_scenario_passes(scenario: str, suite: list[str], url: str, tmp_path: Path) -> None:
    assert failures(suite, url, scenario, tmp_path) == {}


def test_the_modern_era_passes_but_for_a_tool_that_we_do_not_have(suite: list[str], url: str, tmp_path: Path) -> None:
    assert set(failures(suite, url, "server-stateless", tmp_path)) <= WANTS_A_TEST_TOOL
