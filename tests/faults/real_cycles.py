"""Cycles of launch and disconnect with real debugpy, and what the server's process holds after each."""

import gc
import itertools
import os
from pathlib import Path

import trio
from msgspec import Struct
from trio.testing import wait_all_tasks_blocked

from tests.faults.leftovers import children, descriptors, tasks
from tests.patience import FACTOR, TOOL_SECONDS
from trio_debugmcp.app import Options
from trio_debugmcp.patience import Patience
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import DebugClient, connect

PROGRAM = Path(__file__).parent.parent / "programs" / "steps.py"

REAL_CYCLES_IN_THE_SUITE = 3

CYCLE_SECONDS = 600.0
"""After this a cycle is hanging, on a busy machine too; one takes about a second."""

ENDS = ("disconnect", "exit", "kill")


class Held(Struct, frozen=True):
    """What is held after a cycle. `kilobytes` are of resident memory, `processes` the living children."""

    tasks: int
    descriptors: int
    processes: int
    kilobytes: int


async def cycle_for_real(cycles: int) -> list[Held]:
    """Launch, step and end a real program that often, in turn in each way; the first figure is of a warm server."""
    async with connect(options=Options(settings=Settings(patience=Patience(FACTOR)))) as client:
        client.timeout = TOOL_SECONDS
        figures = []
        for _, ending in zip(range(cycles + 1), itertools.cycle(ENDS), strict=False):
            with trio.fail_after(CYCLE_SECONDS):
                await _cycle(client, ending)
            figures.append(_held())
        return figures


async def _cycle(client: DebugClient, ending: str) -> None:
    launched = await client.call("debug_launch", program=str(PROGRAM))
    await client.call("debug_step", count=2)
    await client.call("variables_get")
    match ending:
        case "exit":
            stop = await client.call("debug_continue")
            assert stop["reason"] == "Exited"
        case "kill":
            os.kill(launched["pid"], 9)
        case _:
            await client.call("debug_disconnect")
    while await client.uris():  # its processes are being ended
        await trio.sleep(0.02)
    await wait_all_tasks_blocked(0.1)


def _held() -> Held:
    gc.collect()
    status = Path("/proc/self/status").read_text()
    (kilobytes,) = [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")]
    return Held(sum(tasks().values()), descriptors(), len(children()), kilobytes)
