"""What editors ask about the values of a stop: asked of the adapter once for all, and beforehand for who steps."""

from functools import partial
from typing import Any

import trio
from trio.testing import MockClock

from tests.editors.bench import EditorClient, open_bench, paused
from trio_debugmcp.dap.profiles.profile import Dialect
from trio_debugmcp.editors.values.shared_values import MAX_ANSWERS
from trio_debugmcp.testing import FakeAdapter, Refusal
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES


def asked(adapter: FakeAdapter) -> tuple[int, int]:
    return len(adapter.sent("scopes")), len(adapter.sent("variables"))


async def step(editor: EditorClient, adapter: FakeAdapter) -> None:
    await editor.wait_event("stopped")  # at the latest that of joining
    number = len(editor.bodies("stopped"))
    await editor.ask("next", threadId=1)
    await adapter.stop("step")
    await editor.wait_event("stopped", number + 1)


async def test_two_editors_that_show_the_same_values_ask_the_adapter_once(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        before = asked(adapter)
        first, second = await one.locals(), await other.locals()
        assert [each["name"] for each in first] == [each["name"] for each in second] == ["count"]
        assert asked(adapter) == (before[0] + 1, before[1] + 1)


async def test_what_is_asked_for_already_is_waited_for_by_another_editor(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        frames = await one.top_frame(), await other.top_frame()
        answering, times = trio.Event(), []

        async def late(arguments: dict[str, Any]) -> Any:
            times.append(trio.current_time())
            await answering.wait()
            return {"scopes": [{"name": "Locals", "variablesReference": 7, "expensive": False}]}

        adapter.answer("scopes", late)
        found: list[str] = []

        async def look(editor: EditorClient, frame: int) -> None:
            [scope] = (await editor.ask("scopes", frameId=frame))["scopes"]
            found.append(scope["name"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look, one, frames[0]["id"])
            nursery.start_soon(look, other, frames[1]["id"])
            await trio.sleep(1)
            answering.set()
        assert (found, len(times)) == (["Locals", "Locals"], 1)


async def test_an_editor_gets_its_answer_although_the_one_that_asked_first_has_left(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as other:
        await other.join()
        frame, times = await other.top_frame(), []

        async def late(arguments: dict[str, Any]) -> Any:
            times.append(trio.current_time())
            await trio.sleep(3)
            return {"scopes": [{"name": "Locals", "variablesReference": 7, "expensive": False}]}

        adapter.answer("scopes", late)
        async with trio.open_nursery() as nursery:

            async def leave() -> None:
                async with bench.editor() as one:
                    await one.join()
                    await one.send("scopes", {"frameId": (await one.top_frame())["id"]})
                    await trio.sleep(1)

            nursery.start_soon(leave)
            await trio.sleep(0.7)
            assert len(times) == 1
            [scope] = (await other.ask("scopes", frameId=frame["id"]))["scopes"]
            assert (scope["name"], len(times)) == ("Locals", 2)


async def test_a_refusal_is_shared_and_asked_again_by_who_comes_later(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()

        async def refuse(arguments: dict[str, Any]) -> Any:
            raise Refusal("not now")

        adapter.answer("scopes", refuse)
        for number in (1, 2):
            assert "not now" in str(await editor.refused("scopes", frameId=frame["id"]))
            assert len(adapter.sent("scopes")) == number + 1  # one was at the stop


async def test_after_anybody_has_set_a_variable_all_editors_are_shown_the_new_value(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True, "supportsSetExpression": True})
    adapter.locals = {"count": "3"}

    async def set_it(arguments: dict[str, Any]) -> Any:
        adapter.locals["count"] = arguments["value"]
        return {"value": arguments["value"], "type": "int"}

    adapter.answer("setVariable", set_it)
    adapter.answer("setExpression", set_it)
    async with paused(adapter) as (bench, _), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        assert (await one.locals())[0]["value"] == (await other.locals())[0]["value"] == "3"
        frame = await one.top_frame()
        [scope] = (await one.ask("scopes", frameId=frame["id"]))["scopes"]
        await one.ask("setVariable", variablesReference=scope["variablesReference"], name="count", value="5")
        assert (await one.locals())[0]["value"] == (await other.locals())[0]["value"] == "5"
        await bench.agent.call("variable_set", path="count", value="8")
        assert (await one.locals())[0]["value"] == (await other.locals())[0]["value"] == "8"


async def test_a_stop_is_shown_with_its_own_values_and_never_with_those_of_the_stop_before(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        for value in ("3", "4", "5"):
            adapter.locals = {"count": value}
            await step(editor, adapter)
            assert (await editor.locals())[0]["value"] == value


async def test_who_steps_and_shows_values_has_them_asked_for_before_the_editor_asks(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.locals()
        await step(editor, adapter)
        await trio.sleep(1)
        before = asked(adapter)
        await editor.locals()
        assert asked(adapter) == before
        await step(editor, adapter)  # its values were shown at the stop before
        await trio.sleep(1)
        ahead = asked(adapter)
        await step(editor, adapter)  # and here they were not: nothing is asked for that is not shown
        await trio.sleep(1)
        examined = 1  # the stop's own question
        assert (ahead[0] - before[0], asked(adapter)[0] - ahead[0]) == (examined + 1, examined)


async def test_nothing_is_asked_beforehand_for_editors_that_watch(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.locals()
        await trio.sleep(2)
        before = asked(adapter)
        await bench.agent.call("debug_step", wait=False)
        await adapter.stop("step")
        await editor.wait_event("stopped", 2)
        await trio.sleep(1)
        assert asked(adapter) == (before[0] + 1, before[1] + 1)


async def test_an_editor_that_steps_gets_no_event_that_the_program_continues_and_the_others_do(
    autojump_clock: MockClock,
) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        await step(one, adapter)
        await other.wait_event("stopped", 2)
        assert (len(one.bodies("continued")), len(other.bodies("continued"))) == (0, 1)
        await bench.agent.call("debug_step", wait=False)
        await adapter.stop("step")
        await one.wait_event("stopped", 3)
        assert len(one.bodies("continued")) == 1


async def test_editors_that_wait_for_the_same_answer_are_refused_together(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as one, bench.editor() as other:
        await one.join()
        await other.join()
        frames, times = (await one.top_frame(), await other.top_frame()), []

        async def refuse_late(arguments: dict[str, Any]) -> Any:
            times.append(trio.current_time())
            await trio.sleep(1)
            raise Refusal("not now")

        adapter.answer("scopes", refuse_late)
        async with trio.open_nursery() as nursery:
            for editor, frame in zip((one, other), frames, strict=True):
                nursery.start_soon(partial(editor.refused, "scopes", frameId=frame["id"]))
        assert len(times) == 1


async def test_of_the_values_of_a_stop_those_that_were_asked_for_last_are_kept(autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        frame = await editor.top_frame()
        [scope] = (await editor.ask("scopes", frameId=frame["id"]))["scopes"]
        before = asked(adapter)[1]
        for start in [*range(MAX_ANSWERS + 5), MAX_ANSWERS, 1]:
            await editor.ask("variables", variablesReference=scope["variablesReference"], start=start, count=1)
        assert asked(adapter)[1] - before == MAX_ANSWERS + 6  # the first was forgotten, and no late one


async def test_values_are_asked_for_again_where_an_evaluation_ends_all_numbers(autojump_clock: MockClock) -> None:
    class Calling(Dialect):
        call_reason = "function call"

    adapter = FakeAdapter()
    adapter.locals = {"count": "3"}
    async with open_bench(adapter) as bench, bench.editor() as editor:
        bench.server.app.debugger.settings.profiles[0].dialect = Calling()
        await bench.agent.call("debug_launch", program=adapter.program, stop_at_entry=False, wait=False)
        await adapter.stop("entry")
        await editor.join()
        await editor.locals()
        before = asked(adapter)
        await editor.locals()
        assert asked(adapter) == (before[0] + 1, before[1] + 1)
