"""Programs that are blocked: one call tells where everything is, launched or attached to by pid."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.real.conftest import Connect, promised
from trio_debugmcp.testing import DebugClient, ToolFailed

TWO_LOCKS = """\
import threading

class Bank:
    def __init__(self):
        self.here, self.there = threading.Lock(), threading.Lock()
        self.both = threading.Barrier(2)

    def pay(self, first, second):
        with first:
            self.both.wait()
            with second:
                pass

bank = Bank()
threading.Thread(target=bank.pay, args=(bank.here, bank.there), name="payer", daemon=True).start()
bank.pay(bank.there, bank.here)
"""

RING = """\
import threading

forks = [threading.Lock() for _ in range(5)]
seated = threading.Barrier(5)

def dine(seat):
    with forks[seat]:
        seated.wait()
        with forks[(seat + 1) % 5]:
            pass

for seat in range(1, 5):
    threading.Thread(target=dine, args=(seat,), name=f"philosopher {seat}", daemon=True).start()
dine(0)
"""

LEAK = """\
import asyncio

async def borrow(pool):
    return await pool.get()

async def handle(pool, name):
    connection = await borrow(pool)
    if name != "anna":  # who keeps it
        pool.put_nowait(connection)

async def main():
    pool = asyncio.Queue()
    pool.put_nowait("connection")
    await asyncio.gather(*(asyncio.create_task(handle(pool, n), name=f"task-{n}") for n in ("anna", "ben", "carl")))

asyncio.run(main())
"""

TRIO = """\
import trio

async def receive(channel):
    await channel.receive()

async def main():
    sending, receiving = trio.open_memory_channel(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(receive, receiving, name="receiver")
        nursery.start_soon(trio.sleep_forever, name="sleeper")

trio.run(main)
"""

INPUT = 'name = input()\nprint("hello", name)\n'
SLEEP = "import time\nseconds = 1000\ntime.sleep(seconds)\n"

C_LOOP = """\
import os, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
total = sum(range(10**12))
"""

POOL = """\
import threading, time

def work(depth):
    return work(depth - 1) if depth else time.sleep(1000)

for _ in range(300):
    threading.Thread(target=work, args=(15,), daemon=True).start()
work(0)
"""

TRACEABLE = bool(shutil.which("gdb")) and (
    os.geteuid() == 0
    or not (scope := Path("/proc/sys/kernel/yama/ptrace_scope")).exists()
    or scope.read_text().strip() == "0"
)

WAYS = ["launched", pytest.param("attached", marks=pytest.mark.skipif(not TRACEABLE, reason="needs gdb"))]


@pytest.fixture
def blocked(debugging: Connect, tmp_path: Path) -> Callable[..., Any]:
    """`async with blocked(way, text) as client:` a program that is launched or attached to, and runs."""

    @asynccontextmanager
    async def begun(way: str, text: str, *args: str) -> AsyncIterator[DebugClient]:
        program = tmp_path / "program.py"
        program.write_text(text, encoding="utf-8")
        async with debugging() as client:
            if way == "launched":
                await client.call("debug_launch", program=str(program), args=args, stop_at_entry=False, wait=False)
                yield client
                return
            process = subprocess.Popen([sys.executable, str(program), *args], stdin=subprocess.PIPE)
            try:
                await trio.sleep(promised(0.7))  # until it is where it blocks
                await client.call("debug_attach", pid=process.pid)
                yield client
                await client.call("debug_disconnect")
            finally:
                process.kill()
                process.communicate()

    return begun


async def until(
    ask: Callable[[], Awaitable[dict[str, Any]]], there: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Ask until the program is where it blocks. A machine that is too busy for an answer gets a further chance."""
    while True:
        answer = await ask()
        if there(answer):
            return answer
        await trio.sleep(0.05)


async def waiting(client: DebugClient, *kinds: str) -> list[dict[str, Any]]:
    """Wait until exactly these things are waited for, by the begin of their names; return the threads."""

    def there(found: dict[str, Any]) -> bool:
        said = sorted(each.get("waitsFor", "") for each in found["threads"])
        return len(said) == len(kinds) and all(
            each.startswith(kind) for each, kind in zip(said, sorted(kinds), strict=True)
        )

    found: list[dict[str, Any]] = (await until(lambda: client.call("threads_list"), there))["threads"]
    return found


async def pause(client: DebugClient) -> list[str]:
    """Pause the blocked program, which must answer soon; return the notes."""
    start = trio.current_time()
    report = await client.call("debug_pause")
    assert trio.current_time() - start < promised(1)
    assert (report["state"], report["timedOut"]) == ("Running", False), report
    assert "The pause stays armed" in report["notes"][0]
    notes: list[str] = report["notes"]
    return notes[1:]


@pytest.mark.parametrize("way", WAYS)
async def test_a_deadlock_of_two_locks(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, TWO_LOCKS) as client:
        threads = await waiting(client, "second", "second")
        assert {each["state"] for each in threads} == {"Waiting"}
        assert {each["location"]["line"] for each in threads} == {11}
        first, second = (each["id"] for each in threads)
        notes = await pause(client)
        assert notes[0] in {
            f"deadlock: threads {a}, {b} wait for each other" for a, b in [(first, second), (second, first)]
        }
        assert f"second, probably held by thread {second} payer, at " in notes[1]
        assert notes[1].endswith("program.py:11 in Bank.pay")
        start = trio.current_time()
        found = await client.call("stacktrace_get", thread_id="*", locals=True)
        assert trio.current_time() - start < promised(1)
        assert [each["count"] for each in found["stacks"]] == [1, 1]
        assert all("first" in each["locals"][0] for each in found["stacks"])
        merged = await client.call("stacktrace_get", thread_id="*")
        assert merged["threads"] == 2


@pytest.mark.parametrize("way", WAYS)
async def test_a_deadlock_of_five_threads_in_a_ring(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, RING) as client:
        threads = await waiting(client, *["forks[(seat + 1) % 5]"] * 5)
        notes = await pause(client)
        (deadlock,) = [note for note in notes if note.startswith("deadlock")]
        assert all(str(each["id"]) in deadlock for each in threads)
        assert len(notes) == 6
        start = trio.current_time()
        found = await client.call("stacktrace_get", thread_id="*")
        assert trio.current_time() - start < promised(1)
        assert (found["threads"], found["stacks"][0]["count"]) == (5, 4)
        assert found["stacks"][0]["frames"][0].startswith("dine ")


@pytest.mark.parametrize("way", WAYS)
async def test_an_idle_asyncio_program_that_leaks_a_connection(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, LEAK) as client:
        await waiting(client, "the events of its asyncio loop")
        assert "waits for the events of its asyncio loop" in (await pause(client))[0]
        start = trio.current_time()
        found = await client.call("tasks_list")
        assert trio.current_time() - start < promised(1)
        tasks = {each["name"]: each for each in found["tasks"]}
        assert {"task-ben", "task-carl"} < set(tasks)
        assert "task-anna" not in tasks
        handle, borrow, *_ = tasks["task-ben"]["chain"]
        assert (handle.partition(" ")[0], borrow.rpartition(":")[2]) == ("handle", "4")


@pytest.mark.parametrize("way", WAYS)
async def test_an_idle_trio_program(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, TRIO) as client:
        await waiting(client, "the events of its Trio run")
        assert "waits for the events of its Trio run" in (await pause(client))[0]
        start = trio.current_time()
        found = await client.call("tasks_list")
        assert trio.current_time() - start < promised(1)
        tasks = {each["name"]: each for each in found["tasks"]}
        assert tasks["receiver"]["depth"] == tasks["sleeper"]["depth"] == tasks["__main__.main"]["depth"] + 1
        assert tasks["receiver"]["chain"][0].endswith("program.py:4")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "what", "line"), [(INPUT, "input()", 1), (SLEEP, "time.sleep(seconds)", 3)])
async def test_a_program_that_waits_in_a_call(
    text: str, what: str, line: int, way: str, blocked: Callable[..., Any]
) -> None:
    async with blocked(way, text) as client:
        (thread,) = await waiting(client, what)
        assert thread["location"]["line"] == line
        (note,) = await pause(client)
        assert f"waits for {what}, at " in note
        start = trio.current_time()
        stack = await client.call("stacktrace_get", locals=True)
        assert trio.current_time() - start < promised(1)
        assert (stack["state"], stack["frames"][0]["location"]["line"]) == ("Waiting", line)


async def test_a_pause_that_is_armed_stops_the_program_when_it_runs_again(blocked: Callable[..., Any]) -> None:
    async with blocked("launched", INPUT) as client:
        await waiting(client, "input()")
        await pause(client)
        await client.call("process_write_input", data="Ada\n")
        stop = await client.call("debug_wait")
        assert (stop["state"], stop["reason"], stop["location"]["line"]) == ("Paused", "Pause", 2)
        assert (await client.call("debug_continue"))["exitCode"] == 0


async def test_the_first_question_is_answered_as_soon(blocked: Callable[..., Any]) -> None:
    """It puts the probe into the program."""
    async with blocked("launched", SLEEP) as client:
        await trio.sleep(promised(1))
        (note,) = await pause(client)
        assert "waits for time.sleep(seconds), at " in note


async def test_hundreds_of_threads_that_wait_are_all_seen(blocked: Callable[..., Any]) -> None:
    async with blocked("launched", POOL) as client:

        def all_wait(found: dict[str, Any]) -> bool:
            return found["threads"] == 301 and [each["count"] for each in found["stacks"]] == [300, 1]

        found = await until(lambda: client.call("stacktrace_get", thread_id="*"), all_wait)
        assert found["notes"] == []
        assert len(found["stacks"][0]["frames"]) >= 16
        assert (await pause(client))[-1] == "281 more threads: see threads_list"


@pytest.mark.parametrize("way", WAYS)
async def test_where_a_loop_in_c_is_is_seen_from_outside(way: str, blocked: Callable[..., Any], tmp_path: Path) -> None:
    """It keeps the GIL, so neither the probe nor the rest of the debugger runs."""
    begin = tmp_path / "begin"
    async with blocked(way, C_LOOP, str(begin)) as client:
        begin.touch()
        await until(lambda: client.call("threads_list"), lambda found: "notes" in found)  # the loop has begun
        start = trio.current_time()
        found = await client.call("threads_list")
        assert trio.current_time() - start < promised(1)
        (thread,) = found["threads"]
        assert (thread["name"], thread["state"], thread["location"]["line"]) == ("MainThread", "Running", 4)
        assert "seen from outside by py-spy" in found["notes"][0]
        assert "MainThread keeps the GIL in C code, at " in found["notes"][0]
        everything = await client.call("stacktrace_get", thread_id="*")
        assert [each["frames"][0].rpartition("/")[2] for each in everything["stacks"]] == ["program.py:4"]
        assert "seen from outside by py-spy" in everything["notes"][0]
        with pytest.raises(ToolFailed, match="does not let the probe run"):
            await client.call("stacktrace_get")
        with pytest.raises(ToolFailed, match="does not let the probe run"):
            await client.call("tasks_list")
        with pytest.raises(ToolFailed, match="C code keeps the GIL"):
            await client.call("evaluate", expression="1 + 1")
        start = trio.current_time()
        report = await client.call("debug_pause")
        assert trio.current_time() - start < promised(1.5)
        assert (report["state"], report["timedOut"]) == ("Running", False)
        assert "keeps the GIL" in report["notes"][0]
        assert "The pause stays armed" in report["notes"][0]
        assert (await client.call("debug_state"))["state"] == "Running"


WORKER = """\
import threading

def work():
    here = 1
    there = 2

worker = threading.Thread(target=work, name="worker")
worker.start()
worker.join()
print("joined")
"""


async def test_a_thread_that_waits_in_c_is_not_stepped(debugging: Connect, tmp_path: Path) -> None:
    """debugpy agrees to the step, and then nothing moves any more."""
    program = tmp_path / "program.py"
    program.write_text(WORKER)
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(program), line=4)
        stop = (await client.call("debug_launch", program=str(program), stop_at_entry=False))["stop"]
        threads = await waiting(client, "", "worker")
        main, worker = sorted(threads, key=lambda each: bool(each["name"] == "worker"))
        assert (main["state"], worker["state"]) == ("Waiting", "Suspended")
        refused = rf"Thread {main['id']} MainThread waits for worker.*Step thread {worker['id']}, or set a breakpoint"
        with pytest.raises(ToolFailed, match=refused) as failed:
            await client.call("debug_step", thread_id=main["id"])
        assert failed.value.code == "INVALID_THREAD"
        assert (await client.call("debug_state"))["state"] == "Paused"
        step = await client.call("debug_step", thread_id=worker["id"])
        assert (step["location"]["line"], stop["location"]["line"]) == (5, 4)
        assert (await client.call("debug_continue"))["exitCode"] == 0
