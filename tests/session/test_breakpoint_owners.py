"""Breakpoints of several clients on one line: each client updates its own, and both stay in force."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, failure, launch
from trio_debugmcp.session.breakpoints.ownership import Owners
from trio_debugmcp.state.breakpoint import Breakpoint, BreakpointSpec
from trio_debugmcp.testing import DebugClient, FakeAdapter, open_server

ANN, BEN = ("c1", "ann"), ("c1", "ben")


def marked(breakpoint_id: str) -> Breakpoint:
    return Breakpoint(breakpoint_id, BreakpointSpec(file="/src/app.py", line=7))


ONE, TWO = marked("bp-1"), marked("bp-2")


def never(each: Breakpoint) -> bool:
    return False


def test_a_client_means_its_own_breakpoint_then_one_without_an_owner_then_one_that_is_the_same() -> None:
    owners = Owners()
    owners.add("bp-1", ANN)
    owners.add("bp-2", BEN)
    assert owners.choose([marked("bp-0"), ONE, TWO], ANN, never) is ONE, "also after one without an owner"
    assert owners.choose([ONE, TWO], BEN, never) is TWO
    assert owners.choose([ONE, TWO], ("c2", None), never) is None
    assert owners.choose([ONE, TWO], ("c2", None), lambda each: each is TWO) is TWO
    assert owners.choose([ONE, marked("bp-3")], BEN, never) == marked("bp-3")
    assert owners.choose([ONE, TWO], None, never) is ONE, "without an owner the place alone counts"
    assert owners.choose([], None, never) is None


def test_what_two_clients_have_set_neither_changes_for_the_other() -> None:
    owners = Owners()
    owners.add("bp-1", ANN)
    owners.add("bp-1", BEN)
    assert owners.choose([ONE], ANN, never) is None
    owners.leave([ONE], None, ANN)
    assert owners.choose([ONE], BEN, never) is ONE


def test_a_connection_that_has_ended_owns_nothing() -> None:
    owners = Owners()
    owners.add("bp-1", ANN)
    owners.add("bp-2", ("c2", "ann"))
    owners.release("c1")
    assert owners.choose([ONE], ("c3", None), never) is ONE
    assert owners.choose([TWO], ("c3", None), never) is None
    owners.forget("bp-2")
    assert owners.choose([TWO], ("c3", None), never) is TWO


def conditions(adapter: FakeAdapter) -> list[Any]:
    sent = [arguments for command, arguments in adapter.requests if command == "setBreakpoints"][-1]
    return [each.get("condition") for each in sent["breakpoints"]]


async def test_distinct_conditions_of_two_clients_on_a_line_are_two_breakpoints(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    place = {"file": adapter.program, "line": 3}
    async with open_server(adapter.options()) as server, server.connect() as ann:
        async with server.connect() as ben:
            await launch(ann, adapter)
            await trio.sleep(1)
            assert (await ann.call("breakpoint_set", **place, condition="x > 1"))["id"] == "bp-1"
            made = await ben.call("breakpoint_set", **place, condition="x < 1")
            assert (made["id"], made["notes"]) == (
                "bp-2", ["set by other clients at this place, and still in force: bp-1 if x > 1"],
            )  # fmt: skip
            assert conditions(adapter) == ["x > 1", "x < 1"]
            updated = await ben.call("breakpoint_set", **place, condition="x < 2")
            assert updated["id"] == "bp-2"
            assert (await ann.call("breakpoint_set", **place, condition="x > 2"))["id"] == "bp-1"
            assert conditions(adapter) == ["x > 2", "x < 2"]
            same = await ben.call("breakpoint_set", file=adapter.program, line=4)
            assert (same["id"], (await ann.call("breakpoint_set", file=adapter.program, line=4))["id"]) == ("bp-3",) * 2
        await trio.sleep(1)
        taken = await ann.call("breakpoint_set", file=adapter.program, line=4, condition="y")
        assert taken["id"] == "bp-3", "the other client has gone"
        await ann.call("breakpoint_remove", id="bp-2")
        assert conditions(adapter) == ["x > 2", "y"]


# --- Updates ----------------------------------------------------------------------------------------------------------


async def test_an_update_says_what_it_drops(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    place = {"file": adapter.program, "line": 3}
    async with open_server(adapter.options()) as server, server.connect() as client:
        made = await client.call("breakpoint_set", **place, condition="x > 1", hit_condition="3")
        assert "notes" not in made
        kept = await client.call("breakpoint_set", **place, condition="x > 2", hit_condition="4")
        assert "notes" not in kept
        dropped = await client.call("breakpoint_set", **place)
        assert dropped["notes"] == ["the update has dropped its condition `x > 2` and its hit_condition `4`"]
        await client.call("breakpoint_set", **place, log_message="at {x}")
        assert (await client.call("breakpoint_set", **place))["notes"] == [
            "the update has dropped its log_message `at {x}`"
        ]
        await client.call("breakpoint_set_exception", exception_type="ValueError", condition="deep")
        dropped = await client.call("breakpoint_set_exception", exception_type="ValueError")
        assert dropped["notes"] == ["the update has dropped its condition `deep`"]


async def test_an_edit_changes_what_is_named_and_leaves_it_to_its_owner(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    place = {"file": adapter.program, "line": 3}
    async with open_server(adapter.options()) as server, server.connect() as ann, server.connect() as person:
        await launch(ann, adapter)
        await trio.sleep(1)
        await ann.call("breakpoint_set", **place, condition="x > 1", hit_condition="3")
        edited = await person.call("breakpoint_edit", id="bp-1", condition="x > 2")
        assert (edited["id"], conditions(adapter)) == ("bp-1", ["x > 2"])
        (kept,) = (await ann.read(BREAKPOINTS))["breakpoints"]
        assert (kept["condition"], kept["hitCondition"]) == ("x > 2", None)
        assert (await ann.call("breakpoint_set", **place, condition="x > 4"))["id"] == "bp-1", "it is still hers"

        await person.call("breakpoint_enable", id="bp-1", enabled=False)
        edited = await person.call("breakpoint_edit", id="bp-1", log_message="x is {x}")
        assert edited["id"] == "tp-2", "one that only writes is of another kind"
        (kept,) = (await ann.read(BREAKPOINTS))["breakpoints"]
        assert (kept["id"], kept["enabled"], kept["condition"]) == ("tp-2", False, None)
        failed = await failure(person, "breakpoint_edit", id="tp-2", hit_condition="often")
        assert (failed.code, "'often' is not a hit condition" in failed.message) == ("INVALID_CONDITION", True)
        assert (await ann.call("breakpoint_set", **place, log_message="y is {y}"))["id"] == "tp-2", "and still hers"
        await person.call("breakpoint_set_exception", exception_type="ValueError")
        failed = await failure(person, "breakpoint_edit", id="ex-3", condition="x")
        assert (failed.code, "breakpoint_set_exception" in failed.message) == ("INVALID_PARAMETER", True)


# --- Names ------------------------------------------------------------------------------------------------------------

NAMES = ("a b", "\0", "", " ", "1x", "a\n", "x ")


async def refused(client: DebugClient, name: str) -> None:
    for tool, parameter in (("breakpoint_set", "function"), ("breakpoint_set_exception", "exception_type")):
        failed = await failure(client, tool, **{parameter: name})
        assert failed.code == "INVALID_PARAMETER", (tool, name)


async def accepted(client: DebugClient, *functions: str) -> None:
    for name in functions:
        await client.call("breakpoint_set", function=name)


async def test_what_cannot_be_a_name_is_refused(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with open_server(adapter.options()) as server, server.connect() as client:
        for name in NAMES:
            await refused(client, name)
        await accepted(client, "ns::Class::method(int, char const*)", "operator ==", "main.(*T).Method", "~T", "f")
        await client.call("breakpoint_set_exception", exception_type="std::map<int, T>")
        failed = await failure(client, "debug_launch", program=adapter.program, breakpoints=[{"exception": "1x"}])
        assert (failed.code, "'1x' is not the name of a type" in failed.message) == ("INVALID_PARAMETER", True)


@pytest.mark.parametrize("name", NAMES)
async def test_names_of_python(name: str, autojump_clock: MockClock) -> None:
    async with open_server() as server, server.connect() as client:
        await refused(client, name)
        await accepted(client, "f", "Class.method", "pkg.mod.f", "f.<locals>.g", "größe")
        await client.call("breakpoint_set_exception", exception_type="json.decoder.JSONDecodeError")
