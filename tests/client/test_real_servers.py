"""Servers that this project did not write: the protocol's reference server and conformance suite, and the SDK's.

Real processes and sockets on loopback, hence the real clock, short bounds, and few tests. Without node, npm or a
registry they are skipped by name.
"""

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp import types
from mcp.client.session import ClientRequestContext

from tests import warm
from tests.client import node
from tests.ports import free_port
from trio_debugmcp.client import (
    ConnectionLost,
    InspectorClient,
    InspectorOptions,
    Reconnect,
)
from trio_debugmcp.client.state.message_log import MessageEntry

pytestmark = pytest.mark.real

http_leftovers = pytest.mark.filterwarnings("ignore:Async generator 'http(x|core)2:ResourceWarning")
"""The HTTP library leaves generators of cancelled streams to the garbage collector, and Trio says so."""

DYNAMIC = "demo://resource/dynamic/text/1"


@pytest.fixture
def everything() -> list[str]:
    """The command of the reference server. A fixture, so that what is missing is named before Trio runs."""
    return node.server_everything()


@pytest.fixture
def suite() -> list[str]:
    """The command of the conformance suite."""
    return node.conformance()


@asynccontextmanager
async def http_server(everything: list[str], port: int) -> AsyncGenerator[subprocess.Popen[bytes], None]:
    """server-everything over Streamable HTTP, from listening until it is killed."""
    process = subprocess.Popen(
        [*everything, "streamableHttp"],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with trio.fail_after(120):
            while True:
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait()


async def everything_works(client: InspectorClient) -> None:
    """What a person does first with a server: look at the lists, read, call, subscribe, see a change."""
    assert client.status == "connected"
    assert client.server_info is not None
    assert client.server_info.name == "mcp-servers/everything"
    assert len(client.tools) > 10
    assert len(client.resources) >= 7
    read = await client.read_resource(DYNAMIC)
    assert client.cache.get_resource(DYNAMIC) is read
    total = await client.call_tool("get-sum", {"a": "2", "b": 3})
    assert total.result is not None
    assert "5" in str(total.result.content)
    prompt = await client.get_prompt("simple-prompt")
    assert prompt.result.messages
    template = client.resource_templates[0].uri_template
    through = await client.read_resource_from_template(template, {"resourceId": "7"})
    assert client.cache.get_resource_template(template) is through
    completions = await client.get_completions(types.PromptReference(name="completable-prompt"), "department", "E")
    assert completions.values == ["Engineering"]
    async with client.subscribed(DYNAMIC) as updates:
        assert client.is_subscribed_to_resource(DYNAMIC)
        await client.call_tool("toggle-subscriber-updates")
        update = await anext(aiter(updates))
        assert update.uri == DYNAMIC
        assert client.cache.get_resource(DYNAMIC) is None
        assert client.cache.get_resource(DYNAMIC, allow_stale=True) is read
        left = client.wait_for("resourceSubscriptionsChange")
    assert (await left).uris == ()
    added = client.wait_for("resourcesChange")
    zipped = {"name": "x.gz", "data": "data:text/plain;base64,eA==", "outputType": "resourceLink"}
    assert (await client.call_tool("gzip-file-as-resource", zipped)).success
    assert (await added).added == ("demo://resource/session/x.gz",)
    await client.set_logging_level("debug")
    await client.ping()


async def test_server_everything_over_stdio(everything: list[str]) -> None:
    with trio.fail_after(120):
        async with InspectorClient(everything) as client:
            await everything_works(client)
            assert "Starting default (STDIO) server..." in [entry.line for entry in client.stderr]


@http_leftovers
async def test_server_everything_over_http(everything: list[str]) -> None:
    port = free_port()
    with trio.fail_after(120):
        async with http_server(everything, port), InspectorClient(f"http://127.0.0.1:{port}/mcp") as client:
            await everything_works(client)


@http_leftovers
async def test_an_http_server_that_was_restarted_is_found_again_with_its_subscriptions(everything: list[str]) -> None:
    port = free_port()
    options = InspectorOptions(reconnect=Reconnect(first_delay=0.2, max_delay=0.5, attempts=40))
    with trio.fail_after(120):
        async with (
            http_server(everything, port) as first,
            InspectorClient(f"http://127.0.0.1:{port}/mcp", options) as client,
        ):
            await client.subscribe_to_resource(DYNAMIC)
            back = client.wait_for("connect")
            replayed = client.wait_for("resourceSubscriptionsChange", lambda event: DYNAMIC in event.uris)
            first.kill()
            first.wait()
            with pytest.raises(ConnectionLost):
                await client.read_resource(DYNAMIC)
            async with http_server(everything, port):
                await back
                await replayed
                await client.read_resource(DYNAMIC)
                assert client.tools
                await client.disconnect()


async def test_a_burst_of_changes_before_the_first_list_costs_one_list_or_two(everything: list[str]) -> None:
    """The reference server sends one after `initialized` if the client has roots and sampling."""

    async def decline(context: ClientRequestContext, params: Any) -> types.ErrorData:
        return types.ErrorData(code=-1, message=f"declined {params} of {context.request_id}")

    options = InspectorOptions(sampling=decline, elicitation=decline, roots=())
    with trio.fail_after(120):
        async with InspectorClient(everything, options) as client:

            def sent(method: str) -> list[MessageEntry]:
                return [entry for entry in client.messages if entry.message.get("method") == method]

            while len(sent("notifications/tools/list_changed")) < 2 or not sent("roots/list"):  # noqa: ASYNC110 (of the server)
                await trio.sleep(0.05)
            while not sent("tools/list") or any(
                entry.response is None for entry in [*sent("roots/list"), *sent("tools/list")]
            ):
                await trio.sleep(0.05)
            assert len(sent("tools/list")) <= 3


async def test_progress_of_a_long_call_extends_its_time_and_is_announced_with_its_tool(everything: list[str]) -> None:
    with trio.fail_after(120):
        async with InspectorClient(everything) as client, client.events("progress") as events:
            long = {"duration": 4, "steps": 8}  # a busy machine may be late with some of them
            assert (await client.call_tool("trigger-long-running-operation", long, timeout=3.5)).success
            steps: list[Any] = [await anext(events) for _ in range(8)]
            assert [(step.progress, step.total) for step in steps] == [(number, 8) for number in range(1, 9)]
            assert {step.name for step in steps} == {"trigger-long-running-operation"}


SDK_SERVER = """
import sys, trio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.subscriptions import ResourceUpdated, ResourcesListChanged

server = MCPServer("sdk-example", instructions="an example")
value = 1

@server.resource("demo://value")
def read() -> str:
    return str(value)

@server.tool()
async def bump(ctx: Context) -> int:
    "Raise the value and notify the subscribers."
    global value
    value += 1
    print("bumped", file=sys.stderr)
    await ctx.notify_resource_updated("demo://value")
    return value

trio.run(server.run_stdio_async)
"""


@pytest.fixture
def sdk_server(tmp_path: Path) -> list[str]:
    script = tmp_path / "server.py"
    script.write_text(SDK_SERVER)
    return [sys.executable, str(script)]


async def test_an_sdk_server_over_stdio_in_the_modern_era(sdk_server: list[str]) -> None:
    with trio.fail_after(120):
        async with InspectorClient(sdk_server, InspectorOptions(mode="modern", auto_reread=True)) as client:
            assert client.protocol_version == "2026-07-28"
            assert client.instructions == "an example"
            await client.subscribe_to_resource("demo://value")
            first = await client.read_resource("demo://value")
            reread = client.wait_for("resourceContentChange")
            bumped = await client.call_tool("bump")
            assert bumped.success, bumped.error
            second = (await reread).content
            assert client.cache.get_resource("demo://value") is second
            assert (first.result.contents[0].text, second.result.contents[0].text) == ("1", "2")  # type: ignore[union-attr]
            await client.ping()


async def test_an_sdk_server_in_the_handshake_era(sdk_server: list[str]) -> None:
    with trio.fail_after(120):
        async with InspectorClient(sdk_server, InspectorOptions(mode="legacy")) as client:
            assert client.protocol_version == "2025-11-25"
            assert {tool.name for tool in client.tools} == {"bump"}
            assert (await client.read_resource("demo://value")).result.contents


@pytest.mark.parametrize("mode", ["legacy", "modern"])
async def test_our_own_server_over_stdio_shows_a_session_from_launch_to_end(mode: Any, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("x = 1\ny = x + 1\nprint(y)\n")
    session = "debugger://session"
    options = InspectorOptions(mode=mode, auto_reread=True)
    with trio.fail_after(120):
        async with InspectorClient(warm.server(), options) as client:
            assert client.resources == ()
            appeared = client.wait_for("resourcesChange")
            launched = await client.call_tool("debug_launch", {"program": str(program)})
            assert launched.success, launched.error
            assert session in (await appeared).added
            await client.subscribe_to_resource(session)
            read = await client.read_resource(session)
            assert client.cache.get_resource(session) is read
            moved = client.wait_for("resourceContentChange", lambda event: line_of(event.content) == 2)
            assert (await client.call_tool("debug_step", {"mode": "over"})).success
            followed = (await moved).content
            assert client.cache.get_resource(session) is followed, "without asking"
            gone = client.wait_for("resourcesChange")
            await client.call_tool("debug_disconnect")
            assert session in (await gone).removed
            assert client.cache.get_resource(session, allow_stale=True) is None


def line_of(read: Any) -> int | None:
    location = json.loads(read.result.contents[0].text)["currentLocation"]
    line: int | None = location and location["line"]
    return line


SUITES = {
    "core": (
        "initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry",
        "auth/metadata-default", "auth/metadata-var1", "auth/metadata-var2", "auth/metadata-var3", "auth/basic-cimd",
        "auth/scope-from-www-authenticate", "auth/scope-from-scopes-supported", "auth/scope-omitted-when-undefined",
        "auth/scope-step-up", "auth/scope-retry-limit", "auth/token-endpoint-auth-basic",
        "auth/token-endpoint-auth-post", "auth/token-endpoint-auth-none", "auth/pre-registration",
    ),
    "draft": (
        "request-metadata", "http-standard-headers", "http-custom-headers", "http-invalid-tool-headers",
        "sep-2322-client-request-state", "json-schema-ref-no-deref", "auth/resource-mismatch",
        "auth/offline-access-scope", "auth/offline-access-not-supported", "auth/authorization-server-migration",
        "auth/iss-supported", "auth/iss-not-advertised", "auth/iss-supported-missing", "auth/iss-wrong-issuer",
        "auth/iss-unexpected", "auth/iss-normalized", "auth/metadata-issuer-mismatch",
    ),
    "backcompat": ("auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"),
}  # fmt: skip
"""The scenarios of each of the conformance suite's own suites, which it runs at once: much quicker than one by one."""

ALONE = ("json-schema-2020-12-preservation", "auth/client-credentials-basic")
"""Scenarios of no suite of which all others apply."""

SCENARIO_SECONDS = 100
"""After this a scenario hangs: a suite starts a client for each of its scenarios at once."""


async def run_suite(suite: list[str], results: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    """Run client scenarios with our client; returns the checks of each. A client that does nothing passes 0 of 0."""
    program = shlex.join(warm.python_m("tests.client.conformance_client"))
    options = (*options, "--timeout", str(SCENARIO_SECONDS * 1000), "-o", str(results))
    with trio.fail_after(SCENARIO_SECONDS + 10):
        result = await trio.run_process(
            [*suite, "client", "--command", program, *options],
            env={**os.environ, "HOME": str(results)},
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    checks = {
        re.sub(r"-\d{4}-\d\d-\d\dT.*", "", str(report.parent.relative_to(results))): json.loads(report.read_text())
        for report in results.rglob("checks.json")
    }
    failed = {
        scenario: [check for check in report if check["status"] == "FAILURE"] for scenario, report in checks.items()
    }
    failed = {scenario: failures for scenario, failures in failed.items() if failures}
    said = "".join(
        file.read_text()[-2000:] for file in results.rglob("std*.txt") if any(name in str(file) for name in failed)
    )
    assert not failed, json.dumps(failed, indent=1)[:3000] + said
    assert result.returncode == 0, result.stdout.decode()[-2000:]
    assert all("SUCCESS" in [check["status"] for check in each] for each in checks.values())
    return checks


@pytest.mark.parametrize("name", SUITES)
async def test_the_conformance_suite_is_satisfied(name: str, suite: list[str], tmp_path: Path) -> None:
    assert set(await run_suite(suite, tmp_path, "--suite", name)) == set(SUITES[name])


@pytest.mark.parametrize("scenario", ALONE)
async def test_scenarios_of_no_whole_suite_are_satisfied(scenario: str, suite: list[str], tmp_path: Path) -> None:
    assert list(await run_suite(suite, tmp_path, "--scenario", scenario)) == [scenario]


async def test_the_page_says_why_the_other_scenarios_do_not_apply(suite: list[str]) -> None:
    with trio.fail_after(120):
        listed = (await trio.run_process([*suite, "list"], capture_stdout=True)).stdout.decode()
    theirs = listed.partition("Client scenarios")[2].partition("Authorization server scenarios")[0]
    page = (Path(__file__).parent.parent.parent / "docs/conformance.md").read_text(encoding="utf-8")
    excused = page.partition("## Conformance of the client")[2].partition("`auth/client-credentials-basic` among them")[
        2
    ]
    assert set(re.findall(r"^  - (\S+)", theirs, re.MULTILINE)) == {
        *ALONE, *itertools.chain(*SUITES.values()), *re.findall(r"`((?:auth|sep)\S+)`", excused),
    }  # fmt: skip
