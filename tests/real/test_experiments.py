"""Runs of a real program that are observed: batch_evaluate and debug_run_until, judged in the program and at stops."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.ports import free_port
from tests.real.conftest import TEST_SECONDS, Connect, breakpoints, hits
from trio_debugmcp.testing import DebugClient, ToolFailed, connect_streams

CHILDREN = """\
import subprocess
import sys


def size(number):
    value = number * 10
    return value


if len(sys.argv) > 1:
    size(int(sys.argv[1]))
else:
    for number in range(3):
        subprocess.run([sys.executable, __file__, str(number)], check=True)
"""

LOOP = """\
import sys


class Basket:
    def __init__(self, owner):
        self.owner = owner

    def forever(self):
        while True:
            pass


def price(item, count):
    total = item * count
    squares = [each * each for each in range(item % 3 + 2)]
    return total  # priced


def main():
    paid = 0
    basket = Basket("ben")
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 400):
        one = price(number, 2)
        paid += one  # paid
    print(paid)  # end


main()
"""

LATE = """\
import trio

from trio_debugmcp.dap import records

read = records._received_some


async def late(stream):
    await trio.sleep(0.1)
    return await read(stream)


records._received_some, records._unread = late, lambda stream: 0

from trio_debugmcp.cli import main

main(["serve"])
"""
"""A server to which the system brings what is sent over the connection for records later than what is sent after it."""


def line(text: str) -> int:
    (number,) = [number for number, each in enumerate(LOOP.splitlines(), 1) if text in each]
    return number


async def attach(client: DebugClient, port: int) -> None:
    """Attach to a program that begins to listen soon."""
    while True:
        with suppress(ToolFailed):
            await client.call("debug_attach", port=port)
            return
        await trio.sleep(0.1)


async def batch(client: DebugClient, *experiments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return await client.call("batch_evaluate", experiments=experiments, **more)


async def test_hypotheses_about_a_loop_in_one_call(debugging: Connect, tmp_path: Path) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(LOOP)
    at_price, at_paid = {"file": app, "line": line("total = item")}, {"file": app, "statement": "paid += one  # paid"}
    async with debugging() as client:
        # From nothing: the program is started, and its breakpoint on an observed line does not stop it.
        await client.call("breakpoint_set", file=app, line=line("# paid"), condition="number == 399")
        found = await batch(
            client,
            {**at_price, "capture": ["item", "count", "itm"], "max_hits": 2},
            {**at_paid, "capture": ["one", "basket"], "condition": "number % 100 == 99"},
            {**at_price, "condition": "itm > 3"},
            {"file": app, "line": line("squares ="), "capture": ["item"], "max_hits": 3},
            {"file": app, "line": line("# end"), "capture": ["paid"]},
            launch={"program": app},
        )  # fmt: skip
        first, second, third, fourth, last = found["experiments"]
        itm = "<error: NameError: name 'itm' is not defined>"
        assert first["hits"] == [{"item": str(n), "count": "2", "itm": itm} for n in range(2)]
        assert (second["hits"], second["passes"]) == ([{"one": "198", "basket": "Basket(owner='ben')"}], 100)
        assert (third["status"], third["failures"], third["passes"]) == ("failed", 400, 400)
        assert [each["item"] for each in fourth["hits"]] == ["0", "1", "2"], "not in the frames of the comprehension"
        assert (last["status"], last["hits"]) == ("complete", [{"paid": str(sum(range(400)) * 2)}])
        assert (found["ended"], found["state"], found["reason"]) == ("exited", "Disconnected", "Exited")
        assert found["notes"][-1] == "held meanwhile: bp-1"
        # Again, without a session: the hit that completes all is a real stop.
        found = await batch(client, {**at_price, "condition": "item == 300", "capture": ["count"]})
        assert (found["ended"], found["reason"], found["locals"]["item"]) == ("complete", "Step", "300")
        assert (found["at"].endswith("in price"), found["experiments"][0]["passes"]) == (True, 301)
        assert await breakpoints(client) == {"bp-1": f"{app}:{line('# paid')} if number == 399"}
        # What does not end is ended, and the program is where it was to be.
        found = await batch(
            client,
            {"file": app, "line": line("# paid"), "capture": ["basket.forever()", "one"], "max_hits": 2},
            {"file": app, "line": line("# paid"), "condition": "basket.forever()"},
            timeout=20,
        )
        forever, never = found["experiments"]
        assert [each["one"] for each in forever["hits"]] in (["600"], ["600", "602"])
        assert forever["hits"][0]["basket.forever()"] == "<error: it took over 5 s>"
        assert (never["status"], found["ended"]) == ("notHit", "timeout")
        assert found["notes"][-1] == "1 evaluation of the condition had not ended, and was interrupted"
        # The breakpoint is in force again, and the program ran on to it.
        stop = await client.call("debug_wait")
        assert (stop["breakpoints"], stop["locals"]["number"]) == (["bp-1"], "399")


async def test_hits_are_counted_while_a_breakpoint_is_held(debugging: Connect, tmp_path: Path) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(LOOP)
    at_paid, at_price = {"file": app, "line": line("# paid")}, {"file": app, "line": line("# priced")}
    async with debugging() as client:
        await client.call("debug_launch", program=app, stop_at_entry=True)
        await client.call("breakpoint_set", **at_paid, hit_condition="5")
        await client.call("breakpoint_set", **at_price, hit_condition="% 3")
        found = await batch(client, {**at_paid, "capture": ["number"], "max_hits": 7})
        assert (found["ended"], found["experiments"][0]["hitCount"]) == ("complete", 7)
        assert found["notes"][-1] == "held meanwhile: bp-1, bp-2"
        listed = await breakpoints(client)
        assert [each.rpartition(", ")[2] for each in listed.values()] == ["7 hits", "7 hits"]
        stop = await client.call("debug_continue")  # the fifth hit has been: it is not the twelfth
        assert (stop["breakpoints"], stop["locals"]["item"]) == (["bp-2"], "8")


async def test_hits_that_arrive_later_than_the_stop_are_counted_at_it(tmp_path: Path) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(LOOP)
    at_price, at_paid = {"file": app, "line": line("# priced")}, {"file": app, "line": line("# paid")}
    server = StdioServerParameters(command=sys.executable, args=["-c", LATE], env=dict(os.environ))
    with trio.fail_after(TEST_SECONDS):
        async with connect_streams(stdio_client(server)) as client:
            await client.call("breakpoint_set", file=app, line=line("one = "))
            await client.call("breakpoint_set", **at_price, hit_condition="1000")
            await client.call("debug_launch", program=app)
            await client.call("debug_step")
            assert (await hits(client))["bp-2"] == 1, "a step tells it too"
            await client.call("breakpoint_remove", id="bp-1")
            found = await client.call("debug_run_until", expression="number == 40", **at_paid)
            assert (found["holds"], found["looks"], (await hits(client))["bp-2"]) == (True, 40, 41)


async def test_a_run_until_an_expression_holds(debugging: Connect, tmp_path: Path) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(LOOP)
    at_paid = {"file": app, "line": line("# paid")}
    async with debugging() as client:
        await client.call("debug_launch", program=app)
        found = await client.call("debug_run_until", expression="paid > 1000", show=["number"], **at_paid)
        assert (found["holds"], found["looks"], found["show"]) == (True, 34, {"number": "33"})
        found = await client.call("debug_run_until", expression="item == 40", function="price")
        assert (found["holds"], found["looks"], found["at"].endswith("in price")) == (True, 7, True)
        found = await client.call("debug_run_until", expression="nmber > 3", **at_paid)
        assert found["notes"] == ["stopped there, as the first look failed: NameError: name 'nmber' is not defined"]
        assert found["locals"]["number"] == "40"
        with pytest.raises(ToolFailed) as refused:
            await client.call("debug_run_until", expression="True", file=app, line=900)
        assert refused.value.code == "INVALID_PARAMETER"
        await client.call("breakpoint_set", **at_paid, hit_condition=">= 50")
        found = await client.call("debug_run_until", expression="one < 0", **at_paid)
        assert (found["breakpoints"], found["looks"], found["value"]) == (["bp-1"], 50, "False"), "both were judged"
        found = await client.call("debug_run_until", expression="True", function="absent")
        assert (found["breakpoints"], found["looks"]) == (["bp-1"], 0)
        assert found["notes"] == ["never reached: there was no function 'absent' when the run began"]
        await client.call("breakpoint_remove", id="*")
        found = await client.call("debug_run_until", expression="paid - paid", **at_paid)
        assert (found["reason"], found["looks"], found["value"]) == ("Exited", 400 - 92, "0")


async def test_a_run_until_an_expression_holds_stops_the_child_in_which_it_does(
    debugging: Connect, tmp_path: Path
) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(CHILDREN)
    async with debugging() as client:
        await client.call("debug_launch", program=app)
        found = await client.call("debug_run_until", expression="number == 1", file=app, line=7)
        assert (found["holds"], found["looks"]) == (True, 2)
        assert (found["state"], found["locals"]) == ("Paused", {"number": "1", "value": "10"}), found


async def test_where_the_program_cannot_judge_each_pass_is_a_stop_that_no_client_sees(
    debugging: Connect, tmp_path: Path
) -> None:
    app = str(tmp_path / "app.py")
    Path(app).write_text(LOOP)
    port = free_port()
    arguments = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}", "--wait-for-client", app, "40"]
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    try:
        async with debugging() as client:
            await client.call("breakpoint_set", file=app, line=line("paid = 0"))
            await attach(client, port)
            assert (await client.call("debug_wait"))["breakpoints"] == ["bp-1"]
            await client.call("breakpoint_set", file=app, line=line("# paid"))
            found = await batch(
                client,
                {"file": app, "line": line("# paid"), "capture": ["one", "basket", "nope"], "max_hits": 2},
                {"file": app, "line": line("# paid"), "condition": "one > 8"},
                {"file": app, "line": line("squares ="), "capture": ["item"], "condition": "item / 0"},
                max_total_hits=3,
            )
            first, second, third = found["experiments"]
            nope = "<error: NameError: name 'nope' is not defined>"
            assert first["hits"] == [
                {"one": str(2 * n), "basket": "Basket(owner='ben')", "nope": nope} for n in range(2)
            ]
            assert (second["status"], second["passes"], third["status"]) == ("complete", 6, "failed")
            assert third["error"] == "the condition failed: ZeroDivisionError: division by zero"
            assert (found["ended"], found["reason"], found["locals"]["one"]) == ("maxTotalHits", "Step", "10")
            found = await client.call("debug_run_until", expression="item > 8", file=app, line=line("# priced"))
            assert found["breakpoints"] == ["bp-2"], "the breakpoints are in force"
            await client.call("breakpoint_remove", id="bp-2")
            found = await client.call("debug_run_until", expression="item > 8", file=app, line=line("# priced"))
            assert (found["holds"], found["looks"], found["locals"]["item"]) == (True, 3, "9")
    finally:
        process.kill()
        process.wait()
