"""What few adapters can, served to an editor in control: running backwards, and paging children by their kind."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.editors.bench import OBSERVE, EditorClient, paused
from trio_debugmcp.testing import FakeAdapter
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES

BACKWARDS = {**ALL_CAPABILITIES, "supportsStepBack": True}


@pytest.mark.parametrize(
    ("command", "reason", "note"),
    [("stepBack", "step", "stepped back"), ("reverseContinue", "breakpoint", "ran it backwards")],
)
async def test_a_person_runs_the_program_backwards_and_the_other_clients_see_it(
    command: str, reason: str, note: str, autojump_clock: MockClock
) -> None:
    adapter = FakeAdapter(BACKWARDS)
    adapter.frames = [("main", "/src/app.py", 8)]
    async with paused(adapter) as (bench, _), bench.editor() as editor, bench.editor() as other:
        await editor.join()
        await other.join(OBSERVE, {"clientName": "Other"})
        assert editor.bodies("capabilities")[-1]["capabilities"]["supportsStepBack"] is True
        await other.wait_event("stopped")
        assert (await editor.top_frame())["line"] == 8
        await editor.ask(command, threadId=1)
        assert adapter.requests[-1] == (command, {"threadId": 1})
        assert (await other.wait_event("continued"))["threadId"] == 1
        adapter.frames = [("main", "/src/app.py", 7)]
        await adapter.stop(reason)
        for each in (editor, other):
            assert (await each.wait_event("stopped", 2))["reason"] == reason
            assert (await each.top_frame())["line"] == 7
        stop = await bench.agent.call("debug_wait")
        assert (stop["at"], stop["notes"]) == ("/src/app.py:7 in main", [f"a person (Test Editor) {note}"])


@pytest.mark.parametrize("command", ["stepBack", "reverseContinue"])
async def test_what_the_adapter_cannot_run_backwards_stays_where_it_is(command: str, autojump_clock: MockClock) -> None:
    async with paused() as (bench, adapter), bench.editor() as editor:
        await editor.join()
        await editor.wait_event("stopped")
        before = adapter.commands()
        assert "supportsStepBack" in str(await editor.refused(command, threadId=1))
        assert adapter.commands() == before
        assert editor.log.count("continued") == 0
        assert (await bench.agent.call("debug_state"))["state"] == "Paused"


# --- Pages ------------------------------------------------------------------------------------------------------------

NAMED, INDEXED = ["length", "name"], [str(number) for number in range(250)]


def array(**more: Any) -> dict[str, Any]:
    """A value as adapters have it that has children of both kinds."""
    return {"type": "Array", "variablesReference": 9, "namedVariables": 2, "indexedVariables": 250, **more}


def with_an_array() -> FakeAdapter:
    """An adapter whose program has a large array, of which it answers the children that are asked for."""
    adapter = FakeAdapter({**ALL_CAPABILITIES, "supportsSetVariable": True, "supportsSetExpression": True})

    async def scopes(arguments: dict[str, Any]) -> Any:
        scope = {"name": "Locals", "variablesReference": 7, "presentationHint": "locals"}
        return {"scopes": [{**scope, "namedVariables": 1, "indexedVariables": 0}]}

    async def variables(arguments: dict[str, Any]) -> Any:
        if arguments["variablesReference"] == 7:
            return {"variables": [array(name="items", value="Array(250)", evaluateName="items")]}
        kinds = {"named": NAMED, "indexed": INDEXED, None: [*NAMED, *INDEXED]}
        start = arguments.get("start", 0)
        names = kinds[arguments.get("filter")][start:][: arguments.get("count") or None]
        return {"variables": [{"name": each, "value": each, "variablesReference": 0} for each in names]}

    async def value(arguments: dict[str, Any]) -> Any:
        return array(result="Array(250)", value="Array(250)")

    adapter.answer("scopes", scopes)
    adapter.answer("variables", variables)
    for command in ("evaluate", "setVariable"):
        adapter.answer(command, value)
    return adapter


async def names_of(editor: EditorClient, reference: int, **page: Any) -> list[str]:
    body = await editor.ask("variables", variablesReference=reference, **page)
    return [each["name"] for each in body["variables"]]


async def test_a_value_says_how_many_children_of_each_kind_it_has_wherever_it_is_shown(
    autojump_clock: MockClock,
) -> None:
    async with paused(with_an_array()) as (bench, _), bench.editor() as editor:
        await editor.join()
        frame = (await editor.top_frame())["id"]
        [scope] = (await editor.ask("scopes", frameId=frame))["scopes"]
        assert (scope["namedVariables"], scope["indexedVariables"]) == (1, 0)
        reference = scope["variablesReference"]
        [shown] = (await editor.ask("variables", variablesReference=reference))["variables"]
        asked = {"expression": "items", "frameId": frame}
        answers = [
            shown,
            *[await editor.ask("evaluate", context=each, **asked) for each in ("hover", "watch", "repl", "clipboard")],
            await editor.ask("setVariable", variablesReference=reference, name="items", value="other"),
            await editor.ask("setExpression", value="other", **asked),
        ]
        for each in answers:
            assert (each["namedVariables"], each["indexedVariables"]) == (2, 250), each
            assert (await names_of(editor, each["variablesReference"], filter="named")) == NAMED


async def test_children_are_paged_within_their_kind(autojump_clock: MockClock) -> None:
    async with paused(with_an_array()) as (bench, adapter), bench.editor() as editor:
        await editor.join()
        [shown] = await editor.locals()
        items = shown["variablesReference"]
        pages = [await names_of(editor, items, filter="indexed", start=at, count=100) for at in (0, 100, 200)]
        assert [len(each) for each in pages] == [100, 100, 50]
        assert [name for each in pages for name in each] == INDEXED
        assert await names_of(editor, items, filter="named") == NAMED
        assert await names_of(editor, items, filter="named", start=1, count=1) == ["name"]
        assert await names_of(editor, items, start=1, count=2) == ["name", "0"]
        assert await names_of(editor, items) == [*NAMED, *INDEXED]
        asked = len(adapter.sent("variables"))
        assert await names_of(editor, items, filter="indexed", start=100, count=100) == pages[1]
        await trio.sleep(1)
        assert len(adapter.sent("variables")) == asked  # a page that is known is not another one's


async def test_a_page_is_a_page_also_of_an_adapter_that_always_answers_all_children(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    adapter.locals = {f"v{number}": "1" for number in range(25)}
    async with paused(adapter) as (bench, _), bench.editor() as editor:
        await editor.join()
        [scope] = (await editor.ask("scopes", frameId=(await editor.top_frame())["id"]))["scopes"]
        reference = scope["variablesReference"]
        pages = [await names_of(editor, reference, start=at, count=10) for at in (0, 10, 20)]
        assert [name for each in pages for name in each] == [*adapter.locals]
        assert [len(each) for each in pages] == [10, 10, 5]
        assert await names_of(editor, reference, start=0, count=0) == [*adapter.locals]
