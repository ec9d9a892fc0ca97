"""One program with the engine and without: what it can see of itself, what it prints, and how it ends."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import Connect, where
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW, launched

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

ITSELF = """\
import asyncio, atexit, gc, inspect, json, os, pickle, resource, signal, sys, threading, time, warnings

def descriptors():
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[number] = os.readlink(f"/proc/self/fd/{number}").partition(":")[0]
        except OSError:  # that of the list
            pass
    return found

def kinds(objects):
    return sorted({f"{type(each).__module__}.{type(each).__qualname__}" for each in objects})

class Runner:
    system = os.system  # a function in C is no method

begin, before = time.monotonic(), time.process_time()
time.sleep(0.3)
slept = [time.monotonic() - begin >= 0.3, time.process_time() - before < 0.15]
itself = {
    "words": [sys.argv, sys.orig_argv, sys.path, str(sys.flags), sys._xoptions, sys.warnoptions],
    "environment": dict(os.environ),
    "modules": sorted(sys.modules),
    "names": [sorted(vars(sys.modules[name])) for name in ("__main__", "builtins", "sys", "os", "threading", "time")],
    "main": [__file__, str(__spec__), type(__loader__).__name__, repr(sys._getframe().f_back), len(inspect.stack())],
    "threads": [thread.name for thread in threading.enumerate()],
    "tracing": str([sys.gettrace(), sys.getprofile(), threading.gettrace(), sys.getrecursionlimit()]),
    "hooks": str([sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook]),
    "halts": sys.breakpointhook is sys.__breakpointhook__,
    "importing": [kinds(sys.meta_path), len(sys.path_hooks), sorted(sys.path_importer_cache)],
    "signals": [str(signal.getsignal(number)) for number in range(1, signal.NSIG)],
    "signalling": str([signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.set_wakeup_fd(-1)]),
    "ending": atexit._ncallbacks(),
    "warning": [str(warnings.filters), str(vars(warnings).get("_showwarning_orig") is warnings.showwarning)],
    "collecting": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks), gc.get_freeze_count()],
    "limits": [resource.getrlimit(resource.RLIMIT_NOFILE), os.umask(0o22), sys.getswitchinterval(), os.nice(0)],
    "streams": [[str(stream), stream.line_buffering] for stream in (sys.stdin, sys.stdout, sys.stderr)],
    "functions": {name: [str(type(value)), isinstance(value, type(len))] for name, value in vars(os).items()},
    "signatures": [str(inspect.signature(function)) for function in (os.execv, os.execve, os.fork, os.system)],
    "called": [repr(os.execve), pickle.loads(pickle.dumps(os.system)) is os.system, Runner().system("exit 3")],
    "slept": slept,
    "tools": [sys.monitoring.get_tool(number) for number in range(6)],
    "descriptors": descriptors(),
    "frames": sorted(frame.f_code.co_filename for frame in sys._current_frames().values()),
    "tasks": len(os.listdir("/proc/self/task")),
}
with open(sys.argv[1], "w") as file:
    json.dump(itself, file)

def fail():
    try:
        {}["k"]
    except KeyError as error:
        raise ValueError("x") from error

class Ended:
    def __del__(self):
        fail()

async def failing():
    raise ExceptionGroup("both", [ValueError(1), KeyError(2)])

print("é", os.open(os.devnull, 0), flush=True)
child = os.fork()
if not child:
    os._exit(3)
print(os.waitpid(child, 0)[1])
warnings.simplefilter("always")
warnings.warn("mine")
open(os.devnull)
thread = threading.Thread(target=fail)
thread.start()
thread.join()
Ended()
atexit.register(print, "at the end", end="")
asyncio.run(failing())
"""


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", text)


async def test_a_program_sees_of_the_engine_only_what_is_said_and_prints_and_ends_as_without_it(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file, report = tmp_path / "itself.py", tmp_path / "report.json"
    file.write_text(ITSELF)
    plain = await trio.run_process(
        [python.path, str(file), str(report)],
        stdin=b"",
        capture_stdout=True,
        capture_stderr=True,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},  # pytest's
        check=False,
    )
    alone = json.loads(report.read_text())
    async with debugging() as client:
        places = [{"file": str(file), "line": 56, "condition": "False"}]
        answer = await launched(
            client, python, file, ITSELF, args=[str(report)], cwd=str(tmp_path), breakpoints=places, stop_at_entry=False
        )
        stops, printed = [], {"stdout": "", "stderr": ""}
        while True:
            for stream in printed:
                printed[stream] += answer.get(stream, "")
            if answer["state"] != "Paused":
                break
            stops.append(answer["exception"])
            answer = await client.call("debug_continue")
    watched: dict[str, Any] = json.loads(report.read_text())
    assert stops == ["ValueError: x", "ExceptionGroup: both (2 sub-exceptions)"]
    assert answer["exitCode"] == plain.returncode == 1
    assert printed["stdout"] == plain.stdout.decode()
    assert without_addresses(printed["stderr"]) == without_addresses(plain.stderr.decode())
    assert watched.pop("tools") == [None, None, None, "trio_debugmcp", None, None] != alone.pop("tools")
    sockets = {number: what for number, what in watched["descriptors"].items() if int(number) > 700}
    assert {*sockets.values()} == {"socket"}, "and far away from the numbers that the program is given"
    assert [*{**watched.pop("descriptors"), **sockets}] == [*alone.pop("descriptors"), *sockets]
    ours = [name for name in watched.pop("frames") if name not in alone.pop("frames", [str(file)])]
    assert [name.partition("/")[0] for name in ours] == ["<trio_debugmcp>"]
    assert watched.pop("tasks") == 2 > alone.pop("tasks")
    assert (watched.pop("halts"), alone.pop("halts")) == (False, True)
    for environment in (watched["environment"], alone["environment"]):  # other tests' terminals
        environment.pop("COLUMNS", None)
        environment.pop("LINES", None)
    for subject, value in alone.items():
        assert watched[subject] == value, subject
    assert watched["slept"] == [True, True]


FALLS = """\
import sys

def fall(depth):
    return fall(depth + 1)

def falls_and_catches(depth):
    try:
        return falls_and_catches(depth + 1)
    except RecursionError:
        return depth

try:
    fall(0)
except RecursionError as error:
    print(error, error.__context__, sys.getrecursionlimit())
print(falls_and_catches(0) > 900)
fall(0)
"""


async def test_a_recursion_without_end_stops_and_its_traceback_is_the_programs(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "falls.py"
        stop = await launched(client, python, file, FALLS, stop_at_entry=False)
        assert stop["stdout"] == "maximum recursion depth exceeded None 1000\nTrue\n"
        assert stop["exception"] == "RecursionError: maximum recursion depth exceeded"
        assert (where(stop).function, where(stop).line) == ("fall", 4)
        assert int(stop["locals"]["depth"]) > 980
        assert (await client.call("evaluate", expression="sorted(range(3), key=lambda n: -n)"))["value"] == "[2, 1, 0]"
        end = await client.call("debug_continue")
        assert end["exitCode"] == 1
        assert end["stderr"].count("Traceback") == 1
        assert "trio_debugmcp" not in end["stderr"]
        assert end["stderr"].endswith("\nRecursionError: maximum recursion depth exceeded\n")


LET_GO = """\
import asyncio, gc, threading, weakref

gc.disable()
known = {}

class Kept(Exception):
    pass

def kept(name):
    made = Kept(name)
    known[name] = weakref.ref(made, lambda _: known.pop(name))
    made.extra = made_too = type("Extra", (), {})()
    known[f"{name}, extra"] = weakref.ref(made_too, lambda _: known.pop(f"{name}, extra"))
    return made

class Asked:
    def __getattr__(self, name):
        raise AttributeError(kept(name))

async def failing(name):
    await asyncio.sleep(0)
    raise kept(name)

async def tasks():
    try:
        await asyncio.gather(failing("gathered"), asyncio.sleep(0))
    except Kept:
        pass
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(failing("grouped"))
    except* Kept:
        pass

def stopped():
    here = kept("stopped")
    there = [here]
    print("stopped")

def raised():
    try:
        raise kept("raised")
    finally:
        done = True

def outer():
    try:
        raised()
    except Kept:
        pass

done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
hasattr(Asked(), "asked")
getattr(Asked(), "defaulted", None)
outer()
stopped()
done.set()
thread.join()
asyncio.run(tasks())
print(sorted(known))
"""


async def test_nothing_lives_longer_because_of_the_engine(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "let_go.py"
    file.write_text(LET_GO)
    plain = await trio.run_process([python.path, str(file)], capture_stdout=True)
    async with debugging() as client:
        places = [{"file": str(file), "line": line} for line in (38, 42)]
        stop = await launched(client, python, file, LET_GO, breakpoints=places)
        printed = ""
        while stop["state"] == "Paused":
            await client.call("evaluate", expression="[*locals().values()]")
            await client.call("variables_get", depth=2)
            printed += stop.get("stdout", "")
            stop = await client.call("debug_continue")
        printed += stop.get("stdout", "")
        assert printed == plain.stdout.decode()


INTERPRETERS_WITHIN = """\
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters

def work():
    number = _interpreters.create()
    run = getattr(_interpreters, "exec", None) or _interpreters.run_string
    run(number, "import sys; print('trio_debugmcp' in str(sys.modules), flush=True)")
    _interpreters.destroy(number)

work()
print("end")
"""


async def test_an_interpreter_within_the_process_has_nothing_of_the_engine_and_can_end(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "within.py"
        places = [{"file": str(file), "statement": 'print("end")'}]
        stop = await launched(client, python, file, INTERPRETERS_WITHIN, breakpoints=places, stop_at_entry=False)
        assert (where(stop).line, stop["stdout"]) == (13, "False\n")
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "end\n")


async def test_a_program_may_have_the_syntax_of_the_interpreter_that_was_chosen_for_it(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        end = await launched(client, python, tmp_path / "typed.py", "type Row[T] = list[T]\n", stop_at_entry=False)
        assert end["exitCode"] == 0
