"""Breakpoints that stop where they say, and say where they stop: with real debugpy."""

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import Interpreter, found
from tests.real.conftest import BY_ENGINE, Connect, breakpoints, hits, text_of, where
from trio_debugmcp.testing import DebugClient

BREAKPOINTS = "debugger://breakpoints"

PYTHONS = {"{}.{}".format(*python.version): python for python in found()}
WITH_INLINING = {name: python for name, python in PYTHONS.items() if name in ("3.12", "3.13")}
"""They compile comprehensions of lists, sets and dictionaries into the function around."""

APP = '''\
# a licence
# in the head

"""The module's text."""

import helper


class Basket:
    """A basket."""

    def total(self, prices, limit):
        """Add up.

        Slowly.
        """
        # here it begins

        result = sum(price for price in prices if price < limit)
        return result


def main():
    for limit in range(4):
        Basket().total([1, 2, 3], limit)
        helper.work(limit)


main()
'''

HELPER = '''\
"""Helps."""


def work(limit):
    # the work
    return limit * 2
'''


def write(directory: Path) -> str:
    (directory / "helper.py").write_text(HELPER)
    (directory / "app.py").write_text(APP)
    return str(directory / "app.py")


async def run(client: DebugClient, program: str) -> list[tuple[int, list[str]]]:
    """Run a program to its end; return the line and the breakpoints of every stop."""
    stop = await client.call("debug_launch", program=program, stop_at_entry=False)
    stops = []
    while stop["state"] == "Paused":
        stops.append((where(stop).line, stop["breakpoints"]))
        stop = await client.call("debug_continue")
    return stops


async def test_two_breakpoints_that_end_on_one_line_both_stop(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        await client.call("breakpoint_set", file=app, line=17, condition="limit == 1")
        await client.call("breakpoint_set", file=app, line=19, condition="limit == 3  # the last")
        await client.call("breakpoint_set", file=app, line=25)
        await client.call("breakpoint_set", file=app, line=25, column=9, condition="limit == 2")
        await client.call("breakpoint_set", file=app, line=26)
        await client.call("breakpoint_set", file=app, line=26, column=3, hit_condition="% 2")
        assert await run(client, app) == [
            (25, ["bp-3"]),
            (26, ["bp-5"]),
            (25, ["bp-3"]),
            (19, ["bp-1"]),
            (26, ["bp-5", "bp-6"]),
            (25, ["bp-3", "bp-4"]),
            (26, ["bp-5"]),
            (25, ["bp-3"]),
            (19, ["bp-2"]),
            (26, ["bp-5", "bp-6"]),
        ]
        assert list((await hits(client)).values()) == [1, 1, 4, 1, 4, 4]


async def test_a_breakpoint_where_no_code_is_moves_forward_and_says_so(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        await client.call("debug_launch", program=app)
        moved = {}
        for line in (1, 3, 5, 13, 15, 17, 18, 21, 27):
            made = await client.call("breakpoint_set", file=app, line=line)
            moved[line] = where(made).line
            assert (made["requestedLine"], "state" in made) == (line, False), made
            assert made["line"] == APP.splitlines()[moved[line] - 1].strip()
            assert made["message"] == f"moved from line {line} to {moved[line]}, where code is"
        assert moved == {1: 4, 3: 4, 5: 6, 13: 19, 15: 19, 17: 19, 18: 19, 21: 23, 27: 29}
        listed = (await client.read(BREAKPOINTS))["breakpoints"]
        assert {each["line"] for each in listed if each["verified"]} == set(moved.values())
        nowhere = await client.call("breakpoint_set", file=app, line=31)
        assert nowhere["state"] == "Pending"
        assert nowhere["message"] == "no code follows line 31 of the file, which has 29 lines"
        for each in await breakpoints(client):
            if each != nowhere["id"]:
                await client.call("breakpoint_remove", id=each)
        ended = await client.call("debug_launch", program=app, replace=True)
        assert ended["state"] == "Disconnected"
        assert f"{nowhere['id']} is pending: no code follows line 31 of the file, which has 29 lines" in ended["notes"]


async def test_a_run_to_a_docstring_notes_where_it_stopped(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        await client.call("debug_launch", program=app)
        stop = await client.call("debug_run_to", file=app, line=15)
        assert (where(stop).line, where(stop).function) == (19, "total")
        assert stop["notes"] == ["ran to line 19 instead of 15, where no code is"]
        assert "notes" not in await client.call("debug_run_to", file=app, line=20)


async def test_functions_are_found_by_their_full_names(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        for name in ("Basket.total", "helper.work", "nosuch", "Baskt.totl", "main"):
            await client.call("breakpoint_set", function=name)
        await client.call("debug_launch", program=app, stop_at_entry=True)
        listed = (await client.read(BREAKPOINTS))["functionBreakpoints"]
        assert [each["verified"] for each in listed] == [True, True, False, False, True]
        assert [each["line"] for each in listed] == [19, 6, None, None, None]
        assert all("no such function yet" in each["message"] for each in listed[2:4])
        assert listed[3]["message"].endswith("; do you mean `Basket.total` (app.py)?")
        lines = await breakpoints(client)
        assert (lines["fn-1"], lines["fn-2"]) == ("Basket.total :19", "helper.work :6")
        assert all("no such function yet" in lines[each] and "pending" in lines[each] for each in ("fn-3", "fn-4"))
        await client.call("breakpoint_remove", id="fn-5")
        stops = [await client.call("debug_continue") for _ in range(3)]
        assert [(where(each).line, each["reason"], each["breakpoints"]) for each in stops] == [
            (19, "FunctionBreakpoint", ["fn-1"]),
            (6, "FunctionBreakpoint", ["fn-2"]),
            (19, "FunctionBreakpoint", ["fn-1"]),
        ]


async def test_a_method_that_comes_into_being_later_is_stopped_in(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "late.py").write_text(
        "class Base:\n    def go(self):\n        return 1\n\n\nclass Late(Base):\n    pass\n"
    )
    app = tmp_path / "app.py"
    app.write_text(
        "import sys\nsys.path.append(sys.path[0] + '/plugins')\nfrom late import Base, Late\n"
        "class Other:\n    def go(self):\n        return 2\nOther().go()\nLate().go()\nprint('end')\n"
    )
    async with debugging() as client:
        await client.call("breakpoint_set", function="Late.go", condition="True")
        await client.call("debug_launch", program=str(app), stop_at_entry=True)
        (made,) = (await client.read(BREAKPOINTS))["functionBreakpoints"]
        assert (made["verified"], made["state"]) == (False, "Pending")
        stop = await client.call("debug_continue")
        assert (stop["breakpoints"], where(stop).function) == (["fn-1"], "go")
        assert (await client.call("evaluate", expression="type(self).__name__"))["value"] == "'Late'"
        (made,) = (await client.read(BREAKPOINTS))["functionBreakpoints"]
        assert (made["verified"], made["message"], made["hitCount"]) == (True, None, 1)
        assert (await client.call("debug_continue"))["state"] == "Disconnected"


async def test_a_condition_beside_a_comprehension_is_judged_in_the_frame_that_is_meant(
    debugging: Connect, tmp_path: Path
) -> None:
    app = tmp_path / "inner.py"
    app.write_text(
        "def f(items, limit):\n    total = sum(each for each in items)\n    return total\n"
        "for limit in range(3):\n    f([1, 2, 3], limit)\n"
    )
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(app), line=2, condition="limit == 1")
        stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
        assert (where(stop).function, "notes" in stop) == ("f", False)
        assert (await client.call("debug_continue"))["state"] == "Disconnected"
        own = "[each for each in items if each == 3] and limit == 2"  # a variable of the condition's own
        await client.call("breakpoint_set", file=str(app), line=2, condition=own)
        stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
        assert (where(stop).function, stop["locals"]["limit"], "notes" in stop) == ("f", "2", False)
        assert (await client.call("debug_continue"))["state"] == "Disconnected"
        await client.call("breakpoint_set", file=str(app), line=2, condition="each == 2")
        stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
        assert where(stop).function == "<genexpr>"
        await client.call("breakpoint_set", file=str(app), line=2, condition="limit == nothing")
        stop = await client.call("debug_continue")
        (note,) = stop["notes"]
        assert note.startswith("the condition `limit == nothing` failed: NameError")
        assert "console" not in stop  # where pydevd reports it, too
        (made,) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert made["message"] == note


ROUNDS = """\
data = [1, 2, 3]
def f(x):
    one = [x * 2 for x in data]
    two = {k: 1 for k in data if k != 2}
    three = {j: [v for v in range(j)] for j in data}
    four = [(a, b) for a in data for b in data]
    five = [c for c in data] + [d for d in data]
    six = [e + g for e in data for g in [e * 2]]
    seven = [(p, lambda: q) for p, q in zip(data, data)]
f(3)
eight = [w for w in data]
nine = [y for y in data if y != 2]
ten = {z for z in data}
eleven = [
    n * 2
    for n in data
]
async def items():
    for each in data:
        yield each
async def collected():
    return [o async for o in items()]
list(collected().__await__())
"""
HOLDING = {
    3: ("x == 3", {"x": "3"}),
    4: ("k == 2", {"k": "2"}),
    5: ("j == 2", {"j": "2"}),
    6: ("a == 2 and b == 1", {"a": "2", "b": "1"}),
    7: ("d == 2", {"d": "2"}),
    8: ("g == 4", {"e": "2", "g": "4"}),
    9: ("q == 3", {"p": "3", "q": "3"}),
    11: ("w == 1", {"w": "1"}),
    14: ("n == 2", {"n": "2"}),
    16: ("n == 3", {"n": "3"}),
    22: ("o == 2", {"o": "2"}),
}


def failed_conditions(stop: dict[str, Any]) -> list[str]:
    return [note for note in stop.get("notes", ()) if note.startswith("the condition")]


@pytest.mark.parametrize("python", WITH_INLINING.values(), ids=WITH_INLINING)
async def test_a_condition_on_variables_of_comprehensions_stops_in_the_rounds_where_it_holds(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    app = tmp_path / "rounds.py"
    app.write_text(ROUNDS)
    async with debugging() as client:
        lines = {}
        for line, (condition, _) in HOLDING.items():
            made = await client.call("breakpoint_set", file=str(app), line=line, condition=condition)
            lines[made["id"]] = line
        await client.call("breakpoint_set", file=str(app), line=12, log_message="y {y}")
        stop = await client.call("debug_launch", program=str(app), adapter_options={"python": [python.path]})
        stops = []
        while stop["state"] == "Paused":
            (line,) = [lines[each] for each in stop["breakpoints"]]
            stops.append((line, {name: stop["locals"].get(name) for name in HOLDING[line][1]}))
            assert failed_conditions(stop) == []
            stop = await client.call("debug_continue")
        assert stops == [(line, values) for line, (_, values) in HOLDING.items()]
        assert text_of(await client.call("process_read_output"), "log").splitlines() == ["y 1", "y 2", "y 3"]


@pytest.mark.parametrize("python", WITH_INLINING.values(), ids=WITH_INLINING)
async def test_a_condition_on_variables_of_comprehensions_that_have_no_values_together_says_so(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    app = tmp_path / "rounds.py"
    app.write_text(ROUNDS)
    async with debugging() as client:
        beside = await client.call("breakpoint_set", file=str(app), line=7, condition="c == 2 and d == 1")
        await client.call("breakpoint_set", file=str(app), line=13, condition="z == nothing")
        stop = await client.call("debug_launch", program=str(app), adapter_options={"python": [python.path]})
        assert (where(stop).line, stop["locals"]["c"]) == (7, "2")
        (note,) = failed_conditions(stop)
        assert note == "the condition `c == 2 and d == 1` failed: NameError: name 'd' is not defined"
        await client.call("breakpoint_remove", id=beside["id"])
        stop = await client.call("debug_continue")
        assert where(stop).line == 13
        (note,) = failed_conditions(stop)
        assert note.startswith("the condition `z == nothing` failed: NameError")


async def test_what_stops_writes_or_counts_beside_a_comprehension_is_hit_in_the_frame_that_is_meant(
    debugging: Connect, tmp_path: Path
) -> None:
    app = tmp_path / "inner.py"
    app.write_text(
        "def f(items, limit):\n    return sum(each for each in items)\n\nf([1, 2, 3], 1)\nf([4], 2)\nf([5], 3)\n"
    )
    async with debugging() as client:
        for message, count, log in [
            ("limit {limit}", 3, ["limit 1", "limit 2", "limit 3"]),
            ("each {each}", 5, ["each 1", "each 2", "each 3", "each 4", "each 5"]),
        ]:
            made = await client.call("breakpoint_set", file=str(app), line=2, log_message=message)
            stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
            assert stop["log"].splitlines() == log
            assert text_of(await client.call("process_read_output"), "log").splitlines() == log
            assert await hits(client) == {made["id"]: count}
            await client.call("breakpoint_remove", id=made["id"])
        # A hit is a statement that begins, not an item.
        counted = await client.call("breakpoint_set", file=str(app), line=2, hit_condition="2")
        stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
        assert (where(stop).function, stop["locals"]["limit"]) == ("f", "2")
        await client.call("breakpoint_remove", id=counted["id"])
        await client.call("breakpoint_set", file=str(app), line=2)
        stop = await client.call("debug_continue")
        assert (where(stop).function, stop["locals"]["limit"]) == ("f", "3")
        assert (await client.call("debug_continue"))["state"] == "Disconnected"


async def test_an_exception_type_that_does_not_exist_yet_is_not_verified(debugging: Connect, tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(
        "class Own(ValueError):\n    pass\n\nprint('defined')\ntry:\n    raise Own(1)\nexcept Own:\n    pass\n"
    )
    async with debugging() as client:
        for name in ("ValueErorr", "Own", "ValueError", "*"):
            made = await client.call("breakpoint_set_exception", exception_type=name, break_on_second_chance=False)
            slip = ["no exception of that name is known here. Is it ValueError?"] if name == "ValueErorr" else []
            assert (set(made) - {"notes"}, made.get("notes", [])) == ({"id"}, slip)
        await client.call("debug_launch", program=str(app), stop_at_entry=True)

        async def listed() -> dict[str, tuple[bool, str | None]]:
            found = (await client.read(BREAKPOINTS))["exceptionBreakpoints"]
            return {each["exceptionType"]: (each["verified"], each["message"]) for each in found}

        unknown = (False, "no such exception type yet: the program stops once one of that name is raised")
        expected = {"ValueErorr": unknown, "Own": unknown, "ValueError": (True, None), "*": (True, None)}
        assert await listed() == expected
        await client.call("debug_run_to", file=str(app), line=4)
        while (await listed())["Own"] == unknown:
            await trio.sleep(0.05)
        assert await listed() == {**expected, "Own": (True, None)}
        assert (await client.call("debug_continue"))["breakpoints"] == ["ex-2", "ex-3", "ex-4"]


PATCHES = """\
from unittest import mock

def work(name):
    with mock.patch(name, side_effect=RuntimeError(name)) as patched:
        seen = patched.called
        return seen

for name in ("threading.Lock", "threading.Condition", "queue.Queue.get", "queue.Queue.put", "threading.Event"):
    work(name)  # at the first stop of a thread pydevd makes what it waits with
for name in ("json.dumps", "json.loads", "time.time", "time.sleep", "time.monotonic"):
    work(name)
for name in ("threading.Thread", "threading.current_thread", "threading.enumerate"):
    work(name)
print("done")
"""


async def test_a_program_that_patches_what_its_debugger_may_use_stops_all_the_same(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "patches.py"
    file.write_text(PATCHES)
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(file), line=6)
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False)
        found = []
        while stop["state"] == "Paused":
            value = (await client.call("evaluate", expression="name, seen, 6 * 7"))["value"]
            found.append((stop["reason"], value))
            stop = await client.call("debug_continue")
        names = [*("threading.Lock", "threading.Condition", "queue.Queue.get", "queue.Queue.put", "threading.Event")]
        names += [*("json.dumps", "json.loads", "time.time", "time.sleep", "time.monotonic")]
        names += [*("threading.Thread", "threading.current_thread", "threading.enumerate")]
        assert found == [("Breakpoint", f"('{name}', False, 42)") for name in names]
        assert (stop["stdout"], stop["exitCode"], "stderr" in stop) == ("done\n", 0, False)


LOSES = """\
def down(n):
    return down(n + 1)

try:
    down(0)
except RecursionError:
    pass
here = 1
"""


async def test_a_main_thread_that_has_lost_its_debugger_at_the_limit_of_recursion_says_so_at_its_end(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "loses.py"
    file.write_text(LOSES)
    async with debugging() as client:
        places = [{"file": str(file), "line": 8}]
        answer = await client.call("debug_launch", program=str(file), stop_at_entry=False, breakpoints=places)
        if BY_ENGINE:
            assert answer["at"] == f"{file}:8 in <module>"
            answer = await client.call("debug_continue")
            assert "console" not in answer
        else:
            assert answer["notes"][0] == f"no stop at bp-1 {file}:8"
            # The second, if half a second passes on a busy machine before its end.
            said = "The main thread has ended without pydevd's", "The main thread had lost pydevd's trace function"
            assert answer["console"].startswith(said)
        assert answer["exitCode"] == 0


REGAINS = """\
import sys, threading, time

def down(n):
    return down(n + 1)

def loses():
    try:
        down(0)
    except RecursionError:
        pass

loses()
while sys.version_info < (3, 12) and sys.gettrace() is None:
    time.sleep(0.01)
here = 1
worker = threading.Thread(target=loses, name="worker")
worker.start()
worker.join()
"""


async def test_a_main_thread_that_runs_on_without_its_debugger_has_it_again_and_other_threads_say_so_at_their_end(
    debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "regains.py"
    file.write_text(REGAINS)
    async with debugging() as client:
        places = [{"file": str(file), "line": 15}]
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False, breakpoints=places)
        assert stop["at"] == f"{file}:15 in <module>"
        end = await client.call("debug_continue")
        assert end["exitCode"] == 0
        said = [stop.get("console", ""), end.get("console", "")]
        if BY_ENGINE:
            assert said == ["", ""]
        else:
            assert said[0].startswith("The main thread had lost pydevd's trace function, and has it again. ")
            assert said[1].startswith("The thread worker has ended without pydevd's trace function")
            assert said[1].count("\n") <= 1


REGAINS_SLOWLY = """\
import sys, time

def slowly(enable):
    def enabled(*given, **named):
        time.sleep(1)  # as on a busy machine
        enable(*given, **named)
    return enabled

if sys.version_info < (3, 12):
    debugger = sys.modules["pydevd"].get_global_debugger()
    debugger.enable_tracing = slowly(debugger.enable_tracing)
    sys.settrace(None)
    while sys.gettrace() is None:
        time.sleep(0.01)
here = 1
"""


async def test_a_main_thread_that_takes_long_to_have_its_debugger_again_is_not_asked_a_second_time_meanwhile(
    debugging: Connect, tmp_path: Path
) -> None:
    """Python 3.11 would run it for ever at the beginning of a function."""
    file = tmp_path / "slowly.py"
    file.write_text(REGAINS_SLOWLY)
    async with debugging() as client:
        places = [{"file": str(file), "line": 15}]
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False, breakpoints=places)
        assert stop["at"] == f"{file}:15 in <module>"
        assert (await client.call("debug_continue"))["exitCode"] == 0


SWITCHES = """\
import greenlet, hub

def work():
    switched = 0
    while True:
        loop.switch()
        switched += 1

loop = greenlet.greenlet(hub.run)
work()
"""

HUB = """\
import greenlet, time

def run():
    while True:
        time.sleep(0.2)
        greenlet.getcurrent().parent.switch()
"""


@pytest.mark.skipif(not BY_ENGINE, reason="pydevd does not know of greenlets, but of gevent's")
async def test_a_pause_stops_a_greenlet_that_waits_for_another_one(debugging: Connect, tmp_path: Path) -> None:
    libraries = tmp_path / "site-packages"
    libraries.mkdir()
    (libraries / "hub.py").write_text(HUB)
    file = tmp_path / "switches.py"
    file.write_text(SWITCHES)
    async with debugging() as client:
        env = {"PYTHONPATH": str(libraries)}
        stop = await client.call(
            "debug_launch", program=str(file), env=env, breakpoints=[{"file": str(file), "line": 7}]
        )
        await client.call("breakpoint_remove", id="*")
        await client.call("debug_continue", wait=False)
        stop = await client.call("debug_pause")
        assert stop["state"] == "Paused"
        assert stop["at"].endswith(" in work")
