"""`variables_get` of a Python program: any frame of any thread, any slice, and true totals, through the probe."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, paused
from trio_debugmcp.probe.answers import ProbeError
from trio_debugmcp.session.looking.by_probe.withheld import MAX_APART
from trio_debugmcp.session.looking.ways import WITHOUT_CODE_SECONDS
from trio_debugmcp.state.payloads import shortened
from trio_debugmcp.testing import FakeAdapter

ITEM = {"name": "[999990]", "value": "999990", "type": "int", "path": "lst[999990]"}

LIST = {"variables": [ITEM], "total": 1_000_000, "name": "lst", "value": "[0, …]", "type": "list", "size": 1_000_000}

ASKED = {
    "thread": 1,
    "frame": 0,
    "types": True,
    "scope": "locals",
    "start": 0,
    "count": 100,
    "depth": 1,
    "limit": 200,
    "size": 64_000,
    "code": False,
}


def probed(found: Any) -> FakeAdapter:
    adapter = FakeAdapter()
    adapter.threads = [(1, "MainThread"), (2, "waiter")]
    adapter.probe = {"variables": found}
    return adapter


async def test_a_slice_of_a_long_list_comes_with_its_true_length(autojump_clock: MockClock) -> None:
    adapter = probed(LIST)
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.requests)
        found = await client.call("variables_get", path="lst", start=999_990, count=1)
        assert found == {"variables": {"[999990]": "999990"}, "total": 1_000_000}
        assert [command for command, _ in adapter.requests[before:]] == ["evaluate"]
        asked = {**ASKED, "path": "lst", "start": 999_990, "count": 1}
        assert adapter.probed[-1] == ("variables", asked | {"size": adapter.probed[-1][1]["size"]})


async def test_a_start_behind_the_end_leaves_nothing_out(autojump_clock: MockClock) -> None:
    adapter = probed({**LIST, "variables": []})
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("variables_get", path="lst", start=2_000_000)
        assert found == {"variables": {}, "total": 1_000_000}


LEAF: dict[str, Any] = {"variables": [], "total": 0, "name": "box.n", "value": "5", "type": "int"}


async def test_a_path_to_what_has_nothing_inside_shows_the_value(autojump_clock: MockClock) -> None:
    for adapter, expected in (
        (probed(LEAF), "5"),
        (probed({**LEAF, "value": "ben", "type": "Name"}), "ben (Name)"),
        (probed({**LEAF, "value": "'a… (9 characters)", "type": "str"}), "'a… (9 characters)"),
    ):
        async with paused("legacy", adapter) as (client, _):
            for more in ({}, {"start": 5}, {"filter": "x"}):
                found = await client.call("variables_get", path="box.n", **more)
                assert found == {"variables": {}, "value": expected}
            assert "value" not in await client.call("variables_get")
    async with paused("legacy", probed({**LEAF, "size": 3})) as (client, _):
        assert await client.call("variables_get", path="box", filter="x") == {"variables": {}}, "something is inside"


async def test_a_value_with_nothing_inside_is_asked_for_again_if_it_needs_code(autojump_clock: MockClock) -> None:
    adapter = probed({**LEAF, "value": "Name(...)", "type": "Name", "withheld": True})
    async with paused("legacy", adapter) as (client, _):
        answers = adapter.answer_to("evaluate")
        replies = ['{"answer": {"variables": [], "total": 0, "value": "Name: ben", "type": "Name"}}', "no JSON"]

        async def coded(arguments: dict[str, Any]) -> object:
            if '"code": true' in arguments["expression"]:
                return {"result": replies.pop(0)}
            return await answers(arguments)

        adapter.answer("evaluate", coded)
        assert (await client.call("variables_get", path="box.n"))["value"] == "Name: ben"
        assert (await client.call("variables_get", path="box.n"))["value"].startswith("<not shown: The answer")


async def test_without_a_probe_the_adapter_tells_the_value_that_has_nothing_inside(autojump_clock: MockClock) -> None:
    adapter = FakeAdapter()
    async with paused("legacy", adapter) as (client, _):

        async def leaf(arguments: object) -> object:
            return {"result": "x" * 50, "type": "Name", "variablesReference": 0}

        adapter.answer("evaluate", leaf)
        found = await client.call("variables_get", path="box.n", max_value_length=20)
        assert found == {"variables": {}, "value": f"{shortened('x' * 50, 20)} (Name)"}

        async def holder(arguments: object) -> object:
            return {"result": "<Box>", "type": "Box", "variablesReference": 8}

        async def inside(arguments: object) -> object:
            return {"variables": [{"name": "n", "value": "5", "variablesReference": 0}]}

        adapter.answer("evaluate", holder)
        adapter.answer("variables", inside)
        found = await client.call("variables_get", path="box", filter="nothing")
        assert found == {"variables": {}}


async def test_a_thread_that_waits_has_variables(autojump_clock: MockClock) -> None:
    adapter = probed({"variables": [{"name": "n", "value": "5", "type": "int"}], "total": 1})
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.requests)
        found = await client.call("variables_get", thread_id=2, frame_index=3, filter="N")
        assert found == {"variables": {"n": "5"}}
        asked = adapter.probed[-1][1]
        assert (asked["thread"], asked["frame"], asked["filter"]) == (2, 3, "N")
        assert adapter.commands()[before:] == ["evaluate"]


async def test_levels_below_come_in_the_same_answer(autojump_clock: MockClock) -> None:
    below = {"name": "[0]", "value": "1", "path": "xs[0]"}
    hidden = {"name": "g", "value": "2", "path": ""}
    adapter = probed(
        {"variables": [{"name": "xs", "value": "[1]", "size": 1, "children": [below]}, hidden], "total": 2}
    )
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("variables_get", depth=2, scope="all")
        assert found == {"variables": {"xs": "[1]", "xs[0]": "1", "g (no path)": "2"}}


async def test_values_below_that_need_code_of_the_program_are_asked_for_again(autojump_clock: MockClock) -> None:
    inside = {"name": "[0]", "value": "Basket(...)", "path": "xs[0]", "withheld": True}
    adapter = probed({"variables": [{"name": "xs", "value": "[…]", "size": 1, "children": [inside]}], "total": 1})
    async with paused("legacy", adapter) as (client, _):
        await client.call("variables_get", depth=2)
        asked = [more["code"] for question, more in adapter.probed if question == "variables"]
        assert asked == [False, True]


async def test_values_whose_code_is_slow_are_named_and_the_others_shown(autojump_clock: MockClock) -> None:
    slow = {"name": "slow", "value": "Slow(...)", "withheld": True}
    adapter = probed({"variables": [{"name": "x", "value": "1"}, {**slow, "children": []}], "total": 2})
    async with paused("legacy", adapter) as (client, _):
        answers = adapter.answer_to("evaluate")

        async def slowly(arguments: dict[str, Any]) -> object:
            if '"code": true' in arguments["expression"]:
                await trio.sleep_forever()
            return await answers(arguments)

        adapter.answer("evaluate", slowly)
        found = (await client.call("variables_get"))["variables"]
        assert found == {"x": "1", "slow": "<repr took over 0.5 s>"}


async def test_values_are_asked_for_one_by_one_where_one_spoils_the_answer(autojump_clock: MockClock) -> None:
    withheld = [{"name": f"v{number}", "value": "V(...)", "withheld": True} for number in range(MAX_APART + 1)]
    adapter = probed({"variables": withheld, "total": len(withheld)})
    async with paused("legacy", adapter) as (client, _):
        answers = adapter.answer_to("evaluate")

        async def spoilt(arguments: dict[str, Any]) -> object:
            expression = arguments["expression"]
            if '"path": "v0"' in expression:
                return {"result": '{"error": {"kind": "raised", "message": "KeyError: 1"}}'}
            if '"path": "' in expression:
                return {"result": '{"answer": {"variables": [], "total": 0, "value": "V(1)"}}'}
            return {"result": "no JSON"} if '"code": true' in expression else await answers(arguments)

        adapter.answer("evaluate", spoilt)
        values = [*(await client.call("variables_get"))["variables"].values()]
        assert values[:3] == ["<not shown: KeyError: 1>", "V(1)", "V(1)"]
        assert values[-1].startswith("<not shown: The answer cannot be read")


async def test_keys_that_only_code_of_the_program_shows_are_asked_for(autojump_clock: MockClock) -> None:
    item = {"name": "[Color(...)]", "value": "1", "path": "[*d.values()][0]", "nameWithheld": True}
    adapter = probed({"variables": [item], "total": 1})
    async with paused("legacy", adapter) as (client, _):
        answers = adapter.answer_to("evaluate")
        replies = ['{"answer": {"variables": [{"name": "[<Color.RED: 1>]", "value": "1"}], "total": 1}}', "no JSON"]

        async def coded(arguments: dict[str, Any]) -> object:
            if '"code": true' in arguments["expression"]:
                return {"result": replies.pop(0)}
            return await answers(arguments)

        adapter.answer("evaluate", coded)
        assert (await client.call("variables_get", path="d"))["variables"] == {"[<Color.RED: 1>]": "1"}
        found = await client.call("variables_get", path="d")
        assert found["variables"] == {"[*d.values()][0]": "Color(...): 1"}, "a known value stays"
        replies.append("no JSON")
        failed = await failure(client, "variables_get", path="d", filter="red")
        assert failed.code == "EVAL_FAILED"
        assert "Use start and count" in str(failed), "rather than keys that may not match"


@pytest.mark.parametrize(
    ("kind", "code", "match"),
    [
        ("thread", "INVALID_THREAD", "Ask threads_list"),
        ("frame", "INVALID_FRAME", "it runs no Python code"),
        ("raised", "EVAL_FAILED", "`a.b` failed: AttributeError: no b"),
    ],
)
async def test_what_is_wrong_with_a_question_is_said(
    autojump_clock: MockClock, kind: str, code: str, match: str
) -> None:
    error = ProbeError(kind, "AttributeError: no b.")
    adapter = probed(f'{{"error": {{"kind": "{kind}", "message": "{error}"}}}}')
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "variables_get", path="a.b")
        assert failed.code == code
        assert match in failed.message


async def test_a_frame_that_is_not_there_names_those_that_are(autojump_clock: MockClock) -> None:
    adapter = probed('{"error": {"kind": "frame", "message": "no frame"}}')
    adapter.probe = {**(adapter.probe or {}), "frames": {"thread": 1, "frames": [], "total": 3}}
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "variables_get", frame_index=9)
        assert (failed.code, failed.details) == ("INVALID_FRAME", {"total": 3})
        assert "frames go from 0 to 2" in failed.message


async def test_a_probe_that_does_not_answer_is_waited_for_and_named(autojump_clock: MockClock) -> None:
    adapter = probed(LIST)
    async with paused("legacy", adapter) as (client, _):
        adapter.withhold("evaluate")
        began, before = trio.current_time(), len(adapter.requests)
        failed = await failure(client, "variables_get", path="lst")
        assert (failed.code, trio.current_time() - began) == ("TIMEOUT", WITHOUT_CODE_SECONDS)
        assert adapter.commands()[before:] == ["evaluate"]


async def test_a_program_whose_probe_cannot_be_read_is_asked_through_the_adapter(autojump_clock: MockClock) -> None:
    adapter = probed("nonsense")
    adapter.locals = {"a": "1"}
    async with paused("legacy", adapter) as (client, _):
        assert (await client.call("variables_get"))["variables"] == {"a": "1"}


async def test_the_locals_of_the_stop_are_there_without_an_answer_to_the_question(autojump_clock: MockClock) -> None:
    """So in a replay: what was not asked in the recording is refused."""
    adapter = probed("nonsense")
    shown = [{"name": name, "value": "1", "type": "int"} for name in ("first", "second", "third")]
    frame = {"index": 0, "file": "/src/app.py", "line": 3, "function": "f", "id": 5}
    stop = {"thread": 1, "frames": [frame], "total": 1, "locals": shown, "localsTotal": 3}
    adapter.probe = {"variables": "nonsense", "stop": stop}
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.requests)
        found = await client.call("variables_get", start=1, filter="i")
        assert found == {"variables": {"third": "1"}, "total": 2}
        assert adapter.commands()[before:] == ["evaluate"]
        await client.call("variables_get", frame_index=0, depth=2)
        assert "variables" in adapter.commands()[before:]
    stop["localsTotal"] = 4
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.requests)
        await client.call("variables_get")
        assert "variables" in adapter.commands()[before:]


async def test_names_are_asked_for_at_once_and_those_that_are_missing_say_so(autojump_clock: MockClock) -> None:
    adapter = probed({"variables": [{"name": "n", "value": "5", "type": "int"}], "total": 1})
    async with paused("legacy", adapter) as (client, _):
        before = len(adapter.probed)
        found = await client.call("variables_get", names=["gone", "n"])
        assert found == {"variables": {"gone": "<there is none of this name>", "n": "5"}}
        data = await client.call("variables_get", names=["gone", "n"], full=True)
        assert ([each["name"] for each in data["variables"]], data["total"], data["missing"]) == (["n"], 1, ["gone"])
        [asked, _] = [parameters for question, parameters in adapter.probed[before:] if question == "variables"]
        assert (asked["names"], "filter" in asked) == (["gone", "n"], False)


async def test_names_are_found_as_answers_have_them(autojump_clock: MockClock) -> None:
    odd = {"name": "[Key()]", "value": "5", "type": "int", "path": "[*keyed.values()][0]"}
    plain = {"name": "['k']", "value": "6", "type": "int", "path": "keyed['k']"}
    adapter = probed({"variables": [odd, plain], "total": 2})
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("variables_get", path="keyed", names=["['k']", "[*keyed.values()][0]"])
        assert found == {"variables": {"['k']": "6", "[*keyed.values()][0]": "Key(): 5"}}
        names = adapter.probed[-1][1]["names"]
        assert {"['k']", "keyed['k']", "[*keyed.values()][0]"} == {*names}
