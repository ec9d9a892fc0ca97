"""Answers about values and output that say what is: with real debugpy."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.real.conftest import BY_ENGINE, Connect, hits, text_of, where
from trio_debugmcp.server.answers.values import rendered
from trio_debugmcp.testing import DebugClient, ToolFailed

VALUES = """\
import types
dd = {(1, 2): [10], frozenset({3}): 2, -1: {'a': None}}
st = {'only'}
ns = types.SimpleNamespace(**{'class': 1, 'fine': [1, 2]})
print('end')
"""


async def stopped(client: DebugClient, directory: Path, text: str, line: int) -> dict[str, Any]:
    app = directory / "app.py"
    app.write_text(text)
    await client.call("breakpoint_set", file=str(app), line=line)
    return await client.call("debug_launch", program=str(app), stop_at_entry=False)


async def locals_of_the_stop(client: DebugClient) -> list[dict[str, Any]]:
    """The locals of the top frame as the resource has them."""
    found: list[dict[str, Any]] = (await client.read("debugger://stack"))["locals"]
    return found


async def test_none_differs_from_no_value_and_the_last_of_several_statements_has_one(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, VALUES, 5)

        async def value(expression: str) -> dict[str, Any]:
            return await client.call("evaluate", expression=expression)

        assert await value("None") == await value("{}.get(1)") == {"value": "None"}
        assert await value("''") == {"value": "''"}
        assert await value("x = 3") == {"executed": True}
        assert await value("y = 4; z = 'é'\ny + \\\n  len(z)") == {"value": "5"}
        assert await value("for i in range(2): print(i)") == {"executed": True, "printed": "0\n1\n"}
        assert await value("print('once')") == {"value": "None", "printed": "once\n"}
        assert text_of(await client.call("process_read_output")) == "0\n1\nonce\n"


async def test_every_path_in_an_answer_leads_back(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, VALUES, 5)
        seen = 0
        for name in ("dd", "st", "ns", "ns.fine"):
            for inner, shown in (await client.call("variables_get", path=name))["variables"].items():
                seen += 1
                joined = name + (inner if inner.startswith("[") else f".{inner}")
                path = inner if name in inner else joined
                back = await client.call("evaluate", expression=path)
                assert shown.endswith(rendered(back["value"], back.get("type")))
                await client.call("variables_get", path=path)
        assert seen == 8
        assert (await client.call("variables_get", path="st"))["variables"] == {"[*st][0]": "'only'"}
        deep = (await client.call("variables_get", depth=3))["variables"]
        for path, shown in deep.items():
            if path[:2] in {"dd", "ns"} and path not in {"dd", "ns"}:
                back = await client.call("evaluate", expression=path)
                assert shown.endswith(rendered(back["value"], back.get("type")))
        assert {"dd[(1, 2)]", "dd[(1, 2)][0]", "[*st][0]", "ns.fine[1]"} <= set(deep)


async def test_collections_have_as_many_children_as_items(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, "lst = [1, 2]\ndd = {1: [1, 2, 3]}\nempty = ()\nprint('end')\n", 4)
        for depth in (1, 2):
            variables = (await client.call("variables_get", depth=depth))["variables"]
            assert sum(name.startswith("lst[") for name in variables) == (2 if depth == 2 else 0)
        counts = {each["name"]: each["childCount"] for each in (await locals_of_the_stop(client))}
        assert (counts["lst"], counts["dd"], counts["empty"]) == (2, 1, 0)


async def test_an_evaluation_that_does_not_end_is_interrupted(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, VALUES, 4)
        with pytest.raises(ToolFailed, match="was interrupted") as failed:
            await client.call("evaluate", expression="while True: pass", timeout=0.5)
        assert failed.value.code == "EVAL_TIMEOUT"
        assert (await client.call("evaluate", expression="1 + 1"))["value"] == "2"
        assert (await client.call("variables_get"))["variables"]
        assert (await client.call("debug_step"))["reason"] == "Step"


async def test_what_blocks_the_thread_is_named(debugging: Connect, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    blocks = f"open('{pipe}').close()"
    async with debugging("legacy", "--patience", "3") as client:  # four interrupts are not answered
        await stopped(client, tmp_path, VALUES, 5)
        if not BY_ENGINE:  # it cannot be woken: the program has a use for the signal
            await client.call(
                "evaluate", expression="(signal := __import__('signal')).signal(signal.SIGURG, lambda *_: None)"
            )
        with pytest.raises(ToolFailed, match="It was interrupted" if BY_ENGINE else "may still be running"):
            await client.call("evaluate", expression=blocks, timeout=0.2)
        if BY_ENGINE:
            assert (await client.call("evaluate", expression="1+1"))["value"] == "2"
            assert (await client.call("debug_step"))["reason"] == "Exited"
            return
        with pytest.raises(ToolFailed, match=f"cannot move: it is still evaluating `{re.escape(blocks)}`"):
            await client.call("debug_step")
        assert (await client.call("debug_state"))["state"] == "Paused"
        with pytest.raises(ToolFailed, match=rf"`1\+1` waited .* for `{re.escape(blocks)}`"):
            await client.call("evaluate", expression="1+1", timeout=0.2)
        with pytest.raises(
            ToolFailed, match=r"is still running\. .*debug_restart.* ends it\. This one was taken back, and will"
        ):
            await client.call("evaluate", expression="setattr(__import__('builtins'), 'late', 1)", timeout=0.2)
        pipe.write_bytes(b"")
        assert (await client.call("evaluate", expression="2+2"))["value"] == "4"
        assert (await client.call("evaluate", expression="hasattr(__import__('builtins'), 'late')"))["value"] == "False"


async def test_what_waits_for_input_at_a_stop_is_interrupted(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, VALUES, 5)
        with pytest.raises(ToolFailed, match=r"it waits for input\('\?'\)\. It was interrupted"):
            await client.call("evaluate", expression="input('?')", timeout=0.2)
        assert (await client.call("debug_continue"))["state"] == "Disconnected"


async def test_what_is_left_out_of_an_evaluated_value_is_counted(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, VALUES, 5)
        for expression, limit, end in [
            ("list(range(100000))", 200, "… (+99948 items)]"),
            ("list(range(100000))", 2000, "… (+99578 items)]"),
            ("'x' * 1000000", 200, "x'… (+999800 characters)"),
            ("'x' * 70000", 100000, "xxx'"),
            ("bytes(range(250)) * 4", 200, "… (+845 bytes)"),
            ("b'x' * 1000", 200, "b'x' * 1000"),
            ("[1, 2]", 200, "[1, 2]"),
            (
                "[{'a': [1, 2, {'b': (3, 4)}]}, ((1, 2), (3, 4))]",
                200,
                "[{'a': [1, 2, {'b': (3, 4)}]}, ((1, 2), (3, 4))]",
            ),
        ]:
            found = await client.call("evaluate", expression=expression, max_value_length=limit)
            assert found["value"].endswith(end)


async def test_an_evaluation_that_is_interrupted_for_another_says_so(debugging: Connect, tmp_path: Path) -> None:
    async with debugging() as client, trio.open_nursery() as nursery:
        await stopped(client, tmp_path, VALUES, 5)
        began = tmp_path / "began"

        async def hold_up() -> None:
            with pytest.raises(ToolFailed, match="was interrupted: another evaluation waited for it") as failed:
                endless = f"open({str(began)!r}, 'w').close()\nwhile True: pass"
                await client.call("evaluate", expression=endless)
            assert failed.value.code == "EVAL_TIMEOUT"

        nursery.start_soon(hold_up)
        while not began.exists():  # noqa: ASYNC110 (a file)
            await trio.sleep(0.02)
        with pytest.raises(ToolFailed, match=r"did not finish within 0\.2 s"):
            await client.call("evaluate", expression="1", timeout=0.2)


@pytest.mark.parametrize(
    "turn",
    ["print('turn', flush=True)", "subprocess.run([sys.executable, '-c', 'print(\"turn\")'])"],
    ids=["itself", "child"],
)
async def test_a_program_that_was_attached_to_has_output(debugging: Connect, tmp_path: Path, turn: str) -> None:
    app = tmp_path / "app.py"
    app.write_text(f"import subprocess, sys, time\nwhile True:\n    {turn}\n    time.sleep(0.05)\n")
    with subprocess.Popen([sys.executable, str(app)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()  # it has begun; what follows fits into the pipe
            async with debugging() as client:
                await client.call("debug_attach", pid=process.pid)
                while "turn" not in text_of(await client.call("process_read_output", stream="stdout"), "stdout"):
                    await trio.sleep(0.1)
        finally:
            process.kill()


async def test_the_module_of_an_init_file_is_the_package(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("x = 1\n")
    async with debugging() as client:
        await client.call("breakpoint_set", file=str(tmp_path / "pkg" / "__init__.py"), line=1)
        await stopped(client, tmp_path, "import pkg\n", 1)
        await client.call("debug_continue")
        assert (await client.read("debugger://session"))["currentLocation"]["moduleName"] == "pkg"


async def test_an_edited_file_is_noticed_and_the_text_that_runs_is_shown(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("def f():\n    return 1\n")
    async with debugging() as client:
        stop = await stopped(client, tmp_path, "a = 1\nb = 2\nimport late\nlate.f()\n", 1)
        assert "notes" not in stop
        (tmp_path / "app.py").write_text("# new\na = 1\nb = 2\nimport late\nlate.f()\n")
        stop = await client.call("debug_step")
        assert stop["source"].splitlines()[1] == "2> b = 2"
        assert any("app.py was edited after the program started" in note for note in stop["notes"])
        (tmp_path / "late.py").write_text("def f():\n    # new\n    return 1\n")
        stop = await client.call("debug_run_to", file=str(tmp_path / "late.py"), line=3)
        assert any("late.py was edited" in note and "may not be" in note for note in stop["notes"])
        stop = await client.call("debug_restart")
        assert (where(stop).line, stop["source"].splitlines()[1]) == (2, "2> a = 1"), "the breakpoint is on its line"
        assert not any("was edited" in note for note in stop.get("notes", []))


async def test_a_program_that_dies_of_a_signal_names_it(debugging: Connect, tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    async with debugging() as client:
        stop = await client.call("debug_launch", program=str(app), stop_at_entry=False)
        assert (stop["exitCode"], stop["signal"]) == (-11, "SIGSEGV")
        assert (await client.call("debug_state"))["signal"] == "SIGSEGV"


STOPPED = """\
import threading, time
runs = []
ticks = 0
class Slow:
    def __repr__(self):
        runs.append(1)
        time.sleep(6)
        return "slow"
class Basket:
    def __init__(self):
        self.owner = "ben"
    @property
    def total(self):
        runs.append(1)
        return 5
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.01)
def add(one, other):
    return one + other
def work(fn, cls):
    big = list(range(1_000_000)); basket = Basket()
    slow = Slow()
    result = fn(1, 2)
    return result
threading.Thread(target=tick, daemon=True, name="ticker").start()
def wait():
    secret = 42; ready.set()
    threading.Event().wait()
ready = threading.Event(); threading.Thread(target=wait, daemon=True, name="waiter").start(); ready.wait()
work(add, Basket)
"""


async def test_a_stop_is_one_stop_whatever_a_repr_does_and_has_functions_and_results(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        stop = await stopped(client, tmp_path, STOPPED, 26)
        values = stop["locals"]
        assert values["slow"] == "<repr took over 5 s> (Slow)"
        assert (values["fn"], values["cls"]) == ("<function add at app.py:21>", "<class '__main__.Basket'>")
        assert values["basket"] == "Basket(owner='ben')"
        counts = {each["name"]: each["childCount"] for each in await locals_of_the_stop(client)}
        assert (counts["basket"], counts["big"]) == (2, 1_000_000)
        ticks = (await client.call("evaluate", expression="ticks"))["value"]
        await trio.sleep(7)  # longer than the `__repr__` takes, and than pydevd waits before it resumes other threads
        assert int((await client.call("evaluate", expression="ticks"))["value"]) - int(ticks) < 100
        stop = await client.call("debug_step")
        assert (stop["reason"], where(stop).line) == ("Step", 27)
        assert stop["returned"] == {"add": "3"}
        assert (await client.call("evaluate", expression="len(runs)"))["value"] == "1"
        assert await hits(client) == {"bp-1": 1}


async def test_variables_have_true_totals_and_those_of_waiting_threads_are_there(
    debugging: Connect, tmp_path: Path
) -> None:
    async with debugging() as client:
        await stopped(client, tmp_path, STOPPED, 25)
        page = await client.call("variables_get", path="big", start=999_990, count=100)
        assert (page["total"], len(page["variables"])) == (1_000_000, 10)
        assert list(page["variables"])[-1] == "[999999]"
        found = await client.call("variables_get", filter="cls")
        assert found == {"variables": {"cls": "<class '__main__.Basket'>"}}
        (waiter,) = [each for each in (await client.call("threads_list"))["threads"] if " waiter " in each]
        waiting = await client.call("variables_get", thread_id=int(waiter.split()[0]))
        assert waiting["variables"] == {"secret": "42"}


CLEANED = """\
rows = []


def load():
    try:
        rows.append(1)
        raise LookupError("no room")
    finally:
        rows.clear()


load()
"""


async def test_a_stop_behind_a_cleanup_says_that_values_may_be_later_ones(debugging: Connect, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text(CLEANED)
    async with debugging() as client:
        stop = await client.call("debug_launch", program=f"{tmp_path}/clean.py", stop_at_entry=False, show=["rows"])
        later = [note for note in stop.get("notes", []) if "values may be those of after" in note]
        assert (stop["show"]["rows"], len(later)) == (("[1]", 0) if BY_ENGINE else ("[]", 1))
        assert all("clean.py:9" in note for note in later)


YIELDS = """\
def numbers():
    for n in range(2):
        yield n + 5

def work():
    for number in numbers():
        print(number)

work()
"""


async def test_a_step_out_of_a_generator_ends_at_its_caller_with_the_value_that_it_yields(
    debugging: Connect, tmp_path: Path
) -> None:
    program = tmp_path / "yields.py"
    program.write_text(YIELDS)
    async with debugging() as client:
        places = [{"file": str(program), "line": 3}]
        await client.call("debug_launch", program=str(program), stop_at_entry=False, breakpoints=places)
        stop = await client.call("debug_step", mode="out")
        assert (where(stop).function, stop["yielded"], stop.get("returned")) == ("work", {"numbers": "5"}, None)
        assert (await client.call("debug_continue"))["at"] == f"{program}:3 in numbers"
        assert (await client.call("debug_step", mode="out"))["locals"] == {"number": "5"}
