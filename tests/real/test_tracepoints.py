"""Tracepoints and counts that lose nothing, however the program ends: with real debugpy."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.real.conftest import Connect, breakpoints, hits, needs_gdb, text_of
from trio_debugmcp.testing import DebugClient

HITS = 20_000


def write(directory: Path, text: str) -> str:
    file = directory / "app.py"
    file.write_text(text)
    return str(file)


def line_of(file: str, text: str) -> int:
    (number,) = [number for number, line in enumerate(Path(file).read_text().splitlines(), 1) if text in line]
    return number


async def trace(client: DebugClient, file: str, text: str, message: str, **more: object) -> dict[str, Any]:
    return await client.call("breakpoint_set", file=file, line=line_of(file, text), log_message=message, **more)


async def output(client: DebugClient, stream: str = "tracepoint") -> str:
    """All that is kept of a stream, which must be all that was written."""
    text, seq = "", 0
    while True:
        read = await client.call("process_read_output", stream=stream, since_seq=seq, max_bytes=1_000_000)
        assert "dropped" not in read
        if not read["entries"]:
            return text
        text += text_of(read, "log" if stream == "tracepoint" else stream)
        seq = read["nextSeq"]


async def count(client: DebugClient, id_: str) -> int:
    return (await hits(client))[id_]


# --- Nothing is lost --------------------------------------------------------------------------------------------------

AT_THE_END = f"""
import os, signal, sys
def work():
    for number in range({HITS}):
        number * 2  # here
print("begin")
work()
sys.stdout.write("the end")
sys.stdout.flush()
END
"""


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
async def test_twenty_thousand_hits_at_a_programs_very_end_all_arrive_in_order(
    debugging: Connect, tmp_path: Path, end: str
) -> None:
    app = write(tmp_path, AT_THE_END.replace("END", end))
    alone = await trio.run_process([sys.executable, app], capture_stdout=True, check=False)
    async with debugging() as client:
        made = await trace(client, app, "# here", "{number}")
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        assert (stop["reason"], stop["exitCode"]) == ("Exited", alone.returncode)
        assert await output(client) == "".join(f"{number}\n" for number in range(HITS))
        assert await count(client, made["id"]) == HITS
        assert await output(client, "stdout") == alone.stdout.decode()


CHILDREN = """
import multiprocessing, sys
def work(number):
    for each in range(500):
        each * 2  # here
    return number
def main():
    for method in ("fork", "spawn"):
        children = [multiprocessing.get_context(method).Process(target=work, args=(n,)) for n in range(2)]
        for child in children:
            child.start()
        everyone.extend(children)
    for child in everyone:
        child.join()
everyone = []
if __name__ == "__main__":
    main()
    work(-1)
"""


async def test_children_record_their_own_hits(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, CHILDREN)
    async with debugging() as client:
        made = await trace(client, app, "# here", "{number} {each}")
        await client.call("debug_launch", program=app, stop_at_entry=False)
        lines = (await output(client)).splitlines()
        assert await count(client, made["id"]) == len(lines) == 2500
        for who, times in (("-1", 1), ("0", 2), ("1", 2)):
            own = [int(line.split()[1]) for line in lines if line.split()[0] == who]
            assert sorted(own) == sorted([*range(500)] * times)
            if times == 1:
                assert own == [*range(500)]


SERVER = """
import os, subprocess, sys, time
def serve(number):
    return number  # here
number = 0
while True:
    time.sleep(0.01)
    number += 1
    serve(number)
    if os.path.exists(f"{sys.path[0]}/go"):
        os.remove(f"{sys.path[0]}/go")
        subprocess.run([sys.executable, "-c", "import app_child"], cwd=sys.path[0])
"""


@needs_gdb
async def test_an_attached_program_and_its_child_record_their_hits(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, SERVER)
    (tmp_path / "app_child.py").write_text("def serve(number):\n    return number  # there\nserve('child')\n")
    process = await trio.lowlevel.open_process([sys.executable, app], stderr=subprocess.DEVNULL)
    try:
        async with debugging() as client:
            await client.call("debug_attach", pid=process.pid)
            await trace(client, app, "# here", "{number}")
            await trace(client, str(tmp_path / "app_child.py"), "# there", "{number!r}")
            (tmp_path / "go").touch()
            lines: list[str] = []
            while "'child'" not in lines:
                lines = (await output(client)).splitlines()
            numbers = [int(line) for line in lines if line != "'child'"]
            assert numbers == [*range(numbers[0], numbers[0] + len(numbers))]
            await client.call("debug_disconnect")
            assert process.poll() is None
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


# --- What is written, and when ----------------------------------------------------------------------------------------

SHOP = """
class Basket:
    def total(self, prices, limit):
        found = [price for price in prices if price < limit]
        return sum(found)  # added

def total(prices):
    return 0

def main():
    for limit in range(1, 7):
        Basket().total([1, 2.5, 3], limit)
        total([])
        limit += 1  # after

main()
"""


async def test_messages_are_f_strings_and_a_part_that_fails_is_said_where_it_is(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, SHOP)
    async with debugging() as client:
        message = "{{{prices[1]:>5.2f}}} {'}'!r} { {p: 1 for p in found} } {limit != 1} {nope}"
        await trace(client, app, "# added", message)
        await client.call("debug_launch", program=app, stop_at_entry=False)
        lines = (await output(client)).splitlines()
        assert lines[0] == "{ 2.50} '}' {} False <error: NameError: name 'nope' is not defined>"
        assert lines[2].startswith("{ 2.50} '}' {1: 1, 2.5: 1} True <error: NameError")


async def test_conditions_and_hit_conditions_are_judged_before_and_hits_are_exact(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, SHOP)
    async with debugging() as client:
        made = await trace(client, app, "# added", "at {limit}", condition="limit > 1", hit_condition="% 2")
        await client.call("breakpoint_set", file=app, line=line_of(app, "# after"), hit_condition=">= 100")
        await client.call("debug_launch", program=app, stop_at_entry=False)
        assert await output(client) == "at 3\nat 5\n"
        assert await count(client, made["id"]) == 5
        assert await count(client, "bp-2") == 6


async def test_functions_log_too(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, SHOP)
    async with debugging() as client:
        made = await client.call("breakpoint_set", function="Basket.total", log_message="limit {limit}")
        assert made["id"] == "fn-1"
        assert (await breakpoints(client))["fn-1"] == "Basket.total, log `limit {limit}`"
        await client.call("breakpoint_set", function="total", log_message="any of {len(prices)}", hit_condition="< 3")
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        assert stop["reason"] == "Exited"
        lines = (await output(client)).splitlines()
        assert [line for line in lines if line[0] == "l"] == [f"limit {limit}" for limit in range(1, 7)]
        assert [line for line in lines if line[0] == "a"] == ["any of 3", "any of 0"]
        assert (await count(client, "fn-1"), await count(client, "fn-2")) == (6, 12)


async def test_a_breakpoint_and_a_tracepoint_on_one_line_both_work(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, SHOP)
    async with debugging() as client:
        await trace(client, app, "# added", "limit {limit}")
        line = line_of(app, "# added")
        await client.call("breakpoint_set", file=app, line=line, column=3, hit_condition="== 3")
        await client.call("breakpoint_set", file=app, line=line, column=5, condition="limit == 3 or limit == 5")
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        assert stop["breakpoints"] == ["bp-2", "bp-3"]
        assert stop["log"] == "limit 1\nlimit 2\nlimit 3\n", "a stop comes after the messages before it"
        assert await output(client) == "limit 1\nlimit 2\nlimit 3\n"
        stop = await client.call("debug_continue")
        assert stop["breakpoints"] == ["bp-3"]
        assert (await client.call("debug_continue"))["reason"] == "Exited"
        assert [await count(client, each) for each in ("tp-1", "bp-2", "bp-3")] == [6, 6, 2]


async def test_a_condition_that_fails_stops_at_a_breakpoint_and_is_said_at_a_tracepoint(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, SHOP)
    async with debugging() as client:
        await client.call("breakpoint_set", file=app, line=line_of(app, "# after"), condition="nope", hit_condition="3")
        made = await trace(client, app, "# added", "never", condition="nope")
        stop = await client.call("debug_launch", program=app, stop_at_entry=False)
        failed = "the condition `nope` failed: NameError: name 'nope' is not defined"
        assert (stop["breakpoints"], stop["notes"]) == (["bp-1"], [f"tp-2 {failed}", failed])
        await client.call("breakpoint_remove", id="bp-1")
        assert (await client.call("debug_continue"))["reason"] == "Exited"
        assert await output(client) == f"{made['id']}: {failed}\n"
        assert await count(client, made["id"]) == 0
        assert (await breakpoints(client))["tp-2"].endswith(failed)


# --- The program does not notice --------------------------------------------------------------------------------------

DAEMON = """
import os, sys, threading
def is_socket(number):
    path = f"/proc/self/fd/{number}"
    return os.path.exists(path) and "socket" in os.readlink(path)
def hit(number):
    return number  # here
hit(1)
names = [each.name for each in threading.enumerate()]
kept = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for descriptor in filter(is_socket, range(3, 50)):
    os.dup2(kept, descriptor)
for number in range(2, 20):
    hit(number)
os.lseek(kept, 0, 0)
print("\\x02tp-1\\x03forged")
print('["log","tp-1",1,1,"forged"]')
print(names, os.read(kept, 1000), flush=True)
os._exit(0)
"""


async def test_a_program_that_takes_the_descriptors_for_its_own_files_finds_nothing_in_them(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, DAEMON)
    async with debugging() as client:
        await trace(client, app, "# here", "{number}")
        launched = await client.call("debug_launch", program=app, args=[str(tmp_path / "own")], stop_at_entry=False)
        assert launched["reason"] == "Exited"
        assert (await output(client, "stdout")).endswith("['MainThread'] b''\n")
        lines = (await output(client)).splitlines()
        assert lines == [str(number) for number in range(1, len(lines) + 1)], "what the program prints is no hit"


UNCLOSED = """
import sys, threading
def hit(number):
    return number  # here
threads = [threading.Thread(target=lambda: [hit(number) for number in range(300)]) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(sorted(set(sys.modules) - before))
"""


async def test_threads_hit_at_once_and_nothing_is_left_behind_in_the_program(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, "import sys, threading\nbefore = set(sys.modules)\n" + UNCLOSED)
    async with debugging() as client:
        made = await trace(client, app, "# here", "{number}")
        await client.call(
            "debug_launch", program=app, stop_at_entry=False, adapter_options={"pythonArgs": ["-X", "dev"]}
        )
        lines = (await output(client)).splitlines()
        assert sorted(map(int, lines)) == sorted([*range(300)] * 4)
        assert await count(client, made["id"]) == 1200
        assert await output(client, "stdout") == "[]\n"
        assert not re.findall("socket", await output(client, "stderr"))
