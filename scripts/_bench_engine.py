"""What it costs to debug a Python program by our engine, beside what anybody pays: see docs/performance.md.

Run by `scripts/bench engine [PYTHON...]`; without one, by CPython 3.12 and 3.13. Each figure stands beside those of the
same run: the interpreter alone, the SDK's call of an empty tool, raw DAP to debugpy as shipped, our server with pydevd.
Ends with 1 where one is above its bound.
"""

import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio
from _bench import TRIVIAL_SERVER, Rpc, memory, milliseconds, open_rpc, refuse, wait_for
from _bench_raw import DEBUGPY
from msgspec import Struct

from tests.pythons import found
from trio_debugmcp.dap.adapter import open_stdio_adapter
from trio_debugmcp.dap.connection import Connection, open_connection
from trio_debugmcp.dap.messages import Initialized, StackTraceBody, Stopped
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.engine import TRIED

ROUNDS, STEPS, CALLS = 7, 60, 200
FORKS, HITS, RAISES = 40, 20_000, 10_000

HELLO = 'print("hello")\n'

LOOP = """\
def add(n):
    total = 0
    for i in range(n):
        total += i
        total -= 1
    return total
add(100000)
"""
IN_THE_LOOP = 4

TIMED = """\
import time
def work():
    total = 0
    for i in range({rounds}):
        total += i
        total ^= 5
    return total
def never():
    return 0
took = []
for _ in range(5):
    start = time.perf_counter()
    work()
    took.append(time.perf_counter() - start)
print(min(took) / {rounds})
"""
AT_EACH_ROUND, NEVER = 5, 9

RAISE = f"""\
import time
def fail():
    raise ValueError
def caught():
    try:
        fail()
    except ValueError:
        pass
took = []
for _ in range(5):
    start = time.perf_counter()
    for _ in range({RAISES}):
        caught()
    took.append(time.perf_counter() - start)
print(min(took) / {RAISES})
"""

FORK = f"""\
import os, time
took = []
for _ in range(5):
    start = time.perf_counter()
    for _ in range({FORKS}):
        child = os.fork()
        if not child:
            os._exit(0)
        os.waitpid(child, 0)
    took.append(time.perf_counter() - start)
print(min(took) / {FORKS})
"""

WAIT = "import time\nready = True\ntime.sleep(60)\n"


class Programs(Struct):
    """The programs that are measured, as files of a folder."""

    folder: Path

    def write(self, name: str, text: str) -> str:
        """Write a program, and return its path."""
        file = self.folder / f"{name}.py"
        file.write_text(text)
        return str(file)


class Row(Struct):
    """A figure of each way to run, in one unit, and its bound as a difference from, or a factor of, one of them."""

    what: str
    unit: str
    columns: dict[str, float]
    beside: str = ""
    """The column that the bound is counted from; none: the bound stands alone."""
    more: float = 0.0
    factor: float = 1.0

    @property
    def bound(self) -> float:
        """The most that the engine may take."""
        return self.columns.get(self.beside, 0.0) * self.factor + self.more

    def line(self, names: list[str]) -> str:
        """Return the row as a line of the table."""
        cells = "".join(f"{self.columns[name]:12.2f}" if name in self.columns else " " * 12 for name in names)
        too_much = "  TOO MUCH" if self.columns["engine"] > self.bound else ""
        return f"{f'{self.what} ({self.unit})':34}{cells}{self.bound:12.2f}{too_much}"


@asynccontextmanager
async def raw_stop(watchdog: Watchdog, python: str, file: str) -> AsyncIterator[tuple[Connection, float]]:
    """Launch by debugpy as shipped, to a breakpoint; yields the milliseconds to the first stop's stack."""
    launch = {"program": file, "console": "internalConsole", "python": [python]}
    points = {"source": {"path": file}, "breakpoints": [{"line": IN_THE_LOOP}]}
    before = time.perf_counter()
    async with (
        open_stdio_adapter([*DEBUGPY], watchdog) as adapter,
        open_connection(adapter.stream, refuse) as connection,
    ):
        await connection.request("initialize", {"adapterID": "debugpy", "linesStartAt1": True})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, "launch", launch)
            await wait_for(connection, Initialized)
            await connection.request("setBreakpoints", points)
            await connection.request("configurationDone")
        await wait_for(connection, Stopped)
        await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)
        yield connection, 1000 * (time.perf_counter() - before)


async def raw_dap(python: str, programs: Programs) -> dict[str, float]:
    """Return what debugpy as shipped takes for what DAP itself has."""
    file = programs.write("loop", LOOP)
    watchdog, first, goodbye, steps = Watchdog(), [], [], 0.0
    for _ in range(3):
        async with raw_stop(watchdog, python, file) as (connection, to_first_stop):
            first.append(to_first_stop)

            async def step() -> None:
                await connection.request("next", {"threadId": 1})
                await wait_for(connection, Stopped)
                await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)

            steps = await milliseconds(step, STEPS)
            before = time.perf_counter()
            await connection.request("disconnect", {"terminateDebuggee": True})
            goodbye.append(1000 * (time.perf_counter() - before))
    watchdog.close()
    return {"first stop": statistics.median(first), "step": steps, "goodbye": statistics.median(goodbye)}


async def empty_call() -> float:
    """Return the milliseconds that a call of a tool which does nothing takes, with the SDK's own server."""
    async with open_rpc([sys.executable, "-c", TRIVIAL_SERVER]) as rpc:
        return await milliseconds(lambda: rpc.call("nothing"), CALLS)


async def through_mcp(rpc: Rpc, python: str, engine: str, programs: Programs) -> dict[str, float]:
    """Return what our server takes with an engine."""
    options = {"python": [python], "engine": engine}

    async def launch(file: str, **more: Any) -> dict[str, Any]:
        more = {"stop_at_entry": False, "timeout": 120, **more}
        result = await rpc.call("debug_launch", program=file, adapter_options=options, **more)
        answer: dict[str, Any] = result["structuredContent"]
        return answer

    async def printed(file: str, *points: dict[str, Any]) -> float:
        return float((await launch(file, breakpoints=list(points)))["stdout"].strip().splitlines()[-1])

    loop, hello = programs.write("loop", LOOP), programs.write("hello", HELLO)
    first, steps, goodbye, whole = [], 0.0, [], []
    for _ in range(ROUNDS):
        first.append(await took(lambda: launch(loop, breakpoints=[{"file": loop, "line": IN_THE_LOOP}])))
        steps = await milliseconds(lambda: rpc.call("debug_step"), STEPS)
        goodbye.append(await took(lambda: rpc.call("debug_disconnect")))
        whole.append(await took(lambda: launch(hello)))
    hot = programs.write("hot", TIMED.format(rounds=300_000))
    at_hits = programs.write("hits", TIMED.format(rounds=HITS))
    unreached = {"file": hot, "line": NEVER}
    condition = {"file": at_hits, "line": AT_EACH_ROUND, "condition": "i < 0"}
    message = {"file": at_hits, "line": AT_EACH_ROUND, "log_message": "{i}"}
    return {
        "first launch": await first_launch(python, engine, hello),
        "first stop": statistics.median(first),
        "step": steps,
        "goodbye": statistics.median(goodbye),
        "hello": statistics.median(whole),
        "hot loop": 1e9 * await printed(hot, unreached),
        "false condition": 1e6 * await printed(at_hits, condition),
        "tracepoint": 1e6 * await printed(at_hits, message),
        "raise": 1e6 * await printed(programs.write("raise", RAISE)),
        "fork": 1e3 * await printed(programs.write("fork", FORK)),
        "memory": await stopped_memory(rpc, launch, programs.write("wait", WAIT)),
    }


async def first_launch(python: str, engine: str, file: str) -> float:
    """Return the milliseconds that the first launch of a server takes, once the server is there."""
    options = {"python": [python], "engine": engine}
    times = []
    for _ in range(3):
        async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
            await rpc.call("debug_state")  # initialize and the lists are answered while the server is imported
            launch = partial(rpc.call, "debug_launch", program=file, adapter_options=options, stop_at_entry=False)
            times.append(await took(launch))
    return statistics.median(times)


async def took(run: Callable[[], Awaitable[Any]]) -> float:
    """Return how many milliseconds something takes."""
    return await milliseconds(run, 1)


async def stopped_memory(rpc: Rpc, launch: Callable[..., Awaitable[dict[str, Any]]], file: str) -> float:
    """Return the megabytes of a program that is stopped and was looked at."""
    await launch(file, breakpoints=[{"file": file, "line": 3}])
    await rpc.call("evaluate", expression="ready")
    state = (await rpc.request("resources/read", {"uri": "debugger://session"}))["contents"][0]["text"]
    size = memory(int(re.search(r'"processId":\s*(\d+)', state)[1]))  # type: ignore[index]
    await rpc.call("debug_disconnect")
    return size


def alone(python: str, programs: Programs) -> dict[str, float]:
    """Return the same of the interpreter alone, where there is such a thing."""

    def run(file: str) -> str:
        return subprocess.run([python, file], check=True, capture_output=True, text=True).stdout

    def printed(name: str, text: str) -> float:
        return float(run(programs.write(name, text)))

    hello, whole = programs.write("hello", HELLO), []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(hello)
        whole.append(1000 * (time.perf_counter() - start))
    with subprocess.Popen([python, programs.write("wait", WAIT)]) as waiting:
        time.sleep(0.5)  # the program reaches its wait
        size = memory(waiting.pid)
        waiting.kill()
    started = statistics.median(whole)
    return {
        "first launch": started,
        "first stop": started,
        "hello": started,
        "hot loop": 1e9 * printed("hot", TIMED.format(rounds=300_000)),
        "false condition": 1e6 * printed("hits", TIMED.format(rounds=HITS)),
        "tracepoint": 1e6 * printed("hits", TIMED.format(rounds=HITS)),
        "raise": 1e6 * printed("raise", RAISE),
        "fork": 1e3 * printed("fork", FORK),
        "memory": size,
    }


def rows(columns: dict[str, dict[str, float]]) -> list[Row]:
    """Return the table, with the bound of each figure."""
    bounds: dict[str, tuple[str, dict[str, Any]]] = {
        "first stop": ("ms", {"beside": "alone", "more": 80}),
        "hello": ("ms", {"beside": "alone", "more": 100}),
        "first launch": ("ms", {"beside": "alone", "more": 150}),
        "step": ("ms", {"beside": "empty call", "more": 2.5}),
        "goodbye": ("ms", {"more": 60}),
        "fork": ("ms", {"more": 10}),
        "hot loop": ("ns a round", {"beside": "alone", "factor": 1.1}),
        "false condition": ("µs a hit", {"beside": "alone", "more": 2}),
        "tracepoint": ("µs a hit", {"beside": "alone", "more": 25}),
        "raise": ("µs", {"more": 5}),
        "memory": ("MB", {"beside": "alone", "more": 8}),
    }
    return [
        Row(what, unit, {name: column[what] for name, column in columns.items() if what in column}, **bound)
        for what, (unit, bound) in bounds.items()
    ]


async def main(pythons: list[str]) -> int:
    """Print a table for each interpreter; return how many figures are above their bounds."""
    too_many = 0
    with TemporaryDirectory() as directory:
        programs = Programs(Path(directory).resolve())
        async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
            for python in pythons:
                columns = {
                    "alone": alone(python, programs),
                    "empty call": {"step": await empty_call()},
                    "raw DAP": await raw_dap(python, programs),
                    "pydevd": await through_mcp(rpc, python, "pydevd", programs),
                    "engine": await through_mcp(rpc, python, "own", programs),
                }
                table = rows(columns)
                print(python)
                print(" " * 34 + "".join(f"{name:>12}" for name in [*columns, "at most"]))
                print(*(row.line([*columns]) for row in table), sep="\n", flush=True)
                too_many += sum(row.columns["engine"] > row.bound for row in table)
    return too_many


if __name__ == "__main__":
    named = sys.argv[1:]
    sys.exit(bool(trio.run(main, named or [python.path for python in found() if python.version in TRIED])))
