"""The program that the conformance suite runs: makes the calls of a scenario at the URL of its last argument."""

import json
import logging
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx2
import trio
from mcp import types
from mcp.client.session import ClientRequestContext

from trio_debugmcp.client import InspectorClient, InspectorOptions, OAuth

SECONDS = 90.0
"""For each wait: the suite starts a client for each of its scenarios at once, and bounds them all."""

SAMPLES = {"integer": 1, "number": 2, "boolean": True}


async def accept_defaults(
    context: ClientRequestContext,
    params: types.ElicitRequestParams,
) -> types.ElicitResult:
    schema: dict[str, Any] = getattr(params, "requested_schema", None) or {}
    properties = schema.get("properties") or {}
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return types.ElicitResult(action="accept", content=defaults)


def planned_calls(tools: tuple[types.Tool, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the scenario dictates, else one of each tool with arguments that its schema admits."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    return [(tool.name, _arguments(tool, tools)) for tool in tools]


def _arguments(tool: types.Tool, tools: tuple[types.Tool, ...]) -> dict[str, Any]:
    if tool.name == "json_schema_echo":
        return {"schema": tools[0].input_schema}
    properties = tool.input_schema.get("properties") or {}
    return {name: SAMPLES.get(each.get("type"), "x") for name, each in properties.items()}


class _Listening(logging.Handler):
    """Sets an event when the stream for server notifications is open, which only the SDK's log shows."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.open = trio.Event()
        logger = logging.getLogger("mcp.client.streamable_http")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "GET SSE connection established":
            self.open.set()


async def browse(page: str) -> None:
    """A browser whose person consents to everything."""
    async with httpx2.AsyncClient(follow_redirects=True, trust_env=False, timeout=SECONDS) as browser:
        await browser.get(page)


async def issuer() -> str:
    """The authorisation server that the scenario's server names; a person would know it from the registration."""
    url = urlsplit(sys.argv[-1])
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS) as http:
        found = await http.get(f"http://{url.netloc}/.well-known/oauth-protected-resource{url.path}")
    return str(found.json()["authorization_servers"][0])


async def authorisation(directory: str) -> OAuth:
    """What the scenario says of the client: registered beforehand, with credentials of its own, or neither."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    by_itself = os.environ["MCP_CONFORMANCE_SCENARIO"] == "auth/client-credentials-basic"
    return OAuth(
        open_url=browse,
        store=Path(directory) / "tokens.json",
        client_id=context.get("client_id"),
        client_secret=context.get("client_secret"),
        client_metadata_url="https://conformance-test.local/client-metadata.json",
        grant="client_credentials" if by_itself else "authorization_code",
        issuer=await issuer() if by_itself else None,
        wait=SECONDS,
    )


async def main() -> None:
    with TemporaryDirectory() as directory:
        await run(await authorisation(directory))


async def run(oauth: OAuth) -> None:
    options = InspectorOptions(
        elicitation=accept_defaults, connect_timeout=SECONDS, request_timeout=SECONDS, oauth=oauth
    )
    listening = _Listening()
    async with InspectorClient(sys.argv[-1], options) as client:
        if os.environ.get("MCP_CONFORMANCE_SCENARIO") == "sse-retry":
            # The scenario takes the first GET during the call for the one that resumes the call's stream.
            with trio.fail_after(SECONDS):
                await listening.open.wait()
        for name, arguments in planned_calls(client.tools):
            await client.call_tool(name, arguments)


if __name__ == "__main__":
    trio.run(main)
