"""Threads of a C++ program that wait: what for, who has it, and which of them wait for each other."""

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from tests import shared
from tests.languages.conftest import SOURCES, TEST_SECONDS, core_of, need
from tests.real.conftest import Connect
from trio_debugmcp.testing import DebugClient

HANGS = SOURCES / "hangs.cpp"


def line_of(text: str, source: Path = HANGS) -> int:
    """The number of the only line of a program with this text."""
    (number,) = [number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line]
    return number


@pytest.fixture(scope="session")
def hanging_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program of hangs.cpp, built with debug information."""
    compiler = need("g++", shutil.which("g++"), "apt-get install g++")

    def build(directory: Path) -> None:
        command = [compiler, "-g", "-O0", "-pthread", "-o", str(directory / "hangs"), str(HANGS)]
        subprocess.run(command, check=True, timeout=TEST_SECONDS)

    return str(shared.made(shared.of_this_run(tmp_path_factory, "hangs"), build) / "hangs")


async def waiting(client: DebugClient, program: str, adapter: str, source: Path = HANGS) -> None:
    """Launch the program until all its threads wait but for the main one, which is stopped."""
    here = {"file": str(source), "line": line_of("// all wait", source)}
    stop = await client.call(
        "debug_launch", program=program, adapter=adapter, stop_at_entry=False, breakpoints=[here], timeout=TEST_SECONDS
    )
    assert stop["reason"] == "Breakpoint", stop


def by_name(lines: list[str]) -> dict[str, str]:
    """What is said of each thread, by its name, and its id for `ID`."""
    named = [line.lstrip("*").split(" ", 2) for line in lines]
    return {name.rstrip(","): f"{number} {rest}" for number, name, rest in named}


def ids_of(threads: dict[str, str], *names: str) -> list[int]:
    return sorted(int(threads[name].split()[0]) for name in names)


async def test_a_thread_says_what_it_waits_for_and_only_those_that_wait_for_each_other_are_a_deadlock(
    debugging: Connect, machine_debugger: str, hanging_program: str
) -> None:
    async with debugging() as client:
        await waiting(client, hanging_program, machine_debugger)
        found = await client.call("threads_list")
        threads = by_name(found["threads"])
        teller, clerk = ids_of(threads, "teller")[0], ids_of(threads, "clerk")[0]
        (twice,) = ids_of(threads, "twice")
        place = f"hangs.cpp:{line_of('second.lock()')} in both, waits for mutex "
        assert re.search(rf"{re.escape(place)}.*, held by thread {clerk} clerk$", threads["teller"])
        assert re.search(rf"{re.escape(place)}.*, held by thread {teller} teller$", threads["clerk"])
        assert threads["twice"].endswith(f", held by thread {twice} twice")
        assert re.search(r"held by thread \d+ of the system, which is none of this process any more$", threads["heir"])
        assert f"hangs.cpp:{line_of('rung.wait')} in wait_for_ever, waits for condition variable" in threads["waiter"]
        assert re.search(r"in listen, waits for input on descriptor \d+$", threads["listener"])
        assert threads["sleeper"].endswith(", waits for some time to pass")
        assert "waits" not in threads["busy"]
        if machine_debugger != "codelldb":  # which has no commands that evaluate without calls
            assert "waits for mutex `second` (0x" in threads["teller"]
            assert "waits for mutex `attic` (0x" in threads["heir"]
            assert "waits for condition variable `rung` (its futex at 0x" in threads["waiter"]
        assert sorted(map(sorted, found["deadlocks"])) == sorted([sorted([teller, clerk]), [twice]])
        assert f"deadlock: thread {twice} waits for what it holds itself" in found["notes"]
        stacks = (await client.call("stacktrace_get", thread_id="*"))["stacks"]
        held = [stack["waitsFor"] for stack in stacks if any("teller" in thread for thread in stack["threads"])]
        assert f"held by thread {clerk} clerk" in held[0]


async def test_a_mutex_of_rust_is_probably_held_by_the_thread_in_whose_frames_its_guard_is(
    debugging: Connect, native_adapter: str, tmp_path: Path
) -> None:
    rustc = need("rustc", shutil.which("rustc"), "apt-get install rustc")
    source, program = SOURCES / "hangs.rs", str(tmp_path / "hangs")
    await trio.run_process([rustc, "-g", "--edition", "2021", "-o", program, str(source)])
    async with debugging() as client:
        await waiting(client, program, native_adapter, source)
        found = await client.call("threads_list")
        threads = by_name(found["threads"])
        both = ids_of(threads, "teller", "clerk")
        place = f"hangs.rs:{line_of('second.lock()', source)} in hangs::both, waits for mutex "
        for name, other in (("teller", "clerk"), ("clerk", "teller")):
            held = f", probably held by thread {ids_of(threads, other)[0]} {other}"
            assert re.search(rf"{re.escape(place)}.*{held}$", threads[name])
        assert found["deadlocks"] == [both]
        assert found["notes"] == [f"probably a deadlock: threads {both[0]}, {both[1]} wait for each other"]


async def test_a_wait_and_a_pause_of_a_program_that_hangs_say_which_threads_block_each_other(
    debugging: Connect, native_adapter: str, hanging_program: str
) -> None:
    async with debugging() as client:
        await waiting(client, hanging_program, native_adapter)
        running = await client.call("debug_continue", timeout=0.1)
        assert running["timedOut"], running
        paused = await client.call("debug_pause", timeout=TEST_SECONDS)
        for answer in (running, paused):
            threads = by_name(answer["threads"])
            both = ids_of(threads, "teller", "clerk")
            assert f"held by thread {ids_of(threads, 'clerk')[0]} clerk" in threads["teller"]
            assert f"deadlock: threads {both[0]}, {both[1]} wait for each other" in answer["notes"]
        main = next(line for line in paused["threads"] if "waits for the end of thread" in line)
        assert main.endswith(f"in main, waits for the end of thread {ids_of(threads, 'teller')[0]} teller")


async def test_threads_of_a_core_file_say_what_they_waited_for_and_which_were_a_deadlock(
    debugging: Connect, machine_debugger: str, hanging_program: str, tmp_path: Path
) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the registers of a core file are known of x86-64")
    core = core_of(tmp_path, "stdbuf", "-oL", hanging_program, at_once=False)
    async with debugging() as client:
        stop = await client.call("debug_attach", adapter=machine_debugger, core_file=str(core))
        assert "SIGABRT" in stop["exception"]
        assert stop["at"].endswith(f"hangs.cpp:{line_of('threads[0].join')} in main")
        found = await client.call("threads_list")
        (twice,), (one, other) = sorted(found["deadlocks"], key=len)
        threads = {int(line.lstrip("*").split()[0]): line for line in found["threads"]}
        place = f"hangs.cpp:{line_of('second.lock()')} in both, waits for mutex "
        assert re.search(rf"{re.escape(place)}.*, held by thread {other}( |$)", threads[one])
        assert re.search(rf"{re.escape(place)}.*, held by thread {one}( |$)", threads[other])
        assert f", held by thread {twice}" in threads[twice]
        assert f"deadlock: threads {one}, {other} wait for each other" in found["notes"]
        assert any("of the system, which is none of this process any more" in each for each in found["threads"])
        assert any(f"in main, waits for the end of thread {each}" in found["threads"][0] for each in (one, other))
        if machine_debugger != "codelldb":  # which has no commands that evaluate without calls
            assert "waits for mutex `second` (0x" in threads[one]
