"""Measures a step by an editor, with what the editor asks at the stop: `scripts/bench editors`.

An editor steps, and asks for the threads, the stack, the scopes of its top frame and the variables in the first of
them: of the server, by its door; and, in raw DAP with the same requests, of the debugger inside a program, on the
direct line that the server itself uses. The client is the same in both. The steps are made in turns, so that what else
the machine does weighs on both. What editors that watch cost is measured by `_watch.py`.
"""

import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median

import trio
from _bench import refuse, wait_for
from _bench_adapters import RawSession
from _bench_raw import Children, Measured, Scopes
from _watch import TOKENS, serve, watching
from msgspec import Struct

from trio_debugmcp.dap.connection import Connection, open_connection
from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.messages import Initialized, StackTraceBody, Stopped, ThreadsBody
from trio_debugmcp.dap.process import Watchdog
from trio_debugmcp.dap.profiles import Launch, Runtime, profile_named
from trio_debugmcp.testing import connect_process

STEPS = 200
FACTOR = 2.5
"""What the server has to do beside: to ask what its own state has of the stop, and to pass each message on."""


DEEP = 12
"""Frames below the one that steps: a program has that many that a framework calls."""

LOOP = f"""\
class Item:
    def __init__(self, name, price):
        self.name, self.price, self.tags = name, price, [name, "new"]

def total_of(items, depth={DEEP}):
    if depth:
        return total_of(items, depth - 1)
    total, count, shop, shelf = 0.0, 0, {{"open": True, "name": "corner"}}, set(range(20))
    prices, names, first, last = [each.price for each in items], [each.name for each in items], items[0], items[-1]
    limits, rates, where, best = (1, 100), {{"vat": 0.19, "tip": 0.1}}, "aisle 5", None
    for turn in range(1_000_000):
        item = items[turn % len(items)]
        total += item.price
        count += 1
    return total

total_of([Item("apple", 1.5), Item("pear", 2.25), Item("fig", 4.0)])
"""
LINE = 12


class Stepping(Struct):
    """One who steps: the connection, the thread, and how long each step took, in seconds."""

    connection: Connection
    thread: int
    took: list[float] = []

    async def step(self) -> None:
        """Make a step, and ask about its stop as editors do."""
        before = time.perf_counter()
        await self.connection.request("next", {"threadId": self.thread})
        await wait_for(self.connection, Stopped)
        await self.connection.request("threads", None, ThreadsBody)
        stack = {"threadId": self.thread, "startFrame": 0, "levels": 20}
        frames = (await self.connection.request("stackTrace", stack, StackTraceBody)).stack_frames or []
        scopes = await self.connection.request("scopes", {"frameId": frames[0].id}, Scopes)
        wanted = {"variablesReference": scopes.scopes[0].variables_reference}
        found = await self.connection.request("variables", wanted, Children)
        self.took.append(time.perf_counter() - before)
        if not {"total", "item", "shelf"} <= {each.name for each in found.variables}:
            raise RuntimeError(f"these are not the locals: {found}")


@asynccontextmanager
async def raw(program: Path) -> AsyncIterator[Stepping]:
    """Stop in the loop, on the direct line."""
    profile, watchdog = profile_named("debugpy"), Watchdog()
    if profile is None:
        raise RuntimeError("debugpy is a dependency")
    launch = Launch(program=str(program), cwd=str(program.parent), stop_at_entry=False)
    point = {"source": {"path": str(program)}, "breakpoints": [{"line": LINE}]}
    async with (
        open_dial_ins() as dial_ins,
        RawSession(profile, launch, point, Runtime(watchdog, dial_ins)).open() as session,
    ):
        await session.stop()
        connection = session.connection
        await connection.request("setBreakpoints", {**point, "breakpoints": []})
        yield Stepping(connection, session.thread)
    watchdog.close()


@asynccontextmanager
async def through_door(program: Path) -> AsyncIterator[Stepping]:
    """Stop in the loop by an agent, and join as an editor."""
    process, port = await serve()
    async with AsyncExitStack() as stack:
        agent = await stack.enter_async_context(connect_process(process))
        point = {"file": str(program), "line": LINE}
        stop = await agent.call("debug_launch", program=str(program), stop_at_entry=False, breakpoints=[point])
        if stop.get("reason") != "Breakpoint":
            raise RuntimeError(f"it has not stopped: {stop}")
        await agent.call("breakpoint_remove", id="*")
        stream = await stack.enter_async_context(await trio.open_tcp_stream("127.0.0.1", port))
        connection = await stack.enter_async_context(open_connection(stream, refuse))
        await connection.request("initialize", {"adapterID": "trio-debugmcp", "clientName": "Bench"})
        await connection.request("attach", {"token": TOKENS["control"]})
        await wait_for(connection, Initialized)
        await connection.request("configurationDone")
        stopped = await wait_for(connection, Stopped)
        yield Stepping(connection, stopped.thread_id)
        await agent.call("debug_disconnect")
    process.kill()
    await process.wait()


async def measured(steps: int = STEPS) -> Measured:
    """Step in turns, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder).resolve() / "prices.py"
        program.write_text(LOOP)
        async with raw(program) as theirs, through_door(program) as ours:
            for _ in range(steps):
                for each in (theirs, ours):
                    await each.step()
    what = "a step of an editor, with all it asks"
    return Measured(what, _milliseconds(theirs.took), _milliseconds(ours.took), FACTOR)


def _milliseconds(took: Sequence[float]) -> float:
    return median(took) * 1000


async def main() -> int:
    """Measure; fail if something is too slow."""
    result = await measured()
    sys.stdout.write(f"{result}{'  TOO SLOW' if result.is_slow else ''}\n")
    failed = result.is_slow
    for role in TOKENS:
        if await watching(role):
            sys.stdout.write("TOO SLOW\n")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
