"""Evaluation in programs that run, wait or are stopped: it harms neither the program nor the debugger."""

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.real.conftest import BY_ENGINE, Connect, text_of
from trio_debugmcp.testing import DebugClient, ToolFailed

LOOP = """\
import os, sys, time

class Basket:
    def __init__(self):
        self.__lines = [1, 2]

jobs = {"a": 1}
basket = Basket()
turns = 0
while not os.path.exists(sys.argv[1]):
    turns += 1
    time.sleep(0.01)
print("heard", input(), jobs)
"""

STOPPED = """\
import io, sys

class Basket:
    def __init__(self):
        self.__lines = [1, 2]

def leave():
    exit(7)

rate = 1

def visit(basket, count=3):
    captured, sys.stdout = sys.stdout, io.StringIO()
    total = count * rate
    sys.stdout = captured
    return total

print(visit(Basket()))
print("heard", input())
"""

RAN = "other threads ran until it had ended: it took so long that it could have waited for one of them"
PASSED = "another thread passed a breakpoint meanwhile: breakpoints do not stop for what is evaluated"

EXITS = ["exit()", "quit(3)", "__import__('sys').exit(4)", "raise SystemExit(5)", "leave()", "x = 1; exit()"]


async def running(client: DebugClient, directory: Path, text: str = LOOP) -> Path:
    program, end = directory / "program.py", directory / "end"
    program.write_text(text)
    await client.call("debug_launch", program=str(program), args=[str(end)], stop_at_entry=False, wait=False)
    while True:
        try:
            await client.call("evaluate", expression="turns")
            return end
        except ToolFailed as failure:  # the program is not there yet
            if failure.code not in {"EVAL_FAILED", "NOT_PAUSED"}:
                raise
            await trio.sleep(0.05)


async def value(client: DebugClient, expression: str, **more: Any) -> dict[str, Any]:
    return await client.call("evaluate", expression=expression, **more)


async def test_expressions_are_evaluated_in_the_main_module_while_the_program_runs(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        end = await running(client, tmp_path)
        assert await value(client, "jobs") == {"value": "{'a': 1}"}
        assert await value(client, "jobs['b'] = 2; print('put'); len(jobs)") == {"value": "2", "printed": "put\n"}
        assert await value(client, "None") == {"value": "None"}
        assert await value(client, "added = 7") == {"executed": True}
        assert await value(client, "  added + 1\n") == {"value": "8"}
        assert await value(client, "basket.__lines") == {"value": "[1, 2]"}
        assert await value(client, "basket") == {"value": "Basket(_Basket__lines=[1, 2])"}
        assert await value(client, "import decimal; decimal.Decimal(3)") == {"value": "Decimal('3')"}
        assert await value(client, "NotImplemented") == {"value": "NotImplemented"}
        assert await value(client, "import asyncio; await asyncio.sleep(0.01, 'slept')") == {"value": "'slept'"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(value, client, "__import__('time').sleep(0.3)")
            assert await value(client, "'meanwhile'") == {"value": "'meanwhile'"}
        with pytest.raises(ToolFailed, match=r"`1 \+` failed: SyntaxError: ") as failed:
            await client.call("evaluate", expression="1 +")
        assert len(str(failed.value.details)) < 500
        with pytest.raises(ToolFailed, match="`1/0` failed: ZeroDivisionError: ") as failed:
            await client.call("evaluate", expression="1/0")
        assert failed.value.details == {}, "the message has it all"
        with pytest.raises(ToolFailed, match="failed: TypeError: ") as failed:
            await client.call("evaluate", expression="import json; json.dumps(jobs.get)")
        trace = failed.value.details["trace"]
        assert ("in dumps" in trace, "trio_debugmcp" in trace) == (True, False)
        assert failed.value.message.rpartition("failed: ")[2] not in trace
        for more in ({"frame_index": 1}, {"thread_id": 1}):
            with pytest.raises(ToolFailed, match="no frame to evaluate in") as failed:
                await client.call("evaluate", expression="jobs", **more)
            assert failed.value.code == "NOT_PAUSED"
        await client.call("evaluate", expression="class LateError(Exception): pass")
        for kind, known in (("LateError", True), ("__main__.LateError", True), ("LateErorr", False)):
            found = await client.call("breakpoint_set_exception", exception_type=kind)
            assert ("state" in found, "message" in found) == (not known, not known)
        end.touch()
        await client.call("process_write_input", data="Ada\n")
        assert (await client.call("debug_wait"))["exitCode"] == 0
        assert text_of(await client.call("process_read_output")) == "put\nheard Ada {'a': 1, 'b': 2}\n"


async def test_what_wants_to_end_a_running_program_does_not(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        end = await running(client, tmp_path)
        await client.call("evaluate", expression="def leave(): exit(7)")
        for each in EXITS:
            with pytest.raises(ToolFailed, match="by which a program ends") as failed:
                await client.call("evaluate", expression=each)
            assert failed.value.code == "EVAL_FAILED"
        end.touch()
        await client.call("process_write_input", data="Ada\n")
        assert (await client.call("debug_wait"))["exitCode"] == 0
        with pytest.raises(ToolFailed):
            await client.call("evaluate", expression="1")


async def test_what_wants_to_end_a_stopped_program_does_not(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        program = tmp_path / "program.py"
        program.write_text(STOPPED)
        await client.call("breakpoint_set", file=str(program), line=14)
        await client.call("debug_launch", program=str(program), stop_at_entry=False)
        for each in EXITS:
            with pytest.raises(ToolFailed, match="by which a program ends") as failed:
                await client.call("evaluate", expression=each)
            assert failed.value.code == "EVAL_FAILED"
        assert await value(client, "breakpoint()") == {"value": "None"}
        assert (await client.call("debug_state"))["at"].endswith("program.py:14 in visit")  # it was not moved
        # A global that is set in a function's frame is the module's, not a local that the program never reads.
        assert await value(client, "count = 8; rate += 1; rate") == {"value": "2"}
        assert await value(client, "globals()['rate']") == {"value": "2"}
        assert "rate" not in (await client.call("variables_get"))["variables"]
        await client.call("debug_continue", wait=False)
        await client.call("process_write_input", data="Ada\n")
        assert (await client.call("debug_wait"))["exitCode"] == 0
        assert text_of(await client.call("process_read_output")) == "16\nheard Ada\n"


async def test_what_is_evaluated_in_a_frame(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        program = tmp_path / "program.py"
        program.write_text(STOPPED)
        await client.call("breakpoint_set", file=str(program), line=14)
        await client.call("debug_launch", program=str(program), stop_at_entry=False)
        # The program has put its standard output elsewhere.
        assert await value(client, "print('captured')") == {"value": "None", "printed": "captured\n"}
        assert await value(client, "(later := count + 1)") == {"value": "4"}
        assert await value(client, "later") == {"value": "4"}
        assert await value(client, "[count for _ in range(2)]") == {"value": "[3, 3]"}
        assert await value(client, "basket.__lines") == {"value": "[1, 2]"}
        shown = (await client.call("variables_get"))["variables"]["basket"]
        assert shown == "Basket(_Basket__lines=[1, 2])"
        assert await value(client, "basket") == {"value": shown}
        assert await value(client, "[basket, 1]") == {"value": f"[{shown}, 1]"}
        assert await value(client, "import asyncio\nawait asyncio.sleep(0.01, count)") == {"value": "3"}
        assert (await client.call("evaluate", expression="visit", frame_index=1))["value"].startswith("<function visit")
        with pytest.raises(ToolFailed, match=r"`1 \+` failed: SyntaxError: ") as failed:
            await client.call("evaluate", expression="1 +")
        assert len(str(failed.value.details)) < 500
        with pytest.raises(ToolFailed, match="failed: ZeroDivisionError: ") as failed:
            await client.call("evaluate", expression="print('before'); 1/0")
        assert failed.value.details == {"printed": "before\n"}
        inside = await client.call("variables_get")
        assert "exit" not in inside["variables"]
        stop = await client.call("debug_step", show=["basket", "count + 1", "nobody"])
        assert stop["show"] == {
            "basket": shown,
            "count + 1": "4",
            "nobody": "<`nobody` failed: NameError: name 'nobody' is not defined>",
        }


ENDLESS = {
    "while True: pass": "was interrupted, and the program runs as before",
    "while True:\n  try: turns = 0\n  except KeyboardInterrupt: break\nwhile True: pass": "was interrupted",
    "import asyncio; await asyncio.sleep(1000)": "was interrupted",
    "__import__('time').sleep(1000)": "It waits in C code",
}


async def test_an_evaluation_that_does_not_end_harms_no_running_program(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        end = await running(client, tmp_path)
        for endless, fate in ENDLESS.items():
            with pytest.raises(ToolFailed, match=fate) as failed:
                await client.call("evaluate", expression=endless, timeout=0.2)
            assert (failed.value.code, failed.value.details) == ("EVAL_TIMEOUT", {})
            assert failed.value.message.startswith(f"`{endless}` did not finish within 0.2 s")
            turns = await value(client, "turns")
            while await value(client, "turns") == turns:
                await trio.sleep(0.01)
        assert len((await client.call("threads_list"))["threads"]) == 1
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        await client.call("debug_continue", wait=False)
        end.touch()
        await client.call("process_write_input", data="Ada\n")
        assert (await client.call("debug_wait"))["exitCode"] == 0


async def test_an_evaluation_that_was_cancelled_holds_up_no_other(debugging: Connect, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import time\nn = 1\nprint(n)\n")
    async with debugging() as client:
        await client.call("debug_launch", program=str(program), breakpoints=["program.py:3"])
        with trio.move_on_after(1):
            await client.call("evaluate", expression="time.sleep(50)", timeout=60)
        # It is interrupted, or another thread evaluates meanwhile.
        assert (await client.call("evaluate", expression="n"))["value"] == "1"


POOL = """\
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

pool = ThreadPoolExecutor(1)
lock = threading.Lock()
done = 0
asked, told = queue.Queue(), queue.Queue()

def answer():
    while True:
        told.put(2 * asked.get())

def count():
    global done
    with lock:
        time.sleep(0.3)
    while True:
        done += 1

def marked():
    seen = "marked"
    return seen

def call(number):
    asked.put(number)
    return told.get()

def others_run(before):
    while done == before:
        time.sleep(0.01)
    return True

pool.submit(int).result()
for each in (answer, count):
    threading.Thread(target=each, daemon=True).start()
while not lock.locked():
    time.sleep(0.01)
print("here")
print(pool.submit(marked).result())
"""


async def test_an_evaluation_may_wait_for_other_threads_which_run_only_as_long_as_it_lasts(
    debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "pool.py"
    program.write_text(POOL)
    places = [{"file": str(program), "statement": text} for text in ('print("here")', "return seen")]
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(program), breakpoints=places)

        async def shown(expression: str) -> str:
            return str((await value(client, expression))["value"])

        assert await shown("pool.submit(pow, 2, 5).result()") == "32"
        assert await shown("call(21)") == "42"
        waited = await value(client, "lock.acquire()")
        assert waited["value"] == "True"
        assert waited.get("notes", []) in ([], [RAN])
        await shown("lock.release()")
        count = await shown("done")
        said: list[str] = []
        while not said or await shown("done") == count:  # they run as long as it takes, once the look at that has come
            said += (await value(client, "time.sleep(0.3)")).get("notes", [])
        assert set(said) == {RAN}
        count = await shown("done")
        await trio.sleep(0.3)
        assert await shown("done") == count, "they are held again"
        waits = "pool.submit(marked) and others_run(done)" if BY_ENGINE else "pool.submit(marked).result()"
        said = (await value(client, waits))["notes"]
        assert said == ([RAN] if BY_ENGINE else [RAN, PASSED])  # with the engine its thread is held at the breakpoint
        with pytest.raises(ToolFailed, match=r"It was interrupted, and the program is where it was"):
            await value(client, "threading.Event().wait()", timeout=0.3)
        state = await client.call("debug_state")
        assert (state["state"], state["at"]) == ("Paused", stop["at"]), "the stop is what it was"
        for _ in ("for the evaluation", "for the program") if BY_ENGINE else ("for the program",):
            stop = await client.call("debug_continue")
            assert (stop["reason"], stop["locals"]) == ("Breakpoint", {"seen": "'marked'"})
        # A thread that begins in an evaluation comes to the breakpoint before the others run, and no signal wakes this.
        made = "ThreadPoolExecutor(1).submit(marked).result()"
        if BY_ENGINE:
            with pytest.raises(ToolFailed, match=r"did not finish within 0\.5 s"):
                await value(client, made, timeout=0.5)
        else:
            answer = await value(client, made)
            assert (answer["value"], answer["notes"][-1:]) == ("'marked'", [PASSED])
        assert held_at(await client.call("debug_state")) == held_at(stop)
        await shown("threading.Thread(target=lambda: input() and marked()).start()")
        await client.call("process_write_input", data="on\n")
        assert held_at(await client.call("debug_state")) == held_at(stop)
        after = await client.call("debug_continue")
        assert (after["reason"], after["locals"]) == ("Breakpoint", {"seen": "'marked'"})
        assert after["thread"] != stop["thread"], "what came to a breakpoint stops as soon as the program is moved"


def held_at(stop: dict[str, Any]) -> list[Any]:
    return [stop[key] for key in ("state", "at", "thread", "locals")]
