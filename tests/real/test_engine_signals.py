"""What signal handlers of the program raise while the engine is at work: it arrives where it is due."""

import os
import signal
from pathlib import Path

import pytest

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import oldest_first
from tests.real.test_engine import NEW, launched
from trio_debugmcp.testing import ToolFailed

pytestmark = pytest.mark.parametrize("python", oldest_first(NEW))

AWAITED = """\
import _thread
import operator
from functools import partial

def inner():
    try:
        yield
        yield
    except KeyboardInterrupt:
        print("the innermost has it")
        return
    print("nobody has it")

def outer():
    yield from inner()

def outermost():
    yield from outer()

generator = outermost()
next(generator)
print("ready")
list(map(operator.call, [_thread.interrupt_main, partial(next, generator, None)]))
"""


@pytest.mark.parametrize("place", [None, 8], ids=["without a breakpoint", "with one"])
async def test_a_signal_that_comes_before_a_chain_of_generators_continues_is_raised_in_the_innermost(
    place: int | None, python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "awaited.py"
        places = [{"file": str(file), "line": place, "condition": "False"}] if place else []
        end = await launched(client, python, file, AWAITED, breakpoints=places, stop_at_entry=False)
        assert (end["exitCode"], end["stdout"]) == (0, "ready\nthe innermost has it\n")


ALARMED = """\
import signal
import traceback
from functools import partial

class Late(Exception):
    pass

def late(number, *_):
    raise Late(number)

class Handler:
    def __call__(self, *_):
        raise Late("an object")

    def bound(self, *_):
        raise Late("a method")

def work(total):
    total += 1
    return total

for handler in (late, Handler(), Handler().bound, partial(late, 7)):
    signal.signal(signal.SIGALRM, handler)
    try:
        work(0)
    except Late as error:
        names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        print(error.args, names, error.__context__)
"""

RAISED = """\
(14,) ['<module>', 'work', 'late'] None
('an object',) ['<module>', 'work', '__call__'] None
('a method',) ['<module>', 'work', 'bound'] None
(7,) ['<module>', 'work', 'late'] None
"""


@pytest.mark.parametrize(
    "wanted",
    [
        {"condition": "signal.raise_signal(signal.SIGALRM)"},
        {"condition": "signal.raise_signal(signal.SIGALRM)", "hit_condition": ">= 1"},
        {"log_message": "{signal.raise_signal(signal.SIGALRM)}"},
    ],
    ids=["a condition", "a condition that is counted", "a message"],
)
async def test_what_a_signal_handler_raises_in_a_condition_or_message_is_the_programs(
    wanted: dict[str, str], python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "alarmed.py"
        await launched(client, python, file, ALARMED, stop_at_entry=True)
        await client.call("breakpoint_set", file=str(file), statement="total += 1", **wanted)
        end = await client.call("debug_continue")
        assert (end.get("exitCode"), end["stdout"]) == (0, RAISED)


async def test_what_a_signal_handler_raises_during_a_stop_is_raised_at_its_end_with_the_handlers_frame(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "alarmed.py"
        places = [{"file": str(file), "statement": "total += 1"}]
        stop = await launched(client, python, file, ALARMED, breakpoints=places)
        printed, pid = "", stop["pid"]
        while stop["state"] == "Paused":
            os.kill(pid, signal.SIGALRM)
            stop = await client.call("debug_continue")
            printed += stop.get("stdout", "")
        assert (stop["exitCode"], printed) == (0, RAISED)


MEANWHILE = """\
import signal
import time

class Late(Exception):
    pass

def late(number, *_):
    raise Late(number)

def slow():
    while True:
        time.sleep(0.01)

def work():
    here = 1
    return here

signal.signal(signal.SIGALRM, late)
try:
    work()
except Late as error:
    print("the program has it:", error)
"""


async def test_what_a_signal_handler_raises_during_an_evaluation_is_the_programs_as_well(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "meanwhile.py"
        places = [{"file": str(file), "statement": "here = 1"}]
        await launched(client, python, file, MEANWHILE, breakpoints=places, stop_at_entry=False)
        with pytest.raises(ToolFailed, match="Late: 14") as failed:
            await client.call("evaluate", expression="signal.setitimer(signal.ITIMER_REAL, 0.01) and slow()")
        assert failed.value.details["notes"] == [
            "a signal handler of the program raised it: it is raised in the program as well when that continues"
        ]
        assert (await client.call("evaluate", expression="1 + 1"))["value"] == "2"
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "the program has it: 14\n")


SENT_TWICE = """\
import signal

def late(number, *_):
    raise ValueError(number)

for number in signal.SIGUSR1, signal.SIGALRM:
    signal.signal(number, late)

def work():
    return 1

try:
    try:
        work()
    except ValueError as error:
        print("the first:", error)
        raise
except ValueError as error:
    print("the last:", error, "after", error.__context__)
"""


async def test_of_two_signals_that_come_during_a_stop_both_handlers_errors_are_raised(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "sent_twice.py"
        places = [{"file": str(file), "statement": "return 1"}]
        stop = await launched(client, python, file, SENT_TWICE, breakpoints=places)
        for number in signal.SIGUSR1, signal.SIGALRM:
            os.kill(stop["pid"], number)
        looked = await client.call("stacktrace_get")
        assert "return 1" in str(looked)
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "the last: 14 after 10\n")


INTERRUPTED = """\
import os
import signal
import time
from subprocess import Popen

def slow():
    while True:
        time.sleep(0.01)

def given():
    raise KeyboardInterrupt

def work(total):
    return total

try:
    work(1)
    print("nothing has come")
except KeyboardInterrupt as error:
    step = error.__traceback__.tb_next
    print("the program has it:", step.tb_frame.f_code.co_name, step.tb_next)
"""


@pytest.mark.parametrize(
    ("tool", "wanted"),
    [
        ("evaluate", {"expression": "signal.raise_signal(signal.SIGINT)"}),
        ("evaluate", {"expression": "[Popen(['kill', '-INT', str(os.getpid())]), slow()]"}),
        ("variable_set", {"path": "total", "value": "signal.raise_signal(signal.SIGINT)"}),
    ],
    ids=["at once", "in a function", "a value that is set"],
)
async def test_ctrl_c_that_comes_during_an_evaluation_is_the_programs_as_well(
    tool: str, wanted: dict[str, str], python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "interrupted.py"
        places = [{"file": str(file), "statement": "return total"}]
        await launched(client, python, file, INTERRUPTED, breakpoints=places, stop_at_entry=False)
        with pytest.raises(ToolFailed, match="KeyboardInterrupt") as failed:
            await client.call(tool, **wanted)
        assert failed.value.details["notes"] == [
            "a signal handler of the program raised it: it is raised in the program as well when that continues"
        ]
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "the program has it: work None\n")


async def test_what_ends_an_evaluation_and_what_its_code_raises_itself_are_not_the_programs(
    python: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        file = tmp_path / "interrupted.py"
        places = [{"file": str(file), "statement": "return total"}]
        await launched(client, python, file, INTERRUPTED, breakpoints=places, stop_at_entry=False)
        with pytest.raises(ToolFailed, match="failed: KeyboardInterrupt") as failed:
            await client.call("evaluate", expression="given()")
        assert "notes" not in failed.value.details
        with pytest.raises(ToolFailed) as late:
            await client.call("evaluate", expression="slow()", timeout=0.1)
        assert late.value.code == "EVAL_TIMEOUT"
        end = await client.call("debug_continue")
        assert (end["exitCode"], end["stdout"]) == (0, "nothing has come\n")
