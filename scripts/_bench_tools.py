"""Measures tools, each beside raw DAP to debugpy's adapter as shipped that does the same: see scripts/bench.

- a program that passes a tracepoint 2,000 times, from its launch to its end, against a log point;
- a hundred stops at a breakpoint, each with its stack;
- an expression, and a hundred objects two levels deep, against `evaluate` and a request for the children of each.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from _bench import Rpc, milliseconds, open_rpc, refuse, wait_for
from msgspec import Struct

from trio_debugmcp.dap.adapter import open_stdio_adapter
from trio_debugmcp.dap.connection import Connection, EndOfStream, open_connection
from trio_debugmcp.dap.messages import Initialized, Output, StackTraceBody, Stopped, Terminated
from trio_debugmcp.dap.watchdog import Watchdog

HITS = 2_000
STOPS = 100
OBJECTS = 100
RUNS = 3
ROUNDS = 30

PLACE = 11
"""The line that is passed so often."""

PROGRAM = f"""\
class Item:
    def __init__(self, number):
        self.number = number
        self.tags = [number, str(number)]


items = [Item(number) for number in range({OBJECTS})]


def work(number):
    return number * 2


for number in range({HITS}):
    work(number)
"""


class Evaluated(Struct, rename="camel"):
    """What the adapter answers about an expression."""

    result: str
    variables_reference: int


class Child(Struct, rename="camel"):
    """One of the children of a value."""

    name: str
    variables_reference: int


class Children(Struct):
    """What the adapter answers about the children of a value."""

    variables: list[Child]


class Measured(Struct):
    """What a tool took, and raw DAP, in milliseconds; the bound is a factor, and milliseconds on top."""

    what: str
    raw: float
    ours: float
    factor: float | None = None
    more: float = 0.0

    def __str__(self) -> str:
        bound = (
            "" if self.factor is None else f", at most {self.factor} x" + (f" + {self.more:.0f} ms" * bool(self.more))
        )
        return f"{self.what:44}{self.raw:9.1f} ms raw DAP {self.ours:9.1f} ms {self.ours / self.raw:6.2f} x{bound}"

    @property
    def is_slow(self) -> bool:
        return self.factor is not None and self.ours > self.raw * self.factor + self.more


@asynccontextmanager
async def raw(watchdog: Watchdog, file: str, **point: object) -> AsyncIterator[Connection]:
    """Launch with a breakpoint at the place."""
    async with (
        open_stdio_adapter([sys.executable, "-m", "debugpy.adapter"], watchdog) as adapter,
        open_connection(adapter.stream, refuse) as connection,
    ):
        await connection.request("initialize", {"adapterID": "debugpy", "linesStartAt1": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "launch", {"program": file, "console": "internalConsole"})
            await wait_for(connection, Initialized)
            points = [{"line": PLACE, **point}]
            await connection.request("setBreakpoints", {"source": {"path": file}, "breakpoints": points})
            await connection.request("configurationDone")
        yield connection


async def traced(watchdog: Watchdog, rpc: Rpc, file: str) -> Measured:
    message = "number is {number}"
    theirs, ours = [], []
    for _ in range(RUNS):
        before = time.perf_counter()
        async with raw(watchdog, file, logMessage=message) as connection:
            arrived = 0
            while not isinstance(event := await connection.events.receive(), Terminated | EndOfStream):
                arrived += isinstance(event, Output) and event.output.startswith("number is")
            theirs.append(time.perf_counter() - before)
        before = time.perf_counter()
        await rpc.call("tracepoint_set", file=file, line=PLACE, log_message=message)
        await rpc.call("debug_launch", program=file, stop_at_entry=False, timeout=60)
        ours.append(time.perf_counter() - before)
        read = await rpc.call("process_read_output", stream="tracepoint", max_bytes=1_000_000)
        logged = sum(entry["log"].count("\n") for entry in read["structuredContent"]["entries"])
        if logged != HITS:  # raw DAP loses some at the program's end
            raise RuntimeError(f"{logged} messages of {HITS}, {arrived} by raw DAP")
        await rpc.call("breakpoint_remove", id="*")
    return Measured(
        f"{HITS} hits of a tracepoint", statistics.median(theirs) * 1000, statistics.median(ours) * 1000, 1.2
    )


async def looked_at(connection: Connection, expression: str, depth: int) -> None:
    """Ask for a value, and for the children of each child down to a depth."""
    stack = await connection.request("stackTrace", {"threadId": 1, "levels": 1}, StackTraceBody)
    asked = {"expression": expression, "frameId": stack.stack_frames[0].id if stack.stack_frames else 0}
    found = await connection.request("evaluate", asked, Evaluated)
    references = [found.variables_reference]
    for _ in range(depth):
        children = [
            await connection.request("variables", {"variablesReference": each}, Children) for each in references
        ]
        references = [
            child.variables_reference
            for each in children
            for child in each.variables
            if child.variables_reference and not child.name.endswith("variables")
        ]


async def stopped(watchdog: Watchdog, rpc: Rpc, file: str) -> list[Measured]:
    async with raw(watchdog, file) as connection:
        await wait_for(connection, Stopped)

        async def resume() -> None:
            await connection.request("continue", {"threadId": 1})
            await wait_for(connection, Stopped)
            await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)

        async def look(expression: str, depth: int) -> float:
            return await milliseconds(lambda: looked_at(connection, expression, depth), ROUNDS)

        theirs = [await milliseconds(resume, STOPS), await look("number + 1", 0), await look("items", 2)]
        await connection.request("disconnect", {"terminateDebuggee": True})
    await rpc.call("debug_launch", program=file, breakpoints=[{"file": file, "line": PLACE}])

    async def call(tool: str, rounds: int = ROUNDS, **arguments: object) -> float:
        return await milliseconds(lambda: rpc.call(tool, **arguments), rounds)

    found = [
        Measured("a stop, with its stack", theirs[0], await call("debug_continue", STOPS), 1.5),
        Measured("evaluate", theirs[1], await call("evaluate", expression="number + 1")),
        Measured("evaluate_safe", theirs[1], await call("evaluate_safe", expression="number + 1")),
        Measured(
            f"object_inspect of {OBJECTS} objects, depth 2", theirs[2],
            await call("object_inspect", expression="items", depth=2, max_children=OBJECTS), 1.2, 10,
        ),
        Measured("collection_summarize of them", theirs[2], await call("collection_summarize", expression="items")),
    ]  # fmt: skip
    await rpc.call("debug_disconnect")
    await rpc.call("breakpoint_remove", id="*")
    return found


async def main() -> int:
    watchdog = Watchdog()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder).resolve() / "program.py"
        file.write_text(PROGRAM)
        async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
            found = [await traced(watchdog, rpc, str(file)), *await stopped(watchdog, rpc, str(file))]
    watchdog.close()
    for each in found:
        sys.stdout.write(f"{each}{'  TOO SLOW' if each.is_slow else ''}\n")
    return 1 if any(each.is_slow for each in found) else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
