"""Breakpoints of all kinds, with their conditions and counts, and exception breakpoints. Against real debugpy."""

import pytest
import trio

from tests.real.conftest import Connect, at, breakpoints, hits, line_of, program, promised, where
from trio_debugmcp.testing import ToolFailed

BREAKPOINTS = "debugger://breakpoints"


async def test_a_breakpoint_hit_has_its_real_place_and_is_counted(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        stop = await client.call("debug_continue")
        assert stop["reason"] == "Breakpoint"
        assert stop["breakpoints"] == ["bp-1"]
        line = line_of("steps.py", "# call level3")
        assert stop["at"] == f"tests/programs/steps.py:{line} in level2", "below the server's directory"
        assert stop["locals"] == {"value": "7"}
        assert f"\n{line}>     inner = level3(value)  # call level3\n" in stop["source"]
        assert len(stop["source"].splitlines()) == 3, "two on either side, without the empty ones at the ends"
        location = (await client.read("debugger://session"))["currentLocation"]
        assert (location["file"], location["line"], location["functionName"]) == (program("steps.py"), line, "level2")
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["hitCount"] == 1


async def test_a_breakpoint_set_before_any_session_is_pending_then_bound_then_survives_restart_and_relaunch(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        place = f"tests/programs/steps.py:{line_of('steps.py', '# call level3')}"
        assert made == {"id": "bp-1", "at": place, "line": "inner = level3(value)  # call level3"}
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        (bound,) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert (bound["state"], bound["hitCount"]) == ("Bound", 1)
        assert await breakpoints(client) == {"bp-1": f"{place}, 1 hit"}
        restarted = await client.call("debug_restart")
        assert where(restarted).line == line_of("steps.py", "# call level3")
        await client.call("debug_disconnect")
        assert await breakpoints(client) == {"bp-1": f"{place}, 1 hit"}
        again = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert again["breakpoints"] == ["bp-1"]


async def test_a_condition_stops_once_and_a_bad_one_is_refused_and_a_failing_one_is_reported(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        with pytest.raises(ToolFailed) as failed:
            await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i ==")
        assert failed.value.code == "INVALID_CONDITION"
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="i == 3")
        launched = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "3"
        assert launched["breakpoints"] == ["bp-1"]
        assert (await client.call("debug_continue"))["state"] == "Disconnected"

        await client.call("breakpoint_set", **at("steps.py", "# in loop"), condition="nobody == 3")
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        (note,) = stop["notes"]
        assert "nobody" in note
        assert "NameError" in note
        assert (await breakpoints(client))["bp-1"].endswith(note)
        assert "NameError" in (await client.read(BREAKPOINTS))["breakpoints"][0]["message"]


async def test_a_hit_condition_pauses_at_that_hit_with_that_count(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# in loop"), hit_condition="3")
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert (await client.call("evaluate", expression="i"))["value"] == "2"
        assert await hits(client) == {"bp-1": 3}


async def test_breakpoints_are_disabled_enabled_and_removed_and_unknown_ids_are_named(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("breakpoint_set", **at("steps.py", "# in loop"))
        off = await client.call("breakpoint_enable", id="bp-1", enabled=False)
        assert off["state"] == "Disabled"
        assert (await breakpoints(client))["bp-1"].endswith(", disabled")
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert stop["breakpoints"] == ["bp-2"]
        on = await client.call("breakpoint_enable", id="bp-1")
        assert "state" not in on
        assert [each["state"] for each in (await client.read(BREAKPOINTS))["breakpoints"]] == ["Bound", "Bound"]
        assert (await client.call("debug_restart"))["breakpoints"] == ["bp-1"]
        assert (await client.call("breakpoint_remove", id="bp-1"))["removed"] == ["bp-1"]
        assert list(await breakpoints(client)) == ["bp-2"]
        exception = await client.call("breakpoint_set_exception", exception_type="ValueError")
        off = await client.call("breakpoint_enable", id=exception["id"], enabled=False)
        assert off["state"] == "Disabled"
        (kept,) = (await client.read(BREAKPOINTS))["exceptionBreakpoints"]
        assert (kept["enabled"], kept["verified"]) == (False, False)
        with pytest.raises(ToolFailed, match="bp-2") as failed:
            await client.call("breakpoint_remove", id="bp-99")
        assert failed.value.code == "BREAKPOINT_NOT_FOUND"
        await client.call("breakpoint_remove", id="*")
        assert (await client.call("debug_continue"))["reason"] == "Exited", "a removed breakpoint does not stop it"


async def test_breakpoints_are_hit_in_order_and_a_wait_without_a_stop_times_out_without_error(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# call level2"))
        await client.call("breakpoint_set", **at("steps.py", "# call level3"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        for expected in ("bp-1", "bp-2"):
            await client.call("debug_continue", wait=False)
            assert (await client.call("breakpoint_wait", breakpoint_id=expected))["breakpoints"] == [expected]
        await client.call("debug_disconnect")
        await client.call("debug_launch", program=program("busy.py"), stop_at_entry=False, wait=False)
        waited = await client.call("debug_wait", timeout=0.5)
        assert (waited["timedOut"], waited["state"], waited.get("reason")) == (True, "Running", None)


async def test_run_to_leaves_the_users_breakpoints_as_they_are(debugging: Connect) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set", **at("steps.py", "# bottom"))
        await client.call("debug_launch", program=program("steps.py"), stop_at_entry=True)
        before = await client.call("breakpoint_list")
        stop = await client.call("debug_run_to", **at("steps.py", "# after level2"))
        assert where(stop).line == line_of("steps.py", "# after level2")
        assert (stop["reason"], "breakpoints" in stop) == ("Step", False)
        after = await client.call("breakpoint_list")
        assert after["breakpoints"] == before["breakpoints"]
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-1"]


async def test_function_breakpoints_stop_where_the_function_begins(debugging: Connect) -> None:
    async with debugging() as client:
        made = await client.call("breakpoint_set", function="level3")
        assert made["id"] == "fn-1"
        stop = await client.call("debug_launch", program=program("steps.py"), stop_at_entry=False)
        assert where(stop).function == "level3"
        assert await hits(client) == {"fn-1": 1}


async def test_an_exception_breakpoint_stops_for_the_type_and_its_subtypes_and_shows_the_causes(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="ShopError")
        stop = await client.call("debug_launch", program=program("errors.py"), stop_on_uncaught=False)
        assert stop["reason"] == "Exception", "the KeyError that was caught before did not stop"
        assert (stop["exception"], "mode" in stop) == ("SoldOut: nothing left", False)
        exception = (await client.read("debugger://session"))["exception"]
        assert exception == {"type": "SoldOut", "message": "nothing left", "breakMode": "always"}
        assert where(stop).function == "wrapped"
        context = await client.call("exception_get_context")
        assert context["exception"] == "SoldOut: nothing left"
        (cause,) = context["causes"]
        line = line_of("errors.py", "int(price)")
        assert (cause["way"], cause["exception"].partition(":")[0]) == ("cause", "ValueError")
        assert cause["frames"] == [f"wrapped tests/programs/errors.py:{line} (raised here) | int(price)"]
        raised = line_of("errors.py", "raise SoldOut")
        assert context["frames"][0].startswith(f"wrapped tests/programs/errors.py:{raised} (raised here) | raise ")
        assert context["locals"][0]["price"] == "'ten'"
        context = await client.call("exception_get_context", max_inner=0)
        assert ("causes" in context, context["omitted"]) == (False, {"exceptions": 1})
        assert (await client.call("debug_continue"))["reason"] == "Exited"


async def test_second_chance_only_does_not_stop_at_caught_ones_and_a_disconnect_there_is_quick(
    debugging: Connect,
) -> None:
    async with debugging() as client:
        await client.call("breakpoint_set_exception", exception_type="*", break_on_first_chance=False)
        stop = await client.call("debug_launch", program=program("errors.py"), stop_at_entry=False)
        assert stop["exception"].startswith("KeyError: ")
        assert stop["mode"] == "unhandled"
        assert where(stop).function == "fatal"
        before = trio.current_time()
        await client.call("debug_disconnect")
        assert trio.current_time() - before < promised(2)
