"""One try of a hunt: what a program is run under, what is kept of its output, and that nothing of it stays."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import found
from trio_debugmcp.session.hunting.hunt_plan import HuntPlan, TryConditions
from trio_debugmcp.session.hunting.hunting import start_text
from trio_debugmcp.session.hunting.local_tries import KEEPER

pytestmark = pytest.mark.real

TEST_SECONDS = 300
"""A bound that only ends a hang."""

PYTHONS = [each.path for each in found() if each.version in ((3, 8), (3, 11), (3, 13))]

DAEMON = """
import os, subprocess, sys, time
mark = os.environ["MARK"]
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(f"{mark}/daemon", "w") as file:
            file.write(str(os.getpid()))
        os.rename(f"{mark}/daemon", f"{mark}/pid")
        time.sleep(10000)
    os._exit(0)
while not os.path.exists(f"{mark}/pid"):
    time.sleep(0.01)
print("ready", flush=True)
LAST
"""


def wanted(folder: Path, code: str, python: str = sys.executable, **more: Any) -> dict[str, Any]:
    """What a keeper gets to know of a try."""
    options = {name: more.pop(name) for name in ("stdin", "try_seconds") if name in more}
    plan = HuntPlan(command=(python, "-c", code), cwd="/", env={"MARK": str(folder)}, **options)
    directory = folder / "try"
    directory.mkdir()
    asked = plan.wanted(TryConditions(1, **{"hash_seed": 7, "seed": 7, **more}))
    return {**asked, "directory": str(directory), "start": start_text()}


def kept(asked: dict[str, Any]) -> dict[str, Any]:
    """Run a try to its end. Standard input stays open meanwhile."""
    keeper = subprocess.Popen([sys.executable, "-I", "-S", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    with keeper, keeper.stdin, keeper.stdout:
        keeper.stdin.write(json.dumps(asked).encode() + b"\n")
        keeper.stdin.flush()
        answer: dict[str, Any] = json.loads(keeper.stdout.read())
    return answer


def is_living(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.parametrize("python", PYTHONS)
def test_seeds_are_those_of_the_try_in_each_version_of_python(tmp_path: Path, python: str) -> None:
    code = "import random, sys; print(hash('a'), random.random(), sys.getswitchinterval())"
    said = []
    for number, seed in enumerate((7, 7, 8)):
        folder = tmp_path / str(number)
        folder.mkdir()
        answer = kept(wanted(folder, code, python, hash_seed=seed, seed=seed, interval=0.001))
        assert (answer["exitCode"], answer["stderr"]) == (0, "")
        said.append(answer["stdout"])
    assert said[0] == said[1] != said[2]
    assert said[0].split()[2] == "0.001"


def test_it_is_known_whether_the_conditions_were_set(tmp_path: Path) -> None:
    for options, are_set in (([], True), (["-I"], False), (["-S"], False)):
        folder = tmp_path / "".join(["set", *options])
        folder.mkdir()
        asked = wanted(folder, "pass")
        asked["command"][1:1] = options
        assert kept(asked)["areSet"] == are_set, options


def test_tasks_take_their_turns_at_random_where_that_is_asked_for_and_callbacks_stay_in_order(tmp_path: Path) -> None:
    code = """
import asyncio
async def say(n):
    await asyncio.sleep(0)
    print(n, end=" ")
async def main():
    for n in range(20):
        asyncio.get_running_loop().call_soon(lambda n=n: print(-n, end=" "))
    await asyncio.gather(*(say(n) for n in range(20)))
asyncio.run(main())
"""
    orders = []
    for number, turns in enumerate((None, 1, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        answer = kept(wanted(folder, code, turns=turns))
        assert answer["exitCode"] == 0, answer["stderr"]
        numbers = [int(each) for each in answer["stdout"].split()]
        assert [each for each in numbers if each < 0] == [-n for n in range(1, 20)]
        orders.append([each for each in numbers if each >= 0])
    assert orders[0] == [0, *range(20)]
    assert sorted(orders[1]) == sorted(orders[2]) == sorted(orders[0])
    assert orders[1] != orders[0] != orders[2] != orders[1]


def test_of_much_output_the_end_is_kept_and_the_rest_is_counted(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('x' * 5_000_000 + 'end'); sys.stderr.write('e' * 100)"
    answer = kept(wanted(tmp_path, code))
    assert (len(answer["stdout"]), answer["stdout"][-4:], answer["stderr"]) == (16384, "xend", "e" * 100)
    assert answer["leftOut"] == 5_000_003 - 16384


def test_input_is_given_whole_and_then_ends(tmp_path: Path) -> None:
    text = "line\n" * 100_000
    answer = kept(wanted(tmp_path, "import sys; print(len(sys.stdin.read()))", stdin=text))
    assert (answer["exitCode"], answer["stdout"]) == (0, f"{len(text)}\n")


@pytest.mark.parametrize("last", ["sys.exit(3)", "time.sleep(10000)"])
def test_a_daemon_ends_with_its_try_when_that_ends_and_when_its_time_is_over(tmp_path: Path, last: str) -> None:
    asked = wanted(tmp_path, DAEMON.replace("LAST", last), try_seconds=3000.0 if "exit" in last else 5.0)
    answer = kept(asked)
    assert answer["exitCode"] == (3 if "exit" in last else None)
    assert answer["timedOut"] == ("sleep" in last)
    begun = tmp_path / "pid"  # on a busy machine it has not come so far within its time
    assert begun.exists() or answer["timedOut"]
    assert not (begun.exists() and is_living(int(begun.read_text())))


def test_the_end_of_standard_input_ends_the_try_with_its_daemons(tmp_path: Path) -> None:
    asked = wanted(tmp_path, DAEMON.replace("LAST", "time.sleep(10000)"), try_seconds=3000.0)
    keeper = subprocess.Popen([sys.executable, "-I", "-S", KEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    with keeper, keeper.stdout:
        keeper.stdin.write(json.dumps(asked).encode() + b"\n")
        keeper.stdin.flush()
        deadline = time.monotonic() + TEST_SECONDS
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        keeper.stdin.close()
        assert keeper.stdout.read() == b"", "no answer is wanted any more"
    assert not (tmp_path / "try").exists()
    assert not is_living(int((tmp_path / "pid").read_text()))


def test_a_program_that_does_not_start_is_said(tmp_path: Path) -> None:
    answer = kept(wanted(tmp_path, "", "/no/such/python"))
    assert "No such file" in answer["refused"]
    assert os.listdir(tmp_path / "try") == ["home"]
