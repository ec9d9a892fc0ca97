"""Hunts: what fails only sometimes is found, recorded, and compared with a run in which it did not."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import found
from tests.real.conftest import Connect
from tests.real.test_lifetimes import assert_gone, descendants, living, server
from tests.server.scene import failure
from trio_debugmcp.testing import DebugClient, connect_process

NEW = next(each.path for each in found() if each.version == (3, 13))
OLD = next(each.path for each in found() if each.version == (3, 9))

HASH_ORDER = """\
import sys

def first(names):
    return next(iter(set(names)))

chosen = first(["tea", "coffee", "cake", "juice", "water", "milk", "soda", "cola", "wine", "beer"])
sys.exit(chosen == "coffee")
"""

RACE = """\
import threading

class Account:
    balance = 0

    def deposit(self):
        before = self.balance
        self.balance = before + 1

account = Account()

def work():
    for _ in range(150):
        account.deposit()

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert account.balance == 300
"""

CLOCK = """\
import time, unittest

def is_open(now):
    return now % 1 > 0.08

class Opening(unittest.TestCase):
    def test_it_is_open(self):
        now = time.time()
        assert is_open(now)
"""

STARTS_DAEMONS = """\
import os, time
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(10000)
        os._exit(0)
for _ in range(2):
    os.wait()  # then the daemons are there
open(os.path.join(os.environ["MARK"], str(os.getpid())), "w").close()
time.sleep(10000)
"""

ON_NEW: dict[str, Any] = {"adapter_options": {"python": [NEW]}}


async def hunted(client: DebugClient, folder: Path, text: str, **more: Any) -> dict[str, Any]:
    """Hunt in a program of this text; the machine may be slow, and the failure rare."""
    (folder / "pyproject.toml").touch()
    file = folder / ("test_program.py" if "def test_" in text else "program.py")
    file.write_text(text)
    what = {"test": f"{file}::Opening::test_it_is_open"} if "def test_" in text else {"program": str(file)}
    answer: dict[str, Any] = await client.call("debug_hunt", **what, **{"times": 2000, **ON_NEW, **more})
    return answer


async def test_what_the_order_of_a_set_decides_is_found_and_the_place_and_the_seed_are_named(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        answer = await hunted(client, tmp_path, HASH_ORDER)
        assert (answer["failed"][:19], answer["passed"][:19]) == ("run-2: exit code 1 ", "run-1: exit code 0 ")
        (difference,) = [line for line in answer["because"] if "program.py:4 first" in line and "differs" in line]
        assert "bad -> 'coffee'" in difference
        (note,) = [note for note in answer["notes"] if note.startswith("tried again, ")]
        assert "3 of 3 with the same conditions, 0 of 3 with another hash seed failed: the hash seed decides" in note
        seed = answer["failed"].partition("hash seed ")[2].partition(",")[0]
        again = await client.call(
            "debug_launch", program=str(tmp_path / "program.py"), stop_at_entry=False, env={"PYTHONHASHSEED": seed},
            **ON_NEW,
        )  # fmt: skip
        assert again["exitCode"] == 1, "the note says how to repeat it"
        compared = await client.call("run_compare", good="run-1", bad="run-2")
        assert compared["because"] == answer["because"]
        chosen = await client.call("why", run="run-2", expression="chosen")
        assert any("next(iter(set(names)))" in line for line in chosen["because"])


async def test_a_race_is_found_and_the_read_that_came_too_early_is_named(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        answer = await hunted(client, tmp_path, RACE)
        assert answer["failed"].startswith("run-2: exit code 1 ")
        assert any("program.py:7 Account.deposit | before = self.balance" in line for line in answer["because"])
        assert any(note.startswith("tried again, ") for note in answer["notes"])


async def test_a_test_that_the_time_of_day_fails_is_found(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        answer = await hunted(client, tmp_path, CLOCK)
        assert any(
            "test_program.py:8 Opening.test_it_is_open | now = time.time()" in line for line in answer["because"]
        )
        assert "is_open(now)" in answer["output"]


async def test_a_session_that_is_there_stays_as_it_is(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "other.py"
    file.write_text("x = 1\ny = 2\n")
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=True)
        before = await client.read("debugger://session")
        answer = await hunted(client, tmp_path, "total = 0\nfor n in range(9):\n    total += n\n", until="total > 20")
        assert "tries came to `total > 20`: there is none to compare with" in answer["notes"][-2]
        assert answer["notes"][-1].startswith("next: why(run='run-")
        after = await client.read("debugger://session")
        assert after == before
        assert (await client.call("debug_step"))["state"] == "Paused"


async def test_a_client_is_notified_of_each_try_and_a_second_hunt_is_refused_meanwhile(
    debugging: Connect, tmp_path: Path
) -> None:
    said: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        said.append((progress, total))
        if len(said) == 1:
            error = await failure(client, "debug_hunt", code="x = 1")
            assert (error.code, "hunt-1 is under way" in error.message) == ("INVALID_PARAMETER", True)

    async with debugging() as client:
        arguments = {"code": "x = 1", "times": 40, "parallel": 1}
        await client.sdk.call_tool("debug_hunt", arguments, progress_callback=on_progress)
        assert said == [(float(number), 40.0) for number in range(1, 41)]


async def test_without_a_recorder_the_seed_is_found_and_it_is_said_why_there_is_no_record(
    debugging: Connect, tmp_path: Path
) -> None:
    old = {"adapter_options": {"python": [OLD]}}
    async with debugging() as client:
        answer = await hunted(client, tmp_path, HASH_ORDER, **old)
        assert answer["failed"].startswith("not recorded: exit code 1 ")
        assert answer["notes"][0].startswith(f"not recorded: only CPython 3.12 and newer can, and {OLD} is cpython 3.9")
        assert any("the hash seed decides" in note for note in answer["notes"])
        error = await failure(client, "debug_hunt", code="x = 1", until="x > 0", **old)
        assert (error.code, "`until` is judged over recorded runs" in error.message) == ("NOT_SUPPORTED", True)


async def test_the_name_of_a_test_that_is_not_there_is_refused_with_similar_ones(
    debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "test_program.py").write_text(CLOCK)
    async with debugging() as client:
        error = await failure(
            client, "debug_hunt", test=f"{tmp_path}/test_program.py::Opening::test_it_is_closed", **ON_NEW
        )
        assert error.code in ("INVALID_PARAMETER", "INVALID_PATH")
        assert "test_it_is_open" in error.message
        error = await failure(client, "debug_hunt", module="no_such_module", cwd=str(tmp_path), **ON_NEW)
        assert (error.code, "There is no module 'no_such_module'" in error.message) == ("INVALID_PARAMETER", True)
        error = await failure(client, "debug_hunt", code="x = 1", env={"PYTHONHASHSEED": "0"})
        assert (error.code, "leave it out of `env`" in error.message) == ("INVALID_PARAMETER", True)
        error = await failure(client, "debug_hunt", code="x = 1", engine="ray")
        assert (error.code, "needs the package ray" in error.message) == ("NOT_SUPPORTED", True)


RARE = {
    "the order of a set": (
        """\
names = [f"item {number}" for number in range(200)]
chosen = next(iter(set(names)))
assert chosen != "item 77"
""",
        r".*\| chosen = next\(iter\(set\(names\)\)\) \| .*; differs",
    ),
    "the time of day": (
        """\
import time
now = time.time()
is_open = now % 1 >= 0.005
assert is_open
""",
        r"bad: #\d+ program\.py:2 <module> \| now = time\.time\(\) \| now=\d+\.0\d*",  # a time differs in each run
    ),
    "a race": (
        """\
import threading

balance = 0
begin = threading.Barrier(2)

def deposit():
    global balance
    before = balance
    for _ in range(50):
        pass
    balance = before + 1

def work():
    begin.wait()
    deposit()

deposit()
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert balance == 3
""",
        r".*\| before = balance \| .*; differs",
    ),
}
"""Each fails about once in two hundred runs, and how run_compare names the statement that it is due to."""


@pytest.mark.nightly("some hundred tries each")
@pytest.mark.parametrize("what", RARE)
async def test_what_fails_once_in_two_hundred_runs_is_found_and_its_place_is_named(
    debugging: Connect, tmp_path: Path, what: str
) -> None:
    text, named = RARE[what]
    async with debugging() as client:
        answer = await hunted(client, tmp_path, text)
        assert answer["failed"].startswith("run-2: exit code 1 ")
        assert any(re.fullmatch(named, line) for line in answer["because"]), answer["because"]


# --- Ends -------------------------------------------------------------------------------------------------------------


async def programs_in(folder: Path, count: int) -> set[int]:
    """Wait until so many tries have started their daemons, and return the ids of these processes and theirs."""
    while len(list(folder.iterdir())) < count:
        await trio.sleep(0.02)
    return {int(file.name) for file in folder.iterdir()}


def daemons(folder: Path) -> set[int]:
    """The processes of this machine that have the mark of a folder in their environment."""
    marked = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"MARK={folder}\0".encode() in (place / "environ").read_bytes():
                marked.add(int(place.name))
        except OSError:
            continue
    return marked


@pytest.mark.parametrize("how", ["cancelled", "the server is killed"])
async def test_nothing_of_a_hunt_is_left_when_it_is_ended_half_way(tmp_path: Path, how: str) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    arguments = {
        "code": STARTS_DAEMONS,
        "parallel": 2,
        "env": {"MARK": str(marks)},
        "timeout": 3000,
        "try_timeout": 3000,
    }
    async with server() as process, connect_process(process) as client, trio.open_nursery() as nursery:

        async def hunt() -> None:
            try:
                await client.call("debug_hunt", **arguments, **ON_NEW)
            except Exception:  # noqa: BLE001 (the SDK's, of whatever it notices first)
                assert how == "the server is killed"

        nursery.start_soon(hunt)
        await programs_in(marks, 2)
        started = daemons(marks) | descendants(process.pid)
        assert len(living(daemons(marks))) >= 6
        if how == "cancelled":
            nursery.cancel_scope.cancel()
            keepers = daemons(marks)
        else:
            process.kill()
            keepers = started
        with trio.CancelScope(shield=True):
            await assert_gone(keepers)
        nursery.cancel_scope.cancel()


# --- Dask -------------------------------------------------------------------------------------------------------------

CLUSTER = """\
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@asynccontextmanager
async def dask_cluster(folder: Path) -> AsyncIterator[str]:
    """A Dask cluster of two workers, on the Python of the tests, which is not that of the programs."""
    file = folder / "cluster.py"
    file.write_text(CLUSTER)
    process = await trio.lowlevel.open_process(
        [sys.executable, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with process.stdin, process.stdout:
        yield (await process.stdout.receive_some()).decode().strip()
        await process.stdin.aclose()
        await process.wait()


async def test_a_dask_cluster_of_two_workers_hunts_and_the_records_come_back(
    debugging: Connect, tmp_path: Path
) -> None:
    async with dask_cluster(tmp_path) as address, debugging() as client:
        answer = await hunted(client, tmp_path, HASH_ORDER, engine="dask", address=address)
        assert answer["failed"].startswith("run-2: exit code 1 ")
        assert " on tcp://127.0.0.1:" in answer["failed"]
        assert any("program.py:4 first" in line and "differs" in line for line in answer["because"])
        marks = tmp_path / "marks"
        marks.mkdir()
        more = {"env": {"MARK": str(marks)}, "try_timeout": 3000, "timeout": 3000}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: hunted(client, tmp_path, STARTS_DAEMONS, engine="dask", address=address, **more))
            await programs_in(marks, 2)
            nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await assert_gone(daemons(marks))
