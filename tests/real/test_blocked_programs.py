"""Programs that are blocked: one call tells where everything is, launched or attached to by pid."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.patience import FACTOR, TOOL_SECONDS
from tests.real.conftest import Connect, needs_gdb, text_of, where
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
SLEEP = "import time\nseconds = 1000\nprint('here', flush=True); time.sleep(seconds)\n"

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

TRACEABLE = (
    os.geteuid() == 0
    or not (scope := Path("/proc/sys/kernel/yama/ptrace_scope")).exists()
    or scope.read_text().strip() == "0"
)

NEEDS_TRACING = pytest.mark.skipif(not TRACEABLE, reason="the system allows no tracing")

WAYS = ["launched", pytest.param("attached", marks=[needs_gdb, NEEDS_TRACING])]


@pytest.fixture
def blocked(debugging: Connect, tmp_path: Path) -> Callable[..., Any]:
    """`async with blocked(way, text) as client:` a program that is launched or attached to, and runs."""

    @asynccontextmanager
    async def begun(way: str, text: str, *args: str, patience: float = FACTOR) -> AsyncIterator[DebugClient]:
        program = tmp_path / "program.py"
        first, rest = text.split("\n", 1)
        begin = ["print('begun', flush=True)", first]
        if first.startswith("import"):
            begin.reverse()  # debugpy must not come while a module is half imported that it imports itself
        program.write_text("; ".join(begin) + f"\n{rest}", encoding="utf-8")
        async with debugging("legacy", "--patience", f"{patience:g}") as client:
            if way == "launched":
                await client.call("debug_launch", program=str(program), args=args, stop_at_entry=False, wait=False)
                yield client
                return
            command = [sys.executable, str(program), *args]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            try:
                process.stdout.readline()
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


async def waiting(client: DebugClient, *kinds: str) -> list[str]:
    """Wait until exactly these things are waited for, by the begin of their names; return the lines of the threads."""

    def there(found: dict[str, Any]) -> bool:
        said = sorted(line.partition(", waits for ")[2] for line in found["threads"])
        return len(said) == len(kinds) and all(
            each.startswith(kind) for each, kind in zip(said, sorted(kinds), strict=True)
        )

    found: list[str] = (await until(lambda: client.call("threads_list"), there))["threads"]
    return found


def id_of(line: str) -> int:
    """The id in the line of a thread."""
    return int(line.removeprefix("*").split()[0])


async def pause(client: DebugClient) -> tuple[list[str], list[str]]:
    """Pause the blocked program, which answers although it does not stop; return the notes on it, and its threads."""
    report = await client.call("debug_pause")
    assert (report["state"], "timedOut" in report) == ("Running", False), report
    assert "The pause stays armed" in report["notes"][0]
    notes: list[str] = report["notes"]
    return notes[1:], report["threads"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_deadlock_of_two_locks(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, TWO_LOCKS) as client:
        threads = await waiting(client, "second", "second")
        assert {(where(each).line, where(each).function) for each in threads} == {(11, "Bank.pay")}
        first, second = map(id_of, threads)
        assert sorted((await client.call("threads_list"))["deadlocks"][0]) == sorted([first, second])
        notes, lines = await pause(client)
        assert notes in [
            [f"probably a deadlock: threads {a}, {b} wait for each other"]
            for a, b in [(first, second), (second, first)]
        ]
        assert lines[0].startswith(f"{first} MainThread ")
        assert lines[0].endswith(f"program.py:11 in Bank.pay, waits for second, probably held by thread {second} payer")
        found = await client.call("stacktrace_get", thread_id="*", locals=True)
        assert ["count" in each for each in found["stacks"]] == [False, False], "one thread each"
        assert all("first" in each["locals"][0] for each in found["stacks"])
        merged = await client.call("stacktrace_get", thread_id="*")
        assert sum(each.get("count", 1) for each in merged["stacks"]) == 2


@pytest.mark.parametrize("way", WAYS)
async def test_a_deadlock_of_five_threads_in_a_ring(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, RING) as client:
        threads = await waiting(client, *["forks[(seat + 1) % 5]"] * 5)
        (deadlock,), lines = await pause(client)
        assert deadlock.startswith("probably a deadlock: threads ")
        assert all(str(id_of(each)) in deadlock for each in threads)
        assert len(lines) == 5
        found = await client.call("stacktrace_get", thread_id="*")
        assert [each.get("count", 1) for each in found["stacks"]] == [4, 1]
        assert found["stacks"][0]["frames"][0].startswith("dine ")


@pytest.mark.parametrize("way", WAYS)
async def test_an_idle_asyncio_program_that_leaks_a_connection(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, LEAK) as client:
        await waiting(client, "the events of its asyncio loop")
        assert "waits for the events of its asyncio loop" in (await pause(client))[1][0]
        found = await client.call("tasks_list")
        tasks = dict(each.strip().split(": ", 1) for each in found["tasks"])
        assert {"task-ben", "task-carl"} < set(tasks)
        assert "task-anna" not in tasks
        handle, borrow, *_ = tasks["task-ben"].split(" > ")
        assert (handle.startswith("handle "), where(handle).line, borrow) == (True, 7, "borrow :4")


@pytest.mark.parametrize("way", WAYS)
async def test_an_idle_trio_program(way: str, blocked: Callable[..., Any]) -> None:
    async with blocked(way, TRIO) as client:
        await waiting(client, "the events of its Trio run")
        assert "waits for the events of its Trio run" in (await pause(client))[1][0]
        found = await client.call("tasks_list")
        lines = dict(each.lstrip().split(": ", 1) for each in found["tasks"])
        depths = {each.lstrip().partition(":")[0]: len(each) - len(each.lstrip()) for each in found["tasks"]}
        assert depths["receiver"] == depths["sleeper"] == depths["__main__.main"] + 2
        assert lines["receiver"].startswith("receive ")
        assert where(lines["receiver"]).line == 4


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "what", "line"), [(INPUT, "input()", 1), (SLEEP, "time.sleep(seconds)", 3)])
async def test_a_program_that_waits_in_a_call(
    text: str, what: str, line: int, way: str, blocked: Callable[..., Any]
) -> None:
    async with blocked(way, text) as client:
        (thread,) = await waiting(client, what)
        assert where(thread).line == line
        notes, (line_of_thread,) = await pause(client)
        assert notes == []
        assert line_of_thread.endswith(f"program.py:{line} in <module>, waits for {what}")
        stack = await client.call("stacktrace_get", locals=True)
        assert (stack["state"], where(stack["frames"][0]).line) == ("Waiting", line)


async def test_a_pause_that_is_armed_stops_the_program_when_it_runs_again(blocked: Callable[..., Any]) -> None:
    async with blocked("launched", INPUT) as client:
        await waiting(client, "input()")
        await pause(client)
        await client.call("process_write_input", data="Ada\n")
        stop = await client.call("debug_wait")
        assert (stop["state"], stop["reason"], where(stop).line) == ("Paused", "Pause", 2)
        assert (await client.call("debug_continue"))["exitCode"] == 0


async def test_the_first_question_is_answered_as_soon(blocked: Callable[..., Any]) -> None:
    """It puts the probe into the program."""
    async with blocked("launched", SLEEP) as client:
        while "here" not in text_of(await client.call("process_read_output")):
            await trio.sleep(0.05)
        _, (line,) = await pause(client)
        assert line.endswith("program.py:3 in <module>, waits for time.sleep(seconds)")


async def test_hundreds_of_threads_that_wait_are_all_seen(blocked: Callable[..., Any]) -> None:
    async with blocked("launched", POOL) as client:

        def all_wait(found: dict[str, Any]) -> bool:
            # With a note it was seen from outside, as 300 threads that start on a busy machine let nothing else run.
            return "notes" not in found and [each.get("count", 1) for each in found["stacks"]] == [300, 1]

        found = await until(lambda: client.call("stacktrace_get", thread_id="*"), all_wait)
        assert not {"notes", "omitted"} & set(found)
        assert len(found["stacks"][0]["frames"]) >= 16
        _, lines = await pause(client)
        assert (len(lines), lines[-1]) == (21, '281 more: see debug_more(tool="threads_list")')


async def test_where_a_loop_in_c_is_is_seen_from_outside(blocked: Callable[..., Any], tmp_path: Path) -> None:
    """It keeps the GIL, so neither the probe nor the rest of the debugger runs, however the debugger came there."""
    begin = tmp_path / "begin"
    async with blocked("launched", C_LOOP, str(begin), patience=3) as client:  # no question of the loop is answered
        begin.touch()
        await until(lambda: client.call("threads_list"), lambda found: "notes" in found)  # the loop has begun
        found = await client.call("threads_list")
        (thread,) = found["threads"]
        assert (thread.split()[1], where(thread).line, "waits" in thread) == ("MainThread", 4, False)
        assert "seen from outside by py-spy" in found["notes"][0]
        assert "MainThread had the GIL at two looks, at " in found["notes"][0]
        everything = await client.call("stacktrace_get", thread_id="*")
        assert [where(each["frames"][0]).line for each in everything["stacks"]] == [4]
        assert "seen from outside by py-spy" in everything["notes"][0]
        with pytest.raises(ToolFailed, match="had the GIL at two looks"):
            await client.call("stacktrace_get")
        with pytest.raises(ToolFailed, match="had the GIL at two looks"):
            await client.call("tasks_list")
        with pytest.raises(ToolFailed, match="MainThread had the GIL at two looks"):
            await client.call("evaluate", expression="1 + 1")
        report = await client.call("debug_pause")
        assert (report["state"], "timedOut" in report) == ("Running", False)
        assert [where(each).line for each in report["threads"]] == [4]
        assert "had the GIL at two looks" in report["notes"][0]
        assert "The pause stays armed" in report["notes"][0]
        assert (await client.call("debug_state"))["state"] == "Running"


WORKER = """\
import sys, threading, time

def work():
    while sys._current_frames()[threading.main_thread().ident].f_code.co_name not in ("join", "_wait_for_tstate_lock"):
        time.sleep(0.01)
    time.sleep(0.2)
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
        # Not before the main thread is in `join`: a stop before that holds it where it has not got to waiting yet.
        await client.call("breakpoint_set", file=str(program), line=7)
        stop = await client.call("debug_launch", program=str(program), stop_at_entry=False)
        threads = await waiting(client, "", "worker")
        main, worker = sorted(threads, key=lambda each: " worker " in each.partition(",")[0])
        assert ("waits for worker" in main, worker.startswith("*")) == (True, True)
        main_id, worker_id = id_of(main), id_of(worker)
        assert stop["thread"] == f"{worker_id} worker"
        refused = rf"Thread {main_id} MainThread waits for worker.*Step thread {worker_id}, or set a breakpoint"
        with pytest.raises(ToolFailed, match=refused) as failed:
            await client.call("debug_step", thread_id=main_id)
        assert failed.value.code == "INVALID_THREAD"
        assert (await client.call("debug_state"))["state"] == "Paused"
        step = await client.call("debug_step", thread_id=worker_id)
        assert (where(step).line, where(stop).line) == (8, 7)
        assert (await client.call("debug_continue"))["exitCode"] == 0


async def test_a_pause_whose_time_is_over_stops_nothing_later(blocked: Callable[..., Any]) -> None:
    async with blocked("launched", "first = input()\nsecond = input()\nprint('end')\n") as client:
        await waiting(client, "input()")
        assert (await client.call("debug_pause", timeout=0.1))["timedOut"]
        await client.call("process_write_input", data="\n")
        # It passes a line: a pause that were still armed would stop it there.
        await until(lambda: client.call("threads_list"), lambda found: where(found["threads"][0]).line == 2)
        assert (await client.call("debug_state"))["state"] == "Running"
        await waiting(client, "input()")
        await pause(client)
        await client.call("process_write_input", data="\n")
        assert (await client.call("debug_wait"))["reason"] == "Pause"
        assert (await client.call("debug_continue"))["stdout"].endswith("end\n")


async def test_a_loop_on_one_line_that_cannot_be_paused_is_named(debugging: Connect, tmp_path: Path) -> None:
    """Python 3.10 and 3.11 call no trace function between two turns of such a loop."""
    program = tmp_path / "program.py"
    program.write_text("while True: pass\n")
    async with debugging() as client:
        await client.call("debug_launch", program=str(program), stop_at_entry=False, wait=False)
        await until(lambda: client.call("threads_list"), lambda found: "program.py:1 in" in found["threads"][0])
        armed = sys.version_info[:2] in ((3, 10), (3, 11))
        stop = await client.call("debug_pause", timeout=2 if armed else TOOL_SECONDS)
        if armed:
            assert stop["timedOut"]
            assert "program.py:1 in <module> at two looks and has begun no new line" in stop["notes"][0]
            assert "where Python {}.{} tells no debugger".format(*sys.version_info[:2]) in stop["notes"][0]
        else:
            assert stop["state"] == "Paused"
