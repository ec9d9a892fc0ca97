"""Steps that meet a breakpoint which does not stop, or an exception that no breakpoint wants: they go to their end."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.testing import DebugClient, FakeAdapter

HITS = 'hit-conditions = "ours"'

CALLER, CALLEE = ("main", __file__, 10), ("add", __file__, 3)


def stops(adapter: FakeAdapter, script: dict[str, list[dict[str, Any]]]) -> None:
    """Let each resume lead to the next of the stops for its command: `frames`, and the event's body."""

    def scripted(command: str) -> None:
        async def answer(arguments: dict[str, Any]) -> object:
            return {}

        async def then() -> None:
            if script[command]:
                stop = dict(script[command].pop(0))
                adapter.frames = stop.pop("frames")
                await adapter.stop(**stop)

        adapter.answer(command, answer, then)

    for command in script:
        scripted(command)


async def stepped(
    client: DebugClient, adapter: FakeAdapter, caller: tuple[str, str, int] = CALLER, **step: Any
) -> tuple[Any, list[str]]:
    """Step from line 10 of main; return the answer, and the commands that resumed the program."""
    adapter.frames = [caller]
    await adapter.stop("pause")
    await client.call("debug_wait")
    adapter.requests.clear()
    answer = await client.call("debug_step", **step)
    return answer, [each for each in adapter.commands() if each in ("next", "stepIn", "stepOut", "continue")]


def cut(*frames: tuple[str, str, int], **more: Any) -> dict[str, Any]:
    return {"reason": "breakpoint", "hit": [1], "frames": list(frames)} | more


def end(*frames: tuple[str, str, int]) -> dict[str, Any]:
    return {"reason": "step", "frames": list(frames)}


BREAKPOINT = [{"file": __file__, "line": 3, "hit_condition": "99"}]


async def test_a_step_over_a_call_goes_to_its_end(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        below = ("deep", __file__, 20), CALLEE, CALLER
        script = {
            "next": [cut(CALLEE, CALLER), end(("main", __file__, 11))],
            "stepOut": [cut(*below), end(CALLEE, CALLER), end(CALLER)],
        }
        stops(adapter, script)
        answer, commands = await stepped(client, adapter)
        assert (answer["reason"], answer["at"].rpartition(":")[2], "notes" in answer) == ("Step", "11 in main", False)
        assert commands == ["next", "stepOut", "stepOut", "stepOut", "next"]
        (listed,) = (await client.call("breakpoint_list"))["breakpoints"]
        assert ", 2 hits" in listed


@pytest.mark.parametrize(
    ("after", "commands"),
    [
        ([("outer", __file__, 10)], ["next", "stepOut"]),  # in the line of that number, of another frame
        ([("main", __file__, 11), ("outer", __file__, 1)], ["next", "stepOut"]),
        ([CALLER, ("outer", __file__, 1)], ["next", "stepOut", "next"]),
    ],
)
async def test_a_step_that_is_back_continues_only_in_the_line_of_the_call(
    autojump_clock: MockClock, after: list[tuple[str, str, int]], commands: list[str]
) -> None:
    """lldb only estimates how high a stack is."""
    adapter = FakeAdapter()
    frames = adapter.answer_to("stackTrace")

    async def estimated(arguments: dict[str, Any]) -> object:
        body: Any = await frames(arguments)
        return {**body, "totalFrames": len(body["stackFrames"]) + 20}

    adapter.answer("stackTrace", estimated)
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        outer = ("outer", __file__, 1)
        script = {"next": [cut(CALLEE, CALLER, outer), end(("main", __file__, 11), outer)], "stepOut": [end(*after)]}
        stops(adapter, script)
        adapter.frames = [CALLER, outer]
        await adapter.stop("pause")
        await client.call("debug_wait")
        adapter.requests.clear()
        assert (await client.call("debug_step"))["reason"] == "Step"
        assert [each for each in adapter.commands() if each in ("next", "stepOut")] == commands


async def test_how_far_a_step_of_another_thread_is_to_go_is_not_known(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.threads = [(1, "main"), (2, "worker")]
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        stops(adapter, {"next": [cut(CALLEE, CALLER, thread=2)]})
        answer, commands = await stepped(client, adapter, thread_id=2)
        assert (answer["reason"], commands) == ("Step", ["next"])
        assert "cut short" in answer["notes"][0]


async def test_a_step_out_goes_to_the_caller(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        outer = ("outer", __file__, 40)
        stops(adapter, {"stepOut": [cut(CALLEE, CALLER, outer), end(CALLER, outer), end(outer)]})
        adapter.frames = [CALLER, outer]
        await adapter.stop("pause")
        await client.call("debug_wait")
        answer = await client.call("debug_step", mode="out")
        assert answer["at"].endswith(":40 in outer")
        assert len(adapter.sent("stepOut")) == 3


async def test_a_step_into_a_function_ends_where_its_breakpoint_does_not_stop(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        stops(adapter, {"stepIn": [cut(CALLEE, CALLER)]})
        answer, commands = await stepped(client, adapter, mode="in")
        assert (answer["reason"], answer.get("breakpoints"), commands) == ("Step", None, ["stepIn"])


async def test_a_breakpoint_that_stops_ends_a_step_that_was_cut(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    wanted = [*BREAKPOINT, {"file": __file__, "line": 5}]
    async with launched(HITS, adapter, breakpoints=wanted) as client:
        other = {"reason": "breakpoint", "hit": [1], "frames": [("add", __file__, 5), CALLER]}
        stops(adapter, {"next": [cut(CALLEE, CALLER, hit=[2])], "stepOut": [other]})
        answer, commands = await stepped(client, adapter)
        assert (answer["reason"], answer["breakpoints"], commands) == ("Breakpoint", ["bp-2"], ["next", "stepOut"])


@pytest.mark.parametrize(
    "stop",
    [
        cut(
            *[(f"f{number}", __file__, number) for number in range(1, 40)],
        ),
        cut(CALLEE, CALLER, thread=2),
    ],
)
async def test_a_step_that_cannot_be_taken_further_ends_and_says_so(
    autojump_clock: MockClock, stop: dict[str, Any]
) -> None:
    """Where the stack is too high to be counted, or another thread has stopped."""
    adapter = FakeAdapter()
    frames = adapter.answer_to("stackTrace")

    async def without_total(arguments: dict[str, Any]) -> object:
        body: Any = await frames(arguments)
        return {"stackFrames": body["stackFrames"]}

    adapter.answer("stackTrace", without_total)
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        stops(adapter, {"next": [stop]})
        answer, commands = await stepped(client, adapter)
        assert (answer["reason"], commands) == ("Step", ["next"])
        assert "the step was cut short here" in answer["notes"][0]


async def test_an_exception_that_is_not_wanted_does_not_lose_a_step(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("", adapter, breakpoints=[{"exception": "KeyError"}]) as client:
        thrown = {"reason": "exception", "frames": [CALLEE, CALLER]}
        stops(adapter, {"next": [thrown, end(("main", __file__, 11))], "stepOut": [end(CALLER)]})
        answer, commands = await stepped(client, adapter)
        assert (answer["at"].rpartition(":")[2], commands) == ("11 in main", ["next", "stepOut", "next"])


async def test_a_continue_after_a_step_is_a_continue(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched(HITS, adapter, breakpoints=BREAKPOINT) as client:
        stops(adapter, {"next": [end(("main", __file__, 11))], "continue": [cut(CALLEE, CALLER)]})
        await stepped(client, adapter)
        await client.call("debug_continue", wait=False)
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
        assert len(adapter.sent("continue")) == 2


async def test_a_step_that_its_adapter_keeps_ends_unseen_after_it_was_cut_short(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched("keeps-steps = true", adapter, breakpoints=[{"file": __file__, "line": 3}]) as client:
        stops(adapter, {"next": [cut(CALLEE, CALLER)], "continue": [end(("main", __file__, 11))]})
        answer, _ = await stepped(client, adapter)
        assert answer["breakpoints"] == ["bp-1"]
        await client.call("debug_continue", wait=False)
        await trio.sleep(1)
        assert (await client.call("debug_state"))["state"] == "Running"
        assert len(adapter.sent("continue")) == 2
        adapter.restore("continue")
        await adapter.stop("breakpoint", hit=[1])
        await client.call("debug_wait")
        stops(adapter, {"next": [end(("main", __file__, 12))]})
        assert (await client.call("debug_step"))["reason"] == "Step"
        await client.call("debug_continue", wait=False)
        adapter.answer("pause", adapter.answer_to("threads"), lambda: adapter.stop("step"))
        assert (await client.call("debug_pause"))["reason"] == "Pause"


IN_MAIN, IN_ADD, LIBRARY = (
    ("main", "/src/A.java", 10),
    ("add", "/src/A.java", 3),
    ("valueOf", "java/lang/String.java", 7),
)


@pytest.mark.parametrize(
    ("first", "commands", "at"),
    [
        ([end(LIBRARY, IN_MAIN), end(IN_ADD, IN_MAIN)], ["stepIn", "stepOut", "stepIn"], "3 in add"),
        ([end(LIBRARY, IN_MAIN), end(("main", "/src/A.java", 11))], ["stepIn", "stepOut", "stepIn"], "11 in main"),
        ([end(IN_ADD, IN_MAIN)], ["stepIn"], "3 in add"),
    ],
)
async def test_a_step_in_goes_out_of_libraries_for_an_adapter_that_enters_them(
    autojump_clock: MockClock, first: list[dict[str, Any]], commands: list[str], at: str
) -> None:
    adapter = FakeAdapter()
    async with launched('hooks = "java"\nsteps-into-libraries = true', adapter) as client:
        stops(adapter, {"stepIn": list(first), "stepOut": [end(IN_MAIN)]})
        answer, sent = await stepped(client, adapter, IN_MAIN, mode="in")
        assert (answer["reason"], answer["at"].rpartition(":")[2], sent) == ("Step", at, commands)


async def test_a_step_in_that_begins_in_a_library_or_may_enter_them_ends_there(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with launched('hooks = "java"', adapter) as client:
        stops(adapter, {"stepIn": [end(LIBRARY, IN_MAIN), end(("deep", *LIBRARY[1:]), LIBRARY, IN_MAIN)]})
        answer, sent = await stepped(client, adapter, IN_MAIN, mode="in")
        assert (answer["at"].rpartition(" in ")[2], sent) == ("valueOf", ["stepIn"])
