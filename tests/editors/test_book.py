"""What an editor has set is its own until it is removed, and ends with the last program that the editor was in."""

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import Bench, EditorClient, open_bench, paused
from trio_debugmcp.testing import FakeAdapter

SOURCE = {"path": FakeAdapter.program}


async def put(editor: EditorClient, *lines: int) -> None:
    await editor.ask("setBreakpoints", source=SOURCE, breakpoints=[{"line": each} for each in lines])


async def lines(bench: Bench) -> list[int]:
    """The lines of all breakpoints, also without a session."""
    listed = (await bench.agent.call("breakpoint_list")).get("breakpoints", [])
    return [int(each.split()[1].rpartition(":")[2]) for each in listed]


async def test_a_breakpoint_that_a_hold_keeps_an_editor_from_taking_back_is_still_its_own(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _), bench.editor() as editor, bench.server.connect(name="page") as page:
        await page.call("person_join", key="tab-12345678")
        await editor.join()
        await put(editor, 7)
        await page.call("session_hold")
        await editor.refused("setBreakpoints", source=SOURCE, breakpoints=[])
        assert await lines(bench) == [7]
        await page.call("session_hand_back")
        await put(editor)
        assert await lines(bench) == []
        assert [each["reason"] for each in editor.bodies("breakpoint")] == []


async def test_a_breakpoint_whose_removal_was_cancelled_at_any_moment_can_be_taken_back_again(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, _):
        for checkpoints in range(20):
            async with bench.editor() as editor:
                await editor.join()
                await put(editor, 7)
                number = await editor.send("setBreakpoints", {"source": SOURCE, "breakpoints": []})
                for _ in range(checkpoints):
                    await trio.lowlevel.checkpoint()
                await editor.send("cancel", {"requestId": number})
                await trio.sleep(1)
                await put(editor)
                assert await lines(bench) == []


async def test_a_breakpoint_that_the_agent_has_set_as_well_stays_when_the_editor_takes_it_back(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await put(editor, 7, 8)
        await bench.agent.call("breakpoint_set", file=adapter.program, line=7)
        await put(editor)
        assert await lines(bench) == [7]


async def test_an_editor_that_shows_what_is_in_focus_keeps_its_breakpoints_until_its_last_program_has_ended(
    autojump_clock: MockClock,
) -> None:
    one, two = FakeAdapter(), FakeAdapter()
    options = one.options()
    async with open_bench(one, options) as bench:
        launch = {"program": one.program, "stop_at_entry": False, "wait": False}
        await bench.agent.call("debug_launch", **launch)
        await one.stop("entry")
        async with bench.editor() as editor:
            await editor.join()
            await put(editor, 7)
            options.settings.profiles[0].adapter = two  # type: ignore[attr-defined]
            await bench.agent.call("debug_launch", **launch, new_session=True)
            await two.stop("entry")
            await trio.sleep(2)
            await two.exit()
            await trio.sleep(5)
            assert await lines(bench) == [7]
            assert [each["reason"] for each in editor.bodies("breakpoint") if each["reason"] == "removed"] == []
            await one.exit()
            await trio.sleep(5)
            assert await lines(bench) == []


@pytest.mark.parametrize("how", ["launch", "wait"])
async def test_breakpoints_of_an_editor_that_got_no_program_go_when_it_leaves(
    how: str, autojump_clock: MockClock
) -> None:
    async with open_bench(FakeAdapter()) as bench:
        async with bench.editor() as editor, trio.open_nursery() as nursery:
            await editor.initialize()

            async def join() -> None:
                if how == "wait":
                    await editor.ask("attach", token="control-token", wait=True)
                else:
                    assert "/no/such.py" in str(
                        await editor.refused("launch", token="control-token", program="/no/such.py")
                    )

            nursery.start_soon(join)
            await editor.wait_event("initialized")
            await put(editor, 4)
            await editor.ask("configurationDone")
            await trio.sleep(5)
            assert await lines(bench) == [4]
            nursery.cancel_scope.cancel()
        await trio.sleep(5)
        assert await lines(bench) == []
