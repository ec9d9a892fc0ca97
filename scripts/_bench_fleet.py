"""Measures `debug_listen` with many processes that dial in at once: `scripts/bench fleet [NUMBER...]`.

The server is a process of its own. The processes are a `FakeFleet` in this one, so that only its own work counts, or
with `fleet --real [NUMBER [PYTHON]]` Python programs. Beside the seconds of each call are those that the server has
used of a processor, which other work on the machine does not change much.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import trio

from trio_debugmcp.testing import DebugClient, FakeFleet, connect_process

NUMBERS = (10, 100, 1000)
IDLE_SECONDS = 5.0
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("evaluate", {"expression": "rank"}),
    ("debug_pause", {}),
    ("evaluate", {"expression": "rank"}),
    ("debug_continue", {"wait": False}),
)
"""What is called in all of them as a group, while they run and while they are stopped."""

STEPS, ROUNDS = 100, 8
"""In turns with a server that has one process alone. The median of the rounds is compared."""

REAL = 100
WORK = """
import os, select
rank = int(os.environ["RANK"])
def work():
    while not select.select([0], [], [], 0.2)[0]:
        pass
work()
"""
"""Its standard input ends when this process does, however that ends."""

PAGE_KB = resource.getpagesize() / 1024


class Meter:
    """Memory and processor time of the server, as the system counts them."""

    def __init__(self, pid: int) -> None:
        self._place = Path(f"/proc/{pid}")
        self._clock = (~pid << 3) | 2  # as clock_getcpuclockid(3) makes it; /proc has hundredths of a second

    def memory(self) -> float:
        """Return the KB that it has in memory."""
        return int((self._place / "statm").read_text().split()[1]) * PAGE_KB

    def used(self) -> float:
        """Return the seconds that it has used so far."""
        return time.clock_gettime(self._clock)


class Server:
    """A server with an open door, and a client of it."""

    def __init__(self, client: DebugClient, meter: Meter, door: dict[str, Any]) -> None:
        self.client, self.meter, self.door = client, meter, door

    async def timed(self, tool: str, **arguments: Any) -> str:
        used, began = self.meter.used(), time.perf_counter()
        answer = await self.client.call(tool, **arguments)
        seconds, size = time.perf_counter() - began, len(json.dumps(answer))
        return f"{tool} {seconds:.2f} s ({self.meter.used() - used:.2f} s of processor), {size} bytes"

    async def call_all(self) -> None:
        """Call what is asked of all, and print what it costs."""
        print(f"  first {await self.timed('fleet_state')}; again {await self.timed('fleet_state')}")
        for tool, more in CALLS:
            print(f"  {await self.timed(tool, group='all', **more)}")

    async def steps(self) -> float:
        """Return the milliseconds of processor for a step in one of them, which is stopped."""
        used = self.meter.used()
        for _ in range(STEPS):
            await self.client.call("debug_step", session_id="s-2")
        return (self.meter.used() - used) / STEPS * 1000


async def compare_steps(server: Server) -> None:
    """Print what a step in one of many costs, beside one in a process that is alone, in turns."""
    async with open_server() as other, FakeFleet(other.door["address"], other.door["token"], 1) as fleet:
        await fleet.connected()
        costs: dict[Server, list[float]] = {server: [], other: []}
        for each in costs:
            await each.client.call("debug_pause", session_id="s-2")
            await each.steps()
        for _ in range(ROUNDS):
            for each, found in costs.items():
                found.append(await each.steps())
        await server.client.call("debug_continue", session_id="s-2", wait=False)
        among, alone = median(costs[server]), median(costs[other])
        print(f"  a step in one of them: {among:.2f} ms of processor, alone {alone:.2f} ({among / alone:.2f} x)")


@asynccontextmanager
async def open_server() -> AsyncIterator[Server]:
    command = [sys.executable, "-m", "trio_debugmcp", "serve", "--no-state"]
    process = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        async with connect_process(process) as client:
            client.timeout = 120
            yield Server(client, Meter(process.pid), await client.call("debug_listen"))
            await client.call("debug_disconnect")
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()  # noqa: ASYNC102 (it is killed)


async def measure(number: int) -> None:
    async with open_server() as server:
        before, used, began = server.meter.memory(), server.meter.used(), time.perf_counter()
        async with FakeFleet(server.door["address"], server.door["token"], number) as fleet:
            await fleet.connected()
            seconds = time.perf_counter() - began
            await trio.sleep(1)
            each, spent = (server.meter.memory() - before) / number, (server.meter.used() - used) / number
            print(f"{number}: dialed in {seconds:.2f} s, {each:.0f} KB and {spent * 1000:.1f} ms of processor each")
            used = server.meter.used()
            await trio.sleep(IDLE_SECONDS)
            print(f"  idle: {(server.meter.used() - used) / IDLE_SECONDS / number * 1e3:.3f} ms a second each")
            await server.call_all()
            await compare_steps(server)


async def measure_real(number: int, python: str) -> None:
    """The same with Python programs, which take their own time to start."""
    async with open_server() as server:
        program, began = f"{server.door['python']}\n{WORK}", time.perf_counter()
        processes = [
            await trio.lowlevel.open_process(
                [python, "-c", program], stdin=subprocess.PIPE, env={**os.environ, "RANK": str(rank)}
            )
            for rank in range(number)
        ]
        try:
            while True:
                state = await server.client.call("debug_state", session_id="s-1")
                if f" {number} connected" in state["listening"]:
                    break
                await trio.sleep(0.2)
            print(f"{number} real ones: all run after {time.perf_counter() - began:.1f} s")
            await server.call_all()
        finally:
            for process in processes:
                process.kill()


async def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    if sys.argv[1:2] == ["--real"]:
        number = int(sys.argv[2]) if len(sys.argv) > 2 else REAL
        await measure_real(number, sys.argv[3] if len(sys.argv) > 3 else sys.executable)
        return
    for number in [int(each) for each in sys.argv[1:]] or NUMBERS:
        await measure(number)


trio.run(main)
