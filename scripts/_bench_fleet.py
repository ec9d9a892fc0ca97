"""Measures `debug_listen` with many processes that dial in at once: `scripts/bench fleet [NUMBER...]`.

The server is a process of its own. The processes are a `FakeFleet` in this one, so that only its own work counts.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
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

PAGE_KB = resource.getpagesize() / 1024
TICKS = 100


class Meter:
    """Memory and processor time of the server, as the system counts them."""

    def __init__(self, pid: int) -> None:
        self._place = Path(f"/proc/{pid}")

    def memory(self) -> float:
        """Return the KB that it has in memory."""
        return int((self._place / "statm").read_text().split()[1]) * PAGE_KB

    def used(self) -> float:
        """Return the seconds that it has used so far."""
        fields = (self._place / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


async def timed(client: DebugClient, tool: str, **arguments: Any) -> str:
    began = time.perf_counter()
    answer = await client.call(tool, **arguments)
    return f"{tool} {time.perf_counter() - began:.2f} s, {len(json.dumps(answer))} bytes"


async def measure(number: int) -> None:
    command = [sys.executable, "-m", "trio_debugmcp", "serve", "--no-state"]
    server = await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        async with connect_process(server) as client:
            door = await client.call("debug_listen")
            meter = Meter(server.pid)
            before, used, began = meter.memory(), meter.used(), time.perf_counter()
            async with FakeFleet(door["address"], door["token"], number) as fleet:
                await fleet.connected()
                seconds = time.perf_counter() - began
                await trio.sleep(1)
                each, spent = (meter.memory() - before) / number, (meter.used() - used) / number
                print(f"{number}: dialed in {seconds:.2f} s, {each:.0f} KB and {spent * 1000:.1f} ms of processor each")
                used = meter.used()
                await trio.sleep(IDLE_SECONDS)
                print(f"  idle: {(meter.used() - used) / IDLE_SECONDS / number * 1e3:.3f} ms a second each")
                print(f"  first {await timed(client, 'fleet_state')}; again {await timed(client, 'fleet_state')}")
                for tool, more in CALLS:
                    print(f"  {await timed(client, tool, group='all', **more)}")
                await client.call("debug_disconnect")
    finally:
        server.kill()
        with trio.CancelScope(shield=True):
            await server.wait()  # noqa: ASYNC102 (it is killed)


async def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    for number in [int(each) for each in sys.argv[1:]] or NUMBERS:
        await measure(number)


trio.run(main)
