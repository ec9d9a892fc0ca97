"""Going elsewhere: to a line, backwards, by instructions, into one of several calls, and a frame's begin again."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused
from tests.server.tools.looking.test_memory import native
from trio_debugmcp.testing import FakeAdapter, ToolFailed
from trio_debugmcp.testing.fake_answers import Refusal


def stops_at(adapter: FakeAdapter, command: str, reason: str, *frames: tuple[str, str, int]) -> None:
    """Let that command end in a stop with these frames."""

    async def go(arguments: object) -> object:
        adapter.frames = [*frames]
        return {}

    async def stop() -> None:
        await adapter.stop(reason)

    adapter.answer(command, go, stop)


def app(line: int, function: str = "main") -> tuple[str, str, int]:
    return function, "/src/app.py", line


# --- debug_goto -------------------------------------------------------------------------------------------------------


async def test_a_goto_answers_with_the_stop_there(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "goto", "goto", app(9))
        answer = await client.call("debug_goto", line=9)
        assert (answer["reason"], answer["at"], "notes" in answer) == ("Goto", "/src/app.py:9 in main", False)
        (asked,) = adapter.sent("gotoTargets")
        assert (asked["source"], asked["line"]) == ({"path": "/src/app.py", "name": "app.py"}, 9)
        assert adapter.sent("goto") == [{"threadId": 1, "targetId": 7}]


async def test_a_goto_that_ends_on_another_line_says_so(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "goto", "goto", app(10))
        answer = await client.call("debug_goto", line=9, show=["nothing"])
        assert answer["notes"] == ["went to line 10 instead of 9"]
        assert answer["show"]["nothing"].startswith("<")


async def test_of_several_targets_one_is_chosen_by_name_or_number(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.goto_targets = [{"id": 7, "label": "first", "column": 3}, {"id": 8, "label": "second"}]
        stops_at(adapter, "goto", "goto", app(9))
        failed = await failure(client, "debug_goto", line=9)
        assert failed.code == "INVALID_PARAMETER"
        assert failed.message.endswith("Several targets are here. Pass one of these as `target`, by its name or its "
                                       "number: 7 first column 3; 8 second.")  # fmt: skip
        assert "The target `third` is not here" in (await failure(client, "debug_goto", line=9, target="third")).message
        assert adapter.sent("goto") == []
        for target, number in (("second", 8), ("7", 7)):
            await client.call("debug_goto", line=9, target=target)
            assert adapter.sent("goto")[-1]["targetId"] == number


async def test_a_line_without_a_target_is_refused(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.goto_targets = []
        failed = await failure(client, "debug_goto", line=9)
        assert (failed.code, "Cannot go to line 9 of /src/app.py: no code is there" in failed.message) == (
            "INVALID_PARAMETER",
            True,
        )

        async def refused(arguments: object) -> object:
            raise Refusal("line 9 is too far.")

        adapter.answer("gotoTargets", refused)
        assert "/src/app.py: line 9 is too far. Pass" in (await failure(client, "debug_goto", line=9)).message


async def test_a_refused_goto_leaves_the_program_where_it_was(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def refused(arguments: object) -> object:
            raise Refusal("line 9 comes after the current code block")

        adapter.answer("goto", refused)
        failed = await failure(client, "debug_goto", line=9)
        assert failed.code == "INVALID_PARAMETER"
        assert "Cannot go to line 9: line 9 comes after the current code block. Pass a line of main," in failed.message
        assert (await client.call("debug_state"))["state"] == "Paused"

        async def without_reason(arguments: object) -> object:
            raise Refusal("")

        adapter.answer("goto", without_reason)
        assert "from here. Use debug_step, and then" in (await failure(client, "debug_goto", line=9)).message
        assert (await client.call("debug_state"))["state"] == "Paused"


async def test_a_goto_from_an_exception_is_refused_with_what_to_do(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def refused(arguments: object) -> object:
            raise Refusal("can only jump from a 'line' trace event")

        adapter.answer("goto", refused)
        message = (await failure(client, "debug_goto", line=9)).message
        assert "Cannot go to line 9: the program stands inside a line that raises or returns" in message
        assert "Use debug_step until it is before a line" in message
        assert "Pass a line of main" not in message


async def test_a_goto_to_another_file_is_refused_before_the_adapter_is_asked(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        failed = await failure(client, "debug_goto", line=9, file=adapter.program)
        assert (failed.code, "stopped in main of /src/app.py" in failed.message) == ("INVALID_PARAMETER", True)
        assert adapter.sent("gotoTargets") == []
        stops_at(adapter, "goto", "goto", app(9))
        assert (await client.call("debug_goto", line=9, file="/src/app.py"))["reason"] == "Goto"


async def test_a_line_behind_the_end_of_the_file_is_refused_before_the_adapter_is_asked(
    autojump_clock: MockClock,
) -> None:
    adapter = native()
    adapter.frames = [("main", adapter.program, 1)]
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "debug_goto", line=2_000_000_000)
        assert (failed.code, failed.message.startswith("Cannot go to line 2000000000: the file has ")) == (
            "INVALID_PARAMETER",
            True,
        )
        assert adapter.sent("gotoTargets") == []


async def test_a_goto_without_a_stop_runs_into_its_time(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, _):
        began = trio.current_time()
        answer = await client.call("debug_goto", line=9, timeout=2)
        assert (answer["state"], answer["timedOut"]) == ("Running", True)
        assert trio.current_time() - began == pytest.approx(2, abs=1.1)


# --- Backwards --------------------------------------------------------------------------------------------------------


async def test_a_step_back_and_a_run_backwards_answer_with_the_stop(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "stepBack", "step", app(3))
        answer = await client.call("debug_step", mode="back")
        assert (answer["reason"], answer["at"]) == ("Step", "/src/app.py:3 in main")
        stops_at(adapter, "reverseContinue", "breakpoint", app(1))
        answer = await client.call("debug_continue", reverse=True)
        assert (answer["reason"], answer["at"]) == ("Breakpoint", "/src/app.py:1 in main")
        assert adapter.sent("reverseContinue") == [{"threadId": 1}]
        assert adapter.sent("continue") == []


async def test_the_begin_of_what_was_recorded_is_a_refusal_and_the_program_stays(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):

        async def at_the_begin(arguments: object) -> object:
            raise Refusal("no more reverse-execution history")

        adapter.answer("reverseContinue", at_the_begin)
        failed = await failure(client, "debug_continue", reverse=True)
        assert (failed.code, "no more reverse-execution history" in failed.message) == ("ADAPTER_FAILED", True)
        assert (await client.call("debug_state"))["state"] == "Paused"


# --- Instructions -----------------------------------------------------------------------------------------------------


async def test_a_step_by_an_instruction_shows_the_instruction(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "next", "step", app(3))
        answer = await client.call("debug_step", granularity="instruction")
        assert answer["instruction"] == "0x1004 mov rbp, rsp"
        assert adapter.sent("next") == [{"threadId": 1, "granularity": "instruction"}]
        assert "instruction" not in await client.call("debug_step", granularity="line")
        adapter.instruction_pointer = "0x10"
        assert (await client.call("debug_step", granularity="instruction"))["instruction"] == "0x10"
        adapter.instruction_pointer = None
        assert "instruction" not in await client.call("debug_step", granularity="instruction")


async def test_of_an_adapter_that_does_not_disassemble_the_address_is_shown(autojump_clock: MockClock) -> None:
    async with paused("legacy", native("supportsDisassembleRequest")) as (client, adapter):
        stops_at(adapter, "next", "step", app(3))
        assert (await client.call("debug_step", granularity="instruction"))["instruction"] == "0x1004"


# --- A call of several ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("target", "number"), [("scale", 1), ("scale(n)", 1), ("1", 1), ("add", 2), ("shop.add", 2)])
async def test_a_call_is_stepped_into_by_name_or_number(target: str, number: int, autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "stepIn", "step", app(2, "scale"), app(1))
        answer = await client.call("debug_step", mode="in", target=target)
        assert (answer["at"], "notes" in answer) == ("/src/app.py:2 in scale", False)
        assert adapter.sent("stepInTargets") == [{"frameId": 1000}]
        assert adapter.sent("stepIn") == [{"threadId": 1, "targetId": number}]


async def test_a_call_that_was_not_entered_is_named(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        stops_at(adapter, "stepIn", "step", app(3))
        answer = await client.call("debug_step", mode="in", target="scale")
        assert answer["notes"] == [
            "`scale(n)` was not entered: it was not called on the way, or has no code that is debugged"
        ]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            {"target": "nope", "mode": "in"},
            "The target `nope` is not here. Pass one of these as `target`, by its name or",
        ),
        ({"target": "nope", "mode": "in"}, "its number: 1 scale(n); 2 shop.add(n)."),
        ({"target": "scale"}, 'pass mode="in"'),
        ({"target": "scale", "mode": "in", "count": 2}, "and no `count`"),
    ],
)
async def test_a_call_that_is_not_there_lists_those_that_are(
    arguments: dict[str, Any], why: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, adapter):
        failed = await failure(client, "debug_step", **arguments)
        assert (failed.code, why in failed.message) == ("INVALID_PARAMETER", True), failed.message
        assert adapter.sent("stepIn") == []


async def test_a_line_without_a_call_that_can_be_stepped_into_says_so(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.step_in_targets = []
        failed = await failure(client, "debug_step", mode="in", target="add")
        sentence = "This line has no call that can be stepped into. Leave out `target`."
        assert (failed.code, failed.message) == ("INVALID_PARAMETER", sentence)


async def test_a_call_of_several_lines_is_named_by_its_first(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.step_in_targets = [{"id": 1, "label": "class Till:\n    total = 0"}]
        failed = await failure(client, "debug_step", mode="in", target="add")
        assert failed.message.endswith("by its name or its number: 1 class Till:.")


async def test_calls_of_one_name_differ_by_their_numbers(autojump_clock: MockClock) -> None:
    async with paused("legacy", native()) as (client, adapter):
        adapter.step_in_targets = [{"id": 4, "label": "add"}, {"id": 5, "label": "add"}, {"id": 6, "label": "f"}]
        failed = await failure(client, "debug_step", mode="in", target="add")
        assert failed.message.endswith("by its name or its number: 4 add; 5 add.")
        stops_at(adapter, "stepIn", "step", app(2, "add"), app(1))
        await client.call("debug_step", mode="in", target="5")
        adapter.step_in_targets = [{"id": each, "label": f"f{each}()"} for each in range(20)]
        failed = await failure(client, "debug_step", mode="in", target="add")
        assert failed.message.endswith("14 f14(); 5 more.")

        async def refused(arguments: object) -> object:
            raise Refusal("no bytecode")

        adapter.answer("stepInTargets", refused)
        failed = await failure(client, "debug_step", mode="in", target="add")
        assert (failed.code, "no bytecode. Leave out" in failed.message) == ("INVALID_PARAMETER", True)


# --- A frame ----------------------------------------------------------------------------------------------------------


async def test_a_frame_begins_again(autojump_clock: MockClock) -> None:
    adapter = native()
    adapter.frames = [app(5, "scale"), app(1)]
    async with paused("legacy", adapter) as (client, _):
        stops_at(adapter, "restartFrame", "restart", app(1, "scale"), app(1))
        answer = await client.call("debug_restart", frame_index=1)
        assert (answer["reason"], answer["at"]) == ("Restart", "/src/app.py:1 in scale")
        assert adapter.sent("restartFrame") == [{"frameId": 1001}]
        assert adapter.commands().count("launch") == 1
        assert (await failure(client, "debug_restart", frame_index=9)).code == "INVALID_FRAME"


# --- All of them ------------------------------------------------------------------------------------------------------

WAYS: list[tuple[str, dict[str, Any], str]] = [
    ("debug_goto", {"line": 9}, "supportsGotoTargetsRequest"),
    ("debug_step", {"mode": "back"}, "supportsStepBack"),
    ("debug_continue", {"reverse": True}, "supportsStepBack"),
    ("debug_step", {"granularity": "instruction"}, "supportsSteppingGranularity"),
    ("debug_step", {"mode": "in", "target": "scale"}, "supportsStepInTargetsRequest"),
    ("debug_restart", {"frame_index": 0}, "supportsRestartFrame"),
]
each_way = pytest.mark.parametrize(("tool", "arguments", "capability"), WAYS)


@each_way
async def test_an_adapter_that_cannot_is_named_and_not_asked(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native(capability)) as (client, adapter):
        failed = await failure(client, tool, **arguments)
        assert (failed.code, failed.details) == ("NOT_SUPPORTED", {"adapter": "fake", "capability": capability})
        assert capability in failed.message
        assert (await client.call("debug_state"))["state"] == "Paused"
        moves = {"goto", "gotoTargets", "stepBack", "next", "stepIn", "stepInTargets", "restartFrame", "continue"}
        assert not moves & {*adapter.commands()}


@each_way
async def test_they_need_a_paused_program(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    async with paused("legacy", native()) as (client, adapter):
        await client.call("debug_continue", wait=False)
        assert (await failure(client, tool, **arguments)).code == "NOT_PAUSED"
        await adapter.exit()
        await client.call("debug_wait")
        assert (await failure(client, tool, **arguments)).code == "NO_SESSION"


@each_way
async def test_two_at_once_move_the_program_once(
    tool: str, arguments: dict[str, Any], capability: str, autojump_clock: MockClock
) -> None:
    moving = {"goto", "stepBack", "reverseContinue", "next", "stepIn", "restartFrame"}
    async with paused("legacy", native()) as (client, adapter):
        failed: list[str] = []

        async def move() -> None:
            try:
                await client.call(tool, **arguments, timeout=1)
            except ToolFailed as error:
                failed.append(error.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(move)
            nursery.start_soon(move)
        assert len([each for each in adapter.commands() if each in moving]) == 1
        assert failed == ["NOT_PAUSED"]
