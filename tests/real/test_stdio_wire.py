"""Standard input and output as bytes: only MCP on the output, and an answer to every line of input."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.real.conftest import TEST_SECONDS, Connect, program

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "0"},
    },
}

SAID_BY_THEIR_NAMES = {
    *("args", "count", "expression", "file", "frame_index", "host", "id", "line", "pid", "port", "show", "since_seq"),
    *("start", "stream", "thread_id", "timeout", "wait"),
    *("direction", "format", "kind", "locals", "task"),  # whose values say it
}
"""Parameters without a description, which every list of tools would carry."""


class Wire:
    """A server process, line by line."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._buffer = b""

    async def send(self, line: bytes | dict[str, Any]) -> None:
        assert self._process.stdin is not None
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        await self._process.stdin.send_all(data + b"\n")

    async def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            data = await self._process.stdout.receive_some()
            assert data, "the server closed its output"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    async def answer(self, request_id: int) -> dict[str, Any]:
        while (message := await self.receive()).get("id") != request_id or "method" in message:
            assert message.get("id") is None, message
        return message

    async def call(self, request_id: int, tool: str, **arguments: object) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        await self.send({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})
        result: dict[str, Any] = (await self.answer(request_id))["result"]
        return result


@asynccontextmanager
async def wire() -> AsyncIterator[Wire]:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "trio_debugmcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with trio.fail_after(TEST_SECONDS):
        async with process.stdout:
            async with process.stdin:
                wire = Wire(process)
                await wire.send(INITIALIZE)
                await wire.answer(0)
                await wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
                yield wire
            assert await process.wait() == 0, "the server exits with 0 at the end of its input"


async def test_every_line_on_stdout_is_mcp_whatever_the_program_prints() -> None:
    async with wire() as server:
        result = await server.call(10, "debug_launch", program=program("chatter.py"), stop_at_entry=False)
        stop = result["structuredContent"]
        assert stop["reason"] == "Exited"
        printed = stop["stdout"]
        assert printed.count("jsonrpc") == 3
        assert printed.endswith("done\n")


async def test_lines_that_are_not_json_rpc_are_answered_with_an_error_and_the_connection_stays_open() -> None:
    async with wire() as server:
        for nonsense, request_id, code in (
            (b"hello", None, -32700),
            (b"{", None, -32700),
            (b"\xff\xfe", None, -32700),
            (b"[]", None, -32600),
            (b'{"jsonrpc": "2.0"}', None, -32600),
            (b'{"jsonrpc": "2.0", "id": 7}', 7, -32600),
            (b'{"jsonrpc": "2.0", "id": "a", "method": 5}', "a", -32600),
        ):
            await server.send(nonsense)
            refusal = await server.receive()
            assert (refusal["id"], refusal["error"]["code"]) == (request_id, code)
        await server.send(b"")
        await server.send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
        assert (await server.answer(5))["result"] == {}
        await server.send({"jsonrpc": "2.0", "id": 6, "method": "no/such"})
        assert (await server.answer(6))["error"]["code"] == -32601


async def test_a_cancelled_request_is_not_answered_and_its_wait_is_over() -> None:
    async with wire() as server:
        await server.call(10, "debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        params = {"name": "debug_wait", "arguments": {"timeout": 600}}
        await server.send({"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": params})
        await server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 11}})
        result = await server.call(12, "debug_pause")
        assert result["structuredContent"].get("reason") == "Pause", result


async def test_all_tools_are_listed_with_schemas_titles_and_hints(debugging: Connect) -> None:
    async with debugging("legacy", "--tools", "full") as client:
        tools = {tool.name: tool for tool in (await client.sdk.list_tools()).tools}
        for tool in tools.values():
            assert tool.title
            assert tool.description
            Draft202012Validator.check_schema(tool.input_schema)
            assert tool.input_schema["type"] == "object"
            assert tool.output_schema is None, "no host shows it to a model"
            assert tool.annotations is not None
            assert None not in (
                tool.annotations.read_only_hint,
                tool.annotations.destructive_hint,
                tool.annotations.idempotent_hint,
                tool.annotations.open_world_hint,
            )
            for name, schema in tool.input_schema.get("properties", {}).items():
                assert "description" in schema or name in SAID_BY_THEIR_NAMES, f"{tool.name}.{name}"
        assert set(tools) >= {
            "debug_launch", "debug_attach", "debug_disconnect", "debug_restart", "debug_state", "debug_wait",
            "debug_continue", "debug_step", "debug_pause", "debug_run_to", "breakpoint_set",
            "breakpoint_set_exception", "breakpoint_enable", "breakpoint_remove", "breakpoint_list", "threads_list",
            "stacktrace_get", "variables_get", "evaluate", "source_get", "process_read_output", "process_write_input",
        }  # fmt: skip
        assert "breakpoint_wait" not in tools, "it can be called, and is the same as debug_wait"
    async with debugging() as client:
        core = {tool.name for tool in (await client.sdk.list_tools()).tools}
        assert core - {"debug_more"} < set(tools)
        assert len(core) <= 16
        assert await client.call("timeline_query"), "what is not listed can be called"
