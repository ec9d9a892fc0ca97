"""The engine's truth: what counts as a hit, who catches an exception, what becomes of evaluations that wait."""

import subprocess
from pathlib import Path

import pytest
import trio

from tests.patience import TOOL_SECONDS
from tests.pythons import Interpreter
from tests.real.conftest import Connect, hits, needs_gdb, where
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW, launched
from trio_debugmcp.testing import ToolFailed

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

LINES = """\
from contextlib import contextmanager

def g(a, b):
    return a

@contextmanager
def manager(a):
    yield a

def work(n):
    if g(n, n) != g(
        n, n
    ):
        return 0
    with manager(
        n
    ) as m:
        g(m, 0)
    found = [g(
        m, k) for k in range(3)]
    return found

for n in range(4):
    work(n)
double = lambda n: n * 2
doubled = [double(n) for n in range(3)]
print("done")
"""


async def test_a_statement_over_several_lines_is_hit_once_each_time_by_whatever_counts(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "lines.py"
        await launched(client, python, file, LINES, stop_at_entry=True)
        for line in (11, 12, 15, 19, 25):  # the last one is hit where it is defined, too
            await client.call("breakpoint_set", file=str(file), line=line, log_message=f"{line} {{n}}")
        await client.call("breakpoint_set", file=str(file), line=20, hit_condition="== 3")
        stop = await client.call("debug_continue")
        assert (where(stop).line, stop["locals"]["n"]) == (20, "2")
        said = stop["log"]
        await client.call("breakpoint_set", file=str(file), statement='print("done")')
        said += (await client.call("debug_continue"))["log"]
        assert sorted(said.splitlines()) == [f"{line} {n}" for line in (11, 12, 15, 19, 25) for n in range(4)]
        assert sorted((await hits(client)).values()) == [1, 4, 4, 4, 4, 4, 4]
        experiments = [{"file": str(file), "line": line, "capture": ["n"], "max_hits": 9} for line in (11, 15, 19)]
        launch = {"program": str(file), "adapter_options": {"python": [python.path]}, "replace": True}
        found = await client.call("batch_evaluate", experiments=experiments, launch=launch)
        for experiment in found["experiments"]:
            assert experiment["hits"] == [{"n": str(n)} for n in range(4)]


STUCK = """\
import threading
import time

lock, own = threading.Lock(), threading.Lock()

def holder():
    with lock:
        seen = 1
    print("free", flush=True)

def worker():
    at = 1
    here = 2
    print("worker", flush=True)

first, second = threading.Thread(target=holder), threading.Thread(target=worker)
first.start()
while not lock.locked():
    time.sleep(0.01)
second.start()
own.acquire()
print("main", flush=True)
first.join()
second.join()
"""


async def test_an_evaluation_that_waits_in_c_code_gives_the_stop_back(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging("legacy", "--patience", "1") as client:
        file = tmp_path / "stuck.py"
        places = [
            {"file": str(file), "statement": text} for text in ("seen = 1", "here = 2", 'print("main", flush=True)')
        ]

        async def fails(expression: str) -> str:
            with pytest.raises(ToolFailed) as failed:
                await client.call("evaluate", expression=expression, timeout=0.3)
            return failed.value.message

        stop = await launched(client, python, file, STUCK, breakpoints=places)
        said: list[str] = []
        while len(said) < 2:  # the others come to their breakpoints meanwhile, and are held there
            found = await client.call("evaluate", expression="time.sleep(0.3)", timeout=TOOL_SECONDS)
            said += found.get("notes", [])  # none where the look at how long it takes came too late
        assert set(said) == {
            "other threads ran until it had ended: it took so long that it could have waited for one of them"
        }
        seen = set()
        while stop["state"] == "Paused":
            place = stop["at"]
            seen.add(place.rpartition(" ")[2])
            if place.endswith("holder"):
                assert "waits for own, probably held by thread 1 MainThread. It cannot be interrupted" in await fails(
                    "own.acquire()"
                )
                assert (await client.call("evaluate", expression="lock.locked()"))["value"] == "True"
                with pytest.raises(ToolFailed, match=r"evaluation of `own.acquire\(\)`"):
                    await client.call("debug_step")
                assert (await client.call("debug_state"))["at"] == place
                await client.call("evaluate", expression="own.locked() and own.release()")
            elif place.endswith("worker"):
                await fails("time.sleep(2)")
                assert (await client.call("evaluate", expression="at"))["value"] == "1"
            else:
                for expression in ("own.acquire()", "time.sleep(60)", "threading.Event().wait()"):
                    assert "It was interrupted, and the program is where it was" in await fails(expression)
                await client.call("evaluate", expression="own.release()")
                stop = await client.call("debug_step")
                if stop["reason"] != "Step":  # another thread's turn to stop came first
                    continue
            stop = await client.call("debug_continue")
        assert (seen, stop["exitCode"]) == ({"holder", "worker", "<module>"}, 0)


CAUGHT = """\
from collections.abc import Mapping

class Prices(Mapping):
    def __getitem__(self, name):
        raise KeyError(name)
    def __iter__(self):
        return iter(())
    def __len__(self):
        return 0
    def __getattr__(self, name):
        raise AttributeError(name)

def load(name):
    try:
        return Prices()[name]
    except LookupError:
        return None

def ask():
    return hasattr(Prices(), "tea")

class Ignoring:
    def __enter__(self):
        return self
    def __exit__(self, *error):
        return bool(error)

class Kept:
    @property
    def price(self):
        raise kept

def ask_twice():
    if not hasattr(Kept(), "price"):
        raise kept

kept = AttributeError("kept")
load("tea")
"tea" in Prices()
ask()
with Ignoring():
    Prices()["ham"]
try:
    ask_twice()
except AttributeError:
    pass
next(iter([]))
"""


async def test_a_stop_at_an_exception_that_will_be_handled_says_by_whom_and_one_in_its_handler_which_it_is(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "caught.py"
        wanted = [{"exception": "KeyError"}, {"exception": "AttributeError"}]
        stop = await launched(client, python, file, CAUGHT, breakpoints=[*wanted, f"{file}:17"])
        said = []
        while stop["state"] == "Paused":
            said.append((stop.get("exception") or stop["handling"], stop.get("caughtBy")))
            assert (await client.call("stop_get")).get("caughtBy") == said[-1][1]
            stop = await client.call("debug_continue")
        assert said == [
            ("KeyError: 'tea'", f"load {file}:16"),
            ("KeyError: 'tea'", None),  # at the breakpoint in the handler
            ("KeyError: 'tea'", "Mapping.__contains__ (library)"),
            ("AttributeError: tea", f"ask {file}:20 (in C code)"),
            ("KeyError: 'ham'", None),
            ("AttributeError: kept", f"ask_twice {file}:34 (in C code)"),
            ("AttributeError: kept", f"<module> {file}:45"),
            ("StopIteration", None),  # not asked for by a breakpoint: nothing catches it
        ]


LOCKED = """\
import threading
from concurrent.futures import ThreadPoolExecutor

class Account:
    def __init__(self):
        self.lock = threading.Lock()
    def __repr__(self):
        with self.lock:
            return "an account"

def bad():
    raise ValueError("x")

def work():
    account = Account()
    with account.lock:
        seen = 1
    return seen

work()
with ThreadPoolExecutor(1) as pool:
    future = pool.submit(bad)
    future.result()
"""


async def test_a_value_whose_text_waits_for_a_lock_of_the_stopped_thread_does_not_hold_up_the_debugger(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging("legacy", "--patience", "1") as client:
        file = tmp_path / "locked.py"
        stop = await launched(client, python, file, LOCKED, breakpoints=[{"file": str(file), "statement": "seen = 1"}])
        assert (where(stop).line, "account" in stop["locals"]) == (17, True)
        stop = await client.call("debug_step")
        assert stop["locals"]["seen"] == "1"
        stop = await client.call("debug_continue")  # here the frame of `Future.result` has the lock of its text
        assert (stop["exception"], where(stop).line) == ("ValueError: x", 23)
        assert (await client.call("evaluate", expression="1 + 1"))["value"] == "2"
        assert (await client.call("debug_continue"))["exitCode"] == 1


DEEP = """\
{first}
def fall(n):
    deepest[0] = n
    return fall(n + 1) + 1

deepest = [0]
try:
    fall(0)
except RecursionError:
    print(deepest[0])
"""


@pytest.mark.parametrize("first", ["import sys", "del __name__"], ids=["in a module", "in code of no module"])
async def test_a_breakpoint_is_hit_also_where_the_stack_is_nearly_full(
    python: Interpreter, debugging: Connect, tmp_path: Path, first: str
) -> None:
    async with debugging() as client:
        file, text = tmp_path / "deep.py", DEEP.format(first=first)
        place = {"file": str(file), "line": 4}
        stop = await launched(client, python, file, text, breakpoints=[{**place, "condition": "n == 990"}])
        assert stop["locals"]["n"] == "990"
        assert (await client.call("evaluate", expression="sorted(range(n), key=lambda k: -k)[0]"))["value"] == "989"
        await client.call("breakpoint_set", **place, log_message="{n}")
        stop = await client.call("debug_continue")
        last, deepest = stop["log"].split()[-1], stop["stdout"].strip()
        assert deepest == "998", "as without a debugger"
        assert int(deepest) - int(last) <= 4, "only what has no room to be reported is not"


TOGETHER = """\
import threading
start = threading.Barrier(50)

def hot():
    total = 0
    start.wait()
    for step in range(3):
        total += step

def cold():
    start.wait()
    return start

threads = [threading.Thread(target=hot if n < 10 else cold, name=f"T{n}") for n in range(50)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


async def test_fifty_threads_that_reach_breakpoints_together_are_one_stop_for_each_hit(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "fifty.py"
        places = [{"file": str(file), "line": line} for line in (8, 12)]
        stop = await launched(client, python, file, TOGETHER, breakpoints=places)
        stops: dict[str, int] = {}
        while stop["state"] == "Paused":
            assert not [note for note in stop.get("notes", ()) if "without another stop" in note]
            thread = stop["thread"].split()[1]
            stops[thread] = stops.get(thread, 0) + 1
            stop = await client.call("debug_continue")
        assert stops == {f"T{n}": 3 if n < 10 else 1 for n in range(50)}
        assert await hits(client) == {"bp-1": 30, "bp-2": 40}


TAKEN = """\
import sys
import time
for number, name in ((3, "first"), (4, "second")):
    sys.monitoring.use_tool_id(number, name)
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


@needs_gdb
async def test_an_attach_is_refused_where_other_tools_leave_no_number_for_a_debugger(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "taken.py"
    file.write_text(TAKEN)
    process = await trio.lowlevel.open_process([python.path, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        async with process.stdout, process.stderr, debugging() as client:
            await process.stdout.receive_some()
            with pytest.raises(ToolFailed, match=r"\(first, second\)"):
                await client.call("debug_attach", pid=process.pid, adapter="debugpy")
            assert process.poll() is None
            process.kill()
            assert await process.stderr.receive_some() == b""
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


BAD = """\
import asyncio
async def bad():
    values = [1, 2]
    try:
        await asyncio.sleep(0.01)
        raise ValueError("x")
    finally:
        values.clear()
"""

BAD_IN_TRIO = BAD.replace("asyncio", "trio")

BAD_IN_THREAD = """\
import asyncio, time
from concurrent.futures import ThreadPoolExecutor
def bad():
    values = [1, 2]
    try:
        time.sleep(0.2)
        raise ValueError("x")
    finally:
        values.clear()
"""

OF_TASKS = {
    "gather": (
        BAD,
        """\
async def main():
    await asyncio.gather(asyncio.sleep(5), bad())
""",
        True,
    ),
    "a task group at its end": (
        BAD,
        """\
async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(bad())
""",
        True,
    ),
    "a task group in its block, and another around it": (
        BAD,
        """\
async def inner():
    async with asyncio.TaskGroup() as group:
        group.create_task(bad())
        try:
            await asyncio.sleep(5)
        finally:
            pass
async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(inner())
""",
        True,
    ),
    "a task that is awaited": (
        BAD,
        """\
async def main():
    await asyncio.wait_for(asyncio.shield(asyncio.create_task(bad())), 5)
""",
        True,
    ),
    "a nursery in its block": (
        BAD_IN_TRIO,
        """\
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bad)
        await trio.sleep(5)
""",
        True,
    ),
    "a nursery within a nursery": (
        BAD_IN_TRIO,
        """\
async def inner():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bad)
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(inner)
""",
        True,
    ),
    "an executor's function": (
        BAD_IN_THREAD,
        """\
ThreadPoolExecutor(1).submit(bad).result()
""",
        True,
    ),
    "an executor's functions": (
        BAD_IN_THREAD,
        """\
list(ThreadPoolExecutor(1).map(lambda _: bad(), [1]))
""",
        True,
    ),
    "a thread's function": (
        BAD_IN_THREAD,
        """\
async def main():
    await asyncio.to_thread(bad)
""",
        True,
    ),
    "gather that returns it": (
        BAD,
        """\
async def main():
    print(await asyncio.gather(bad(), return_exceptions=True))
""",
        False,
    ),
    "gather in a task that catches it": (
        BAD,
        """\
async def one():
    try:
        await asyncio.gather(bad())
    except ValueError:
        pass
async def main():
    await asyncio.gather(one())
""",
        False,
    ),
    "a group that is caught by except*": (
        BAD,
        """\
async def main():
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(bad())
            await asyncio.sleep(5)
    except* ValueError:
        pass
""",
        False,
    ),
    "a group that is caught around the loop": (
        BAD_IN_TRIO,
        """\
async def main():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bad)
try:
    trio.run(main)
except ExceptionGroup:
    pass
""",
        False,
    ),
    "a result that is caught": (
        BAD_IN_THREAD,
        """\
try:
    ThreadPoolExecutor(1).submit(bad).result()
except ValueError:
    pass
""",
        False,
    ),
    "a thread's function that is caught": (
        BAD_IN_THREAD,
        """\
async def main():
    try:
        await asyncio.to_thread(bad)
    except ValueError:
        pass
""",
        False,
    ),
    "a task that nobody awaits": (
        BAD,
        """\
async def main():
    asyncio.create_task(bad())
    await asyncio.sleep(0.2)
""",
        False,
    ),
    "an exception that is asked for": (
        BAD_IN_THREAD,
        """\
print(ThreadPoolExecutor(1).submit(bad).exception())
""",
        False,
    ),
    "a task for which others wait": (
        BAD,
        """\
async def main():
    await asyncio.wait([asyncio.create_task(bad())])
""",
        False,
    ),
}


@pytest.mark.parametrize("case", OF_TASKS)
async def test_an_exception_of_a_task_stops_at_its_raise_if_nothing_that_waits_for_it_catches_it(
    python: Interpreter, case: str, debugging: Connect, tmp_path: Path
) -> None:
    bad, rest, stops = OF_TASKS[case]
    file = tmp_path / "tasks.py"
    if "def main" in rest and "run(main" not in rest:
        rest += "trio.run(main)\n" if "trio" in bad else "asyncio.run(main())\n"
    library = {"PYTHONPATH": str(Path(trio.__file__).parent.parent)}
    async with debugging() as client:
        stop = await launched(client, python, file, bad + rest, env=library, stop_at_entry=False)
        if stops:
            raised = next(n for n, line in enumerate(bad.splitlines(), 1) if "raise" in line)
            assert (stop["exception"], where(stop).line) == ("ValueError: x", raised)
            assert stop["locals"]["values"] == "[1, 2]", "before its cleanup"
            stop = await client.call("debug_continue")
        assert stop["exitCode"] == (1 if stops else 0)


REPLACED = """\
import os, sys
words = ["sh", "-c", "read line"]
os.execv("/bin/sh", words)
"""


@pytest.mark.parametrize("where_from", ["the program", "an evaluation"])
async def test_a_program_that_has_replaced_itself_is_out_of_reach_and_never_paused(
    python: Interpreter, where_from: str, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "replaced.py"
        await launched(client, python, file, REPLACED, breakpoints=[{"file": str(file), "line": 3}])
        if where_from == "the program":
            await client.call("debug_continue", wait=False)
            expression = "1 + 1"
        else:
            expression = 'os.execv("/bin/sh", words)'
        with pytest.raises(ToolFailed, match="out of reach: the program has left the debugger"):
            while True:  # until it has replaced itself
                await client.call("evaluate", expression=expression, timeout=TOOL_SECONDS)
        state = await client.call("debug_state")
        assert state["state"] == "Running"
        assert state["notes"][0].startswith("out of reach: the program has left the debugger")
        for tool in ("debug_step", "variables_get"):
            with pytest.raises(ToolFailed, match="out of reach"):
                await client.call(tool)
        await client.call("process_write_input", data="\n")
        assert (await client.call("debug_wait"))["state"] == "Disconnected"


WARNING = """\
def work(total):
    print(total)
    assert (
        total
        == 4
    ), (
        "wrong"
    )

try:
    work(3)
except AssertionError:
    pass
"""


async def test_an_evaluation_that_warns_leaves_no_name_behind(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "warning.py"
        await launched(client, python, file, WARNING, breakpoints=[{"file": str(file), "line": 2}])
        for expression in ('"\\d"', 'globals()["__builtins__"].__import__("warnings").warn("x")'):
            await client.call("evaluate", expression=expression)
        assert (await client.call("debug_step"))["locals"] == {"total": "3"}


async def test_the_inner_lines_of_an_assertion_that_fails_count_once(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "assertion.py"
        await launched(client, python, file, WARNING, stop_at_entry=True)
        for line in (3, 4, 5, 7):
            await client.call("breakpoint_set", file=str(file), line=line, log_message=f"{line}")
        stop = await client.call("debug_continue")
        assert sorted(stop["log"].split()) == ["3", "4", "5", "7"]


LEAVING = """\
import os, subprocess, sys
child = [sys.executable, "child.py"]
if "spawn" in sys.argv:
    os.posix_spawn(sys.executable, child, os.environ)
else:
    subprocess.Popen(child, stdout=subprocess.DEVNULL, start_new_session=True)
os._exit(0)
"""


@pytest.mark.parametrize("way", ["subprocess", "spawn"])
async def test_a_child_whose_parent_ends_before_it_has_dialed_in_is_debugged(
    python: Interpreter, way: str, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        (tmp_path / "child.py").write_text("total = 1\ntotal += 1\n")
        place = {"file": str(tmp_path / "child.py"), "line": 2}
        more = {"breakpoints": [place], "args": [way], "cwd": str(tmp_path)}
        stop = await launched(client, python, tmp_path / "leaving.py", LEAVING, **more)
        assert (stop["state"], where(stop).line, stop["locals"]) == ("Paused", 2, {"total": "1"})
        assert (await client.call("debug_continue"))["state"] == "Disconnected"


DROPPED = """\
def held():
    try:
        yield 1
    finally:
        print("cleanup")

class Held:
    def __del__(self):
        print("deleted")

def plain():
    yield 1

cycle = [held(), plain(), Held()]
cycle.append(cycle)
kept = [held(), plain(), Held()]
for each in (*cycle[:2], *kept[:2]):
    next(each)
del each
print("ends")
"""


async def test_what_is_dropped_while_the_interpreter_ends_does_not_stop(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "dropped.py"
        places = [{"file": str(file), "line": 5}, {"file": str(file), "statement": 'print("deleted")'}]
        await launched(client, python, file, DROPPED, breakpoints=places, stop_at_entry=True)
        await client.call("breakpoint_set", file=str(file), line=5, log_message="logged")
        end = await client.call("debug_continue")
        assert (end["state"], end.get("exitCode")) == ("Disconnected", 0), end
        assert sorted(end["stdout"].split()) == ["cleanup", "cleanup", "deleted", "deleted", "ends"]
        assert end["log"] == "logged\nlogged\n"
        said = [line.partition(": ")[0] for line in end["console"].splitlines()]
        assert said == [f"{file}:9 in __del__ runs while the interpreter ends"], "once for each place"


LATE = """\
import atexit
import threading
import weakref

class Held:
    pass

def late():
    main.join()
    word = "thread"

def ended(word):
    return word

main = threading.main_thread()
threading.Thread(target=late).start()
held = Held()
weakref.finalize(held, ended, "finalizer")
atexit.register(ended, "atexit")
"""


async def test_what_runs_when_the_main_module_has_ended_stops_as_long_as_threads_run(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "late.py"
        places = [{"file": str(file), "line": line} for line in (10, 13)]
        stop = await launched(client, python, file, LATE, breakpoints=places)
        found = [where(stop).line]
        while (stop := await client.call("debug_continue"))["state"] == "Paused":
            found.append(stop["locals"]["word"])
        assert found == [10, "'atexit'", "'finalizer'"]
        assert (stop["state"], stop["exitCode"], "console" in stop) == ("Disconnected", 0, False)


ASKING = """\
import unittest

def numbers():
    try:
        yield from range(3)
    finally:
        done.append(1)

done = []

class Asked:
    def __getattr__(self, name):
        raise AttributeError(name)

    def __getitem__(self, index):
        if index:
            raise IndexError(index)
        return index

class Ended:
    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration

class Asking(unittest.TestCase):
    def test_dropped_with_the_frame_of_the_test(self):
        found = numbers()
        next(found)

    def test_closed(self):
        found = numbers()
        next(found)
        found.close()

    def test_asked(self):
        self.assertFalse(hasattr(Asked(), "name"))
        self.assertEqual((list(Asked()), list(Ended())), ([0], []))

if __name__ == "__main__":
    unittest.main()
"""


@pytest.mark.parametrize("target", ["program", "test"])
async def test_what_c_code_catches_does_not_leave_the_users_code(
    target: str, python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "test_asking.py"
    file.write_text(ASKING)
    launch = {"program": str(file)} if target == "program" else {"test": "test_asking.Asking"}
    async with debugging() as client:
        await client.call(
            "breakpoint_set_exception",
            exception_type="*",
            break_on_first_chance=False,
            break_on_second_chance=False,
            break_on_user_unhandled=True,
        )
        options = {"python": [python.path]}
        end = await client.call(
            "debug_launch", **launch, cwd=str(tmp_path), env={"PYTHONPATH": ""}, adapter_options=options,
            stop_at_entry=False,
        )  # fmt: skip
        assert (end["state"], end.get("exitCode")) == ("Disconnected", 0), end


TIDYING = """\
from functools import partial

def asks(name):
    class Asked:
        def __getattr__(self, name):
            raise AttributeError(name)
    return partial(getattr, Asked())(name, None)

def looks(name):
    try:
        return {}[name]
    except KeyError:
        return None

def call(tidy, function, value):
    try:
        return partial(function)(value)
    finally:
        tidy("closed")

def call_twice(tidy, function, value):
    return partial(call, tidy)(function, value)

async def call_in_task(tidy, function, value):
    return partial(call, tidy)(function, value)
"""

TIDIED = """\
import asyncio
import unittest

import tidying

def fail(value):
    raise AttributeError(value)

class Tidied(unittest.TestCase):
    def test_asks(self):
        tidying.call_twice(tidying.asks, fail, "first")

    def test_looks(self):
        tidying.call_twice(tidying.looks, fail, "second")

    def test_of_a_task(self):
        asyncio.run(tidying.call_in_task(tidying.looks, fail, "third"))

    def test_looks_and_is_asked(self):
        self.assertEqual(getattr(Late(), "name", None), None)

class Late:
    def __getattr__(self, name):
        tidying.call_twice(tidying.looks, fail, name)
"""


async def test_what_is_decided_later_is_not_lost_to_exceptions_of_the_cleanup_on_its_way(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "tidying.py").write_text(TIDYING)
    (tmp_path / "test_tidied.py").write_text(TIDIED)
    async with debugging() as client:
        answer = await client.call(
            "debug_launch", test="test_tidied.Tidied", cwd=str(tmp_path), env={"PYTHONPATH": str(library)},
            adapter_options={"python": [python.path]},
        )  # fmt: skip
        stops = []
        while answer["state"] == "Paused":
            stops.append((answer["exception"], where(answer).line))
            answer = await client.call("debug_continue")
        assert stops == [("AttributeError: first", 11), ("AttributeError: second", 14), ("AttributeError: third", 17)]
        assert "FAILED (errors=3)" in answer["stderr"]


PATCHED = """\
import builtins

(kept, function) = (dict(vars(builtins)), type(print))

def other(*args, **words):
    raise OSError("patched")

for name, value in kept.items():
    if type(value) is function:
        builtins.__dict__[name] = other
here = 1
there = 2
builtins.__dict__.update(kept)
print("through")
"""


async def test_whatever_function_of_builtins_a_program_has_replaced_its_first_stop_has_its_values(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "patched.py"
        places = [{"file": str(file), "line": 11}]
        stop = await launched(client, python, file, PATCHED, breakpoints=places, stop_at_entry=False)
        assert (where(stop).line, stop["locals"]["other"]) == (11, "<function other at patched.py:5>")
        step = await client.call("debug_step")
        assert (where(step).line, step["locals"]["here"]) == (12, "1")
        assert (await client.call("evaluate", expression="here + 1"))["value"] == "2"
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "through\n")


WAITING = """\
class Manager:
    def __enter__(self): return self
    def __exit__(self, *error): return False

def wait_in_cleanup(number):
    try:
        with managers[number]:
            raise ValueError(number)
    finally:
        yield number

managers = [Manager() for _ in range(1100)]
waiting = [wait_in_cleanup(number) for number in range(1100)]
for each in waiting: next(each)
try:
    next(waiting[1099])
except ValueError:
    pass
next(waiting[3])
"""


async def test_an_exception_stops_however_many_others_wait_in_the_cleanups_of_generators(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        stop = await launched(client, python, tmp_path / "waiting.py", WAITING, stop_at_entry=False)
        assert (stop["reason"], stop["exception"], where(stop).line) == ("Exception", "ValueError: 3", 19)
        assert (await client.call("debug_continue"))["exitCode"] == 1


PARTS = """\
def work(errors):
    try:
        raise ExceptionGroup("several", errors)
    except* ValueError:
        pass

def outer(errors):
    work(errors)

work([ValueError(1)])
try:
    outer([ValueError(1), KeyError(2)])
except ExceptionGroup:
    pass
outer([ValueError(1), TypeError(3)])
"""


async def test_what_except_star_leaves_of_a_group_stops_if_nothing_catches_it(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        stop = await launched(client, python, tmp_path / "parts.py", PARTS, stop_at_entry=False)
        assert (stop["reason"], where(stop)[1:]) == ("Exception", (8, "outer")), stop
        assert (await client.call("debug_continue"))["exitCode"] == 1
        errors = "errors = [ValueError(1), KeyError(2)]"
        flat = PARTS.replace("def work(errors):", f"{errors}\nif True:").partition("\n\n")[0]
        stop = await launched(client, python, tmp_path / "flat.py", flat + "\n", stop_at_entry=False)
        assert (stop["reason"], stop["mode"]) == ("Exception", "unhandled")
        assert where(stop).line == flat[: flat.index("except*")].count("\n") + 1  # behind it the compiler gives no line
        assert (await client.call("debug_continue"))["exitCode"] == 1


GIVER = """\
import queue
import threading

asked, given = queue.Queue(), queue.Queue()

def give():
    asked.get()
    given.put(3)

giver = threading.Thread(target=give, name="giver")
giver.start()
marked = 1
asked.put(1)
giver.join()
"""


async def test_an_evaluation_that_waits_for_a_thread_at_a_breakpoint_names_that(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "giver.py"
        wanted = [f"{file}:8", f"{file}:12"]
        stop = await launched(client, python, file, GIVER, stop_at_entry=False, breakpoints=wanted)
        assert where(stop).line == 12
        with pytest.raises(ToolFailed, match=r"held") as failed:
            await client.call("evaluate", expression="asked.put(1) or given.get()", timeout=1)
        named = f"thread {{}} giver, which is held at a breakpoint at {file}:8: debug_continue stops there"
        assert any(named.format(number) in failed.value.message for number in (2, 3)), failed.value.message


FORKING = """\
import os

def forks():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[0] == pid

def after():
    seen = 1

os.register_at_fork(after_in_parent=after)
here = 1
forks()
print("done")
"""


async def test_a_stop_in_or_behind_a_fork_is_one_that_answers_and_ends(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "forking.py"
        places = [
            {"file": str(file), "statement": "here = 1", "condition": "forks()"},
            {"file": str(file), "statement": "seen = 1"},
        ]
        stop = await launched(client, python, file, FORKING, stop_at_entry=False, breakpoints=places)
        assert where(stop)[1:] == (13, "<module>")
        for expression in ("forks()", "forks() and forks()"):  # no thread of ours runs while a process is forked
            assert (await client.call("evaluate", expression=expression))["value"] == "True"
        stop = await client.call("debug_continue")
        assert where(stop)[1:] == (10, "after")
        assert (await client.call("evaluate", expression="1 + 1"))["value"] == "2"
        stop = await client.call("debug_continue")
        assert (stop["exitCode"], "done\n" in stop["stdout"]) == (0, True)
