"""Breakpoints on data and on instructions, which end with their session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import BREAKPOINTS, failure, paused
from tests.server.tools.looking.test_memory import native
from trio_debugmcp.server.answers.stop import UNKNOWN_DATA
from trio_debugmcp.session.breakpoints.watched_values import OUT_OF_SCOPE
from trio_debugmcp.state.breakpoint_rules import ENDED
from trio_debugmcp.testing import DebugClient, FakeAdapter
from trio_debugmcp.testing.fake_answers import Refusal

TOTAL = "*(int *)0x1008"
"""How `total` of `native` is read in any frame."""


@asynccontextmanager
async def watching(adapter: FakeAdapter | None = None) -> AsyncIterator[tuple[DebugClient, FakeAdapter]]:
    """A paused native program with a variable that can be watched."""
    adapter = adapter or native()
    adapter.values[TOTAL] = "3"
    adapter.locals = {"total": "3"}
    adapter.data["total"] = {"dataId": "1008/4", "description": "4 bytes at 001008 total"}
    async with paused("legacy", adapter) as (client, fake):
        await client.call("breakpoint_remove", id="*")
        yield client, fake


def hits(adapter: FakeAdapter, value: str, reason: str = "data breakpoint", **more: Any) -> None:
    """Let the next continue end at a data breakpoint, with another value."""

    async def change(arguments: object) -> object:
        adapter.values["total"] = adapter.values[TOTAL] = value
        return {}

    async def stop() -> None:
        await adapter.stop(reason, **more)

    adapter.answer("continue", change, stop)


# --- Data -------------------------------------------------------------------------------------------------------------


def passes(adapter: FakeAdapter, *values: str) -> None:
    """Let each continue end at a data breakpoint, with the next of these values."""
    left = list(values)

    async def change(arguments: object) -> object:
        if left:
            adapter.values["total"] = adapter.values[TOTAL] = left.pop(0)
            adapter.values["total > 6"] = str(int(adapter.values["total"]) > 6).lower()
        return {}

    async def stop() -> None:
        if left or adapter.values["total"] == values[-1]:
            await adapter.stop("data breakpoint", hit=[1])

    adapter.answer("continue", change, stop)


async def test_data_whose_condition_does_not_hold_stops_nothing_and_is_not_a_hit(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        adapter.values["total > 6"] = "false"
        await client.call("breakpoint_set_data", variable="total", condition="total > 6")
        assert adapter.sent("setDataBreakpoints")[-1]["breakpoints"] == [{"dataId": "1008/4", "accessType": "write"}]
        passes(adapter, "5", "6", "7")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("DataBreakpoint", ["dp-2"])
        assert stop["changed"] == {"total": "6 -> 7"}
        assert adapter.commands().count("continue") == 3
        [data] = (await client.read(BREAKPOINTS))["dataBreakpoints"]
        assert (data["condition"], data["hitCount"]) == ("total > 6", 1)
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (write) if total > 6, 1 hit"]


async def test_data_stops_at_the_hits_that_are_wanted(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total", hit_condition="% 3")
        passes(adapter, "5", "6", "7", "8")
        stop = await client.call("debug_continue")
        assert stop["changed"] == {"total": "6 -> 7"}
        [data] = (await client.read(BREAKPOINTS))["dataBreakpoints"]
        assert (data["hitCondition"], data["hitCount"]) == ("% 3", 3)


async def test_a_condition_of_data_that_cannot_be_judged_stops_and_says_why(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total", condition="unknown")
        passes(adapter, "5")
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("DataBreakpoint", ["dp-2"])
        assert "the condition `unknown` failed" in str(stop)
        assert "the condition `unknown` failed" in str(await client.call("breakpoint_list"))


async def test_of_data_breakpoints_at_one_stop_only_those_whose_conditions_hold_are_named(
    autojump_clock: MockClock,
) -> None:
    async with watching() as (client, adapter):
        adapter.values |= {"other": "1", "*(int *)0x2000": "1", "&(other)": "0x2000", "no": "false"}
        adapter.data["other"] = {"dataId": "2000/4", "description": "4 bytes at 002000 other"}
        await client.call("breakpoint_set_data", variable="total", condition="no")
        await client.call("breakpoint_set_data", variable="other")
        hits(adapter, "5", hit=[1, 3])
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("DataBreakpoint", ["dp-3"])


async def test_what_cannot_be_a_hit_condition_of_data_is_refused(autojump_clock: MockClock) -> None:
    async with watching() as (client, _):
        failed = await failure(client, "breakpoint_set_data", variable="total", hit_condition="often")
        assert (failed.code, "not a hit condition" in failed.message) == ("INVALID_CONDITION", True)


async def test_a_hit_is_named_with_the_value_before_and_after(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        made = await client.call("breakpoint_set_data", variable="total")
        assert made == {"id": "dp-2", "watches": "4 bytes at 001008 total", "value": "3"}
        assert adapter.sent("setDataBreakpoints") == [{"breakpoints": [{"dataId": "1008/4", "accessType": "write"}]}]
        hits(adapter, "5", hit=[1])
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"], stop["changed"]) == (
            "DataBreakpoint",
            ["dp-2"],
            {"total": "3 -> 5"},
        )
        hits(adapter, "5", hit=[1])
        assert (await client.call("debug_continue"))["changed"] == {"total": "5, not changed"}
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (write), 2 hits"]
        listed = await client.read(BREAKPOINTS)
        assert (listed["breakpoints"], listed["functionBreakpoints"]) == ([], [])
        assert listed["dataBreakpoints"] == [
            {
                "id": "dp-2",
                "expression": "total",
                "access": "write",
                "enabled": True,
                "verified": True,
                "state": "Bound",
                "hitCount": 2,
                "description": "4 bytes at 001008 total",
                "message": None,
                "setBy": ["mcp"],
            }
        ]


async def test_what_lldb_calls_a_breakpoint_is_a_data_breakpoint(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set", file=adapter.program, line=1)
        adapter.frames = [("main", adapter.program, 1)]
        await client.call("breakpoint_set_data", variable="total")
        hits(adapter, "5", "breakpoint", description="watchpoint 1")
        stop = await client.call("debug_continue")
        # The line has a breakpoint, too, which the program has not hit.
        assert (stop["reason"], stop["breakpoints"]) == ("DataBreakpoint", ["dp-3"])
        assert "notes" not in stop
        hits(adapter, "6", "breakpoint", description="breakpoint 1.1")
        assert (await client.call("debug_continue"))["reason"] == "Breakpoint"


async def test_numbers_of_data_breakpoints_are_not_those_of_breakpoints(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):

        async def numbered(arguments: dict[str, Any]) -> object:
            return {"breakpoints": [{"id": 1, "verified": True} for _ in arguments["breakpoints"]]}

        for command in ("setBreakpoints", "setDataBreakpoints"):
            adapter.answer(command, numbered)
        await client.call("breakpoint_set", file=adapter.program, line=1)
        await client.call("breakpoint_set_data", variable="total")
        hits(adapter, "5", "breakpoint", hit=[1])
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-2"]
        hits(adapter, "6", "data breakpoint", hit=[1])
        assert (await client.call("debug_continue"))["breakpoints"] == ["dp-3"]
        moved = {"id": 1, "verified": True, "line": 7}
        await adapter.event("breakpoint", {"reason": "changed", "breakpoint": moved})
        await trio.sleep(1)
        assert (await client.read(BREAKPOINTS))["breakpoints"][0]["line"] == 7
        assert (await client.call("breakpoint_list"))["breakpoints"][1] == "dp-3 total (write), 1 hit"


async def test_of_several_the_one_whose_value_changed_was_hit(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        adapter.values |= {"last": "9", "&(last)": "0x1010", "*(int *)0x1010": "9"}
        adapter.data["last"] = {"dataId": "b"}
        await client.call("breakpoint_set_data", variable="total")
        await client.call("breakpoint_set_data", expression="last")
        hits(adapter, "5")
        assert (await client.call("debug_continue"))["changed"] == {"total": "3 -> 5"}
        hits(adapter, "5")
        stop = await client.call("debug_continue")
        assert (stop["reason"], "changed" in stop, stop["notes"]) == ("DataBreakpoint", False, [UNKNOWN_DATA])
        # What is read does not change: of those that can be read it is the only one.
        await client.call("breakpoint_set_data", expression="last", access="readWrite")
        hits(adapter, "5")
        assert (await client.call("debug_continue"))["changed"] == {"last": "9, not changed"}


async def test_a_change_that_a_client_makes_is_neither_a_hit_nor_the_value_before(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")

        async def written(arguments: object) -> object:
            adapter.values["total"] = adapter.values[TOTAL] = "40"
            return {}

        adapter.answer("writeMemory", written)
        adapter.memory[8] = 40
        await client.call("memory_write", expression="total", data="28")
        hits(adapter, "41")
        assert (await client.call("debug_continue"))["changed"] == {"total": "40 -> 41"}


async def test_a_value_that_cannot_be_read_is_a_question_mark(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")

        async def gone(arguments: object) -> object:
            del adapter.values[TOTAL]
            return {}

        async def stop() -> None:
            await adapter.stop("data breakpoint")

        adapter.answer("continue", gone, stop)
        assert (await client.call("debug_continue"))["changed"] == {"total": "3 -> ?"}


async def test_a_local_whose_frame_has_returned_is_said_to_be_gone(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")
        hits(adapter, "5")
        assert "notes" not in await client.call("debug_continue")
        adapter.values["&(total)"] = "0x2000"
        hits(adapter, "6")
        assert (await client.call("debug_continue"))["notes"] == [f"dp-2 total: {OUT_OF_SCOPE}"]


async def test_without_an_address_the_value_is_read_in_frames_of_its_function(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        del adapter.values["&(total)"]
        await client.call("breakpoint_set_data", variable="total")
        adapter.frames = [("other", "/src/app.py", 9)]
        hits(adapter, "5")
        # In another function the name may be another variable: nothing is better than its value.
        assert (await client.call("debug_continue"))["changed"] == {"total": "3 -> ?"}
        adapter.frames = [("other", "/src/app.py", 9), ("main", "/src/app.py", 1)]
        hits(adapter, "6")
        assert (await client.call("debug_continue"))["changed"] == {"total": "? -> 6"}
        assert adapter.sent("evaluate")[-1]["frameId"] == 1001


async def test_they_are_switched_off_and_on_and_removed(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")
        assert (await client.call("breakpoint_enable", id="dp-2", enabled=False))["state"] == "Disabled"
        assert adapter.sent("setDataBreakpoints")[-1] == {"breakpoints": []}
        adapter.values["total"] = adapter.values[TOTAL] = "30"
        assert "state" not in await client.call("breakpoint_enable", id="dp-2")
        hits(adapter, "31")
        assert (await client.call("debug_continue"))["changed"] == {"total": "30 -> 31"}
        assert await client.call("breakpoint_remove", id="dp-2") == {"removed": ["dp-2"]}
        assert adapter.sent("setDataBreakpoints")[-1] == {"breakpoints": []}
        hits(adapter, "32", "step")
        assert "changed" not in await client.call("debug_continue")


async def test_the_same_place_again_updates_it(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        assert (await client.call("breakpoint_set_data", variable="total"))["id"] == "dp-2"
        assert (await client.call("breakpoint_set_data", expression=" total ", access="read"))["id"] == "dp-2"
        assert adapter.sent("setDataBreakpoints")[-1]["breakpoints"] == [{"dataId": "1008/4", "accessType": "read"}]
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (read)"]


async def test_they_end_with_their_session_and_say_so(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")
        await client.call("breakpoint_set", address="0x1000")
        await adapter.exit()
        end = await client.call("debug_wait")
        assert end["notes"] == ["no stop at dp-2 total; bp-3 0x1000"]
        assert (await client.call("breakpoint_list"))["breakpoints"] == [
            f"dp-2 total (write), {ENDED}",
            f"bp-3 0x1000, {ENDED}",
        ]
        adapter.requests.clear()
        # One that has ended stops nowhere, so the program stops at its entry.
        stop = await client.call("debug_launch", program=adapter.program)
        assert stop["reason"] == "Entry"
        assert stop["notes"] == [f"dp-2 total is pending: {ENDED}", f"bp-3 0x1000 is pending: {ENDED}"]
        assert not {"setDataBreakpoints", "setInstructionBreakpoints"} & {*adapter.commands()}
        (shown,) = (await client.read(BREAKPOINTS))["dataBreakpoints"]
        assert (shown["state"], shown["verified"], shown["message"]) == ("Pending", False, ENDED)
        adapter.data["total"] = {"dataId": "another"}
        assert (await client.call("breakpoint_set_data", variable="total"))["id"] == "dp-2"
        assert (await client.call("breakpoint_set", address="0x1000"))["id"] == "bp-3"
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (write)", "bp-3 0x1000"]


async def test_one_that_the_adapter_can_keep_is_sent_to_its_next_session(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        adapter.data["total"] |= {"canPersist": True, "accessTypes": ["write"]}
        await client.call("breakpoint_set_data", variable="total")
        await client.call("debug_disconnect")
        stop = await client.call("debug_launch", program=adapter.program, stop_at_entry=True)
        assert stop["notes"] == ["in force from before: dp-2 total"]
        assert adapter.sent("setDataBreakpoints")[-1]["breakpoints"][0]["dataId"] == "1008/4"
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["dp-2 total (write)"]
        hits(adapter, "9")
        assert (await client.call("debug_continue"))["breakpoints"] == ["dp-2"]


# --- What the adapter says of the data --------------------------------------------------------------------------------


async def test_a_variable_is_asked_for_where_the_adapter_has_it(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")
        assert adapter.sent("dataBreakpointInfo") == [{"variablesReference": 7, "name": "total", "frameId": 1000}]
        adapter.locals = {}
        await client.call("breakpoint_set_data", variable="total")
        assert adapter.sent("dataBreakpointInfo")[-1] == {"name": "total", "frameId": 1000}


async def test_an_adapter_that_takes_an_expression_for_a_pointer_is_passed_the_pointer(
    autojump_clock: MockClock,
) -> None:
    async with watching() as (client, adapter):
        adapter.locals = {}
        adapter.data = {
            "total": {"dataId": "3/4", "description": "4 bytes at 00AF33 total"},
            "&(total)": {"dataId": "1008/4", "description": "4 bytes at 001008 &(total)"},
        }
        await client.call("breakpoint_set_data", expression="total")
        assert [each["name"] for each in adapter.sent("dataBreakpointInfo")] == ["total", "&(total)"]
        assert adapter.sent("setDataBreakpoints")[-1]["breakpoints"][0]["dataId"] == "1008/4"
        adapter.data["&(total)"] = adapter.data["total"]
        failed = await failure(client, "breakpoint_set_data", expression="total")
        assert (failed.code, "would watch another place: 4 bytes at 00AF33" in failed.message) == (
            "INVALID_PARAMETER",
            True,
        )


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ({}, "INVALID_PARAMETER", "either `variable` or `expression`"),
        ({"variable": "total", "expression": "total"}, "INVALID_PARAMETER", "either"),
        ({"variable": " "}, "INVALID_PARAMETER", "either"),
        ({"expression": "nothing"}, "EVAL_FAILED", "NameError"),
        ({"expression": "last"}, "INVALID_PARAMETER", "`last` cannot be watched: no variable last. Pass a variable"),
        ({"expression": "total", "access": "execute"}, "INVALID_PARAMETER", '"readWrite"'),
        ({"expression": "total", "access": "read"}, "INVALID_PARAMETER", "can watch `total` for write, not for read"),
        ({"expression": "total", "frame_index": 9}, "INVALID_FRAME", "frames go from"),
    ],
)
async def test_what_cannot_be_watched_says_why(
    arguments: dict[str, Any], code: str, why: str, autojump_clock: MockClock
) -> None:
    async with watching() as (client, adapter):
        adapter.data["total"]["accessTypes"] = ["write"]
        failed = await failure(client, "breakpoint_set_data", **arguments)
        assert (failed.code, why in failed.message) == (code, True), failed.message
        assert adapter.sent("setDataBreakpoints") == []
        assert (await client.call("breakpoint_list"))["breakpoints"] == []


async def test_a_refusal_and_a_breakpoint_that_is_not_verified_are_pending(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):

        async def unverified(arguments: object) -> object:
            return {"breakpoints": [{"verified": False, "message": "too many watchpoints"}]}

        adapter.answer("setDataBreakpoints", unverified)
        made = await client.call("breakpoint_set_data", variable="total")
        assert (made["state"], made["message"]) == ("Pending", "too many watchpoints")
        hits(adapter, "5")
        stop = await client.call("debug_continue")
        assert "breakpoints" not in stop

        async def refuse(arguments: object) -> object:
            raise Refusal("no debug registers ")

        adapter.answer("setDataBreakpoints", refuse)
        made = await client.call("breakpoint_set_data", variable="total")
        assert (made["state"], made["message"]) == ("Pending", "no debug registers")

        async def info(arguments: object) -> object:
            raise Refusal("not now")

        adapter.answer("dataBreakpointInfo", info)
        assert "cannot be watched: not now" in (await failure(client, "breakpoint_set_data", variable="total")).message


# --- Instructions -----------------------------------------------------------------------------------------------------


async def test_an_instruction_is_checked_set_and_hit(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        made = await client.call("breakpoint_set", address="0x1008", condition="total > 3", hit_condition="2")
        assert made == {"id": "bp-2", "instruction": "0x1008 mov eax, 0x2a"}
        assert adapter.sent("setInstructionBreakpoints")[-1]["breakpoints"] == [
            {"instructionReference": "0x1008", "condition": "total > 3", "hitCondition": "2"}
        ]
        await client.call("breakpoint_set", address="4104")
        hits(adapter, "5", "instruction breakpoint", hit=[2])
        stop = await client.call("debug_continue")
        assert (stop["reason"], stop["breakpoints"]) == ("Breakpoint", ["bp-2"])
        assert (await client.call("breakpoint_list"))["breakpoints"] == ["bp-2 0x1008, 1 hit"]
        (shown,) = (await client.read(BREAKPOINTS))["breakpoints"]
        assert (shown["address"], shown["file"], shown["line"], shown["state"]) == ("0x1008", None, None, "Bound")
        await client.call("breakpoint_enable", id="bp-2", enabled=False)
        assert adapter.sent("setInstructionBreakpoints")[-1] == {"breakpoints": []}


async def test_a_hit_without_ids_is_found_by_the_instruction(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set", address="0x100c")
        adapter.instruction_pointer = "0x100C"
        hits(adapter, "5", "breakpoint")
        assert (await client.call("debug_continue"))["breakpoints"] == ["bp-2"]
        adapter.instruction_pointer = "0x1004"
        assert "breakpoints" not in await client.call("debug_continue")
        adapter.instruction_pointer = None
        assert "breakpoints" not in await client.call("debug_continue")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ({"address": "main"}, "INVALID_PARAMETER", "`main` is not an address"),
        ({"address": "0x10"}, "INVALID_PARAMETER", "Nothing can be disassembled at 0x10"),
        ({"address": "0x1009"}, "INVALID_PARAMETER", "0x1009 is inside of an instruction"),
        ({"address": "0x1008", "line": 3}, "INVALID_PARAMETER", "has no `line`"),
        ({"address": "0x1008", "log_message": "x"}, "INVALID_PARAMETER", "has no `log_message`"),
        ({"address": "0x1008", "hit_condition": "x"}, "INVALID_CONDITION", "is not a hit condition"),
    ],
)
async def test_where_no_instruction_is_nothing_is_set(
    arguments: dict[str, Any], code: str, why: str, autojump_clock: MockClock
) -> None:
    async with watching() as (client, adapter):
        failed = await failure(client, "breakpoint_set", **arguments)
        assert (failed.code, why in failed.message) == (code, True), failed.message
        assert adapter.sent("setInstructionBreakpoints") == []
        assert (await client.call("breakpoint_list"))["breakpoints"] == []


async def test_an_adapter_that_only_reads_memory_is_asked_whether_there_is_any(autojump_clock: MockClock) -> None:
    async with watching(native("supportsDisassembleRequest")) as (client, _):
        assert "No memory can be read" in (await failure(client, "breakpoint_set", address="0x10")).message
        assert await client.call("breakpoint_set", address="0x1008") == {"id": "bp-2", "instruction": "0x1008"}


# --- Both -------------------------------------------------------------------------------------------------------------

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("breakpoint_set_data", {"variable": "total"}, "supportsDataBreakpoints"),
    ("breakpoint_set", {"address": "0x1008"}, "supportsInstructionBreakpoints"),
    ("breakpoint_set", {"address": "0x1008", "condition": "x"}, "supportsConditionalBreakpoints"),
    ("breakpoint_set", {"address": "0x1008", "hit_condition": "2"}, "supportsHitConditionalBreakpoints"),
]


@pytest.mark.parametrize(("tool", "arguments", "capability"), CALLS)
async def test_an_adapter_that_cannot_is_named_and_not_asked(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    adapter = native()
    adapter.capabilities[capability] = False
    async with watching(adapter) as (client, _):
        failed = await failure(client, tool, **arguments)
        assert (failed.code, failed.details) == ("NOT_SUPPORTED", {"adapter": "fake", "capability": capability})
        assert not {"dataBreakpointInfo", "setDataBreakpoints", "setInstructionBreakpoints"} & {*adapter.commands()}


@pytest.mark.parametrize(("tool", "arguments", "capability"), CALLS[:2])
async def test_they_need_a_paused_program(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    async with watching() as (client, adapter):
        adapter.restore("continue")
        await client.call("debug_continue", wait=False)
        assert (await failure(client, tool, **arguments)).code == "NOT_PAUSED"
        await adapter.exit()
        await client.call("debug_wait")
        assert (await failure(client, tool, **arguments)).code == "NO_SESSION"


async def test_the_timeline_has_what_is_watched(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        await client.call("breakpoint_set_data", variable="total")
        await client.call("breakpoint_set", address="0x1000")
        hits(adapter, "5")
        await client.call("debug_continue")
        found = (await client.call("timeline_query", types=["breakpointSet", "breakpointHit"], full=True))["events"]
        what = [each["payload"].get("expression") or each["payload"].get("address") for each in found]
        assert [each for each in what if each] == ["total", "0x1000"]
        assert found[-1]["payload"]["id"] == "dp-2"


async def test_a_run_beside_a_data_breakpoint_says_what_it_may_have_missed(autojump_clock: MockClock) -> None:
    async with watching() as (client, adapter):
        arguments = {"expression": "total > 9", "file": adapter.program, "line": 3, "timeout": 1}
        before = await client.call("debug_run_until", **arguments)
        assert not [note for note in before["notes"] if note.startswith("a data breakpoint is set")]
        await adapter.stop("step")
        await client.call("debug_wait")
        await client.call("breakpoint_set_data", variable="total")
        answer = await client.call("debug_run_until", **arguments)
        assert answer["notes"][-1].startswith("a data breakpoint is set: a change at an observed place did not stop it")
