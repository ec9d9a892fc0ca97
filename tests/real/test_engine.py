"""The engine, which `adapter_options={"engine": "own"}` asks for: programs on Python 3.12 and newer under it."""

import subprocess
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio

from tests.pythons import Interpreter, found
from tests.real.conftest import Connect, at, hits, needs_gdb, program, where
from tests.real.interpreters import oldest_first
from trio_debugmcp.testing import DebugClient, ToolFailed

NEW = {"{}.{}".format(*each.version): each for each in found() if each.version >= (3, 12)}
"""Without one there is nothing to try: pyenv has them on the machines where this runs."""

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

SHOP = """\
import sys

def price(name, count):
    total = len(name) * count
    return total

def pay(items):
    paid = 0
    for name, count in items:
        paid += price(name, count)
    return paid

def fail(basket):
    try:
        return basket["coins"]
    finally:
        basket.clear()

print(pay([("tea", 2), ("ham", 1)]))
names = ["threading", "ast", "traceback", "re", "_ctypes", "sitecustomize"]
print([name for name in names if name in sys.modules])
fail({"tea": 3})
"""

CHILDREN = """\
import os
import subprocess
import sys

def child(way):
    seen = way
    return seen

if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(sys.argv[1])
    else:
        script = os.path.join(os.path.dirname(__file__), "script")
        os.environ["ONCE_IN_EACH"] = "1"
        log = open(script + ".log", "a+")
        if not os.fork():
            child("fork")
            os._exit(0)
        os.wait()
        subprocess.run([sys.executable, __file__, "run"], check=True)
        subprocess.run([sys.executable, __file__, "with its environment"], env=dict(os.environ), check=True)
        subprocess.run(f"'{sys.executable}' '{__file__}' shell", shell=True, check=True)
        subprocess.run(["env", "A=b", sys.executable, __file__, "env"], check=True)
        subprocess.run([script, "script"], check=True)
        os.system(f"'{sys.executable}' '{__file__}' system")
        os.spawnv(os.P_WAIT, sys.executable, [sys.executable, __file__, "spawnv"])
        os.waitpid(os.posix_spawn(sys.executable, [sys.executable, __file__, "posix_spawn"], os.environ), 0)
        for say in (
            lambda: subprocess.run(["env"], stdout=log, check=True),
            lambda: subprocess.run("env", shell=True, stdout=log, check=True),
            lambda: subprocess.run(["env"], env=dict(os.environ), stdout=log, check=True),
            lambda: os.system(f"env >>'{log.name}'"),
            lambda: os.spawnvp(os.P_WAIT, "sh", ["sh", "-c", f"env >>'{log.name}'"]),
            lambda: subprocess.run([sys.executable, "-I", "-c", "import os; print(os.environ)"], stdout=log),
        ):
            say()
        log.seek(0)
        seen = log.read()
        print(seen.count("ONCE_IN_EACH"), "trio_debugmcp" in seen, os.system("nobody is there"))
"""

CALLS = """\
import asyncio
from functools import partial

class Till:
    def __init__(self, owner):
        self.owner = owner

    def put(self, coins):
        return self

    def close(self):
        return 0

def twice(n):
    return 2 * n

async def later(n):
    return n

async def main():
    first, second = await asyncio.gather(
        later(1),
        later(2),
    )
    till = Till(twice(first)).put(
        twice(second),
    ).put(partial(twice, 3)()).close()
    found = sorted([2, 1], key=lambda n: twice(n)) or twice(5)
    for n in range(3): len(found) or twice(n)
    print(len(found), till)

asyncio.run(main())
"""

TYPED = """\
import sys

class Account:
    limit = 5

    def __init__(self):
        self.limits = [1, 2]

    def __dir__(self):
        print("ran")
        return []

    @property
    def limited(self):
        print("ran")
        return self

def work():
    account = Account()
    accounts = {"a b": [account]}
    print("done")

work()
"""


WAYS = ("fork", "run", "with its environment", "shell", "env", "script", "system", "spawnv", "posix_spawn")


async def launched(client: DebugClient, python: Interpreter, file: Path, text: str, **more: Any) -> dict[str, Any]:
    file.write_text(text)
    options = {"python": [python.path], "engine": "own"}
    stop: dict[str, Any] = await client.call("debug_launch", program=str(file), adapter_options=options, **more)
    return stop


async def test_a_program_stops_steps_and_is_looked_into(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "shop.py"
        stop = await launched(client, python, file, SHOP, breakpoints=[{"file": str(file), "line": 4}])
        assert (stop["at"], stop["locals"]) == (f"{file}:4 in price", {"name": "'tea'", "count": "2"})
        assert stop["stack"] == ["pay :10", "<module> :19"]
        twice = await client.call("evaluate", expression="[name * count for _ in range(2)]")
        assert twice == {"value": "['teatea', 'teatea']"}
        await client.call("variable_set", path="name", value="'milk'")
        assert (await client.call("debug_step"))["locals"]["total"] == "8"
        stop = await client.call("debug_step")
        assert (stop["at"], stop["returned"]) == (f"{file}:10 in pay", {"price": "8"})
        await client.call("breakpoint_remove", id="*")
        stop = await client.call("debug_continue")
        assert stop["stdout"] == "11\n[]\n", "nothing of ours among the program's modules"
        assert (stop["exception"], stop["at"]) == ("KeyError: 'coins'", f"{file}:15 in fail")
        assert stop["locals"] == {"basket": "{'tea': 3}"}, "before the cleanup has run"
        end = await client.call("debug_continue")
        assert end["exitCode"] == 1
        assert end["stderr"].startswith("Traceback (most recent call last):\n")
        assert "trio_debugmcp" not in end["stderr"]


async def test_only_the_first_stop_has_to_be_asked_what_it_shows(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    recorded = tmp_path / "recorded.jsonl"
    async with debugging("legacy", "--record", str(recorded)) as client:
        file = tmp_path / "shop.py"
        await launched(client, python, file, SHOP, breakpoints=[{"file": str(file), "line": 4}])
        assert (await client.call("debug_step"))["locals"]["total"] == "6"
        assert (await client.call("debug_step"))["returned"] == {"price": "6"}
        assert (await client.call("debug_continue"))["locals"] == {"name": "'ham'", "count": "1"}
        await client.call("debug_disconnect")
    assert recorded.read_text().count('"question":"stop"') == 1


BESIDE = """\
import threading, time
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
a = 1
b = 2
c = 3
"""


async def test_a_stop_is_asked_what_it_shows_where_another_thread_may_still_move(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    recorded = tmp_path / "recorded.jsonl"
    async with debugging("legacy", "--record", str(recorded)) as client:
        file = tmp_path / "beside.py"
        await launched(client, python, file, BESIDE, breakpoints=[{"file": str(file), "statement": "a = 1"}])
        for name in "ab":
            assert name in (await client.call("debug_step"))["locals"]
        await client.call("debug_disconnect")
    assert recorded.read_text().count('"question":"stop"') == 3


async def test_children_stop_too_however_they_are_started(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "children.py"
        script = tmp_path / "script"
        script.write_text(f"#!{python.path}\n{CHILDREN}")
        script.chmod(0o700)
        places = [{"file": str(file), "line": 7}, {"file": str(script), "line": 8}]
        stop = await launched(client, python, file, CHILDREN, breakpoints=places)
        for way in WAYS:
            assert stop["locals"]["seen"] == repr(way)
            stop = await client.call("debug_continue")
        assert (stop["exitCode"], stop["stderr"]) == (0, "sh: 1: nobody: not found\n")
        assert stop["stdout"] == "6 False 32512\n", "no other program sees anything of ours"


async def test_a_file_that_is_known_by_two_paths_has_the_breakpoints_of_both(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    file, linked = tmp_path / "real" / "shop.py", tmp_path / "link" / "shop.py"
    async with debugging() as client:
        both = [{"file": str(file), "line": 4}, {"file": str(linked), "line": 5}]
        stop = await launched(client, python, linked, SHOP, breakpoints=both)
        assert stop["at"] == f"{linked}:4 in price"
        assert (await client.call("debug_continue"))["at"] == f"{linked}:5 in price"


async def test_threads_that_reach_a_breakpoint_together_are_one_stop_each(
    python: Interpreter, debugging: Connect
) -> None:
    async with debugging() as client:
        point = at("together.py", "# together")
        options = {"python": [python.path], "engine": "own"}
        stop = await client.call(
            "debug_launch", program=program("together.py"), breakpoints=[point], adapter_options=options
        )
        names = set()
        while stop["state"] == "Paused":
            names.add(stop["thread"].split()[1])
            assert where(stop).line == point["line"]
            stop = await client.call("debug_continue")
        assert names == {"W0", "W1", "W2"}
        assert await hits(client) == {"bp-1": 3}


WAITS = """\
import time
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


@needs_gdb
async def test_a_breakpoint_of_before_an_attach_stops_in_a_function_that_has_begun(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "waits.py"
    file.write_text(WAITS)
    process = await trio.lowlevel.open_process([python.path, str(file)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with process.stdout, debugging() as client:
            await process.stdout.receive_some()
            await client.call("breakpoint_set", file=str(file), line=4)
            await client.call("debug_attach", pid=process.pid, adapter="debugpy")
            assert where(await client.call("debug_wait")).line == 4
            await client.call("debug_disconnect")
            assert process.poll() is None
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


ENDINGS = {
    "a main task": (
        """\
import asyncio
async def main():
    await asyncio.sleep(0)
    raise ValueError("x")
asyncio.run(main())
""",
        ("ValueError: x", 4),
    ),
    "a main task whose caller catches it": (
        """\
import asyncio
async def main():
    raise ValueError("x")
try:
    asyncio.run(main())
except ValueError:
    pass
""",
        None,
    ),
    "a task that is awaited where its exception is caught": (
        """\
import asyncio
async def bad():
    raise ValueError("x")
async def main():
    task = asyncio.create_task(bad())
    try:
        await task
    except ValueError:
        pass
asyncio.run(main())
""",
        None,
    ),
    "a task whose exception comes to the main task": (
        """\
import asyncio
async def bad():
    await asyncio.sleep(0)
    raise ValueError("x")
async def main():
    await asyncio.gather(bad(), asyncio.sleep(0))
asyncio.run(main())
""",
        ("ValueError: x", 4),
    ),
    "a nursery": (
        """\
import trio
async def bad():
    raise ValueError("x")
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bad)
trio.run(main)
""",
        ("ValueError: x", 3),
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
async def test_an_exception_that_ends_the_program_stops_once_and_one_that_is_caught_does_not(
    python: Interpreter, ending: str, debugging: Connect, tmp_path: Path
) -> None:
    text, stop = ENDINGS[ending]
    file = tmp_path / "program.py"
    file.write_text(text)
    library = str(Path(trio.__file__).parent.parent)  # Trio is pure Python: any interpreter can have it from there
    options = {"engine": "own", "python": python.path}
    async with debugging() as client:
        report = await client.call(
            "debug_launch", program=str(file), stop_at_entry=False, adapter_options=options,
            env={"PYTHONPATH": library},
        )  # fmt: skip
        if stop is not None:
            assert (report["exception"], where(report).line) == stop
            report = await client.call("debug_continue")
        assert report["exitCode"] == (0 if stop is None else 1)


async def test_a_step_goes_into_the_call_that_is_meant_and_else_on_to_the_next_line(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "calls.py"

        async def stepped_into(line: int, target: str) -> dict[str, Any]:
            stop = await client.call("debug_restart")
            while stop["at"] != f"{file}:{line} in main":
                stop = await client.call("debug_step")
            inside: dict[str, Any] = await client.call("debug_step", mode="in", target=target)
            return inside

        await launched(client, python, file, CALLS, breakpoints=[{"file": str(file), "line": 21}])
        # A coroutine that a task begins later; the lines of the statement in between do not end the step.
        inside = await stepped_into(21, "later(2)")
        assert (inside["at"], inside["locals"]) == (f"{file}:18 in later", {"n": "2"}), inside
        # Of a chain, by the name of the method; arguments that are evaluated on the way run.
        inside = await stepped_into(25, "close")
        assert inside["at"] == f"{file}:12 in close"
        inside = await stepped_into(25, "Till")
        assert (inside["at"], inside["locals"]["owner"]) == (f"{file}:6 in __init__", "2")
        inside = await stepped_into(25, "partial(twice, 3)")
        assert inside["notes"][-1].startswith("`partial(twice, 3)` was not entered"), inside
        assert inside["at"] == f"{file}:25 in main", "the next line of the statement"
        inside = await stepped_into(28, "twice(n)")
        assert (inside["at"], inside["locals"]) == (f"{file}:15 in twice", {"n": "2"})
        inside = await stepped_into(29, "twice(n)")
        assert inside["at"] == f"{file}:29 in main", "the next turn of the loop"
        assert inside["locals"]["n"] == "0"
        inside = await stepped_into(28, "twice(5)")
        assert inside["notes"][-1].startswith("`twice(5)` was not entered"), inside
        assert inside["at"] == f"{file}:29 in main"


async def test_names_fit_to_what_is_typed_and_nothing_runs(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "typed.py"
        await launched(client, python, file, TYPED, breakpoints=[{"file": str(file), "line": 21}])

        async def fitting(typed: str) -> list[str]:
            ref = types.PromptReference(name="trace_data_flow")
            return list((await client.sdk.complete(ref, {"name": "variable", "value": typed})).completion.values)

        assert await fitting("ac") == ["account", "accounts", "Account"]
        assert await fitting("len(accounts) + wor") == ["len(accounts) + work"]
        assert await fitting("isinst") == ["isinstance"]
        names = ["limit", "limited", "limits"]
        assert sorted(await fitting("account.lim")) == [f"account.{name}" for name in names]
        owner = 'accounts["a b"][0]'
        assert sorted(await fitting(f"{owner}.lim")) == [f"{owner}.{name}" for name in names]
        assert await fitting("account.limits.ap") == ["account.limits.append"]
        assert "sys.modules" in await fitting("sys.")
        assert "Account.__init__" in await fitting("Account.__")
        for typed in ("account.limited.lim", "nobody.", "accounts[", "1 +"):
            assert not [each for each in await fitting(typed) if each.endswith("limits")]
        stop = await client.call("debug_continue")
        assert stop["stdout"] == "done\n"


async def test_an_answer_names_the_engine_only_where_it_is_not_the_usual_one(
    python: Interpreter, debugging: Connect
) -> None:
    by_pydevd: dict[str, Any] = {"engine": "pydevd"}
    async with debugging() as client:
        for more, engine in (({}, None), (by_pydevd, "pydevd"), ({"pythonArgs": ["-I"]}, "pydevd")):
            options = {"python": [python.path], **more}
            ended = await client.call("debug_launch", code="print(7)", stop_at_entry=False, adapter_options=options)
            assert (ended["stdout"], ended.get("engine")) == ("7\n", engine)
        # One program for each: CPython 3.12.1 may crash where the engine comes in while pydevd is still leaving.
        for more, engine in ((by_pydevd, "pydevd"), ({}, None)):
            command = [python.path, "-uc", "import time\nprint(7)\nwhile True: time.sleep(0.01)"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                try:
                    assert process.stdout is not None
                    assert process.stdout.readline() == b"7\n"  # its Python has begun
                    attached = await client.call("debug_attach", pid=process.pid, adapter_options=more)
                    assert (attached["pid"], attached.get("engine")) == (process.pid, engine)
                    await client.call("debug_disconnect")
                finally:
                    process.kill()  # or a failure waits for its end


CURSED = """\
import _thread
import ctypes
import gc

def acquire(*_):
    raise RuntimeError("no lock in an event loop")

kind = type(_thread.allocate_lock())
gc.get_referents(kind.__dict__)[0]["acquire"] = acquire
ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
print("here")
print("there")
"""


async def test_a_program_that_puts_methods_into_types_of_c_stops_and_continues(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        file = tmp_path / "cursed.py"
        places = [{"file": str(file), "statement": 'print("here")'}]
        stop = await launched(client, python, file, CURSED, breakpoints=places)
        assert where(stop).line == 11
        assert (await client.call("evaluate", expression="kind.acquire is acquire"))["value"] == "True"
        assert where(await client.call("debug_step")).line == 12
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "there\n")


YIELDS = """\
def numbers():
    for n in range(2):
        yield n + 5
def passed():
    yield from numbers()

def work():
    for number in passed():
        print(number)

work()
"""


async def test_a_step_from_a_yield_goes_to_where_the_value_goes_which_a_step_out_shows(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "yields.py"
        await launched(client, python, file, YIELDS, breakpoints=[{"file": str(file), "line": 3}])
        stops = [await client.call("debug_step", mode="in") for _ in range(4)]
        assert [where(each)[1:] for each in stops] == [(9, "work"), (8, "work"), (2, "numbers"), (3, "numbers")]
        stop = await client.call("debug_step", mode="out")
        assert (where(stop).function, stop["yielded"], stop.get("returned")) == ("passed", {"numbers": "6"}, None)
        assert (await client.call("stop_get"))["yielded"] == {"numbers": "6"}
        await client.call("debug_step", mode="out")
        await client.call("breakpoint_remove", id="*")
        stop = await client.call("debug_step", mode="out")
        assert (where(stop).function, stop["returned"]) == ("<module>", {"work": "None"})


async def test_a_refusal_names_the_engine_where_it_is_the_one_that_cannot(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        await launched(client, python, tmp_path / "yields.py", YIELDS, stop_at_entry=True)
        for tool, words in (
            ("breakpoint_set_data", {"expression": "numbers"}),
            ("memory_read", {"expression": "numbers"}),
            ("debug_step", {"mode": "back"}),
        ):
            with pytest.raises(ToolFailed, match=r"^NOT_SUPPORTED: the engine cannot "):
                await client.call(tool, **words)


async def test_the_stop_after_a_trace_names_what_has_returned_and_hides_nothing(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    (tmp_path / "rules.py").write_text("def rule(n):\n    return n * 2\n")
    (tmp_path / "use.py").write_text("import rules\n\ndef work():\n    n = 1\n    return rules.rule(n)\n\nwork()\n")
    options = {"python": [python.path]}
    async with debugging() as client:
        place = f"{tmp_path}/use.py:5"
        await client.call("debug_launch", program=f"{tmp_path}/use.py", breakpoints=[place], adapter_options=options)
        stop = (await client.call("trace_function", function="rules.rule"))["stop"]
        assert (where(stop).function, stop["returned"]) == ("work", {"rule": "2"})
        assert "omitted" not in stop
        assert "moment" not in stop


async def test_a_step_in_a_generator_expression_goes_to_where_its_value_goes(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "rows.py"
    text = "rows = (a for a in (1, 2))\nfirst = next(rows)\nsecond = sum(rows)\nprint(second)\n"
    async with debugging() as client:
        await launched(client, python, file, text, breakpoints=[f"{file}:2"])
        stops = [await client.call("debug_step", mode=mode) for mode in ("in", "over", "over", "in", "over", "over")]
        assert [each["at"].rpartition("/")[2] for each in stops] == [
            "rows.py:1 in <genexpr>", "rows.py:2 in <module>", "rows.py:3 in <module>",
            "rows.py:1 in <genexpr>", "rows.py:3 in <module>", "rows.py:4 in <module>",
        ]  # fmt: skip
        assert stops[1]["yielded"] == {"<genexpr>": "1"}


HALTS = """\
import os, sys
made = 1
breakpoint()
made = 2
def last():
    breakpoint()
last()
if not os.fork():
    breakpoint()
    child = 3
    os._exit(0)
os.wait()
"""


SEVERAL_HALT = """\
import sys, threading
from collections import namedtuple
sys.setswitchinterval(1e-6)
Pair = namedtuple("Pair", "left right")
gate = threading.Barrier(6)
def work(number):
    gate.wait()
    [breakpoint(), Pair(number, 1), [[] for _ in range(300)]][0]
threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import os
os.environ["PYTHONBREAKPOINT"] = "0"
breakpoint()
del os.environ["PYTHONBREAKPOINT"]
eval("[breakpoint(), 1]")
breakpoint()
"""


async def test_breakpoint_stops_each_thread_that_calls_it_before_its_frame_is_gone(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    async with debugging() as client:
        stop = await launched(client, python, tmp_path / "several.py", SEVERAL_HALT, stop_at_entry=False)
        numbers = set()
        for _ in range(6):
            assert (stop["reason"], where(stop).line) == ("Breakpoint", 8)
            numbers.add(stop["locals"]["number"])
            stop = await client.call("debug_continue")
        assert numbers == set("012345")
        assert stop["at"] == "<string>:1 in <module>"
        stop = await client.call("debug_continue")
        assert (stop["reason"], where(stop).line) == ("Breakpoint", 17)  # the last line of all
        assert (await client.call("debug_continue"))["state"] == "Disconnected"


MADE = """\
from collections import namedtuple
from dataclasses import dataclass
@dataclass
class Shop:
    name: str
    def __post_init__(self):
        self.open = True
Pair = namedtuple("Pair", "left right")
shop = Shop("a")
pair = Pair(1, 2)
print(shop, pair)
"""


async def test_a_step_in_stays_out_of_the_methods_that_dataclasses_and_named_tuples_have(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "made.py"
    async with debugging() as client:
        await launched(client, python, file, MADE, breakpoints=[f"{file}:6", f"{file}:9"])
        stops = [await client.call("debug_step", mode="in") for _ in range(8)]
        assert [where(each)[1:] for each in stops] == [
            *((4, "<module>"), (3, "<module>"), (4, "<module>"), (8, "<module>"), (9, "<module>")),
            *((7, "__post_init__"), (10, "<module>"), (11, "<module>")),
        ]


THROUGH_LIBRARY = """\
import copy

class Row:
    def __copy__(self):
        return 1
    def __deepcopy__(self, memo):
        raise ValueError

def copied():
    return copy.copy(Row())

def failed():
    return copy.deepcopy(Row())

def work():
    first = copied()
    try:
        failed()
    except ValueError:
        first = 2

work()
"""


async def test_a_step_out_of_what_a_library_has_called_is_not_lost_where_no_line_follows_in_its_caller(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "through.py"
    async with debugging() as client:
        await launched(client, python, file, THROUGH_LIBRARY, breakpoints=[f"{file}:5", f"{file}:7"])
        assert where(await client.call("debug_step"))[1:] == (16, "work")
        await client.call("debug_continue")
        assert where(await client.call("debug_step"))[1:] == (19, "work")


async def test_breakpoint_in_the_program_stops_it_at_the_next_line_in_forks_too(
    debugging: Connect, tmp_path: Path, python: Interpreter
) -> None:
    file = tmp_path / "halts.py"
    async with debugging() as client:
        stop = await launched(client, python, file, HALTS, stop_at_entry=False)
        assert (stop["reason"], where(stop).line) == ("Breakpoint", 4)
        stop = await client.call("debug_continue")
        assert where(stop)[1:] == (6, "last")  # there is no further line in it
        stop = await client.call("debug_step")
        assert (where(stop).line, stop["returned"]) == (7, {"last": "None"})
        stop = await client.call("debug_continue")
        assert where(stop).line == 10
        ignored = {"PYTHONBREAKPOINT": "0"}
        end = await launched(client, python, file, HALTS, stop_at_entry=False, env=ignored, replace=True)
        assert end["state"] == "Disconnected"


GOES = """\
def work():
    a = 1
    a = 2
    a = 3
    a = 4
    return a
work()
"""


@pytest.mark.parametrize(("start", "target"), [(4, 2), (2, 4), (4, 4)])
async def test_a_step_after_a_goto_runs_the_line_that_was_gone_to_and_no_other(
    debugging: Connect, tmp_path: Path, python: Interpreter, start: int, target: int
) -> None:
    file = tmp_path / "goes.py"
    async with debugging() as client:
        await launched(client, python, file, GOES, breakpoints=[f"{file}:{start}", f"{file}:{target}"])
        assert where(await client.call("debug_goto", line=target)).line == target
        stop = await client.call("debug_step")
        assert (where(stop).line, stop["locals"]) == (target + 1, {"a": str(target - 1)})
