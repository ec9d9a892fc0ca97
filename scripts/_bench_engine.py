"""What the debuggers of Python programs cost: launches, ends, steps and goodbyes, of our engine beside pydevd.

Run by `scripts/bench engine [PYTHON...]`; without one, by the newest two interpreters that pyenv has.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import trio

from tests.real.interpreters import found
from trio_debugmcp.engine import TRIED
from trio_debugmcp.testing import DebugClient, connect_stdio

ROUNDS, STEPS = 7, 20

LOOP = """\
def add(n):
    total = 0
    for i in range(n):
        total += i
        total -= 1
    return total
add(100000)
"""

RAISES = """\
import time
def fail():
    raise ValueError
def caught():
    try:
        fail()
    except ValueError:
        pass
start = time.perf_counter()
for _ in range(30000):
    caught()
print((time.perf_counter() - start) / 30000)
"""


async def timed(run: Callable[[], Awaitable[Any]], into: list[float]) -> Any:
    """Run something, and keep how long it took, in milliseconds."""
    start = time.perf_counter()
    result = await run()
    into.append(1000 * (time.perf_counter() - start))
    return result


async def measure(client: DebugClient, python: str, engine: str, folder: Path) -> dict[str, float]:
    """Return the median of each in milliseconds; of a raise in microseconds."""
    loop, hello, raises = folder / "loop.py", folder / "hello.py", folder / "raises.py"
    loop.write_text(LOOP)
    hello.write_text('print("hello")\n')
    raises.write_text(RAISES)
    options = {"python": [python], "engine": engine}
    first: list[float] = []
    steps: list[float] = []
    goodbye: list[float] = []
    whole: list[float] = []
    point = [{"file": str(loop), "line": 4}]

    async def launch(file: Path, **more: Any) -> Any:
        return await client.call(
            "debug_launch", program=str(file), adapter_options=options, stop_at_entry=False, **more
        )

    for _ in range(ROUNDS):
        await timed(lambda: launch(loop, breakpoints=point), first)
        for _ in range(STEPS):
            await timed(lambda: client.call("debug_step"), steps)
        await timed(lambda: client.call("debug_disconnect"), goodbye)
        await timed(lambda: launch(hello), whole)
    per_raise = 1e6 * float((await launch(raises, timeout=120))["stdout"])
    medians = {"first stop": first, "a step": steps, "goodbye": goodbye, "hello, whole": whole}
    return {**{name: statistics.median(values) for name, values in medians.items()}, "a raise (µs)": per_raise}


def alone(python: str, folder: Path) -> dict[str, float]:
    """Return the same of the interpreter alone, where there is such a thing."""
    whole = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([python, folder / "hello.py"], check=True, capture_output=True)
        whole.append(1000 * (time.perf_counter() - start))
    said = subprocess.run([python, folder / "raises.py"], check=True, capture_output=True, text=True).stdout
    return {"hello, whole": statistics.median(whole), "a raise (µs)": 1e6 * float(said)}


async def main(pythons: list[str]) -> None:
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        async with connect_stdio() as client:
            for python in pythons:
                columns = {engine: await measure(client, python, engine, folder) for engine in ("own", "pydevd")}
                columns = {"Python alone": alone(python, folder), **columns}
                print(python)
                print(f"{'':16}" + "".join(f"{name:>14}" for name in columns))
                for row in columns["own"]:
                    cells = "".join(
                        f"{column[row]:14.1f}" if row in column else " " * 14 for column in columns.values()
                    )
                    print(f"{row:16}{cells}")


if __name__ == "__main__":
    named = sys.argv[1:]
    trio.run(main, named or [python.path for python in found() if python.version in TRIED])
