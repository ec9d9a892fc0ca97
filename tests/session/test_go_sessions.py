"""What delve takes for granted of its clients: names of functions, the way out of a program, and threads' names."""

import sys
from pathlib import Path
from typing import Any

import pytest
from trio.testing import MockClock

from tests.server.scene import failure
from tests.session.natives import without_symbols
from tests.session.tables import TabledProfile, launched
from trio_debugmcp.app import Options
from trio_debugmcp.session.settings import Settings
from trio_debugmcp.testing import FakeAdapter, connect
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Refusal

GO = 'hooks = "go"\n'

PROGRAM = sys.executable
"""An executable that exists; it is never run."""


def knows(adapter: FakeAdapter, **answers: str | None) -> None:
    """Have the adapter answer so for functions: None verifies one, a text says why not."""

    async def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        found = [answers.get(each["name"].replace(".", "_"), "not found") for each in arguments["breakpoints"]]
        return {
            "breakpoints": [
                {"id": number, "verified": text is None, **({} if text is None else {"message": text})}
                for number, text in enumerate(found, 1)
            ]
        }

    adapter.answer("setFunctionBreakpoints", answer)


async def test_a_function_whose_name_is_ambiguous_is_that_of_the_program(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    adapter = FakeAdapter()
    ambiguous = 'Location "add" ambiguous: reflect.add, runtime.add'
    knows(adapter, add=ambiguous, total='Location "total" ambiguous: a.total, b.total', main_add=None, main_work=None)
    async with launched(GO, adapter, program=without_symbols(tmp_path)) as client:
        await client.call("breakpoint_set", function="main.work")
        assert "state" not in await client.call("breakpoint_set", function="add")
        names = [[each["name"] for each in sent["breakpoints"]] for sent in adapter.sent("setFunctionBreakpoints")]
        assert names[-3:] == [["main.work"], ["main.work", "add"], ["main.work", "main.add"]]
        # One that is not the program's keeps what was said of its own name.
        set_ = await client.call("breakpoint_set", function="total")
        meant = "several functions have that name; pass one of them: a.total, b.total"
        assert (set_["state"], set_["message"]) == ("Pending", meant)
        assert (await client.call("breakpoint_list"))["breakpoints"][1].startswith("fn-2 add")
        assert "pending" not in (await client.call("breakpoint_list"))["breakpoints"][1]


async def test_a_function_of_the_program_is_taken_before_methods_of_that_name_which_are_named(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter()
    ambiguous = 'Location "run" ambiguous: shop/pool.(*Worker).run, shop/pool.run, testing.(*B).run…'

    async def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        known = {each["name"]: each["name"] != "run" for each in arguments["breakpoints"]}
        said: dict[bool, dict[str, Any]] = {True: {"verified": True}, False: {"verified": False, "message": ambiguous}}
        return {"breakpoints": [{"id": 1, **said[is_known]} for is_known in known.values()]}

    adapter.answer("setFunctionBreakpoints", answer)
    async with launched(GO, adapter, program=PROGRAM) as client:
        set_ = await client.call("breakpoint_set", function="run")
        assert ("state" in set_, set_["message"]) == (
            False,
            "it is `shop/pool.run`; others of that name: `shop/pool.(*Worker).run`",
        )
        assert adapter.sent("setFunctionBreakpoints")[-1]["breakpoints"] == [{"name": "shop/pool.run"}]


UNJUDGED = r"""unjudged = '\Aerror evaluating expression: ((?s:.*))'
refused-condition = '\A\d+:\d+: '
"""


@pytest.mark.parametrize(("function", "name"), [(None, "main.add"), ("Pool.run", "main.(*Pool[int]).run")])
async def test_a_condition_that_fails_stops_at_its_breakpoint_and_raises_nothing(
    autojump_clock: MockClock, function: str | None, name: str
) -> None:
    adapter = FakeAdapter()
    adapter.frames = [(name, __file__, 1)]
    place = {"file": __file__, "line": 1} if function is None else {"function": function}
    async with launched(UNJUDGED, adapter, breakpoints=[{**place, "condition": "j.Nope"}]) as client:
        await adapter.stop("exception", text="error evaluating expression: j has no member Nope")
        stop = await client.call("debug_wait")
        problem = "the condition `j.Nope` failed: j has no member Nope"
        assert (len(stop["breakpoints"]), "exception" in stop, stop["notes"]) == (1, False, [problem])
        assert problem in (await client.call("breakpoint_list"))["breakpoints"][0]
        await client.call("debug_continue", wait=False)
        await adapter.stop("exception", text="bad access")
        assert "exception" in await client.call("debug_wait")


async def test_a_condition_that_an_adapter_refuses_without_naming_it_is_named(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()

    async def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        is_wrong = [each.get("condition") == "i = = 3" for each in arguments["breakpoints"]]
        said: dict[bool, dict[str, Any]] = {
            True: {"verified": False, "message": "1:5: expected operand, found '='"},
            False: {"verified": True},
        }
        return {"breakpoints": [{"id": number, **said[wrong]} for number, wrong in enumerate(is_wrong, 1)]}

    adapter.answer("setBreakpoints", answer)
    wrong = {"file": __file__, "line": 1, "condition": "i = = 3"}
    async with launched(UNJUDGED, adapter) as client:
        refused = await failure(client, "breakpoint_set", **wrong)
        assert "The condition `i = = 3` is refused: 1:5: expected operand, found '='. " in refused.message
    async with launched(UNJUDGED, adapter, breakpoints=[wrong]) as client:
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert "the condition `i = = 3` failed: 1:5: expected operand" in listed


@pytest.mark.parametrize("left", ["stopped", "resumed", "running"])
async def test_a_program_that_is_left_runs_on_without_breakpoints_where_the_adapter_would_keep_it(
    autojump_clock: MockClock, left: str
) -> None:
    adapter = FakeAdapter()
    profile = TabledProfile(adapter, GO + "halts-when-left = true\n")
    async with connect(options=Options(settings=Settings(directory="/", profiles=(profile,)))) as client:
        await client.call("debug_attach", port=9, adapter="fake")
        await client.call("breakpoint_set", file=adapter.program, line=1)
        await client.call("breakpoint_set", function="main.work")
        if left != "running":
            await adapter.stop("pause")
            await client.call("debug_wait")
        if left == "resumed":
            await client.call("debug_continue", wait=False)
        await client.call("debug_disconnect")
        assert [sent["breakpoints"] for sent in adapter.sent("setBreakpoints")][-1:] == [[]]
        assert adapter.sent("setFunctionBreakpoints")[-1] == {"breakpoints": []}
        assert len(adapter.sent("continue")) == (left != "running")
        order = [each for each in adapter.commands() if each in ("setFunctionBreakpoints", "continue", "disconnect")]
        assert order[-1] == "disconnect"
        assert order[-2] == ("continue" if left == "stopped" else "setFunctionBreakpoints")


@pytest.mark.parametrize(("lines", "terminate"), [("", None), ("halts-when-left = true\n", True)])
async def test_a_program_that_is_ended_or_left_by_other_adapters_keeps_what_it_has(
    autojump_clock: MockClock, lines: str, terminate: bool | None
) -> None:
    adapter = FakeAdapter()
    profile = TabledProfile(adapter, lines)
    async with connect(options=Options(settings=Settings(directory="/", profiles=(profile,)))) as client:
        await client.call("debug_attach", port=9, adapter="fake")
        await client.call("breakpoint_set", function="main.work")
        await adapter.stop("pause")
        await client.call("debug_wait")
        await client.call("debug_disconnect", **({} if terminate is None else {"terminate": terminate}))
        assert adapter.sent("continue") == []
        assert adapter.sent("setFunctionBreakpoints")[-1]["breakpoints"] != []


async def test_a_launched_program_is_not_left_by_an_adapter_that_would_end_it(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("ends-launched = true\n", adapter) as client:
        refused = await failure(client, "debug_disconnect", terminate=False)
        assert (refused.code, "ends a program that it has launched" in refused.message) == ("NOT_SUPPORTED", True)
        assert (await client.call("debug_state"))["state"] == "Running"
        assert await client.call("debug_disconnect") == {"ended": True}
    async with launched("", FakeAdapter()) as client:
        assert await client.call("debug_disconnect", terminate=False) == {"detached": True}


async def test_all_stacks_of_a_stop_are_the_adapters_and_those_that_it_refuses_are_counted(
    autojump_clock: MockClock,
) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsModulesRequest": False})
    names = {1: "* [Go 1] main.main (Thread 77)", 18: "[Go 18] main.work", 19: "[Go 19] main.work", 20: "Current"}

    async def threads(_: Any) -> dict[str, Any]:
        return {"threads": [{"id": number, "name": name} for number, name in names.items()]}

    async def stack(arguments: dict[str, Any]) -> dict[str, Any]:
        number = arguments["threadId"]
        if number == 20:
            raise Refusal("unknown goroutine")
        frame = {"id": number, "name": "main.main" if number == 1 else "main.work", "line": 3, "column": 1}
        return {"stackFrames": [{**frame, "source": {"path": adapter.program}}], "totalFrames": 2}

    adapter.answer("threads", threads)
    adapter.answer("stackTrace", stack)
    async with launched(GO, adapter, program=PROGRAM) as client:
        await adapter.stop("pause")
        await client.call("debug_wait")
        found = await client.call("stacktrace_get", thread_id="*")
        assert [each["threads"] for each in found["stacks"]] == [["18 main.work", "19 main.work"], ["1 main.main"]]
        assert found["stacks"][0]["frames"][-1] == "… 1 more frame"
        assert found["notes"] == ["s-1: 1 thread left out"]
        with_locals = await client.call("stacktrace_get", thread_id="*", locals=True)
        known = "fake has them of one frame at a time: variables_get with thread_id and frame_index"
        assert f"s-1: without locals: {known}" in with_locals["notes"]
        refused = await failure(client, "modules_list")
        assert (refused.code, "supportsModulesRequest" in refused.message) == ("NOT_SUPPORTED", True)
