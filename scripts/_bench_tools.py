"""Measures tools, each beside raw DAP to debugpy's adapter as shipped that does the same: see scripts/bench.

- a program that passes a tracepoint 2,000 times, from its launch to its end, against a log point;
- a hundred stops at a breakpoint, each with its stack;
- an expression, and a hundred objects two levels deep, against `evaluate` and a request for the children of each;
- a snapshot of these objects, likewise, and the difference of two;
- a run until an expression holds, against a breakpoint with that condition;
- values captured at fifty hits, against a stop, `evaluate` and `continue` for each: in the program (Python), and
  by stop and go, where the adapter has no other way (lldb-dap);
- a traced call of 200 lines, against a step with stack and locals for each.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trio
from _bench import Rpc, milliseconds, open_rpc, wait_for
from _bench_raw import PLACE, Children, Evaluated, Measured, Scopes, raw

from trio_debugmcp.dap.connection import Connection, EndOfStream
from trio_debugmcp.dap.messages import OutputEvent, StackTraceBody, Stopped, Terminated
from trio_debugmcp.dap.process import Watchdog

LLDB = shutil.which("lldb-dap-19") or shutil.which("lldb-dap")
COMPILER = shutil.which("gcc")

HITS = 2_000
STOPS = 100
OBJECTS = 100
RUNS = 3
ROUNDS = 30
CAPTURED = 50
UNTIL = 1_500
STEPS = 20
TRACED_LINES = 200

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


def total(rounds):
    found = 0
    for number in range(rounds):
        found += number
    return found


total({(TRACED_LINES - 3) // 2})
"""

CALL = 25
"""The line of the last call, whose function runs so many lines."""

NATIVE_PROGRAM = f"""\
int work(int number) {{
    return number * 2;
}}

int main(void) {{
    int sum = 0;
    for (int number = 0; number < {CAPTURED}; number++)
        sum += work(number);
    return sum == 0;
}}
"""


async def traced(watchdog: Watchdog, rpc: Rpc, file: str) -> Measured:
    message = "number is {number}"
    theirs, ours = [], []
    for _ in range(RUNS):
        before = time.perf_counter()
        async with raw(watchdog, file, logMessage=message) as connection:
            arrived = 0
            while not isinstance(event := await connection.events.receive(), Terminated | EndOfStream):
                arrived += isinstance(event, OutputEvent) and event.output.startswith("number is")
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


def top_frame(stack: StackTraceBody) -> int:
    return stack.stack_frames[0].id if stack.stack_frames else 0


async def looked_at(connection: Connection, expression: str, depth: int) -> None:
    """Ask for a value, and for the children of each child down to a depth."""
    stack = await connection.request("stackTrace", {"threadId": 1, "levels": 1}, StackTraceBody)
    asked = {"expression": expression, "frameId": top_frame(stack)}
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

        async def look(expression: str, depth: int, rounds: int) -> float:
            return await milliseconds(lambda: looked_at(connection, expression, depth), rounds)

        theirs = [await milliseconds(resume, STOPS), await look("number + 1", 0, ROUNDS), await look("items", 2, RUNS)]
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
        Measured("snapshot_create of them", theirs[2], await call("snapshot_create", frame_index=1), 1.2, 10),
        Measured("snapshot_diff", None, await call("snapshot_diff", before="snap-1", after="snap-2")),
    ]  # fmt: skip
    await clear(rpc)
    return found


async def clear(rpc: Rpc) -> None:
    await rpc.call("debug_disconnect")
    await rpc.call("breakpoint_remove", id="*")


async def until(watchdog: Watchdog, rpc: Rpc, file: str) -> Measured:
    condition = f"number == {UNTIL}"
    async with raw(watchdog, file, line=1) as connection:
        await wait_for(connection, Stopped)
        before = time.perf_counter()
        points = [{"line": PLACE, "condition": condition}]
        await connection.request("setBreakpoints", {"source": {"path": file}, "breakpoints": points})
        await connection.request("continue", {"threadId": 1})
        await wait_for(connection, Stopped)
        await connection.request("stackTrace", {"threadId": 1, "levels": 20}, StackTraceBody)
        theirs = time.perf_counter() - before
        await connection.request("disconnect", {"terminateDebuggee": True})
    await rpc.call("debug_launch", program=file, stop_at_entry=True)
    before = time.perf_counter()
    found = await rpc.call("debug_run_until", expression=condition, file=file, line=PLACE)
    ours = time.perf_counter() - before
    if found["structuredContent"]["state"] != "Paused":
        raise RuntimeError(found["structuredContent"])
    await clear(rpc)
    return Measured(f"debug_run_until, {UNTIL} looks", theirs * 1000, ours * 1000, 1.5)


async def captured_raw(connection: Connection, expression: str) -> float:
    """Have a value at each hit of the breakpoint, until there are enough."""
    before = time.perf_counter()
    for number in range(CAPTURED):
        stop = await wait_for(connection, Stopped)
        thread = {"threadId": stop.thread_id}
        stack = await connection.request("stackTrace", {**thread, "levels": 1}, StackTraceBody)
        asked = {"expression": expression, "frameId": top_frame(stack)}
        await connection.request("evaluate", asked, Evaluated)
        if number < CAPTURED - 1:
            await connection.request("continue", thread)
    took = time.perf_counter() - before
    await connection.request("disconnect", {"terminateDebuggee": True})
    return took


async def captured(watchdog: Watchdog, rpc: Rpc, what: str, file: str, line: int, **launch: str) -> Measured:
    """Measure from the first stop on: what a launch takes stands elsewhere."""
    native = {"adapter": [LLDB], "program": launch["program"]} if launch["program"] != file else {}
    async with raw(watchdog, file, line=line, **native) as connection:  # type: ignore[arg-type]
        theirs = await captured_raw(connection, "number")
    await rpc.call("debug_launch", stop_at_entry=True, **launch)
    experiment = {"file": file, "line": line, "capture": ["number"], "max_hits": CAPTURED}
    before = time.perf_counter()
    found = (await rpc.call("batch_evaluate", experiments=[experiment]))["structuredContent"]
    ours = time.perf_counter() - before
    hits = len(found["experiments"][0]["hits"])
    if hits != CAPTURED:
        raise RuntimeError(f"{hits} hits of {CAPTURED}: {found}")
    await clear(rpc)
    return Measured(f"{what}, {CAPTURED} hits", theirs * 1000, ours * 1000, 1.5)


async def by_stop_and_go(watchdog: Watchdog, rpc: Rpc, folder: Path) -> list[Measured]:
    if LLDB is None or COMPILER is None:
        sys.stdout.write("not measured, as lldb-dap or gcc is not installed: values captured by stop and go\n")
        return []
    source, program = folder / "program.c", folder / "program"
    source.write_text(NATIVE_PROGRAM)
    subprocess.run([COMPILER, "-g", "-O0", "-o", str(program), str(source)], check=True)  # noqa: ASYNC221
    found = await captured(
        watchdog, rpc, "batch_evaluate, by stop and go", str(source), 2, program=str(program), adapter="lldb-dap"
    )
    return [found]


async def call_traced(watchdog: Watchdog, rpc: Rpc, file: str) -> Measured:
    async with raw(watchdog, file, line=CALL) as connection:
        await wait_for(connection, Stopped)

        async def step(mode: str = "next") -> None:
            await connection.request(mode, {"threadId": 1})
            await wait_for(connection, Stopped)
            stack = await connection.request("stackTrace", {"threadId": 1, "levels": 1}, StackTraceBody)
            scopes = await connection.request("scopes", {"frameId": top_frame(stack)}, Scopes)
            await connection.request("variables", {"variablesReference": scopes.scopes[0].variables_reference})

        await step("stepIn")
        theirs = await milliseconds(step, STEPS) * TRACED_LINES
        await connection.request("disconnect", {"terminateDebuggee": True})
    await rpc.call("debug_launch", program=file, breakpoints=[{"file": file, "line": CALL}])
    before = time.perf_counter()
    found = (await rpc.call("trace_function", function="total"))["structuredContent"]
    ours = time.perf_counter() - before
    call = found["calls"][0]
    ran = call.get("ran", len(call["lines"]))  # it is not there if every line is shown
    if abs(ran - TRACED_LINES) > 2:
        raise RuntimeError(f"{ran} lines of {TRACED_LINES}: {found}")
    await clear(rpc)
    return Measured(f"trace_function of {ran} lines", theirs, ours * 1000, most=2000)


async def main() -> int:
    watchdog = Watchdog()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder).resolve() / "program.py"
        file.write_text(PROGRAM)
        async with open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
            found = [
                await traced(watchdog, rpc, str(file)),
                *await stopped(watchdog, rpc, str(file)),
                await until(watchdog, rpc, str(file)),
                await captured(watchdog, rpc, "batch_evaluate, in the program", str(file), PLACE, program=str(file)),
                *await by_stop_and_go(watchdog, rpc, file.parent),
                await call_traced(watchdog, rpc, str(file)),
            ]
    watchdog.close()
    for each in found:
        sys.stdout.write(f"{each}{'  TOO SLOW' if each.is_slow else ''}\n")
    return 1 if any(each.is_slow for each in found) else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
