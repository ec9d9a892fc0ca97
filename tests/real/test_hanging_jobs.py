"""Jobs of real processes that hang: which rank, where, who computes, and which one has died, in one call."""

import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.real.conftest import Connect

RANKS = 8

TRAIN = """
import os
import sys
import threading

def all_reduce():
    threading.Event().wait()

def load_batch():
    sys.stdin.read()

def step(rank):
    if rank == 3:
        load_batch()
    all_reduce()

rank = next((rank for rank in range(1, 8) if not os.fork()), 0)
os.environ["RANK"] = str(rank)
step(rank)
"""


def line(text: str) -> int:
    """The line of the program with this text."""
    return 1 + [each.strip() for each in TRAIN.splitlines()].index(text)


def ends_with(lines: list[str], *ends: str) -> bool:
    """Whether there are lines with these ends, in this order, and no others."""
    return len(lines) == len(ends) and all(map(str.endswith, lines, ends))


@pytest.mark.both_engines
async def test_the_rank_that_waits_elsewhere_and_the_one_that_was_killed_are_named_in_one_call(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    file.write_text(TRAIN)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        most = f"7 in all_reduce {file}:{line('threading.Event().wait()')} (rank 0-2, 4-7), waits for an event"
        reads = ", waits for sys.stdin.read"  # to which rank 3 may come last
        while not ends_with((answer := await client.call("fleet_state")).get("classes", []), reads, most):
            await trio.sleep(0.1)
        [odd, whole] = answer["classes"]
        assert odd.startswith(f"1 in load_batch {file}:{line('sys.stdin.read()')} (rank 3: ")
        assert whole == most
        load = line("sys.stdin.read()")
        assert answer["missing"] == [
            (
                f"7 of 8 ranks are in all_reduce {file}:{line('threading.Event().wait()')}; rank 3 is not in it: "
                f"3 in load_batch {file}:{load}, waits for sys.stdin.read"
            )
        ]
        assert answer["processes"] == f"{RANKS} running"
        processes = (await client.call("fleet_state", full=True))["processes"]
        [killed] = [each["sessionId"] for each in processes if each["labels"]["rank"] == "6"]
        session = await client.read(f"debugger://sessions/{killed}/session")
        os.kill(session["processId"], signal.SIGKILL)
        while not (answer := await client.call("fleet_state")).get("ended"):
            await trio.sleep(0.1)
        [ended] = answer["ended"]
        assert ended.startswith("1 killed by SIGKILL")
        assert ended.endswith(f" (rank 6: {killed})")
        assert answer["classes"][-1].startswith("6 in all_reduce ")
        [missing] = answer["missing"]
        assert f"; rank 3, 6 are not in it: 3 in load_batch {file}:{load}, " in missing
        assert "; 6 killed by SIGKILL" in missing
        assert "1 ended" in answer["since"]
        assert len(json.dumps(answer)) <= 2048


MANY = 32

TROUBLED = """
import math
import os
import threading

def all_reduce():
    threading.Event().wait()

def all_gather():
    threading.Event().wait()

def load_batch():
    while True:
        sum(range(1000))

def step(rank):
    global loss
    loss = math.nan if rank == 31 else 0.5
    if rank == 3:
        all_gather()
    if rank == 5:
        load_batch()
    all_reduce()

rank = next((rank for rank in range(1, 32) if not os.fork()), 0)
os.environ["RANK"] = str(rank)
step(rank)
"""


async def test_another_collective_a_straggler_a_dead_rank_and_one_with_nan_are_named(
    debugging: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # so that places are short, however long its path is
    file = tmp_path / "train.py"
    file.write_text(TROUBLED)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)

        def is_shown(answer: dict[str, Any], waiting: int) -> bool:
            classes = answer.get("classes", [])
            return len(classes) == 3 and classes[-1].startswith(f"{waiting} in all_reduce ")

        while not is_shown(await client.call("fleet_state"), MANY - 2):
            await trio.sleep(0.1)
        processes = (await client.call("fleet_state", group="rank=9", full=True))["processes"]
        session = await client.read(f"debugger://sessions/{processes[0]['sessionId']}/session")
        os.kill(session["processId"], signal.SIGKILL)  # as the kernel does without memory
        while not (is_shown(answer := await client.call("fleet_state"), MANY - 3) and answer.get("ended")):
            await trio.sleep(0.1)
        assert len(json.dumps(answer)) <= 2048
        classes = answer["classes"]
        assert len(classes) == 3
        assert any(line.startswith("1 in all_gather ") and "(rank 3: s-" in line for line in classes)
        assert any(line.startswith("1 in load_batch ") and "(rank 5: s-" in line for line in classes)
        assert answer["ended"][0].startswith("1 killed by SIGKILL")
        assert "(rank 9: s-" in answer["ended"][0]
        [missing] = answer["missing"]
        assert f"{MANY - 3} of {MANY} ranks are in all_reduce " in missing
        assert "; rank 3, 5, 9 are not in it: 3 in all_gather " in missing
        assert "; 5 in load_batch " in missing
        assert "; 9 killed by SIGKILL" in missing
        values = await client.call("evaluate", expression="loss", group="all")
        assert values["values"][0].startswith("1 has nan (rank 31: s-")
        assert len(json.dumps(values)) <= 2048


CROSSING = """
import multiprocessing
import os
import signal

def left():
    with first:
        both.wait()
        second.acquire()

def right():
    with second:
        both.wait()
        first.acquire()

def dies():
    third.acquire()
    os.kill(os.getpid(), signal.SIGKILL)

def wants():
    with third:
        pass

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    first, second, third, both = context.Lock(), context.RLock(), context.Lock(), context.Barrier(2)
    last = context.Process(target=dies, name="dies")
    last.start()
    last.join()
    workers = [context.Process(target=work, name=work.__name__) for work in (left, right, wants)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""


@pytest.mark.both_engines
async def test_processes_that_take_two_locks_crosswise_and_a_lock_whose_owner_has_died_are_named(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "crossing.py"
    file.write_text(CROSSING)
    here = [each.strip() for each in CROSSING.splitlines()]
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        while not ((answer := await client.call("fleet_state")).get("deadlocks") and answer.get("locks")):
            await trio.sleep(0.1)
        [circle], [orphan] = answer["deadlocks"], answer["locks"]
    ids = dict(re.findall(r"(left|right|wants): (s-\d+)", f"{circle} {orphan}"))
    waits = {
        f"left: {ids['left']} waits for second, which right has, in right {file}:{here.index('first.acquire()') + 1}",
        f"right: {ids['right']} waits for first, which left has, in left {file}:{here.index('second.acquire()') + 1}",
    }
    assert circle.startswith("deadlock: ")
    assert set(circle.removeprefix("deadlock: ").split("; ")) == waits
    assert orphan.startswith(f"1 (wants: {ids['wants']}) waits for third: none of those that answer is seen to have ")


BLOCKED_CALLS = Path("/proc/self/syscall")

UNREAD = """
import multiprocessing

def put():
    queue.put("x" * 1_000_000)

def send():
    end.send("x" * 1_000_000)

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    unread, end = context.Pipe(duplex=False)
    workers = [context.Process(target=work, name=work.__name__) for work in (put, send)]
    for worker in workers:
        worker.start()
    for worker in reversed(workers):
        worker.join()
"""


@pytest.mark.both_engines
@pytest.mark.skipif(not BLOCKED_CALLS.exists(), reason="the kernel does not say what blocks a thread")
async def test_a_program_that_joins_a_process_whose_result_it_does_not_read_is_a_deadlock(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "unread.py"
    file.write_text(UNREAD)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        while not (answer := await client.call("fleet_state")).get("deadlocks"):
            await trio.sleep(0.1)
    [circle] = answer["deadlocks"]
    ids = dict(re.findall(r"(put|send): (s-\d+)", circle))
    assert circle.startswith(f"deadlock: s-1 waits for the end of send: {ids['send']}; ")
    readers = f"s-1, put: {ids['put']} and itself"
    assert f"; send: {ids['send']} waits to write to a full pipe that only {readers} can read" in circle


ASKING = """
import multiprocessing

def ask():
    theirs.recv()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    asks = context.Process(target=ask, name="ask")
    asks.start()
    theirs.close()
    mine.recv()
"""


@pytest.mark.skipif(not BLOCKED_CALLS.exists(), reason="the kernel does not say what blocks a thread")
async def test_two_processes_that_wait_for_each_other_at_the_ends_of_a_pipe_in_both_directions_are_a_deadlock(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "asking.py"
    file.write_text(ASKING)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        while not (answer := await client.call("fleet_state")).get("deadlocks"):
            await trio.sleep(0.1)
    [circle] = answer["deadlocks"]
    [asks] = set(re.findall(r"ask: (s-\d+)", circle))
    reads = "waits to read from an empty socket of which only {} and itself have an end"
    waits = {f"s-1 {reads.format(f'ask: {asks}')}", f"ask: {asks} {reads.format('s-1')}"}
    assert set(circle.removeprefix("deadlock: ").split("; ")) == waits


LOCKING = """
import fcntl
import subprocess
import sys

CHILD = "import fcntl; fcntl.flock(open('app.lock', 'a'), fcntl.LOCK_EX)"

with open("app.lock", "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    subprocess.call([sys.executable, "-c", CHILD])
"""


@pytest.mark.both_engines
@pytest.mark.skipif(not BLOCKED_CALLS.exists(), reason="the kernel does not say what blocks a thread")
async def test_a_program_that_has_the_lock_of_a_file_and_waits_for_a_child_that_wants_it_is_a_deadlock(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "locking.py"
    file.write_text(LOCKING)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), cwd=str(tmp_path), stop_at_entry=False, wait=False)
        while not (answer := await client.call("fleet_state")).get("deadlocks"):
            await trio.sleep(0.1)
        pid = (await client.read("debugger://session"))["processId"]
    [circle] = answer["deadlocks"]
    [child] = re.findall(r"for the end of (s-\d+)", circle)
    lock = f"the lock of {tmp_path}/app.lock"
    assert circle == f"deadlock: s-1 waits for the end of {child}; {child} waits for {lock}, which s-1 has"
    assert any(f"waits for fcntl.flock, {lock}, held by process {pid} " in each for each in answer["classes"])


WAITING = """
import os
import threading

def serve():
    threading.Event().wait()

rank = next((rank for rank in range(1, 3) if not os.fork()), 0)
os.environ["RANK"] = str(rank)
serve()
"""


async def test_a_process_that_is_stopped_by_a_signal_is_said_to_be_and_waits_for_nothing(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "waiting.py"
    file.write_text(WAITING)
    async with debugging("legacy", "--patience", "3") as client:  # each call waits for an answer that does not come
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False)
        while "(rank 0-2)" not in " ".join((await client.call("fleet_state")).get("classes", ())):
            await trio.sleep(0.1)
        [held] = (await client.call("fleet_state", group="rank=1", full=True))["processes"]
        pid = (await client.read(f"debugger://sessions/{held['sessionId']}/session"))["processId"]
        os.kill(pid, signal.SIGSTOP)
        try:
            answer = await client.call("fleet_state")
            paused = await client.call("debug_pause", group="rank=1")
        finally:
            os.kill(pid, signal.SIGCONT)
    why = f"the program does not answer: process {pid} is stopped by a signal; SIGCONT continues it"
    who = f"1 (rank 1: {held['sessionId']}): "
    assert any(each.startswith(who) and each.endswith(why) for each in answer["notes"])
    assert paused["failed"] == [who + why]
    assert not any("every thread waits" in each for each in paused["notes"])
    assert not any("rank 1" in each and "waits for" in each for each in answer.get("classes", ()))
    assert "moved" not in answer["since"]
