"""Measures each installed debug adapter through the server, beside raw DAP with the same requests: see scripts/bench.

- a launch up to the first stop, with its stack and all its variables;
- a step with its stack and all its variables.

The programs are those of the acceptance test. Raw DAP opens the adapter as the server does, serves its reverse
requests, and asks nothing that the server would not ask.
"""

import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import trio
from _bench import Rpc, milliseconds, open_rpc, wait_for
from _bench_raw import Children, Measured, Scopes

from tests.languages.cases import CASES, PROGRAMS, Case
from trio_debugmcp.dap.adapter import Adapter
from trio_debugmcp.dap.codec import decode_body
from trio_debugmcp.dap.connection import Connection, open_connection
from trio_debugmcp.dap.dial_in import open_dial_ins
from trio_debugmcp.dap.messages import (
    Capabilities,
    Initialized,
    Request,
    RunInTerminal,
    StackTraceBody,
    StartDebugging,
    Stopped,
)
from trio_debugmcp.dap.process import Watchdog, environment, open_process
from trio_debugmcp.dap.profiles import Launch, Profile, Runtime, profile_named
from trio_debugmcp.errors import AdapterRefused
from trio_debugmcp.session.start import CLIENT_CAPABILITIES

LAUNCHES = 5
STEPS = 10
FACTOR = 1.25
MORE_MILLISECONDS = 10.0


class RawSession:
    """A debug session in raw DAP: the adapter's connection, and the one of its child where only that has a program."""

    def __init__(self, profile: Profile, launch: Launch, breakpoint_: dict[str, Any], runtime: Runtime) -> None:
        self._profile = profile
        self._launch = launch
        self._breakpoint = breakpoint_
        self._runtime = runtime
        self._is_late = False
        self._children, self._announced = trio.open_memory_channel[StartDebugging](1)
        self._tasks: trio.Nursery
        self.connection: Connection

    @asynccontextmanager
    async def open(self) -> AsyncIterator["RawSession"]:
        """Launch; the program is about to reach its first stop."""
        async with AsyncExitStack() as stack:
            self._tasks = await stack.enter_async_context(trio.open_nursery())
            adapter = await stack.enter_async_context(self._profile.open(self._launch, self._runtime))
            if adapter.process is not None:
                for pipe in (adapter.process.stdout, adapter.process.stderr):
                    self._tasks.start_soon(_drain, pipe)
            start = self._profile.start_request(self._launch), self._profile.launch_arguments(self._launch)
            await self._connect(stack, adapter, start)
            if self._profile.habits.launches_only:
                child = await self._announced.receive()
                opened = self._profile.open_child(child.configuration, self._runtime, adapter.address)
                await self._connect(
                    stack, await stack.enter_async_context(opened), (child.request, child.configuration)
                )
            yield self
            with trio.move_on_after(2):
                await self.connection.request("disconnect", {"terminateDebuggee": True})
            self._tasks.cancel_scope.cancel()

    async def _connect(self, stack: AsyncExitStack, adapter: Adapter, start: tuple[str, dict[str, Any]]) -> None:
        connection = await stack.enter_async_context(open_connection(adapter.stream, self._serve))
        self.connection = connection
        can = await connection.request(
            "initialize", {**CLIENT_CAPABILITIES, "adapterID": self._profile.name}, Capabilities
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(connection.request, *start)
            await wait_for(connection, Initialized)
            try:
                await connection.request("setBreakpoints", self._breakpoint)
            except AdapterRefused:  # of rdbg, before the program's first line, at which it stops
                self._is_late = True
            if can.supports_configuration_done_request:
                await connection.request("configurationDone")

    async def _serve(self, request: Request) -> object:
        if request.command == "startDebugging":
            self._children.send_nowait(decode_body(request.arguments, StartDebugging))
            return {}
        wanted = decode_body(request.arguments, RunInTerminal)
        return {"processId": await self._tasks.start(self._run, wanted)}

    async def _run(self, wanted: RunInTerminal, *, task_status: trio.TaskStatus[int]) -> None:
        env = environment(wanted.env or {})
        async with open_process(wanted.args, self._runtime.watchdog, cwd=wanted.cwd or None, env=env) as process:
            for pipe in (process.stdout, process.stderr):
                self._tasks.start_soon(_drain, pipe)
            task_status.started(process.pid)
            await process.wait()

    async def stop(self) -> None:
        """Wait for the stop, and ask for its stack and the variables of its top frame, as the server does."""
        stopped = await wait_for(self.connection, Stopped)
        if self._is_late:
            self._is_late = False
            await self.connection.request("setBreakpoints", self._breakpoint)
            await self.connection.request("continue", {"threadId": stopped.thread_id})
            stopped = await wait_for(self.connection, Stopped)
        self.thread = stopped.thread_id if stopped.thread_id is not None else 1
        stack = await self.connection.request(
            "stackTrace", {"threadId": self.thread, "startFrame": 0, "levels": 20}, StackTraceBody
        )
        scopes = await self.connection.request("scopes", {"frameId": top_frame(stack)}, Scopes)
        reference = scopes.scopes[0].variables_reference
        await self.connection.request("variables", {"variablesReference": reference}, Children)

    async def step(self) -> None:
        """Make a step, and ask about its stop."""
        await self.connection.request("next", {"threadId": self.thread})
        await self.stop()


def top_frame(stack: StackTraceBody) -> int:
    return stack.stack_frames[0].id if stack.stack_frames else 0


async def _drain(pipe: trio.abc.ReceiveStream | None) -> None:
    try:
        while pipe is not None and await pipe.receive_some():
            pass
    except (trio.ClosedResourceError, trio.BrokenResourceError):
        pass


async def measured(name: str, case: Case, rpc: Rpc, runtime: Runtime, directory: Path) -> list[Measured]:
    """Measure one adapter; nothing, if it is not installed."""
    profile = profile_named(name)
    if profile is None or profile.locate() is None:
        sys.stdout.write(f"{name} is not installed\n")
        return []
    source = directory / case.source
    source.write_bytes((PROGRAMS / case.source).read_bytes())
    program = str(source if case.build is None else case.build(source, directory))
    launch = Launch(program=program, cwd=str(directory), stop_at_entry=False)
    line = case.line("loop")
    point = {"source": {"path": str(source)}, "breakpoints": [{"line": line}]}
    theirs, their_steps, ours, our_steps = [], [], [], []
    for _ in range(LAUNCHES):
        before = time.perf_counter()
        async with RawSession(profile, launch, point, runtime).open() as session:
            await session.stop()
            theirs.append(time.perf_counter() - before)
            their_steps.append(await milliseconds(session.step, STEPS // LAUNCHES))
        before = time.perf_counter()
        wanted = {"program": program, "adapter": name, "cwd": str(directory)}
        stop = await rpc.call("debug_launch", **wanted, breakpoints=[{"file": str(source), "line": line}])
        ours.append(time.perf_counter() - before)
        if stop["structuredContent"].get("reason") != "Breakpoint":
            raise RuntimeError(f"{name}: {stop}")
        our_steps.append(await milliseconds(lambda: rpc.call("debug_step"), STEPS // LAUNCHES))
        await rpc.call("breakpoint_remove", id="*")
        await rpc.call("debug_disconnect")
    bound = FACTOR, MORE_MILLISECONDS
    return [
        Measured(f"{name}: launch to the first stop", median(theirs) * 1000, median(ours) * 1000, *bound),
        Measured(f"{name}: step", median(their_steps), median(our_steps), *bound),
    ]


async def main() -> int:
    wanted = sys.argv[1:] or list(CASES)
    watchdog, found = Watchdog(), []
    async with open_dial_ins() as dial_ins, open_rpc([sys.executable, "-m", "trio_debugmcp"]) as rpc:
        for name in wanted:
            if name == "debugpy":  # which has no adapter process: see `scripts/bench`
                continue
            with tempfile.TemporaryDirectory() as folder:
                runtime = Runtime(watchdog, dial_ins)
                found += await measured(name, CASES[name], rpc, runtime, Path(folder).resolve())
    watchdog.close()
    for each in found:
        sys.stdout.write(f"{each}{'  TOO SLOW' if each.is_slow else ''}\n")
    return 1 if any(each.is_slow for each in found) else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
