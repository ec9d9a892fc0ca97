"""Measures what users notice, each time beside a baseline, because on shared machines only ratios are comparable.

- from a launch to its first stop, through MCP on stdio, against raw DAP to debugpy's adapter as shipped;
- one step and the stack after it, likewise;
- a program that passes a log point 20,000 times, from its launch to its end, likewise; and how many of them arrive;
- the memory of our processes beside a program that is stopped, against the SDK's own server on stdio;
- one resource read, against a trivial resource read of the SDK's own server, on the same transport;
- from the start of the process to the answer to `initialize`, against importing the SDK's server.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from trio_debugmcp.dap.adapter import open_stdio_adapter
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.messages import Initialized, OutputEvent, Request, StackTraceBody, Stopped, Terminated
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.errors import AdapterRefused

ROUNDS = 60
STARTS = 7
LAUNCHES = 5
READS = 500
TRACES = 3
HITS = 20_000

LOOP = f"def loop():\n    for number in range({HITS}):\n        number * 2\nloop()\n"
MESSAGE = {"line": 3, "log_message": "number is {number}"}

PROGRAM = Path(__file__).resolve().parent.parent / "tests" / "programs" / "busy.py"

INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "0"},
}

TRIVIAL_SERVER = """
import anyio, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
async def read(ctx, params):
    text = '{"answer":42}'
    content = types.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
    return types.ReadResourceResult(contents=[content])
async def listed(ctx, params):
    return types.ListResourcesResult(resources=[])
async def called(ctx, params):
    return types.CallToolResult(content=[])
async def tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema={"type": "object"})])
server = Server("trivial", on_list_resources=listed, on_read_resource=read, on_list_tools=tools, on_call_tool=called)
async def main():
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())
anyio.run(main, backend="trio")
"""


class Rpc:
    """A minimal JSON-RPC client, whose own cost is small and the same in all measurements."""

    def __init__(self, process: trio.Process) -> None:
        self.pid = process.pid
        self._process = process
        self._buffer = b""
        self._id = 0

    async def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._id += 1
        await self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        while (message := json.loads(await self._line())).get("id") != self._id:
            pass
        if "error" in message:
            raise RuntimeError(message["error"])
        result: dict[str, Any] = message["result"]
        return result

    async def send(self, message: dict[str, Any]) -> None:
        if self._process.stdin is not None:
            await self._process.stdin.send_all(json.dumps(message).encode() + b"\n")

    async def call(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        result = await self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result

    async def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            received = await self._process.stdout.receive_some()  # type: ignore[union-attr]
            if not received:
                raise RuntimeError("the server has ended")
            self._buffer += bytes(received)
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


@asynccontextmanager
async def open_rpc(argv: list[str]) -> AsyncIterator[Rpc]:
    process = await trio.lowlevel.open_process(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    async with process.stdout, process.stdin:  # type: ignore[union-attr]
        rpc = Rpc(process)
        await rpc.request("initialize", INITIALIZE)
        await rpc.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield rpc
    await process.wait()


async def milliseconds(action: Callable[[], Awaitable[object]], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        before = time.perf_counter()
        await action()
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1000


async def refuse(request: Request) -> object:
    raise AdapterRefused(request.command, "not in a benchmark")


async def wait_for(connection: Connection, kind: type) -> Any:
    while not isinstance(event := await connection.events.receive(), kind):
        if isinstance(event, EndOfStream):
            raise RuntimeError(event.reason)
    return event


@asynccontextmanager
async def raw_dap(watchdog: Watchdog) -> AsyncIterator[tuple[Connection, float]]:
    """Launch over a direct connection to debugpy's adapter as shipped; yields the time to the first stop's stack."""
    launch = {"program": str(PROGRAM), "console": "internalConsole", "stopOnEntry": True}
    argv = [sys.executable, "-m", "debugpy.adapter"]
    before = time.perf_counter()
    async with (
        open_stdio_adapter(argv, watchdog) as adapter,
        open_connection(adapter.stream, refuse) as connection,
    ):
        await connection.request("initialize", {"adapterID": "debugpy", "linesStartAt1": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "launch", launch)
            await wait_for(connection, Initialized)
            await connection.request("configurationDone")
        await wait_for(connection, Stopped)
        await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)
        yield connection, (time.perf_counter() - before) * 1000
        await connection.request("disconnect", {"terminateDebuggee": True})


async def raw_step() -> float:
    """Measure step and stack."""
    watchdog = Watchdog()
    async with raw_dap(watchdog) as (connection, _):

        async def step_and_stack() -> None:
            await connection.request("next", {"threadId": 1})
            await wait_for(connection, Stopped)
            await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)

        result = await milliseconds(step_and_stack, ROUNDS)
    watchdog.close()
    return result


async def launches() -> tuple[float, float]:
    """Measure from the launch to the first stop: raw DAP through the adapter, and ours, in turns."""
    raw, ours = [], []
    watchdog = Watchdog()
    async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
        for _ in range(LAUNCHES):
            async with raw_dap(watchdog) as (_connection, first_stop):
                raw.append(first_stop)
            before = time.perf_counter()
            await rpc.call("debug_launch", program=str(PROGRAM))
            ours.append((time.perf_counter() - before) * 1000)
            await rpc.call("debug_disconnect")
    watchdog.close()
    return statistics.median(raw), statistics.median(ours)


async def through_mcp() -> tuple[float, float, float]:
    async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
        await rpc.call("debug_launch", program=str(PROGRAM))

        async def step() -> None:
            await rpc.call("debug_step")

        async def step_and_stack() -> None:
            await rpc.call("debug_step")
            await rpc.call("stacktrace_get")

        async def read() -> None:
            await rpc.request("resources/read", {"uri": "debugger://session"})

        steps = await milliseconds(step, ROUNDS)
        both = await milliseconds(step_and_stack, ROUNDS)
        reads = await milliseconds(read, READS)
        await rpc.call("debug_disconnect")
    return steps, both, reads


async def step_recorded() -> tuple[float, float]:
    """Measure a step without and with `--record`, in turns."""
    serve = [sys.executable, "-m", "trio_debugmcp", "serve"]
    times: tuple[list[float], list[float]] = [], []
    with tempfile.TemporaryDirectory() as folder:
        async with open_rpc(serve) as plain, open_rpc([*serve, "--record", folder]) as recorded:
            for rpc in (plain, recorded):
                await rpc.call("debug_launch", program=str(PROGRAM))
            for _ in range(ROUNDS):
                for rpc, into in zip((plain, recorded), times, strict=True):
                    before = time.perf_counter()
                    await rpc.call("debug_step")
                    into.append((time.perf_counter() - before) * 1000)
            for rpc in (plain, recorded):
                await rpc.call("debug_disconnect")
    return statistics.median(times[0]), statistics.median(times[1])


def memory(pid: int) -> float:
    """A process's memory in megabytes: its proportional set size, where a page that n processes share counts 1/n."""
    return int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)[1]) / 1024  # type: ignore[index]


def children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


async def memory_beside_a_stopped_program() -> tuple[float, float, int]:
    """Measure the SDK's server and, at the same time, ours with its watchdog; count the processes that are ours."""
    async with (
        open_rpc([sys.executable, "-c", TRIVIAL_SERVER]) as trivial,
        open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc,
    ):
        await trivial.request("resources/read", {"uri": "trivial://answer"})
        launched = await rpc.call("debug_launch", program=str(PROGRAM))
        debuggee = launched["structuredContent"]["pid"]
        await rpc.call("debug_step")
        processes = [rpc.pid, *(pid for pid in children(rpc.pid) if pid != debuggee)]
        result = memory(trivial.pid), sum(map(memory, processes)), len(processes)
        await rpc.call("debug_disconnect")
    return result


async def sdk_read() -> float:
    async with open_rpc([sys.executable, "-c", TRIVIAL_SERVER]) as rpc:

        async def read() -> None:
            await rpc.request("resources/read", {"uri": "trivial://answer"})

        return await milliseconds(read, READS)


async def start_to_initialize(argv: list[str]) -> float:
    times = []
    for _ in range(STARTS):
        before = time.perf_counter()
        async with open_rpc(argv):
            times.append(time.perf_counter() - before)
    return statistics.median(times) * 1000


def import_sdk() -> float:
    times = []
    for _ in range(STARTS):
        before = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import mcp.server.lowlevel"], check=True)
        times.append(time.perf_counter() - before)
    return statistics.median(times) * 1000


async def traced_raw(watchdog: Watchdog, file: str) -> int:
    """Run a program with a log point under raw DAP to debugpy's adapter as shipped; return how many messages came."""
    points = [{"line": MESSAGE["line"], "logMessage": MESSAGE["log_message"]}]
    async with (
        open_stdio_adapter([sys.executable, "-m", "debugpy.adapter"], watchdog) as adapter,
        open_connection(adapter.stream, refuse) as connection,
    ):
        await connection.request("initialize", {"adapterID": "debugpy", "linesStartAt1": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "launch", {"program": file, "console": "internalConsole"})
            await wait_for(connection, Initialized)
            await connection.request("setBreakpoints", {"source": {"path": file}, "breakpoints": points})
            await connection.request("configurationDone")
        arrived = 0
        while not isinstance(event := await connection.events.receive(), Terminated | EndOfStream):
            arrived += isinstance(event, OutputEvent) and event.output.startswith("number is")
        return arrived


async def traces() -> tuple[float, float, int, int]:
    """Measure the run of a program with a log point: raw DAP through the adapter, and ours, in turns."""
    raw, ours, raw_hits, hits = [], [], 0, 0
    watchdog = Watchdog()
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder).resolve() / "loop.py")
        Path(file).write_text(LOOP)
        async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
            await rpc.call("breakpoint_set", file=file, **MESSAGE)
            for _ in range(TRACES):
                before = time.perf_counter()
                raw_hits = await traced_raw(watchdog, file)
                raw.append(time.perf_counter() - before)
                before = time.perf_counter()
                await rpc.call("debug_launch", program=file, stop_at_entry=False, timeout=60)
                ours.append(time.perf_counter() - before)
                (line,) = (await rpc.call("breakpoint_list"))["structuredContent"]["breakpoints"]
                hits = int(re.search(r", (\d+) hits?\b", line)[1])  # type: ignore[index]
    watchdog.close()
    return statistics.median(raw), statistics.median(ours), raw_hits, hits


async def main() -> None:
    raw = await raw_step()
    steps, both, reads = await through_mcp()
    plain, recorded = await step_recorded()
    raw_launch, launch = await launches()
    raw_trace, trace, raw_hits, hits = await traces()
    trivial = await sdk_read()
    imported = import_sdk()
    started = await start_to_initialize([sys.executable, "-m", "trio_debugmcp"])
    allowed = 0.35 * imported
    print(f"step + stack, raw DAP to debugpy as shipped   {raw:8.1f} ms")
    print(f"step + stack through MCP                      {both:8.1f} ms   {both / raw:5.2f} x raw DAP")
    print(f"step with stack, locals, source, output       {steps:8.1f} ms   {steps / raw:5.2f} x raw DAP")
    print(f"the same with --record                        {recorded:8.1f} ms   {recorded / plain:5.2f} x without")
    print(f"launch to first stop, raw DAP to the adapter  {raw_launch:8.1f} ms")
    print(f"launch to first stop through MCP              {launch:8.1f} ms   {launch / raw_launch:5.2f} x raw DAP")
    print(f"{HITS} hits of a log point, raw DAP          {raw_trace:8.2f} s    {raw_hits} arrived")
    print(f"the same through MCP                          {trace:8.2f} s    {trace / raw_trace:5.2f} x, {hits} arrived")
    print(f"resource read, the SDK's trivial server       {trivial:8.2f} ms")
    print(f"resource read, debugger://session             {reads:8.2f} ms   {reads / trivial:5.2f} x the SDK's")
    print(f"python -c 'import mcp.server.lowlevel'        {imported:8.1f} ms")
    print(f"start to initialize answered                  {started:8.1f} ms   {started / allowed:5.2f} x its budget,")
    print("                                              which is 0.35 x that import; see `scripts/bench start`")
    if Path("/proc/self/smaps_rollup").exists():
        sdk, ours, processes = await memory_beside_a_stopped_program()
        print(f"memory (PSS), the SDK's trivial server        {sdk:8.1f} MB")
        print(f"memory (PSS), server and watchdog, at a stop  {ours:8.1f} MB   {ours / sdk:5.2f} x the SDK's,")
        print(f"                                              {processes} processes beside the program")


if __name__ == "__main__":
    trio.run(main)
