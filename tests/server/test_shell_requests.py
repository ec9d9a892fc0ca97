"""Calls of shells are served without the SDK, as its server serves them."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from trio_debugmcp.kept.calling import META
from trio_debugmcp.server_options import Options
from trio_debugmcp.testing import FakeAdapter, Server, open_server
from trio_debugmcp.transports.in_memory import ByteStream, byte_stream_pair

OTHER = {**META, "io.modelcontextprotocol/clientInfo": {"name": "another client", "version": "1"}}

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/call", {"name": "breakpoint_list", "arguments": {}}),
    ("tools/call", {"name": "debug_state", "arguments": {"full": True}}),
    ("tools/call", {"name": "debug_more", "arguments": {"tool": "adapters_list"}}),
    ("tools/call", {"name": "debug_step", "arguments": {"mode": "sideways"}}),
    ("tools/call", {"name": "no_such_tool"}),
]


class Shell:
    """One conversation on lines of bytes."""

    def __init__(self, stream: ByteStream, meta: dict[str, Any]) -> None:
        self.stream = stream
        self._meta = meta
        self._buffer = b""

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": self._meta}}
        return await self.ask_raw(json.dumps(message).encode() + b"\n")

    async def ask_raw(self, data: bytes) -> dict[str, Any]:
        await self.stream.send_all(data)
        while b"\n" not in self._buffer:
            self._buffer += await self.stream.receive_some()
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@asynccontextmanager
async def open_shell(server: Server, meta: dict[str, Any] = META) -> AsyncIterator[Shell]:
    ours, theirs = byte_stream_pair()
    async with server.app.open_shells() as answer, trio.open_nursery() as nursery:
        nursery.start_soon(answer, theirs)
        yield Shell(ours, meta)
        await ours.aclose()


@pytest.mark.parametrize(("method", "params"), REQUESTS, ids=lambda part: part if isinstance(part, str) else "")
async def test_an_answer_is_that_of_the_sdks_server(
    method: str, params: dict[str, Any], autojump_clock: MockClock
) -> None:
    answers = []
    for meta in (META, OTHER):
        async with open_server(Options()) as server, open_shell(server, meta) as shell:
            answers.append((await shell.ask(method, **params))["result"])
    light, full = answers
    for name in ("_meta", "cacheScope", "ttlMs"):  # which `call` does not read
        full.pop(name, None)
    assert light == full


async def test_shells_are_one_client_that_the_timeline_knows(autojump_clock: MockClock) -> None:
    async with open_server(Options()) as server, server.connect() as client:
        async with open_shell(server) as shell:
            for _ in range(2):
                await shell.ask("tools/call", name="breakpoint_list")
            events = (await client.call("timeline_query", full=True))["events"]
            names = [event["payload"]["name"] for event in events if event["type"] == "clientJoined"]
            assert names.count("trio-debugmcp call") == 1
        (left,) = (await client.call("timeline_query", types=["clientLeft"], full=True))["events"]
        assert left["payload"]["name"] == "trio-debugmcp call"


async def test_a_shell_that_closes_its_end_cancels_what_it_waits_for(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        await client.call("debug_launch", program=adapter.program)
        async with server.app.open_shells() as answer, trio.open_nursery() as nursery:
            ours, theirs = byte_stream_pair()
            nursery.start_soon(answer, theirs)
            call = {"name": "debug_wait", "arguments": {"timeout": 3000}, "_meta": META}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            await ours.send_all(json.dumps(message).encode() + b"\n")
            await trio.testing.wait_all_tasks_blocked()
            await ours.aclose()
        events = (await client.call("timeline_query", types=["toolCalled"], full=True))["events"]
        assert trio.current_time() < 3000
        assert [event["payload"]["tool"] for event in events][-1] == "debug_wait"


async def test_what_a_shell_never_sends_is_an_error_and_the_conversation_goes_further(
    autojump_clock: MockClock,
) -> None:
    async with open_server(Options()) as server, open_shell(server) as shell:
        assert "tools" in (await shell.ask("tools/list"))["result"]
        assert (await shell.ask("prompts/list"))["error"]["code"] == -32601
        assert (await shell.ask_raw(b"{}\n"))["error"]["code"] == -32600
        assert (await shell.ask_raw(b"[" * 5000 + b"\n"))["error"]["code"] == -32600
        assert "tools" in (await shell.ask("tools/list"))["result"]


WITHOUT_SDK = """
import sys, trio
from trio_debugmcp.app import Options, open_app
async def main():
    async with open_app(Options()) as app, app.open_shells() as serve:
        assert app.tools.listed()
        assert not {"mcp", "mcp_types", "pydantic", "anyio"} & sys.modules.keys()
trio.run(main)
import trio_debugmcp.listen
assert not {"mcp", "mcp_types", "pydantic", "anyio"} & sys.modules.keys()
"""


@pytest.mark.real
def test_a_server_that_serves_only_shells_has_not_imported_the_sdk() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_SDK], check=True, timeout=120)
