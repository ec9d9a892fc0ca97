"""Measures the server with 500 observers on WebSockets, 50 of which do not read: `scripts/bench load`.

`scripts/bench load --http`: with 300 observers on Streamable HTTP, 30 of which do not read, each with one stream of the
modern era.

The agent steps 20 times a second on stdio; every observer is subscribed to three resources. Printed are the time of a
step with and without observers, the delay until a change reaches an observer, the processor time per notification, and
the memory per idle observer. The observers run in this process, hence on the same processors as the server.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import trio

from trio_debugmcp.testing import DebugClient, connect_process

OBSERVERS = {"--ws": 500, "--http": 300}
STALLED_SHARE = 0.1
URIS = ("debugger://session", "debugger://stack", "debugger://threads")
STEPS_PER_SECOND = 20
SECONDS = 10

PROGRAM = Path(__file__).resolve().parent.parent / "tests" / "programs" / "busy.py"
OBSERVE = "load-observer"


def frame(message: dict[str, Any]) -> bytes:
    payload = json.dumps({"jsonrpc": "2.0", **message}).encode()
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else bytes([0x80 | 126]) + len(payload).to_bytes(2)
    return b"\x81" + size + bytes(4) + payload


class Observer:
    """A minimal WebSocket client, so that 500 of them cost little. `heard`: when its session resource was updated."""

    def __init__(self) -> None:
        self.heard: list[float] = []
        self.notified = 0

    async def run(self, port: int, stalled: bool, *, task_status: trio.TaskStatus[None]) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            head = [
                "GET /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Protocol: mcp", f"Authorization: Bearer {OBSERVE}", "", "",
            ]  # fmt: skip
            await stream.send_all("\r\n".join(head).encode())
            client = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "load", "version": "0"},
            }
            await stream.send_all(frame({"id": 0, "method": "initialize", "params": client}))
            await stream.send_all(frame({"method": "notifications/initialized"}))
            for number, uri in enumerate(URIS, 1):
                await stream.send_all(frame({"id": number, "method": "resources/subscribe", "params": {"uri": uri}}))
            last = b'"id":%d,' % len(URIS)
            received = b""
            while last not in received:
                data = bytes(await stream.receive_some())
                if not data:
                    raise RuntimeError(f"the server has closed: {received[-300:]!r}")
                received += data
            task_status.started()
            if stalled:
                await trio.sleep_forever()
            await self.count(stream)

    async def count(self, stream: trio.SocketStream) -> None:
        """Count the updates until the server closes."""
        while data := bytes(await stream.receive_some()):
            now = time.perf_counter()
            self.notified += data.count(b'"uri":"debugger://')
            self.heard += [now] * data.count(b'"uri":"debugger://session"')


class HttpObserver(Observer):
    """The same over HTTP: one request, whose response is a stream of notifications."""

    async def run(self, port: int, stalled: bool, *, task_status: trio.TaskStatus[None]) -> None:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"notifications": {"resourceSubscriptions": URIS}, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}).encode()
        head = [
            "POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Authorization: Bearer {OBSERVE}",
            "Accept: application/json, text/event-stream", "Content-Type: application/json",
            "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen",
            f"Content-Length: {len(body)}", "", "",
        ]  # fmt: skip
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all("\r\n".join(head).encode() + body)
            received = b""
            while b"subscriptions/acknowledged" not in received:
                data = bytes(await stream.receive_some())
                if not data or b"HTTP/1.1 200" not in received + data:
                    raise RuntimeError(f"the server has refused: {received + data!r}")
                received += data
            task_status.started()
            if stalled:
                await trio.sleep_forever()
            await self.count(stream)


async def step(agent: DebugClient, seconds: float) -> tuple[list[float], list[float]]:
    """Step at the rate; return the duration of each step in milliseconds, and its end."""
    took, at = [], []
    start = trio.current_time()
    while trio.current_time() < start + seconds:
        before = time.perf_counter()
        await agent.call("debug_step")
        at.append(time.perf_counter())
        took.append((at[-1] - before) * 1000)
        await trio.sleep_until(start + len(took) / STEPS_PER_SECOND)
    return took, at


def memory(pid: int) -> float:
    """Resident memory of a process, in kilobytes."""
    return float(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])  # type: ignore[index]


def computed(pid: int) -> float:
    """Processor time of a process so far, in seconds, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


class Measured(NamedTuple):
    """What `measure` found. Times are in seconds, those of steps in milliseconds; `stalled` observers do not read."""

    observers: int
    stalled: int
    alone: list[float]
    observed: list[float]
    late: list[float]
    notified: int
    computed: float
    kilobytes: float


async def serve(door: str) -> tuple[trio.Process, int]:
    """Start a server with that door; return its process and port."""
    argv = [sys.executable, "-m", "trio_debugmcp", "serve", door, "0", "--observe-token", OBSERVE]
    process = await trio.lowlevel.open_process(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ)
    )
    said = b""
    while not (found := re.search(rb"127.0.0.1:(\d+)/", said)):
        said += bytes(await process.stderr.receive_some())  # type: ignore[union-attr]
    return process, int(found[1])


async def measure(process: trio.Process, port: int, door: str) -> Measured:
    """Step without observers, then with them."""
    observers = [HttpObserver() if door == "--http" else Observer() for _ in range(OBSERVERS[door])]
    stalled = int(len(observers) * STALLED_SHARE)
    async with connect_process(process) as agent, trio.open_nursery() as nursery:
        await agent.call("debug_launch", program=str(PROGRAM))
        idle = computed(process.pid)
        alone, _ = await step(agent, SECONDS)
        idle = computed(process.pid) - idle
        before = memory(process.pid)
        for number, observer in enumerate(observers):
            await nursery.start(observer.run, port, number < stalled)
        await trio.sleep(2)
        each = (memory(process.pid) - before) / len(observers)
        busy = computed(process.pid)
        observed, at = await step(agent, SECONDS)
        await trio.sleep(2)
        busy = computed(process.pid) - busy
        late = [
            next((heard for heard in observer.heard if heard >= moment), float("inf")) - moment
            for observer in observers[stalled:]
            for moment in at
        ]
        nursery.cancel_scope.cancel()
    notified = sum(observer.notified for observer in observers)
    return Measured(len(observers), stalled, alone, observed, late, notified, busy - idle, each)


def show(found: Measured) -> None:
    alone, observed = statistics.median(found.alone), statistics.median(found.observed)
    print(f"observers, of which do not read               {found.observers:8d}      {found.stalled}")
    print(f"step alone                                    {alone:8.1f} ms")
    print(f"step observed                                 {observed:8.1f} ms   {observed / alone:5.2f} x alone")
    print(f"a change reaches an observer, median          {percentile(found.late, 0.5):8.2f} s")
    print(f"a change reaches an observer, p99             {percentile(found.late, 0.99):8.2f} s")
    microseconds = found.computed / found.notified * 1e6
    print(f"computed for a notification                   {microseconds:8.0f} us   {found.notified} delivered")
    print(f"memory per idle observer                      {found.kilobytes:8.0f} KB")


async def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * max(OBSERVERS.values()))), hard))
    door = "--http" if "--http" in sys.argv[1:] else "--ws"
    process, port = await serve(door)
    try:
        show(await measure(process, port, door))
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


if __name__ == "__main__":
    trio.run(main)
