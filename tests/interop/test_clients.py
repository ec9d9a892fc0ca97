"""The clients that most hosts are built on, and the one to try servers with: TypeScript SDKs and MCP Inspector."""

import json
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests import warm
from tests.client import node
from tests.interop.serving import STEPS, TOKEN, open_http_server
from trio_debugmcp.server.kept_answers import CALL_TEMPLATE
from trio_debugmcp.server.prompts import PROMPTS
from trio_debugmcp.server.tools import open_toolbox
from trio_debugmcp.state.people.people_view import PEOPLE
from trio_debugmcp.state.resources import RESOURCES, SOURCE_TEMPLATE
from trio_debugmcp.state.session_resources import SESSION_TEMPLATE, SESSIONS
from trio_debugmcp.state.stop_resource import STOP_TEMPLATE

pytestmark = pytest.mark.real

TEST_SECONDS = 600

TOOLS = [tool.name for tool in open_toolbox(core_only=True).listed("control")]
SESSION = "debugger://session"

TWIN = pytest.mark.nightly("it says what the older SDK says")

transports = pytest.mark.parametrize("transport", ["stdio", "http"])


async def run(command: list[str], **environment: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, output and errors."""
    done = await trio.run_process(
        command, check=False, capture_stdout=True, capture_stderr=True, env={**os.environ, **environment}
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


# --- The TypeScript SDKs -----------------------------------------------------------------------------------------


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    """The command of the script, copied to a directory from which it finds the SDKs."""
    program, modules = node.typescript_sdks()
    (tmp_path / "node_modules").symlink_to(modules)
    copy = tmp_path / "typescript_client.mjs"
    shutil.copy(Path(__file__).with_name(copy.name), copy)
    return [program, str(copy)]


@asynccontextmanager
async def script_target(transport: str) -> AsyncGenerator[dict[str, Any], None]:
    if transport == "stdio":
        program, *words = warm.server("serve")
        yield {"command": program, "args": words}
        return
    async with open_http_server() as server:
        yield {"url": f"http://{server}/mcp", "token": TOKEN}


@transports
@pytest.mark.parametrize(("sdk", "era"), [("v1", "legacy"), pytest.param("v2", "legacy", marks=TWIN), ("v2", "modern")])
async def test_a_typescript_sdk_works_through_a_session(transport: str, sdk: str, era: str, script: list[str]) -> None:
    with trio.fail_after(TEST_SECONDS):
        async with script_target(transport) as target:
            code, said, complained = await run([*script, sdk, era, json.dumps(target), STEPS])
    assert code == 0, complained
    report = json.loads(said)
    assert report["server"] == "trio-debugmcp"
    assert report["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    assert report["tools"] == TOOLS
    assert report["prompts"] == list(PROMPTS)
    assert (report["resourcesBefore"], report["resourcesAfter"]) == (0, 0)
    assert report["resources"] == [*RESOURCES, SESSIONS, PEOPLE]
    assert report["templates"] == [SOURCE_TEMPLATE, SESSION_TEMPLATE, STOP_TEMPLATE, CALL_TEMPLATE]
    assert report["entry"] == ["Paused", 1]
    assert report["updated"] == [SESSION]
    assert report["afterStep"] == ["Paused", 4]
    assert report["completion"]
    assert report["launched"]["reason"] == "Entry"
    if (transport, era) == ("http", "legacy"):
        loggers = {each["logger"] for each in report["logged"]}
        assert "trio_debugmcp.session.stops.exception_filter" in loggers
        assert "trio_debugmcp.transports.http" not in loggers  # it logs refusals of other clients
    if era == "modern":
        assert report["honored"] == {"resourcesListChanged": True, "resourceSubscriptions": [SESSION]}


# --- The MCP Inspector -------------------------------------------------------------------------------------------


@pytest.fixture
def inspector() -> list[str]:
    """The command of the Inspector without its page."""
    return [*node.inspector(), "--cli"]


@asynccontextmanager
async def inspector_target(transport: str) -> AsyncGenerator[list[str], None]:
    if transport == "stdio":
        yield warm.server("serve")
        return
    async with open_http_server() as server:
        yield [f"http://{server}/mcp", "--header", f"Authorization: Bearer {TOKEN}"]


@pytest.mark.parametrize(("transport", "era"), [("stdio", "legacy"), ("http", "modern")])
async def test_the_inspector_lists_and_calls(transport: str, era: str, inspector: list[str], tmp_path: Path) -> None:
    async def ask(method: str, *words: str) -> tuple[int, Any, str]:
        command = [*inspector, *target, "--protocol-era", era, "--method", method, *words, "--format", "json"]
        environment = {"HOME": str(tmp_path), "MCP_AUTO_OPEN_ENABLED": "false"}
        code, said, complained = await run(command, **environment)
        return code, json.loads(said)["result"] if code == 0 else None, complained

    with trio.fail_after(TEST_SECONDS):
        async with inspector_target(transport) as target:
            code, listed, complained = await ask("tools/list")
            assert code == 0, complained
            assert [tool["name"] for tool in listed["tools"]] == TOOLS

            code, called, complained = await ask(
                "tools/call", "--tool-name", "debug_launch", "--tool-args-json", json.dumps({"program": STEPS})
            )
            assert code == 0, complained
            assert called["structuredContent"]["reason"] == "Entry"
            assert called["content"][0]["type"] == "text"

            code, resources, complained = await ask("resources/list")
            assert code == 0, complained
            uris = [resource["uri"] for resource in resources["resources"]]
            # With the server of stdio its session is gone; over HTTP the next command finds it again.
            assert uris == ([] if transport == "stdio" else [*RESOURCES, SESSIONS, PEOPLE])

            code, _, complained = await ask("tools/call", "--tool-name", "no_such_tool")
            assert code == 5
            assert "tool_not_found" in complained
