"""Recorded runs of programs on Python 3.12 and newer: which are kept, what is refused, what is answered from them."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect
from tests.real.interpreters import oldest_first
from tests.server.scene import failure
from trio_debugmcp.testing import DebugClient

RUNS_ON_ENGINE: bool = sys.version_info[:2] >= (3, 12)
"""Whether tests that are debugged, which run on the Python of the tests, can be recorded."""

NEW = {"{}.{}".format(*each.version): each for each in found() if (3, 12) <= each.version < (3, 14)}
"""Without one there is nothing to try: pyenv has them on the machines where this runs."""

OLD = [each for each in found() if each.version < (3, 12)]

CARTS = """\
def fill(items, cart=[]):
    cart.extend(items)
    return cart

def total(cart):
    amount = 0
    for _, price in cart:
        amount += price
    return amount
"""

SHOP = f"""\
import sys

{CARTS}
def serve(name, items):
    cart = fill(items)
    amount = total(cart)
    return amount

first = serve("Ada", [("tea", 4), ("cake", 6)])
second = serve("Bob", [("coffee", 3)])
sys.exit(second - 3)
"""


def on(python: Interpreter) -> dict[str, Any]:
    return {"adapter_options": {"python": [python.path]}}


async def recorded(
    client: DebugClient, python: Interpreter, file: Path, text: str = SHOP, **more: Any
) -> dict[str, Any]:
    """Run a program to its end, and record that."""
    file.write_text(text)
    wanted = {"record": True, "stop_at_entry": False, "stop_on_uncaught": False, **on(python), **more}
    end: dict[str, Any] = await client.call("debug_launch", program=str(file), **wanted)
    return end


@pytest.mark.parametrize("python", oldest_first(NEW))
async def test_a_run_is_kept_after_its_session_and_each_restart_is_another(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "shop.py"
    async with debugging() as client:
        assert (await client.call("run_list"))["notes"] == ["no run is recorded: debug_launch(record=true) records one"]
        end = await recorded(client, python, file, args=["x"])
        assert (end["exitCode"], end["run"]) == (10, "run-1")
        assert (await client.call("debug_restart"))["run"] == "run-2"
        plain = await client.call("debug_launch", program=str(file), stop_at_entry=False, **on(python))
        assert "run" not in plain, "it was not asked for"
        listed = await client.call("run_list")
        assert [line.partition(",")[0] for line in listed["runs"]] == [
            f"run-{number} {file} x: exit code 10" for number in (1, 2)
        ]
        resource = await client.read("debugger://runs")
        assert [(each["id"], each["state"], each["exitCode"]) for each in resource["runs"]] == [
            ("run-1", "Recorded", 10), ("run-2", "Recorded", 10),
        ]  # fmt: skip


async def test_a_program_that_cannot_be_recorded_is_refused_before_anything_ends(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    new = next(iter(NEW.values()))
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), **on(new))
        wanted: dict[str, Any] = {"program": str(file), "replace": True, "record": True}
        for python in OLD[-1:]:
            error = await failure(client, "debug_launch", **wanted, **on(python))
            assert error.code == "NOT_SUPPORTED"
            assert f"{python.path} is cpython 3.{python.version[1]}: pass adapter_options=" in error.message
        for options, words in (
            ({"engine": "pydevd"}, "adapter_options.engine is pydevd: leave that out"),
            ({"pythonArgs": ["-I"]}, "cannot be brought in with the option -I: leave that out"),
        ):
            error = await failure(client, "debug_launch", **wanted, adapter_options={"python": [new.path], **options})
            assert (error.code, words in error.message) == ("NOT_SUPPORTED", True)
        assert (await client.call("debug_state"))["state"] == "Paused", "the program that was there"
        assert "runs" not in await client.call("run_list") or not (await client.call("run_list"))["runs"]


FAILING = f"""\
{CARTS}
def test_each_pays_for_himself():
    assert total(fill([("tea", 4)])) == 4
    assert total(fill([("coffee", 3)])) == 3
"""


@pytest.mark.parametrize("python", oldest_first(NEW))
async def test_the_answer_to_a_recorded_failure_names_the_question_and_why_answers_it(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "shop.py"
    async with debugging() as client:
        end = await recorded(client, python, file)
        assert "the run is recorded: why() says what led to this" in end["notes"]
        shown = (await client.call("why", expression="second", limit=2))["because"]
        further = await client.call("why", expression="second", at=shown[-1].split()[0])
        assert further["notes"] == ["passed over: 2 lines that earlier answers have shown"]
        whole = await client.call("why", expression="second", at=shown[-1].split()[0], repeat=True, limit=20)
        assert "notes" not in whole
        assert {*shown, *further["because"]} <= {*whole["because"]}
        found = await client.call("why", expression="second")
        assert (found["value"], found["run"]) == ("second=13", "run-1")
        assert any(" shop.py:4 fill | cart.extend(items)" in line for line in found["because"]) or found["because"]
        number = found["because"][-1].split()[0]
        assert (await client.call("why", at=number, what="run"))["because"]
        assert "is in no code" not in str((await client.call("why", file="shop.py", line=10))["value"])
        for arguments, code, words in (
            ({"run": "run-7"}, "RUN_NOT_FOUND", "There is no run 'run-7'. Runs: run-1;"),
            ({"process": 1}, "RUN_NOT_FOUND", "run-1: the run has no process 1; it has "),
            ({"at": "#99999"}, "INVALID_PARAMETER", "and no #99999."),
            ({"expression": "nothing"}, "INVALID_PARAMETER", "no value of nothing"),
            ({"file": "till.py", "line": 1}, "INVALID_PATH", "No code of 'till.py' ran in this run"),
        ):
            error = await failure(client, "why", **arguments)
            assert (error.code, words in error.message) == (code, True), error.message


@pytest.mark.parametrize("python", oldest_first(NEW)[:1])
async def test_the_answer_to_a_recorded_run_that_ended_well_names_what_can_be_asked(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    caught = "try:\n    port = int('x')\nexcept ValueError:\n    port = 80\n"
    async with debugging() as client:
        end = await recorded(client, python, tmp_path / "shop.py", caught)
        assert end["exitCode"] == 0
        asks = "why(expression=…) says where a value comes from, why() what was caught in it"
        assert f"the run is recorded: {asks}" in end["notes"]
        error = await failure(client, "why")
        assert "1 exception was raised in it and caught: ValueError(" in error.message


@pytest.mark.parametrize("python", oldest_first(NEW)[:1])
async def test_a_run_in_which_no_code_of_the_project_ran_is_not_offered_for_why(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        given = {"args": ["no-such-file.json"], "cwd": str(tmp_path), "stop_on_uncaught": False}
        end = await client.call("debug_launch", module="json.tool", record=True, **given, **on(python))
        assert end["exitCode"]
        (said,) = [note for note in end["notes"] if "why()" in note]
        assert said.startswith("no line of the code below ")
        assert said.endswith(" ran, so why() has nothing to go by: what it printed says what ended it")
        error = await failure(client, "why")
        assert "in which no line of the code below" in error.message


@pytest.mark.parametrize("python", oldest_first(NEW)[:1])
async def test_why_says_of_which_program_it_is_where_another_one_was_launched_since(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    broken, letters = tmp_path / "broken.py", tmp_path / "letters.py"
    broken.write_text("def half(:\n")
    letters.write_text("print('a')\n")
    async with debugging() as client:
        await recorded(client, python, tmp_path / "shop.py", "stock = {}\nstock['tea']\n", stop_on_uncaught=False)
        assert "notes" not in await client.call("why")
        error = await failure(client, "debug_launch", program=str(broken), record=True)
        assert error.code == "LAUNCH_FAILED"
        (said,) = (await client.call("why"))["notes"]
        assert said.startswith("the last launch, of ")
        assert "broken.py, failed (LAUNCH_FAILED): this is of run-1, " in said
        await client.call("debug_launch", program=str(letters), stop_at_entry=False, **on(python))
        (said,) = (await client.call("why"))["notes"]
        assert "letters.py, was not recorded: this is of run-1, " in said
        assert "notes" not in await client.call("why", run="run-1")
        await recorded(client, python, tmp_path / "shop.py", "stock = {}\nstock['tea']\n", stop_on_uncaught=False)
        assert "the last launch" not in str(await client.call("why"))


async def test_a_failing_test_stops_recorded_and_why_is_asked_at_the_stop(debugging: Connect, tmp_path: Path) -> None:
    file = tmp_path / "test_shop.py"
    file.write_text(FAILING)
    async with debugging() as client:
        arguments = {"test": f"{file}::test_each_pays_for_himself", "record": True}
        if not RUNS_ON_ENGINE:
            error = await failure(client, "debug_launch", **arguments)
            assert error.code == "NOT_SUPPORTED"
            assert "only CPython 3.12 and newer" in error.message
            return
        stop = await client.call("debug_launch", **arguments)
        assert stop["state"] == "Paused"
        assert "the run is recorded: why() says what led to this" in stop["notes"]
        found = await client.call("why")
        assert any(" test_shop.py:" in line for line in found["because"])
        full = await client.call("why", full=True)
        assert {"at", "file", "line", "function", "source"} <= full["because"][0].keys()
        unit = tmp_path / "test_sums.py"
        unit.write_text(UNIT)
        await client.call("debug_launch", test=f"{unit}::SumTest::test_sum", record=True, replace=True)
        found = await client.call("why")
        assert found["value"] == "self.assertEqual(total({'a': 2}), {'a': 3}): ['a'] is 2, not 3", "what is under way"


UNIT = """\
import unittest

def total(found):
    return dict(found)

class SumTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total({'a': 2}), {'a': 3})
"""


@pytest.mark.parametrize("python", oldest_first(NEW))
async def test_a_recorded_run_answers_how_it_changed_what_was_called_and_what_a_moment_was(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "shop.py"
    async with debugging() as client:
        await recorded(client, python, file)
        (line,) = (await client.call("run_list"))["runs"]
        assert re.fullmatch(r"run-1 .*shop\.py: exit code 10, \d+ events of \d+ lines, [\d.]+ \w+", line)
        found = await client.call("history_get", expression="amount", where="new == 13 and old == 10")
        assert [re.sub(r"#\d+", "#", entry) for entry in found["entries"]] == [
            "# shop.py:10 total | amount += price | amount: 10 -> 13"
        ]
        first = await client.call("history_get", function="serve", count=1)
        assert (first["total"], first["notes"]) == (2, ["1 to 1 of 2: start=1 has the next"])
        last = await client.call("history_get", function="serve", count=1, start=1)
        assert (last["total"], len(last["entries"]), "notes" in last) == (2, 1, False)
        found = await client.call("history_get", function="serve", full=True)
        names = [(entry["values"][0], entry["values"][-1]) for entry in found["entries"]]
        assert names == [("name='Ada'", "-> 10"), ("name='Bob'", "-> 13")]
        calls = (await client.call("calls_get", function="serve"))["calls"]
        shown = [re.sub(r"#\d+ |(?<==)\[.*?\](?= )|(?<=-> )\[.*", "", call) for call in calls[:3]]
        assert shown == [
            "serve shop.py:13 | name='Ada' items= -> 10",
            "  fill shop.py:3 | items= cart= -> ",
            "  total shop.py:7 | cart= -> 10",
        ]
        moment = await client.call("run_goto")
        assert (moment["state"], moment["at"]) == ("Recorded", "shop.py:20 in <module>")
        moment = await client.call("run_goto", move="back")
        assert (moment["at"], moment["ran"], moment["locals"]) == (
            "shop.py:19 in <module>",
            "second=13",
            {"first": "10"},
        )
        moment = await client.call("run_goto", move="in")
        assert (moment["at"], moment["stack"]) == ("shop.py:14 in serve", ["<module> :19"])
        error = await failure(client, "run_goto", move="back", count=9)
        assert (error.code, "(after " in error.message) == ("INVALID_PARAMETER", True)
        source = await client.call("source_get", file="shop.py", run="run-1", start_line=9, end_line=11)
        assert source["lines"] == [
            "9 7|     for _, price in cart:",
            "10 5|         amount += price",
            "11 2|     return amount",
        ]
        for tool, arguments, words in (
            (
                "history_get",
                {"expression": "amont"},
                "`amont` was never written by recorded code in this run. Written were: amount.",
            ),
            (
                "calls_get",
                {"function": "pay"},
                "No function pay was called in this run. Called were: fill, serve, total.",
            ),
            ("run_goto", {"at": "#99999"}, "and no #99999."),
            ("history_get", {"function": "serve", "before": "#99999"}, "and no #99999."),
            ("why", {"file": "shop.py", "line": 4, "expression": "cart"}, "leave out `expression`, or pass it alone"),
            ("why", {"file": "shop.py", "line": 4, "at": "#99999"}, "and no #99999"),
        ):
            assert words in (await failure(client, tool, **arguments)).message


async def test_two_runs_of_a_program_before_and_after_a_change_are_compared(debugging: Connect, tmp_path: Path) -> None:
    file, new = tmp_path / "shop.py", next(iter(NEW.values()))
    async with debugging() as client:
        await recorded(client, new, file, SHOP.replace("    cart.extend(items)", "    cart = [*items]"))
        await recorded(client, new, file)
        found = await client.call("run_compare", good="run-1", bad="run-2")
        assert any("the source of bad has " in note and "cart.extend(items)" in note for note in found["notes"]), found
        assert any(" shop.py:9 total | for _, price in cart: | " in line for line in found["because"]), found
        await client.call("run_goto", at="#10", run="run-1")
        moment = await client.call("run_goto", move="forward")
        assert moment["run"] == "run-1", "a move leads on from the moment at hand"
        assert (await client.call("run_goto", at=moment["number"]))["run"] == "run-2", (
            "a number alone is of the last run"
        )
        error = await failure(client, "run_compare", good="run-2", bad="run-2")
        assert (error.code, "name two runs" in error.message) == ("INVALID_PARAMETER", True)


LOOP = """\
import time

def step(number):
    twice = 2 * number
    return twice

done = 0
while True:
    done += step(done) > 0
    time.sleep(0.01)
"""


@pytest.mark.parametrize("python", oldest_first(NEW))
async def test_a_piece_of_a_running_program_is_recorded(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "loop.py"
    file.write_text(LOOP)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=False, wait=False, **on(python))
        assert (await failure(client, "debug_record", on=False)).code == "RUN_NOT_FOUND"
        begun = await client.call("debug_record")
        assert (begun["run"], begun["state"]) == ("run-1", "Recording")
        error = await failure(client, "debug_record")
        assert (error.code, "run-1 is being recorded. End it with" in error.message) == ("INVALID_PARAMETER", True)
        await client.call("breakpoint_set", file=str(file), line=4, hit_condition="== 3")
        await client.call("debug_wait")
        ended = await client.call("debug_record", on=False)
        assert (ended["run"], ended["state"]) == ("run-1", "Recorded")
        await client.call("debug_disconnect")
        (line,) = (await client.call("run_list"))["runs"]
        assert line.startswith("run-1 a piece of loop.py: recorded, ")


PARENT = """\
import subprocess
import sys

def child():
    price = 3
    price = price * 2
    assert price == 5, price

if len(sys.argv) > 1:
    child()
else:
    subprocess.run([sys.executable, __file__, "child"], check=False)
    started = 1
    print("done")
"""


async def test_why_asks_the_process_that_failed_and_the_next_question_the_same(
    debugging: Connect, tmp_path: Path
) -> None:
    file, new = tmp_path / "parent.py", next(iter(NEW.values()))
    async with debugging() as client:
        await recorded(client, new, file, PARENT)
        (line,) = (await client.call("run_list"))["runs"]
        first, second = map(int, re.findall(r"processes (\d+) \(parent.py\), (\d+) \(parent.py\)", line)[0])
        found = await client.call("why")
        assert any(" parent.py:6 child | price = price * 2" in each for each in found["because"])
        assert found["notes"][0].startswith(f"of process {second}: pass ")
        assert (await client.call("why", full=True))["process"] == second
        (facts,) = (await client.call("run_list", full=True))["facts"].values()
        assert (facts["pids"], facts["dropped"], facts["problems"]) == ([first, second], 0, [])
        assert (await client.call("history_get", expression="price"))["total"] == 2, "of the same process"
        error = await failure(client, "history_get", expression="price", process=first)
        assert "was never written by recorded code in this run" in error.message
        elsewhere = await client.call("history_get", expression="started")
        assert (elsewhere["total"], elsewhere["notes"][0][:20]) == (1, f"of process {first}: pass "[:20])
        called = await client.call("calls_get", function="child")
        assert (called["total"], called["notes"][0][:20]) == (1, f"of process {second}: pass "[:20])
        assert (await client.call("history_get", expression="started"))["notes"][0].startswith(f"of process {first}: ")
        reached = await client.call("why", file="parent.py", line=6)
        assert reached["notes"][0].startswith(f"of process {second}: pass "), "the other one has not run it"
        missed = await client.call("why", file="parent.py", line=6, process=first)
        assert missed["value"].startswith("line 6 did not run: ")


WORKER = """\
import multiprocessing
import queue

def parse(text):
    number = int(text)
    return number

def main():
    results = multiprocessing.Queue()
    worker = multiprocessing.Process(target=parse, args=("x",))
    worker.start()
    text = "the parent waits"
    try:
        found = results.get(timeout=60)
    except queue.Empty:
        found = None
    worker.join()

if __name__ == "__main__":
    main()
"""


async def test_questions_at_a_stop_in_a_child_are_about_the_child(debugging: Connect, tmp_path: Path) -> None:
    file, new = tmp_path / "worker.py", next(iter(NEW.values()))
    file.write_text(WORKER)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), record=True, **on(new))
        assert stop["at"].endswith("worker.py:5 in parse")
        child = stop["pid"]
        (facts,) = (await client.call("run_list", full=True))["facts"].values()
        (parent,) = [pid for pid in facts["pids"] if pid != child]
        history = await client.call("history_get", expression="text", process=parent)
        assert history["notes"][0].startswith(f"of process {parent}: pass ")
        found = await client.call("why")
        assert any(" worker.py:5 parse | number = int(text)" in line for line in found["because"]), found
        assert found["notes"][0].startswith(f"of process {child}: pass ")
        moment = await client.call("run_goto")
        assert moment["at"].endswith("worker.py:5 in parse")


async def test_answers_about_the_last_of_several_programs_say_of_which_they_are(
    debugging: Connect, tmp_path: Path
) -> None:
    new = next(iter(NEW.values()))
    async with debugging() as client:
        await recorded(client, new, tmp_path / "shop.py")
        assert "notes" not in await client.call("calls_get", function="serve")
        await recorded(client, new, tmp_path / "other.py", "for n in range(9):\n    total = n\n")
        of_last = f"about the last run, run-2 of {tmp_path}/other.py: pass `run` for another"
        history = await client.call("history_get", expression="total", count=2)
        assert (history["total"], history["notes"]) == (9, [of_last, "1 to 2 of 9: start=2 has the next"])
        refused = (await failure(client, "calls_get", function="serve")).message
        assert refused.startswith("No function serve was called in this run.")
        assert refused.endswith(f". A{of_last[1:]}.")
        assert "about the last run" not in (await failure(client, "calls_get", function="serve", run="run-2")).message
        calls = await client.call("calls_get", run="run-1", count=2)
        assert calls["notes"] == [f"{calls['omitted']} calls are in no line: pass more than count=2, or `under`"]


@pytest.mark.parametrize("python", oldest_first(NEW)[:1])
async def test_a_restart_is_recorded_or_not_as_it_says_and_else_as_before(
    debugging: Connect, python: Interpreter, tmp_path: Path
) -> None:
    async with debugging() as client:
        await recorded(client, python, tmp_path / "shop.py", record=False)
        assert "run" not in await client.call("debug_restart")
        assert (await client.call("debug_restart", record=True))["run"] == "run-1"
        assert (await client.call("why", expression="amount"))["run"] == "run-1"
        assert (await client.call("debug_restart"))["run"] == "run-2"
        assert "run" not in await client.call("debug_restart", record=False)


async def test_a_restart_that_cannot_be_recorded_ends_nothing(debugging: Connect, tmp_path: Path) -> None:
    if not OLD:
        pytest.skip("there is no Python that cannot be recorded")
    file = tmp_path / "shop.py"
    file.write_text(SHOP)
    async with debugging() as client:
        await client.call("debug_launch", program=str(file), stop_at_entry=True, **on(OLD[-1]))
        failed = await failure(client, "debug_restart", record=True)
        assert failed.code == "NOT_SUPPORTED"
        assert (await client.call("debug_state"))["state"] == "Paused"


SHOWN = """\
class Page:
    def __init__(self, title):
        self.title = title

    def __repr__(self):
        return self.words()

    def words(self):
        return f"<Page {self.title}>"


def check(page):
    shown = str(page)
    assert not page.title, shown


check(Page("plum"))
"""


@pytest.mark.parametrize("version", NEW)
async def test_what_the_debugger_shows_of_objects_is_not_in_the_record(
    debugging: Connect, tmp_path: Path, version: str
) -> None:
    file = tmp_path / "page.py"
    file.write_text(SHOWN)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(file), record=True, **on(NEW[version]))
        assert stop["reason"] == "Exception"
        for _ in range(2):
            assert "plum" in (await client.call("evaluate", expression="repr(page)"))["value"]
            await client.call("variables_get")
        calls = await client.call("calls_get", function="Page.words", count=9)
        assert len(calls["calls"]) == 1, "that of the program, which made a text of it"


FORKED = """\
import os
import threading


def work(number):
    return number * 2


if (pid := os.fork()) == 0:
    for number in range(3):
        thread = threading.Thread(target=work, args=(number,))
        thread.start()
        thread.join()
    os._exit(0)
os.waitpid(pid, 0)
print(pid)
"""


@pytest.mark.parametrize("version", NEW)
async def test_threads_of_a_fork_are_recorded_whatever_identifiers_those_of_the_debugger_had(
    debugging: Connect, tmp_path: Path, version: str
) -> None:
    async with debugging() as client:
        ended = await recorded(client, NEW[version], tmp_path / "forked.py", FORKED)
        pid = int(ended["stdout"])
        calls = await client.call("calls_get", function="work", count=9, process=pid)
        assert len(calls["calls"]) == 3
