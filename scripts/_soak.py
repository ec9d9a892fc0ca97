"""`scripts/soak`: one server, real debugpy, and five clients that call tools at random, for as long as you want.

The clients are an agent on standard input and output, an observer on WebSocket who reads what is notified, one in
control on WebSocket, one on HTTP, and an editor; the latter three disconnect now and then and connect again. Every
minute all of them pause, the session is ended, and the resources that the server uses are printed: they must not grow.
"""

import argparse
import logging
import os
import random
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import trio
from _soak_editor import soak_editor
from mcp.shared.exceptions import MCPError
from msgspec import Struct

from trio_debugmcp.testing import DebugClient, ToolFailed, connect_http, connect_process, connect_websocket
from trio_debugmcp.testing.debug_client import Notice

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "programs"
CONTROL, OBSERVE = "soak-control-token", "soak-observe-token"
WATCHED = [f"debugger://{name}" for name in ("session", "breakpoints", "threads", "stack", "output", "timeline")]

HANG_SECONDS = 60
"""For one call; the longest timeout that is passed here is 30 s, for a launch."""

WARM_UP_SAMPLES = 1
"""Samples before nothing may grow any more: the first minute fills caches and ring buffers."""

GROWTH_BYTES = 24 * 1024 * 1024
"""Difference of memory that is tolerated: full ring buffers of output and timeline, and what malloc keeps."""

POOLED_DESCRIPTORS = 3
"""Difference of descriptors that is tolerated: connections that an HTTP client keeps open between its requests."""

IDLE_SECONDS = 11.0
"""For processes to be reaped and connections to be closed, before a sample is taken, and for worker threads to end,
which Trio keeps for ten seconds."""

RACES = {"NO_SESSION", "NOT_PAUSED", "ADAPTER_GONE"}
"""Error codes of calls during which another client ends the session or resumes the program."""

EXPECTED: dict[str, set[str]] = {
    "debug_launch": {"SESSION_ACTIVE", "LAUNCH_FAILED", "ADAPTER_FAILED"},  # the latter two: ended during the start
    "debug_restart": {"SESSION_ACTIVE", "LAUNCH_FAILED", "ADAPTER_FAILED"},
    "debug_continue": set(),
    "debug_step": {"INVALID_THREAD"},
    "debug_pause": {"ALREADY_PAUSED", "TIMEOUT"},
    "debug_run_to": {"INVALID_PARAMETER"},  # no code follows that line
    "breakpoint_set": {"BREAKPOINT_NOT_FOUND"},  # removed by another client while it was sent to the adapter
    "breakpoint_set_exception": {"BREAKPOINT_NOT_FOUND"},
    "breakpoint_enable": {"BREAKPOINT_NOT_FOUND"},
    "breakpoint_remove": {"BREAKPOINT_NOT_FOUND"},
    "variables_get": {"INVALID_FRAME", "EVAL_FAILED"},
    "evaluate": {"EVAL_FAILED", "EVAL_TIMEOUT", "INVALID_FRAME"},
    "exception_get_context": {"NO_EXCEPTION"},
    "source_get": {"INVALID_PATH"},
    "process_write_input": {"STDIN_CLOSED"},
}
"""Tool → error codes that are expected, beside `RACES`."""


class Sample(Struct, frozen=True):
    """Resources of the system that an idle server uses."""

    memory: int
    descriptors: int
    threads: int
    children: int

    def __str__(self) -> str:
        return (
            f"{self.memory / 2**20:7.1f} MiB  {self.descriptors:3d} descriptors  {self.threads:2d} threads  "
            f"{self.children} child processes"
        )


class Soak:
    """State that the clients share: when to pause, and the faults so far."""

    def __init__(self, process: trio.Process, programs: Path, seed: int) -> None:
        self.process = process
        self.programs = programs
        self.seed = seed
        self.calls: Counter[str] = Counter()
        self.refusals: Counter[tuple[str, str]] = Counter()
        self.faults: list[str] = []
        self.go = trio.Event()
        self.go.set()
        self._busy = 0
        self._finished = trio.lowlevel.ParkingLot()

    def count(self, call: str, refused: str | None = None) -> None:
        """Count a call, or how it was refused."""
        if refused is None:
            self.calls[call] += 1
        else:
            self.refusals[call, refused] += 1

    def fault(self, what: str) -> None:
        print(f"{datetime.now():%H:%M:%S} FAULT: {what}", flush=True)
        self.faults.append(what)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Run a call, once the clients do not pause."""
        await self.go.wait()
        self._busy += 1
        try:
            yield
        finally:
            self._busy -= 1
            self._finished.unpark_all()

    async def pause(self) -> None:
        """Make the clients pause, and wait until all calls have ended."""
        self.go = trio.Event()
        while self._busy:
            await self._finished.park()

    def sample(self) -> Sample:
        root = Path(f"/proc/{self.process.pid}")
        status = (root / "status").read_text()

        def number(name: str) -> int:
            found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
            return int(found[1]) if found else 0

        children = [(root / f"task/{task}/children").read_text().split() for task in os.listdir(root / "task")]
        descriptors = len(os.listdir(root / "fd"))
        return Sample(number("VmRSS") * 1024, descriptors, number("Threads"), sum(map(len, children)))

    def orphans(self) -> list[str]:
        """Debugged programs that still run, of whatever parent."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    if str(self.programs) in words and int(entry.name) != self.process.pid:
                        found.append(f"{entry.name}: {words}")
        return found


# --- What a client does ------------------------------------------------------------------------------------------


Call = tuple[str, dict[str, Any]]


class Player:
    """The random calls of one client."""

    def __init__(self, soak: Soak, name: str) -> None:
        self._soak = soak
        self._name = name
        self._dice = random.Random(f"{soak.seed} {name}")

    async def play(self, client: DebugClient, turns: float) -> None:
        """Call tools and read resources, so many times."""
        while turns > 0:
            turns -= 1
            async with self._soak.turn():
                tool, arguments = self._next()
                await self._bounded(tool, arguments, client)
            await trio.sleep(self._dice.uniform(0, 0.1))

    async def _bounded(self, tool: str, arguments: dict[str, Any], client: DebugClient) -> None:
        self._soak.calls[tool] += 1
        try:
            with trio.fail_after(HANG_SECONDS):
                await self._call(tool, arguments, client)
        except trio.TooSlowError:
            self._soak.fault(f"{self._name}: {tool} {arguments} has not ended within {HANG_SECONDS} s")

    async def _call(self, tool: str, arguments: dict[str, Any], client: DebugClient) -> None:
        try:
            if tool == "read":
                await client.read_text(arguments["uri"])
            elif tool == "list":
                await client.uris()
            else:
                await client.call(tool, **arguments)
        except ToolFailed as failed:
            self._soak.refusals[tool, failed.code] += 1
            if failed.code not in EXPECTED.get(tool, set()) | RACES:
                self._soak.fault(f"{self._name}: {tool} {arguments}: {failed}")
        except MCPError as error:
            self._soak.refusals[tool, str(error.error.code)] += 1
            if tool != "read" or "No active debug session" not in error.error.message:
                self._soak.fault(f"{self._name}: {tool} {arguments}: {error}")

    def _next(self) -> Call:
        weighted: dict[Callable[[], Call], int] = {
            self._launch: 6, self._end: 2, self._move: 20, self._breakpoint: 12, self._look: 30, self._talk: 6,
        }  # fmt: skip
        (chosen,) = self._dice.choices(list(weighted), list(weighted.values()))
        return chosen()

    def _place(self) -> dict[str, Any]:
        file = self._soak.programs / self._dice.choice(["busy.py", "workers.py", "steps.py", "errors.py", "chatter.py"])
        lines = file.read_text().splitlines()
        return {"file": str(file), "line": self._dice.randint(1, len(lines))}

    def _launch(self) -> Call:
        name = self._dice.choice(["busy.py", "busy.py", "workers.py", "steps.py", "errors.py", "talk.py", "parent.py"])
        program = self._soak.programs / name
        arguments: dict[str, Any] = {"program": str(program), "stop_at_entry": self._dice.random() < 0.5, "wait": False}
        if name == "busy.py":
            line = next(n for n, text in enumerate(program.read_text().splitlines(), 1) if "# in loop" in text)
            arguments["breakpoints"] = [{"file": str(program), "line": line, "log_message": "turn {turn}"}]
        return "debug_launch", arguments

    def _end(self) -> Call:
        return self._dice.choice(["debug_disconnect", "debug_restart"]), {}

    def _move(self) -> Call:
        dice = self._dice
        calls: list[Call] = [
            ("debug_continue", {"wait": False}),
            ("debug_continue", {"timeout": 0.5}),
            ("debug_step", {"mode": dice.choice(["over", "in", "out"]), "count": dice.randint(1, 3), "timeout": 1}),
            ("debug_step", {"mode": "over", "timeout": 1}),
            ("debug_pause", {"timeout": 3}),
            ("debug_pause", {"timeout": 3}),
            ("debug_wait", {"timeout": 0.3}),
            ("debug_run_to", {**self._place(), "timeout": 0.5}),
        ]  # fmt: skip
        return dice.choice(calls)

    def _breakpoint(self) -> Call:
        dice = self._dice
        which = f"{dice.choice(['bp', 'tp', 'ex'])}-{dice.randint(1, 30)}"
        more: dict[str, Any] = dice.choice(
            [{}, {"condition": "turn % 50 == 0"}, {"hit_condition": "% 20"}, {"log_message": "x {1 + 1}"}]
        )
        kind = dice.choice(["ValueError", "*", "KeyError"])
        return dice.choice([
            ("breakpoint_set", {**self._place(), **more}),
            ("breakpoint_set", {**self._place(), **more}),
            ("breakpoint_set_exception", {"exception_type": kind, "break_on_first_chance": False}),
            ("breakpoint_enable", {"id": which, "enabled": dice.random() < 0.5}),
            ("breakpoint_remove", {"id": which}),
            ("breakpoint_remove", {"id": "*"}),
            ("breakpoint_list", {}),
        ])  # fmt: skip

    def _look(self) -> Call:
        dice = self._dice
        calls: list[Call] = [
            ("debug_state", {}), ("threads_list", {}), ("stacktrace_get", {}), ("variables_get", {}),
            ("variables_get", {"scope": "globals", "count": 20}), ("evaluate", {"expression": "sum(range(1000))"}),
            ("evaluate", {"expression": dice.choice(["turn", "unknown", "1 +", "__import__('time').sleep(0.1)"])}),
            ("exception_get_context", {}), ("source_get", {"file": self._place()["file"]}),
            ("process_read_output", {}), ("timeline_query", {"count": 50}), ("list", {}),
            ("read", {"uri": dice.choice(WATCHED)}), ("read", {"uri": dice.choice(WATCHED)}),
        ]  # fmt: skip
        return dice.choice(calls)

    def _talk(self) -> Call:
        return "process_write_input", {"data": "line\n", "close_after": self._dice.random() < 0.2}


def _from(number: int, notices: list[Notice]) -> list[Notice]:
    return notices[number:]


async def observe(soak: Soak, client: DebugClient) -> None:
    """Read every resource that is notified, as the dashboard does."""
    seen = 0
    async with client.subscribed(*WATCHED):
        while True:
            await client.wait_notices(partial(_from, seen), seconds=HANG_SECONDS * 60)
            news = {notice.what for notice in client.notices[seen:]}
            seen = len(client.notices)
            async with soak.turn():
                for uri in news & set(WATCHED):
                    soak.calls["read when notified"] += 1
                    try:
                        with trio.fail_after(HANG_SECONDS):
                            await client.read(uri)
                    except trio.TooSlowError:
                        soak.fault(f"observer: a read of {uri} has hung for {HANG_SECONDS} s")
                    except MCPError as error:
                        if "No active debug session" not in error.error.message:
                            soak.fault(f"observer: {uri}: {error}")


async def reconnect(soak: Soak, name: str, connect: Callable[[], AbstractAsyncContextManager[DebugClient]]) -> None:
    """Connect, call some tools, disconnect, and start again."""
    player, dice = Player(soak, name), random.Random(f"{soak.seed} stays of {name}")
    while True:
        async with connect() as client:
            await player.play(client, dice.randint(20, 200))


# --- The server --------------------------------------------------------------------------------------------------


class Words:
    """The server's standard error: its addresses, and errors, which are faults."""

    def __init__(self) -> None:
        self.text = ""
        self.more = trio.Event()

    async def listen(self, stream: trio.abc.ReceiveStream | None) -> None:
        if stream is None:
            raise AssertionError("the process was opened with a pipe")
        async for data in stream:
            self.text += data.decode(errors="replace")
            self.more.set()
            self.more = trio.Event()

    async def find(self, pattern: str) -> str:
        with trio.fail_after(30):
            while not (found := re.search(pattern, self.text)):
                await self.more.wait()
        return found[1]


@asynccontextmanager
async def open_soak(seed: int, options: list[str]) -> AsyncIterator[tuple[Soak, Words]]:
    """Run a server with copies of the test programs, whose directory identifies their processes."""
    programs = Path(tempfile.mkdtemp(prefix="soak-"))
    shutil.copytree(PROGRAMS, programs, dirs_exist_ok=True)
    tokens = ["--token", CONTROL, "--observe-token", OBSERVE]
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "trio_debugmcp", "serve", "--ws", "0", "--http", "0", "--dap", "0", *tokens, *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    words = Words()
    soak = Soak(process, programs, seed)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(words.listen, process.stderr)
            yield soak, words
            process.terminate()
            with trio.move_on_after(30):
                await process.wait()
            if process.returncode != 0:
                soak.fault(f"the server ended with {process.returncode}")
            nursery.cancel_scope.cancel()
        await trio.sleep(2)
        for orphan in soak.orphans():
            soak.fault(f"left behind: {orphan}")
        for line in re.findall(r"^.* ERROR .*$|^Traceback.*$", words.text, re.MULTILINE):
            soak.fault(f"the server logged an error: {line}")
        if "Traceback" in words.text:
            print(words.text[-8000:])
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        shutil.rmtree(programs, ignore_errors=True)


async def take_sample(soak: Soak, agent: DebugClient, label: str) -> Sample:
    """Measure the server while all clients pause and there is no session."""
    await soak.pause()
    await agent.call("debug_disconnect")
    await agent.call("breakpoint_remove", id="*")
    await trio.sleep(IDLE_SECONDS)
    sample = soak.sample()
    for orphan in soak.orphans():
        soak.fault(f"left behind by an ended session: {orphan}")
    refused = sum(soak.refusals.values())
    print(f"{label:>10}  {sample}  {soak.calls.total():6d} calls  {refused:5d} refused", flush=True)
    soak.go.set()
    return sample


def judge(soak: Soak, samples: list[Sample]) -> None:
    """Record a fault for everything that has grown since the warm-up."""
    if len(samples) <= WARM_UP_SAMPLES + 1:
        print("too short to judge growth: the server has only warmed up")
        return
    first, last = samples[WARM_UP_SAMPLES], samples[-1]
    if last.descriptors > first.descriptors + POOLED_DESCRIPTORS:
        soak.fault(f"descriptors grew from {first.descriptors} to {last.descriptors}")
    if last.threads > max(each.threads for each in samples[:-1]):
        soak.fault(f"threads grew to {last.threads}")
    if last.children > first.children:
        soak.fault(f"child processes grew from {first.children} to {last.children}")
    if last.memory - first.memory > GROWTH_BYTES:
        soak.fault(f"memory grew by {(last.memory - first.memory) / 2**20:.1f} MiB")


async def play(seed: int, minutes: float, options: list[str]) -> list[str]:
    async with open_soak(seed, options) as (soak, words):
        websocket = (await words.find(r"dashboard: (http://[^/]+)/")).replace("http", "ws", 1) + "/mcp"
        http = await words.find(r"http: (http://\S+)")
        dap = int(await words.find(r"dap: [\d.]+:(\d+)"))
        samples = []
        async with (
            connect_process(soak.process) as agent,
            connect_websocket(websocket, OBSERVE) as observer,
            trio.open_nursery() as nursery,
        ):
            samples.append(await take_sample(soak, agent, "start"))
            nursery.start_soon(observe, soak, observer)
            nursery.start_soon(Player(soak, "agent").play, agent, float("inf"))
            nursery.start_soon(reconnect, soak, "person", lambda: connect_websocket(websocket, CONTROL, "modern"))
            nursery.start_soon(reconnect, soak, "remote", lambda: connect_http(http, CONTROL))
            nursery.start_soon(soak_editor, soak, dap, (CONTROL, CONTROL, OBSERVE))
            for minute in range(1, max(1, round(minutes)) + 1):
                await trio.sleep(60 * min(1, minutes))
                if soak.process.poll() is not None:
                    soak.fault("the server has ended")
                    break
                samples.append(await take_sample(soak, agent, f"{min(1, minutes) * minute:g} min"))
            await soak.pause()
            nursery.cancel_scope.cancel()
        judge(soak, samples)
    print("calls:  ", ", ".join(f"{name} {count}" for name, count in soak.calls.most_common()))
    print("refused:", ", ".join(f"{tool} {code} {count}" for (tool, code), count in soak.refusals.most_common()))
    return soak.faults


def main() -> int:
    """Run the soak; return the exit code, 1 if there was any fault."""
    parser = argparse.ArgumentParser(prog="scripts/soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--record", metavar="FILE", help="write a recording, to see what preceded a fault")
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    # The SDK's HTTP client logs an error if an event arrives while we disconnect.
    logging.getLogger("mcp.client.streamable_http").setLevel(logging.CRITICAL)
    faults = trio.run(play, asked.seed, asked.minutes, ["--record", asked.record] if asked.record else [])
    print(f"{len(faults)} faults" if faults else "no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
