"""`variable_set` through adapters: by the request that they have, and with what the program has afterwards."""

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.server.scene import failure, launch, paused
from trio_debugmcp.session.looking.user_evaluation import ASSIGN_SECONDS
from trio_debugmcp.testing import FakeAdapter, connect, open_server
from trio_debugmcp.testing.fake_answers import ALL_CAPABILITIES, Refusal


def able(*capabilities: str) -> FakeAdapter:
    adapter = FakeAdapter({**ALL_CAPABILITIES, **dict.fromkeys(capabilities, True)})
    adapter.values = {"count": "3"}
    return adapter


async def test_an_expression_is_set_and_what_it_is_then_comes_from_the_program(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetExpression", "supportsSetVariable")

    async def claim(arguments: object) -> object:
        adapter.values["count"] = "9"
        return {"value": "1000", "type": "int"}

    adapter.answer("setExpression", claim)
    async with paused("legacy", adapter) as (client, _):
        assert await client.call("variable_set", path=" count", value="1000") == {"variable": {"count": "9"}}
        assert adapter.sent("setExpression") == [{"expression": "count", "value": "1000", "frameId": 1000}]
        assert adapter.sent("setVariable") == []


async def test_the_locals_of_the_stop_are_those_after_the_change(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetExpression")
    adapter.locals = {"count": "3"}

    async def change(arguments: object) -> object:
        adapter.locals["count"] = adapter.values["count"] = "4"
        return {"value": "4"}

    adapter.answer("setExpression", change)
    async with paused("legacy", adapter) as (client, _):
        await client.call("variable_set", path="count", value="4")
        await trio.sleep(5)
        assert (await client.call("debug_state"))["locals"] == {"count": "4"}


async def test_an_adapter_that_keeps_values_is_made_to_look_again(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetExpression")
    options = adapter.options()
    (profile,) = options.settings.profiles
    profile.renew = "look again"
    async with connect(options=options) as client:
        await launch(client, adapter, stop_at_entry=True, wait=True)
        adapter.requests.clear()
        await client.call("variable_set", path="count", value="5")
        await trio.sleep(1)
        looks = [each.get("expression") for each in adapter.sent("evaluate")]
        assert looks[-1] == "look again"
        assert adapter.commands()[adapter.commands().index("setExpression") + 2 :][-2:] == ["scopes", "variables"]


@pytest.mark.parametrize(
    ("path", "reference", "name"),
    [
        ("count", 7, "count"),
        ("cart.owner", 8, "owner"),
        ("cart->owner", 8, "owner"),
        ("cart.lines[1]", 9, "[1]"),
        ("cart.lines['k']", 9, "k"),
    ],
)
async def test_a_variable_is_set_where_the_adapter_has_it(
    autojump_clock: MockClock, path: str, reference: int, name: str
) -> None:
    adapter = able("supportsSetVariable")
    adapter.values[path] = "5"
    inside = {7: ["other", "count"], 8: ["owner"], 9: ["[0]", "[1]", "k"]}

    async def variables(arguments: dict[str, Any]) -> object:
        return {"variables": [{"name": each, "value": "0"} for each in inside[arguments["variablesReference"]]]}

    async def evaluate(arguments: dict[str, Any]) -> object:
        reference = {"cart": 8, "cart.lines": 9}.get(arguments["expression"], 0)
        return {"result": "5", "variablesReference": reference}

    adapter.answer("variables", variables)
    adapter.answer("evaluate", evaluate)
    async with paused("legacy", adapter) as (client, _):
        assert await client.call("variable_set", path=path, value="5") == {"variable": {path: "5"}}
        assert adapter.sent("setVariable") == [{"variablesReference": reference, "name": name, "value": "5"}]
        adapter.requests.clear()
        failed = await failure(client, "variable_set", path="cart.none", value="5")
        assert (failed.code, failed.details) == ("EVAL_FAILED", {"path": "cart.none"})
        assert (await failure(client, "variable_set", path="none", value="5")).code == "EVAL_FAILED"
        assert adapter.sent("setVariable") == []


async def test_a_variable_is_known_by_its_path_before_its_name(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetVariable")

    async def variables(arguments: object) -> object:
        return {"variables": [{"name": "count"}, {"name": "count (inner)", "evaluateName": "count"}]}

    adapter.answer("variables", variables)
    async with paused("legacy", adapter) as (client, _):
        await client.call("variable_set", path="count", value="5")
        assert [each["name"] for each in adapter.sent("setVariable")] == ["count (inner)"]


async def test_of_two_of_one_name_the_inner_one_is_set(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetVariable")
    both = [{"name": f"count @ shop.cpp:{line}", "evaluateName": "count"} for line in (5, 7)]

    async def variables(arguments: object) -> object:
        return {"variables": both}

    adapter.answer("variables", variables)
    async with paused("legacy", adapter) as (client, _):
        await client.call("variable_set", path="count", value="5")
        assert [each["name"] for each in adapter.sent("setVariable")] == ["count @ shop.cpp:7"]


async def test_an_adapter_that_can_set_nothing_is_named_with_what_it_lacks(autojump_clock: MockClock) -> None:
    async with paused("legacy", able()) as (client, adapter):
        failed = await failure(client, "variable_set", path="count", value="5")
        assert (failed.code, failed.details["adapter"]) == ("NOT_SUPPORTED", "fake")
        assert failed.details["capability"] in failed.message
        assert not {"setExpression", "setVariable"} & {*adapter.commands()}


async def test_a_refusal_is_what_failed(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetExpression")

    async def refuse(arguments: object) -> object:
        raise Refusal("count is const\n")

    adapter.answer("setExpression", refuse)
    async with paused("legacy", adapter) as (client, _):
        failed = await failure(client, "variable_set", path="count", value="5")
        assert (failed.code, failed.message) == ("EVAL_FAILED", "`count = 5` failed: count is const")


async def test_what_cannot_be_read_back_is_set_all_the_same_and_says_so(autojump_clock: MockClock) -> None:
    adapter = able("supportsSetExpression")
    async with paused("legacy", adapter) as (client, _):
        found = await client.call("variable_set", path="other", value="5")
        assert found["variable"]["other"].startswith("<set, but not shown: `other` failed: NameError")


async def test_an_adapter_that_does_not_answer_is_given_up(autojump_clock: MockClock) -> None:
    async with paused("legacy", able("supportsSetExpression")) as (client, adapter):
        adapter.withhold("setExpression")
        began = trio.current_time()
        failed = await failure(client, "variable_set", path="count", value="5")
        assert (failed.code, trio.current_time() - began) == ("TIMEOUT", ASSIGN_SECONDS)


async def test_it_needs_a_paused_program(autojump_clock: MockClock) -> None:
    async with paused("legacy", able("supportsSetExpression")) as (client, adapter):
        await client.call("debug_continue", wait=False)
        assert (await failure(client, "variable_set", path="count", value="5")).code == "NOT_PAUSED"
        assert adapter.sent("setExpression") == []


async def test_an_observer_sets_nothing(autojump_clock: MockClock) -> None:
    async with open_server(able("supportsSetExpression").options()) as server, server.connect(role="observe") as client:
        assert (await failure(client, "variable_set", path="count", value="5")).code == "READ_ONLY"
