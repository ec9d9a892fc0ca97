"""Sessions that only launch, as js-debug's first is one: the program is their first child, and all is about that."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.session.tables import launched
from trio_debugmcp.session.handshake import PROGRAM_SECONDS
from trio_debugmcp.testing import DebugClient, FakeAdapter, ToolFailed

LAUNCHES = """
launches-only = true
child-name = '(?P<name>.+) \\[(?P<pid>\\d+)\\]'
entry = { line = "first" }
"""

CHILD = 1


def launcher(*, of: FakeAdapter | None) -> FakeAdapter:
    """An adapter that launches a program, and announces it as its child."""
    root = FakeAdapter()
    root.threads = []
    if of is not None:
        root.children[CHILD] = of
        name = {"child": CHILD, "name": "app.js [4711]"}
        wanted = {"request": "launch", "configuration": name}
        root.answer("launch", _nothing, then=partial(_announce, root, wanted))
    return root


def program() -> FakeAdapter:
    """An adapter that sends no `process` event, as js-debug does not."""
    child = FakeAdapter()
    child.answer("launch", _nothing)
    return child


async def _nothing(arguments: dict[str, Any]) -> object:
    return {}


async def state_of(client: DebugClient) -> dict[str, Any]:
    await trio.sleep(1)
    return await client.call("debug_state")


async def test_the_program_is_the_first_child_and_what_is_asked_without_a_name_is_about_that(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script = tmp_path / "app.js"
    script.write_text("function f() {\n  g();\n}\nf();\n")
    child = program()
    child.frames = [("<anonymous>", str(script), 4)]
    root = launcher(of=child)
    own = [{"file": str(script), "line": 2}]
    launch = {"program": str(script), "args": ["a"], "stop_at_entry": True, "breakpoints": own}
    async with launched(LAUNCHES, root, **launch) as client:
        assert root.sent("setBreakpoints") == []  # nothing would stop there
        assert child.sent("setBreakpoints")[0]["breakpoints"] == [{"line": 2}, {"line": 4}]
        await child.stop("breakpoint", hit=[2])
        stop = await state_of(client)
        assert (stop["reason"], "sessions" in stop) == ("Entry", False)
        session = await client.read("debugger://session")
        assert (session["sessionId"], session["processId"]) == ("s-2", 4711)
        assert (session["processName"], session["commandLineArgs"]) == ("app.js", ["a"])
        await client.call("debug_continue", wait=False, session_id="s-1")
        child.answer("pause", _nothing, then=partial(child.stop, "pause"))
        assert (await client.call("debug_pause"))["reason"] == "Pause"
        assert (len(child.sent("continue")), len(root.sent("pause"))) == (1, 0)


async def test_children_of_the_program_are_named_as_their_configurations(autojump_clock: MockClock) -> None:
    child, fork, worker = program(), program(), program()
    root = launcher(of=child)
    root.children |= {2: fork, 3: worker}
    async with launched(LAUNCHES, root) as client:
        for number, name in ((2, "fork.js [4712]"), (3, "[worker 1]")):
            wanted = {"request": "launch", "configuration": {"child": number, "name": name}}
            assert (await child.reverse_request("startDebugging", wanted))["success"] is True
        await trio.sleep(1)
        sessions = (await client.read("debugger://session"))["sessions"]
        found = [(each["processName"], each["processId"], each["parentSessionId"]) for each in sessions]
        assert found == [  # a process once: without the one that only launches
            ("fake_adapter.py", 4711, None),
            ("fork.js", 4712, "s-2"),
            ("[worker 1]", None, "s-2"),
        ]
        assert (await client.read("debugger://sessions"))["sessions"] == sessions
        await fork.stop("entry")
        assert (await state_of(client))["reason"] == "Entry"  # reported by the adapter, although it was not asked for
        sessions = (await state_of(client))["sessions"]
        assert [each.split()[0] for each in sessions] == ["s-2", "s-3", "s-4"]  # without the one that only launches


async def test_a_launch_without_a_program_fails_in_a_bound_of_time(autojump_clock: MockClock) -> None:
    root = launcher(of=program())
    async with launched(LAUNCHES, root) as client:
        await client.call("debug_disconnect")
        root.answer("launch", _nothing)
        began = trio.current_time()
        with pytest.raises(ToolFailed) as failed:
            await client.call("debug_launch", program=root.program, adapter="fake", timeout=100)
    assert failed.value.code == "TIMEOUT"
    assert "did not connect to its debugger" in failed.value.message
    assert PROGRAM_SECONDS <= trio.current_time() - began < PROGRAM_SECONDS + 5


async def test_a_program_that_ends_before_it_is_debugged_has_ended(autojump_clock: MockClock) -> None:
    root = launcher(of=None)
    root.answer("launch", _nothing, then=partial(root.exit, 3))
    async with launched(LAUNCHES, root) as client:
        over = await client.call("debug_wait")
        assert (over["state"], over["exitCode"]) == ("Disconnected", 3)


async def test_a_program_that_was_attached_to_is_detached_from_before_the_session_that_attached(
    autojump_clock: MockClock,
) -> None:
    child, order = program(), []
    root = launcher(of=child)
    root.answer(
        "attach", _nothing, then=partial(_announce, root, {"request": "attach", "configuration": {"child": CHILD}})
    )
    for name, adapter in (("child", child), ("root", root)):
        adapter.on_request = lambda command, _, name=name: order.append((name, command))
    async with launched(LAUNCHES, root) as client:
        await client.call("debug_disconnect")
        attached = await client.call("debug_attach", port=9229, adapter="fake")
        assert attached["session"] == "s-3"
        del order[:]
        assert (await client.call("debug_disconnect"))["detached"] is True
        assert order == [("child", "disconnect"), ("root", "disconnect")]


async def _announce(root: FakeAdapter, wanted: dict[str, Any]) -> None:
    await root.reverse_request("startDebugging", wanted)


async def test_a_program_that_is_left_has_not_ended_and_others_are_named_by_theirs(autojump_clock: MockClock) -> None:
    child = program()
    root = launcher(of=child)
    child.answer("disconnect", _nothing, then=partial(root.event, "terminated"))  # as js-debug's root does
    async with launched(LAUNCHES, root) as client:
        assert await client.call("debug_disconnect", terminate=False) == {"detached": True}
        assert (await client.call("debug_state"))["notes"] == ["disconnected"]


@pytest.mark.usefixtures("without_threads")
async def test_a_function_that_an_adapter_cannot_stop_in_is_a_line_of_the_file_that_defines_it(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    script, child = tmp_path / "app.js", program()
    script.write_text("const half = (n) => n / 2;\nhalf(4);\nclass Till {\n  half(n) {\n    return n;\n  }\n}\n")
    wanted = [{"function": each} for each in ("half", "Till.half", "hulf")]
    lines = LAUNCHES + 'lacks = ["supportsFunctionBreakpoints"]\nhooks = "javascript"\n'
    async with launched(lines, launcher(of=child), program=str(script), breakpoints=wanted) as client:
        assert child.sent("setBreakpoints")[-1]["breakpoints"] == [{"line": 1, "column": 21}, {"line": 5}]
        assert child.sent("setFunctionBreakpoints") == []
        kept = (await client.read("debugger://breakpoints"))["functionBreakpoints"]
        assert [each["verified"] for each in kept] == [True, True, False]
        assert (
            kept[0]["message"]
            == "is in the first `half`, app.js:1; others: Till.half (app.js:5): say which by its `file`"
        )
        assert "as `hulf`; do you mean `half` (app.js)" in kept[2]["message"]


@pytest.mark.usefixtures("without_threads")
async def test_which_of_several_functions_is_meant_is_known_after_the_adapter_has_set_it_and_at_the_end(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async def unbound(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 1, "verified": False}]}

    script, child = tmp_path / "app.js", program()
    script.write_text("function half(n) {\n  return n;\n}\nclass Till {\n  half(n) {\n    return n;\n  }\n}\n")
    child.answer("setBreakpoints", unbound)
    root = launcher(of=child)
    lines = LAUNCHES + 'lacks = ["supportsFunctionBreakpoints"]\nhooks = "javascript"\n'
    async with launched(lines, root, program=str(script), breakpoints=[{"function": "half"}]) as client:
        await child.event("breakpoint", {"reason": "changed", "breakpoint": {"id": 1, "verified": True, "line": 2}})
        await trio.sleep(1)
        (kept,) = (await client.read("debugger://breakpoints"))["functionBreakpoints"]
        where = "is in the first `half`, app.js:2; others: Till.half (app.js:6): say which by its `file`"
        assert (kept["verified"], kept["message"]) == (True, where)
        await child.exit(0)
        await root.event("terminated")
        notes = (await client.call("debug_wait"))["notes"]
        assert notes == ["the program ended", "no stop at fn-1 half", f"fn-1 {where}"]


@pytest.mark.usefixtures("without_threads")
async def test_a_child_finds_a_function_in_the_files_of_the_program_that_has_started_it(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async def unbound(arguments: dict[str, Any]) -> object:
        return {"breakpoints": [{"id": 1, "verified": False}]}

    (tmp_path / "cart.ts").write_text("export class Cart {\n  total() {\n    return 1;\n  }\n}\n")
    child, fork = program(), program()
    child.answer("setBreakpoints", unbound)
    root = launcher(of=child)
    root.children[2] = fork
    wanted = [{"function": "Cart.total"}]
    lines = LAUNCHES + 'lacks = ["supportsFunctionBreakpoints"]\nhooks = "javascript"\n'
    async with launched(lines, root, cwd=str(tmp_path), breakpoints=wanted):
        started = {"request": "launch", "configuration": {"child": 2, "name": "fork.js [4712]"}}
        await child.reverse_request("startDebugging", started)
        await trio.sleep(1)
        (sent,) = fork.sent("setBreakpoints")
        assert (sent["source"]["name"], sent["breakpoints"]) == ("cart.ts", [{"line": 3}])
