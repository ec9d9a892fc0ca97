"""The probe in real programs under debugpy, over the direct line. Whatever a test waits for has a bound."""

import json
import statistics
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.probe import test_inside
from tests.probe.debuggee import BOUND_SECONDS, Debuggee, open_debuggee
from trio_debugmcp.probe.answers import Frames, ProbeStop, ProbeThreads, ProbeVariables, Tasks, decode
from trio_debugmcp.probe.bootstrap import call_expression

INTERPRETERS = {
    version: python for version, python in test_inside.INTERPRETERS.items() if not version.startswith(("3.9.", "3.10."))
}
"""pydevd traces in one way up to 3.11, and in another from 3.12 on; the checks of `test_inside` run on all."""

pytestmark = pytest.mark.real

STEPPING = """\
import threading, time

class Basket:
    def __init__(self):
        self.owner = "ben"
        self.lines = [1, 2]

def visit(basket, apply):
    count = 0
    for number in range(1000):
        count += number
    return count

def doze():
    time.sleep(1000)

threading.Thread(target=doze, name="dozer", daemon=True).start()
time.sleep(0.2)
visit(Basket(), doze)
"""


def written(folder: Path, text: str) -> Path:
    program = folder / "program.py"
    program.write_text(text, encoding="utf-8")
    return program


async def until(ask: Callable[[], Awaitable[Any]], condition: Callable[[Any], bool]) -> Any:
    """Ask until the program is where it should be."""
    with trio.fail_after(BOUND_SECONDS):
        while not condition(answer := await ask()):
            await trio.sleep(0.02)
    return answer


async def spent(debuggee: Debuggee) -> float:
    """The processor time of the program so far: what a busy machine does meanwhile is not in it."""
    return float(await debuggee.evaluate("__import__('time').process_time()"))


async def threads(debuggee: Debuggee) -> ProbeThreads:
    return decode(await debuggee.evaluate(call_expression("threads")), ProbeThreads).answer


async def tasks(debuggee: Debuggee) -> Tasks:
    return decode(await debuggee.evaluate(call_expression("tasks")), Tasks).answer


def waits(answer: ProbeThreads) -> dict[str, str]:
    return {each.name: each.waits.kind for each in answer.threads if each.waits is not None}


@pytest.mark.parametrize("just_my_code", [True, False])
@pytest.mark.parametrize("version", INTERPRETERS)
async def test_a_stop_in_one_question_agrees_with_pydevd(version: str, just_my_code: bool, tmp_path: Path) -> None:
    program = written(tmp_path, STEPPING)
    python = INTERPRETERS[version]
    async with open_debuggee(program, breakpoints=(11,), python=python, just_my_code=just_my_code) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.install()
        stop = decode(await debuggee.evaluate(call_expression("stop", thread=thread)), ProbeStop).answer
        theirs = (await debuggee.request("stackTrace", threadId=thread))["stackFrames"]
        assert [(frame.id, frame.function, frame.line, frame.file) for frame in stop.frames] == [
            (frame["id"], frame["name"], frame["line"], frame["source"]["path"]) for frame in theirs
        ]
        assert [frame.index for frame in stop.frames] == list(range(stop.total))
        assert {each.name: each.value for each in stop.locals} == {
            "basket": "Basket(owner='ben', lines=[1, 2])",
            "apply": "<function doze at program.py:14>",
            "count": "0",
            "number": "0",
        }
        listed = {each["id"]: each["name"] for each in (await debuggee.request("threads"))["threads"]}
        assert {each.id: each.name for each in stop.threads} == listed
        # What they wait for is not of interest at a stop, and takes time to find out.
        assert {each.name: each.state for each in stop.threads} == {"MainThread": "stopped", "dozer": "unknown"}
        asked = decode(await debuggee.evaluate(call_expression("threads")), ProbeThreads).answer
        assert [(each.id, each.at) for each in asked.threads] == [(each.id, each.at) for each in stop.threads]
        dozer = next(each for each in asked.threads if each.name == "dozer")
        assert dozer.waits is not None
        assert dozer.waits.what == "time.sleep(1000)"
        other = decode(await debuggee.evaluate(call_expression("frames", thread=dozer.id)), Frames).answer
        theirs = (await debuggee.request("stackTrace", threadId=dozer.id))["stackFrames"]
        assert [(frame.function, frame.line) for frame in other.frames] == [
            (each["name"], each["line"]) for each in theirs
        ]


async def test_ids_of_frames_are_good_for_dap(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, STEPPING), breakpoints=(11,)) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.install()
        stop = await debuggee.ask("stop", thread=thread)
        frame = stop["frames"][0]["id"]
        body = await debuggee.request("evaluate", expression="basket.owner", frameId=frame, context="watch")
        assert body["result"] == "'ben'"
        assert await debuggee.ask("variables", thread=thread, frame=0, path="basket.lines[1]") == {
            "name": "basket.lines[1]",
            "value": "2",
            "variables": [],
            "total": 0,
        }


async def test_a_stop_takes_a_few_milliseconds_of_a_processor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_debuggee(written(tmp_path, STEPPING), breakpoints=(11,)) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.install()
        before, question = await spent(debuggee), call_expression("stop", thread=thread)
        inside = [decode(await debuggee.evaluate(question), ProbeStop).ms for _ in range(100)]
        each = (await spent(debuggee) - before) * 10
        with capsys.disabled():
            sys.stdout.write(f"\nstop: {statistics.median(inside):.2f} ms inside, {each:.2f} ms of a processor\n")
        assert each < 10


async def test_a_step_shows_what_was_returned(tmp_path: Path) -> None:
    text = "def add(a, b):\n    return a + b\n\ndef main():\n    x = 1\n    y = add(x, 2)\n    return y\n\nmain()\n"
    async with open_debuggee(written(tmp_path, text), breakpoints=(6,)) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.install()
        await debuggee.request("next", threadId=thread)
        await debuggee.event("stopped")
        stop = decode(await debuggee.evaluate(call_expression("stop", thread=thread, first=True)), ProbeStop).answer
        assert [(each.name, each.value) for each in stop.returned] == [("add", "3")]
        assert [(each.name, each.value) for each in stop.locals] == [("x", "1"), ("y", "3")]


async def test_frames_of_an_uncaught_exception_are_those_of_its_traceback(tmp_path: Path) -> None:
    text = "def fail(word):\n    raise ValueError(word)\n\nfail('no')\n"
    async with open_debuggee(written(tmp_path, text), breakpoints=(4,)) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.request("setExceptionBreakpoints", filters=["uncaught"])
        await debuggee.request("continue", threadId=thread)
        assert (await debuggee.event("stopped"))["reason"] == "exception"
        await debuggee.install()
        stop = decode(await debuggee.evaluate(call_expression("stop", thread=thread)), ProbeStop).answer
        theirs = (await debuggee.request("stackTrace", threadId=thread))["stackFrames"]
        assert [(frame.function, frame.line) for frame in stop.frames] == [
            (each["name"], each["line"]) for each in theirs
        ]
        assert [(each.name, each.value) for each in stop.locals] == [("word", "'no'")]


# --- Blocked programs -------------------------------------------------------------------------------------------------

TWO_LOCKS = """\
import threading, time
first, second = threading.Lock(), threading.Lock()
ready = threading.Barrier(2)

def pay(one, other, amount):
    with one:
        ready.wait()
        with other:
            print("paid")

thread = threading.Thread(target=pay, args=(second, first, 5), name="payer")
thread.start()
pay(first, second, 7)
"""

RING = """\
import threading
forks = [threading.Lock() for _ in range(5)]
ready = threading.Barrier(5)

def dine(seat):
    with forks[seat]:
        ready.wait()
        with forks[(seat + 1) % 5]:
            print("ate")

for seat in range(1, 5):
    threading.Thread(target=dine, args=(seat,), name=f"seat {seat}").start()
dine(0)
"""

ASYNCIO = """\
import asyncio

async def borrow(pool):
    return await pool.get()

async def handle(pool):
    connection = await borrow(pool)
    connection.used = True  # and never given back

class Connection:
    pass

async def main():
    pool = asyncio.Queue()
    pool.put_nowait(Connection())
    await asyncio.gather(*(asyncio.create_task(handle(pool), name=f"task-{name}") for name in ("anna", "ben", "cleo")))

asyncio.run(main())
"""

TRIO = """\
import trio

async def child(receive):
    await receive.receive()

async def main():
    send, receive = trio.open_memory_channel(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child, receive, name="receiver")
        nursery.start_soon(trio.sleep_forever, name="sleeper")

trio.run(main)
"""


@pytest.mark.parametrize("version", INTERPRETERS)
async def test_a_deadlock_of_two_locks(version: str, tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, TWO_LOCKS), python=INTERPRETERS[version]) as debuggee:
        await debuggee.install()
        answer = await until(lambda: threads(debuggee), lambda answer: list(waits(answer).values()) == ["lock"] * 2)
        holders = {each.name: each.waits.holder for each in answer.threads}
        assert {name: (holder.name, holder.sure) for name, holder in holders.items()} == {
            "MainThread": ("payer", False),
            "payer": ("MainThread", False),
        }
        assert [each.waits.what for each in answer.threads] == ["other", "other"]
        (circle,) = answer.deadlocks
        assert set(circle.threads) == {each.id for each in answer.threads}
        found = await debuggee.ask("frames", thread=answer.threads[0].id, count=1, locals=True)
        assert {each["name"]: each["value"] for each in found["frames"][0]["locals"]}["amount"] == "7"
        before = await spent(debuggee)
        await threads(debuggee)
        assert await spent(debuggee) - before < 1


async def test_a_deadlock_of_five_threads_in_a_ring(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, RING)) as debuggee:
        await debuggee.install()
        answer = await until(lambda: threads(debuggee), lambda answer: list(waits(answer).values()) == ["lock"] * 5)
        assert {each.waits.what for each in answer.threads} == {"forks[(seat + 1) % 5]"}
        (circle,) = answer.deadlocks
        assert len(circle.threads) == 5


async def test_an_idle_asyncio_program_with_a_leaked_connection(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, ASYNCIO)) as debuggee:
        await debuggee.install()
        await until(lambda: threads(debuggee), lambda answer: waits(answer) == {"MainThread": "asyncio"})
        answer = await until(  # the loop is idle for moments before, too
            lambda: tasks(debuggee),
            lambda answer: [len(each.chain) for each in answer.tasks if "ben" in each.name] == [3],
        )
        assert answer.total == 3  # anna's has ended
        ben = next(each for each in answer.tasks if each.name == "task-ben")
        assert [(each.function.rpartition(".")[2], each.library) for each in ben.chain] == [
            ("handle", False),
            ("borrow", False),
            ("get", True),
        ]
        assert ben.chain[1].line == 4


async def test_an_idle_trio_program(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, TRIO)) as debuggee:
        await debuggee.install()
        await until(lambda: threads(debuggee), lambda answer: waits(answer) == {"MainThread": "trio"})
        answer = await until(  # the run is idle for moments before, too
            lambda: tasks(debuggee),
            lambda answer: (
                [each.chain[0].line for each in answer.tasks if each.name == "receiver"] == [4]
                and [each.waits for each in answer.tasks if each.name == "sleeper"] == ["sleep_forever"]
            ),
        )
        named = {each.name: each for each in answer.tasks}
        assert named["receiver"].parent == named["__main__.main"].id
        assert named["receiver"].chain[0].line == 4
        assert named["sleeper"].waits == "sleep_forever"
        assert answer.notes == ()


@pytest.mark.parametrize(
    ("text", "kind", "what"),
    [
        ("x = [1]\nname = input()\n", "input", "input"),
        ("import time\nx = [1]\ntime.sleep(1000)\n", "sleep", "time.sleep(1000)"),
        ("import threading\nx = [1]\nthreading.Event().wait()\n", "event", None),
        ("import sys\nx = [1]\nsys.stdin.readline()\n", "io", "sys.stdin.readline"),
    ],
)
async def test_a_program_that_waits(text: str, kind: str, what: str | None, tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, text)) as debuggee:
        await debuggee.install()

        def there(answer: ProbeThreads) -> bool:  # not in the start of the program, which reads files, too
            waits = [thread.waits for thread in answer.threads if thread.at is not None and thread.waits is not None]
            return any(wait.kind == kind and (wait.what or "").startswith(what or "") for wait in waits)

        answer = await until(lambda: threads(debuggee), there)
        (thread,) = answer.threads
        assert thread.at is not None
        place = thread.at if not thread.at.library else thread.at.from_
        assert place is not None
        assert (place.file, place.line) == (str(tmp_path / "program.py"), text.count("\n"))
        scope = decode(await debuggee.evaluate(call_expression("variables")), ProbeVariables).answer
        assert ("x", "[1]") in [(each.name, each.value) for each in scope.variables]


# --- Code of the program ----------------------------------------------------------------------------------------------

SLOW = """\
import time

class Endless:
    runs = 0
    def __repr__(self):
        Endless.runs += 1
        while True:
            pass

class Slow:
    runs = 0
    def __repr__(self):
        Slow.runs += 1
        time.sleep(0.7)
        return "slow"

class Bad:
    def __repr__(self):
        raise ZeroDivisionError("no")

def look(endless, slow, bad, number):
    return number

look(Endless(), Slow(), Bad(), 5)
"""


@pytest.mark.parametrize("version", INTERPRETERS)
async def test_reprs_that_never_end_or_raise(version: str, tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, SLOW), breakpoints=(22,), python=INTERPRETERS[version]) as debuggee:
        thread = (await debuggee.event("stopped"))["threadId"]
        await debuggee.install()
        values = ["<repr took over 0.5 s>", "<repr took over 0.5 s>", "<repr raised ZeroDivisionError: no>", "5"]
        before = await spent(debuggee)
        # The first question may use up its time with the first of them, or on a busy machine before.
        await until(
            lambda: debuggee.ask("stop", thread=thread),
            lambda stop: [each["value"] for each in stop["locals"]] == values,
        )
        assert await spent(debuggee) - before < 6
        runs = int((await debuggee.ask("describe", expression="Endless.runs"))["value"])
        await debuggee.ask("stop", thread=thread)
        assert int((await debuggee.ask("describe", expression="Endless.runs"))["value"]) == runs, "it is given up"
        assert (await debuggee.ask("describe", expression="Slow.runs"))["value"] == "1"
        assert not debuggee.events("continued")
        assert len(debuggee.events("stopped")) == 0
        assert not [event for event in debuggee.events("output") if "taking" in event["output"]]


# --- The program is as it was -----------------------------------------------------------------------------------------

WATCHED = """\
import sys, threading, warnings

def report():
    names = sorted(thread.name for thread in threading.enumerate())
    print(names, threading.active_count(), sorted(sys.modules), sys.stdout is sys.__stdout__)
    print("end of report", flush=True)

def warn():
    warnings.warn("once")

for line in iter(sys.stdin.readline, ""):
    warn()
    report()
"""

REPORT = b"end of report\n"


@pytest.mark.parametrize("version", INTERPRETERS)
async def test_threads_modules_and_output_are_the_same_with_and_without_it(version: str, tmp_path: Path) -> None:
    program = written(tmp_path, WATCHED)

    async def run(probed: bool) -> bytes:
        async with open_debuggee(program, python=INTERPRETERS[version]) as debuggee:
            stdin, stdout = debuggee.process.stdin, debuggee.process.stdout
            assert stdin is not None
            assert stdout is not None
            # An evaluation of pydevd's own imports and starts what it needs. The probe adds nothing to that.
            await debuggee.evaluate("1 + 1")
            output = b""
            for number in range(1, 4):
                await stdin.send_all(b"go\n")
                with trio.fail_after(BOUND_SECONDS):
                    while output.count(REPORT) < number:
                        output += await stdout.receive_some(100_000)
                if probed:
                    await debuggee.install()
                    for question in ("stop", "threads", "frames", "variables", "tasks"):
                        await debuggee.ask(question)
                    await debuggee.ask("describe", expression="sys.version")
            await stdin.aclose()
            with trio.fail_after(BOUND_SECONDS):
                while more := await stdout.receive_some(100_000):
                    output += more
            return output

    without, with_it = await run(probed=False), await run(probed=True)
    assert with_it == without
    assert without.count(b"UserWarning: once") == 1


PRINTING = """\
import sys, threading, time

class Streams:
    def __repr__(self):
        asked.set()
        printed.wait(100)
        printed.clear()
        return f"same: {sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__}"

def chat():
    while True:
        asked.wait()
        asked.clear()
        print("chat")
        printed.set()

asked, printed, streams = threading.Event(), threading.Event(), Streams()
input()
threading.Thread(target=chat, daemon=True).start()
time.sleep(1000)
"""


async def test_a_program_that_prints_keeps_its_streams_and_its_output_is_not_taken(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, PRINTING)) as debuggee:
        await debuggee.install()  # meanwhile pydevd takes what it prints
        assert debuggee.process.stdin is not None
        await debuggee.process.stdin.send_all(b"\n")
        await until(lambda: threads(debuggee), lambda answer: len(answer.threads) == 2)
        for _ in range(50):
            described = await debuggee.ask("describe", expression="streams", patience=100)
            assert described["value"] == "same: True"
        assert debuggee.events("output") == []


async def test_it_is_installed_once_and_gone_with_the_program(tmp_path: Path) -> None:
    async with open_debuggee(written(tmp_path, "input()\n")) as debuggee:
        assert await debuggee.evaluate(call_expression("threads")) == ""
        for _ in range(2):
            await debuggee.install()
        reply = json.loads(await debuggee.evaluate(call_expression("threads")))
        assert reply["answer"]["total"] == 1
        assert [each["name"] for each in reply["answer"]["threads"]] == ["MainThread"]
    assert sys.executable
