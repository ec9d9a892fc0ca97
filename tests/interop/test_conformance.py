"""The protocol's conformance suite against our server over HTTP, unchanged, in each revision that it knows.

The suite runs with an active debug session, and a proxy replaces the suite's names of tools and resources by ours. A
scenario passes with every check, or is in the table `NOT_OURS` with a reason and with exactly the checks that fail;
docs/conformance.md shows the same table.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trio
from msgspec import Struct

from tests.client import node
from tests.interop.serving import ROOT, TOKEN, open_http_server
from tests.interop.turnstile import Turnstile
from trio_debugmcp.client import InspectorClient, InspectorOptions

pytestmark = [
    pytest.mark.real,
    # The HTTP library leaves generators of cancelled streams to the garbage collector, and Trio warns about it.
    pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning"),
]

TEST_SECONDS = 600
"""For one revision, which takes four to eight seconds."""

REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")

EARLIER = pytest.mark.nightly("hosts of earlier revisions are in test_clients.py; each revision takes seconds")

ALWAYS = "wire-schema-valid"
"""A check that runs with every scenario, and says nothing about the scenario itself."""


class Gap(Struct, frozen=True):
    """The reason why a scenario does not apply, and its checks that fail; none if all of them pass trivially."""

    reason: str
    failing: frozenset[str] = frozenset()


def _gap(reason: str, *failing: str) -> Gap:
    return Gap(reason, frozenset(failing))


_CONTENT = "our tools answer with text and structured content"
_NO_ASKING = "the server never asks its client for sampling, elicitation or roots"
_NO_TASKS = "the extension is not offered: tools that wait have a `timeout`, and `debug_wait` continues a wait"

NOT_OURS = {
    "tools-call-image": _gap(_CONTENT, "tools-call-image"),
    "tools-call-audio": _gap(_CONTENT, "tools-call-audio"),
    "tools-call-embedded-resource": _gap(_CONTENT, "tools-call-embedded-resource"),
    "tools-call-mixed-content": _gap(_CONTENT, "tools-call-mixed-content"),
    "tools-call-with-logging": _gap("it counts the log messages of a test tool", "tools-call-with-logging"),
    "tools-call-with-progress": _gap(
        "it wants the progress of a test tool; how far a program is cannot be known",
        "tools-call-with-progress",
    ),
    "tools-call-sampling": _gap(_NO_ASKING, "tools-call-sampling"),
    "tools-call-elicitation": _gap(_NO_ASKING, "tools-call-elicitation"),
    "elicitation-sep1034-defaults": _gap(_NO_ASKING, "elicitation-sep1034-general"),
    "elicitation-sep1330-enums": _gap(_NO_ASKING, "elicitation-sep1330-general"),
    "json-schema-2020-12": _gap("it looks for a test tool whose schema has `$defs`", "json-schema-2020-12-tool-found"),
    "server-sse-polling": _gap(
        "streams are not resumed: after a reconnection state is read again; it calls a test tool", "incoming-sse-event"
    ),
    "resources-read-binary": _gap("all our resources are text", "resources-read-binary"),
    "prompts-get-embedded-resource": _gap("our prompts are text", "prompts-get-embedded-resource"),
    "prompts-get-with-image": _gap("our prompts are text", "prompts-get-with-image"),
    "server-stateless": _gap(
        "all but two checks, which need a test tool that requires sampling",
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
    ),
    "http-custom-header-server-validation": _gap(
        "no tool of ours wants a parameter in a header (`x-mcp-header`)",
        "sep-2243-server-no-xmcp-tool",
        "sep-2243-server-decode-base64",
        "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars",
        "sep-2243-server-reject-param-mismatch",
    ),
    "input-required-result-basic-elicitation": _gap(_NO_ASKING, "sep-2322-elicitation-incomplete"),
    "input-required-result-basic-sampling": _gap(_NO_ASKING, "sep-2322-sampling-incomplete"),
    "input-required-result-basic-list-roots": _gap(_NO_ASKING, "sep-2322-list-roots-incomplete"),
    "input-required-result-request-state": _gap(_NO_ASKING, "sep-2322-request-state-incomplete"),
    "input-required-result-multiple-input-requests": _gap(_NO_ASKING, "sep-2322-multiple-inputs-incomplete"),
    "input-required-result-multi-round": _gap(_NO_ASKING, "sep-2322-multi-round-r1"),
    "input-required-result-missing-input-response": _gap(_NO_ASKING),
    "input-required-result-non-tool-request": _gap(_NO_ASKING, "sep-2322-non-tool-incomplete"),
    "input-required-result-result-type": _gap(_NO_ASKING, "sep-2322-result-type-included"),
    "input-required-result-tampered-state": _gap(_NO_ASKING, "sep-2322-reject-tampered-state"),
    "input-required-result-capability-check": _gap(_NO_ASKING, "sep-2322-respect-client-capabilities"),
    "input-required-result-ignore-extra-params": _gap(_NO_ASKING),
    "input-required-result-validate-input": _gap(_NO_ASKING),
    "tasks-lifecycle": _gap(_NO_TASKS),
    "tasks-capability-negotiation": _gap(_NO_TASKS),
    "tasks-wire-fields": _gap(_NO_TASKS),
    "tasks-request-state-removal": _gap(_NO_TASKS),
    "tasks-mrtr-input": _gap(_NO_TASKS),
    "tasks-request-headers": _gap(_NO_TASKS),
    "tasks-dispatch-and-envelope": _gap(_NO_TASKS),
    "tasks-status-notifications": _gap(_NO_TASKS),
    "tasks-required-task-error": _gap(_NO_TASKS),
    "tasks-mrtr-composition": _gap(_NO_TASKS),
}

PASSING = {
    "2025-06-18": {
        "server-initialize",
        "server-session-lifecycle",
        "logging-set-level",
        "ping",
        "completion-complete",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "resources-list",
        "resources-read-text",
        "resources-templates-read",
        "resources-subscribe",
        "resources-unsubscribe",
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
    },
    "2026-07-28": {
        "completion-complete",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "server-sse-multiple-streams",
        "resources-list",
        "resources-read-text",
        "resources-templates-read",
        "sep-2164-resource-not-found",
        "prompts-list",
        "prompts-get-simple",
        "prompts-get-with-args",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
        "input-required-result-unsupported-methods",
    },
}
PASSING["2025-11-25"] = PASSING["2025-06-18"] | {"server-sse-multiple-streams", "dns-rebinding-protection"}

EXTENSIONS = {
    "sep-2640-skills-directory": frozenset[str](),
    "sep-2640-skills-enumeration": frozenset[str](),
    "sep-2640-skills-manifest": frozenset(("sep-2640-skillmd-metadata-name", "sep-2640-skillmd-metadata-description")),
}
"""The scenarios of extensions, which run one by one and without a session, with their checks that may warn: these want
to see the skill in `resources/list`, which has the resources of a session only."""

STATELESS_CHECKS = {
    "sep-2575-server-implements-discover",
    "sep-2575-discover-capabilities-match-handlers",
    "sep-2575-server-identifies-in-result-meta",
    "sep-2575-server-sends-subscription-ack",
    "sep-2575-server-tags-subscription-id",
    "sep-2575-server-honors-notification-filter",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
"""Discovery and listening, of the scenario that is in the table for two other checks."""


@pytest.fixture
def suite() -> list[str]:
    """The command of the suite. A fixture, so that a missing program is reported before Trio runs."""
    return node.conformance()


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program whose source contains what the suite expects from a template with the parameter 123."""
    path = tmp_path / "program.py"
    path.write_text("print(123)\n")
    return str(path)


def our_names(program: str) -> dict[str, str]:
    """The suite's names of tools, resources and prompts → ours."""
    return {
        "test://watched-resource": "debugger://session",
        "test://static-text": "debugger://session",
        "test://template/123/data": f"debugger://source/{program}",
        "test_simple_text": "debug_state",
        "test_error_handling": "evaluate",  # without an expression
        "test_simple_prompt": "inspect_runtime_state",
        "test_prompt_with_arguments": "find_bug_source",
        '"arg1"': '"symptom"',
        '"arg2"': '"program"',
    }


Checks = list[dict[str, Any]]


def results(directory: Path) -> dict[str, Checks]:
    """Read the checks of each scenario that was run, from the directory that the suite makes for it."""
    return {
        re.sub(r"^server-(.+?)-\d{4}-\d\d-\d\dT.*$", r"\1", path.parent.name): json.loads(path.read_text())
        for path in directory.glob("*/checks.json")
    }


def ids(checks: Checks, status: str) -> set[str]:
    return {check["id"] for check in checks if check["status"] == status}


def failures(checks: Checks) -> str:
    return "; ".join(f"{each['id']}: {each.get('errorMessage')}" for each in checks if each["status"] == "FAILURE")


@pytest.mark.parametrize(
    "revision",
    [*(pytest.param(each, marks=EARLIER) for each in REVISIONS[:-1]), REVISIONS[-1]],
)
async def test_our_server_conforms(revision: str, suite: list[str], program: str, tmp_path: Path) -> None:
    options = InspectorOptions(headers={"Authorization": f"Bearer {TOKEN}"})
    with trio.fail_after(TEST_SECONDS):
        async with (
            open_http_server() as server,
            Turnstile(server, TOKEN, our_names(program)).open() as address,
            InspectorClient(f"http://{server}/mcp", options) as client,
        ):
            launched = await client.call_tool("debug_launch", {"program": program})
            assert launched.success, launched.error
            where = ["--url", f"http://{address}/mcp", "-o", str(tmp_path / "results")]
            what = ["--suite", "all", "--spec-version", revision]
            await trio.run_process([*suite, "server", *where, *what], check=False, capture_stdout=True)
            await client.call_tool("debug_disconnect")
    seen = results(tmp_path / "results")
    passed = {name for name, checks in seen.items() if name not in NOT_OURS and ids(checks, "SUCCESS") - {ALWAYS}}
    assert passed == PASSING[revision]
    for name, checks in seen.items():
        expected = NOT_OURS[name].failing if name in NOT_OURS else frozenset()
        assert ids(checks, "FAILURE") == expected, f"{name}: {failures(checks)}"
    if revision == "2026-07-28":
        assert ids(seen["server-stateless"], "SUCCESS") >= STATELESS_CHECKS
        assert "sep-2549-resources-read-caching-hints" in ids(seen["caching"], "SUCCESS")


async def test_the_skill_conforms_to_its_extension(suite: list[str], tmp_path: Path) -> None:
    async def run(scenario: str) -> None:
        where = ["--url", f"http://{address}/mcp", "-o", str(tmp_path / "results")]
        await trio.run_process([*suite, "server", *where, "--scenario", scenario], check=False, capture_stdout=True)

    with trio.fail_after(TEST_SECONDS):
        async with (
            open_http_server() as server,
            Turnstile(server, TOKEN, {}).open() as address,
            trio.open_nursery() as nursery,
        ):
            for scenario in EXTENSIONS:
                nursery.start_soon(run, scenario)
    seen = results(tmp_path / "results")
    for scenario, warnings in EXTENSIONS.items():
        checks = seen[scenario]
        assert len(ids(checks, "SUCCESS")) >= 3
        assert {each["id"] for each in checks if each["status"] != "SUCCESS"} == warnings, failures(checks)


def test_every_scenario_of_the_suite_passes_or_is_explained(suite: list[str]) -> None:
    listed = subprocess.run([*suite, "list"], check=True, capture_output=True, text=True, timeout=TEST_SECONDS).stdout
    ours = listed.partition("Server scenarios")[2].partition("Client scenarios")[0]
    scenarios = set(re.findall(r"^  - ([\w-]+) ", ours, re.MULTILINE))
    assert scenarios == set.union(*PASSING.values(), set(EXTENSIONS)) | set(NOT_OURS)


def test_the_page_says_what_passes_and_why_the_rest_does_not() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    text = page.partition("\n## Conformance\n")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", text, re.MULTILINE))
    explained = {
        scenario: reason for scenarios, reason in rows.items() for scenario in re.findall(r"`([\w-]+)`", scenarios)
    }
    passing = explained_by(explained, "passes")
    assert passing == set.union(*PASSING.values(), set(EXTENSIONS))
    assert {name: reason for name, reason in explained.items() if name not in passing} == {
        name: gap.reason for name, gap in NOT_OURS.items()
    }
    assert node.CONFORMANCE.rpartition("@")[2] in text


def explained_by(explained: dict[str, str], reason: str) -> set[str]:
    return {name for name, each in explained.items() if each == reason}
