"""`trace_function` with real debugpy: the whole life of a call, and nothing of it left in the program."""

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.pythons import Interpreter
from tests.real.conftest import Connect
from tests.real.interpreters import chosen
from trio_debugmcp.testing import DebugClient, ToolFailed

PROGRAM = """\
import asyncio
import threading
import time


def price(kind, rate=2):
    if kind == "lost":
        raise KeyError(kind)
    return len(kind) * rate


def total(kinds):
    paid = 0
    for kind in kinds:
        try:
            paid += price(kind)
        except KeyError as error:
            lost = str(error)
    return paid


async def ask(kind):
    await asyncio.sleep(0.02)
    return price(kind)


async def visit(kind):
    asked = await ask(kind)
    return asked + 1


def long(most):
    found = 0
    for each in range(most):
        found += each
    return found


def work():
    total(["tea", "lost"])
    asyncio.run(visit("tea"))
    total(["cake"])
    total(["a", "b"])
    long(5000)
    thread = threading.Thread(target=total, args=(["milk"],), name="other")
    thread.start()
    thread.join()


def main():
    work()
    while True:
        total(["tea"])
        time.sleep(0.01)


main()
"""

TOOLS = "[__import__('sys').monitoring.get_tool(each) for each in range(6)]"

DOCS = Path(__file__).parents[2] / "docs" / "tracing.md"

FIRST = 'total(["tea", "lost"])'


def write(directory: Path, text: str = PROGRAM) -> str:
    file = directory / "shop.py"
    file.write_text(text)
    return str(file)


def line_of(text: str) -> int:
    (number,) = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.strip() == text]
    return number


async def nothing_left(client: DebugClient) -> None:
    """In the thread that is stopped pydevd's trace function is in force, or the debugger's tool alone."""
    found = (await client.call("evaluate", expression="__import__('sys').gettrace()"))["value"]
    assert "tracing" not in found
    if found == "None":
        found = (await client.call("evaluate", expression=TOOLS))["value"]
        by_engine, by_pydevd = [None, None, None, "trio_debugmcp"], ["pydevd", None, None, None]
        assert found in (repr([*by_engine, None, None]), repr([*by_pydevd, None, None]))


def documented(lines: list[str]) -> None:
    """The examples of docs/tracing.md are of this program."""
    page = [line.removeprefix("lines").strip() for line in DOCS.read_text().splitlines()]
    assert [line for line in lines if line not in page] == []


async def traced(client: DebugClient, **arguments: Any) -> Any:
    return await client.call("trace_function", **arguments)


@pytest.mark.parametrize("interpreter", chosen(), ids=lambda each: each.label)
async def test_a_paused_program_stops_where_the_call_has_returned_to(
    interpreter: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=True, adapter_options={"python": interpreter.path})
        found = await traced(client, function="total")
        (call,) = found["calls"]
        assert found["function"] == f"total {app}:12"
        assert call == {
            "caller": f"{app}:{line_of(FIRST)} in work",
            "arguments": "kinds=['tea', 'lost']",
            "lines": [
                "13 paid = 0  # paid=0",
                "14 for kind in kinds:  # kind='tea'",
                "15 try:",
                "16 paid += price(kind)  # price(kind='tea', rate=2) -> 6; paid=6",
                "14  # kind='lost'",
                "15",
                "16  # price(kind='lost', rate=2) raises KeyError: lost",
                "17 except KeyError as error:  # error=KeyError('lost')",
                "18 lost = str(error)  # lost=\"'lost'\"",
                "14  # done",
                "19 return paid",
            ],
            "returned": "6",
        }
        stop = found["stop"]
        assert (stop["state"], stop["reason"], stop["at"]) == ("Paused", "Step", call["caller"])
        assert "notes" not in found
        await nothing_left(client)

        documented(call["lines"])

        (call,) = (found := await traced(client, function="visit"))["calls"]
        assert call["lines"][0].startswith("28 asked = await ask(kind)  # ask(kind='tea') -> 6; awaited 0.0")
        documented(call["lines"][1:])
        assert call["returned"] == "7"
        assert found["stop"]["at"] == f"{app}:29 in visit"  # asyncio called it
        assert found["stop"]["locals"]["asked"] == "6"
        await nothing_left(client)

        await client.call("breakpoint_set", file=app, line=line_of("found = 0"))
        made = await client.call("breakpoint_set", file=app, line=line_of('if kind == "lost":'))
        (call,) = (found := await traced(client, function="shop.total"))["calls"]
        assert call["lines"][-1] == "16 paid += price(kind)  # price(kind='cake', rate=2) …"
        assert found["notes"] == ["1 call had not ended when the program stopped; the lines up to there are shown"]
        assert found["stop"]["breakpoints"] == [made["id"]]
        await client.call("breakpoint_remove", id=made["id"])
        assert (await client.call("debug_step", mode="out"))["at"].endswith(":16 in total")
        await nothing_left(client)

        await client.call("debug_continue")  # to the first line of `long`
        (call,) = (found := await traced(client, file=app, line=line_of("found += each"), max_lines=20))["calls"]
        assert call["arguments"] == "most=5000"
        assert call["lines"][5:9] == [
            "… 4997 more times 34-35",
            "34  # each=4999",
            "35  # found=12497500",
            "34  # done",
        ]
        assert (call["returned"], call["ran"]) == ("12497500", 10003)
        documented(call["lines"])
        assert found["stop"]["at"].endswith(" in work")

        found = await traced(client, function="total")
        assert [each["returned"] for each in found["calls"]] == ["8"]
        assert found["stop"]["thread"].endswith("other")
        assert found["stop"]["at"] == f"{app}:19 in total"
        await nothing_left(client)


async def test_a_running_program_keeps_running(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path)
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=False, wait=False)
        found = await traced(client, function="total", calls=3)
        assert len(found["calls"]) == 3
        assert found["stop"]["state"] == "Running"
        assert "timedOut" not in found["stop"]
        found = await traced(client, function="work", timeout=0.3)
        assert found["calls"] == []
        assert found["notes"] == ["work was not called within 0.3 s"]
        assert found["stop"]["timedOut"]

        with pytest.raises(ToolFailed, match=r"No function 'nope' was found in the files of the modules"):
            await traced(client, function="nope")
        with pytest.raises(ToolFailed, match="There is no function around"):
            await traced(client, file=app, line=1)

        # Cancelled at any moment: what is there stays, and a breakpoint of the user's is where it was.
        mine = await client.call("breakpoint_set", file=app, line=13, condition="len(kinds) > 5")
        for seconds in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1):
            with trio.move_on_after(seconds):
                await client.call("trace_function", function="total", calls=20)
        listed = (await client.call("breakpoint_list"))["breakpoints"]
        assert [each.split()[0] for each in listed] == [mine["id"]]
        await client.call("debug_pause")
        await client.call("debug_run_to", file=app, line=line_of("time.sleep(0.01)"))
        await nothing_left(client)
        await client.call("debug_step")


COMPREHENSION = """\
def doubled(numbers):
    return [2 * number for number in numbers]


print(doubled([1, 2]))
"""


async def test_a_function_whose_first_line_has_a_comprehension_and_a_breakpoint_of_the_user(
    debugging: Connect, tmp_path: Path
) -> None:
    app = write(tmp_path, COMPREHENSION)
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=True)
        await client.call("breakpoint_set", file=app, line=2, condition="len(numbers) > 5")
        found = await traced(client, function="doubled")
        assert [each["returned"] for each in found["calls"]] == ["[2, 4]"], found
        assert found["stop"]["at"] == f"{app}:5 in <module>"


async def test_two_hundred_lines_take_less_than_two_seconds_of_a_processor(debugging: Connect, tmp_path: Path) -> None:
    lines = [f"    v{number} = [{number}] * {number}" for number in range(200)]
    app = write(tmp_path, "\n".join(["def wide():", *lines, "", "print('begin')", "wide()", "print('end')"]))
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=True)

        async def spent() -> float:
            return float((await client.call("evaluate", expression="__import__('time').process_time()"))["value"])

        before = await spent()
        found = await traced(client, function="wide", max_bytes=100_000)
        assert await spent() - before < 2
        assert len(found["calls"][0]["lines"]) == 200
        assert "ran" not in found["calls"][0]


ENDING = """\
import sys


def last(code):
    left = code * 2
    sys.exit(left)


def first():
    print("first")
    return 1


first()
last(2)
"""


async def test_what_was_traced_outlives_the_program(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, ENDING)
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=True)
        found = await client.call("trace_function", function="first", calls=2)
        assert [each["returned"] for each in found["calls"]] == ["1"], found
        assert found["notes"] == ["1 of 2 calls began"]
        assert (found["stop"]["state"], found["stop"]["exitCode"]) == ("Disconnected", 4)
        await client.call("debug_restart")


async def test_a_function_that_is_never_called_again_is_said_to_be_so(debugging: Connect, tmp_path: Path) -> None:
    app = write(tmp_path, "def once():\n    return 1\nonce()\nprint('over')\n")
    async with debugging() as client:
        await client.call("debug_launch", program=app, breakpoints=["shop.py:4"])
        found = await client.call("trace_function", function="once")
        assert found["calls"] == []
        assert found["notes"][0].startswith("no call of once began before the program ended"), found
        assert (found["stop"]["state"], found["stop"]["exitCode"]) == ("Disconnected", 0)


async def test_functions_of_modules_that_no_stop_has_shown_are_found_by_name(
    debugging: Connect, tmp_path: Path
) -> None:
    package = tmp_path / "lib" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "sub.py").write_text(
        "def _inner(a):\n    return a + 1\n\n\ndef outer(a):\n    return _inner(a) * 2\n\n\n"
        "class Till:\n    def take(self, a):\n        return outer(a) + one(a)\n\n\ndef one(a): return a\n"
    )
    (tmp_path / "use.py").write_text(
        "import sys\nsys.path.insert(0, 'lib')\nfrom pkg import sub\n"
        "def main():\n    for n in range(9):\n        print(sub.Till().take(n))\nmain()\n"
    )
    async with debugging() as client:
        await client.call("debug_launch", program=str(tmp_path / "use.py"), cwd=str(tmp_path), breakpoints=["use.py:7"])
        for name in ("_inner", "sub.outer", "pkg.sub._inner", "Till.take", "take", "one", "pkg.sub.one"):
            traced = await client.call("trace_function", function=name)
            assert traced["function"].split()[0].split(".")[-1] == name.split(".")[-1], traced
            assert len(traced["calls"]) == 1, name
        with pytest.raises(ToolFailed, match=r"'missing'.* was found in the files of the modules that the program has"):
            await client.call("trace_function", function="missing")


@pytest.mark.parametrize("interpreter", chosen(), ids=lambda each: each.label)
async def test_a_stop_at_an_exception_that_ends_the_program_is_not_given_up_for_calls_that_do_not_come(
    interpreter: Interpreter, debugging: Connect, tmp_path: Path
) -> None:
    file = tmp_path / "ends.py"
    file.write_text("def price(kind):\n    return int(kind)\n\n\nprice('tea')\n")
    async with debugging() as client:
        options = {"python": interpreter.path}
        stop = await client.call("debug_launch", program=str(file), stop_at_entry=False, adapter_options=options)
        assert stop["exception"].startswith("ValueError")
        with pytest.raises(
            ToolFailed, match=r"stopped at an exception that nothing catches, ValueError.*debug_restart"
        ):
            await client.call("trace_function", function="price")
        assert (await client.call("debug_state"))["exception"] == stop["exception"]
